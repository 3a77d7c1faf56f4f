"""The bodies and shapes of a snapshot, for the physics."""

from __future__ import annotations

from typing import Any

import numpy as np

from godojo.errors import GodojoError
from godojo.twin.physics.build import BodyInfo, ShapeInfo, box, build_space, capsule, convex, cylinder, mesh, sphere
from godojo.twin.physics.engines import JOLT
from godojo.twin.physics.space import (
    AREA,
    ASLEEP,
    CHARACTER,
    IS_CHARACTER,
    KINEMATIC,
    LOCK_ROTATION,
    LOOKS_AHEAD,
    MONITORABLE,
    MONITORING,
    OWN_FORCES,
    RIGID,
    STATIC,
    STAYS_AWAKE,
    WHEEL,
    Statics,
)
from godojo.twin.scene.snapshot import NodeInfo, Snapshot
from godojo.twin.world.api import ancestors, is_ignored
from godojo.twin.world.scene_2d import is_solid_tiles, physics_of_2d

_AREAS_SEE_STATIC = "physics/jolt_physics_3d/simulation/areas_detect_static_bodies"
"""A setting of Godot 4.4 and 4.5, off by default; later versions behave as if it were on."""
_KINDS = {"StaticBody3D": STATIC, "AnimatableBody3D": KINEMATIC, "CharacterBody3D": KINEMATIC, "Area3D": AREA}
_KINDS["RigidBody3D"] = RIGID
_IDENTITY = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


_REFUSED = {"CollisionPolygon3D", "GridMap", "Joint3D", "SoftBody3D", "ShapeCast3D", "Joint2D"}
_REFUSED |= {"ShapeCast2D", "PhysicalBone2D", "TileMap"}
"""Classes that could change the game and that a twin does not know."""


_SOLVER = {
    "physics/3d/solver/solver_iterations": 16.0,
    "physics/3d/solver/contact_recycle_radius": 0.01,
    "physics/3d/solver/contact_max_separation": 0.05,
    "physics/3d/solver/contact_max_allowed_penetration": 0.01,
    "physics/3d/sleep_threshold_linear": 0.1,
    "physics/3d/sleep_threshold_angular": float(np.deg2rad(8.0)),
    "physics/3d/time_before_sleep": 0.5,
}
"""Settings of GodotPhysics that the twin has as constants."""


def body_nodes(snapshot: Snapshot) -> list[int]:
    """The nodes that are bodies or areas, or solid by themselves; a body's index is its place here."""
    return [
        node.index
        for node in snapshot.nodes
        if not {"CollisionObject3D", "CollisionObject2D"}.isdisjoint(ancestors(node.native_class))
        or "collision_faces" in node.properties
        or is_solid_tiles(node)
    ]


def has_flat_bodies(snapshot: Snapshot) -> bool:
    """Whether the bodies of a game are 2D."""
    return any("CollisionObject2D" in ancestors(node.native_class) for node in snapshot.nodes)


def refuse_unknown(snapshot: Snapshot) -> None:
    """Raises for the first node that a twin cannot have."""
    for node in snapshot.nodes:
        if not _REFUSED.isdisjoint(ancestors(node.native_class)):
            raise GodojoError(f"{node.path}: a twin has no {node.native_class} yet")
        if snapshot.nodes[node.parent].native_class == "SpringArm3D" and not is_ignored(node.native_class):
            raise GodojoError(f"{node.path}: a twin has no SpringArm3D that moves more than cameras")
        if node.native_class == "Area3D" and node.properties.get("gravity_space_override", ["int", 0])[1]:
            raise GodojoError(f"{node.path}: a twin has no areas that change gravity yet")
    if has_flat_bodies(snapshot):
        for index in body_nodes(snapshot):
            node = snapshot.nodes[index]
            if "CollisionObject2D" not in ancestors(node.native_class) and not is_solid_tiles(node):
                raise GodojoError(f"{snapshot.nodes[index].path}: a twin has either 2D bodies or 3D bodies")


def physics_of(snapshot: Snapshot) -> tuple[Statics, np.ndarray]:
    """The shared arrays, and a world's own part of the physics, one row of `space_dtype`."""
    nodes = body_nodes(snapshot)
    if has_flat_bodies(snapshot):
        return physics_of_2d(snapshot, nodes)
    bodies = [_body(snapshot, snapshot.nodes[index]) for index in nodes]
    _refuse_rigid(snapshot, nodes, bodies)
    sees_static = bool(snapshot.settings.get(_AREAS_SEE_STATIC, ["bool", True])[1])
    return build_space(bodies, snapshot.physics_engine, sees_static=sees_static or snapshot.physics_engine != JOLT)


