"""Godot's classes that a twin knows: what each inherits, and the fields of its nodes in a world's memory."""

from __future__ import annotations

import numpy as np

from godojo.twin.physics.space import CHARACTER, MOST_REPORTS, MOTION, Space, Statics
from godojo.twin.physics_2d import space as flat

_TREE = """
Node: Node3D CanvasItem Timer DojoAgent AnimationPlayer AnimationMixer AudioStreamPlayer CanvasLayer Viewport
    WorldEnvironment HTTPRequest
Node3D: CollisionObject3D CollisionShape3D CollisionPolygon3D RayCast3D ShapeCast3D Marker3D VisualInstance3D
    Camera3D Skeleton3D AudioStreamPlayer3D AudioListener3D Path3D PathFollow3D SpringArm3D RemoteTransform3D
    GridMap Joint3D BoneAttachment3D VehicleWheel3D NavigationAgent3D XRNode3D
CollisionObject3D: PhysicsBody3D Area3D
PhysicsBody3D: StaticBody3D CharacterBody3D RigidBody3D
StaticBody3D: AnimatableBody3D
RigidBody3D: VehicleBody3D PhysicsDirectBodyState3D
VisualInstance3D: GeometryInstance3D Light3D ReflectionProbe VoxelGI LightmapGI FogVolume VisibleOnScreenNotifier3D
    Decal GPUParticlesCollision3D
GeometryInstance3D: MeshInstance3D MultiMeshInstance3D CSGShape3D Label3D SpriteBase3D GPUParticles3D
    CPUParticles3D SoftBody3D
CSGShape3D: CSGPrimitive3D CSGCombiner3D
CSGPrimitive3D: CSGBox3D CSGSphere3D CSGCylinder3D CSGMesh3D CSGPolygon3D CSGTorus3D
SpriteBase3D: Sprite3D AnimatedSprite3D
Light3D: OmniLight3D SpotLight3D DirectionalLight3D
CanvasItem: Node2D Control
Node2D: CollisionObject2D CollisionShape2D CollisionPolygon2D RayCast2D ShapeCast2D Marker2D Camera2D Sprite2D
    AnimatedSprite2D AudioStreamPlayer2D Line2D Polygon2D TileMapLayer TileMap Parallax2D ParallaxBackground
    CPUParticles2D GPUParticles2D Light2D MeshInstance2D Path2D PathFollow2D CanvasModulate NavigationAgent2D
CollisionObject2D: PhysicsBody2D Area2D
PhysicsBody2D: StaticBody2D CharacterBody2D RigidBody2D
StaticBody2D: AnimatableBody2D
World: World2D
Light2D: PointLight2D DirectionalLight2D
AnimationMixer: AnimationTree
Viewport: SubViewport Window
Control: Label Button Container ColorRect TextureRect Range RichTextLabel Panel SubViewportContainer
Range: ProgressBar HSlider
"""
BASES: dict[str, str] = {
    child: base
    for line in _TREE.replace("\n    ", " ").strip().splitlines()
    for base, _, children in [line.partition(": ")]
    for child in children.split()
}
"""What each class inherits; a class that is missing here is a plain `Node`."""

_COLLISION_OBJECT = {
    "body": "int32",
    "active_kind": "int32",
    "disabled_kind": "int32",
    "has_exits": "int32",
}
"""The body, what it is while its node is active and while it is disabled, and whether its exits call anything."""
MOST_TERMS = 16
"""Room for the reward terms of a `DojoAgent`."""
MOST_OVERLAPS = 32
"""Room for the list that `Area3D.get_overlapping_bodies` returns."""
_ARRAYS = {f"{name}_{what}": "int" for name in Space._fields for what in ("at", "count")}
"""Where the arrays of the physics are: those of `Statics` at an address, a world's own at an offset of its row."""

