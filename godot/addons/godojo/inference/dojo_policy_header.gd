@tool
class_name DojoPolicyHeader
extends RefCounted
## The header of a [code].dojo[/code] file, checked: it comes from outside.

const _MAX_WIDTH := 4096
const _MAX_OBSERVATION := 65536
const _MAX_PARTS := 256
const _MAX_LAYERS := 16
const _MAX_NAME := 64
const _MAX_LIMIT := 1e6
# The largest whole number that JSON keeps exactly.
const _MAX_WHOLE := 1 << 53
const _KEYS: Dictionary[String, int] = {
	"game": TYPE_STRING,
	"role": TYPE_STRING,
	"observation_parts": TYPE_ARRAY,
	"action_parts": TYPE_ARRAY,
	"heading": TYPE_NIL,
	"layers": TYPE_ARRAY,
	"memory": TYPE_STRING,
	"memory_size": TYPE_FLOAT,
	"squashed": TYPE_BOOL,
	"log_std": TYPE_BOOL,
	"log_std_limits": TYPE_ARRAY,
	"normalised_limit": TYPE_FLOAT,
	"agent_steps": TYPE_FLOAT,
	"godojo": TYPE_STRING,
	"settings": TYPE_DICTIONARY,
}
# Layers that version 1 of the format called otherwise.
const _RENAMED: Dictionary[String, String] = {"eyes": "encoder", "mind": "trunk"}
const _NO_FIT := "its layers do not fit together"

## What is wrong, in one line; empty when all is well.
var error: String
var game: String
var role: String
var observation_parts: Array[Dictionary] = []
var action_parts: Array[Dictionary] = []
## Numbers of an observation.
var observation_size: int
## Images in the observation, in order.
var images: Array[DojoPolicyImage] = []
## Numbers that remain when images are replaced by their features.
var encoded_size: int
## Empty where a policy is not egocentric.
var heading: Dictionary
var layers: Array[DojoPolicyLayer] = []
var memory_size: int
var is_squashed: bool
## Limits of a squashed policy's log standard deviations.
var log_std_limits: PackedFloat32Array
## Normalised observations are clipped here.
var normalised_limit: float
var agent_steps: int
var settings: Dictionary

var _version: int


## The header in these bytes; look at [member error] before using the rest.
static func read(bytes: PackedByteArray, version: int) -> DojoPolicyHeader:
	var header := new()
	header._version = version
	if not DojoUntrustedText.is_utf8(bytes):
		header.error = "its header is no text"
		return header
	var json: DojoSafeJson = DojoSafeJson.read(bytes.get_string_from_utf8())
	if not json.error.is_empty() or not json.data is Dictionary:
		header.error = "its header is no JSON object"
		return header
	header.error = header._take(json.data)
	return header


## Continuous numbers of an action.
func numbers() -> int:
	var count: int = 0
	for part in action_parts:
		count += int(part["size"]) if part["kind"] == "continuous" else 0
	return count


## How many numbers follow the header.
func weights() -> int:
	var count: int = 2 * observation_size
	for image in images:
		count += image.weights()
	for layer in layers:
		count += layer.weights()
	return count if is_squashed else count + numbers()


func _take(fields: Dictionary) -> String:
	for key: String in _KEYS:
		if not fields.has(key):
			return "its header does not say its %s" % key
		if _KEYS[key] != TYPE_NIL and typeof(fields[key]) != _KEYS[key]:
			return "its header has no valid %s" % key
	if fields.size() != _KEYS.size() + (1 if fields.has("images") else 0):
		return "its header says something that is not known here: update the addon, or export it again"
	for key: String in ["game", "role", "godojo"]:
		if (fields[key] as String).length() > _MAX_NAME:
			return "its %s has more than %d letters" % [key, _MAX_NAME]
	game = fields["game"]
	role = fields["role"]
	is_squashed = fields["squashed"]
	settings = fields["settings"]
	var complaint: String = _take_numbers(fields)
	if complaint.is_empty():
		complaint = _take_observation(fields["observation_parts"])
	if complaint.is_empty():
		complaint = _take_images(fields.get("images", []))
	if complaint.is_empty():
		complaint = _take_action(fields["action_parts"])
	if complaint.is_empty():
		complaint = _take_heading(fields["heading"], fields["memory"] as String)
	if complaint.is_empty() and fields["log_std"] != (not is_squashed and numbers() > 0):
		complaint = "it says the wrong thing about its log_std"
	return complaint if complaint else _take_layers(fields["layers"], fields["memory"] as String)


