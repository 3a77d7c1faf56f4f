"""Fills the records of `space.py` from what a scene says; plain Python, once per scene."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from godojo.kernels.compile import kernel
from godojo.twin.physics.build import as_records, make_pairs, make_roster, space_of
from godojo.twin.physics.space import RIGID, Statics
from godojo.twin.physics_2d.motion import update_bounds
from godojo.twin.physics_2d.space import (
    BOUNDARY,
    CAPSULE,
    CHARACTER,
    CIRCLE,
    CONVEX,
    RECTANGLE,
    SEGMENT,
    SHAPE,
    space_dtype,
)

IDENTITY = np.array([1, 0, 0, 1, 0, 0], np.float32)


@dataclass
class ShapeInfo:
    """One shape of a CollisionShape2D or CollisionPolygon2D; the functions below make the common ones."""

    kind: int
    extent: tuple[float, float] = (0.0, 0.0)  # as in SHAPE
    normal: tuple[float, float] = (0.0, 0.0)
    vertices: np.ndarray | None = None  # (n, 2)
    transform: np.ndarray = field(default_factory=IDENTITY.copy)  # 6, in the body
    disabled: bool = False
    one_way: bool = False
    one_way_margin: float = 1.0
    index: int | None = None  # among the shapes of its body; by default as many as there are before it


@dataclass
class BodyInfo:
    """One CollisionObject2D."""

    kind: int
    transform: np.ndarray = field(default_factory=IDENTITY.copy)  # 6, global
    shapes: list[ShapeInfo] = field(default_factory=list)
    layer: int = 1
    mask: int = 1
    traits: int = 0
    priority: float = 1.0
    constant_velocity: tuple[float, float] = (0.0, 0.0)
    constant_spin: float = 0.0
    # Rigid bodies.
    mass: float = 1.0
    inertia: float = 0.0  # zero: from the shapes
    center_of_mass: tuple[float, float] | None = None  # None: from the shapes
    gravity_scale: float = 1.0
    linear_damp: float = 0.1  # total, with the project's default_linear_damp where the mode combines
    angular_damp: float = 1.0
    friction: float = 1.0  # negative: rough
    bounce: float = 0.0  # negative: absorbent
    linear_velocity: tuple[float, float] = (0.0, 0.0)
    angular_velocity: float = 0.0


def circle(radius: float, **rest: Any) -> ShapeInfo:
    """CircleShape2D."""
    return ShapeInfo(CIRCLE, (radius, 0.0), **rest)


def rectangle(size: Sequence[float], **rest: Any) -> ShapeInfo:
    """RectangleShape2D."""
    return ShapeInfo(RECTANGLE, (size[0] / 2, size[1] / 2), **rest)


def capsule(radius: float, height: float, **rest: Any) -> ShapeInfo:
    """CapsuleShape2D."""
    return ShapeInfo(CAPSULE, (radius, height), **rest)


def convex(points: np.ndarray, **rest: Any) -> ShapeInfo:
    """ConvexPolygonShape2D."""
    return ShapeInfo(CONVEX, vertices=np.asarray(points, np.float32).reshape(-1, 2), **rest)


def segment(start: Sequence[float], end: Sequence[float], *, is_unit: bool = False, **rest: Any) -> ShapeInfo:
    """SegmentShape2D, whose normal is as long as itself; or a part of a concave polygon, whose normal has length 1."""
    points = np.array([start, end], np.float32)
    way = points[1] - points[0]
    normal = np.array([way[1], -way[0]], np.float32)
    if is_unit:
        normal /= max(np.sqrt(normal[0] * normal[0] + normal[1] * normal[1]), np.float32(1e-30))
    return ShapeInfo(SEGMENT, normal=(float(normal[0]), float(normal[1])), vertices=points, **rest)


def boundary(normal: Sequence[float], distance: float, **rest: Any) -> ShapeInfo:
    """WorldBoundaryShape2D."""
    return ShapeInfo(BOUNDARY, (distance, 0.0), (normal[0], normal[1]), **rest)


def _moment(info: ShapeInfo, mass: float) -> float:
    """The moment of inertia of a shape about its own origin, as Godot estimates it."""
    t = info.transform.astype(np.float64)
    scale = np.array([np.hypot(t[0], t[1]), np.hypot(t[2], t[3])])
    if info.kind == CIRCLE:
        return float(mass * np.sum((info.extent[0] * scale) ** 2) / 4.0)
    if info.kind == RECTANGLE:
        return float(mass * np.sum((2.0 * np.array(info.extent) * scale) ** 2) / 12.0)
    if info.kind == CAPSULE:
        return float(mass * np.sum((np.array([2.0 * info.extent[0], info.extent[1]]) * scale) ** 2) / 12.0)
    if info.vertices is None:
        return 0.0
    points = info.vertices * scale
    if info.kind == SEGMENT:
        return float(mass * np.sum((points[1] - points[0]) ** 2) / 12.0)
    return float(mass * np.sum((points.max(axis=0) - points.min(axis=0)) ** 2) / 12.0)


def _set_mass(row: Any, info: BodyInfo, boxes: np.ndarray) -> None:
    """Mass, inertia and centre of mass: each shape's part is the area of the box around it."""
    areas = (boxes[2] - boxes[0]).astype(np.float64) * (boxes[3] - boxes[1])
    areas = np.where([shape.disabled for shape in info.shapes], 0.0, areas)
    total = areas.sum()
    parts = info.mass * areas / total if total > 0 else areas
    places = np.array([shape.transform[4:6] for shape in info.shapes], np.float64).reshape(-1, 2)
    center = (parts[:, None] * places).sum(axis=0) / info.mass if len(places) else np.zeros(2)
    if info.center_of_mass is not None:
        center = np.array(info.center_of_mass)
    inertia = info.inertia or sum(
        _moment(shape, part) + part * float(np.sum((place - center) ** 2))
        for shape, part, place in zip(info.shapes, parts, places, strict=True)
        if part > 0
    )
    row["center"], row["mass"], row["inverse_mass"] = center, info.mass, 1.0 / info.mass
    row["inverse_inertia"] = 1.0 / inertia if inertia > 0 and not np.isinf(inertia) else 0.0


