# gdlint: disable=max-returns
extends RefCounted
## Reads a live tree into plain data: nodes, their properties and variables, signals, resources.
##
## Floats are written as the hexadecimal bytes of 64-bit numbers, so that none of them is rounded.

const _SKIPPED: PackedStringArray = [
	"script",
	"owner",
	"multiplayer",
	"name",
	"unique_name_in_owner",
	"scene_file_path",
	"editor_description",
	"auto_translate_mode",
	"physics_interpolation_mode",
	"process_mode",
	"process_priority",
	"process_physics_priority",
	"process_thread_group",
	"process_thread_group_order",
	"process_thread_messages",
	"rotation_edit_mode",
	"visibility_parent",
	"debug_color",
	"debug_fill",
	"debug_shape_custom_color",
	"debug_shape_thickness",
	"metadata/_edit_lock_",
	"metadata/_edit_group_",
]
const _PARTICLES: PackedStringArray = [
	"emitting", "one_shot", "lifetime", "explosiveness", "use_fixed_seed"
]
## What is read of a class and those below it besides what scenes store.
const _MORE := {
	"Node3D": ["transform", "global_transform", "visible", "top_level"],
	"Node2D": ["transform", "global_transform", "visible", "top_level"],
	"Timer": ["time_left"],
	"CharacterBody3D": ["velocity"],
	"CharacterBody2D": ["velocity"],
	"PathFollow3D": ["progress", "progress_ratio"],
	"PathFollow2D": ["progress", "progress_ratio"],
	"Control": ["visible", "position", "size"],
	"GPUParticles2D": _PARTICLES,
	"GPUParticles3D": _PARTICLES,
	"CPUParticles2D": _PARTICLES,
	"CPUParticles3D": _PARTICLES,
	"RandomNumberGenerator": ["seed", "state"],
}
## Nodes that are only seen or heard: what scenes store of them cannot change the game.
const _SHOWN: PackedStringArray = [
	"Control",
	"Window",
	"CanvasLayer",
	"VisualInstance3D",
	"AudioStreamPlayer",
	"AudioStreamPlayer2D",
	"AudioStreamPlayer3D",
	"WorldEnvironment",
	"Camera3D",
	"Camera2D",
	"Sprite2D",
	"AnimatedSprite2D",
	"Polygon2D",
	"Line2D",
	"CPUParticles2D",
	"GPUParticles2D",
	"AnimationMixer",
	"TileMap",
]
## Of resources, those that are kept with all they store; of others, only class and path.
const _READ: PackedStringArray = ["Shape3D", "Shape2D", "Curve", "Curve2D", "Curve3D"]
const _READ_TOO: PackedStringArray = ["PhysicsMaterial", "RandomNumberGenerator"]
const _MOST_ITEMS := 100_000
const _DEEPEST := 12
const _MOST_TEMPLATES := 64

## The bodies whose positions a trace follows, in tree order.
var bodies: Array[Node] = []

## Where wheels of vehicles were in them as they entered the tree.
var wheels: Dictionary = {}

var _probe: Node
var _nodes: Array[Node] = []
var _indices: Dictionary = {}
var _resources: Array = []
var _resource_indices: Dictionary = {}
var _scripts: Dictionary = {}
var _stored: Dictionary = {}
var _templates: Array = []


func _init(probe: Node) -> void:
	_probe = probe


## The whole tree, as [param sync] is about to ask for the first decision.
func taken(sync: Node, seed_number: int) -> Dictionary:
	var root: Window = _probe.get_tree().root
	_gather(root)
	_add_global_classes()
	var nodes: Array = []
	for node in _nodes:
		nodes.append(_read_node(node, node == sync))
	var connections: Array = []
	for node in _nodes:
		connections.append_array(_connections_of(node))
	_make_templates()
	var bodies_3d: bool = bodies.any(func(node: Node) -> bool: return node is Node3D)
	return {
		"godot_version": Engine.get_version_info()["string"],
		"scene": _probe.get_tree().current_scene.scene_file_path,
		"ticks_per_second": roundi(Engine.physics_ticks_per_second / Engine.time_scale),
		"action_repeat": _action_repeat(sync),
		"gravity": _hex(_gravity()),
		"physics_engine": _engine(bodies_3d),
		"nodes": nodes,
		"templates": _templates,
		"agents": _agents_of(sync),
		"connections": connections,
		"scripts": _scripts,
		"resources": _resources,
		"autoloads": _autoloads(),
		"sync": _indices.get(sync, -1),
		"settings": _settings(),
		"seed": seed_number,
		"bodies": bodies.map(func(node: Node) -> int: return _indices[node]),
	}


