class_name DojoGodotRlWire
extends RefCounted
## The messages of godot_rl, without a socket: what its trainers ask and what they are answered.
##
## Every agent of every world is one of its agents, in the order of [DojoResults]; a role's name is
## the policy's. All numbers of an observation travel as [code]obs[/code], a picture under a key of
## its own with [code]2d[/code] in it. Readers leave a sentence in [member error] when a trainer
## sends what this wire does not know.

## The most agents a trainer may be given.
const MAX_AGENTS := 65536
## What infinite numbers become.
const LIMIT := 10.0
## Beyond this a number is no action.
const MAX_ACTION := 1e30

## What was wrong with the last thing read or written; empty when it was fine.
var error: String = ""
## How many agents there are in all worlds.
var agents: int = 0

var _roles: Array[_Role] = []
var _terms: int = 0
var _action_numbers: int = 0
## Fields that were not finite.
var _reported: Dictionary[String, bool] = {}


## The value of the word [code]--name=value[/code] on the command line, by which godot_rl tells
## launched games what it wants; [param otherwise] if there is none.
static func word(name: String, otherwise: String = "") -> String:
	var start: String = "--%s=" % name
	for given in OS.get_cmdline_args() + OS.get_cmdline_user_args():
		if given.begins_with(start):
			return given.trim_prefix(start)
	return otherwise


## The whole number in the word [code]--name=[/code]; null if there is none from [param low] to
## [param high].
static func whole_word(name: String, low: int, high: int) -> Variant:
	var text: String = word(name)
	if not text.is_valid_int() or text.to_int() < low or text.to_int() > high:
		return null
	return text.to_int()


## Learns who plays, and returns the answer to [code]env_info[/code].
func set_description(description: Dictionary) -> Dictionary:
	_roles.clear()
	_terms = description["reward_terms"].size()
	_action_numbers = 0
	agents = 0
	var answer: Dictionary = {"type": "env_info"}
	var observation_spaces: Array[Dictionary] = []
	var action_spaces: Array[Dictionary] = []
	var names: Array[String] = []
	for described: Dictionary in description["roles"]:
		var role := _Role.new(described, description["worlds"])
		_roles.append(role)
		agents += role.rows
		_action_numbers += role.rows * role.action_size
		for _row in role.rows:
			observation_spaces.append(role.observation_space())
			action_spaces.append(role.action_space())
			names.append(role.name)
	answer["observation_space"] = observation_spaces
	answer["action_space"] = action_spaces
	answer["n_agents"] = agents
	answer["agent_policy_names"] = names
	return answer


## The message in [param text]; its type is not looked at yet.
func read(text: String) -> Dictionary:
	error = ""
	var json: DojoSafeJson = DojoSafeJson.read(text)
	if json.error.is_empty() and json.data is Dictionary and json.data.get("type") is String:
		return json.data
	error = "what came is no message of godot_rl"
	return {}


## The numbers in the list of actions of one decision.
func read_actions(given: Variant) -> PackedFloat32Array:
	error = ""
	var numbers := PackedFloat32Array()
	if not given is Array or given.size() != agents:
		error = "a decision must have a list of %d actions" % agents
		return numbers
	var agent: int = 0
	for role in _roles:
		for _row in role.rows:
			var action: Variant = given[agent]
			var complaint: String = role.read_action(action, numbers)
			if not complaint.is_empty():
				error = "agent %d: %s" % [agent, complaint]
				return PackedFloat32Array()
			agent += 1
	return numbers


## The answer to a reset.
func write_reset(results: DojoResults) -> Dictionary:
	var infos: Array[Dictionary] = []
	for _agent in agents:
		infos.append({})
	return {"type": "reset", "obs": _observations(results), "info": infos}


