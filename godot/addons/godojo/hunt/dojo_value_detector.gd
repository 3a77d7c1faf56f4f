class_name DojoValueDetector
extends RefCounted
## Finds values that cannot be meant: a negative number of coins, a number that has wrapped around,
## one that is not a number, and texts such as [code]<null>[/code].

## Words of what one has or does not have, but never less than none of.
const WORDS: PackedStringArray = [
	"coin",
	"gold",
	"money",
	"cash",
	"gem",
	"credit",
	"ammo",
	"bullet",
	"bomb",
	"live",
	"price",
	"stock",
	"wood",
	"stone",
	"food",
	"iron",
	"ore",
	"key",
	"potion",
	"ticket",
	"seed",
	"people",
	"population",
	"inventory",
	"item",
	"owned",
	"resource",
	"building",
	"quantity",
	"energy",
	"stamina",
	"mana",
	"fuel",
	"charge",
]
## Beyond this, a number that falls below 0 at once has wrapped around.
const LARGE := 100_000_000.0
const _TEXTS := "<null>|<Freed Object>|<Object#|(?<![\\w.])-?(nan|inf)(?![\\w.])|%[sdf](?!\\w)"
## Less than none of so many.
const _SHARES := "(?<![\\w.)])-\\d+ ?/ ?\\d+"

var _state: DojoProbeState
var _is_quantity: Dictionary[String, bool] = {}
var _before: PackedFloat32Array = []
var _names: PackedStringArray = []
var _words := RegEx.create_from_string("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
var _odd := RegEx.create_from_string("%s|%s" % [_TEXTS, _SHARES])
# By label, what was read last.
var _read: Dictionary[Node, String] = {}


func _init(state: DojoProbeState) -> void:
	_state = state


func begin() -> void:
	_before = []
	_names = []
	_read.clear()


## What is wrong with the variables now.
func look(names: PackedStringArray, numbers: PackedFloat32Array) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	if numbers == _before and names == _names:
		return found
	var are_same: bool = names == _names
	for index in numbers.size():
		var now: float = numbers[index]
		if are_same and now == _before[index]:
			continue
		if is_nan(now):
			if not are_same or not is_nan(_before[index]):
				found.append(_event("nan", names[index], "is not a number"))
		elif not are_same or now >= 0.0 or _before[index] < 0.0:
			continue
		elif _before[index] > LARGE:
			found.append(_event("economy", names[index], "has wrapped around"))
		elif now == roundf(now) and _before[index] == roundf(_before[index]):
			if _quantity(names[index]):
				found.append(_event("economy", names[index], "is less than 0"))
	_before = numbers.duplicate()
	_names = names
	return found


## Visible texts that nobody has written like that.
func look_at_texts() -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	for label in _state.labels:
		if not is_instance_valid(label):
			continue
		var text: String = str(label.get("text"))
		if _read.get(label, "") == text or not label.call(&"is_visible_in_tree"):
			continue
		_read[label] = text
		var odd: RegExMatch = _odd.search(text)
		if odd != null:
			var message: String = "its text has %s" % odd.get_string()
			found.append(DojoProbeState.event("text", message, label))
	return found


func remove(node: Node) -> void:
	if node is Label or node is RichTextLabel or node is Label3D:
		_read.erase(node)


func _quantity(name: String) -> bool:
	if not _is_quantity.has(name):
		_is_quantity[name] = false
		for word in _words.search_all(name.get_slice(":", 1)):
			if WORDS.has(word.get_string().to_lower().trim_suffix("s")):
				_is_quantity[name] = true
	return _is_quantity[name]


static func _event(detector: String, name: String, what: String) -> Dictionary:
	var variable: String = name.get_slice(":", 1)
	return {
		"detector": detector,
		"message": "%s %s" % [variable, what],
		"pattern": "%s %s" % [variable, what],
		"node": name.get_slice(":", 0),
	}
