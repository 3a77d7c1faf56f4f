"""What scripts may call on Godot's nodes, and how generated code writes it.

A method becomes a function of its receiver: `body.move_and_slide()` is `move_and_slide(body)`. A property is an
attribute where it is a plain field (`body.velocity`); otherwise it has a getter and a setter, such as
`global_position(body)` and `set_global_position(body, value)`. Whatever moves a node is a setter: it must reach the
physics. Methods of singletons (`Engine`, `SceneTree`, …) take any node of the world as their receiver: `self`.

Nodes and their class: `is_instance(node, Player)` and `cast(node, Player)` (null if it is none), with the class as a
global of the generated module; `is_null(node)`, `null(Player)`, and `==` of two nodes. The world's own generator of
random numbers is `world_random(self)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from godojo.twin.world.classes import BASES, PARTICLES


@dataclass(frozen=True)
class Method:
    """A method: the function that stands for it, the types of its arguments, and of its result."""

    python: str
    """A function's name; `.name` reads an attribute of the receiver, and `.name=` writes it."""
    params: tuple[str, ...] = ()
    result: str = "null"
    pure: bool = False
    """Changes nothing: a call whose result is not used can be left out."""
    defaults: tuple[str, ...] = ()
    """The Python of the last arguments where a call omits them."""


@dataclass(frozen=True)
class Property:
    """A property: an attribute of the same name if it is a field, otherwise a getter; a setter where it is needed."""

    type: str
    field: bool = True
    getter: str = ""
    setter: str = ""
    """The function that writes it; a field without one is written as an attribute."""
    read_only: bool = False


_V2, _V3, _F, _I, _B = "Vector2", "Vector3", "float", "int", "bool"
_UP, _ZERO = "Vector3(0.0, 1.0, 0.0)", "Vector3(0.0, 0.0, 0.0)"
METHODS: dict[tuple[str, str], Method] = {}
PROPERTIES: dict[tuple[str, str], Property] = {}
SIGNALS: dict[tuple[str, str], tuple[str, ...]] = {}
"""The types of the arguments of each native signal. A handler with a narrower type casts them."""


def _pure(cls: str, result: str, names: str, *params: str, prefix: str = "", suffix: str = "") -> None:
    for name in names.split():
        METHODS[cls, name] = Method(prefix + name + suffix, params, result, pure=True)


def _does(
    cls: str, names: str, *params: str, defaults: tuple[str, ...] = (), result: str = "null", suffix: str = ""
) -> None:
    for name in names.split():
        METHODS[cls, name] = Method(name + suffix, params, result, defaults=defaults)


def _fields(cls: str, kind: str, names: str, read_only: bool = False) -> None:
    for name in names.split():
        PROPERTIES[cls, name] = Property(kind, read_only=read_only)
        getter = f"is_{name}" if kind == _B else f"get_{name}"
        METHODS[cls, getter] = Method(f".{name}", (), kind, pure=True)
        if not read_only:
            METHODS[cls, f"set_{name}"] = Method(f".{name}=", (kind,))


def _moved(cls: str, kind: str, names: str, suffix: str = "") -> None:
    """Fields with a setter that reaches the physics."""
    for name in names.split():
        PROPERTIES[cls, name] = Property(kind, field=True, setter=f"set_{name}{suffix}")
        METHODS[cls, f"set_{name}"] = Method(f"set_{name}{suffix}", (kind,))
        METHODS[cls, f"get_{name}"] = Method(f".{name}", (), kind, pure=True)


def _computed(cls: str, kind: str, names: str, suffix: str = "") -> None:
    for name in names.split():
        PROPERTIES[cls, name] = Property(kind, field=False, getter=name + suffix, setter=f"set_{name}{suffix}")
        METHODS[cls, f"set_{name}"] = Method(f"set_{name}{suffix}", (kind,))
        METHODS[cls, f"get_{name}"] = Method(name + suffix, (), kind, pure=True)


# Node. Paths, children and groups are resolved from the snapshot by the compiler.
_pure("Node", "Ref[Node]", "get_parent")
_pure("Node", _B, "is_inside_tree is_node_ready")
_pure("Node", _F, "get_physics_process_delta_time get_process_delta_time")
_pure("Node", _B, "is_physics_processing is_processing")
_pure("Node", _I, "get_instance_id")
_pure("Node", _B, "is_ancestor_of", "Ref[Node]")
_pure("Node", _B, "is_queued_for_deletion")
_does("Node", "set_physics_process set_process", _B)
_computed("Node", _I, "process_mode")

