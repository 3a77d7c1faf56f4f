class_name TagLiveWorlds
extends TagWorlds
## Worlds that are played in step with the clock, for people who watch the first of them.
##
## The scene calls [method tick] once per physics frame. With a single world, the server's next
## decision waits until people have seen who won.

## The worlds are made, for a server; [param shown] is the one to watch.
signal made(shown: TagWorld)

## How long the end of a round is shown.
const PAUSE_S: float = 1.6

## Settings that hold whatever the server asks for, by name.
var overrides: Dictionary[String, float] = {}
## Index of the agent that a person plays in the world that is shown; -1 for none. Heeded from the
## next decision on.
var human: int = -1
## The same in the present decision.
var human_now: int = -1
## Whether a decision is being played; between two the worlds stand still.
var is_playing: bool = false

var _pause_s: float = 0.0


func _init() -> void:
	super()
	advances_itself = false
	stands_still_itself = true
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_INHERIT


func configure(request: Dictionary) -> String:
	is_playing = false
	var complaint: String = super(request)
	if complaint.is_empty():
		_worlds[0].round_ended.connect(_on_round_ended)
		made.emit(_worlds[0])
	return complaint


func reset(seed_number: int) -> void:
	is_playing = false
	super(seed_number)


func act(actions: PackedFloat32Array) -> void:
	super(actions)
	human_now = human
	_begin_decision()
	if human_now >= 0:
		# What a person does is nothing to learn from.
		_acted[human_now] = 0
	is_playing = true


## Plays one tick of [param delta] seconds in every world whose round is not over.
func tick(delta: float) -> void:
	for world in _worlds:
		world.tick()
	_pause_s -= delta


func holds_answer() -> bool:
	return _worlds.size() == 1 and _worlds[0].round_over and _pause_s > 0.0


func collect() -> DojoResults:
	if is_playing:
		is_playing = false
		_end_decision()
	return super()


## Whether there are worlds, for a server that has come.
func is_made() -> bool:
	return not _worlds.is_empty()


## Takes the worlds down; the server has left.
func clear() -> void:
	is_playing = false
	human_now = -1
	_worlds.clear()
	for child in get_children():
		child.queue_free()


func _change(options: TagWorldsOptions) -> String:
	for key in overrides:
		var complaint: String = options.settings.apply_override("%s=%s" % [key, overrides[key]])
		if not complaint.is_empty():
			return complaint
	return ""


func _on_round_ended(_winner: StringName) -> void:
	_pause_s = PAUSE_S
