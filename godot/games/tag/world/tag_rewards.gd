class_name TagRewards
extends RefCounted
## What each agent's last decision was worth: four terms, kept apart, whose sum is the reward.

enum { DISTANCE, TIME, TAG, SURVIVAL }

## The terms, in the order of [member terms].
const TERMS: PackedStringArray = ["distance", "time", "tag", "survival"]

## The terms of the last decision: four numbers for each agent, in the order of their index.
var terms := PackedFloat32Array()

var _weights: TagSettings.Rewards
var _sums := PackedFloat32Array()
var _nearest_m := PackedFloat32Array()
var _took_part: PackedByteArray = []


## For [param count] agents.
func _init(settings: TagSettings, count: int) -> void:
	_weights = settings.rewards
	terms.resize(count * TERMS.size())
	_sums.resize(count * TERMS.size())
	_nearest_m.resize(count)
	_took_part.resize(count)


## The reward of agent [param index] for the last decision.
func total(index: int) -> float:
	var sum: float = 0.0
	for term in TERMS.size():
		sum += terms[index * TERMS.size() + term]
	return sum


## One term of agent [param index] for the last decision.
func term_of(index: int, term: int) -> float:
	return terms[index * TERMS.size() + term]


## Starts a round.
func begin_round(world: TagWorld) -> void:
	terms.fill(0.0)
	_sums.fill(0.0)
	_measure(world)
	for agent in world.agents:
		_took_part[agent.index] = int(agent.active)


## Called before a tag changes who opposes whom, with both parties still what they were.
func before_tag(world: TagWorld, chaser: TagAgent, caught: TagAgent) -> void:
	_add_distances(world)
	_sums[chaser.index * TERMS.size() + TAG] += _weights.seeker.tag
	_sums[caught.index * TERMS.size() + TAG] += _weights.hider.tag


## Called after a tag: a jump of the distance that comes from the change of opponents is nobody's
## merit.
func after_tag(world: TagWorld) -> void:
	_measure(world)


## Called when a decision's ticks have passed, or when the round has ended.
func settle(world: TagWorld, clock_ran_out: bool) -> void:
	_add_distances(world)
	var place: int = 0
	for agent in world.agents:
		var weights: TagSettings.RewardWeights = _weights_of(agent)
		if _took_part[agent.index]:
			_sums[place + TIME] += weights.time_per_decision
		if clock_ran_out and agent.active:
			_sums[place + SURVIVAL] += weights.survival
		_took_part[agent.index] = int(agent.active)
		place += TERMS.size()
	terms = _sums.duplicate()
	_sums.fill(0.0)


func _add_distances(world: TagWorld) -> void:
	var before_m: PackedFloat32Array = _nearest_m.duplicate()
	_measure(world)
	for agent in world.agents:
		var index: int = agent.index
		if _nearest_m[index] >= 0.0 and before_m[index] >= 0.0:
			var change_m: float = _nearest_m[index] - before_m[index]
			_sums[index * TERMS.size() + DISTANCE] += _weights_of(agent).distance_per_m * change_m


## The distance of each agent's nearest opponent.
func _measure(world: TagWorld) -> void:
	_nearest_m.fill(-1.0)
	var agents: Array[TagAgent] = world.agents
	for one in range(1, agents.size()):
		var agent: TagAgent = agents[one]
		if not agent.active:
			continue
		for two in one:
			var other: TagAgent = agents[two]
			if not other.active or other.is_seeker_like == agent.is_seeker_like:
				continue
			var apart_m: float = agent.position.distance_to(other.position)
			if _nearest_m[one] < 0.0 or apart_m < _nearest_m[one]:
				_nearest_m[one] = apart_m
			if _nearest_m[two] < 0.0 or apart_m < _nearest_m[two]:
				_nearest_m[two] = apart_m


func _weights_of(agent: TagAgent) -> TagSettings.RewardWeights:
	return _weights.seeker if agent.is_seeker_like else _weights.hider
