extends Node
## Writes the live tree of a game at its first sync point, for a twin; and then where bodies are.
##
## Injected as an autoload, never part of a scene. [code]GODOJO_TWIN_SNAPSHOT[/code] names the file;
## with [code]GODOJO_TWIN_TRACE[/code] the game is played on, and positions follow each other in
## that file: one row of [code]float32[/code] for each tick, just before the trainer is asked. Other
## scripts of this folder are found beside it, wherever the folder is.
## [br][br]
## The global generator of random numbers is seeded twice: always the same as the game starts, and
## with [code]GODOJO_TWIN_SEED[/code] as the snapshot is taken.

const _PRIORITY := -2_000_000
const _SYNC_NAMES: PackedStringArray = ["Sync", "DojoSync"]

var _snapshot: GDScript
var _file := OS.get_environment("GODOJO_TWIN_SNAPSHOT")
var _seed := OS.get_environment("GODOJO_TWIN_SEED").to_int()
var _is_done := false
var _wheels: Dictionary[Node, Transform3D] = {}


func _init() -> void:
	seed(0)


func _enter_tree() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS
	process_physics_priority = _PRIORITY
	if _file.is_empty():
		queue_free()
		return
	var folder: String = (get_script() as Script).resource_path.get_base_dir()
	_snapshot = load(folder.path_join("dojo_twin_snapshot.gd"))
	get_tree().node_added.connect(_look_at)


func _physics_process(_delta: float) -> void:
	# godot_rl's Sync pauses the tree until the trainer has answered.
	if not _is_done and not get_tree().paused and _dojo_sync() == null:
		var sync: Node = _godot_rl_sync()
		if sync == null:
			_fail("the scene has no Sync node that trains")
		else:
			write(sync)


## A [DojoSync] announces what it is about to send; the first time that is a reset. Wheels hang
## where they enter the tree, and move from there on.
func _look_at(node: Node) -> void:
	if node is VehicleWheel3D:
		_wheels[node] = (node as VehicleWheel3D).transform
	if node.has_signal("results_ready") and "ticks_per_decision" in node:
		node.connect("results_ready", write.bind(node))


## Writes the tree, once, as [param sync] is about to ask for the first decision.
func write(sync: Node) -> void:
	if _is_done:
		return
	_is_done = true
	var tree: Variant = _snapshot.new(self)
	tree.set("wheels", _wheels)
	var text: String = JSON.stringify(tree.call("taken", sync, _seed), "", false)
	seed(_seed)  # after the scripts of templates, which may draw random numbers
	var file := FileAccess.open(_file, FileAccess.WRITE)
	if file == null:
		_fail("%s cannot be written" % _file)
		return
	file.store_string(text)
	file.close()
	var trace: String = OS.get_environment("GODOJO_TWIN_TRACE")
	if not trace.is_empty():
		var folder: String = (get_script() as Script).resource_path.get_base_dir()
		var tracer: Node = (load(folder.path_join("dojo_twin_trace.gd")) as GDScript).new()
		tracer.call("follow", trace, tree.get("bodies"))
		_put_before(sync, tracer)


## Lets [param node] be processed just before [param sync], unseen by everybody who counts children.
func _put_before(sync: Node, node: Node) -> void:
	if sync.process_physics_priority != 0:
		node.process_physics_priority = sync.process_physics_priority - 1
		add_child(node)
		return
	var place: int = sync.get_index()
	if place == 0:
		sync.get_parent().add_child(node, false, Node.INTERNAL_MODE_FRONT)
	else:
		var neighbour: Node = sync.get_parent().get_child(place - 1)
		neighbour.add_child(node, false, Node.INTERNAL_MODE_BACK)


func _dojo_sync() -> Node:
	for node in get_tree().root.find_children("*", "Node", true, false):
		if node.has_signal("results_ready") and "ticks_per_decision" in node:
			return node
	return null


## The node that talks to a trainer of godot_rl: by its name, its script's or what it has.
func _godot_rl_sync() -> Node:
	for node in get_tree().root.find_children("*", "Node", true, false):
		var script := node.get_script() as Script
		if script == null or not "action_repeat" in node:
			continue
		var is_sync: bool = script.resource_path.get_file().to_lower() == "sync.gd"
		if is_sync or script.get_global_name() in _SYNC_NAMES:
			return node
	return null


func _fail(reason: String) -> void:
	_is_done = true
	printerr("Godojo: no snapshot: %s" % reason)
	get_tree().quit(1)