def _refuse_rigid(snapshot: Snapshot, nodes: list[int], bodies: list[BodyInfo]) -> None:
    """Raises for rigid bodies that a twin would move otherwise than the engine."""
    rigid = [(one, info) for one, info in zip(nodes, bodies, strict=True) if info.kind == RIGID]
    if snapshot.physics_engine == JOLT:
        for place, (one, info) in enumerate(rigid):
            if any((info.mask & other.layer) | (other.mask & info.layer) for _, other in rigid[:place]):
                raise GodojoError(
                    f"{snapshot.nodes[one].path}: on Jolt a twin has no rigid bodies that meet each other"
                )
    for name, default in _SOLVER.items() if rigid and snapshot.physics_engine != JOLT else ():
        value = float(snapshot.settings.get(name, ["float", default])[1])
        if abs(value - default) > 1e-6:
            raise GodojoError(
                f"{snapshot.nodes[rigid[0][0]].path}: a twin has rigid bodies only with {name} = {default:g}"
            )


def _transform(node: NodeInfo, name: str) -> np.ndarray:
    """Row by row, from the columns that snapshots have."""
    numbers = node.properties.get(name, ["Transform3D", _IDENTITY])[1]
    return np.array([numbers[i] for i in (0, 3, 6, 1, 4, 7, 2, 5, 8, 9, 10, 11)], np.float32)


def _body(snapshot: Snapshot, node: NodeInfo) -> BodyInfo:
    lineage = ancestors(node.native_class)
    if "collision_faces" in node.properties:
        return _solid(node)
    kind = next((_KINDS[name] for name in lineage if name in _KINDS), None)
    if kind is None:
        raise GodojoError(f"{node.path}: a twin has no {node.native_class}")

    def number(name: str, default: float) -> float:
        return float(node.properties.get(name, ["float", default])[1])

    flags = IS_CHARACTER if "CharacterBody3D" in lineage else 0
    if kind == AREA:
        flags = MONITORING * int(number("monitoring", 1)) | MONITORABLE * int(number("monitorable", 1))
    info = BodyInfo(
        kind,
        _transform(node, "global_transform"),
        [_shape(snapshot, child) for child in snapshot.nodes[node.index + 1 :] if _is_shape_of(child, node)],
        int(number("collision_layer", 1)),
        int(number("collision_mask", 1)),
        flags,
        number("collision_priority", 1.0),
    )
    if kind == RIGID:
        _read_rigid(snapshot, node, info)
        info.mass, info.gravity_scale = number("mass", 1.0), number("gravity_scale", 1.0)
        replaces = 1
        for name in ("linear_damp", "angular_damp"):
            default = float(snapshot.settings.get(f"physics/3d/default_{name}", ["float", 0.1])[1])
            own = number(name, 0.0)
            setattr(info, name, own if number(f"{name}_mode", 0) == replaces else own + default)
        for name in ("linear_velocity", "angular_velocity"):
            setattr(info, name, tuple(node.properties.get(name, ["Vector3", [0.0, 0.0, 0.0]])[1]))
        inertia = tuple(node.properties.get("inertia", ["Vector3", [0.0, 0.0, 0.0]])[1])
        info.inertia = (inertia[0], inertia[1], inertia[2])
        if number("center_of_mass_mode", 0) == 1:
            center = node.properties["center_of_mass"][1]
            info.center_of_mass = (center[0], center[1], center[2])
    for name in ("linear_velocity", "angular_velocity"):
        constant = node.properties.get(f"constant_{name}")
        if kind == STATIC and constant is not None:
            setattr(info, name, tuple(constant[1]))
    material = node.properties.get("physics_material_override", ["null"])
    if material[0] == "resource":
        given = snapshot.resources[material[1]].properties
        sign_rough = -1.0 if given.get("rough", ["bool", False])[1] else 1.0
        sign_absorbent = -1.0 if given.get("absorbent", ["bool", False])[1] else 1.0
        info.friction = sign_rough * float(given.get("friction", ["float", 1.0])[1])
        info.bounce = sign_absorbent * float(given.get("bounce", ["float", 0.0])[1])
    return info


def wheel_nodes(snapshot: Snapshot, body: NodeInfo) -> list[NodeInfo]:
    """The wheels of a vehicle."""
    if "VehicleBody3D" not in ancestors(body.native_class):
        return []
    return [one for one in snapshot.nodes if one.parent == body.index and one.native_class == "VehicleWheel3D"]


