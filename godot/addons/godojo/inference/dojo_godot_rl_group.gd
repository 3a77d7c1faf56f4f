class_name DojoGodotRlGroup
extends RefCounted
## Agents of a godot_rl game that share a policy, and so decide together; [DojoGodotRlPlayer] keeps
## them.

## What plays them.
var policy: DojoPolicy
## The agents: nodes with [code]get_obs()[/code] and [code]set_action(action)[/code].
var agents: Array[Node] = []

var _inference: DojoBatchInference
# Ticks of each agent's episode at the last look, for games that clear the end of one themselves.
var _steps := PackedInt64Array()


## Agents of this policy.
func _init(by_policy: DojoPolicy) -> void:
	policy = by_policy


## Begins, once all agents are there.
func gather(chance: RandomNumberGenerator) -> void:
	_inference = DojoBatchInference.new(policy, agents.size(), chance)
	_steps.resize(agents.size())


## The agents whose episode has ended since the last call; their policy forgets.
func forget_ended() -> Array[Node]:
	var ended: Array[Node] = []
	for index in agents.size():
		var agent: Node = agents[index]
		if not is_instance_valid(agent):
			continue
		var is_done: bool = agent.get("done") == true
		if is_done and agent.has_method("set_done_false"):
			agent.call("set_done_false")
		elif is_done:
			agent.set("done", false)
		var steps: Variant = agent.get("n_steps")
		if steps is int:
			is_done = is_done or steps < _steps[index]
			_steps[index] = steps
		if is_done:
			_inference.forget(index)
			ended.append(agent)
	return ended


## One decision of all agents; [param decided] is emitted for each.
func decide(decided: Signal) -> void:
	var size: int = policy.net.inputs
	var observations := PackedFloat32Array()
	for index in agents.size():
		var seen := PackedFloat32Array()
		# A freed agent keeps its row, and cannot be passed on.
		if is_instance_valid(agents[index]):
			seen = _observed(agents[index])
			if seen.size() != size:
				push_error("%s observes %d numbers, not %d" % [agents[index], seen.size(), size])
		seen.resize(size)
		observations.append_array(seen)
	var actions: PackedFloat32Array = _inference.decide(observations)
	var width: int = policy.sampler.width
	for index in agents.size():
		if is_instance_valid(agents[index]):
			var action: PackedFloat32Array = actions.slice(index * width, (index + 1) * width)
			agents[index].call("set_action", _named(action))
			decided.emit(
				agents[index], observations.slice(index * size, (index + 1) * size), action
			)


## Why a policy cannot play an agent; empty when it can.
static func complaint_about(by_policy: DojoPolicy, agent: Node) -> String:
	if not by_policy.error.is_empty():
		return by_policy.error
	for method: String in ["get_obs", "get_obs_space", "get_action_space", "set_action"]:
		if not agent.has_method(method):
			return "it has no method %s" % method
	var observed: Array[Dictionary] = []
	var spaces: Dictionary = agent.call("get_obs_space")
	for key in _in_order(spaces, by_policy.observation_parts):
		observed.append({"name": key, "shape": _shape(key, spaces[key])})
	var acted: Array[Dictionary] = []
	spaces = agent.call("get_action_space")
	for key in _in_order(spaces, by_policy.action_parts):
		var kind: String = spaces[key]["action_type"]
		acted.append({"name": key, "kind": kind, "size": int(spaces[key]["size"])})
	return by_policy.complaint_about(observed, acted)


## The keys in the order of the policy's parts, then those that it does not know.
static func _in_order(spaces: Dictionary, parts: Array[Dictionary]) -> Array[String]:
	var keys: Array[String] = []
	for part in parts:
		if spaces.has(part["name"]):
			keys.append(part["name"])
	for key: String in spaces:
		if not keys.has(key):
			keys.append(key)
	return keys


static func _shape(key: String, space: Dictionary) -> Array[int]:
	if space["space"] == "discrete" and not key.contains("2d"):
		return [1]
	var size: Variant = space["size"]
	var shape: Array[int] = []
	for length: float in size if size is Array else [size]:
		shape.append(int(length))
	if key.contains("2d") and shape.size() == 3:
		# Declared channels first, or columns first by the oldest cameras; sent as rows of pixels.
		if shape[0] <= 4:
			return [shape[1], shape[2], shape[0]]
		return [shape[1], shape[0], shape[2]]
	return shape


func _observed(agent: Node) -> PackedFloat32Array:
	var seen := PackedFloat32Array()
	var given: Dictionary = agent.call("get_obs")
	for part in policy.observation_parts:
		var value: Variant = given.get(part["name"])
		if part["kind"] == "image":
			_append_pixels(seen, value)
		else:
			_append(seen, value)
	return seen


func _named(action: PackedFloat32Array) -> Dictionary:
	var named: Dictionary = {}
	var at: int = 0
	for part in policy.action_parts:
		if part["kind"] == "discrete":
			named[part["name"]] = int(action[at])
			at += 1
		else:
			var size: int = part["size"]
			named[part["name"]] = Array(action.slice(at, at + size))
			at += size
	return named


## Appends the numbers of a list of lists; true and false count as 1 and 0.
static func _append(numbers: PackedFloat32Array, value: Variant) -> void:
	if value is Array:
		for item: Variant in value:
			_append(numbers, item)
	elif value is int or value is float or value is bool:
		numbers.append(float(value))
	elif value != null:
		# Packed arrays and vectors of Godot.
		for item: Variant in value:
			_append(numbers, item)


static func _append_pixels(numbers: PackedFloat32Array, value: Variant) -> void:
	var bytes: PackedByteArray = (value as String).hex_decode() if value is String else value
	for byte in bytes:
		numbers.append(byte / 255.0)
