@icon("res://addons/godojo/icons/dojo_agent.svg")
class_name DojoGodotRlPlayer
extends Node
## Plays policies in a game made for godot_rl: for its [code]AIController[/code] nodes, whose
## scripts stay as they are.
##
## Add it to the training scene and give it the files that [code]godojo export[/code] wrote. It
## finds the agents by their group and asks them as the plugin's [code]Sync[/code] node would, in
## place of that node; once a trainer has connected to that, it does nothing.

## An agent has decided: what it observed, and what it does.
signal decided(agent: Node, observation: PackedFloat32Array, action: PackedFloat32Array)
## An agent's episode is over; its policy forgets what it remembers.
signal episode_ended(agent: Node)

const _GROUP := &"AGENT"
const _SYNC := "godot_rl_agents/sync.gd"
const _SHARED := "shared_policy"

## Plays all agents that have none in [member policies].
@export var policy: DojoPolicy
## By the [code]policy_name[/code] of agents, what plays them; [code]NAME_0[/code],
## [code]NAME_1[/code], … where agents of one name observe or do different things.
@export var policies: Dictionary[String, DojoPolicy] = {}
## Physics ticks from one action to the next, as in training; 0 for that of the [code]Sync[/code]
## node.
@export_range(0, 60, 1, "or_greater") var action_repeat: int = 0
## Whether actions are sampled as in training; otherwise the most likely ones are taken.
@export var stochastic: bool = false
## The same seed samples the same actions.
@export var policy_seed: int = 1

var _groups: Array[DojoGodotRlGroup] = []
var _is_ready: bool = false
var _ticks: int = 0


func _ready() -> void:
	# Actions are given before anybody else moves, so a decision is a whole number of ticks.
	process_physics_priority = -1_000_000


func _physics_process(_delta: float) -> void:
	# The Sync node pauses the tree until it has looked for a trainer.
	if not _is_ready:
		_is_ready = true
		_seat_all()
	for group in _groups:
		for agent in group.forget_ended():
			episode_ended.emit(agent)
	if _ticks % maxi(action_repeat, 1) == 0:
		for group in _groups:
			group.decide(decided)
	_ticks += 1


func _seat_all() -> void:
	for node in get_tree().root.find_children("*", "", true, false):
		var script: Script = node.get_script()
		if script != null and script.resource_path.ends_with(_SYNC):
			if node.get("connected") == true:
				print("Godojo: a trainer plays this game; %s does nothing" % name)
				return
			# It would only reset the ends of episodes, before they are seen here.
			node.set_physics_process(false)
			if action_repeat == 0 and node.get("action_repeat") is int:
				action_repeat = node.get("action_repeat")
	if action_repeat == 0:
		action_repeat = 8
	var agents: Array[Node] = get_tree().get_nodes_in_group(_GROUP)
	if agents.is_empty():
		print("Godojo: there is no agent in the group %s for %s to play" % [_GROUP, name])
	for agent in agents:
		_seat(agent)
	for group in _groups:
		group.gather(_chance())


func _seat(agent: Node) -> void:
	var given: Variant = agent.get("policy_name")
	var policy_name: String = given if given is String and given else _SHARED
	var complaint: String = "it has no policy %s" % policy_name
	for candidate in _candidates(policy_name):
		complaint = DojoGodotRlGroup.complaint_about(candidate, agent)
		if complaint.is_empty():
			_group_for(candidate).agents.append(agent)
			if agent.has_method("set_heuristic"):
				agent.call("set_heuristic", "model")
			return
	print("Godojo: %s is not played: %s" % [agent.get_path(), complaint])


func _candidates(policy_name: String) -> Array[DojoPolicy]:
	var found: Array[DojoPolicy] = []
	for key in policies:
		var number: String = key.trim_prefix(policy_name + "_")
		if key == policy_name or (number != key and number.is_valid_int()):
			found.append(policies[key])
	if found.is_empty() and policy != null:
		found.append(policy)
	return found


func _group_for(by_policy: DojoPolicy) -> DojoGodotRlGroup:
	for group in _groups:
		if group.policy == by_policy:
			return group
	_groups.append(DojoGodotRlGroup.new(by_policy))
	return _groups[-1]


func _chance() -> RandomNumberGenerator:
	if not stochastic:
		return null
	var chance := RandomNumberGenerator.new()
	chance.seed = policy_seed
	return chance