# Node3D
_computed("Node3D", "Transform3D", "transform")
_computed("Node3D", "Basis", "basis")
_moved("Node3D", _V3, "position")
_computed("Node3D", _V3, "rotation rotation_degrees scale")
_computed("Node3D", "Quaternion", "quaternion")
_computed("Node3D", "Transform3D", "global_transform")
_computed("Node3D", "Basis", "global_basis")
_computed("Node3D", _V3, "global_position global_rotation global_rotation_degrees")
_fields("Node3D", _B, "visible")
PROPERTIES["Node3D", "top_level"] = Property(_B, setter="set_top_level")
METHODS["Node3D", "set_as_top_level"] = Method("set_top_level", (_B,))
METHODS["Node3D", "is_set_as_top_level"] = Method(".top_level", (), _B, pure=True)
_pure("Node3D", _V3, "to_local to_global", _V3)
_does("Node3D", "rotate_x rotate_y rotate_z", _F)
_does("Node3D", "rotate rotate_object_local global_rotate", _V3, _F)
_does("Node3D", "translate translate_object_local global_translate scale_object_local", _V3)
_does("Node3D", "orthonormalize set_identity show hide force_update_transform")
METHODS["Node3D", "is_visible"] = METHODS["Node3D", "is_visible_in_tree"] = Method(".visible", (), _B, pure=True)
METHODS["Node3D", "look_at"] = Method("look_at", (_V3, _V3, _B), defaults=(_UP, "False"))
METHODS["Node3D", "look_at_from_position"] = Method(
    "look_at_from_position", (_V3, _V3, _V3, _B), defaults=(_UP, "False")
)
METHODS["Node3D", "get_parent_node_3d"] = Method("parent_node_3d", (), "Ref[Node3D]", pure=True)
METHODS["Node3D", "get_world_3d"] = Method("world_3d", (), "World3D", pure=True)
PROPERTIES["World3D", "direct_space_state"] = Property("PhysicsDirectSpaceState3D", field=False, getter="space_state")

# Rays in code. A query is a value: `query.collide_with_areas = true` is `query = with_collide_with_areas(query, True)`.
METHODS["PhysicsRayQueryParameters3D", "create"] = Method(
    "ray_query", (_V3, _V3, _I, "Array[RID]"), "RayQuery", pure=True, defaults=("4294967295", "()")
)
"""Static. The list of excluded bodies is a tuple of nodes, at most four."""
METHODS["PhysicsDirectSpaceState3D", "intersect_ray"] = Method("intersect_ray", ("RayQuery",), "RayHit", pure=True)
for _query, _vector in (("RayQuery", _V3), ("RayQuery2D", _V2)):
    for _name in ("from", "to"):
        PROPERTIES[_query, _name] = Property(_vector, setter=f"with_{_name}")
    PROPERTIES[_query, "collision_mask"] = Property(_I, setter="with_collision_mask")
    for _name in ("collide_with_areas", "collide_with_bodies", "hit_from_inside"):
        PROPERTIES[_query, _name] = Property(_B, setter=f"with_{_name}")
RAY_HITS = {
    f"RayHit{dimension}": {
        "position": vector,
        "normal": vector,
        "collider": f"Ref[CollisionObject{dimension or '3D'}]",
        "collider_id": _I,
        "shape": _I,
    }
    for dimension, vector in (("", _V3), ("2D", _V2))
}
"""The keys of a hit, which are attributes here; `if hit:` and `hit.is_empty()` read its attribute `hit`."""

# CollisionObject3D and the bodies
_fields("StaticBody3D", _V3, "constant_linear_velocity constant_angular_velocity")
METHODS["PhysicsBody3D", "move_and_collide"] = Method(
    "move_and_collide",
    (_V3, _B, _F, _B, _I),
    "Ref[KinematicCollision3D]",
    defaults=("False", "0.001", "False", "1"),
)
_pure("CharacterBody3D", _V3, "get_position_delta get_gravity")
_pure("CharacterBody3D", "Ref[KinematicCollision3D]", "get_slide_collision", _I)
_pure("CharacterBody3D", "Ref[KinematicCollision3D]", "get_last_slide_collision")
METHODS["PhysicsBody3D", "test_move"] = Method("test_move", ("Transform3D", _V3), _B, pure=True)
for _name in ("get_normal", "get_position"):
    METHODS["KinematicCollision3D", _name] = Method(f"collision_{_name}", (_I,), _V3, pure=True, defaults=("0",))