PARTICLES = ("GPUParticles3D", "GPUParticles2D", "CPUParticles3D", "CPUParticles2D")
"""Particles draw a random number when they begin: what is drawn later depends on it."""
_PARTICLES = {
    "one_shot": "bool",
    "use_fixed_seed": "bool",
    "emitting_field": "bool",
    "is_active": "bool",
    "lifetime": "float",
    "explosiveness": "float",
    "emitted_s": "float",
}
FIELDS: dict[str, dict[str, str]] = {
    "World": {
        "state": "uint64",
        "increment": "uint64",
        "error": "int32",
        "body_nodes_at": "int32",
        "body_count": "int32",
        "ticks": "int",
        "round_ticks": "int",
        "gravity": "Vector3",
        "ticks_per_second": "int32",
        "moves": "int32",
        "delta": "float",
        "room": "bytes:64",
        "calls_at": "int",
        "rigid_calls_at": "int",
        "query_from": "Vector3",
        "query_to": "Vector3",
        "query_position": "Vector3",
        "query_normal": "Vector3",
        "query_mask": "int",
        "query_bodies": "bool",
        "query_areas": "bool",
        "query_inside": "bool",
        "query_body": "int32",
        "query_shape": "int32",
        "query_margin": "float",
        "query_count": "int",
        "pristine_at": "int",
        "phase": "int32",
        "freed": "int32",
        "made": "int32",
        "first_queued": "Ref[Node]",
        "last_queued": "Ref[Node]",
        "room_at": "Ref[Node]",
        **_ARRAYS,
    },
    "Node": {
        "class_id": "int32",
        "parent": "Ref[Node]",
        "node_index": "int32",
        "subtree_end": "int32",
        "first_body": "int32",
        "end_body": "int32",
        "flags": "int32",
        "process_mode_field": "int32",
        "tree_bits": "int32",
        "tree_stamp": "int32",
        "pool": "Ref[NodePool]",
        "first_child": "Ref[Node]",
        "last_child": "Ref[Node]",
        "next_sibling": "Ref[Node]",
        "first_added": "Ref[Node]",
        "next_queued": "Ref[Node]",
    },
    "NodePool": {
        "first": "Ref[Node]",
        "room": "Ref[Node]",
        "slots": "int32",
        "stride": "int32",
        "number": "int32",
        "most_used": "int32",
    },
    "Node3D": {
        "basis": "Basis",
        "position": "Vector3",
        "euler": "Vector3",
        "scale_field": "Vector3",
        "dirty": "int32",
        "rotation_order": "int32",
        "parent_3d": "Ref[Node3D]",
        "visible": "bool",
        "top_level": "bool",
        "version": "int",
        "global_version": "int",
        "global_field": "Transform3D",
    },
    "CollisionObject3D": _COLLISION_OBJECT,
    "CSGShape3D": _COLLISION_OBJECT,  # at the same place
    "CharacterBody3D": {"character": f"bytes:{CHARACTER.itemsize}"},
    "StaticBody3D": {"constant_linear_velocity": "Vector3", "constant_angular_velocity": "Vector3"},
    "RigidBody3D": {
        "linear_velocity_field": "Vector3",
        "angular_velocity_field": "Vector3",
        "mass_field": "float",
        "can_sleep": "bool",
        "lock_rotation": "bool",
        "contact_monitor": "bool",
        "sleeping_field": "bool",
        "freeze_field": "bool",
        "freeze_mode": "int",
        "max_contacts_reported": "int",
        "colliding": f"Array[Ref[Node3D]]:{MOST_REPORTS}",
    },
    "VehicleBody3D": {
        "engine_force_field": "float32",
        "brake_field": "float32",
        "steering_field": "float32",
        "first_wheel": "int32",
        "end_wheel": "int32",
    },
    "VehicleWheel3D": {"wheel": "int32"},
    "Area3D": {
        "overlaps": f"Array[Ref[Node3D]]:{MOST_OVERLAPS}",
        "gravity": "float",
        "gravity_space_override": "int",
    },
    "CollisionShape3D": {"shape_body": "int32", "shape_index": "int32"},
    "KinematicCollision3D": {"motion": f"bytes:{MOTION.itemsize}"},
    "RayCast3D": {
        "target_position": "Vector3",
        "collision_mask": "int",
        "enabled": "bool",
        "exclude_parent": "bool",
        "collide_with_areas": "bool",
        "collide_with_bodies": "bool",
        "hit_from_inside": "bool",
        "hit_back_faces": "bool",
        "is_hit": "bool",
        "hit_position": "Vector3",
        "hit_normal": "Vector3",
        "hit_node": "Ref[CollisionObject3D]",
        "hit_shape": "int32",
        "parent_body": "int32",
    },
    "Node2D": {
        "transform": "Transform2D",
        "rotation_field": "float32",
        "skew_field": "float32",
        "scale_field": "Vector2",
        "dirty": "int32",
        "parent_2d": "Ref[Node2D]",
        "visible": "bool",
        "top_level": "bool",
    },
    "CollisionObject2D": {**_COLLISION_OBJECT, "is_moved": "int32"},
    "TileMapLayer": {**_COLLISION_OBJECT, "is_moved": "int32"},  # as CollisionObject2D, at the same place
    "CharacterBody2D": {"character": f"bytes:{flat.CHARACTER.itemsize}"},
    "StaticBody2D": {"constant_linear_velocity": "Vector2", "constant_angular_velocity": "float"},
    "RigidBody2D": {
        "linear_velocity_field": "Vector2",
        "angular_velocity_field": "float32",
        "mass_field": "float",
        "can_sleep": "bool",
        "lock_rotation": "bool",
        "contact_monitor": "bool",
        "sleeping_field": "bool",
        "freeze_field": "bool",
    },
    "Area2D": {
        "overlaps": f"Array[Ref[Node2D]]:{MOST_OVERLAPS}",
        "gravity": "float",
        "gravity_space_override": "int",
    },
    "CollisionShape2D": {"shape_body": "int32", "shape_index": "int32"},
    "CollisionPolygon2D": {"shape_body": "int32", "shape_index": "int32"},  # as CollisionShape2D, at the same place
    "KinematicCollision2D": {"motion": f"bytes:{flat.MOTION.itemsize}"},
    "RayCast2D": {
        "target_position": "Vector2",
        "collision_mask": "int",
        "enabled": "bool",
        "exclude_parent": "bool",
        "collide_with_areas": "bool",
        "collide_with_bodies": "bool",
        "hit_from_inside": "bool",
        "is_hit": "bool",
        "hit_position": "Vector2",
        "hit_normal": "Vector2",
        "hit_node": "Ref[CollisionObject2D]",
        "hit_shape": "int32",
        "parent_body": "int32",
    },
    "Timer": {
        "wait_time": "float",
        "time_left": "float",
        "one_shot": "bool",
        "paused": "bool",
        "autostart": "bool",
        "is_running": "bool",
    },
    "DojoAgent": {
        "reward": f"Array[float32]:{MOST_TERMS}",
        "total": f"Array[float32]:{MOST_TERMS}",
        "terms": f"Array[int]:{MOST_TERMS}",
        "columns": f"Array[int32]:{MOST_TERMS}",
        "round_ticks": "int",
        "round_end": "int32",
        "has_won": "bool",
        "ends_world": "bool",
        "max_ticks": "int",
        "score": "float",
        "chance": "Ref[RandomNumberGenerator]",
    },
    **dict.fromkeys(PARTICLES, _PARTICLES),
    "RandomNumberGenerator": {"state": "uint64", "increment": "uint64"},
}
"""The fields that each class adds. Those whose names are no property of Godot's are the twin's own."""