func _gather(node: Node) -> void:
	if node == _probe or node.is_queued_for_deletion():
		return
	_indices[node] = _nodes.size()
	_nodes.append(node)
	if node is CollisionObject3D or node is CollisionObject2D:
		bodies.append(node)
	for child in node.get_children():
		_gather(child)


## What scripts may make while the game runs: each is made once, outside the tree, and read.
func _make_templates() -> void:
	var folder: String = (get_script() as Script).resource_path.get_base_dir()
	var maker: RefCounted = (load(folder.path_join("dojo_twin_templates.gd")) as GDScript).new()
	var current: String = _probe.get_tree().current_scene.scene_file_path
	var made: Dictionary = {current: true}
	var is_new: bool = true
	while is_new and made.size() <= _MOST_TEMPLATES:
		is_new = false
		for title: String in maker.call("titles", _scripts, _resources):
			if made.has(title) or made.size() > _MOST_TEMPLATES:
				continue
			made[title] = true
			var node: Node = maker.call("new_node", title)
			if node != null:
				is_new = true
				_read_template(title, node)


func _read_template(title: String, root: Node) -> void:
	var first: int = _nodes.size()
	var outside: Array[Node] = bodies.duplicate()
	_gather(root)
	bodies = outside
	var nodes: Array = []
	for node: Node in _nodes.slice(first):
		nodes.append(_read_node(node, false))
	var connections: Array = []
	for node: Node in _nodes.slice(first):
		connections.append_array(_connections_of(node))
	var live: int = 0
	for node: Node in _nodes.slice(0, first):
		live += int(node.is_inside_tree() and node.scene_file_path == title)
	(
		_templates
		. append(
			{
				"name": title,
				"live": live,
				"first": first,
				"nodes": nodes,
				"connections": connections,
			}
		)
	)
	for node: Node in _nodes.slice(first):
		_indices.erase(node)
	_nodes.resize(first)
	root.free()


func _action_repeat(sync: Node) -> int:
	return sync.get("_ticks" if sync.has_signal("results_ready") else "action_repeat")


func _gravity() -> PackedFloat64Array:
	var direction: Vector3 = ProjectSettings.get_setting("physics/3d/default_gravity_vector")
	var strength: float = ProjectSettings.get_setting("physics/3d/default_gravity")
	return [direction.x * strength, direction.y * strength, direction.z * strength]


## The engine that runs, whatever the project's default stands for.
func _engine(is_3d: bool) -> String:
	if is_3d:
		var wanted: String = ProjectSettings.get_setting("physics/3d/physics_engine", "DEFAULT")
		return wanted if wanted != "DEFAULT" else "GodotPhysics3D"
	return "GodotPhysics2D"


func _settings() -> Dictionary:
	var screen := _probe.get_viewport().get_visible_rect().size
	var found: Dictionary = {"godojo/viewport_size": _value(screen)}
	for property in ProjectSettings.get_property_list():
		var title: String = property["name"]
		if title.begins_with("physics/"):
			found[title] = _value(ProjectSettings.get_setting(title))
	return found


func _autoloads() -> Dictionary:
	var found: Dictionary = {}
	for property in ProjectSettings.get_property_list():
		var title: String = property["name"]
		if title.begins_with("autoload/"):
			var node: Node = _probe.get_tree().root.get_node_or_null(title.trim_prefix("autoload/"))
			if _indices.has(node):
				found[title.trim_prefix("autoload/")] = _indices[node]
	return found


## The agents in the order in which the wire has them.
func _agents_of(sync: Node) -> Array:
	var agents: Array = []
	for variable: String in ["agents_training", "agents"]:
		if agents.is_empty() and sync.get(variable) is Array:
			agents = sync.get(variable)
	if agents.is_empty() and sync.has_signal("results_ready"):
		for node in _nodes:
			if node.has_method("apply_action") and node.has_method("begin_round"):
				agents.append(node)
	if agents.is_empty():
		agents = sync.get_tree().get_nodes_in_group("AGENT")
	var found: Array = []
	for agent: Variant in agents:
		if agent is Node and _indices.has(agent as Node):
			var title: Variant = (agent as Node).get("policy_name")
			found.append({"node": _indices[agent], "policy_name": title if title is String else ""})
	return found


