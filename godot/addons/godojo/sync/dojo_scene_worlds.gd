class_name DojoSceneWorlds
extends DojoWorlds
## Worlds made of [DojoAgent] nodes: copies of a scene side by side, or the scene that is running.
##
## When an agent's round ends, its last observation is taken, then [method DojoAgent.reset] is
## called: for it alone, or for all agents in its world, see [member DojoAgent.ends_world]. A world
## whose root has a method [code]reset_world(chance: RandomNumberGenerator)[/code] is reset by that
## first. Options of the trainer are exported variables of agents and roots, see [DojoSceneOptions].

## Who asks for these worlds.
var sync: DojoSync

var _options: Dictionary = {}
var _roots: Array[Node] = []
var _roles: Array[DojoSceneRole] = []
var _agents_of_world: Array[Array] = []
var _terms: PackedStringArray = []
var _ticks: int = 1
var _world_ticks := PackedInt32Array()
var _chances: Array[RandomNumberGenerator] = []
var _is_first: bool = true
var _is_by_hand: bool = false
# Who plays by policy while no trainer does, and ticks until they decide.
var _players: DojoPlayers
var _ticks_left: int = 0
# Where play by hand is recorded; null where it is not.
var _recorder: DojoDemoRecorder


func configure(request: Dictionary) -> String:
	_is_by_hand = false
	_ticks = request["ticks_per_decision"]
	_options = request.get("options", {})
	return _build(request["worlds"])


func describe() -> Dictionary:
	var roles: Array[Dictionary] = []
	var winners: PackedStringArray = ["nobody"]
	for role in _roles:
		roles.append(role.describe())
		winners.append(role.name)
	return {
		"roles": roles,
		"reward_terms": _terms,
		"winners": winners,
		"arenas": [],
		"model": DojoSceneRole.declaration(sync.model, sync) if sync.model != null else null,
		"agent_episodes":
		all_agents().any(func(agent: DojoAgent) -> bool: return not agent.ends_world),
	}


func reset(seed_number: int) -> void:
	for world in _roots.size():
		var chance := RandomNumberGenerator.new()
		chance.seed = hash([seed_number, world])
		_chances[world] = chance
		_begin_world(world)
	_is_first = true


func act(actions: PackedFloat32Array) -> void:
	var at: int = 0
	for role in _roles:
		at = role.act(actions, at)


func collect() -> DojoResults:
	var results := DojoResults.new(_roles.size())
	if not _agents_are_there():
		return results
	if not _is_first:
		_pass_ticks(_ticks)
	var over: PackedInt32Array = _worlds_that_ended()
	for index in _roles.size():
		_roles[index].take_rewards(results, _is_first)
		_roles[index].take_ends(results, index)
	for world in over:
		results.ended.append_array([world, _winner(world), _world_ticks[world], -1])
	var begun: Array[Node] = _roots_of_beginnings()
	_begin_anew(over)
	DojoCameraSensor.draw_now(begun)
	for role in _roles:
		role.observe(results)
		if not role.trouble.is_empty():
			trouble = role.trouble
	_is_first = false
	return results


## The worlds in which an agent is about to begin a round, or has just begun its first one: their
## cameras have drawn the round before.
func _roots_of_beginnings() -> Array[Node]:
	var found: Array[Node] = []
	for world in _roots.size():
		var agents: Array = _agents_of_world[world]
		if _is_first or agents.any(func(agent: DojoAgent) -> bool: return agent.is_over()):
			found.append(_roots[world])
	return found