_NUMPY = {"f": "float32", "i": "int32", "u": "uint32"}


def _parts(dtype: np.dtype, within: str, renamed: dict[str, str]) -> dict[str, tuple[str, str, int]]:
    """The fields of a record of the physics as fields of a node."""
    found = {}
    for name, (kind, offset, *_) in (dtype.fields or {}).items():
        base, shape = kind.subdtype or (kind, ())
        text = {(): _NUMPY.get(base.kind, ""), (2,): "Vector2", (3,): "Vector3"}.get(shape, "")
        if base.kind == "u" and base.itemsize == 1:
            text = "bool"
        if text:
            found[renamed.get(name, name)] = (text, within, offset)
    return found


OVERLAYS: dict[str, dict[str, tuple[str, str, int]]] = {
    "Node3D": {"transform": ("Transform3D", "basis", 0)},
    "CharacterBody3D": _parts(CHARACTER, "character", {"up": "up_direction", "margin": "safe_margin"}),
    "KinematicCollision3D": _parts(MOTION, "motion", {}),
    "Node2D": {"position": ("Vector2", "transform", 16)},
    "CharacterBody2D": _parts(flat.CHARACTER, "character", {"up": "up_direction", "margin": "safe_margin"}),
    "KinematicCollision2D": _parts(flat.MOTION, "motion", {"body": "other_body"}),
}
"""Fields that are a part of another one: type, that field, and the bytes between their starts."""

ADDRESSES = (*(f"{name}_at" for name in Statics._fields), "calls_at", "rigid_calls_at", "pristine_at")
"""Fields of `World` that hold addresses: they differ from process to process."""
