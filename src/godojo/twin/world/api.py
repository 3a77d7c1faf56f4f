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

from godojo.twin.world.classes import BASES


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


_V3, _F, _I, _B = "Vector3", "float", "int", "bool"
_UP, _ZERO = "Vector3(0.0, 1.0, 0.0)", "Vector3(0.0, 0.0, 0.0)"
METHODS: dict[tuple[str, str], Method] = {}
PROPERTIES: dict[tuple[str, str], Property] = {}
SIGNALS: dict[tuple[str, str], tuple[str, ...]] = {}
"""The types of the arguments of each native signal. A handler with a narrower type casts them."""


def _pure(cls: str, result: str, names: str, *params: str, prefix: str = "") -> None:
    for name in names.split():
        METHODS[cls, name] = Method(prefix + name, params, result, pure=True)


def _does(cls: str, names: str, *params: str, defaults: tuple[str, ...] = (), result: str = "null") -> None:
    for name in names.split():
        METHODS[cls, name] = Method(name, params, result, defaults=defaults)


def _fields(cls: str, kind: str, names: str, read_only: bool = False) -> None:
    for name in names.split():
        PROPERTIES[cls, name] = Property(kind, read_only=read_only)
        getter = f"is_{name}" if kind == _B else f"get_{name}"
        METHODS[cls, getter] = Method(f".{name}", (), kind, pure=True)
        if not read_only:
            METHODS[cls, f"set_{name}"] = Method(f".{name}=", (kind,))


def _moved(cls: str, kind: str, names: str) -> None:
    """Fields with a setter that reaches the physics."""
    for name in names.split():
        PROPERTIES[cls, name] = Property(kind, field=True, setter=f"set_{name}")
        METHODS[cls, f"set_{name}"] = Method(f"set_{name}", (kind,))
        METHODS[cls, f"get_{name}"] = Method(f".{name}", (), kind, pure=True)


def _computed(cls: str, kind: str, names: str) -> None:
    for name in names.split():
        PROPERTIES[cls, name] = Property(kind, field=False, getter=name, setter=f"set_{name}")
        METHODS[cls, f"set_{name}"] = Method(f"set_{name}", (kind,))
        METHODS[cls, f"get_{name}"] = Method(name, (), kind, pure=True)


# Node. Paths, children and groups are resolved from the snapshot by the compiler.
_pure("Node", "Ref[Node]", "get_parent")
_pure("Node", _B, "is_inside_tree is_node_ready")
_pure("Node", _F, "get_physics_process_delta_time get_process_delta_time")
_pure("Node", _B, "is_physics_processing is_processing")
_pure("Node", _I, "get_instance_id")
_pure("Node", _B, "is_ancestor_of", "Ref[Node]")
_does("Node", "set_physics_process set_process", _B)
_computed("Node", _I, "process_mode")

# Node3D
_moved("Node3D", "Transform3D", "transform")
_moved("Node3D", "Basis", "basis")
_moved("Node3D", _V3, "position")
_computed("Node3D", _V3, "rotation rotation_degrees scale")
_computed("Node3D", "Quaternion", "quaternion")
_computed("Node3D", "Transform3D", "global_transform")
_computed("Node3D", "Basis", "global_basis")
_computed("Node3D", _V3, "global_position global_rotation global_rotation_degrees")
_fields("Node3D", _B, "visible top_level")
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
for _name, _kind in {
    "from": _V3,
    "to": _V3,
    "collision_mask": _I,
    "collide_with_areas": _B,
    "collide_with_bodies": _B,
    "hit_from_inside": _B,
}.items():
    PROPERTIES["RayQuery", _name] = Property(_kind, setter=f"with_{_name}")
RAY_HIT = {"position": _V3, "normal": _V3, "collider": "Ref[CollisionObject3D]", "collider_id": _I, "shape": _I}
"""The keys of a hit, which are attributes here; `if hit:` and `hit.is_empty()` read its attribute `hit`."""
METHODS["CollisionObject3D", "get_rid"] = Method("rid", (), "RID", pure=True)

