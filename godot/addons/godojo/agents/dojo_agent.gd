@icon("res://addons/godojo/icons/dojo_agent.svg")
class_name DojoAgent
extends Node
## A learning agent: it observes, acts and is rewarded.
##
## Put it below the body it moves and extend its script. Write at least [method apply_action]; add
## sensors below the body or write [method observe]; call [method add_reward] when something good or
## bad happens and [method end_episode] when the round is over. [DojoSync] does the rest.

## An action has just been applied.
signal acted(action: PackedFloat32Array)
## A round has just begun.
signal round_began
## The round is over; [method reset] comes at the next decision.
signal round_ended
## Another [member policy] has been put in.
signal policy_changed

## Agents with the same name learn one policy together.
@export var policy_name: String = "agent"
## Sensors in the order in which they are read. Empty: every sensor below the body.
@export var sensors: Array[Node] = []
## A round is cut short after this many physics ticks; 0: it is not. At 60 a second a minute has
## 3600.
@export_range(0, 36000, 1, "or_greater") var max_ticks: int = 0
## Whether the end of this agent's round ends those of all agents in its world.
@export var ends_world: bool = true
## What rewards are made of: [method add_reward] takes one of these names.
@export var reward_terms: PackedStringArray = PackedStringArray(["reward"])

## The network and algorithm of all agents with this [member policy_name]; without one,
## [member DojoSync.model] counts.
@export var model: DojoModel

@export_group("Policy")
## Plays this agent while no trainer does: drop a trained [code].dojo[/code] file here. Without one,
## [member DojoSync.policies] are looked at, and else it is played by hand.
@export var policy: DojoPolicy:
	set(value):
		policy = value
		policy_changed.emit()
## The policy decides at every n-th decision; in between its last action is repeated.
@export_range(1, 60, 1, "or_greater") var think_every: int = 1
## Whether its actions are sampled, as in training, instead of deterministic.
@export var stochastic: bool = false

## The game's own score of this round, for people; nobody learns from it.
var score: float = 0.0
## Chance for [method reset]: the same seed gives the same rounds, so take no other.
var chance := RandomNumberGenerator.new()

## The round as it is counted; [DojoSceneWorlds] keeps it.
var current := DojoRound.new()

var _found_sensors: Array[Node] = []


## What the agent sees now, best as numbers from -1 to 1. By default, what its sensors read. In a
## scene with many worlds, positions must be relative to something in the same world.
func observe() -> PackedFloat32Array:
	var numbers := PackedFloat32Array()
	for sensor in all_sensors():
		@warning_ignore("unsafe_method_access")
		var read: PackedFloat32Array = sensor.read()
		numbers.append_array(read)
	return numbers


## What the numbers of [method observe] are; see [DojoObservationLayout]. By default the
## sensors' parts, or one part if [method observe] was written anew.
func observation_parts() -> Array[Dictionary]:
	var parts: Array[Dictionary] = []
	for sensor in all_sensors():
		@warning_ignore("unsafe_method_access")
		var sensor_parts: Array[Dictionary] = sensor.parts()
		parts.append_array(sensor_parts)
	DojoObservationLayout.tell_apart(parts)
	var size: int = observe().size()
	if DojoObservationLayout.observation_size(parts) != size:
		parts = [DojoObservationLayout.numbers("observation", size)]
	return parts


## What the agent can do; see [DojoObservationLayout]. By default two numbers from -1 to 1.
func action_parts() -> Array[Dictionary]:
	return [DojoObservationLayout.move("move", 2)]


## Does something. Numbers come in the order of [method action_parts], from -1 to 1; a choice is its
## index. It is called once a decision: keep what the ticks in between need.
func apply_action(_action: PackedFloat32Array) -> void:
	pass


## What a person at the keyboard wants; by default nothing.
func human_action() -> PackedFloat32Array:
	var numbers := PackedFloat32Array()
	numbers.resize(DojoObservationLayout.action_size(action_parts()))
	return numbers


## What the round is judged by besides its rewards, asked for when it ends, by name: a bool such as
## [code]success[/code] is reported as a share of rounds, a number as a mean. Always the same names;
## null where there is nothing to report. Nobody learns from it.
func measures() -> Dictionary:
	return {}


## Puts the agent where a round begins. Draw from [member chance] only.
func reset() -> void:
	pass


## Rewards the decision under way, or punishes it with a negative [param amount].
func add_reward(amount: float, term: String = "") -> void:
	var index: int = 0 if term.is_empty() else reward_terms.find(term)
	if index < 0:
		push_warning("%s has no reward term %s; see its reward_terms" % [name, term])
		return
	if current.end == DojoRound.End.NONE and index < current.reward.size():
		current.reward[index] += amount


## The round is over by the rules, and [param has_won] says how.
func end_episode(has_won: bool = false) -> void:
	if current.finish(DojoRound.End.TERMINATED, has_won):
		round_ended.emit()


## The round is cut short: it could have gone on, and its future still had a value.
func truncate_episode() -> void:
	if current.finish(DojoRound.End.TRUNCATED, false):
		round_ended.emit()


## Puts another policy in, while the game runs. Returns why it was refused, or an empty text; what
## was there stays.
func set_policy(path: String) -> String:
	var fresh: DojoPolicy = DojoPolicyReader.load_file(path)
	var complaint: String = fresh.complaint_about(observation_parts(), action_parts())
	if complaint.is_empty():
		policy = fresh
	return complaint


## Whether the round is over and [method reset] is about to come.
func is_over() -> bool:
	return current.end != DojoRound.End.NONE


## Begins a round; [DojoSceneWorlds] calls it.
func begin_round() -> void:
	current = DojoRound.new(reward_terms.size())
	score = 0.0
	reset()
	round_began.emit()


## Acts; [DojoSceneWorlds] calls it.
func act(action: PackedFloat32Array) -> void:
	apply_action(action)
	acted.emit(action)


## The sensors that are read, in order.
func all_sensors() -> Array[Node]:
	if not sensors.is_empty():
		return sensors
	if _found_sensors.is_empty() and get_parent() != null:
		for node in get_parent().find_children("*", "", true, false):
			if DojoSensors.is_sensor(node):
				_found_sensors.append(node)
	return _found_sensors
