class_name DojoSceneRole
extends RefCounted
## All agents of one policy in all worlds of a [DojoSceneWorlds], world after world.

const _END_FLAGS: Dictionary[DojoRound.End, int] = {
	DojoRound.End.NONE: 0,
	DojoRound.End.TERMINATED: DojoResults.TERMINATED,
	DojoRound.End.TRUNCATED: DojoResults.TRUNCATED,
}

## The policy's name.
var name: String
## World after world, in the order of the tree.
var agents: Array[DojoAgent] = []
## An error of an agent; empty while there is none.
var trouble: String = ""

var _observation_parts: Array[Dictionary]
var _action_parts: Array[Dictionary]
var _observation_size: int
var _action_size: int
var _action_low := PackedFloat32Array()
var _action_high := PackedFloat32Array()
var _per_world: int = 1
## Where each agent's reward terms stand among those of all roles.
var _columns: Array[PackedInt32Array] = []
## The first agent that declares a model.
var _declares: DojoAgent
var _plain_columns := PackedInt32Array()
var _measures: Array[Dictionary] = []


## The role of [param first] and all agents like it.
func _init(first: DojoAgent) -> void:
	name = first.policy_name
	_observation_parts = first.observation_parts()
	_action_parts = first.action_parts()
	_observation_size = DojoObservationLayout.observation_size(_observation_parts)
	_action_size = DojoObservationLayout.action_size(_action_parts)
	var reported: Dictionary = first.measures()
	for measure: String in reported:
		var kind: String = "bool" if reported[measure] is bool else "number"
		_measures.append({"name": measure, "kind": kind})
	for part in _action_parts:
		if part["kind"] == "continuous":
			for _number: int in part["size"]:
				_action_low.append(-1.0)
				_action_high.append(1.0)
		else:
			_action_low.append(0.0)
			_action_high.append(int(part["size"]) - 1.0)


## Adds an agent; returns an error message, or an empty text.
func add(agent: DojoAgent) -> String:
	var complaint: String = _complaint(agent)
	if complaint.is_empty():
		complaint = _difference(agent)
	if complaint.is_empty():
		complaint = _contradiction(agent)
	if complaint.is_empty():
		agents.append(agent)
	return complaint


## Settles where things stand, once all agents have been added.
func finish(worlds: int, terms: PackedStringArray) -> void:
	_per_world = roundi(float(agents.size()) / worlds)
	_plain_columns = PackedInt32Array(range(terms.size()))
	_columns = []
	for agent in agents:
		var columns: PackedInt32Array = []
		for term in agent.reward_terms:
			columns.append(terms.find(term))
		_columns.append(columns)


## The role's description for the trainer.
func describe() -> Dictionary:
	var description: Dictionary = {
		"name": name,
		"agents": _per_world,
		"nodes": of_world(0).map(place_of),
		"observation": _observation_parts,
		"action": _action_parts,
	}
	if not _measures.is_empty():
		description["measures"] = _measures
	if _declares != null:
		description["model"] = declaration(_declares.model, _declares)
	return description


## What [param model] declares, and the path of the node that has it in its scene.
static func declaration(model: DojoModel, node: Node) -> Dictionary:
	var description: Dictionary = model.describe()
	description["node"] = place_of(node)
	return description


## Where a node is in its scene, for people.
static func place_of(node: Node) -> String:
	if node.owner == null or node.owner == node:
		return node.name
	return "%s/%s" % [node.owner.name, node.owner.get_path_to(node)]


## The agents of one world.
func of_world(world: int) -> Array[DojoAgent]:
	return agents.slice(world * _per_world, (world + 1) * _per_world)


## Hands out the actions that begin at [param at]; returns where the next role's begin.
func act(actions: PackedFloat32Array, at: int) -> int:
	for agent in agents:
		var action: PackedFloat32Array = actions.slice(at, at + _action_size)
		for index in _action_size:
			action[index] = clampf(action[index], _action_low[index], _action_high[index])
		agent.act(action)
		at += _action_size
	return at


