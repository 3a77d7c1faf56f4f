class_name NavigationRig
extends XROrigin3D
## Origin, camera and controllers of a person in a headset, who walks with the thumbsticks.
##
## Without a headset a mock moves the same nodes: the head leans and the hands swing as the walker's
## do. The rules see the walker only, so both walk alike.

const DEAD_ZONE := 0.15
## A walker that is this much farther on has teleported: the view goes dark and opens again.
const JUMP_M := 0.5
const BLINK := 2.0
## How fast the view narrows and opens, as shares of the way in a tick.
const NARROWS := 0.25
const OPENS := 0.06
## Hands are drawn this much higher and farther ahead than the controllers are, so that a camera
## that does not look down sees them.
const RAISED := Vector3(0.0, 0.16, -0.3)

## How strongly the edge of the view is darkened, from 0 to 1; beyond it all of the view is dark.
var vignette: float = 0.0

var _has_headset: bool = false
var _is_cut: bool = true

@onready var camera: XRCamera3D = $Camera
@onready var left: XRController3D = $Left
@onready var right: XRController3D = $Right
@onready var _shade: MeshInstance3D = $Camera/Vignette


func _ready() -> void:
	for controller: XRController3D in [left, right]:
		var hand: Node3D = WalkerLook.new_hand()
		hand.position = RAISED
		controller.add_child(hand)


## Looks for a headset if [param wants_xr]; without one the mock takes its place.
func start(wants_xr: bool) -> void:
	if not wants_xr:
		return
	var interface: XRInterface = XRServer.find_interface("OpenXR")
	if interface == null or not interface.initialize():
		print("Godojo: there is no headset; a mock rig takes its place")
		return
	_has_headset = true
	get_viewport().use_xr = true


## Whether a person wears it; else its nodes are a mock's.
func has_headset() -> bool:
	return _has_headset


## Whether one looks through its eyes, past its hands.
func show_view(is_seen: bool) -> void:
	for part: Node3D in [left, right, _shade]:
		part.visible = is_seen


## What the thumbsticks, the keys or a gamepad ask for: strafe, forward, rotate.
func wanted() -> Vector3:
	var move: Vector2 = left.get_vector2(&"primary")
	var turn: float = right.get_vector2(&"primary").x
	move.x += _keys(KEY_A, KEY_D) + _axis(JOY_AXIS_LEFT_X)
	move.y += _keys(KEY_S, KEY_W) - _axis(JOY_AXIS_LEFT_Y)
	turn += _keys(KEY_Q, KEY_E) + _keys(KEY_LEFT, KEY_RIGHT) + _axis(JOY_AXIS_RIGHT_X)
	move.y += _keys(KEY_DOWN, KEY_UP)
	return Vector3(clampf(move.x, -1.0, 1.0), clampf(move.y, -1.0, 1.0), clampf(turn, -1.0, 1.0))


## How far the trigger, the space bar or a gamepad's button is pulled to teleport.
func trigger() -> float:
	var pressed: bool = Input.is_physical_key_pressed(KEY_SPACE)
	pressed = pressed or Input.is_joy_button_pressed(0, JOY_BUTTON_A)
	return maxf(float(pressed), right.get_float(&"trigger"))


## Goes where the walker of [param world] is, [param ticks] after the last time.
func follow(world: NavigationWorld, ticks: float = 1.0) -> void:
	var walker: Walker = world.walker
	if not _is_cut and position.distance_to(walker.feet()) > JUMP_M:
		vignette = BLINK
		reset_physics_interpolation.call_deferred()
	_is_cut = false
	transform = Transform3D(Basis(Vector3.UP, walker.yaw_rad), walker.feet())
	if not _has_headset:
		camera.position = Vector3.UP * world.settings.rig.eye_height_m
		camera.rotation = Vector3(0.0, 0.0, walker.roll_rad)
		left.position = walker.hands[0]
		right.position = walker.hands[1]
	_darken(world, ticks)


## The next place has nothing to do with the last one.
func cut() -> void:
	vignette = 0.0
	_is_cut = true
	reset_physics_interpolation()


## Turning and speed narrow the view, which keeps people from getting sick; it opens again slowly.
func _darken(world: NavigationWorld, ticks: float) -> void:
	var walker: Walker = world.walker
	var speed_mps: float = Vector2(walker.velocity.x, walker.velocity.z).length()
	var comfort: NavigationSettings.Comfort = world.settings.comfort
	var fast: float = speed_mps / world.settings.motion.speed_mps - comfort.speed_share
	var turning: float = absf(walker.smoothed[2])
	var wanted_share: float = clampf(maxf(turning * 0.9, fast * 3.0), 0.0, 1.0)
	show_vignette(narrowed(vignette, wanted_share, ticks))


## Darkens the edge of the view this strongly.
func show_vignette(strength: float) -> void:
	vignette = strength
	(_shade.material_override as ShaderMaterial).set_shader_parameter(&"strength", strength)


## How far the view is narrowed [param ticks] sixtieths of a second later, on its way from
## [param share] to [param wanted_share].
static func narrowed(share: float, wanted_share: float, ticks: float) -> float:
	var rate: float = NARROWS if wanted_share > share else OPENS
	return lerpf(wanted_share, share, pow(1.0 - rate, ticks))


static func _keys(less: Key, more: Key) -> float:
	return float(Input.is_physical_key_pressed(more)) - float(Input.is_physical_key_pressed(less))


static func _axis(axis: JoyAxis) -> float:
	var pushed: float = Input.get_joy_axis(0, axis)
	return pushed if absf(pushed) > DEAD_ZONE else 0.0
