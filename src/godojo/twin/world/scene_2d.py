"""The 2D bodies and shapes of a snapshot, for the physics."""

from __future__ import annotations

from typing import Any

import numpy as np

from godojo.errors import GodojoError
from godojo.twin.physics.space import (
    AREA,
    IS_CHARACTER,
    KINEMATIC,
    MONITORABLE,
    MONITORING,
    RIGID,
    STATIC,
    Statics,
)
from godojo.twin.physics_2d.build import (
    BodyInfo,
    ShapeInfo,
    boundary,
    build_space,
    capsule,
    circle,
    convex,
    rectangle,
    segment,
)
from godojo.twin.physics_2d.space import CHARACTER
from godojo.twin.scene.snapshot import NodeInfo, Snapshot
from godojo.twin.world.api import ancestors

_KINDS = {"StaticBody2D": STATIC, "AnimatableBody2D": KINEMATIC, "CharacterBody2D": KINEMATIC, "Area2D": AREA}
_KINDS["RigidBody2D"] = RIGID
_IDENTITY = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
SHAPES = ("CollisionShape2D", "CollisionPolygon2D")
"""Nodes that give a body shapes."""
_REPLACES = 1
"""A damp mode."""


def physics_of_2d(snapshot: Snapshot, nodes: list[int]) -> tuple[Statics, np.ndarray]:
    """The shared arrays, and a world's own part of the physics, one row of `space_dtype`, for these nodes."""
    return build_space([_body(snapshot, snapshot.nodes[index]) for index in nodes])


def gravity_of_2d(snapshot: Snapshot) -> tuple[float, float, float]:
    """The project's gravity, in pixels per second squared."""
    strength = float(snapshot.settings.get("physics/2d/default_gravity", ["float", 980.0])[1])
    way = snapshot.settings.get("physics/2d/default_gravity_vector", ["Vector2", [0.0, 1.0]])[1]
    return way[0] * strength, way[1] * strength, 0.0


def fill_character_2d(node: NodeInfo, row: np.ndarray, at: int) -> None:
    """The fields of a CHARACTER record that are no property of the node under the same name."""
    record = row[at : at + CHARACTER.itemsize].view(CHARACTER)[0]
    record["transform"] = _transform(node, "global_transform")
    record["previous_position"] = record["transform"][4:]
    record["platform"] = -1


def _transform(node: NodeInfo, name: str) -> np.ndarray:
    return np.array(node.properties.get(name, ["Transform2D", _IDENTITY])[1], np.float32)


def _number(node: NodeInfo, name: str, default: float) -> float:
    return float(node.properties.get(name, ["float", default])[1])


def _vector(node: NodeInfo, name: str) -> tuple[float, float]:
    numbers = node.properties.get(name, ["Vector2", [0.0, 0.0]])[1]
    return numbers[0], numbers[1]


def is_solid_tiles(node: NodeInfo) -> bool:
    """Whether it is a layer of tiles with collisions."""
    return node.native_class == "TileMapLayer" and "collision_polygons" in node.properties


def _body(snapshot: Snapshot, node: NodeInfo) -> BodyInfo:
    if is_solid_tiles(node):
        layer, mask = (int(_number(node, f"collision_{name}", 1)) for name in ("layer", "mask"))
        shapes = _polygons(node)
        for shape in shapes:
            shape.index = 0
        return BodyInfo(STATIC, _transform(node, "global_transform"), shapes, layer, mask)
    lineage = ancestors(node.native_class)
    kind = next((_KINDS[name] for name in lineage if name in _KINDS), None)
    if kind is None:
        raise GodojoError(f"{node.path}: a twin has no {node.native_class}")
    traits = IS_CHARACTER if "CharacterBody2D" in lineage else 0
    if kind == AREA:
        traits = MONITORING * int(_number(node, "monitoring", 1)) | MONITORABLE * int(_number(node, "monitorable", 1))
        _check_area(node)
    if kind == RIGID and _number(node, "freeze", 0):
        kind = KINEMATIC if _number(node, "freeze_mode", 0) else STATIC
    info = BodyInfo(
        kind,
        _transform(node, "global_transform"),
        _shapes(snapshot, node),
        int(_number(node, "collision_layer", 1)),
        int(_number(node, "collision_mask", 1)),
        traits,
        _number(node, "collision_priority", 1.0),
    )
    if "StaticBody2D" in lineage:
        info.constant_velocity = _vector(node, "constant_linear_velocity")
        info.constant_spin = _number(node, "constant_angular_velocity", 0.0)
        info.linear_velocity, info.angular_velocity = info.constant_velocity, info.constant_spin
    if kind == RIGID:
        _fill_rigid(snapshot, node, info)
    return info


