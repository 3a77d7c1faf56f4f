class_name CameraRig
extends Node3D
## Ways to watch a round: the whole arena, over a shoulder, from the side, and along a path that was
## planned for a film.
##
## All but the shoulder's use a long lens from far away, so that near and far agents look about the
## same size.

enum Mode { OVERVIEW, FOLLOW, SIDE, PLANNED }

## Names of the modes in the order in which they are cycled; only films have planned cameras.
const NAMES: PackedStringArray = ["overview", "follow", "side"]
## How steeply the overview looks down, on a wide and on a tall screen.
const OVERVIEW_PITCH_DEG := Vector2(52.0, 64.0)
## Distance of the overview, as a multiple of the arena's longer side.
const OVERVIEW_DISTANCE: float = 8.0
## An arena this much longer than wide is seen from its longer side.
const OVERVIEW_OBLONG: float = 1.25
## Room that the overview leaves free: share of the height above the arena, for the HUD, and below
## and beside it.
const OVERVIEW_ROOM := Vector2(0.075, 0.04)
## How steeply the side camera looks down, and from how far.
const SIDE_PITCH_DEG: float = 30.0
const SIDE_DISTANCE_M: float = 70.0
## The side camera shows at least this much around the agents.
const SIDE_LEAST_M: float = 5.5
## The side camera shows so much beyond the arena.
const SIDE_ROOM_M: float = 2.2
## How steeply the planned camera looks down, and from how far; `camera.py` plans with the same.
const PLANNED_PITCH_DEG: float = 46.0
const PLANNED_DISTANCE_M: float = 60.0
## Where the follow camera stands behind and above an agent of this size, and how much closer it
## comes to a smaller one.
const FOLLOW_BODY_M: float = 0.9
const FOLLOW_CLOSEST: float = 0.6
const FOLLOW_BACK_M: float = 6.2
const FOLLOW_UP_M: float = 4.6
const FOLLOW_FOV_DEG: float = 58.0
## Beyond this the follow camera sees no shadows, so that near ones are fine.
const FOLLOW_SHADOW_M: float = 32.0
## How fast the follow camera swings around behind its agent.
const FOLLOW_SWING_RADPS: float = 1.7

## How the round is watched now.
var mode := Mode.OVERVIEW
## How far from the camera shadows are needed.
var shadow_reach_m: float = 100.0
## How much closer than usual the side camera may come.
var zoom: float = 1.0
## The camera that is moved.
var camera := Camera3D.new()

var _size_m := Vector2(20, 20)
var _wall_height_m: float = 2.5
var _follow_scale: float = 1.0
var _swing_rad: float = 0.0
var _aim := Vector3.ZERO
var _half_height_m: float = SIDE_LEAST_M
var _planned_yaw_rad: float = 0.0
var _cut: bool = true


func _init() -> void:
	physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	add_child(camera)


## Prepares for an arena.
func frame_layout(layout: ShowLayout) -> void:
	var all: AABB = layout.bounds()
	position = Vector3(all.get_center().x, 0.0, all.get_center().z)
	_follow_scale = clampf(layout.body_m / FOLLOW_BODY_M, FOLLOW_CLOSEST, 1.0)
	frame_arena(Vector2(all.size.x, all.size.z), all.end.y)


## Prepares for an arena of [param size_m] with outer walls of [param wall_height_m].
func frame_arena(size_m: Vector2, wall_height_m: float) -> void:
	_size_m = size_m
	_wall_height_m = wall_height_m
	cut()


## Switches to the next way of watching.
func cycle() -> void:
	mode = ((mode + 1) % NAMES.size()) as Mode
	cut()


## The next [method watch] places the camera at once instead of gliding there.
func cut() -> void:
	_cut = true


## The direction on the ground that is "up" on screen, as an angle around y; 0 is towards -z.
func yaw() -> float:
	return camera.global_rotation.y


## Tells the planned camera what to aim at, from which direction and how much to show.
func aim_at(aim: Vector3, yaw_rad: float, half_height_m: float) -> void:
	_aim = aim
	_planned_yaw_rad = yaw_rad
	_half_height_m = half_height_m