METHODS["KinematicCollision3D", "get_collider"] = Method(
    "collision_get_collider", (_I,), "Ref[CollisionObject3D]", pure=True, defaults=("0",)
)
METHODS["KinematicCollision3D", "get_angle"] = Method(
    "collision_get_angle", (_I, _V3), _F, pure=True, defaults=("0", _UP)
)
_pure("KinematicCollision3D", _I, "get_collision_count", prefix="collision_")

# RigidBody3D
_computed("RigidBody3D", _V3, "linear_velocity angular_velocity constant_force constant_torque")
_does("RigidBody3D", "apply_central_force apply_central_impulse apply_torque apply_torque_impulse", _V3)
_does("RigidBody3D", "add_constant_central_force add_constant_torque set_axis_velocity", _V3)
_does("RigidBody3D", "apply_force apply_impulse add_constant_force", _V3, _V3, defaults=(_ZERO,))
_pure("RigidBody3D", "Array[Ref[Node3D]]", "get_colliding_bodies")
_pure("RigidBody3D", _I, "get_contact_count")
_computed("RigidBody3D", _B, "sleeping can_sleep freeze lock_rotation")
for _name in ("freeze", "lock_rotation"):
    METHODS["RigidBody3D", f"set_{_name}_enabled"] = METHODS["RigidBody3D", f"set_{_name}"]
    METHODS["RigidBody3D", f"is_{_name}_enabled"] = METHODS["RigidBody3D", f"get_{_name}"]
METHODS["RigidBody3D", "is_sleeping"] = METHODS["RigidBody3D", "get_sleeping"]
METHODS["RigidBody3D", "is_able_to_sleep"] = METHODS["RigidBody3D", "get_can_sleep"]
_fields("RigidBody3D", _B, "contact_monitor", read_only=True)
_fields("RigidBody3D", _I, "max_contacts_reported freeze_mode", read_only=True)

# What `_integrate_forces` gets: the body, as the physics has it.
_STATE = "PhysicsDirectBodyState3D"
for _name, _kind in (("transform", "Transform3D"), ("linear_velocity", _V3), ("angular_velocity", _V3)):
    _setter = "set_state_transform" if _name == "transform" else f"set_{_name}"
    PROPERTIES[_STATE, _name] = Property(_kind, field=False, getter=f"state_{_name}", setter=_setter)
    METHODS[_STATE, f"get_{_name}"] = Method(f"state_{_name}", (), _kind, pure=True)
    METHODS[_STATE, f"set_{_name}"] = Method(_setter, (_kind,))
for _name, _kind in (("inverse_mass", _F), ("total_gravity", _V3)):
    PROPERTIES[_STATE, _name] = Property(_kind, field=False, getter=f"state_{_name}", read_only=True)
    METHODS[_STATE, f"get_{_name}"] = Method(f"state_{_name}", (), _kind, pure=True)
PROPERTIES[_STATE, "step"] = Property(_F, field=False, getter="get_physics_process_delta_time", read_only=True)
METHODS[_STATE, "get_step"] = Method("get_physics_process_delta_time", (), _F, pure=True)

# Vehicles
_computed("VehicleBody3D", _F, "engine_force brake steering")
for _name in ("engine_force", "brake", "steering"):
    PROPERTIES["VehicleWheel3D", _name] = Property(
        _F, field=False, getter=f"wheel_{_name}", setter=f"set_wheel_{_name}"
    )
PROPERTIES["VehicleWheel3D", "wheel_friction_slip"] = Property(
    _F, field=False, getter="wheel_friction_slip", setter="set_wheel_friction_slip"
)
_pure("VehicleWheel3D", _F, "get_rpm get_skidinfo", prefix="wheel_")
_pure("VehicleWheel3D", _V3, "get_contact_point get_contact_normal", prefix="wheel_")
_pure("VehicleWheel3D", _B, "is_in_contact", prefix="wheel_")
_pure("VehicleWheel3D", "Ref[Node3D]", "get_contact_body", prefix="wheel_")

