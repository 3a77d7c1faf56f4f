class_name DojoPolicyRunner
extends RefCounted
## Runs a [DojoPolicy] for one agent, with the agent's memory.
##
## Call [method decide] once a decision and [method forget] when an episode begins. Several agents
## may share a policy, but each needs a runner of its own; see [DojoBatchInference] for many.

## The policy.
var policy: DojoPolicy
## Source of randomness for stochastic actions; null for deterministic ones.
var chance: RandomNumberGenerator

var _remembered: PackedVector4Array


## Deterministic, or stochastic with [param by_chance]. The policy must be a sound one: its
## [member DojoPolicy.error] is empty.
func _init(by_policy: DojoPolicy, by_chance: RandomNumberGenerator = null) -> void:
	policy = by_policy
	chance = by_chance
	forget()


## An episode begins: the memory is reset.
func forget() -> void:
	_remembered = policy.net.initial_memory()


## The action for this observation, in the order of [member DojoPolicy.action_parts].
func decide(observation: PackedFloat32Array) -> PackedFloat32Array:
	var net: DojoNet = policy.net
	var heading := Vector2.ZERO
	if policy.frame != null:
		observation = observation.duplicate()
		heading = policy.frame.rotate(observation)
	var rotates_memory: bool = policy.frame != null and policy.frame.rotates_memory
	if rotates_memory:
		policy.frame.rotate_memory(_remembered, heading)
	var outputs: PackedFloat32Array = net.forward(net.preprocess(observation), _remembered)
	if rotates_memory:
		policy.frame.rotate_memory_back(_remembered, heading)
	var action: PackedFloat32Array = policy.sampler.sample(outputs, 0, chance)
	if policy.frame != null:
		policy.frame.rotate_back(action, heading)
	policy.sampler.clip(action)
	return action


## The memory, as plain numbers.
func remembered() -> PackedFloat32Array:
	var numbers := PackedFloat32Array()
	for four in _remembered:
		numbers.append_array([four.x, four.y, four.z, four.w])
	numbers.resize(policy.memory_size)
	return numbers