## Places the camera. [param middles] are all agents to be seen, [param hero] is the one to follow
## and [param heading] where it heads.
func watch(middles: PackedVector3Array, hero: Vector3, heading: float, delta: float) -> void:
	match mode:
		Mode.OVERVIEW:
			_overview()
		Mode.FOLLOW:
			_follow(hero, heading, delta)
		Mode.SIDE:
			_side(middles, delta)
		Mode.PLANNED:
			_planned()
	_cut = false


func _overview() -> void:
	var screen: Vector2 = _screen()
	var aspect: float = screen.x / screen.y
	var tall: float = clampf((1.4 - aspect) / 0.8, 0.0, 1.0)
	var pitch: float = deg_to_rad(lerpf(OVERVIEW_PITCH_DEG.x, OVERVIEW_PITCH_DEG.y, tall))
	# The longer side of the arena lies along that of the screen.
	var along: Vector2 = _size_m if aspect < 1.0 else Vector2(_size_m.y, _size_m.x)
	var yaw_rad: float = PI * 0.5 if along.x > along.y * OVERVIEW_OBLONG else 0.0
	camera.global_basis = global_basis * Basis.from_euler(Vector3(-pitch, yaw_rad, 0.0))
	var distance: float = OVERVIEW_DISTANCE * maxf(_size_m.x, _size_m.y)
	var aim: Vector3 = global_position
	var half: Vector2 = Vector2.ONE
	# The lens is long: two rounds of centring are plenty.
	for _round in 2:
		camera.global_position = aim + camera.global_basis.z * distance
		var seen: Rect2 = _seen_rect()
		var room: float = OVERVIEW_ROOM.y * 2.0
		half.x = seen.size.x * 0.5 / (1.0 - room)
		half.y = seen.size.y * 0.5 / (1.0 - OVERVIEW_ROOM.x - OVERVIEW_ROOM.y)
		var height: float = maxf(half.y, half.x / aspect)
		var middle: Vector2 = seen.get_center()
		middle.y += (OVERVIEW_ROOM.x - OVERVIEW_ROOM.y) * height
		aim += (camera.global_basis.x * middle.x + camera.global_basis.y * middle.y) * distance
		half.y = height
	camera.global_position = aim + camera.global_basis.z * distance
	_set_lens(2.0 * atan(half.y), distance)


## The arena on a screen one metre before the camera.
func _seen_rect() -> Rect2:
	var rect := Rect2()
	var side := ShowStyle.WALL_THICKNESS_M
	for x: float in [-1.0, 1.0]:
		for z: float in [-1.0, 1.0]:
			var corner := Vector3(x * (_size_m.x * 0.5 + side), 0.0, z * (_size_m.y * 0.5 + side))
			var is_far: bool = (global_basis * corner).dot(camera.global_basis.z) < 0.0
			for y: float in [0.0, _wall_height_m if is_far else ShowStyle.CURB_HEIGHT_M]:
				corner.y = y
				var at: Vector3 = (global_transform * corner) * camera.global_transform
				var point := Vector2(at.x, at.y) / -at.z
				rect = (
					rect.expand(point)
					if rect.has_area() or rect.position
					else Rect2(point, Vector2.ZERO)
				)
	return rect


func _follow(hero: Vector3, heading: float, delta: float) -> void:
	# Facing the camera is no reason to swing round: only the sideways part of the heading counts.
	var turn: float = angle_difference(_swing_rad, heading + PI)
	var swing: float = sin(turn) * FOLLOW_SWING_RADPS * delta
	_swing_rad = heading + PI if _cut else wrapf(_swing_rad + swing, -PI, PI)
	var ease_in: float = 1.0 if _cut else 1.0 - exp(-9.0 * delta)
	_aim = hero if _cut else _aim.lerp(hero, ease_in)
	var back := Vector3(sin(_swing_rad), 0.0, cos(_swing_rad))
	var at: Vector3 = _aim + (back * FOLLOW_BACK_M + Vector3.UP * FOLLOW_UP_M) * _follow_scale
	camera.look_at_from_position(at, _aim - back * 1.6 + Vector3.UP * 0.3)
	camera.fov = FOLLOW_FOV_DEG
	camera.keep_aspect = Camera3D.KEEP_HEIGHT
	camera.near = 0.2
	camera.far = 120.0
	shadow_reach_m = FOLLOW_SHADOW_M


