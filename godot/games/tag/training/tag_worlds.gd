class_name TagWorlds
extends DojoWorlds
## Many games of tag in one process, for a trainer: a decision of all of them at a time.
##
## The results are those of the embedded twin (src/godojo/games/tag/sim/step.py): agents that took
## part have acted; those that were caught, or whose round is over, are terminated; those that still
## played after [code]truncate_after[/code] decisions are truncated.

## What the numbers of winners stand for.
const WINNERS: PackedStringArray = ["nobody", "seeker", "hider"]
## The number of an arena that was made for the round.
const GENERATED := -1

var _options: TagWorldsOptions
var _stage: TagStage
var _worlds: Array[TagWorld] = []
var _ticks: int
# Of each role: its name, its first agent, and how many there are.
var _role_names: Array[StringName] = []
var _role_first := PackedInt32Array()
var _role_agents := PackedInt32Array()
# Of each agent's index, its role.
var _role_of := PackedInt32Array()
# Whether the trainer asks for the true state.
var _sends_truth: bool = false
# Of each world: decisions since the round began, and the arena's place among all.
var _decisions := PackedInt32Array()
var _arena_places := PackedInt32Array()
# Of each world and agent: who took part, and the terms since the round began.
var _acted := PackedByteArray()
var _round_terms := PackedFloat32Array()
# Of each role, in the order of the wire.
var _observations: Array[PackedFloat32Array] = []
var _terms: Array[PackedFloat32Array] = []
var _flags: Array[PackedByteArray] = []
var _results: DojoResults


func _init() -> void:
	advances_itself = true
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF


func configure(request: Dictionary) -> String:
	var options := TagWorldsOptions.new()
	var complaint: String = options.read(
		request["options"] as Dictionary, request["ticks_per_decision"]
	)
	if complaint.is_empty():
		complaint = _change(options)
	if not complaint.is_empty():
		return complaint
	_options = options
	_sends_truth = request.get("truth", false)
	_ticks = options.settings.rules.ticks_per_decision
	_list_roles()
	_make_worlds(request["worlds"] as int)
	return ""


func describe() -> Dictionary:
	var roles: Array[Dictionary] = []
	for role in _role_names.size():
		(
			roles
			. append(
				{
					"name": _role_names[role],
					"agents": _role_agents[role],
					"observation": TagObservation.layout.parts(_options.settings),
					"action": TagAction.parts(),
					"heading": TagObservation.layout.heading(TagAction.ALONG_AXES),
				}
			)
		)
	var description: Dictionary = {
		"roles": roles,
		"reward_terms": TagRewards.TERMS,
		"winners": WINNERS,
		"arenas": _options.arena_names(),
		"model": null,
		"ticks_per_decision": _ticks,
	}
	if _sends_truth:
		description["truth"] = TagTruth.parts(_role_of.size())
	return description


func reset(seed_number: int) -> void:
	_clear_results()
	for index in _worlds.size():
		# Similar seeds would give similar chance, so they are stirred first.
		var stirred: PackedByteArray = ("%d %d" % [seed_number, index]).md5_buffer()
		_worlds[index].rng.seed = stirred.decode_s64(0)
		_begin_round(index)
		_append_observations(_worlds[index])
	for role in _role_names.size():
		_terms[role].resize(_worlds.size() * _role_agents[role] * TagRewards.TERMS.size())
		_terms[role].fill(0.0)
		_flags[role].resize(_worlds.size() * _role_agents[role])
		_flags[role].fill(0)


func act(actions: PackedFloat32Array) -> void:
	var place: int = 0
	for role in _role_names.size():
		var first: int = _role_first[role]
		for world in _worlds:
			for agent in range(first, first + _role_agents[role]):
				world.set_action(agent, actions[place], actions[place + 1], actions[place + 2])
				place += 3


func advance() -> void:
	_begin_decision()
	# First all ticks, then all looks: faster than world by world, by what caches keep.
	for world in _worlds:
		for _tick in _ticks:
			world.tick()
			if world.round_over:
				break
	_end_decision()


func collect() -> DojoResults:
	_results.observation = _joined(_observations)
	_results.terms = _joined(_terms)
	_results.flags = PackedByteArray()
	for flags in _flags:
		_results.flags.append_array(flags)
	if _sends_truth:
		_results.truth = PackedFloat32Array()
		for index in _worlds.size():
			TagTruth.append(_worlds[index], _arena_places[index], _results.truth)
	return _results


## Changes what a trainer asks for. Returns an error message, or an empty text.
func _change(_asked: TagWorldsOptions) -> String:
	return ""


## Notes who takes part in the decision.
func _begin_decision() -> void:
	_clear_results()
	var row: int = 0
	for world in _worlds:
		for agent in world.agents:
			_acted[row] = int(agent.active)
			row += 1


