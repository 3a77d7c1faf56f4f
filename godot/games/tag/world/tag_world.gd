class_name TagWorld
extends Node3D
## One game of tag: an arena, its agents and the rules, advanced one physics tick at a time.
##
## The owner calls [method set_action] for each agent at a decision and [method tick] once per
## physics tick. Everything is in the world's own frame, so that many worlds fit into one process; a
## world may be moved, from the next frame or round on, but neither rotated nor scaled.

## A new round begins; agents stand where they spawned.
signal round_started
## [param seeker] has touched [param hider].
signal tagged(seeker: TagAgent, hider: TagAgent)
## The round is over.
signal round_ended(winner: StringName)
## Another arena has been put up.
signal arena_changed

const AGENT_SCENE: PackedScene = preload("res://games/tag/agent/tag_agent.tscn")

## All numbers; change them through [method configure].
var settings: TagSettings
## The arena being played.
var arena: ArenaData
## Everybody, caught or not, in the order of their index.
var agents: Array[TagAgent] = []
## The rules of the round.
var rules: TagRules
## Length of a round.
var round_s: float
## Seconds until the clock runs out.
var time_left_s: float
## Physics ticks since the round began.
var tick_number: int
## Whether the round is over; a tick then does nothing.
var round_over: bool = true
## Who won the last round.
var winner: StringName
## Which agent won, where one alone can; otherwise -1.
var winner_index: int = -1
## One score for each agent; what it counts is up to the rules.
var scores := PackedFloat32Array()
## What each agent's reward is made of.
var rewards: TagRewards
## Source of all chance in this world.
var rng := RandomNumberGenerator.new()
## Arenas and eyes shared with other worlds; to be set before [method configure]. Without it the
## world has its own.
var stage: TagStage

var _solid: Arena
var _map: ArenaMap
var _eyes: TagEyes
var _own_eyes: TagEyes
var _sights: Array[TagSight] = []
var _looked_at := PackedInt32Array()
var _moment: int
var _round_ticks: int
var _touch_m: float
var _before := PackedVector3Array()
# Whether some two may be within touch; while nobody is, there are neither tags nor pushes.
var _is_crowded: bool = true


## Sets the game up and begins a round. Returns why not, or an empty text; then what was there goes
## on.
func configure(new_settings: TagSettings, new_arena: ArenaData, game_seed: int) -> String:
	var complaint: String = _complaint_about(new_arena, new_settings)
	if not complaint.is_empty():
		return complaint
	settings = new_settings.clone()
	arena = new_arena
	rng.seed = game_seed
	rules = TagRules.make(settings)
	_touch_m = settings.body.size_m + settings.rules.touch_reach_m
	_put_up_arena()
	_make_agents()
	rewards = TagRewards.new(settings, agents.size())
	arena_changed.emit()
	reset()
	return ""


## Plays on in [param new_arena] with the same settings. Returns why not, or an empty text.
func change_arena(new_arena: ArenaData) -> String:
	var complaint: String = _complaint_about(new_arena, settings)
	if not complaint.is_empty():
		return complaint
	arena = new_arena
	_put_up_arena()
	arena_changed.emit()
	reset()
	return ""


## Begins a new round in [param new_arena], which is on the [member stage] and has been checked.
func move_to(new_arena: ArenaData) -> void:
	if new_arena != arena:
		arena = new_arena
		_put_up_arena()
		arena_changed.emit()
	reset()


## Begins a new round.
func reset() -> void:
	tick_number = 0
	round_over = false
	winner = &""
	winner_index = -1
	scores.resize(agents.size())
	scores.fill(0.0)
	round_s = rules.round_s(settings)
	_round_ticks = maxi(roundi(round_s / TagAgent.TICK_S), 1)
	time_left_s = _round_ticks * TagAgent.TICK_S
	rules.begin_round(self)
	var places: Array[Vector3] = TagSpawns.choose(self)
	for agent in agents:
		place(agent, places[agent.index], rng.randf_range(-PI, PI))
	rewards.begin_round(self)
	round_started.emit()


## Puts [param agent] onto the ground at [param ground], at rest and taking part.
func place(agent: TagAgent, ground: Vector3, heading_rad: float) -> void:
	_solid.locate()
	agent.respawn(ground, heading_rad, _solid)
	_moment += 1
	_is_crowded = true


## What agent [param agent_index] wants from now on. Values beyond -1 to 1 are cut, NaN counts as 0.
func set_action(agent_index: int, move_x: float, move_z: float, jump: float) -> void:
	var agent: TagAgent = agents[agent_index]
	var wish := Vector2(move_x, move_z)
	if not wish.is_finite():
		wish = Vector2(_sane(move_x), _sane(move_z))
	agent.wish = wish.clampf(-1.0, 1.0).limit_length(1.0)
	agent.jump_wish = jump > 0.0


