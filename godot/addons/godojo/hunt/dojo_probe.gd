extends Node
## Watches a game from within while it is hunted; injected as an autoload, never part of a scene.
##
## Before each answer to the hunt it reports what [DojoProbeState] reads and what detectors saw.
## [code]GODOJO_PROBE_PORT[/code] says where the hunt listens; without it the node does nothing.

## What the trainer says to have the scene loaded anew: this and a seed.
const RELOAD := "hunt:reload "
## What it says to have a picture: this and a file.
const PICTURE := "hunt:picture "

var state: DojoProbeState
var _link := DojoProbeLink.new()
var _detectors: DojoWorldDetectors
var _sync: DojoSync
var _events: Array[Dictionary] = []
var _shown: Array = []
var _followed: PackedStringArray = []
var _scene: String = ""
var _reload_seed: int = -1
var _first_scene: String = ""
var _own: Array[Node] = []


func _init() -> void:
	seed(OS.get_environment("GODOJO_HUNT_SEED").to_int())


func _enter_tree() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS
	# Before DojoSync, which waits for the hunt.
	process_physics_priority = -2_000_000
	var port: String = OS.get_environment("GODOJO_PROBE_PORT")
	if not port.is_valid_int():
		queue_free()
		return
	if not _link.call_hunt(port.to_int(), OS.get_environment("GODOJO_PROBE_TOKEN")):
		printerr("Godojo: no hunt answers on port %s" % port)
		get_tree().quit(1)
		return
	state = DojoProbeState.new(get_tree())
	_detectors = DojoWorldDetectors.new(state, OS.get_environment("GODOJO_HUNT_SETTINGS"))
	get_tree().node_added.connect(_add)
	get_tree().node_removed.connect(_remove)


func _physics_process(_delta: float) -> void:
	if state == null:
		return
	if _first_scene.is_empty():
		_first_scene = state.scene_path()
		for node in get_tree().root.get_children():
			if node != get_tree().current_scene:
				_own.append(node)
	if _sync == null:
		report()
	else:
		_events.append_array(_detectors.look_at_tick())


## Sends what there is to be seen now.
func report() -> void:
	_events.append_array(_detectors.look_at_decision())
	var changes: Dictionary = _changes()
	if not _events.is_empty():
		changes["events"] = _events
		_events = []
	var numbers: PackedFloat32Array = [
		Performance.get_monitor(Performance.OBJECT_ORPHAN_NODE_COUNT),
		Performance.get_monitor(Performance.MEMORY_STATIC) / 1048576.0,
		Performance.get_monitor(Performance.OBJECT_COUNT),
	]
	var place: Vector3 = state.position()
	numbers.append_array(
		[place.x, place.y, place.z] if place.is_finite() else [0.0, 0.0, 0.0] as Array[float]
	)
	numbers.append_array(state.read())
	_link.send(changes, numbers)


## What a report has to say in words, since the one before.
func _changes() -> Dictionary:
	var changes: Dictionary = {}
	if state.scene_path() != _scene:
		_scene = state.scene_path()
		changes["scene"] = _scene
	var shown: Array = []
	for node in state.visible_elements():
		var place: Vector2 = _pointer_to(node as Control)
		shown.append([str(node.get_path()), snappedf(place.x, 0.001), snappedf(place.y, 0.001)])
	if shown != _shown:
		_shown = shown
		changes["ui"] = shown
	var followed: PackedStringArray = []
	for node in state.followed_bodies():
		followed.append(str(node.get_path()))
	if followed != _followed:
		_followed = followed
		changes["bodies"] = followed
	return changes


## Where a Control is on the screen: both numbers from -1 to 1, as a pointer's action has them.
func _pointer_to(control: Control) -> Vector2:
	var size: Vector2 = get_viewport().get_visible_rect().size
	var middle: Vector2 = control.get_global_transform_with_canvas() * (control.size / 2.0)
	return (middle / size.max(Vector2.ONE)) * 2.0 - Vector2.ONE


func _add(node: Node) -> void:
	state.add(node)
	_detectors.add(node)
	if node is DojoSync and node.has_signal("results_ready"):
		_sync = node
		_sync.outlives_trainer = true
		_sync.results_ready.connect(report)
		_sync.trainer_said.connect(_obey)
		_sync.disconnected.connect(_go_on)


func _remove(node: Node) -> void:
	state.remove(node)
	_detectors.remove(node)
	if node == _sync:
		_sync = null


func _obey(text: String) -> void:
	if text.begins_with(RELOAD):
		_reload_seed = text.trim_prefix(RELOAD).to_int()
	elif text.begins_with(PICTURE):
		RenderingServer.force_draw(false)
		get_viewport().get_texture().get_image().save_png(text.trim_prefix(PICTURE))


func _go_on(_reason: String) -> void:
	if _reload_seed < 0:
		get_tree().quit()
	else:
		_reload.call_deferred()


## Begins the game anew, as far as that is possible without a new process.
func _reload() -> void:
	for node in get_tree().root.get_children():
		if not _own.has(node) and node != get_tree().current_scene:
			node.queue_free()
	get_tree().paused = false
	Engine.time_scale = 1.0
	seed(_reload_seed)
	_reload_seed = -1
	_detectors.begin()
	get_tree().change_scene_to_file(_first_scene)