## The answer to a decision.
func write_step(results: DojoResults) -> Dictionary:
	var rewards := PackedFloat32Array()
	var dones: Array[bool] = []
	var infos: Array[Dictionary] = []
	rewards.resize(agents)
	for agent in agents:
		for term in _terms:
			rewards[agent] += results.terms[agent * _terms + term]
		dones.append(false)
		infos.append({} if results.flags[agent] & DojoResults.ACTED else {"acted": false})
	var first: int = 0
	for index in _roles.size():
		var role: _Role = _roles[index]
		for ended in results.final_rows[index].size():
			var agent: int = first + results.final_rows[index][ended]
			var how: int = results.flags[agent]
			dones[agent] = true
			infos[agent]["TimeLimit.truncated"] = (
				how & (DojoResults.TERMINATED | DojoResults.TRUNCATED) == DojoResults.TRUNCATED
			)
			infos[agent]["terminal_observation"] = role.last_observation(
				results.final_observation[index], ended * role.observation_size
			)
			infos[agent].merge(role.measures_of(results.final_measures[index], ended))
		first += role.rows
	return {
		"type": "step",
		"obs": _observations(results),
		"reward": rewards,
		"done": dones,
		"info": infos,
	}


## A message as text.
func write(message: Dictionary) -> String:
	error = ""
	return JSON.stringify(message, "", false)


func _observations(results: DojoResults) -> Array[Dictionary]:
	var observations: Array[Dictionary] = []
	var at: int = 0
	for role in _roles:
		for _row in role.rows:
			observations.append(role.observation(results.observation, at))
			at += role.observation_size
	return observations


## JSON has no words for numbers that are not finite: NaN becomes 0, an infinite one
## [constant LIMIT]. Each field is reported once, with its node.
func repair(results: DojoResults) -> void:
	var at: int = 0
	var term: int = 0
	for role in _roles:
		for row in role.rows:
			for index in role.observation_size:
				if not is_finite(results.observation[at]):
					_report("%s: %s" % [role.node_of(row), role.field(index)])
					results.observation[at] = _repaired(results.observation[at])
				at += 1
			for _index in _terms:
				if not is_finite(results.terms[term]):
					_report("%s: a reward" % role.node_of(row))
					results.terms[term] = _repaired(results.terms[term])
				term += 1
	for index in _roles.size():
		for number in results.final_observation[index].size():
			var value: float = results.final_observation[index][number]
			if not is_finite(value):
				results.final_observation[index][number] = _repaired(value)


func _report(where: String) -> void:
	if not _reported.has(where):
		_reported[where] = true
		printerr("Godojo: %s is not finite; NaN becomes 0, infinite numbers 10" % where)


static func _repaired(value: float) -> float:
	return 0.0 if is_nan(value) else signf(value) * LIMIT


