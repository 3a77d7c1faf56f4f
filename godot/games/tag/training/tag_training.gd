class_name TagTraining
extends Node
## Connects the playable game to a server, if one runs, and shows what it learns.
##
## [code]python3 dojo.py serve --train[/code] starts a server. While there is none the game is
## played by hand, and the node looks for one every second. With options on the command line it
## does nothing.

## A server plays from now on; [param shown] is the world to watch.
signal server_came(shown: TagWorld)
## The server has left, for this reason; the game is played by hand again.
signal server_left(reason: String)

## Whether the server may learn from this scene, and the scene shows how learning goes. Otherwise
## the server only plays, with its newest policy.
@export var training_mode: bool = true
## Whether the server plays all agents. Otherwise a person plays one of them, against what the
## server knows; see [member ai_is_it].
@export var control_all_agents: bool = true
## Which side the server plays where a person plays along: the seekers ("it"), or else the hiders.
## Without a server, it is the side of the trained opponent.
@export var ai_is_it: bool = false
## Physics ticks from one decision to the next; 0 for those of the settings.
@export_range(0, 60) var step_tick_interval: int = 0
## What a tag is worth to the seeker, and costs the hider; below 0 for that of the settings.
@export_range(-1.0, 10.0, 0.01, "or_greater") var tag_bonus: float = -1.0
## Reward for each metre that the seeker gets nearer, or the hider away; below 0 for those of the
## settings.
@export_range(-1.0, 1.0, 0.001, "or_greater") var progress_reward_scale: float = -1.0

@onready var _sync: DojoSync = $DojoSync
@onready var _worlds: TagLiveWorlds = $DojoSync/Worlds


func _enter_tree() -> void:
	# Before the node below is ready, which introduces this game to servers.
	var sync: DojoSync = $DojoSync
	sync.introduction = {"training": training_mode, "settings": overrides()}


func _ready() -> void:
	_worlds.overrides = overrides()
	_worlds.made.connect(server_came.emit)
	_sync.disconnected.connect(_on_disconnected)
	_sync.set_physics_process(false)


## The role that is left to a person.
func human_role() -> StringName:
	return &"hider" if ai_is_it else &"seeker"


## Settings of the game that this node changes, by name.
func overrides() -> Dictionary[String, float]:
	var changed: Dictionary[String, float] = {}
	if step_tick_interval > 0:
		changed["rules.ticks_per_decision"] = step_tick_interval
	if tag_bonus >= 0.0:
		changed["rewards.seeker.tag"] = tag_bonus
		changed["rewards.hider.tag"] = -tag_bonus
	if progress_reward_scale >= 0.0:
		changed["rewards.seeker.distance_per_m"] = -progress_reward_scale
		changed["rewards.hider.distance_per_m"] = progress_reward_scale
	return changed


## Begins to look for a server; [param colors] are those of the roles.
func begin(colors: Dictionary[String, Color]) -> void:
	_sync.set_physics_process(true)
	if not _sync.looks_for_trainer():
		return
	var panel := DojoTrainingPanel.new()
	panel.name = "Panel"
	panel.sync = _sync
	panel.colors = colors
	add_child(panel)


## Whether a server plays.
func is_live() -> bool:
	return _worlds.is_made()


## Lets a person play agent [param index] of the world that is shown, from the next decision on; -1
## for nobody.
func seat(index: int) -> void:
	_worlds.human = index


## The agent that a person plays now; -1 for none.
func human() -> int:
	return _worlds.human_now


## One physics frame of a game that a server plays.
func tick(delta: float) -> void:
	if _worlds.is_playing:
		_worlds.tick(delta)


func _on_disconnected(reason: String) -> void:
	if is_live():
		_worlds.clear()
		server_left.emit(reason)
