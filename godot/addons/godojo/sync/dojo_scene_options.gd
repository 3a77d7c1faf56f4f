class_name DojoSceneOptions
extends RefCounted
## What a trainer, or a person at the command line, asks of a scene: values for exported variables
## of its agents and of the roots of its worlds, by name. For [DojoSceneWorlds].

const _TYPES: PackedInt32Array = [TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_STRING, TYPE_STRING_NAME]


## Gives [param nodes] their values; returns an error message, or an empty text.
static func apply(options: Dictionary, nodes: Array[Node]) -> String:
	for option: String in options:
		var is_known: bool = false
		for node in nodes:
			var kind: int = _exported_type(node, option)
			if kind == TYPE_NIL:
				continue
			is_known = true
			var value: Variant = _as_type(options[option], kind)
			var choices: PackedStringArray = _choices(node, option)
			if value is String and not choices.is_empty() and not value in choices:
				return (
					"the option %s must be one of %s" % [_name(option), ", ".join(choices)]
					+ ", not %s" % DojoUntrustedText.quoted(str(value))
				)
			if value == null:
				return (
					"the option %s must be of type %s" % [_name(option), type_string(kind)]
					+ ", not %s" % DojoUntrustedText.quoted(str(options[option]))
				)
			node.set(option, value)
		if not is_known:
			return (
				"there is no option %s: no agent has an exported variable of this name"
				% _name(option)
			)
	return ""


## The words [code]--NAME=VALUE[/code] of the command line that are options of these nodes.
static func from_words(words: PackedStringArray, nodes: Array[Node]) -> Dictionary:
	var found: Dictionary = {}
	for word in words:
		var option: String = word.get_slice("=", 0).trim_prefix("--").replace("-", "_")
		if not word.begins_with("--") or not "=" in word:
			continue
		if nodes.any(func(node: Node) -> bool: return _exported_type(node, option) != TYPE_NIL):
			found[option] = word.substr(word.find("=") + 1)
	return found


## The type of an exported variable of the node's script that an option can set;
## [constant TYPE_NIL] if it has none.
static func _exported_type(node: Node, option: String) -> int:
	const EXPORTED: int = PROPERTY_USAGE_SCRIPT_VARIABLE | PROPERTY_USAGE_EDITOR
	for property in node.get_property_list():
		if property["name"] == option and int(property["usage"]) & EXPORTED == EXPORTED:
			return property["type"] if property["type"] in _TYPES else TYPE_NIL
	return TYPE_NIL


## What a text that is exported with [annotation @GDScript.@export_enum] may be; empty: anything.
static func _choices(node: Node, option: String) -> PackedStringArray:
	for property in node.get_property_list():
		if property["name"] == option and property["hint"] == PROPERTY_HINT_ENUM:
			return (property["hint_string"] as String).split(",")
	return []


## The value, or what a text says, as this type; null if it is none.
static func _as_type(value: Variant, kind: int) -> Variant:
	if value is String and kind in [TYPE_BOOL, TYPE_INT, TYPE_FLOAT]:
		value = DojoSafeJson.read(value as String).data
	match kind:
		TYPE_STRING, TYPE_STRING_NAME:
			return str(value) if value is String else null
		TYPE_BOOL:
			return value if value is bool else null
		TYPE_FLOAT:
			return float(value) if (value is float or value is int) and is_finite(value) else null
		TYPE_INT:
			var is_whole: bool = value is int or (value is float and value == floorf(value))
			return int(value) if is_whole and absf(value) < 1e15 else null
	return null


static func _name(option: String) -> String:
	return DojoUntrustedText.quoted(option)
