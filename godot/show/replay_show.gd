class_name ReplayShow
extends Node3D
## Goes through the shots of a [ShowJob], frame by frame: every frame says where all agents are, so
## time may run at any speed, and the number of frames is exact.
##
## Every shot begins with a few frames of warming up, in which nothing moves and which are not part
## of the film. [ArenaShow] draws any game; a game may bring a scene of its own.

## Of the film, in times the round's own speed.
const FASTEST: float = 4.0

## What is to be shown; to be set before the scene enters the tree.
var job: ShowJob
## Whether the frame that is drawn now belongs to the film.
var is_on: bool = false
## Whether the last frame has been shown.
var is_over: bool = false

var _shot: ShowJob.Shot
var _shot_number: int = -1
## Frame of the shot; below 0 while it warms up.
var _frame: int = 0


func _ready() -> void:
	_next_shot()


func _process(_delta: float) -> void:
	if _shot != null and _frame >= _shot.frames:
		_next_shot()
	is_on = _shot != null and _frame >= 0
	if _shot == null:
		return
	_show_frame(maxi(_frame, 0), _frame > 0)
	if _frame == 0:
		_cut()
	_frame += 1
	# What moves by itself (dust, springs, cameras) runs as fast as the round does, but does not leap
	# where a part of the round is left out.
	var step_s: float = job.second(_shot, _frame) - job.second(_shot, _frame - 1)
	var speed: float = clampf(step_s * job.frames_per_second, 0.0, FASTEST)
	Engine.time_scale = speed if _frame > 0 else 0.0


## Prepares for the shot that begins.
func _begin_shot() -> void:
	pass


## Shows a frame; [param continues] when it follows another of the same shot.
func _show_frame(_number: int, _continues: bool) -> void:
	pass


## Forgets all motion: the frame just shown is the first of the shot.
func _cut() -> void:
	pass


## Whether the round has ended by this [param second].
func _has_ended(second: float) -> bool:
	return _shot.end_s >= 0.0 and second >= _shot.end_s


## What the clock shows at this [param second]: the time left, or the time since the start.
func _clock_s(second: float) -> float:
	var played_s: float = _shot.end_s if _has_ended(second) else second
	return maxf(_shot.round_s - played_s, 0.0) if _shot.round_s > 0.0 else played_s


func _next_shot() -> void:
	_shot_number += 1
	_shot = job.shots[_shot_number] if _shot_number < job.shots.size() else null
	is_over = _shot == null
	if not is_over:
		_frame = -ShowJob.WARM_UP
		_begin_shot()
