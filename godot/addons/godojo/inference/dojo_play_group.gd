class_name DojoPlayGroup
extends RefCounted
## Agents that share a policy and a rhythm, and so decide together; [DojoPlayers] keeps them.

## What they decide by.
var policy: DojoPolicy
## At how many decisions they think once.
var think_every: int = 1
## Source of chance if they draw lots; null if they do what they think best.
var chance: RandomNumberGenerator
## Who they are.
var agents: Array[DojoAgent] = []
## Decisions until the next thought.
var wait: int = 0

var _mind: DojoPolicyRunner
var _crowd: DojoBatchInference


## Begins anew, once who they are has changed.
func gather() -> void:
	_mind = DojoPolicyRunner.new(policy, chance) if agents.size() == 1 else null
	_crowd = DojoBatchInference.new(policy, agents.size(), chance) if agents.size() > 1 else null
	wait = 0


## A round begins for this agent.
func forget(agent: DojoAgent) -> void:
	if _mind != null:
		_mind.forget()
	else:
		_crowd.forget(agents.find(agent))
	# It begins with a thought, whatever the rhythm.
	wait = 0


## What they do, one after the other.
func decide(observations: PackedFloat32Array) -> PackedFloat32Array:
	return _mind.decide(observations) if _mind != null else _crowd.decide(observations)
