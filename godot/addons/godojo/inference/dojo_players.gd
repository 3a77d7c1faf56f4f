class_name DojoPlayers
extends RefCounted
## Plays the agents of a scene that have a policy, for [DojoSceneWorlds] while no trainer plays.
##
## Agents that share a policy and a rhythm decide as one [DojoBatchInference]. A policy that does
## not fit its agent is refused with a line that says why; the agent then keeps the policy it had,
## or is played by hand.

var _sync: DojoSync
var _groups: Array[DojoPlayGroup] = []
var _agents: Array[DojoAgent] = []
# The last observation and action of each agent, for [DojoOverlay].
var _seen: Dictionary[DojoAgent, PackedFloat32Array] = {}
var _done: Dictionary[DojoAgent, PackedFloat32Array] = {}


## Players for [param agents], by their own policies or those of [param sync].
func _init(sync: DojoSync, agents: Array[DojoAgent]) -> void:
	_sync = sync
	_agents = agents
	for agent in agents:
		agent.policy_changed.connect(_seat.bind(agent))
		agent.round_began.connect(_forget.bind(agent))
		_seat(agent)


## Whether no agent is played.
func is_empty() -> bool:
	return _groups.is_empty()


## Whether this agent is played by a policy.
func plays(agent: DojoAgent) -> bool:
	return _group_of(agent) != null


## The policy that plays this agent; null if none does.
func policy_of(agent: DojoAgent) -> DojoPolicy:
	var group: DojoPlayGroup = _group_of(agent)
	return group.policy if group != null else null


## The observation of this agent's last inference.
func seen_by(agent: DojoAgent) -> PackedFloat32Array:
	return _seen.get(agent, PackedFloat32Array())


## This agent's last action.
func done_by(agent: DojoAgent) -> PackedFloat32Array:
	return _done.get(agent, PackedFloat32Array())


## Assigns policies to agents again.
func seat_again() -> void:
	for agent in _agents:
		_seat(agent)


## One decision of every agent that has a policy.
func decide() -> void:
	for group in _groups:
		if group.wait == 0:
			group.wait = group.think_every
			_think(group)
		group.wait -= 1
		for agent in group.agents:
			agent.act(_done[agent])


func _think(group: DojoPlayGroup) -> void:
	var observations := PackedFloat32Array()
	var size: int = group.policy.net.inputs
	for agent in group.agents:
		var seen: PackedFloat32Array = agent.observe()
		if seen.size() != size:
			push_warning("%s observes %d numbers, not %d" % [agent.name, seen.size(), size])
			seen.resize(size)
		_seen[agent] = seen
		observations.append_array(seen)
	var actions: PackedFloat32Array = group.decide(observations)
	var width: int = group.policy.sampler.width
	for index in group.agents.size():
		_done[group.agents[index]] = actions.slice(index * width, (index + 1) * width)


func _seat(agent: DojoAgent) -> void:
	var policy: DojoPolicy = agent.policy
	if policy == null:
		policy = _sync.policies.get(agent.policy_name)
	var complaint: String = _sync.complaint_about(policy, agent) if policy != null else ""
	var old: DojoPlayGroup = _group_of(agent)
	if not complaint.is_empty():
		var instead: String = "it keeps the one before" if old != null else "it is played by hand"
		print("Godojo: the policy of %s is refused, %s: %s" % [agent.name, instead, complaint])
		return
	if old != null:
		if old.policy == policy and old.think_every == agent.think_every:
			if (old.chance != null) == agent.stochastic:
				return
		old.agents.erase(agent)
		old.gather()
		if old.agents.is_empty():
			_groups.erase(old)
	if policy == null:
		return
	var group: DojoPlayGroup = _group_for(policy, agent)
	group.agents.append(agent)
	group.gather()


func _group_for(policy: DojoPolicy, agent: DojoAgent) -> DojoPlayGroup:
	for group in _groups:
		if group.policy == policy and group.think_every == agent.think_every:
			if (group.chance != null) == agent.stochastic:
				return group
	var fresh := DojoPlayGroup.new()
	fresh.policy = policy
	fresh.think_every = agent.think_every
	if agent.stochastic:
		fresh.chance = RandomNumberGenerator.new()
		fresh.chance.seed = hash([_sync.policy_seed, _groups.size()])
	_groups.append(fresh)
	return fresh


func _group_of(agent: DojoAgent) -> DojoPlayGroup:
	for group in _groups:
		if group.agents.has(agent):
			return group
	return null


func _forget(agent: DojoAgent) -> void:
	var group: DojoPlayGroup = _group_of(agent)
	if group != null:
		group.forget(agent)
