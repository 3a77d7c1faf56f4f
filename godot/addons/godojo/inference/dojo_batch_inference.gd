class_name DojoBatchInference
extends RefCounted
## Many agents that decide by one [DojoPolicy] at the same time, each with a memory of its own:
## cheaper than a [DojoPolicyRunner] for each.

## What they decide by.
var policy: DojoPolicy
## Source of chance if they draw lots; null if they do what they think best.
var chance: RandomNumberGenerator
## How many they are.
var count: int

# Of each vector of four that is remembered, one for each agent.
var _remembered: Array[PackedVector4Array] = []


## [param size] agents that begin a round.
func _init(by_policy: DojoPolicy, size: int, by_chance: RandomNumberGenerator = null) -> void:
	policy = by_policy
	count = size
	chance = by_chance
	for _four in policy.net.no_memory():
		var nothing := PackedVector4Array()
		nothing.resize(size)
		_remembered.append(nothing)


## A round begins for this agent: nothing is remembered.
func forget(agent: int) -> void:
	for column in _remembered:
		column[agent] = Vector4.ZERO


## What each does; observations and actions of one agent follow those of the agent before it.
func decide(observations: PackedFloat32Array) -> PackedFloat32Array:
	var net: DojoNet = policy.net
	var ahead := PackedVector2Array()
	if policy.frame != null:
		observations = observations.duplicate()
		for agent in count:
			ahead.append(policy.frame.turn(observations, agent * net.inputs))
	var turns_memory: bool = policy.frame != null and policy.frame.turns_memory
	if turns_memory:
		policy.frame.turn_memories(_remembered, ahead)
	var outputs: PackedFloat32Array = net.think_of_many(net.look_of_many(observations), _remembered)
	if turns_memory:
		policy.frame.turn_memories_back(_remembered, ahead)
	var actions := PackedFloat32Array()
	for agent in count:
		var action: PackedFloat32Array = policy.chooser.choose(outputs, agent * net.outputs, chance)
		if policy.frame != null:
			policy.frame.turn_back(action, ahead[agent])
		policy.chooser.cut(action)
		actions.append_array(action)
	return actions