# CollisionObject3D and the bodies
_computed("CollisionObject3D", _I, "collision_layer collision_mask")
_pure("CollisionObject3D", _B, "get_collision_layer_value get_collision_mask_value", _I)
_does("CollisionObject3D", "set_collision_layer_value set_collision_mask_value", _I, _B)
_fields("StaticBody3D", _V3, "constant_linear_velocity constant_angular_velocity")
_computed("CollisionShape3D", _B, "disabled")
METHODS["PhysicsBody3D", "move_and_collide"] = Method(
    "move_and_collide",
    (_V3, _B, _F, _B, _I),
    "Ref[KinematicCollision3D]",
    defaults=("False", "0.001", "False", "1"),
)
METHODS["PhysicsBody3D", "test_move"] = Method("test_move", ("Transform3D", _V3), _B, pure=True)
_fields("CharacterBody3D", _V3, "velocity up_direction")
_fields("CharacterBody3D", _F, "floor_max_angle floor_snap_length safe_margin wall_min_slide_angle")
_fields("CharacterBody3D", _B, "floor_stop_on_slope floor_constant_speed floor_block_on_wall slide_on_ceiling")
_fields("CharacterBody3D", _I, "max_slides motion_mode platform_on_leave platform_floor_layers platform_wall_layers")
_does("CharacterBody3D", "move_and_slide", result=_B)
_does("CharacterBody3D", "apply_floor_snap")
_pure("CharacterBody3D", _B, "is_on_floor is_on_floor_only is_on_wall is_on_wall_only is_on_ceiling is_on_ceiling_only")
_pure("CharacterBody3D", _V3, "get_floor_normal get_wall_normal get_real_velocity get_last_motion get_position_delta")
_pure("CharacterBody3D", _V3, "get_platform_velocity get_gravity")
METHODS["CharacterBody3D", "get_floor_angle"] = Method("get_floor_angle", (_V3,), _F, pure=True, defaults=(_UP,))
_pure("CharacterBody3D", _I, "get_slide_collision_count")
_pure("CharacterBody3D", "Ref[KinematicCollision3D]", "get_slide_collision", _I)
_pure("CharacterBody3D", "Ref[KinematicCollision3D]", "get_last_slide_collision")
for _name in ("get_normal", "get_position"):
    METHODS["KinematicCollision3D", _name] = Method(f"collision_{_name}", (_I,), _V3, pure=True, defaults=("0",))
METHODS["KinematicCollision3D", "get_collider"] = Method(
    "collision_get_collider", (_I,), "Ref[CollisionObject3D]", pure=True, defaults=("0",)
)
METHODS["KinematicCollision3D", "get_angle"] = Method(
    "collision_get_angle", (_I, _V3), _F, pure=True, defaults=("0", _UP)
)
_pure("KinematicCollision3D", _V3, "get_travel get_remainder", prefix="collision_")
_pure("KinematicCollision3D", _F, "get_depth", prefix="collision_")
_pure("KinematicCollision3D", _I, "get_collision_count", prefix="collision_")

# RigidBody3D
_computed("RigidBody3D", _V3, "linear_velocity angular_velocity constant_force constant_torque")
_computed("RigidBody3D", _B, "sleeping")
_computed("RigidBody3D", _F, "gravity_scale")
PROPERTIES["RigidBody3D", "mass"] = Property(_F, field=False, getter="mass", read_only=True)
METHODS["RigidBody3D", "get_mass"] = Method("mass", (), _F, pure=True)
_fields("RigidBody3D", _B, "can_sleep lock_rotation contact_monitor")
_does("RigidBody3D", "apply_central_force apply_central_impulse apply_torque", _V3)
_does("RigidBody3D", "add_constant_central_force add_constant_torque", _V3)
_does("RigidBody3D", "apply_force", _V3, _V3, defaults=(_ZERO,))

# Area3D
_pure("Area3D", "Array[Ref[Node3D]]", "get_overlapping_bodies get_overlapping_areas")
_pure("Area3D", _B, "has_overlapping_bodies has_overlapping_areas")
_pure("Area3D", _B, "overlaps_body overlaps_area", "Ref[Node]")
_computed("Area3D", _B, "monitoring monitorable")
_fields("Area3D", _I, "gravity_space_override")
_fields("Area3D", _F, "gravity")
for _name in ("body_entered", "body_exited"):
    SIGNALS["Area3D", _name] = SIGNALS["RigidBody3D", _name] = ("Ref[Node3D]",)
for _name in ("area_entered", "area_exited"):
    SIGNALS["Area3D", _name] = ("Ref[Area3D]",)

# RayCast3D
_fields("RayCast3D", _V3, "target_position")
_fields("RayCast3D", _B, "enabled exclude_parent collide_with_areas collide_with_bodies hit_from_inside hit_back_faces")
_fields("RayCast3D", _I, "collision_mask")
_does("RayCast3D", "force_raycast_update")
_pure("RayCast3D", _B, "is_colliding")
METHODS["RayCast3D", "get_collider"] = Method("ray_collider", (), "Ref[CollisionObject3D]", pure=True)
_pure("RayCast3D", _V3, "get_collision_point get_collision_normal")
_pure("RayCast3D", _I, "get_collider_shape")

# Timer
_fields("Timer", _F, "wait_time")
_fields("Timer", _B, "one_shot paused autostart")
_fields("Timer", _F, "time_left", read_only=True)
METHODS["Timer", "start"] = Method("timer_start", (_F,), defaults=("-1.0",))
METHODS["Timer", "stop"] = Method("timer_stop")
METHODS["Timer", "is_stopped"] = Method("timer_is_stopped", (), _B, pure=True)
SIGNALS["Timer", "timeout"] = ()

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
    PointLight2D Polygon2D ReflectionProbe SpotLight3D Sprite2D Sprite3D SubViewport TextureRect VoxelGI
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
