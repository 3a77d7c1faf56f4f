extends Node
## Watches a game from within while it is hunted; injected as an autoload, never part of a scene.
##
## Before each answer to the hunt it reports what [DojoProbeState] reads and what detectors saw.
## [code]GODOJO_PROBE_PORT[/code] says where the hunt listens; without it the node does nothing.

## What the trainer says to have the scene loaded anew: this and a seed.
const RELOAD := "hunt:reload "
## What is printed between the old scene and the new one; [code]game.py[/code] has it, too.
const BEGUN := "Godojo: the scene is loaded anew"
## What it says to have a picture: this and a file.
const PICTURE := "hunt:picture "

var state: DojoProbeState
var _link := DojoProbeLink.new()
var _detectors: DojoWorldDetectors
var _ages := DojoNodeAges.new()
var _variables := DojoProbeVariables.new()
var _places := DojoPlaces.new()
var _autoloads := DojoAutoloads.new()
var _sync: DojoSync
var _events: Array[Dictionary] = []
var _shown: Array = []
var _followed: Array[Node] = []
var _scene: String = ""
# The id of the current scene, and how many there were.
var _scene_id: int = 0
var _scenes: int = 0
var _settings: String = "{}"
var _reload_seed: int = -1
var _first_scene: String = ""
var _own: Array[Node] = []
var _is_by_input: bool = OS.get_environment("GODOJO_HUNT_INPUT") == "1"


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
	if DisplayServer.get_name() == "headless":
		get_tree().root.size = Vector2i(
			ProjectSettings.get_setting("display/window/size/viewport_width", 1152) as int,
			ProjectSettings.get_setting("display/window/size/viewport_height", 648) as int
		)
	# For a clip only some frames are drawn, each when it is asked for.
	RenderingServer.render_loop_enabled = OS.get_environment("GODOJO_HUNT_FILM") != "1"
	state = DojoProbeState.new(get_tree())
	_detectors = DojoWorldDetectors.new(state, OS.get_environment("GODOJO_HUNT_SETTINGS"))
	get_tree().node_added.connect(_add)
	get_tree().node_removed.connect(_remove)


func _physics_process(_delta: float) -> void:
	if state == null:
		return
	if _first_scene.is_empty():
		_note_start()
	if _sync == null:
		report()
	else:
		_events.append_array(_detectors.look_at_tick())
		_events.append_array(_detectors.look_at_bodies())


func _note_start() -> void:
	_first_scene = state.scene_path()
	for node in get_tree().root.get_children():
		if node != get_tree().current_scene:
			_own.append(node)
	if _is_by_input:
		_add_input_agent()


## Drives the game by its input map.
func _add_input_agent() -> void:
	var driven := Node.new()
	driven.name = "Driven"
	var sync := DojoSync.new()
	sync.name = "Sync"
	driven.add_child(DojoInputAgent.new(state))
	driven.add_child(sync)
	add_child(driven)
	sync.owner = driven


## Sends what there is to be seen now.
func report() -> void:
	var shown: Array[Node] = state.visible_elements()
	var followed: Array[Node] = state.followed_bodies()
	_events.append_array(_detectors.look_at_decision(followed, shown))
	if _detectors.looks_for_leaks():
		_events.append_array(_ages.leaks())
	var values: PackedFloat32Array = []
	var has_new_names: bool = _variables.read(values)
	_events.append_array(_detectors.look_at_values(_variables.names, values))
	var changes: Dictionary = _changes(shown, followed)
	if has_new_names:
		changes["variables"] = _variables.names
	if not _events.is_empty():
		changes["events"] = _events
		_events = []
	var place: Vector3 = state.position(followed)
	if not place.is_finite():
		place = Vector3.ZERO
	var scene: Node = get_tree().current_scene
	if scene != null and scene.get_instance_id() != _scene_id:
		_scene_id = scene.get_instance_id()
		_scenes += 1
	var aim: Vector2 = _places.aim(followed) if _is_by_input else Vector2(NAN, NAN)
	var numbers: PackedFloat32Array = [
		Performance.get_monitor(Performance.OBJECT_ORPHAN_NODE_COUNT),
		Performance.get_monitor(Performance.MEMORY_STATIC) / 1048576.0,
		Performance.get_monitor(Performance.OBJECT_COUNT),
		_ages.old_nodes(),
		float(state.has_player(followed)),
		_scenes,
		aim.x,
		aim.y,
		place.x,
		place.y,
		place.z,
	]
	numbers.append_array(state.read(shown, followed))
	numbers.append_array(values)
	_link.send(changes, numbers)