func _take_numbers(fields: Dictionary) -> String:
	if not _is_whole(fields["memory_size"], 0, _MAX_WIDTH):
		return "its memory_size must be from 0 to %d" % _MAX_WIDTH
	if not _is_whole(fields["agent_steps"], 0, _MAX_WHOLE):
		return "its agent_steps are no number of decisions"
	normalised_limit = fields["normalised_limit"]
	if not (normalised_limit > 0.0 and normalised_limit <= _MAX_LIMIT):
		return "its normalised_limit must be above 0"
	memory_size = fields["memory_size"]
	agent_steps = fields["agent_steps"]
	var limits: Array = fields["log_std_limits"]
	if limits.size() != 2 or not (limits[0] is float and limits[1] is float):
		return "its log_std_limits must be two numbers"
	log_std_limits = PackedFloat32Array(limits)
	return ""


func _take_observation(parts: Array) -> String:
	if parts.is_empty() or parts.size() > _MAX_PARTS:
		return "it has %d observation parts" % parts.size()
	for part: Variant in parts:
		if not (part is Dictionary and part.get("name") is String and part.get("shape") is Array):
			return "an observation part has no name or no shape"
		var fields: Dictionary = part
		var shape: Array[int] = []
		var size: int = 1
		for extent: Variant in fields["shape"]:
			if not _is_whole(extent, 1, _MAX_OBSERVATION):
				return "an observation part has an impossible shape"
			shape.append(int(extent as float))
			size = mini(size * shape[-1], _MAX_OBSERVATION + 1)
		if shape.is_empty():
			return "an observation part has an impossible shape"
		observation_size += size
		if observation_size > _MAX_OBSERVATION:
			return "it observes more than %d numbers" % _MAX_OBSERVATION
		(
			observation_parts
			. append(
				{
					"name": fields["name"],
					"shape": shape,
					"kind": fields.get("kind", "box"),
					"low": fields.get("low", -1.0),
					"high": fields.get("high", 1.0),
				}
			)
		)
	return ""


func _take_images(given: Variant) -> String:
	encoded_size = observation_size
	if not given is Array or given.size() > _MAX_PARTS:
		return "its images are invalid"
	var end: int = 0
	for fields: Variant in given:
		var image: DojoPolicyImage = DojoPolicyImage.read(fields)
		if image == null or image.first < end:
			return "its images are invalid"
		if not _is_part(image):
			return "its images are of observations that are not there"
		var shapes: Array[Vector3i] = image.shapes()
		if shapes.size() <= image.convolutions.size():
			return "its convolutions do not fit their image"
		end = image.first + image.size()
		encoded_size += shapes[-1].x * shapes[-1].y * shapes[-1].z - image.size()
		images.append(image)
	return ""


## Whether this is a part of an observation.
func _is_part(image: DojoPolicyImage) -> bool:
	var begin: int = 0
	for part in observation_parts:
		if begin == image.first and part["shape"] == [image.shape.x, image.shape.y, image.shape.z]:
			return true
		var size: int = 1
		for extent: int in part["shape"]:
			size *= extent
		begin += size
	return false


func _take_action(parts: Array) -> String:
	if parts.is_empty() or parts.size() > _MAX_PARTS:
		return "it has %d action parts" % parts.size()
	for part: Variant in parts:
		if not (part is Dictionary and part.get("name") is String):
			return "an action part has no name"
		var fields: Dictionary = part
		var kind: Variant = fields.get("kind")
		if not (kind is String and kind in ["continuous", "discrete"]):
			return "an action part is of no known kind"
		if not _is_whole(fields.get("size"), 1, _MAX_WIDTH):
			return "an action part has an impossible size"
		if is_squashed and kind == "discrete":
			return "it is squashed, and yet has choices to make"
		action_parts.append(
			{"name": fields["name"], "kind": kind, "size": int(fields["size"] as float)}
		)
	return ""


func _take_heading(given: Variant, memory: String) -> String:
	if given == null:
		return ""
	if not _is_heading(given):
		return "its heading is invalid"
	heading = given
	for pair: Variant in [heading.get("forward")] + (heading["observed"] as Array):
		if not _is_pair(pair, observation_size):
			return "its heading is of observations that are not there"
	var places: PackedInt32Array = _number_places()
	for pair: Variant in heading["acted"]:
		var fits: bool = _is_pair(pair, _MAX_OBSERVATION)
		if not fits or not (places.has(int(pair[0])) and places.has(int(pair[1]))):
			return "its heading is of actions that are not there"
	return _complaint_about_remembered(heading.get("remembered", []) as Array, memory)