## Advances by one physics tick.
func tick() -> void:
	if round_over:
		return
	tick_number += 1
	_moment += 1
	if _is_crowded:
		for agent in agents:
			_before[agent.index] = agent.position
	for agent in agents:
		if agent.active:
			agent.step(_push_on(agent) if _is_crowded else Vector2.ZERO)
	_is_crowded = _are_any_near()
	if _is_crowded:
		_find_tags()
	var is_decided: bool = rules.after_tick(self)
	time_left_s = (_round_ticks - tick_number) * TagAgent.TICK_S
	var clock_ran_out: bool = tick_number >= _round_ticks
	round_over = clock_ran_out or is_decided
	if round_over or is_decision_due():
		rewards.settle(self, clock_ran_out and not is_decided)
	if round_over:
		winner = rules.winner(self)
		winner_index = rules.winner_index(self)
		round_ended.emit(winner)


## Whether the next tick begins a new decision.
func is_decision_due() -> bool:
	return tick_number % settings.rules.ticks_per_decision == 0


## What agent [param agent_index] sees now. Looks once per tick, however often it is asked.
func sight_of(agent_index: int) -> TagSight:
	var sight: TagSight = _sights[agent_index]
	if _looked_at[agent_index] != _moment:
		_looked_at[agent_index] = _moment
		_eyes.stand_in(self, _moment, _solid.origin)
		_eyes.look(sight, agents[agent_index], agents, _solid.origin)
	return sight


## Whether two agents touch.
func touches(one: TagAgent, other: TagAgent) -> bool:
	var gap: Vector3 = (one.position - other.position).abs()
	return gap.x <= _touch_m and gap.y <= _touch_m and gap.z <= _touch_m


## The arena's plan for scripted opponents, drawn when first asked for.
func map() -> ArenaMap:
	if _map == null:
		_map = ArenaMap.new(arena, settings)
	return _map


## Everything solid, floor and outer walls first.
func solids() -> Array[ArenaBox]:
	return _solid.solids


## Whether any two are within touch.
func _are_any_near() -> bool:
	for one in range(1, agents.size()):
		var at: Vector3 = agents[one].position
		for other in one:
			var gap: Vector3 = (at - agents[other].position).abs()
			if gap.x <= _touch_m and gap.y <= _touch_m and gap.z <= _touch_m:
				return true
	return false


func _find_tags() -> void:
	for chaser in agents:
		for other in agents:
			if rules.can_tag(chaser, other) and touches(chaser, other):
				rewards.before_tag(self, chaser, other)
				rules.apply_tag(self, chaser, other)
				rewards.after_tag(self)
				tagged.emit(chaser, other)


func _push_on(agent: TagAgent) -> Vector2:
	var push := Vector2.ZERO
	var size: float = settings.body.size_m
	for other in agents:
		if other == agent or not other.active:
			continue
		if rules.can_tag(agent, other) or rules.can_tag(other, agent):
			continue
		var away: Vector3 = _before[agent.index] - _before[other.index]
		var overlap: Vector3 = Vector3.ONE * size - away.abs()
		if minf(overlap.x, minf(overlap.y, overlap.z)) <= 0.0:
			continue
		var direction := Vector2(away.x, away.z).normalized()
		if direction == Vector2.ZERO:
			direction = Vector2.RIGHT if agent.index > other.index else Vector2.LEFT
		var strength: float = settings.motion.push_acceleration_mps2 * TagAgent.TICK_S
		push += direction * strength * minf(overlap.x, overlap.z) / size
	return push


func _complaint_about(new_arena: ArenaData, new_settings: TagSettings) -> String:
	var complaint: String = new_arena.complaint_for(new_settings)
	return complaint if complaint else TagSpawns.complaint_about(new_arena, new_settings)


func _put_up_arena() -> void:
	_map = null
	if stage != null:
		stage.admit(self, arena)
		_solid = stage.solid_of(arena)
		_eyes = stage.eyes_of(arena)
		return
	if _solid != null:
		remove_child(_solid)
		_solid.queue_free()
	_solid = Arena.new()
	_solid.name = "Solid"
	add_child(_solid)
	_solid.build(arena, settings)


func _make_agents() -> void:
	for old in agents:
		remove_child(old)
		old.queue_free()
	agents.clear()
	_sights.clear()
	if _own_eyes != null:
		remove_child(_own_eyes)
		_own_eyes.queue_free()
		_own_eyes = null
	if stage == null:
		_own_eyes = TagEyes.new(settings)
		add_child(_own_eyes)
		_eyes = _own_eyes
	for role in rules.roles(settings):
		var agent: TagAgent = AGENT_SCENE.instantiate()
		agent.setup(agents.size(), role, settings)
		agents.append(agent)
		add_child(agent)
		_sights.append(TagSight.new(settings.sight))
	_before.resize(agents.size())
	_looked_at.resize(agents.size())
	_looked_at.fill(-1)


func _sane(value: float) -> float:
	return clampf(value, -1.0, 1.0) if is_finite(value) else 0.0
