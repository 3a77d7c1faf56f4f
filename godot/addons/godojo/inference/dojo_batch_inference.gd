class_name DojoBatchInference
extends RefCounted
## Runs one [DojoPolicy] for many agents at once, each with its own memory: cheaper than a
## [DojoPolicyRunner] for each.

## The policy.
var policy: DojoPolicy
## Source of randomness for stochastic actions; null for deterministic ones.
var chance: RandomNumberGenerator
## Number of agents.
var count: int

# For each vector of four of the memory, one entry for each agent.
var _remembered: Array[PackedVector4Array] = []


## For [param size] agents at the start of an episode.
func _init(by_policy: DojoPolicy, size: int, by_chance: RandomNumberGenerator = null) -> void:
	policy = by_policy
	count = size
	chance = by_chance
	for _four in policy.net.initial_memory():
		var nothing := PackedVector4Array()
		nothing.resize(size)
		_remembered.append(nothing)


## An episode begins for this agent: its memory is reset.
func forget(agent: int) -> void:
	for column in _remembered:
		column[agent] = Vector4.ZERO


## The actions; observations and actions of one agent follow those of the agent before it.
func decide(observations: PackedFloat32Array) -> PackedFloat32Array:
	var net: DojoNet = policy.net
	var heading := PackedVector2Array()
	if policy.frame != null:
		observations = observations.duplicate()
		for agent in count:
			heading.append(policy.frame.rotate(observations, agent * net.inputs))
	var rotates_memory: bool = policy.frame != null and policy.frame.rotates_memory
	if rotates_memory:
		policy.frame.rotate_memories(_remembered, heading)
	var outputs: PackedFloat32Array = net.forward_many(
		net.preprocess_many(observations), _remembered
	)
	if rotates_memory:
		policy.frame.rotate_memories_back(_remembered, heading)
	var actions := PackedFloat32Array()
	for agent in count:
		var action: PackedFloat32Array = policy.sampler.sample(outputs, agent * net.outputs, chance)
		if policy.frame != null:
			policy.frame.rotate_back(action, heading[agent])
		policy.sampler.clip(action)
		actions.append_array(action)
	return actions