func _read_node(node: Node, is_sync: bool) -> Dictionary:
	var groups: Array = node.get_groups().filter(
		func(group: StringName) -> bool: return not group.begins_with("_")
	)
	return {
		"index": _indices[node],
		"name": str(node.name),
		"path": str(node.get_path()) if node.is_inside_tree() else str(node.name),
		"parent": _indices.get(node.get_parent(), -1),
		"native_class": node.get_class(),
		"script": _script_of(node),
		"groups": groups.map(func(group: StringName) -> String: return str(group)),
		"physics_process": _is_processed(node, node.is_physics_processing(), &"_physics_process"),
		"process": _is_processed(node, node.is_processing(), &"_process"),
		"priority": node.process_physics_priority,
		"process_mode": node.process_mode,
		"properties": _with_faces(node, _properties_of(node)),
		"members": _plain_members_of(node) if is_sync else _members_of(node),
	}


## Whether a node is processed; one outside the tree will be once it is ready.
func _is_processed(node: Node, is_now: bool, method: StringName) -> bool:
	if node.is_inside_tree():
		return is_now
	return node.get_script() != null and node.has_method(method)


## Solid CSG shapes and polygons have no shape of their own: what they collide with is added.
func _with_faces(node: Node, properties: Dictionary) -> Dictionary:
	var shape := node as CSGShape3D
	if shape != null and shape.use_collision and shape.is_root_shape():
		if shape.has_method("_update_shape"):  # what the engine has put off to the end of the frame
			shape.call("_update_shape")
		var baked: ConcavePolygonShape3D = shape.bake_collision_shape()
		if baked != null:
			properties["collision_faces"] = _value(baked.get_faces())
	if wheels.has(node):
		properties["rest_transform"] = _value(wheels[node])
	var polygon := node as CollisionPolygon2D
	if polygon != null:
		properties["collision_polygons"] = _value(_polygons_of(polygon))
	if node is TileMapLayer:
		_add_tiles(node as TileMapLayer, properties)
	return properties


## What a layer of tiles has in the physics: convex parts in its own frame, each with its bits.
func _add_tiles(tiles: TileMapLayer, properties: Dictionary) -> void:
	tiles.update_internals()
	var query := PhysicsShapeQueryParameters2D.new()
	var all := RectangleShape2D.new()
	all.size = Vector2.ONE * 1e6
	query.shape = all
	query.collision_mask = 0xFFFFFFFF
	var server := PhysicsServer2D
	for body in bodies:
		if body is PhysicsBody2D:  # a test of a motion brings shapes up to date that no step has seen yet
			var nowhere := PhysicsTestMotionParameters2D.new()
			server.body_test_motion((body as PhysicsBody2D).get_rid(), nowhere)
			break
	var found: Array[RID] = []
	for hit: Dictionary in tiles.get_world_2d().direct_space_state.intersect_shape(
		query, _MOST_ITEMS
	):
		if hit["collider"] == tiles and not found.has(hit["rid"]):
			found.append(hit["rid"])
	var parts: Array = []
	var inverse: Transform2D = tiles.global_transform.affine_inverse()
	for body in found:
		var frame: Transform2D = inverse * (server.body_get_state(body, 0) as Transform2D)
		for index in server.body_get_shape_count(body):
			var shape: RID = server.body_get_shape(body, index)
			if server.shape_get_type(shape) == PhysicsServer2D.SHAPE_CONVEX_POLYGON:
				var place: Transform2D = frame * server.body_get_shape_transform(body, index)
				parts.append(place * (server.shape_get_data(shape) as PackedVector2Array))
		properties["collision_layer"] = _value(server.body_get_collision_layer(body))
		properties["collision_mask"] = _value(server.body_get_collision_mask(body))
	if not parts.is_empty():
		properties["collision_polygons"] = _value(parts)


## The convex parts of a polygon, or the ends of its edges, as its body gets them.
func _polygons_of(node: CollisionPolygon2D) -> Array:
	if node.build_mode == CollisionPolygon2D.BUILD_SOLIDS:
		return Geometry2D.decompose_polygon_in_convex(node.polygon)
	var ends: PackedVector2Array = []
	for index in node.polygon.size():
		ends.append(node.polygon[index])
		ends.append(node.polygon[(index + 1) % node.polygon.size()])
	return [ends]


## Of the node that talks to the trainer, only what is plain: not its sockets, words and secrets.
func _plain_members_of(node: Node) -> Dictionary:
	var found: Dictionary = {}
	var members: Dictionary = _members_of(node, [TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_ARRAY])
	for title: String in members:
		var value: Array = members[title]
		if value[0] != "Array" or value[1].all(func(item: Array) -> bool: return item[0] == "node"):
			found[title] = value
	return found