## What a report has to say in words, since the one before.
func _changes(shown: Array[Node], followed: Array[Node]) -> Dictionary:
	var changes: Dictionary = {}
	if state.scene_path() != _scene:
		_ages.begin()
		_scene = state.scene_path()
		changes["scene"] = _scene
		changes["autoloads"] = _own.size() - 1
		changes["restored"] = _autoloads.names()
		changes["is_restorable"] = _autoloads.is_restorable
	var elements: Array = []
	for node in shown:
		var place: Vector2 = _pointer_to(node)
		elements.append([str(node.get_path()), snappedf(place.x, 0.001), snappedf(place.y, 0.001)])
	var size: Vector2 = get_viewport().get_visible_rect().size.max(Vector2.ONE)
	for popup in state.popups:
		if is_instance_valid(popup) and (popup as Window).visible:
			for index in (popup as PopupMenu).item_count:
				var point: Vector2 = DojoElements.point_of_item(popup as PopupMenu, index)
				point = point / size * 2.0 - Vector2.ONE
				elements.append(["%s:%d" % [popup.get_path(), index], point.x, point.y])
	for path in _detectors.menus.elements():
		elements.append([path, DojoMenuDetector.NOWHERE, DojoMenuDetector.NOWHERE])
	if elements != _shown:
		_shown = elements
		changes["ui"] = elements
	if followed != _followed:
		_followed = followed
		changes["bodies"] = followed.map(func(node: Node) -> String: return str(node.get_path()))
	var player: Node = null
	if not followed.is_empty() and state.has_player(followed):
		player = followed[0]
	var places: Array = _places.changes(player, _detectors.bounds)
	if not places.is_empty():
		changes["places"] = places
	var settings: String = JSON.stringify(_detectors.settings_left())
	if settings != _settings:
		_settings = settings
		changes["left"] = settings
	var branches: PackedInt32Array = DojoCoverage.take_fresh()
	if not branches.is_empty():
		changes["branches"] = branches
	return changes


## Where an element is on the screen: both numbers from -1 to 1, as a pointer's action has them.
func _pointer_to(node: Node) -> Vector2:
	var size: Vector2 = get_viewport().get_visible_rect().size
	var middle: Vector2
	if node is Control:
		var control: Control = node
		middle = control.get_global_transform_with_canvas() * DojoElements.point_in(control)
		# A dialog is a window within the window.
		var window: Window = control.get_window()
		if window != get_tree().root:
			middle += Vector2(window.position)
	else:
		middle = DojoPickables.point_of(node)
	return (middle / size.max(Vector2.ONE)) * 2.0 - Vector2.ONE


func _add(node: Node) -> void:
	_autoloads.add(node)
	state.add(node)
	_detectors.add(node)
	_ages.add(node)
	_variables.add(node)
	_places.add(node)
	if not node is DojoSync or not node.has_signal("results_ready"):
		return
	if _is_by_input and not is_ancestor_of(node):
		node.ready.connect((node as DojoSync).stay_alone)
		return
	_sync = node
	_sync.outlives_trainer = true
	_sync.results_ready.connect(report)
	# A project's own addon may be an older one.
	_sync.connect(&"hunt_asked" if _sync.has_signal(&"hunt_asked") else &"trainer_said", _obey)
	_sync.disconnected.connect(_go_on)


func _remove(node: Node) -> void:
	state.remove(node)
	_detectors.remove(node)
	_ages.remove(node)
	_variables.remove(node)
	_places.remove(node)
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
	_autoloads.restore()
	seed(_reload_seed)
	_reload_seed = -1
	_detectors.begin()
	_ages.begin()
	_places.begin()
	DojoCoverage.begin()
	if has_node("Driven"):
		get_node("Driven").free()
		_add_input_agent.call_deferred()
	get_tree().change_scene_to_file(_first_scene)
	# The old scene is gone; what it has complained about until here is not the new one's.
	print(BEGUN)
