class_name DojoPlayGroup
extends RefCounted
## Agents that share a policy and a rhythm, and so decide together; [DojoPlayers] keeps them.

## The policy.
var policy: DojoPolicy
## Decisions between two inferences.
var think_every: int = 1
## Source of randomness for stochastic actions; null for deterministic ones.
var chance: RandomNumberGenerator
## The agents.
var agents: Array[DojoAgent] = []
## Decisions until the next inference.
var wait: int = 0

var _runner: DojoPolicyRunner
var _batch: DojoBatchInference


## Starts again, once the agents have changed.
func gather() -> void:
	_runner = DojoPolicyRunner.new(policy, chance) if agents.size() == 1 else null
	_batch = DojoBatchInference.new(policy, agents.size(), chance) if agents.size() > 1 else null
	wait = 0


## An episode begins for this agent.
func forget(agent: DojoAgent) -> void:
	if _runner != null:
		_runner.forget()
	else:
		_batch.forget(agents.find(agent))
	# It begins with an inference, whatever the interval.
	wait = 0


## The actions, one after the other.
func decide(observations: PackedFloat32Array) -> PackedFloat32Array:
	return _runner.decide(observations) if _runner != null else _batch.decide(observations)
