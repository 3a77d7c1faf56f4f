@tool
@icon("res://addons/godojo/icons/dojo_model.svg")
class_name DojoPolicy
extends Resource
## A trained policy from a [code].dojo[/code] file, played without Python.
##
## Drop the file onto a [DojoAgent]'s [member DojoAgent.policy], or load it like any resource (from
## elsewhere with [method DojoPolicyReader.load_file]) and decide with a [DojoPolicyRunner].
## Many agents may share one. A file that is refused gives a policy whose [member error] says why;
## it cannot be played.

## Why it cannot be played, in one line; empty when it can.
var error: String = "it was not loaded from a file"
## The game it was trained in.
var game: String
## The role it plays there.
var role: String
## What its observations are made of, see [DojoObservationLayout].
var observation_parts: Array[Dictionary] = []
## What its actions are made of, see [DojoObservationLayout].
var action_parts: Array[Dictionary] = []
## Number of memory cells.
var memory_size: int = 0
## Length of its training.
var agent_steps: int = 0
## The game's settings it was trained with.
var settings: Dictionary = {}
## Its network; null when it was refused.
var net: DojoNet
## Makes actions of the network's output.
var sampler: DojoActionSampler
## Rotates into the agent's own frame; null where the policy is not egocentric.
var frame: DojoHeadingFrame


## Why this policy cannot play an agent with these parts; empty when it can.
func complaint_about(observed: Array[Dictionary], acted: Array[Dictionary]) -> String:
	if not error.is_empty():
		return error
	var known: PackedStringArray = _texts(observation_parts, _observation_text)
	var here: PackedStringArray = _texts(observed, _observation_text)
	if known != here:
		return "it observes %s, and here there is %s" % _first_difference(known, here)
	known = _texts(action_parts, _action_text)
	here = _texts(acted, _action_text)
	if known != here:
		return "it does %s, and here there is %s" % _first_difference(known, here)
	return ""


## Name and training, for people.
func title() -> String:
	var name: String = resource_name if resource_name else role
	return "%s (%s of %s, %s decisions)" % [name, role, game, _grouped(agent_steps)]


static func _texts(parts: Array[Dictionary], text_of: Callable) -> PackedStringArray:
	var texts: PackedStringArray = []
	for part in parts:
		texts.append(text_of.call(part))
	return texts


static func _observation_text(part: Dictionary) -> String:
	var extents: PackedStringArray = []
	for extent: int in part["shape"]:
		extents.append(str(extent))
	return "%s (%s)" % [part["name"], " x ".join(extents)]


static func _action_text(part: Dictionary) -> String:
	var kind: String = "numbers" if part["kind"] == "continuous" else "choices"
	return "%s (%d %s)" % [part["name"], part["size"], kind]


static func _first_difference(some: PackedStringArray, others: PackedStringArray) -> Array[String]:
	for index in maxi(some.size(), others.size()):
		var one: String = some[index] if index < some.size() else "no more"
		var other: String = others[index] if index < others.size() else "no more"
		if one != other:
			return [DojoUntrustedText.quoted(one), DojoUntrustedText.quoted(other)]
	return ["", ""]


static func _grouped(number: int) -> String:
	if number >= 1_000_000:
		return "%.1f million" % (number / 1e6)
	return str(number)