## One role.
class _Role:
	extends RefCounted

	var name: String
	## Its agents in all worlds.
	var rows: int
	var observation_size: int
	var action_size: int

	var _actions: Array
	var _measures: Array
	var _nodes: Array
	var _parts: Array
	var _per_world: int
	## Where in an observation numbers other than those of pictures lie: begin and end, in turn.
	var _spans: PackedInt32Array
	var _numbers: int = 0
	var _pictures: Array[Dictionary] = []

	func _init(described: Dictionary, worlds: int) -> void:
		name = described["name"]
		rows = worlds * int(described["agents"])
		_actions = described["action"]
		_measures = described.get("measures", [])
		_nodes = described.get("nodes", [])
		_parts = described["observation"]
		_per_world = described["agents"]
		action_size = DojoObservationLayout.action_size(_actions)
		for part: Dictionary in described["observation"]:
			var size: int = DojoObservationLayout.observation_size([part])
			var end: int = observation_size + size
			if part["kind"] == "image":
				var key: String = part["name"]
				key = key if "2d" in key else key + "_2d"
				_pictures.append(
					{"key": key, "begin": observation_size, "end": end, "shape": part["shape"]}
				)
			else:
				_spans.append_array([observation_size, end])
				_numbers += size
			observation_size = end

	func observation_space() -> Dictionary:
		var space: Dictionary = {}
		if _numbers > 0:
			space["obs"] = {"size": [_numbers], "space": "box"}
		for picture in _pictures:
			space[picture["key"]] = {"size": picture["shape"], "space": "box"}
		return space

	func action_space() -> Dictionary:
		var space: Dictionary = {}
		for part: Dictionary in _actions:
			space[part["name"]] = {"size": int(part["size"]), "action_type": part["kind"]}
		return space

	## The observation of one agent, which begins [param at] this place of all numbers.
	func observation(numbers: PackedFloat32Array, at: int) -> Dictionary:
		var observation: Dictionary = _by_key(numbers, at)
		for picture in _pictures:
			observation[picture["key"]] = _pixels(numbers, at, picture).hex_encode()
		return observation

	## The same for an episode's last: godot_rl unpacks no pictures there, so they come as lists.
	func last_observation(numbers: PackedFloat32Array, at: int) -> Dictionary:
		var observation: Dictionary = _by_key(numbers, at)
		for picture in _pictures:
			observation[picture["key"]] = _nested(_pixels(numbers, at, picture), picture["shape"])
		return observation

	## The node of the agent in this row, for people.
	func node_of(row: int) -> String:
		return str(_nodes[row % _per_world]) if not _nodes.is_empty() else "%s %d" % [name, row]

	## The name of a number of the observation.
	func field(index: int) -> String:
		for part: Dictionary in _parts:
			var size: int = DojoObservationLayout.observation_size([part])
			if index < size:
				return "%s[%d]" % [part["name"], index]
			index -= size
		return "observation"

	## What an agent reports of its episode, by name; [code]success[/code] under godot_rl's name.
	func measures_of(numbers: PackedFloat32Array, ended: int) -> Dictionary:
		var reported: Dictionary = {}
		for index in _measures.size():
			var number: float = numbers[ended * _measures.size() + index]
			if is_finite(number):
				var key: String = _measures[index]["name"]
				key = "is_success" if key == "success" else key
				reported[key] = number > 0.5 if _measures[index]["kind"] == "bool" else number
		return reported

	## Appends what the action says to [param numbers]; returns what is wrong with it.
	func read_action(action: Variant, numbers: PackedFloat32Array) -> String:
		if not action is Dictionary:
			return "an action must be an object"
		for part: Dictionary in _actions:
			var value: Variant = action.get(part["name"])
			if part["kind"] == "continuous":
				var values: Array = value if value is Array else [value]
				if values.size() != int(part["size"]):
					return "%s must have %d numbers" % [part["name"], part["size"]]
				for number: Variant in values:
					if not (number is float or number is int) or absf(number) > MAX_ACTION:
						return "%s must be numbers" % part["name"]
					numbers.append(number)
			else:
				if not (value is float or value is int):
					return "%s must be the number of a choice" % part["name"]
				if value != floorf(value) or value < 0 or value >= part["size"]:
					return "%s must be from 0 to %d" % [part["name"], int(part["size"]) - 1]
				numbers.append(value)
		return ""

	func _by_key(numbers: PackedFloat32Array, at: int) -> Dictionary:
		if _numbers == 0:
			return {}
		var plain: PackedFloat32Array = numbers.slice(at + _spans[0], at + _spans[1])
		for span in range(2, _spans.size(), 2):
			plain.append_array(numbers.slice(at + _spans[span], at + _spans[span + 1]))
		return {"obs": plain}

	func _pixels(numbers: PackedFloat32Array, at: int, picture: Dictionary) -> PackedByteArray:
		var begin: int = at + picture["begin"]
		var pixels := PackedByteArray()
		pixels.resize(picture["end"] - picture["begin"])
		for index in pixels.size():
			pixels[index] = clampi(roundi(numbers[begin + index] * 255.0), 0, 255)
		return pixels

	func _nested(values: Variant, shape: Array) -> Array:
		var rest: Array = Array(values)
		for dimension in range(shape.size() - 1, 0, -1):
			var grouped: Array = []
			for begin in range(0, rest.size(), int(shape[dimension])):
				grouped.append(rest.slice(begin, begin + int(shape[dimension])))
			rest = grouped
		return rest
