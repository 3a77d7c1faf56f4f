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


## Starts afresh.
func begin_round(world: TagWorld) -> void:
	terms.fill(0.0)
	_sums.fill(0.0)
	_measure(world)
	_note_who_plays(world)


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
	_measure(world)
	for agent in world.agents:
		var base: int = agent.index * TERMS.size()
		var weights: TagSettings.RewardWeights = _weights_of(agent)
		if _took_part[agent.index]:
			_sums[base + TIME] += weights.time_per_decision
		if clock_ran_out and agent.active:
			_sums[base + SURVIVAL] += weights.survival
	for place in terms.size():
		terms[place] = _sums[place]
	_sums.fill(0.0)
	_note_who_plays(world)


func _add_distances(world: TagWorld) -> void:
	for agent in world.agents:
		var now_m: float = _nearest_opponent_m(world, agent)
		var before_m: float = _nearest_m[agent.index]
		if now_m >= 0.0 and before_m >= 0.0:
			var place: int = agent.index * TERMS.size() + DISTANCE
			_sums[place] += _weights_of(agent).distance_per_m * (now_m - before_m)
		_nearest_m[agent.index] = now_m


func _measure(world: TagWorld) -> void:
	for agent in world.agents:
		_nearest_m[agent.index] = _nearest_opponent_m(world, agent)


func _nearest_opponent_m(world: TagWorld, agent: TagAgent) -> float:
	var nearest_m: float = -1.0
	if not agent.active:
		return nearest_m
	for other in world.agents:
		if other.active and other.is_seeker_like != agent.is_seeker_like:
			var distance_m: float = agent.position.distance_to(other.position)
			if nearest_m < 0.0 or distance_m < nearest_m:
				nearest_m = distance_m
	return nearest_m


func _note_who_plays(world: TagWorld) -> void:
	for agent in world.agents:
		_took_part[agent.index] = int(agent.active)


func _weights_of(agent: TagAgent) -> TagSettings.RewardWeights:
	return _weights.seeker if agent.is_seeker_like else _weights.hider
