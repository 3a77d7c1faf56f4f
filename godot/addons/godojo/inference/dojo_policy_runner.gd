class_name DojoPolicyRunner
extends RefCounted
## One agent's mind: decides by a [DojoPolicy] and by what it remembers of its round.
##
## Call [method decide] once a decision and [method forget] when a round begins. Several agents may
## share a policy, but each needs a mind of its own; see [DojoBatchInference] for many.

## What it decides by.
var policy: DojoPolicy
## Source of chance for a mind that draws lots; null for one that does what it thinks best.
var chance: RandomNumberGenerator

var _remembered: PackedVector4Array


## A mind that does what [param by_policy] thinks best, or draws from [param by_chance]. The policy
## must be a sound one: its [member DojoPolicy.error] is empty.
func _init(by_policy: DojoPolicy, by_chance: RandomNumberGenerator = null) -> void:
	policy = by_policy
	chance = by_chance
	forget()


## A round begins: nothing is remembered.
func forget() -> void:
	_remembered = policy.net.no_memory()


## What to do about this observation, in the order of [member DojoPolicy.action_parts].
func decide(observation: PackedFloat32Array) -> PackedFloat32Array:
	var net: DojoNet = policy.net
	var ahead := Vector2.ZERO
	if policy.frame != null:
		observation = observation.duplicate()
		ahead = policy.frame.turn(observation)
	var turns_memory: bool = policy.frame != null and policy.frame.turns_memory
	if turns_memory:
		policy.frame.turn_memory(_remembered, ahead)
	var outputs: PackedFloat32Array = net.think(net.look(observation), _remembered)
	if turns_memory:
		policy.frame.turn_memory_back(_remembered, ahead)
	var action: PackedFloat32Array = policy.chooser.choose(outputs, 0, chance)
	if policy.frame != null:
		policy.frame.turn_back(action, ahead)
	policy.chooser.cut(action)
	return action


## What is remembered, as plain numbers.
func remembered() -> PackedFloat32Array:
	var numbers := PackedFloat32Array()
	for four in _remembered:
		numbers.append_array([four.x, four.y, four.z, four.w])
	numbers.resize(policy.memory_size)
	return numbers
