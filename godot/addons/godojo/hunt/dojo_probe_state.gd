class_name DojoProbeState
extends RefCounted
## What a hunt sees of any game: where bodies are, what the scene is and what the UI shows.
##
## The numbers of [method read] are [constant HEAD] and then, for each of the first
## [constant BODIES] bodies, its position and velocity.

## Bodies that have a place among the numbers; those of agents come first.
const BODIES := 8
## Names of the numbers before those of bodies.
const HEAD: PackedStringArray = ["scene", "nodes", "bodies", "focus", "elements", "texts", "paused"]
const _NUMBERS_OF_BODY := 6
const _HASHES := 997
const _MOST_ELEMENTS := 64
const _MOST_TEXTS := 64
const _INTERACTIVE: Array[StringName] = [
	&"BaseButton", &"LineEdit", &"TextEdit", &"Slider", &"ItemList", &"Tree", &"TabBar", &"SpinBox"
]

## Moving bodies, in the order in which they came; some may have been freed.
var bodies: Array[Node] = []
## Interactive Controls.
var elements: Array[Node] = []
## What can be clicked in the scene itself.
var pickables := DojoPickables.new()
var labels: Array[Node] = []
## Menus that open in windows of their own.
var popups: Array[Node] = []
## What the agents move, in order.
var agents: Array[Node] = []
var tree: SceneTree
# By the id of a body, whether it seems to be played.
var _played: Dictionary[int, bool] = {}
var _players := RegEx.create_from_string("(?i)player|hero|character|avatar|pilot")
var _listens := RegEx.create_from_string("\\bInput\\.|func _(unhandled_)?(key_)?input")
var _unnamed := RegEx.create_from_string("@\\d+")
var _digits := RegEx.create_from_string("[0-9]+")


func _init(its_tree: SceneTree) -> void:
	tree = its_tree


## A node has come into the tree.
func add(node: Node) -> void:
	pickables.add(node)
	if node is PhysicsBody3D or node is PhysicsBody2D:
		if is_moving(node):
			bodies.append(node)
	elif node is Label3D:
		labels.append(node)
	elif node is Control:
		if is_interactive(node as Control):
			elements.append(node)
		elif node is Label or node is RichTextLabel:
			labels.append(node)
	elif node is PopupMenu:
		popups.append(node)
	elif node is DojoAgent:
		if node.get_parent() is Node3D or node.get_parent() is Node2D:
			agents.append(node.get_parent())


## A node has left the tree.
func remove(node: Node) -> void:
	pickables.remove(node)
	if node is PhysicsBody3D or node is PhysicsBody2D:
		bodies.erase(node)
		agents.erase(node)
	elif node is Label3D:
		labels.erase(node)
	elif node is Control:
		elements.erase(node)
		labels.erase(node)
	elif node is PopupMenu:
		popups.erase(node)
	elif node is DojoAgent:
		agents.erase(node.get_parent())


## The numbers, with [param shown] elements and [param followed] bodies; those that are not finite
## are 0.
func read(shown: Array[Node], followed: Array[Node]) -> PackedFloat32Array:
	var focus: Control = tree.root.gui_get_focus_owner()
	var numbers: PackedFloat32Array = [
		hash(scene_path()) % _HASHES,
		Performance.get_monitor(Performance.OBJECT_NODE_COUNT),
		bodies.size(),
		hash(_unnamed.sub(str(focus.get_path()), "@", true)) % _HASHES if focus != null else 0,
		shown.size(),
		hash(texts()) % _HASHES,
		float(tree.paused),
	]
	var head: int = numbers.size()
	numbers.resize(head + BODIES * _NUMBERS_OF_BODY)
	for index in followed.size():
		var at: int = head + index * _NUMBERS_OF_BODY
		_put(numbers, at, place_of(followed[index]))
		_put(numbers, at + 3, velocity_of(followed[index]))
	return numbers


## The bodies that have a place among the numbers, in order.
func followed_bodies() -> Array[Node]:
	var found: Array[Node] = []
	for node in agents:
		if found.size() < BODIES and is_instance_valid(node) and not found.has(node):
			found.append(node)
	for wants_played: bool in [true, false]:
		for node in bodies:
			if found.size() >= BODIES:
				break
			if is_instance_valid(node) and not found.has(node):
				if _is_played(node) or not wants_played:
					found.append(node)
	return found