func play_by_hand() -> void:
	if not _is_by_hand:
		_is_by_hand = true
		_ticks = 1
		_options = {}
		trouble = _build(1)
		if not trouble.is_empty():
			print("Godojo: %s" % trouble)
			return
		_players = null
		if sync.mode != DojoSync.Mode.HUMAN:
			sync.take_policies(OS.get_cmdline_user_args())
			_players = DojoPlayers.new(sync, all_agents())
		_ticks_left = 0
		_begin_recording()
		reset(randi())
		_is_first = _recorder != null
	if not trouble.is_empty() or not _agents_are_there():
		return
	if _recorder != null:
		_play_recorded()
		return
	_pass_ticks(1)
	# Where policies play, rounds begin with a decision, as they did in training.
	var has_players: bool = _players != null and not _players.is_empty()
	if not has_players or _ticks_left <= 0:
		_begin_anew(_worlds_that_ended())
	for agent in all_agents():
		if not has_players or not _players.plays(agent):
			agent.act(agent.human_action())
	if has_players:
		if _ticks_left <= 0:
			_ticks_left = sync.ticks_per_decision
			_players.decide()
		_ticks_left -= 1


func all_agents() -> Array[DojoAgent]:
	var found: Array[DojoAgent] = []
	for role in _roles:
		found.append_array(role.agents)
	return found


func policies_changed() -> void:
	if _players != null:
		_players.seat_again()


func views() -> Array[DojoView]:
	var found: Array[DojoView] = []
	for agent in all_agents():
		var view := DojoView.new()
		view.title = agent.name
		view.observation_parts = agent.observation_parts()
		view.action_parts = agent.action_parts()
		var policy: DojoPolicy = _players.policy_of(agent) if _players != null else null
		view.policy = policy.title() if policy != null else "no policy"
		view.observation = _players.seen_by(agent) if policy != null else agent.observe()
		view.action = _players.done_by(agent) if policy != null else PackedFloat32Array()
		found.append(view)
	return found


func _begin_recording() -> void:
	_recorder = null
	var path: String = DojoDemoRecorder.path_for(
		sync.demo_path if sync.mode == DojoSync.Mode.HUMAN else ""
	)
	if path.is_empty():
		return
	_ticks = sync.ticks_per_decision
	var roles: Array = describe()["roles"]
	_recorder = DojoDemoRecorder.new(path, sync.title(), roles, _ticks)
	if not _recorder.error.is_empty():
		trouble = _recorder.error
		_recorder = null
		printerr("Godojo: " + trouble)


## One physics frame of play that is recorded: people decide as often as policies do in training.
func _play_recorded() -> void:
	_ticks_left -= 1
	if _ticks_left > 0:
		return
	_ticks_left = _ticks
	var results: DojoResults = collect()
	if not trouble.is_empty():
		return
	var has_players: bool = _players != null and not _players.is_empty()
	if has_players:
		_players.decide()
	var actions := PackedFloat32Array()
	var others := PackedInt32Array()
	var agents: Array[DojoAgent] = all_agents()
	for row in agents.size():
		if has_players and _players.plays(agents[row]):
			others.append(row)
			actions.append_array(_players.done_by(agents[row]))
		else:
			actions.append_array(agents[row].human_action())
	act(actions)
	_recorder.note(results, actions, others)


## Makes this many worlds and finds their agents; returns an error message, or an empty text.
func _build(count: int) -> String:
	trouble = ""
	fixed_count = 1 if sync.world_scene == null else 0
	if sync.world_scene == null:
		if count != 1:
			return (
				"%d worlds were asked for, but this scene is one world; " % count
				+ "give the DojoSync node a world_scene to play more"
			)
		_roots = [sync.owner if sync.owner != null else sync.get_parent()]
	else:
		_place_copies(count)
	_chances.resize(count)
	_world_ticks.resize(count)
	return _find_agents()


func _place_copies(count: int) -> void:
	for index in range(count, _roots.size()):
		_roots[index].queue_free()
	_roots.resize(mini(count, _roots.size()))
	var side: int = ceili(sqrt(count))
	for index in range(_roots.size(), count):
		_roots.append(sync.world_scene.instantiate())
		add_child(_roots[index])
	for index in count:
		var place: Vector2 = Vector2(index % side, floori(float(index) / side)) * sync.world_spacing
		var root: Node = _roots[index]
		if root is Node3D:
			(root as Node3D).position = Vector3(place.x, 0.0, place.y)
		elif root is Node2D:
			(root as Node2D).position = place