## Adds what the decision brought each agent and how it stands; at the beginning, nothing yet.
func take_rewards(results: DojoResults, is_first: bool) -> void:
	for row in agents.size():
		var current: DojoRound = agents[row].current
		results.terms.append_array(_in_columns(current.take_reward(), row))
		results.flags.append(0 if is_first else DojoResults.ACTED | _END_FLAGS[current.end])


## Notes every agent that is over, with what it sees last, as the role with this index.
func take_ends(results: DojoResults, index: int) -> void:
	var rows: PackedInt32Array = []
	var observation: PackedFloat32Array = []
	var totals: PackedFloat32Array = []
	var scores: PackedFloat32Array = []
	var measures: PackedFloat32Array = []
	for row in agents.size():
		var current: DojoRound = agents[row].current
		if current.end == DojoRound.End.NONE:
			continue
		rows.append(row)
		observation.append_array(_observation_of(row))
		totals.append_array(_in_columns(current.total, row))
		scores.append(agents[row].score)
		_report_measures(agents[row], measures)
	results.final_rows[index] = rows
	results.final_observation[index] = observation
	results.final_terms[index] = totals
	results.final_score[index] = scores
	results.final_measures[index] = measures


## Adds what each agent sees.
func observe(results: DojoResults) -> void:
	for row in agents.size():
		results.observation.append_array(_observation_of(row))


func _complaint(agent: DojoAgent) -> String:
	if name.is_empty() or name.length() > 64 or name == "nobody":
		return "the policy_name of %s must have 1 to 64 letters, and not be nobody" % agent.name
	if agent.reward_terms.is_empty():
		return "%s needs a name in its reward_terms" % agent.name
	if _observation_size == 0:
		return "%s observes nothing; add a sensor below its body or write observe()" % agent.name
	if _action_size == 0:
		return "%s has nothing to do; write action_parts()" % agent.name
	return ""


func _difference(agent: DojoAgent) -> String:
	var size: int = agent.observe().size()
	if size != _observation_size:
		return (
			"%s observes %d numbers, but the agents %s observe %d; they need another policy_name"
			% [agent.name, size, name, _observation_size]
		)
	if agent.action_parts() != _action_parts:
		return (
			"%s acts otherwise than the other agents %s; it needs another policy_name"
			% [agent.name, name]
		)
	return ""


## Agents of a role learn one policy, so they cannot declare different models.
func _contradiction(agent: DojoAgent) -> String:
	if agent.model == null:
		return ""
	if _declares == null:
		_declares = agent
	if agent.model.describe() == _declares.model.describe():
		return ""
	return (
		"%s and %s declare different models, but learn one policy: both have the policy_name %s"
		% [place_of(_declares), place_of(agent), name]
	)


func _observation_of(row: int) -> PackedFloat32Array:
	var seen: PackedFloat32Array = agents[row].observe()
	if seen.size() != _observation_size:
		trouble = (
			"%s observes %d numbers now, but %d when the game began"
			% [agents[row].name, seen.size(), _observation_size]
		)
		seen.resize(_observation_size)
	return seen


func _report_measures(agent: DojoAgent, numbers: PackedFloat32Array) -> void:
	if _measures.is_empty():
		return
	var reported: Dictionary = agent.measures()
	for measure in _measures:
		var value: Variant = reported.get(measure["name"])
		numbers.append(float(value) if value is bool or value is int or value is float else NAN)


func _in_columns(values: PackedFloat32Array, row: int) -> PackedFloat32Array:
	var columns: PackedInt32Array = _columns[row]
	if columns == _plain_columns:
		return values
	var spread := PackedFloat32Array()
	spread.resize(_plain_columns.size())
	for index in values.size():
		spread[columns[index]] = values[index]
	return spread