# RayCast3D
_fields("RayCast3D", _B, "hit_back_faces")

# 2D. Functions of 2D alone end in `_2d`.
_UP_2D, _ZERO_2D = "Vector2(0.0, -1.0)", "Vector2(0.0, 0.0)"
_moved("Node2D", "Transform2D", "transform", suffix="_2d")
_moved("Node2D", _V2, "position", suffix="_2d")
_computed("Node2D", _V2, "scale global_position", suffix="_2d")
_computed("Node2D", _F, "rotation rotation_degrees skew global_rotation global_rotation_degrees", suffix="_2d")
_computed("Node2D", "Transform2D", "global_transform", suffix="_2d")
PROPERTIES["Node2D", "global_scale"] = Property(_V2, field=False, getter="global_scale_2d", read_only=True)
_fields("Node2D", _B, "visible top_level")
_pure("Node2D", _V2, "to_local to_global", _V2, suffix="_2d")
_pure("Node2D", _F, "get_angle_to", _V2)
_does("Node2D", "rotate", _F, suffix="_2d")
_does("Node2D", "translate global_translate apply_scale look_at", _V2, suffix="_2d")
_does("Node2D", "move_local_x move_local_y", _F, _B, defaults=("False",))
_does("Node2D", "show hide", suffix="_2d")
_does("Node2D", "force_update_transform")
METHODS["Node2D", "is_visible"] = METHODS["Node2D", "is_visible_in_tree"] = Method(".visible", (), _B, pure=True)
METHODS["Node2D", "get_world_2d"] = Method("world_2d", (), "World2D", pure=True)
PROPERTIES["World2D", "direct_space_state"] = Property("PhysicsDirectSpaceState2D", field=False, getter="space_state")
METHODS["PhysicsRayQueryParameters2D", "create"] = Method(
    "ray_query", (_V2, _V2, _I, "Array[RID]"), "RayQuery2D", pure=True, defaults=("4294967295", "()")
)
METHODS["PhysicsDirectSpaceState2D", "intersect_ray"] = Method(
    "intersect_ray_2d", ("RayQuery2D",), "RayHit2D", pure=True
)
_fields("StaticBody2D", _V2, "constant_linear_velocity")
_fields("StaticBody2D", _F, "constant_angular_velocity")
METHODS["PhysicsBody2D", "move_and_collide"] = Method(
    "move_and_collide_2d", (_V2, _B, _F, _B), "Ref[KinematicCollision2D]", defaults=("False", "0.08", "False")
)
METHODS["PhysicsBody2D", "test_move"] = Method("test_move_2d", ("Transform2D", _V2), _B)
_pure("CharacterBody2D", _V2, "get_position_delta get_gravity", suffix="_2d")
_pure("CharacterBody2D", "Ref[KinematicCollision2D]", "get_slide_collision", _I, suffix="_2d")
_pure("CharacterBody2D", "Ref[KinematicCollision2D]", "get_last_slide_collision", suffix="_2d")
_pure("KinematicCollision2D", _V2, "get_normal get_position", prefix="collision_", suffix="_2d")
_pure("KinematicCollision2D", _V2, "get_collider_velocity", prefix="collision_")
_pure("KinematicCollision2D", "Ref[CollisionObject2D]", "get_collider", prefix="collision_", suffix="_2d")
METHODS["KinematicCollision2D", "get_angle"] = Method(
    "collision_get_angle_2d", (_V2,), _F, pure=True, defaults=(_UP_2D,)
)
_computed("CollisionPolygon2D", _B, "disabled")
_computed("RigidBody2D", _V2, "linear_velocity constant_force", suffix="_2d")
_computed("RigidBody2D", _F, "angular_velocity constant_torque", suffix="_2d")
_computed("RigidBody2D", _B, "sleeping", suffix="_2d")
_fields("RigidBody2D", _B, "can_sleep lock_rotation contact_monitor")
_does("RigidBody2D", "apply_central_force apply_central_impulse", _V2, suffix="_2d")
_does("RigidBody2D", "apply_torque apply_torque_impulse", _F, suffix="_2d")
_does("RigidBody2D", "apply_force apply_impulse", _V2, _V2, defaults=(_ZERO_2D,), suffix="_2d")