func _find_agents() -> String:
	_roles = []
	_terms = []
	_agents_of_world = []
	var roles: Dictionary[String, DojoSceneRole] = {}
	for world in _roots.size():
		var agents: Array[DojoAgent] = []
		for node in _roots[world].find_children("*", "DojoAgent", true, false):
			agents.append(node as DojoAgent)
		if agents.is_empty():
			return (
				"there is no DojoAgent below %s; add one below the body it moves"
				% _roots[world].name
			)
		_agents_of_world.append(agents)
		var nodes: Array[Node] = [_roots[world]]
		nodes.append_array(agents)
		if _is_by_hand:
			_options = DojoSceneOptions.from_words(OS.get_cmdline_user_args(), nodes)
		var wrong: String = DojoSceneOptions.apply(_options, nodes)
		if not wrong.is_empty():
			return wrong
		for agent in agents:
			if not roles.has(agent.policy_name):
				roles[agent.policy_name] = DojoSceneRole.new(agent)
				_roles.append(roles[agent.policy_name])
			var complaint: String = roles[agent.policy_name].add(agent)
			if not complaint.is_empty():
				return complaint
			for term in agent.reward_terms:
				if not _terms.has(term):
					_terms.append(term)
	for role in _roles:
		if role.agents.size() % _roots.size() != 0:
			return "the worlds do not have the same number of agents %s" % role.name
		role.finish(_roots.size(), _terms)
	return ""


func _agents_are_there() -> bool:
	for role in _roles:
		for agent in role.agents:
			if not is_instance_valid(agent) or not agent.is_inside_tree():
				trouble = "an agent %s was removed while the game was played; " % role.name
				trouble += "keep it in the scene and let its round end instead"
				return false
	return true


func _pass_ticks(ticks: int) -> void:
	for world in _roots.size():
		_world_ticks[world] += ticks
	for role in _roles:
		for agent in role.agents:
			var current: DojoRound = agent.current
			current.ticks += ticks
			if agent.max_ticks > 0 and current.ticks >= agent.max_ticks:
				agent.truncate_episode()


## The worlds whose round is over; all agents in them end, too.
func _worlds_that_ended() -> PackedInt32Array:
	var over: PackedInt32Array = []
	for world in _roots.size():
		var cause := DojoRound.End.NONE
		var are_all_over: bool = true
		for agent: DojoAgent in _agents_of_world[world]:
			if not agent.is_over():
				are_all_over = false
			elif agent.ends_world and cause != DojoRound.End.TERMINATED:
				cause = agent.current.end
		if cause == DojoRound.End.NONE and not are_all_over:
			continue
		over.append(world)
		for agent: DojoAgent in _agents_of_world[world]:
			if cause == DojoRound.End.TRUNCATED:
				agent.truncate_episode()
			else:
				agent.end_episode()
	return over


func _begin_anew(over: PackedInt32Array) -> void:
	for world in over:
		_begin_world(world)
	for role in _roles:
		for agent in role.agents:
			if agent.is_over():
				agent.begin_round()


func _begin_world(world: int) -> void:
	_world_ticks[world] = 0
	var chance: RandomNumberGenerator = _chances[world]
	if _roots[world].has_method("reset_world"):
		_roots[world].call("reset_world", chance)
	for agent: DojoAgent in _agents_of_world[world]:
		agent.chance = chance
		agent.begin_round()


## Who won in a world that ended: 0 is nobody, then the roles in order.
func _winner(world: int) -> int:
	for index in _roles.size():
		var role: DojoSceneRole = _roles[index]
		for agent in role.of_world(world):
			if agent.current.has_won:
				return index + 1
	return 0
