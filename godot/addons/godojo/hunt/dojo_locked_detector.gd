class_name DojoLockedDetector
extends RefCounted
## Finds settings that can never be used: disabled, whatever the others on their screen are set to.
##
## Every other element of the screen must have been used, sliders twice, and switches seen in all
## their combinations. A screen without switches, or with many, says nothing.

const _MOST_SWITCHES := 3
const _LEAST_CHANGES := 2

# By screen and setting: what was seen of the others while it was disabled; none once it was not.
var _tried: Dictionary[String, OtherSettings] = {}
var _opened: Dictionary[String, bool] = {}


func begin() -> void:
	_tried.clear()
	_opened.clear()


## The names of settings that turned out to be locked. [param shown] has all elements of a screen as
## [DojoMenuDetector] describes them; those without a value are no settings.
func look(screen: String, shown: Array) -> PackedStringArray:
	var found: PackedStringArray = []
	for element: Dictionary in shown:
		var key: String = "%s:%s" % [screen, element["name"]]
		if element.get("is_enabled", true):
			_opened[key] = true
			_tried.erase(key)
		elif element.has("value") and not _opened.has(key):
			if not _tried.has(key):
				_tried[key] = OtherSettings.new()
			_tried[key].note(shown, element)
			if _tried[key].is_enough():
				_opened[key] = true
				_tried.erase(key)
				found.append(str(element["name"]))
	return found


## What the other elements of a screen were used for.
class OtherSettings:
	var _values: Dictionary[String, float] = {}
	var _changes: Dictionary[String, int] = {}
	var _first_uses: Dictionary[String, int] = {}
	var _is_used: Dictionary[String, bool] = {}
	var _is_slider: Dictionary[String, bool] = {}
	var _combinations: Dictionary[String, bool] = {}

	func note(shown: Array, locked: Dictionary) -> void:
		var combination: String = ""
		for element: Dictionary in shown:
			var name: String = str(element["name"])
			if name == locked["name"] or not element.get("is_enabled", true):
				continue
			var value: float = float(element.get("value", 0.0))
			var uses: int = element.get("uses", 0)
			if not _values.has(name):
				_values[name] = value
				_first_uses[name] = uses
				_is_used[name] = false
			if uses > _first_uses[name]:
				_is_used[name] = true
			if not is_equal_approx(value, _values[name]):
				_changes[name] = _changes.get(name, 0) + 1
				_is_used[name] = true
				_values[name] = value
			if value != 0.0 and value != 1.0:
				_is_slider[name] = true
			if _changes.has(name) and not _is_slider.has(name):
				combination += "%s=%d " % [name, value]
		_combinations[combination] = true

	func is_enough() -> bool:
		var switches: int = 0
		for name: String in _is_used:
			if not _is_used[name]:
				return false
			if _changes.has(name):
				if not _is_slider.has(name):
					switches += 1
				elif _changes[name] < _LEAST_CHANGES:
					return false
		if switches == 0 or switches > _MOST_SWITCHES:
			return false
		# Those that were seen before the last switch was known have fewer names.
		var whole: int = 0
		for combination: String in _combinations:
			whole += int(combination.count("=") == switches)
		return whole >= 1 << switches
