class_name Lander
extends RigidBody3D
## The spacecraft: a rigid body with a hull and four feet, pushed by an engine and turned by jets.
##
## [member pose], [member velocity] and [member spin] are its state after the last physics tick; a
## craft that has touched the ground stays as it was when it did.

const TICKS_PER_SECOND := 90
const TICK_S := 1.0 / TICKS_PER_SECOND

var settings: LandingSettings = LandingSettings.load_defaults()
var pose := Transform3D.IDENTITY
var velocity := Vector3.ZERO
var spin := Vector3.ZERO
## Seconds of full thrust that are left.
var fuel_s: float = 0.0
## The thrust as a fraction of the greatest, in the craft's frame.
var thrust := Vector3.ZERO
## The torque in newton metres, in the craft's frame.
var torque := Vector3.ZERO
var has_landed: bool = false

var _is_pushed: bool = false


func _ready() -> void:
	collision_layer = 0
	collision_mask = LandingTerrain.LAYER
	center_of_mass_mode = RigidBody3D.CENTER_OF_MASS_MODE_CUSTOM
	linear_damp_mode = RigidBody3D.DAMP_MODE_REPLACE
	angular_damp_mode = RigidBody3D.DAMP_MODE_REPLACE
	contact_monitor = true
	max_contacts_reported = 1
	can_sleep = false
	freeze = true
	set_up(settings)


## Flies by [param new_settings] from now on.
func set_up(new_settings: LandingSettings) -> void:
	settings = new_settings
	var craft: LandingSettings.Craft = settings.craft
	mass = craft.mass_kg
	inertia = Vector3.ONE * craft.inertia_kgm2
	linear_damp = craft.linear_damp
	angular_damp = craft.angular_damp
	var usual_mps2: float = ProjectSettings.get_setting("physics/3d/default_gravity")
	gravity_scale = craft.gravity_mps2 / usual_mps2
	for old in find_children("*", "CollisionShape3D", false, false):
		remove_child(old)
		old.queue_free()
	_add_ball(Vector3.ZERO, craft.hull_radius_m)
	for foot in feet(craft):
		_add_ball(foot, craft.foot_radius_m)


## Where the feet's centres are, in the craft's frame.
static func feet(craft: LandingSettings.Craft) -> PackedVector3Array:
	var found := PackedVector3Array()
	for side: Vector2 in [Vector2(1, 1), Vector2(-1, 1), Vector2(1, -1), Vector2(-1, -1)]:
		var out: Vector2 = side * craft.foot_out_m
		found.append(Vector3(out.x, -craft.foot_down_m, out.y))
	return found


## Begins a flight here, upright, with a full tank.
func begin(at: Vector3, with_velocity: Vector3) -> void:
	pose = Transform3D(Basis.IDENTITY, at)
	velocity = with_velocity
	spin = Vector3.ZERO
	thrust = Vector3.ZERO
	torque = Vector3.ZERO
	fuel_s = settings.craft.fuel_s
	has_landed = false
	_is_pushed = false
	freeze = false
	global_transform = pose
	linear_velocity = velocity
	angular_velocity = spin
	reset_physics_interpolation()


## Applies forces for the coming physics tick.
func push() -> void:
	_is_pushed = true
	if fuel_s > 0.0:
		apply_central_force(pose.basis * (thrust * settings.craft.thrust_n))
	apply_torque(pose.basis * torque)


## Takes the state after the physics tick; false if there was none since the last call.
func settle() -> bool:
	if not _is_pushed:
		return false
	_is_pushed = false
	has_landed = get_contact_count() > 0
	if not has_landed:
		fuel_s = maxf(fuel_s - thrust.length() * TICK_S, 0.0)
		pose = global_transform
		velocity = linear_velocity
		spin = angular_velocity
	return true


## Of the tank that is left, from 0 to 1.
func fuel_left() -> float:
	return fuel_s / settings.craft.fuel_s if settings.craft.fuel_s > 0.0 else 0.0


## How far it is from the place where it stands on the pad.
func pad_distance() -> float:
	return pose.origin.distance_to(settings.pad())


func _add_ball(at: Vector3, radius_m: float) -> void:
	var ball := SphereShape3D.new()
	ball.radius = radius_m
	var shape := CollisionShape3D.new()
	shape.shape = ball
	shape.position = at
	add_child(shape)
