class_name DojoProbeVariables
extends RefCounted
## Reads the variables of a game's scripts: numbers, switches, sizes of lists, entries of tables.
##
## Explorers look for new values, invariants may ask for them by [code]PATH:NAME[/code].

const MOST := 256
const _MOST_NODES := 400
## Nodes of one script that are read.
const _MOST_ALIKE := 4
const _MOST_KEYS := 12
const _HASHES := 997
const _MOST_TEXT := 64
const _OWN := "res://addons/godojo/"

## [code]PATH:NAME[/code] of each number of [method read].
var names: PackedStringArray = []

var _nodes: Array[Node] = []
# By script: its nodes that are read.
var _alike: Dictionary[Script, int] = {}
# Node, property and name of each entry; those of tables are found in every reading.
var _read: Array[Array] = []
var _is_stale: bool = true
# By script: the names of its variables.
var _properties: Dictionary[Script, PackedStringArray] = {}


func add(node: Node) -> void:
	var script: Script = node.get_script()
	if script == null or _nodes.size() >= _MOST_NODES:
		return
	if script.resource_path.begins_with(_OWN) or _alike.get(script, 0) >= _MOST_ALIKE:
		return
	_alike[script] = _alike.get(script, 0) + 1
	_nodes.append(node)
	_is_stale = true


func remove(node: Node) -> void:
	var script: Script = node.get_script()
	if script != null and _alike.has(script) and _nodes.has(node):
		_alike[script] -= 1
		_nodes.erase(node)
		_is_stale = true


## The numbers, and whether [member names] has changed.
func read(numbers: PackedFloat32Array) -> bool:
	var before: int = hash(names) if _is_stale else 0
	var was_stale: bool = _is_stale
	if _is_stale:
		_sort_in()
	var shown: PackedStringArray = []
	numbers.clear()
	for entry: Array in _read:
		if not is_instance_valid(entry[0]):
			continue
		var value: Variant = (entry[0] as Object).get(entry[1] as StringName)
		if value is Dictionary:
			_read_table(value as Dictionary, entry[2] as String, numbers, shown)
		elif _is_number(value):
			numbers.append(_number_of(value))
			shown.append(entry[2] as String)
		if shown.size() >= MOST:
			break
	if was_stale and hash(shown) == before:
		return false
	if not was_stale and shown == names:
		return false
	names = shown
	return true


func _read_table(
	table: Dictionary, name: String, numbers: PackedFloat32Array, shown: PackedStringArray
) -> void:
	numbers.append(table.size())
	shown.append(name)
	var keys: int = 0
	for key: Variant in table:
		var value: Variant = table[key]
		if (value is int or value is float or value is bool) and (key is String or key is int):
			numbers.append(_number_of(value))
			shown.append("%s.%s" % [name, str(key).left(24)])
			keys += 1
			if keys >= _MOST_KEYS:
				return


## Autoloads first, then the scene in its order, few of each script.
func _sort_in() -> void:
	_is_stale = false
	_read.clear()
	for wants_outer: bool in [true, false]:
		for node in _nodes:
			if not is_instance_valid(node) or not node.is_inside_tree():
				continue
			if (node.get_parent() is Window) != wants_outer:
				continue
			var script: Script = node.get_script()
			if script == null:
				continue
			var path: String = str(node.get_path())
			for property in _properties_of(script):
				if _read.size() < MOST:
					_read.append([node, StringName(property), "%s:%s" % [path, property]])


func _properties_of(script: Script) -> PackedStringArray:
	if not _properties.has(script):
		var found: PackedStringArray = []
		for property in script.get_script_property_list():
			var type: int = property["type"]
			var is_variable: bool = property["usage"] & PROPERTY_USAGE_SCRIPT_VARIABLE != 0
			if (
				is_variable
				and type not in [TYPE_VECTOR2, TYPE_VECTOR3, TYPE_TRANSFORM3D, TYPE_COLOR]
			):
				found.append(property["name"] as String)
		_properties[script] = found
	return _properties[script]


static func _is_number(value: Variant) -> bool:
	match typeof(value):
		TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_STRING, TYPE_STRING_NAME, TYPE_ARRAY, TYPE_NIL:
			return true
		TYPE_OBJECT:
			return true
	return false


static func _number_of(value: Variant) -> float:
	match typeof(value):
		TYPE_BOOL:
			return float(value as bool)
		TYPE_INT:
			return float(value as int)
		TYPE_FLOAT:
			return value
		TYPE_STRING, TYPE_STRING_NAME:
			return hash(str(value).left(_MOST_TEXT)) % _HASHES
		TYPE_ARRAY:
			return (value as Array).size()
		TYPE_OBJECT:
			return float(is_instance_valid(value))
	return 0.0
