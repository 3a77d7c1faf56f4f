extends Node3D
## Shows rounds that were played before, shot by shot, as a film needs them: every frame is told
## where everybody is, so that time may run at any speed, and the number of frames is exact.
##
## [ShowJob] says what a job is. Every shot begins with a few frames of warming up, in which nothing
## moves and which are to be left away.

## Slower than this going up, feet left the ground without a jump.
const JUMP_MPS: float = 1.0
## Where clock and score are magnified, names are only by this share of it.
const NAMES_GROW: float = 0.6
## Of the film, in times the round's own speed.
const FASTEST: float = 4.0

## What is to be shown; to be set before the scene enters the tree.
var job: ShowJob
## What is shown.
var world: TagWorld
## How it looks.
var look: TagLook
## Why the show was given up; empty when all is well.
var error: String
## Whether the frame that is drawn now belongs to the film.
var is_on: bool = false
## Whether the last frame has been shown.
var is_over: bool = false

var _shot: ShowJob.Shot
var _shot_number: int = -1
## Frame of the shot; below 0 while it warms up.
var _frame: int = 0
var _score: TagScore

@onready var hud: TagHud = $Hud
@onready var _tags: NameTags = $NameTags


func _ready() -> void:
	_next_shot()


func _process(_delta: float) -> void:
	if _shot != null and _frame >= _shot.frames:
		_next_shot()
	is_on = _shot != null and _frame >= 0
	if _shot == null:
		return
	if _frame == 0:
		look.cut()
	_stand(maxi(_frame, 0), _frame > 0)
	hud.show_time(world.time_left_s)
	_score.show_on(hud)
	_frame += 1
	# What moves by itself (dust, springs, cameras) runs as fast as the round does, but does not leap
	# where a part of the round is left out.
	var step_s: float = job.second(_shot, _frame) - job.second(_shot, _frame - 1)
	var speed: float = clampf(step_s * job.frames_per_second, 0.0, FASTEST)
	Engine.time_scale = speed if _frame > 0 else 0.0


func _next_shot() -> void:
	_shot_number += 1
	_shot = job.shots[_shot_number] if _shot_number < job.shots.size() else null
	is_over = _shot == null
	if is_over:
		return
	for old: Node in [world, look]:
		if old != null:
			remove_child(old)
			old.queue_free()
	world = TagWorld.new()
	world.physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	add_child(world)
	error = world.configure(_shot.settings, _shot.arena, 1)
	if not error.is_empty():
		_shot = null
		is_over = true
		return
	look = TagLook.new()
	add_child(look)
	look.hero = _shot.hero
	look.rig.mode = _shot.camera
	look.rig.zoom = _shot.zoom
	look.show_world(world)
	_score = TagScore.new(world, -1)
	_score.begin_with(_shot.wins)
	hud.visible = _shot.hud > 0.0
	hud.magnified = _shot.hud if _shot.hud > 0.0 else 1.0
	hud.hide_banner()
	_tags.visible = _shot.is_tagged_by_name
	_tags.name_agents(world, look.rig.camera)
	_tags.factor = hud.factor / hud.magnified * lerpf(1.0, hud.magnified, NAMES_GROW)
	_frame = -ShowJob.WARM_UP


## Puts everybody where the frame says; [param goes_on] when it follows another of the same shot.
func _stand(frame: int, goes_on: bool) -> void:
	var second: float = job.second(_shot, frame)
	var played_s: float = second if _shot.winner.is_empty() else minf(second, _shot.end_s)
	world.time_left_s = maxf(world.round_s - played_s, 0.0)
	for agent in world.agents:
		_stand_agent(agent, frame, goes_on)
	var has_ended: bool = not _shot.winner.is_empty() and second >= _shot.end_s
	world.tick_number = roundi(played_s / TagAgent.TICK_S)
	world.winner = _shot.winner
	world.winner_index = _shot.winner_index
	if has_ended and not world.round_over:
		_score.count_round()
		if _shot.is_announced:
			_score.announce_on(hud, look.screen_points())
	world.round_over = has_ended


func _stand_agent(agent: TagAgent, frame: int, goes_on: bool) -> void:
	var numbers: PackedFloat32Array = []
	for field in ShowJob.FIELDS:
		numbers.append(job.number(_shot, frame, agent.index, field))
	var was_grounded: bool = agent.grounded
	var was_active: bool = agent.active
	var was_hunting: bool = agent.is_seeker_like
	var fall_mps: float = maxf(-agent.velocity.y, 0.0)
	agent.position = Vector3(numbers[0], numbers[1], numbers[2])
	agent.velocity = Vector3(numbers[3], numbers[4], numbers[5])
	agent.heading_rad = numbers[6]
	agent.grounded = numbers[7] > 0.5
	agent.set_active(numbers[8] > 0.5)
	agent.is_seeker_like = numbers[9] > 0.5
	agent.wish = Vector2(numbers[10], numbers[11]).limit_length(1.0)
	world.scores[agent.index] = numbers[12]
	if not goes_on:
		agent.respawned.emit()
		return
	if was_grounded and not agent.grounded and agent.velocity.y > JUMP_MPS:
		agent.jumped.emit()
	elif agent.grounded and not was_grounded:
		agent.landed.emit(fall_mps)
	var is_caught: bool = was_active and not agent.active
	if is_caught or (agent.is_seeker_like and not was_hunting):
		world.tagged.emit(agent, agent)