def _declare_bodies(dimension: str, vector: str, up: str) -> None:
    """What 2D and 3D share."""
    body, shape, character = f"CollisionObject{dimension}", f"CollisionShape{dimension}", f"CharacterBody{dimension}"
    collision, rigid, area = f"KinematicCollision{dimension}", f"RigidBody{dimension}", f"Area{dimension}"
    ray, node = f"RayCast{dimension}", f"Ref[Node{dimension}]"
    METHODS[body, "get_rid"] = Method("rid", (), "RID", pure=True)
    _computed(body, _I, "collision_layer collision_mask")
    _pure(body, _B, "get_collision_layer_value get_collision_mask_value", _I)
    _does(body, "set_collision_layer_value set_collision_mask_value", _I, _B)
    _computed(shape, _B, "disabled")
    _fields(character, vector, "velocity up_direction")
    _fields(character, _F, "floor_max_angle floor_snap_length safe_margin wall_min_slide_angle")
    _fields(character, _B, "floor_stop_on_slope floor_constant_speed floor_block_on_wall slide_on_ceiling")
    _fields(character, _I, "max_slides motion_mode platform_on_leave platform_floor_layers platform_wall_layers")
    _does(character, "move_and_slide", result=_B)
    _does(character, "apply_floor_snap")
    _pure(character, _B, "is_on_floor is_on_floor_only is_on_wall is_on_wall_only is_on_ceiling is_on_ceiling_only")
    _pure(character, vector, "get_floor_normal get_wall_normal get_real_velocity get_last_motion get_platform_velocity")
    METHODS[character, "get_floor_angle"] = Method("get_floor_angle", (vector,), _F, pure=True, defaults=(up,))
    _pure(character, _I, "get_slide_collision_count")
    _pure(collision, vector, "get_travel get_remainder", prefix="collision_")
    _pure(collision, _F, "get_depth", prefix="collision_")
    _computed(rigid, _F, "gravity_scale")
    PROPERTIES[rigid, "mass"] = Property(_F, field=False, getter="mass", read_only=True)
    METHODS[rigid, "get_mass"] = Method("mass", (), _F, pure=True)
    _pure(area, f"Array[{node}]", "get_overlapping_bodies get_overlapping_areas")
    _pure(area, _B, "has_overlapping_bodies has_overlapping_areas")
    _pure(area, _B, "overlaps_body overlaps_area", "Ref[Node]")
    _computed(area, _B, "monitoring monitorable")
    _fields(area, _I, "gravity_space_override")
    _fields(area, _F, "gravity")
    for name in ("body_entered", "body_exited"):
        SIGNALS[area, name] = SIGNALS[rigid, name] = (node,)
    for name in ("area_entered", "area_exited"):
        SIGNALS[area, name] = (f"Ref[{area}]",)
    for name in ("entered", "exited"):
        SIGNALS[area, f"body_shape_{name}"] = ("RID", node, _I, _I)
        SIGNALS[area, f"area_shape_{name}"] = ("RID", f"Ref[{area}]", _I, _I)
    _fields(ray, vector, "target_position")
    _fields(ray, _B, "enabled exclude_parent collide_with_areas collide_with_bodies hit_from_inside")
    _fields(ray, _I, "collision_mask")
    _does(ray, "force_raycast_update")
    _pure(ray, _B, "is_colliding")
    METHODS[ray, "get_collider"] = Method("ray_collider", (), f"Ref[{body}]", pure=True)
    _pure(ray, vector, "get_collision_point get_collision_normal")
    _pure(ray, _I, "get_collider_shape")


_declare_bodies("3D", _V3, _UP)
_declare_bodies("2D", _V2, _UP_2D)

# Timer
_fields("Timer", _F, "wait_time")
_fields("Timer", _B, "one_shot paused autostart")
_fields("Timer", _F, "time_left", read_only=True)
METHODS["Timer", "start"] = Method("timer_start", (_F,), defaults=("-1.0",))
METHODS["Timer", "stop"] = Method("timer_stop")
METHODS["Timer", "is_stopped"] = Method("timer_is_stopped", (), _B, pure=True)
SIGNALS["Timer", "timeout"] = ()