def _read_rigid(snapshot: Snapshot, node: NodeInfo, info: BodyInfo) -> None:
    """What a rigid body may do, and its wheels."""

    def flag(name: str) -> bool:
        return bool(node.properties.get(name, ["bool", name == "can_sleep"])[1])

    is_godot = snapshot.physics_engine != JOLT
    for name, trait in (("lock_rotation", LOCK_ROTATION), ("custom_integrator", OWN_FORCES)):
        info.traits |= trait if flag(name) else 0
    info.traits |= 0 if flag("can_sleep") else STAYS_AWAKE
    info.traits |= ASLEEP if flag("sleeping") and is_godot else 0
    for bit, name in enumerate(f"axis_lock_{kind}_{axis}" for kind in ("linear", "angular") for axis in "xyz"):
        info.locks |= (1 << bit) if flag(name) else 0
    if flag("contact_monitor"):
        info.reports = int(node.properties.get("max_contacts_reported", ["int", 0])[1])
    info.is_frozen = flag("freeze")
    if info.is_frozen and int(node.properties.get("freeze_mode", ["int", 0])[1]) == 1:
        info.frozen_kind = KINEMATIC
    for name in ("constant_force", "constant_torque"):
        setattr(info, name, tuple(node.properties.get(name, ["Vector3", [0.0, 0.0, 0.0]])[1]))
    for wheel in wheel_nodes(snapshot, node):
        info.wheels.append(_wheel(wheel))
    if flag("continuous_cd") and not is_godot:
        raise GodojoError(f"{node.path}: on Jolt a twin has no continuous collision detection (continuous_cd)")
    info.traits |= LOOKS_AHEAD if flag("continuous_cd") else 0
    if not is_godot and (info.reports or info.wheels or info.locks or info.traits & OWN_FORCES):
        what = "has locked axes or forces of its own"
        what = "reports contacts" if info.reports else "has wheels" if info.wheels else what
        raise GodojoError(f"{node.path}: on Jolt a twin has no RigidBody3D that {what}")


def _wheel(node: NodeInfo) -> dict[str, Any]:
    """The fields of WHEEL."""
    if "rest_transform" not in node.properties:
        raise GodojoError(f"{node.path}: a twin cannot have a wheel that is made in play")
    rest = _transform(node, "rest_transform").astype(np.float32)
    down, axle = -rest[[1, 4, 7]], rest[[0, 3, 6]]
    found: dict[str, Any] = {
        "place": rest[9:],
        "down": down / np.linalg.norm(down),
        "axle": axle / np.linalg.norm(axle),
    }
    for name in WHEEL.names or ():
        value = node.properties.get(name, ["null"])
        if value[0] in ("bool", "int", "float"):
            found[name] = value[1]
    return found


def _solid(node: NodeInfo) -> BodyInfo:
    """A CSG shape with collisions: a static body of triangles."""
    faces = np.array(node.properties["collision_faces"][1], np.float32).reshape(-1, 3)
    layer, mask = (int(node.properties.get(f"collision_{name}", ["int", 1])[1]) for name in ("layer", "mask"))
    return BodyInfo(STATIC, _transform(node, "global_transform"), [mesh(faces)] if len(faces) else [], layer, mask)


def _is_shape_of(child: NodeInfo, body: NodeInfo) -> bool:
    return child.parent == body.index and child.native_class == "CollisionShape3D"


def _shape(snapshot: Snapshot, node: NodeInfo) -> ShapeInfo:
    value = node.properties.get("shape", ["null"])
    if value[0] != "resource":
        raise GodojoError(f"{node.path}: a twin needs a shape for every CollisionShape3D")
    resource = snapshot.resources[value[1]]
    given: dict[str, Any] = {name: one[1] for name, one in resource.properties.items() if len(one) > 1}
    margin = float(given.get("margin") or 0.04)
    disabled = bool(node.properties.get("disabled", ["bool", False])[1])
    transform = _transform(node, "transform")
    match resource.class_name:
        case "BoxShape3D":
            return box(given["size"], margin=margin, transform=transform, disabled=disabled)
        case "SphereShape3D":
            return sphere(given["radius"], transform=transform, disabled=disabled)
        case "CapsuleShape3D":
            return capsule(given["radius"], given["height"], transform=transform, disabled=disabled)
        case "CylinderShape3D":
            return cylinder(given["radius"], given["height"], margin=margin, transform=transform, disabled=disabled)
        case "ConvexPolygonShape3D":
            points = np.array(given["points"], np.float32).reshape(-1, 3)
            return convex(points, margin=margin, transform=transform, disabled=disabled)
        case "ConcavePolygonShape3D":
            faces = np.array(given.get("data") or given.get("faces"), np.float32).reshape(-1, 3)
            back_faces = bool(given.get("backface_collision", False))
            return mesh(faces, transform=transform, disabled=disabled, back_faces=back_faces)
    raise GodojoError(f"{node.path}: a twin has no {resource.class_name}")


def fill_character(node: NodeInfo, row: np.ndarray, at: int) -> None:
    """The fields of a CHARACTER record that are no property of the node under the same name."""
    record = row[at : at + CHARACTER.itemsize].view(CHARACTER)[0]
    record["transform"] = _transform(node, "global_transform")
    record["previous_position"] = record["transform"][9:]
    record["platform"] = -1
    for bit, axis in enumerate("xyz"):
        if node.properties.get(f"axis_lock_linear_{axis}", ["bool", False])[1]:
            record["axis_lock"] |= 1 << bit