## The script's path, or null; it and its base scripts are listed.
func _script_of(object: Object) -> Variant:
	var script := object.get_script() as Script
	while script != null and script.resource_path.is_empty():
		script = script.get_base_script()
	if script == null:
		return null
	_list_script(script)
	return script.resource_path


func _list_script(script: Script) -> void:
	if _scripts.has(script.resource_path):
		return
	var base: Script = script.get_base_script()
	_scripts[script.resource_path] = {
		"path": script.resource_path,
		"class_name": str(script.get_global_name()),
		"base": base.resource_path if base != null else "",
		"native_class": str(script.get_instance_base_type()),
	}
	if base != null:
		_list_script(base)


## Classes that no node has, but that others may name: without loading them.
func _add_global_classes() -> void:
	var classes: Dictionary = {}
	for entry in ProjectSettings.get_global_class_list():
		classes[str(entry["class"])] = entry
	for title: String in classes:
		var path: String = classes[title]["path"]
		if _scripts.has(path) or path.get_extension() != "gd":
			continue
		var base: String = classes[title]["base"]
		var native: String = base
		var steps: int = 0
		while classes.has(native) and steps < 64:
			native = classes[native]["base"]
			steps += 1
		_scripts[path] = {
			"path": path,
			"class_name": title,
			"base": classes[base]["path"] if classes.has(base) else "",
			"native_class": native,
		}


func _properties_of(object: Object) -> Dictionary:
	var found: Dictionary = {}
	var is_outside: bool = object is Node and not (object as Node).is_inside_tree()
	for title in _stored_by(object):
		if not (is_outside and title.begins_with("global_")):
			found[title] = _value(object.get(title))
	return found


## The names of what is read of the object's class.
func _stored_by(object: Object) -> PackedStringArray:
	var kind: String = object.get_class()
	if _stored.has(kind):
		return _stored[kind]
	var names: PackedStringArray = []
	if not _is_any(kind, _SHOWN) or _is_any(kind, ["CSGShape3D"]):
		for property in ClassDB.class_get_property_list(kind):
			var title: String = property["name"]
			if property["usage"] & PROPERTY_USAGE_STORAGE and not _SKIPPED.has(title):
				names.append(title)
	for above: String in _MORE:
		if _is_any(kind, [above]):
			for title: String in _MORE[above]:
				if not names.has(title):
					names.append(title)
	_stored[kind] = names
	return names


func _is_any(kind: String, classes: PackedStringArray) -> bool:
	for above in classes:
		if kind == above or ClassDB.is_parent_class(kind, above):
			return true
	return false


## Variables of the script and of its base scripts, of these types or of all.
func _members_of(object: Object, kinds: Array = []) -> Dictionary:
	var found: Dictionary = {}
	if object.get_script() == null:
		return found
	for property in object.get_property_list():
		if property["usage"] & PROPERTY_USAGE_SCRIPT_VARIABLE:
			var value: Variant = object.get(property["name"] as StringName)
			if kinds.is_empty() or typeof(value) in kinds:
				found[property["name"]] = _value(value)
	return found


func _connections_of(node: Node) -> Array:
	var found: Array = []
	for signal_info in node.get_signal_list():
		for connection in node.get_signal_connection_list(signal_info["name"] as StringName):
			var callable: Callable = connection["callable"]
			var target := callable.get_object() as Node
			if target == null or not _indices.has(target):
				continue
			var method: String = callable.get_method()
			if callable.is_custom():
				if method.begins_with("<"):
					method = "<lambda>"
				elif target.get_script() == null or not target.has_method(method):
					continue
			(
				found
				. append(
					{
						"source": _indices[node],
						"signal": signal_info["name"],
						"target": _indices[target],
						"method": method,
						"binds": callable.get_bound_arguments().map(_value),
						"flags": connection["flags"],
					}
				)
			)
	return found


func _value(value: Variant, depth: int = 0) -> Array:
	var kind: String = type_string(typeof(value))
	match typeof(value):
		TYPE_NIL:
			return ["null"]
		TYPE_BOOL, TYPE_INT:
			return [kind, value]
		TYPE_FLOAT:
			return [kind, _hex([value])]
		TYPE_STRING, TYPE_STRING_NAME, TYPE_NODE_PATH:
			return ["String", str(value)]
		TYPE_OBJECT:
			return _object(value as Object, depth)
		TYPE_CALLABLE:
			return _callable(value as Callable)
		TYPE_ARRAY:
			return _array(value as Array, depth)
		TYPE_DICTIONARY:
			return _dictionary(value as Dictionary, depth)
		TYPE_PACKED_STRING_ARRAY:
			return [kind, Array(value as PackedStringArray)]
		TYPE_RID, TYPE_SIGNAL:
			return ["object", kind]
	if typeof(value) >= TYPE_PACKED_BYTE_ARRAY:
		return [kind, _hex(_packed_numbers(value))]
	return [kind, _hex(_numbers(value))]