## Pairs of memory cells rotate with the agent; no cell can be in two pairs.
func _complaint_about_remembered(pairs: Array, memory: String) -> String:
	if not pairs.is_empty() and memory != "leaky":
		return "its heading rotates memory cells, and only leaky cells rotate"
	var taken: Dictionary[int, bool] = {}
	for pair: Variant in pairs:
		if not _is_pair(pair, memory_size):
			return "its heading is of memory cells that are not there"
		for place: float in pair:
			if taken.has(int(place)):
				return "its heading rotates a memory cell twice"
			taken[int(place)] = true
	return ""


## Where in an action numbers are.
func _number_places() -> PackedInt32Array:
	var places := PackedInt32Array()
	var at: int = 0
	for part in action_parts:
		var is_numbers: bool = part["kind"] == "continuous"
		var wide: int = part["size"] if is_numbers else 1
		if is_numbers:
			places.append_array(range(at, at + wide))
		at += wide
	return places


func _take_layers(given: Array, memory: String) -> String:
	if given.size() < 2 or given.size() > _MAX_LAYERS:
		return "it has %d layers" % given.size()
	if not memory in ["", "leaky", "gru"] or memory.is_empty() != (memory_size == 0):
		return "its memory is of no known kind"
	for fields: Variant in given:
		var layer: DojoPolicyLayer = _layer(fields)
		if layer == null:
			return _NO_FIT
		layers.append(layer)
	return "" if _has_order(memory) and _has_widths(memory) else _NO_FIT


## Whether there are encoder layers, then a memory if there is one, then trunk and head.
func _has_order(memory: String) -> bool:
	var last: PackedStringArray = ["trunk", "head"]
	if not memory.is_empty():
		last.insert(0, "memory")
	var first: int = layers.size() - last.size()
	for index in layers.size():
		if layers[index].name != ("encoder" if index < first else last[index - first]):
			return false
	return first >= 0


## Whether each layer takes the outputs of those before it, and is of its kind.
func _has_widths(memory: String) -> bool:
	var kinds: Dictionary[String, String] = {"memory": memory, "head": "linear"}
	for layer in layers:
		if layer.name == "trunk" and layer.kind in DojoNet.ACTIVATIONS:
			kinds.merge({"encoder": layer.kind, "trunk": layer.kind})
	var wide: int = encoded_size
	for layer in layers:
		var inputs: int = wide + memory_size if layer.name == "trunk" else wide
		if layer.inputs != inputs or layer.kind != kinds.get(layer.name):
			return false
		if layer.name != "memory":
			wide = layer.outputs
		elif layer.outputs != memory_size:
			return false
	var wanted: int = 0
	for part in action_parts:
		wanted += int(part["size"])
	return wide == wanted * (2 if is_squashed else 1)


func _layer(given: Variant) -> DojoPolicyLayer:
	if not given is Dictionary:
		return null
	var fields: Dictionary = given
	if not (fields.get("name") is String and fields.get("kind") is String):
		return null
	if not _is_whole(fields.get("inputs"), 1, _MAX_OBSERVATION):
		return null
	if not _is_whole(fields.get("outputs"), 1, _MAX_WIDTH):
		return null
	var layer := DojoPolicyLayer.new()
	layer.name = fields["name"]
	if _version == 1:
		layer.name = _RENAMED.get(layer.name, layer.name)
	layer.kind = fields["kind"]
	layer.inputs = int(fields["inputs"] as float)
	layer.outputs = int(fields["outputs"] as float)
	return layer


static func _is_whole(value: Variant, least: int, most: int) -> bool:
	return value is float and value == floorf(value) and value >= least and value <= most


## Whether these are lists of places by the names that are known, whatever is in them.
static func _is_heading(value: Variant) -> bool:
	if not value is Dictionary or not value.has_all(["forward", "observed", "acted"]):
		return false
	var fields: Dictionary = value
	for key: Variant in fields:
		var is_known: bool = key in ["forward", "observed", "acted", "remembered"]
		if not (is_known and fields[key] is Array):
			return false
	return true


static func _is_pair(value: Variant, count: int) -> bool:
	if not value is Array or value.size() != 2:
		return false
	return _is_whole(value[0], 0, count - 1) and _is_whole(value[1], 0, count - 1)
