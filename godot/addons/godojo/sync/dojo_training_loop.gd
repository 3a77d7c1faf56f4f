@icon("res://addons/godojo/icons/dojo_training_loop.svg")
class_name DojoTrainingLoop
extends Node
## Lets a scene drive its training: who learns when, for how long, and when to start and stop.
##
## Put one into a scene with a [DojoSync]. The trainer then works in epochs: it plays
## [member steps_in_round] decisions in every world, trains each agent that learns by
## [method train_steps], and asks for the next epoch, until [method stop]. The run is saved then,
## and [method start] continues it. Extend the script and write [method is_deterministic_map] to
## decide who learns in which epoch; by default agents take turns of [member epochs_per_turn].
## [br][br]
## A trainer that launches the game starts the loop by itself, and ends when the scene stops it.

## Training has been started.
signal started
## Training has stopped, and its run is saved.
signal stopped
## The trainer is about to play this epoch.
signal epoch_began(epoch: int)

## The node that connects to the trainer; empty: the parent, or a sibling.
@export var sync: DojoSync
## Whether the scene is trained; at the beginning, whether training starts with the scene.
@export var running: bool = true:
	set = _set_running
## The agents to train, by [member DojoAgent.policy_name]; others play without learning. Empty: all.
@export var agent_names: PackedStringArray = PackedStringArray()
## Decisions in every world from one training to the next; 0: the trainer's choice.
@export_range(0, 10_000, 1, "or_greater") var steps_in_round: int = 0
## Gradient steps of each training, by agent; see [method train_steps].
@export var train_steps_by_agent: Dictionary[String, int] = {}
## Agents take turns: each learns for this many epochs, while the others play what they have
## learned. 0: all learn at once.
@export_range(0, 1000, 1, "or_greater") var epochs_per_turn: int = 0
## A numbered copy of each agent's policy is kept after every so many epochs; 0: none.
@export_range(0, 10_000, 1, "or_greater") var checkpoint_every: int = 1000

## The epoch that is played or trained; -1 before the first.
var epoch: int = -1

var _roles: PackedStringArray = []
var _names: PackedStringArray = []
var _is_stopping: bool = false


func _enter_tree() -> void:
	if sync == null:
		_find_sync()
	if sync == null:
		push_warning("%s drives nothing: there is no DojoSync above it or beside it" % name)
		return
	sync.loop = self
	sync.connected.connect(_on_connected)
	sync.disconnected.connect(_on_disconnected)


func _exit_tree() -> void:
	if sync != null and sync.loop == self:
		sync.loop = null
		sync.connected.disconnect(_on_connected)
		sync.disconnected.disconnect(_on_disconnected)


## Looks for a trainer, and trains.
func start() -> void:
	running = true


## Stops after the epoch under way: the trainer saves the run and leaves, and the game is played by
## policies or by hand.
func stop() -> void:
	running = false


## Gradient steps by which [param agent] is trained in each epoch; 0: the trainer's choice. By
## default those of [member train_steps_by_agent].
func train_steps(agent: String) -> int:
	return train_steps_by_agent.get(agent, 0)


## Which agents only play in this epoch, by their most likely actions, and which learn (false).
## Epochs count from 0; agents that are not named learn. Write it to decide who learns when.
func is_deterministic_map(at_epoch: int) -> Dictionary[String, bool]:
	var map: Dictionary[String, bool] = {}
	for index in _names.size():
		var is_turn: bool = true
		if epochs_per_turn > 0:
			is_turn = floori(float(at_epoch) / epochs_per_turn) % _names.size() == index
		map[_names[index]] = not is_turn
	return map


## Whether training has been asked to stop, and the epoch under way is not over.
func is_stopping() -> bool:
	return _is_stopping


## Adds itself to the description of the worlds; returns why it cannot, or an empty text. For
## [DojoSync].
func join(description: Dictionary) -> String:
	var roles: PackedStringArray = []
	for role: Dictionary in description["roles"]:
		roles.append(role["name"] as String)
	var complaint: String = complaint_about(roles)
	if complaint.is_empty():
		description["loop"] = describe(roles)
	return complaint


## What the trainer has to know before it begins, for worlds with these roles.
func describe(roles: PackedStringArray) -> Dictionary:
	_roles = roles
	_names = agent_names if not agent_names.is_empty() else roles
	var steps: Dictionary[String, int] = {}
	for agent in _names:
		steps[agent] = train_steps(agent)
	return {
		"agents": Array(_names),
		"steps_in_round": steps_in_round,
		"train_steps": steps,
		"checkpoint_every": checkpoint_every,
	}


## What is wrong with the loop in worlds with these roles, or an empty text.
func complaint_about(roles: PackedStringArray) -> String:
	for agent: String in Array(agent_names) + train_steps_by_agent.keys():
		if not roles.has(agent):
			return "%s: there is no agent %s; the scene has %s" % [name, agent, ", ".join(roles)]
	if steps_in_round < 0 or epochs_per_turn < 0 or checkpoint_every < 0:
		return "%s: its numbers must be 0 or more" % name
	return ""


## What the trainer shall do in this epoch, with a [code]complaint[/code] if that makes no sense;
## for [DojoSync].
func plan(at_epoch: int) -> Dictionary:
	if not running:
		return {"running": false, "deterministic": {}}
	epoch = at_epoch
	var map: Dictionary[String, bool] = is_deterministic_map(at_epoch)
	for agent in map:
		if not _roles.has(agent):
			var known: String = ", ".join(_roles)
			return {
				"complaint":
				"%s: is_deterministic_map names %s; the scene has %s" % [name, agent, known]
			}
	epoch_began.emit(at_epoch)
	# A listener may have stopped it.
	return {"running": running, "deterministic": map}


func _set_running(value: bool) -> void:
	if running == value:
		return
	running = value
	if not is_inside_tree() or sync == null:
		return
	if value:
		_is_stopping = false
		started.emit()
	elif not sync.is_trained():
		stopped.emit()
	elif epoch >= 0:
		_is_stopping = true
	else:
		sync.leave_trainer("the scene stopped the training")


func _on_connected() -> void:
	epoch = -1
	if sync.is_launched():
		running = true


func _on_disconnected(_reason: String) -> void:
	_is_stopping = false
	if not running:
		stopped.emit()


func _find_sync() -> void:
	if get_parent() is DojoSync:
		sync = get_parent()
		return
	for sibling in get_parent().get_children():
		if sync == null and sibling is DojoSync:
			sync = sibling