func _object(object: Object, depth: int) -> Array:
	if not is_instance_valid(object):
		return ["null"]
	if object is Node:
		return (
			["node", _indices[object]] if _indices.has(object) else ["object", object.get_class()]
		)
	if not object is RefCounted:
		return ["object", object.get_class()]
	if not _resource_indices.has(object):
		if depth > _DEEPEST:
			return ["object", object.get_class()]
		_resource_indices[object] = _resources.size()
		var read: Dictionary = {"class_name": object.get_class(), "script": null}
		_resources.append(read)
		read["path"] = (object as Resource).resource_path if object is Resource else ""
		var is_script: bool = object is Script
		var script: Variant = null if is_script else _script_of(object)
		var kind: String = object.get_class()
		read["script"] = script
		read["properties"] = {}
		read["members"] = {} if is_script else _members_of(object)
		if _is_any(kind, _READ + _READ_TOO) or (script != null and object is Resource):
			read["properties"] = _properties_of(object)
		if object is PackedScene:
			read["properties"] = {"resource_path": ["String", read["path"]]}
	return ["resource", _resource_indices[object]]


func _callable(callable: Callable) -> Array:
	var target := callable.get_object() as Node
	if target != null and _indices.has(target) and not callable.is_custom():
		return ["Callable", _indices[target], str(callable.get_method())]
	return ["object", "Callable"]


func _array(items: Array, depth: int) -> Array:
	if items.size() > _MOST_ITEMS or depth > _DEEPEST:
		return ["object", "Array"]
	var read: Array = []
	for item: Variant in items:
		read.append(_value(item, depth + 1))
	if not items.is_typed():
		return ["Array", read]
	var of: String = type_string(items.get_typed_builtin())
	if items.get_typed_builtin() == TYPE_OBJECT:
		of = str(items.get_typed_class_name())
		var script := items.get_typed_script() as Script
		if script != null:
			of = str(script.get_global_name()) if script.get_global_name() else script.resource_path
	return ["Array", read, of]


func _dictionary(items: Dictionary, depth: int) -> Array:
	if items.size() > _MOST_ITEMS or depth > _DEEPEST:
		return ["object", "Dictionary"]
	var pairs: Array = []
	for key: Variant in items:
		pairs.append([_value(key, depth + 1), _value(items[key], depth + 1)])
	return ["Dictionary", pairs]


func _hex(numbers: PackedFloat64Array) -> String:
	return numbers.to_byte_array().hex_encode()


## The numbers of a packed array, one after the other.
func _packed_numbers(value: Variant) -> PackedFloat64Array:
	var numbers: PackedFloat64Array = []
	for item: Variant in value:
		if item is int or item is float:
			numbers.append(item as float)
		else:
			numbers.append_array(_numbers(item))
	return numbers


## The numbers of a vector, a matrix or a colour, in the order in which their properties have them.
func _numbers(value: Variant) -> PackedFloat64Array:
	match typeof(value):
		TYPE_RECT2, TYPE_RECT2I, TYPE_AABB:
			return _of_all([value.position, value.size])
		TYPE_TRANSFORM2D:
			return _of_all([value.x, value.y, value.origin])
		TYPE_BASIS:
			return _of_all([value.x, value.y, value.z])
		TYPE_TRANSFORM3D:
			return _of_all([value.basis.x, value.basis.y, value.basis.z, value.origin])
		TYPE_PROJECTION:
			return _of_all([value.x, value.y, value.z, value.w])
		TYPE_PLANE:
			return [value.x, value.y, value.z, value.d]
		TYPE_COLOR:
			return [value.r, value.g, value.b, value.a]
	var numbers: PackedFloat64Array = [value.x, value.y]
	if typeof(value) in [TYPE_VECTOR3, TYPE_VECTOR3I]:
		numbers.append(value.z)
	elif typeof(value) in [TYPE_VECTOR4, TYPE_VECTOR4I, TYPE_QUATERNION]:
		numbers.append_array([value.z, value.w])
	return numbers


func _of_all(parts: Array) -> PackedFloat64Array:
	var numbers: PackedFloat64Array = []
	for part: Variant in parts:
		numbers.append_array(_numbers(part))
	return numbers