def _check_area(node: NodeInfo) -> None:
    for name in ("gravity", "linear_damp", "angular_damp"):
        if _number(node, f"{name}_space_override", 0):
            raise GodojoError(f"{node.path}: a twin has no areas that change {name.replace('_', ' ')} in 2D")


def _fill_rigid(snapshot: Snapshot, node: NodeInfo, info: BodyInfo) -> None:
    info.mass, info.gravity_scale = _number(node, "mass", 1.0), _number(node, "gravity_scale", 1.0)
    for name, usual in (("linear_damp", 0.1), ("angular_damp", 1.0)):
        default = float(snapshot.settings.get(f"physics/2d/default_{name}", ["float", usual])[1])
        own = _number(node, name, 0.0)
        setattr(info, name, own if _number(node, f"{name}_mode", 0) == _REPLACES else own + default)
    info.linear_velocity = _vector(node, "linear_velocity")
    info.angular_velocity = _number(node, "angular_velocity", 0.0)
    info.inertia = float("inf") if _number(node, "lock_rotation", 0) else _number(node, "inertia", 0.0)
    if _number(node, "center_of_mass_mode", 0) == 1:
        info.center_of_mass = _vector(node, "center_of_mass")
    material = node.properties.get("physics_material_override", ["null"])
    if material[0] == "resource":
        given = snapshot.resources[material[1]].properties
        rough = -1.0 if given.get("rough", ["bool", False])[1] else 1.0
        absorbent = -1.0 if given.get("absorbent", ["bool", False])[1] else 1.0
        info.friction = rough * float(given.get("friction", ["float", 1.0])[1])
        info.bounce = absorbent * float(given.get("bounce", ["float", 0.0])[1])


def _shapes(snapshot: Snapshot, body: NodeInfo) -> list[ShapeInfo]:
    found: list[ShapeInfo] = []
    number = 0
    for node in snapshot.nodes[body.index + 1 :]:
        if node.parent != body.index or node.native_class not in SHAPES:
            continue
        made = _polygons(node) if node.native_class == "CollisionPolygon2D" else _shape(snapshot, node)
        for shape in made:
            shape.index = number
            shape.transform = _transform(node, "transform")
            shape.disabled = bool(_number(node, "disabled", 0))
            shape.one_way = bool(_number(node, "one_way_collision", 0))
            shape.one_way_margin = _number(node, "one_way_collision_margin", 1.0)
        found += made
        number += 1
    return found


def _segments(points: Any) -> list[ShapeInfo]:
    pairs = np.array(points, np.float32).reshape(-1, 2, 2)
    return [segment(start, end, is_unit=True) for start, end in pairs]


def _polygons(node: NodeInfo) -> list[ShapeInfo]:
    """What the probe has made of a CollisionPolygon2D: convex parts, or pairs of points."""
    parts = [np.array(part[1], np.float32) for part in node.properties.get("collision_polygons", ["Array", []])[1]]
    if _number(node, "build_mode", 0) == 1:
        return [shape for part in parts for shape in _segments(part)]
    return [convex(part) for part in parts]


def _shape(snapshot: Snapshot, node: NodeInfo) -> list[ShapeInfo]:
    value = node.properties.get("shape", ["null"])
    if value[0] != "resource":
        raise GodojoError(f"{node.path}: a twin needs a shape for every CollisionShape2D")
    resource = snapshot.resources[value[1]]
    given: dict[str, Any] = {name: one[1] for name, one in resource.properties.items() if len(one) > 1}
    match resource.class_name:
        case "CircleShape2D":
            return [circle(given["radius"])]
        case "RectangleShape2D":
            return [rectangle(given["size"])]
        case "CapsuleShape2D":
            return [capsule(given["radius"], given["height"])]
        case "SegmentShape2D":
            return [segment(given["a"], given["b"])]
        case "WorldBoundaryShape2D":
            return [boundary(given["normal"], given["distance"])]
        case "ConvexPolygonShape2D":
            return [convex(given["points"])]
        case "ConcavePolygonShape2D":
            return _segments(given["segments"])
    raise GodojoError(f"{node.path}: a twin has no {resource.class_name}")
