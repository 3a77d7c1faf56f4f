class_name DojoObservationLayout
extends RefCounted
## The parts of observations and actions, in the words of the wire.
##
## An observation part is [code]{"name", "shape", "kind", "low", "high"}[/code], an action part
## [code]{"name", "kind", "size"}[/code]; a role lists its parts in order.
## [br][br]
## [method read] takes the parts of an observation from a JSON file that trainers read, too: a list
## of [code]{"name", "shape", "low", "high", "frame"}[/code]. A text in place of a number is the
## path of a property of the settings, such as [code]"sight.range_m"[/code], or with a minus sign
## its negative; only the last part's size may depend on settings. The frame is
## [code]"world"[/code] for vectors along the world's axes, [code]"heading"[/code] for the unit
## vector along the heading, and [code]"own"[/code], the default, for the rest.

var _declared: Array[Dictionary] = []
var _starts: Dictionary[String, int] = {}
# Numbers whose count does not depend on settings.
var _fixed: int = 0


## The layout that the file at [param path] declares.
static func read(path: String) -> DojoObservationLayout:
	# By its own name, the class would stay in use when the engine exits.
	var layout := new()
	for part: Dictionary in JSON.parse_string(FileAccess.get_file_as_string(path)):
		layout._declared.append(part)
		layout._starts[part["name"] as String] = layout._fixed
		var numbers_of_part: float = 1.0
		for extent: Variant in part["shape"]:
			numbers_of_part *= 0.0 if extent is String else extent as float
		layout._fixed += int(numbers_of_part)
	return layout


## Index of the first number of the part [param name].
func start(name: String) -> int:
	return _starts[name]


## The last extent of the part [param name]: the numbers of a vector, or of one ray.
func width(name: String) -> int:
	for part in _declared:
		if part["name"] == name:
			return int((part["shape"] as Array)[-1] as float)
	return 0


## The parts with the sizes and bounds that [param settings] give.
func parts(settings: Object) -> Array[Dictionary]:
	var found: Array[Dictionary] = []
	for part in _declared:
		var shape: Array[int] = []
		for extent: Variant in part["shape"]:
			shape.append(int(_value(extent, settings)))
		var low: float = _value(part["low"], settings)
		found.append(grid(part["name"] as String, shape, low, _value(part["high"], settings)))
	return found


## Numbers of an observation.
func size(settings: Object) -> int:
	return observation_size(parts(settings))


## The heading, and the pairs of numbers along the world's axes in the observation;
## [param acted]: those in the action.
func heading(acted: Array) -> Dictionary:
	var pairs: Dictionary[String, Array] = {"world": [], "heading": []}
	for part in _declared:
		var frame: String = part.get("frame", "own")
		if pairs.has(frame):
			var first: int = start(part["name"] as String)
			pairs[frame].append([first, first + width(part["name"] as String) - 1])
	return {"forward": pairs["heading"][0], "observed": pairs["world"], "acted": acted}


## A block of zeros for all parts whose size does not depend on settings.
func zeros() -> PackedFloat32Array:
	var block := PackedFloat32Array()
	block.resize(_fixed)
	return block


static func _value(declared: Variant, settings: Object) -> float:
	if not declared is String:
		return declared
	var path: String = declared
	var value: Variant = settings
	for name in path.trim_prefix("-").split("."):
		value = (value as Object).get(name)
	return -(value as float) if path.begins_with("-") else value as float


## Some numbers of an observation that belong together, each from [param low] to [param high].
static func numbers(name: String, count: int, low: float = -1.0, high: float = 1.0) -> Dictionary:
	return {"name": name, "shape": [count], "kind": "box", "low": low, "high": high}


## Numbers with more than one dimension, the last one changing fastest.
static func grid(
	name: String, shape: Array[int], low: float = 0.0, high: float = 1.0
) -> Dictionary:
	return {"name": name, "shape": shape, "kind": "box", "low": low, "high": high}


## A picture: rows, columns, channels, each number from 0 to 1.
static func picture(name: String, rows: int, columns: int, channels: int) -> Dictionary:
	var shape: Array[int] = [rows, columns, channels]
	return {"name": name, "shape": shape, "kind": "image", "low": 0.0, "high": 1.0}


## Numbers from -1 to 1 that an agent does something with, such as a direction. At [param rest]
## nothing is done with them: that is where an untrained policy begins.
static func move(name: String, count: int, rest: float = 0.0) -> Dictionary:
	var part: Dictionary = {"name": name, "kind": "continuous", "size": count}
	if rest != 0.0:
		part["rest"] = rest
	return part


## One of several choices; it arrives as its index, from 0 to [param count] - 1.
static func choice(name: String, count: int) -> Dictionary:
	return {"name": name, "kind": "discrete", "size": count}


## Gives parts with the same name names of their own, such as Eyes and Eyes_2.
static func tell_apart(parts: Array[Dictionary]) -> void:
	var seen: Dictionary[String, int] = {}
	for part in parts:
		var name: String = part["name"]
		seen[name] = seen.get(name, 0) + 1
		if seen[name] > 1:
			part["name"] = "%s_%d" % [name.left(58), seen[name]]


## How many numbers these observation parts have together.
static func observation_size(parts: Array) -> int:
	var size: int = 0
	for part: Dictionary in parts:
		var product: int = 1
		for extent: int in part["shape"]:
			product *= extent
		size += product
	return size


## How many numbers an action of these parts has: a choice is one.
static func action_size(parts: Array) -> int:
	var size: int = 0
	for part: Dictionary in parts:
		size += int(part["size"]) if part["kind"] == "continuous" else 1
	return size