_COPIED = (
    "kind traits layer mask priority gravity_scale friction bounce linear_damp angular_damp linear_velocity "
    "angular_velocity constant_velocity constant_spin transform"
)


def build_space(bodies: Sequence[BodyInfo]) -> tuple[Statics, np.ndarray]:
    """The shared arrays, and one row of `space_dtype`, for these bodies; their indices are their places here."""
    count = max(sum(len(body.shapes) for body in bodies), 1)
    shapes = np.zeros(count, SHAPE)
    vertices: list[np.ndarray] = []
    pairs = make_pairs(bodies, sees_static=True)
    rows = np.zeros(1, space_dtype(len(bodies), count, len(pairs)))
    rows[0]["bounds"][:2], rows[0]["bounds"][2:] = np.inf, -np.inf
    place = 0
    for index, info in enumerate(bodies):
        row = rows[0]["bodies"][index]
        for name in _COPIED.split():
            row[name] = getattr(info, name)
        row["target"] = info.transform
        row["first_shape"], row["shape_count"] = place, len(info.shapes)
        for number, shape in enumerate(info.shapes):
            one = shapes[place]
            one["body"], one["index"] = index, number if shape.index is None else shape.index
            for name in ("kind", "extent", "normal", "transform", "one_way_margin"):
                one[name] = getattr(shape, name)
            one["is_one_way"] = shape.one_way
            if shape.vertices is not None:
                one["first_vertex"] = sum(len(part) for part in vertices)
                one["vertex_count"] = len(shape.vertices)
                vertices.append(np.pad(shape.vertices, ((0, 0), (0, 1))))
            if shape.disabled and one["index"] < 64:
                row["disabled"] |= np.uint64(1 << int(one["index"]))
            place += 1
    points = np.concatenate(vertices) if vertices else np.zeros((1, 3), np.float32)
    roster = make_roster(bodies, pairs, sees_static=True)
    statics = Statics(shapes, np.ascontiguousarray(points, np.float32), pairs, roster)
    _find_bounds(as_records(statics), as_records(rows))
    for index, info in enumerate(bodies):
        if info.kind == RIGID:
            row = rows[0]["bodies"][index]
            first = int(row["first_shape"])
            _set_mass(row, info, rows[0]["bounds"][:, first : first + len(info.shapes)])
    return statics, rows


@kernel
def _find_bounds(statics: Statics, rows: np.ndarray) -> None:
    space = space_of(statics, rows[0])
    for index in range(space.bodies.shape[0]):
        update_bounds(space, index)


def new_character(transform: Sequence[float]) -> np.ndarray:
    """One row of CHARACTER with Godot's defaults."""
    rows = np.zeros(1, CHARACTER)
    row = rows[0]
    row["transform"] = row["local"] = transform
    row["up"] = (0.0, -1.0)
    row["margin"] = 0.08
    row["floor_max_angle"] = np.deg2rad(45.0)
    row["floor_snap_length"] = 1.0
    row["wall_min_slide_angle"] = np.deg2rad(15.0)
    row["max_slides"] = 4
    row["platform_floor_layers"] = 0xFFFFFFFF
    for name in ("floor_stop_on_slope", "floor_block_on_wall", "slide_on_ceiling"):
        row[name] = 1
    row["platform"] = -1
    return rows