# Particles: only that they begin, which draws a random number.
for _name in PARTICLES:
    _computed(_name, _B, "emitting")
    METHODS[_name, "is_emitting"] = Method("emitting", (), _B, pure=True)
    METHODS[_name, "restart"] = Method("restart_particles", (_B,), defaults=("False",))

# Singletons: the receiver is any node of the world.
METHODS["Engine", "get_physics_frames"] = Method("physics_frames", (), _I, pure=True)
METHODS["Engine", "get_process_frames"] = Method("physics_frames", (), _I, pure=True)
PROPERTIES["Engine", "physics_ticks_per_second"] = Property(_I, field=False, getter="ticks_per_second", read_only=True)
PROPERTIES["Engine", "time_scale"] = Property(_F, field=False, getter="time_scale", read_only=True)
METHODS["Engine", "is_editor_hint"] = Method("never", (), _B, pure=True)
METHODS["Time", "get_ticks_msec"] = Method("ticks_msec", (), _I, pure=True)
METHODS["Time", "get_ticks_usec"] = Method("ticks_usec", (), _I, pure=True)

# DojoAgent, of our own addon
METHODS["DojoAgent", "add_reward"] = Method("add_reward", (_F, "String"), defaults=("-1",))
METHODS["DojoAgent", "end_episode"] = Method("end_episode", (_B,), defaults=("False",))
METHODS["DojoAgent", "truncate_episode"] = Method("truncate_episode")
METHODS["DojoAgent", "is_over"] = Method("is_over", (), _B, pure=True)
_fields("DojoAgent", _F, "score")
_fields("DojoAgent", _I, "max_ticks")
_fields("DojoAgent", _B, "ends_world")
PROPERTIES["DojoAgent", "chance"] = Property("RandomNumberGenerator", read_only=True)

IGNORED_CLASSES = frozenset(
    """AnimatedSprite2D AnimatedSprite3D AnimationPlayer AnimationTree AudioListener3D AudioStreamPlayer
    AudioStreamPlayer2D AudioStreamPlayer3D CPUParticles2D CPUParticles3D Camera2D Camera3D CanvasLayer CanvasModulate
    Control DirectionalLight2D DirectionalLight3D FogVolume GPUParticles2D GPUParticles3D GPUTrail3D Label3D Light3D
    LightmapGI Line2D MeshInstance2D MeshInstance3D MultiMeshInstance3D OmniLight3D Parallax2D ParallaxBackground
    PointLight2D Polygon2D ReflectionProbe SpotLight3D SpringArm3D Sprite2D Sprite3D SubViewport TextureRect VoxelGI
    WorldEnvironment""".split()  # noqa: SIM905 - easier to read than a list
)
"""Native classes that only draw or sound: calls on them are left out and listed. All of `Control` is among them."""
IGNORED_METHODS = frozenset(
    """queue_redraw set_color set_material set_surface_override_material set_material_override print_tree
    reset_physics_interpolation set_meta update_gizmos set_editable_instance set_owner set_name""".split()  # noqa: SIM905 - the same
)
"""Methods of any node that cannot change the game's state."""


def ancestors(native_class: str) -> list[str]:
    """The class and everything it inherits, nearest first; a class that is not known is a plain `Node`."""
    found = [native_class]
    while found[-1] in BASES:
        found.append(BASES[found[-1]])
    return found


def find_method(native_class: str, name: str) -> Method | None:
    """The method, looked up along the hierarchy."""
    return next((METHODS[one, name] for one in ancestors(native_class) if (one, name) in METHODS), None)


def find_property(native_class: str, name: str) -> Property | None:
    """The property, looked up along the hierarchy."""
    return next((PROPERTIES[one, name] for one in ancestors(native_class) if (one, name) in PROPERTIES), None)


def find_signal(native_class: str, name: str) -> tuple[str, ...] | None:
    """The types of a native signal's arguments."""
    return next((SIGNALS[one, name] for one in ancestors(native_class) if (one, name) in SIGNALS), None)


def is_ignored(native_class: str) -> bool:
    """Whether nodes of this class only draw or sound."""
    return any(one in IGNORED_CLASSES for one in ancestors(native_class))