func _side(middles: PackedVector3Array, delta: float) -> void:
	var turned := Basis.from_euler(Vector3(-deg_to_rad(SIDE_PITCH_DEG), -PI * 0.5, 0.0))
	camera.global_basis = global_basis * turned
	var least := Vector2.INF
	var most := -Vector2.INF
	for middle in middles:
		var at := Vector2(middle.dot(camera.global_basis.x), middle.dot(camera.global_basis.y))
		least = least.min(at)
		most = most.max(at)
	var screen: Vector2 = _screen()
	var spread: Vector2 = (most - least) * 0.5 + Vector2(2.6, 2.6)
	var wanted_m: float = maxf(
		SIDE_LEAST_M / zoom, maxf(spread.y * 1.15, spread.x * screen.y / screen.x)
	)
	var middle: Vector2 = _keep_inside(
		(least + most) * 0.5, wanted_m * screen.x / screen.y, wanted_m
	)
	var depth: float = global_position.dot(camera.global_basis.z)
	var aim: Vector3 = (
		camera.global_basis.x * middle.x
		+ camera.global_basis.y * (middle.y + wanted_m * 0.08)
		+ camera.global_basis.z * depth
	)
	var ease_in: float = 1.0 if _cut else 1.0 - exp(-8.0 * delta)
	_aim = _aim.lerp(aim, ease_in)
	_half_height_m = lerpf(_half_height_m, wanted_m, ease_in)
	camera.global_position = _aim + camera.global_basis.z * SIDE_DISTANCE_M
	_set_lens(2.0 * atan(_half_height_m / SIDE_DISTANCE_M), SIDE_DISTANCE_M)


func _planned() -> void:
	var turned := Vector3(-deg_to_rad(PLANNED_PITCH_DEG), _planned_yaw_rad, 0.0)
	camera.global_basis = Basis.from_euler(turned)
	camera.global_position = _aim + camera.global_basis.z * PLANNED_DISTANCE_M
	_set_lens(2.0 * atan(_half_height_m / PLANNED_DISTANCE_M), PLANNED_DISTANCE_M)


## Moves what the side camera aims at so that it shows little beyond the arena.
func _keep_inside(aim: Vector2, half_width_m: float, half_height_m: float) -> Vector2:
	var up: Vector3 = camera.global_basis.y
	var origin := Vector2(global_position.dot(camera.global_basis.x), global_position.dot(up))
	var reach_x: float = _size_m.y * 0.5 + SIDE_ROOM_M - half_width_m
	var depth: float = _size_m.x * 0.5 * sin(deg_to_rad(SIDE_PITCH_DEG))
	var reach_y: float = depth + SIDE_ROOM_M - half_height_m
	var free := Vector2(maxf(reach_x, 0.0), maxf(reach_y, 0.0))
	return aim.clamp(origin - free, origin + free + Vector2(0.0, _wall_height_m))


func _set_lens(fov_rad: float, distance: float) -> void:
	var reach: float = _size_m.length() * 0.5 + 6.0
	camera.fov = clampf(rad_to_deg(fov_rad), 1.0, 120.0)
	camera.keep_aspect = Camera3D.KEEP_HEIGHT
	camera.near = maxf(distance - reach, 0.2)
	# The ground around the arena continues until it is as dark as the backdrop.
	camera.far = distance + reach * 4.0
	shadow_reach_m = distance + reach


func _screen() -> Vector2:
	var size: Vector2 = get_viewport().get_visible_rect().size
	return size.max(Vector2.ONE)