func _end_decision() -> void:
	for index in _worlds.size():
		_append_decision(index, _worlds[index])
		_append_observations(_worlds[index])


func _append_observations(world: TagWorld) -> void:
	for agent in _role_of.size():
		TagObservation.append(world, agent, _observations[_role_of[agent]])


## What the last decision brought in one world; where that ended the round, the next one begins.
func _append_decision(index: int, world: TagWorld) -> void:
	var terms: PackedFloat32Array = world.rewards.terms
	var first_row: int = index * _role_of.size()
	_decisions[index] += 1
	var is_over: bool = world.round_over
	var is_cut_short: bool = (
		not is_over and _options.truncate_after > 0 and _decisions[index] >= _options.truncate_after
	)
	var ends: bool = is_over or is_cut_short
	var place: int = index * terms.size()
	for term in terms:
		_round_terms[place] += term
		place += 1
	for agent in world.agents:
		var flags: int = 0
		var is_out: bool = false
		if _acted[first_row + agent.index]:
			flags = DojoResults.ACTED
			if is_over or not agent.active:
				flags |= DojoResults.TERMINATED
				is_out = true
			elif is_cut_short:
				flags |= DojoResults.TRUNCATED
		_flags[_role_of[agent.index]].append(flags)
		if ends or is_out:
			_append_end(index, world, agent)
	for role in _role_names.size():
		var first: int = _role_first[role] * TagRewards.TERMS.size()
		_terms[role].append_array(
			terms.slice(first, first + _role_agents[role] * TagRewards.TERMS.size())
		)
	if ends:
		var winner: int = 0 if is_cut_short else maxi(WINNERS.find(world.winner), 0)
		var place_of_arena: int = _arena_places[index]
		var number: int = place_of_arena if place_of_arena < _options.numbered else GENERATED
		_results.ended.append_array([index, winner, world.tick_number, number])
		_begin_round(index)


## The last row of an agent whose round has come to its end.
func _append_end(index: int, world: TagWorld, agent: TagAgent) -> void:
	var role: int = _role_of[agent.index]
	var from: int = (index * _role_of.size() + agent.index) * TagRewards.TERMS.size()
	_results.final_rows[role].append(index * _role_agents[role] + agent.index - _role_first[role])
	TagObservation.append(world, agent.index, _results.final_observation[role])
	_results.final_terms[role].append_array(
		_round_terms.slice(from, from + TagRewards.TERMS.size())
	)
	_results.final_score[role].append(world.scores[agent.index])


func _begin_round(index: int) -> void:
	var world: TagWorld = _worlds[index]
	var numbered: int = _options.numbered
	var is_generated: bool = numbered == 0
	if not is_generated and _options.generated_share > 0.0:
		is_generated = world.rng.randf() < _options.generated_share
	var number: int = (
		world.rng.randi_range(numbered, _options.arenas.size() - 1)
		if is_generated
		else world.rng.randi_range(0, numbered - 1)
	)
	_arena_places[index] = number
	_decisions[index] = 0
	var numbers: int = _role_of.size() * TagRewards.TERMS.size()
	for place in range(index * numbers, (index + 1) * numbers):
		_round_terms[place] = 0.0
	world.move_to(_options.arenas[number])


func _list_roles() -> void:
	_role_names.clear()
	_role_first.clear()
	_role_agents.clear()
	_role_of.clear()
	for role in TagRules.make(_options.settings).roles(_options.settings):
		if _role_names.is_empty() or _role_names[-1] != role:
			_role_names.append(role)
			_role_first.append(_role_of.size())
			_role_agents.append(0)
		_role_agents[-1] += 1
		_role_of.append(_role_names.size() - 1)


func _make_worlds(count: int) -> void:
	for child in get_children():
		remove_child(child)
		child.queue_free()
	_worlds.clear()
	_stage = TagStage.new()
	add_child(_stage)
	_stage.build(_options.arenas, _options.settings)
	for _index in count:
		var world := TagWorld.new()
		world.stage = _stage
		world.configure(_options.settings, _options.arenas[0], 0)
		_worlds.append(world)
	_decisions.resize(count)
	_arena_places.resize(count)
	_acted.resize(count * _role_of.size())
	_round_terms.resize(count * _role_of.size() * TagRewards.TERMS.size())
	_results = DojoResults.new(_role_names.size())


func _clear_results() -> void:
	_results.clear_ends()
	_observations.clear()
	_terms.clear()
	_flags.clear()
	for _role in _role_names.size():
		_observations.append(PackedFloat32Array())
		_terms.append(PackedFloat32Array())
		_flags.append(PackedByteArray())


func _joined(parts: Array[PackedFloat32Array]) -> PackedFloat32Array:
	var all := PackedFloat32Array()
	for part in parts:
		all.append_array(part)
	return all
