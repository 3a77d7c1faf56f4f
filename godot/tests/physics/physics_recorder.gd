extends Node
## Builds random scenes, one after the other, and records each tick by tick. Arenas extend it.

var options: Dictionary[String, String] = {}

var _chance: RandomNumberGenerator = RandomNumberGenerator.new()
var _kind: String = "mixed"
var _ticks: int = 120
var _scenes_left: int = 1
var _tick: int = 0
var _bodies: Array[Node] = []
var _movers: Array[Node] = []
var _records: Array = []
var _scene: Dictionary = {}
var _events: Array = []


func _ready() -> void:
	_chance.seed = int(options.get("seed", "1"))
	_kind = options.get("kind", "mixed")
	_ticks = int(options.get("ticks", "120"))
	_scenes_left = int(options.get("scenes", "4"))
	_begin()


func _physics_process(delta: float) -> void:
	if _tick == _ticks:
		_finish()
		return
	var frame: Dictionary = {"events": _events, "movers": [], "bodies": []}
	_events = []
	_move_others(frame)
	for place: int in _movers.size():
		(frame["movers"] as Array).append(_move(place, delta))
	for body: Node in _bodies:
		if body is RigidBody3D or body is RigidBody2D:
			(frame["bodies"] as Array).append(_rigid(body))
	frame["rays"] = _rays()
	(_scene["ticks"] as Array).append(frame)
	_tick += 1


func _begin() -> void:
	_tick = 0
	_bodies = []
	_movers = []
	_scene = {"kind": _kind, "bodies": [], "ticks": [], "settings": []}
	_build()


func _finish() -> void:
	_records.append(_scene)
	_bodies.reverse()  # the next scene's bodies get the same numbers in the engine
	for body: Node in _bodies:
		body.free()
	_scenes_left -= 1
	if _scenes_left > 0:
		_begin()
		return
	var file: FileAccess = FileAccess.open(options["out"], FileAccess.WRITE)
	file.store_string(JSON.stringify(_records, "", false, true))
	file.close()
	set_physics_process(false)
	get_tree().quit()


## Notes what the signals of an area say.
func _watch(area: Node) -> void:
	var index: int = _bodies.find(area)
	for what: String in ["body", "area"]:
		area.connect(what + "_entered", _note.bind(index, 1))
		area.connect(what + "_exited", _note.bind(index, 0))


func _note(other: Node, area: int, entered: int) -> void:
	_events.append([area, _bodies.find(other), entered])


## Lets a character have unusual settings, and notes them.
func _choose_settings(mover: Node) -> void:
	var chances: Dictionary[String, float] = {
		"floor_stop_on_slope": 0.3,
		"floor_constant_speed": 0.3,
		"floor_block_on_wall": 0.3,
		"motion_mode": 0.2,
		"slide_on_ceiling": 0.2,
	}
	var setting: Dictionary = {"body": _bodies.size()}
	for property: String in chances:
		if _chance.randf() < chances[property]:
			mover.set(property, 1 - int(mover.get(property)))
		setting[property] = int(mover.get(property))
	(_scene["settings"] as Array).append(setting)


func _build() -> void:
	pass


func _move_others(frame: Dictionary) -> void:
	frame["moved"] = []


func _move(_place: int, _delta: float) -> Dictionary:
	return {}


func _rigid(_body: Node) -> Dictionary:
	return {}


func _rays() -> Array:
	return []
