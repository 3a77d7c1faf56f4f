class_name NavigationWorld
extends RefCounted
## One walk: a course, a walker and the rules, advanced one physics tick at a time.
##
## The owner calls [method set_action] at a decision and [method tick] once per physics tick.

signal round_started
## A mark on the way was reached; the goal emits [signal round_ended].
signal mark_reached(number: int)
signal collided
signal round_ended(winner: StringName)

## Who can win a round, by number.
const WINNERS: PackedStringArray = ["nobody", "walker", "gap", "clock"]

var settings: NavigationSettings
var course: CourseData
## The bodies of [member course].
var solid: CourseSolid
var walker: Walker
var rewards: NavigationRewards
## Marks of this round; the last one is the goal.
var marks := PackedVector3Array()
## The mark in question.
var mark: int
## Physics ticks since the round began.
var tick_number: int
## Whether the round is over; a tick then does nothing.
var round_over: bool = true
## Who won the last round.
var winner: StringName
## Source of all chance in this world.
var rng := RandomNumberGenerator.new()

var _round_ticks: int
var _again_ticks: int
var _until_collision: int
# Of each mark, how far it is from there to the goal.
var _rest_m := PackedFloat64Array()


func _init(new_settings: NavigationSettings) -> void:
	settings = new_settings
	walker = Walker.new(settings)
	rewards = NavigationRewards.new(settings)
	_round_ticks = settings.round_ticks()
	_again_ticks = roundi(settings.rules.collision_again_s / Walker.TICK_S)


## Begins a round on [param new_course], whose bodies are [param new_solid].
func begin_round(new_course: CourseData, new_solid: CourseSolid) -> void:
	course = new_course
	solid = new_solid
	var route: PackedVector3Array = course.routes[rng.randi_range(0, course.routes.size() - 1)]
	var start: CourseData.Start = course.starts[rng.randi_range(0, course.starts.size() - 1)]
	set_marks(route.slice(0, _goal_of(route, start) + 1))
	var ground: Vector3 = start.position
	ground.x += (rng.randf() - 0.5) * start.size.x
	ground.z += (rng.randf() - 0.5) * start.size.y
	walker.place(ground, start.yaw_rad + (rng.randf() - 0.5) * start.spread_rad, solid)
	mark = 0
	tick_number = 0
	round_over = false
	winner = &""
	_until_collision = 0
	rewards.begin_round(self)
	round_started.emit()


## The marks to be reached from now on; the last one is the goal.
func set_marks(new_marks: PackedVector3Array) -> void:
	marks = new_marks
	_measure()


## What the walker wants from now on; see [method Walker.set_action].
func set_action(strafe: float, forward: float, rotate: float, teleport: float = 0.0) -> void:
	walker.set_action(strafe, forward, rotate, teleport)


## Advances by one physics tick.
func tick() -> void:
	if round_over:
		return
	tick_number += 1
	walker.step()
	rewards.note_jumps(walker.jumps)
	_until_collision = maxi(_until_collision - 1, 0)
	if walker.blocked and _until_collision == 0:
		_until_collision = _again_ticks
		rewards.note_collision()
		collided.emit()
	_find_end()
	round_over = not winner.is_empty()
	if round_over or tick_number % settings.rules.ticks_per_decision == 0:
		rewards.settle(self)
	if round_over:
		round_ended.emit(winner)


## The mark to walk to; after the end, the goal.
func next_mark() -> Vector3:
	return marks[mark]


## How long the way to the goal is, from mark to mark.
func remaining_m() -> float:
	return walker.feet().distance_to(marks[mark]) + _rest_m[mark]


## Seconds until the clock runs out.
func time_left_s() -> float:
	return (_round_ticks - tick_number) * Walker.TICK_S


func _find_end() -> void:
	var feet: Vector3 = walker.feet()
	var way: Vector3 = marks[mark] - feet
	if feet.y < -settings.rules.fall_below_m:
		winner = &"gap"
	elif (
		Vector2(way.x, way.z).length() <= settings.rules.mark_radius_m
		and absf(way.y) <= settings.rules.mark_height_m
	):
		if mark == marks.size() - 1:
			winner = &"walker"
		else:
			mark += 1
			mark_reached.emit(mark - 1)
	if winner.is_empty() and tick_number >= _round_ticks:
		winner = &"clock"


func _goal_of(route: PackedVector3Array, start: CourseData.Start) -> int:
	var within_m: float = settings.rules.goal_within_m
	var goal: int = route.size() - 1
	while within_m > 0.0 and goal > 0 and course.way_m(route, start, goal) > within_m:
		goal -= 1
	return goal


func _measure() -> void:
	_rest_m.resize(marks.size())
	var rest_m: float = 0.0
	for number in range(marks.size() - 1, -1, -1):
		if number < marks.size() - 1:
			rest_m += marks[number].distance_to(marks[number + 1])
		_rest_m[number] = rest_m