## Whether the first of these bodies is what is played, as far as that can be told.
func has_player(followed: Array[Node]) -> bool:
	if followed.is_empty():
		return true
	return agents.has(followed[0]) or _is_played(followed[0])


## Whether a body seems to listen to a person: by its name, its groups or its script.
func _is_played(node: Node) -> bool:
	var id: int = node.get_instance_id()
	if not _played.has(id):
		var script: Script = node.get_script()
		var is_named: bool = _players.search(str(node.name)) != null
		var is_grouped: bool = node.is_in_group(&"player") or node.is_in_group(&"players")
		var listens: bool = script != null and _listens.search(script.source_code) != null
		_played[id] = is_named or is_grouped or listens
	return _played[id]


## Where the game is played: the first body, the focused element, or the camera.
func position(followed: Array[Node]) -> Vector3:
	if not followed.is_empty():
		return place_of(followed[0])
	var focus: Control = tree.root.gui_get_focus_owner()
	if focus != null:
		var middle: Vector2 = focus.get_global_rect().get_center()
		return Vector3(middle.x, middle.y, 0.0)
	var camera: Camera3D = tree.root.get_camera_3d()
	return camera.global_position if camera != null else Vector3.ZERO


## Interactive elements that can be used now, the focused one first.
func visible_elements() -> Array[Node]:
	var found: Array[Node] = []
	var focus: Control = tree.root.gui_get_focus_owner()
	for node in elements:
		if found.size() < _MOST_ELEMENTS and is_instance_valid(node) and is_usable(node as Control):
			if node == focus:
				found.push_front(node)
			else:
				found.append(node)
	for node in pickables.clickable():
		if found.size() < _MOST_ELEMENTS:
			found.append(node)
	return found


func scene_path() -> String:
	if tree.current_scene == null:
		return ""
	var path: String = tree.current_scene.scene_file_path
	return path if not path.is_empty() else str(tree.current_scene.name)


## Where a body is; NaN and infinite numbers as they are.
static func place_of(node: Node) -> Vector3:
	if node is Node3D:
		return (node as Node3D).global_position
	if node is Node2D:
		var place: Vector2 = (node as Node2D).global_position
		return Vector3(place.x, place.y, 0.0)
	return Vector3.ZERO


## How fast a body is, as far as it says so.
static func velocity_of(node: Node) -> Vector3:
	if node is CharacterBody3D:
		return (node as CharacterBody3D).velocity
	if node is RigidBody3D:
		return (node as RigidBody3D).linear_velocity
	var flat := Vector2.ZERO
	if node is CharacterBody2D:
		flat = (node as CharacterBody2D).velocity
	elif node is RigidBody2D:
		flat = (node as RigidBody2D).linear_velocity
	return Vector3(flat.x, flat.y, 0.0)


static func is_moving(node: Node) -> bool:
	return (
		node is CharacterBody3D
		or node is RigidBody3D
		or node is CharacterBody2D
		or node is RigidBody2D
	)


static func is_interactive(control: Control) -> bool:
	return _INTERACTIVE.any(func(kind: StringName) -> bool: return control.is_class(kind))


## Whether a person could use it now.
static func is_usable(control: Control) -> bool:
	if not control.is_visible_in_tree() or control.mouse_filter == Control.MOUSE_FILTER_IGNORE:
		return false
	return not (control is BaseButton and (control as BaseButton).disabled)


## What visible labels say, without digits: clocks and scores are no other state.
func texts() -> PackedStringArray:
	var found: PackedStringArray = []
	for label in labels:
		if found.size() < _MOST_TEXTS and is_instance_valid(label) and _is_shown(label):
			found.append(_digits.sub(str(label.get("text")).left(200), "", true))
	return found


static func _is_shown(node: Node) -> bool:
	return node.call(&"is_visible_in_tree")


static func _put(numbers: PackedFloat32Array, at: int, vector: Vector3) -> void:
	if vector.is_finite():
		numbers[at] = vector.x
		numbers[at + 1] = vector.y
		numbers[at + 2] = vector.z


## What a detector reports about a node; [param message] without what differs between runs.
static func event(detector: String, message: String, node: Node) -> Dictionary:
	var place: Vector3 = place_of(node)
	var found: Dictionary = {
		"detector": detector,
		"message": "%s: %s" % [node.name, message],
		"pattern": message,
		"node": str(node.get_path()),
	}
	if place.is_finite() and (node is Node3D or node is Node2D):
		found["position"] = [place.x, place.y, place.z]
	return found
