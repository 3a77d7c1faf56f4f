"""Fills the records of `space.py` from what a scene says; plain Python, once per scene."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np

from godojo.kernels.compile import kernel
from godojo.twin.physics.bounds import update_bounds
from godojo.twin.physics.engines import GODOT, JOLT, GodotSpace
from godojo.twin.physics.godot.hulls import hull_rows
from godojo.twin.physics.godot.rigid import update_tensor
from godojo.twin.physics.hulls import find_planes, shrink
from godojo.twin.physics.inertia import set_mass
from godojo.twin.physics.jit import in_python
from godojo.twin.physics.rotations import quaternion_of
from godojo.twin.physics.space import (
    AREA,
    BOX,
    CAPSULE,
    CHARACTER,
    CONVEX,
    CYLINDER,
    MESH,
    MOST_REPORTS,
    PAIR,
    RIGID,
    ROSTER,
    SHAPE,
    SPHERE,
    STATIC,
    STIRRED,
    STIRRED_COUNT,
    WAKES,
    RigidRoom,
    Space,
    Statics,
    space_dtype,
)

MARGIN_FRACTION = 0.08
"""Project setting `physics/jolt_physics_3d/collisions/collision_margin_fraction`."""
DEFAULT_MARGIN = 0.04
_NEIGHBOURS, _MOST_PAIRS = 24, 2048
"""The most shapes that a shape of a rigid body can be near to at a time, on average, and the most of all together."""
_NEAR_ONE = 1e-5
PLANE_WIDTH_M, PLANE_DEPTH_M = 4096.0, 256.0

IDENTITY = np.array([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], np.float32)


@dataclass
class ShapeInfo:
    """One CollisionShape3D; the functions below make the common ones."""

    kind: int
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)  # as in SHAPE
    margin: float = DEFAULT_MARGIN
    transform: np.ndarray = field(default_factory=IDENTITY.copy)  # 12, in the body, with scale
    vertices: np.ndarray | None = None  # hulls: (n, 3) corners; meshes: (3 * triangles, 3)
    disabled: bool = False
    back_faces: bool = False  # meshes: `backface_collision`


@dataclass
class BodyInfo:
    """One CollisionObject3D."""

    kind: int
    transform: np.ndarray = field(default_factory=IDENTITY.copy)  # 12, global, with scale
    shapes: list[ShapeInfo] = field(default_factory=list)
    layer: int = 1
    mask: int = 1
    traits: int = 0
    priority: float = 1.0
    # Rigid bodies.
    mass: float = 1.0
    inertia: tuple[float, float, float] = (0.0, 0.0, 0.0)  # zero: from the shapes
    center_of_mass: tuple[float, float, float] | None = None  # None: from the shapes
    gravity_scale: float = 1.0
    linear_damp: float = 0.1  # total, with the project's default_linear_damp where the mode combines
    angular_damp: float = 0.1
    friction: float = 1.0  # negative: rough
    bounce: float = 0.0  # negative: absorbent
    linear_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    locks: int = 0  # as in BODY
    reports: int = 0  # `max_contacts_reported`, with `contact_monitor`
    is_frozen: bool = False
    frozen_kind: int = STATIC
    constant_force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    constant_torque: tuple[float, float, float] = (0.0, 0.0, 0.0)
    wheels: list[dict[str, Any]] = field(default_factory=list)  # fields of WHEEL


def box(size: Sequence[float], **rest: Any) -> ShapeInfo:
    """BoxShape3D."""
    return ShapeInfo(BOX, (size[0] / 2, size[1] / 2, size[2] / 2), **rest)


def sphere(radius: float, **rest: Any) -> ShapeInfo:
    """SphereShape3D."""
    return ShapeInfo(SPHERE, (radius, 0.0, 0.0), **rest)


def capsule(radius: float, height: float, **rest: Any) -> ShapeInfo:
    """CapsuleShape3D."""
    return ShapeInfo(CAPSULE, (radius, height / 2 - radius, 0.0), **rest)


def cylinder(radius: float, height: float, **rest: Any) -> ShapeInfo:
    """CylinderShape3D."""
    return ShapeInfo(CYLINDER, (radius, height / 2, 0.0), **rest)


def convex(points: np.ndarray, **rest: Any) -> ShapeInfo:
    """ConvexPolygonShape3D."""
    return ShapeInfo(CONVEX, vertices=np.asarray(points, np.float32), **rest)


def plane(normal: Sequence[float], distance: float, **rest: Any) -> ShapeInfo:
    """WorldBoundaryShape3D: everything behind a plane, as a box so large that nothing meets its other sides."""
    up = np.asarray(normal, np.float64) / np.linalg.norm(normal)
    side = np.cross(up, (1.0, 0.0, 0.0) if abs(up[0]) < 0.7 else (0.0, 0.0, 1.0))
    side /= np.linalg.norm(side)
    basis = np.column_stack([side, up, np.cross(side, up)])
    transform = np.concatenate([basis.reshape(9), up * (distance - 0.5 * PLANE_DEPTH_M)]).astype(np.float32)
    return box((PLANE_WIDTH_M, PLANE_DEPTH_M, PLANE_WIDTH_M), margin=0.0, transform=transform, **rest)


def mesh(faces: np.ndarray, **rest: Any) -> ShapeInfo:
    """ConcavePolygonShape3D: corners of triangles, three by three."""
    return ShapeInfo(MESH, vertices=np.asarray(faces, np.float32), **rest)


def split_scale(transform: np.ndarray, engine: str = JOLT) -> tuple[np.ndarray, np.ndarray]:
    """A transform without scale, and the scale along its axes."""
    basis = np.asarray(transform[:9], np.float64).reshape(3, 3).copy()
    scale = np.linalg.norm(basis, axis=0)
    x = basis[:, 0] / scale[0]
    y = basis[:, 1] - x * (x @ basis[:, 1])
    y /= np.linalg.norm(y)
    z = basis[:, 2] - x * (x @ basis[:, 2]) - y * (y @ basis[:, 2])
    z /= np.linalg.norm(z)
    plain = np.column_stack([x, y, z])
    if np.linalg.det(plain) < 0:
        plain, scale = -plain, -scale
    # GodotPhysics keeps a basis as it is, Jolt takes out what is not rotation.
    if engine == GODOT:
        if np.abs(scale - 1.0).max() < _NEAR_ONE:
            plain, scale = basis, np.ones(3)
    elif np.array_equal(scale.astype(np.float32), np.ones(3, np.float32)):
        plain = basis
    result = np.concatenate([plain.reshape(9), np.asarray(transform[9:12], np.float64)]).astype(np.float32)
    return result, scale


def _fill_shape(row: Any, info: ShapeInfo, body_scale: np.ndarray, vertices: list[np.ndarray], engine: str) -> None:
    basis = np.diag(body_scale) @ np.asarray(info.transform[:9], np.float64).reshape(3, 3)
    origin = body_scale * np.asarray(info.transform[9:12], np.float64)
    plain, scale = split_scale(np.concatenate([basis.reshape(9), origin]), engine)
    scale = np.abs(scale)
    row["kind"] = info.kind
    row["transform"] = plain
    size = np.asarray(info.size, np.float64)
    if info.kind == BOX:
        size = size * scale
        row["margin"] = min(info.margin, size.min() * MARGIN_FRACTION)
        low, high = -size, size
    elif info.kind in (CYLINDER, CAPSULE):
        size = np.array([size[0] * scale[0], size[1] * scale[1], 0.0])
        if info.kind == CYLINDER:
            row["margin"] = min(info.margin, size[:2].min() * MARGIN_FRACTION)
            high = np.array([size[0], size[1], size[0]])
        else:
            high = np.array([size[0], size[1] + size[0], size[0]])
        low = -high
    elif info.kind == SPHERE:
        size = np.array([size[0] * scale[0], 0.0, 0.0])
        low, high = np.full(3, -size[0]), np.full(3, size[0])
    else:
        assert info.vertices is not None
        points = info.vertices.astype(np.float64) * scale
        low, high = points.min(axis=0), points.max(axis=0)
        size = np.maximum(np.abs(low), np.abs(high))
        row["first_vertex"] = sum(len(part) for part in vertices)
        if info.kind == CONVEX and engine == GODOT:
            rows, corners, row["plane_count"], row["edge_count"] = hull_rows(points)
            vertices.append(rows)
            points = points[:corners]
        elif info.kind == CONVEX:
            planes = find_planes(points)
            radius = min(info.margin, float((high - low).min()) / 2.0 * MARGIN_FRACTION)
            points, row["margin"] = shrink(points, planes, radius)
            row["plane_count"] = len(planes)
            rows = np.zeros((2 * len(planes), 3))
            rows[0::2], rows[1::2, 0] = planes[:, :3], planes[:, 3]
            vertices.append(points.astype(np.float32))
            vertices.append(rows.astype(np.float32))
        else:
            vertices.append(points.astype(np.float32))
            row["one_sided"] = engine == GODOT and not info.back_faces
        row["vertex_count"] = len(points)
    row["half"] = size
    row["low"], row["high"] = low, high


def _fill_wheel(row: Any, body: int, given: dict[str, Any]) -> None:
    row["body"], row["node"], row["ground"] = body, -1, -1
    row["skid"], row["lean"] = 1.0, 1.0
    for name, value in given.items():
        row[name] = value
    row["length"] = row["wheel_rest_length"]


def make_pairs(bodies: Sequence[Any], sees_static: bool) -> np.ndarray:
    """Areas with the bodies and areas that can enter them."""
    kinds = np.array([info.kind for info in bodies], np.int32)
    areas, others = np.flatnonzero(kinds == AREA), np.flatnonzero((kinds != STATIC) | sees_static)
    area, other = (axis.ravel() for axis in np.meshgrid(areas, others, indexing="ij"))
    is_pair = area != other
    pairs = np.zeros(is_pair.sum(), PAIR)
    pairs["area"], pairs["other"] = area[is_pair], other[is_pair]
    pairs["first"] = np.searchsorted(pairs["area"], pairs["area"], "left")
    pairs["end"] = np.searchsorted(pairs["area"], pairs["area"], "right")
    return pairs


def make_roster(bodies: Sequence[Any], pairs: np.ndarray, sees_static: bool) -> np.ndarray:
    """The places of bodies in lists and in the pairs."""
    kinds = np.array([info.kind for info in bodies], np.int32)
    roster = np.zeros(len(bodies), ROSTER)
    roster["first_pair"] = np.searchsorted(pairs["area"], np.arange(len(bodies)))
    is_other = (kinds != STATIC) | sees_static
    roster["rank"] = np.where(is_other, np.cumsum(is_other) - 1, -1)
    can_move = (kinds != STATIC) & (kinds != AREA)
    for name, chosen in (("mover", can_move), ("area", kinds == AREA)):
        roster[name] = -1
        roster[name][: chosen.sum()] = np.flatnonzero(chosen)
    return roster


def _rigid_room(bodies: Sequence[BodyInfo], engine: str) -> RigidRoom:
    """Room for the contacts of rigid bodies: each meets a few others at a time."""
    shapes = sum(len(body.shapes) for body in bodies if body.kind != AREA)
    rigid = sum(len(body.shapes) for body in bodies if body.kind == RIGID)
    wheels = max(sum(len(body.wheels) for body in bodies), 1)
    if engine != GODOT or rigid == 0:
        return RigidRoom(wheels=wheels)
    monitored = sum(body.reports > 0 for body in bodies)
    most = min(rigid * (shapes - 1), rigid * _NEIGHBOURS, _MOST_PAIRS)
    every = sum(len(body.shapes) for body in bodies)
    return RigidRoom(max(most, 1), max(every, 2), max(monitored * MOST_REPORTS, 1), wheels)


def build_space(
    bodies: Sequence[BodyInfo], engine: str = JOLT, *, sees_static: bool = True
) -> tuple[Statics, np.ndarray]:
    """The shared arrays, and one row of `space_dtype`, for these bodies; their indices are their places here."""
    shapes = np.zeros(max(sum(len(body.shapes) for body in bodies), 1), SHAPE)
    vertices: list[np.ndarray] = []
    pairs = make_pairs(bodies, sees_static)
    cores = len(shapes) if engine == JOLT else 1
    rows = np.zeros(1, space_dtype(len(bodies), len(pairs), cores, _rigid_room(bodies, engine)))
    rows["wheels"]["body"] = -1
    place = wheels = 0
    for index, info in enumerate(bodies):
        row = rows[0]["bodies"][index]
        plain, scale = split_scale(info.transform, engine)
        for name in ("kind", "traits", "layer", "mask", "priority", "gravity_scale", "friction", "bounce"):
            row[name] = getattr(info, name)
        for name in ("linear_damp", "angular_damp", "linear_velocity", "angular_velocity"):
            row[name] = getattr(info, name)
        for name in ("constant_force", "constant_torque", "locks", "reports"):
            row[name] = getattr(info, name)
        row["woken"] = index
        row["transform"] = plain
        row["target"] = plain
        row["rotation"] = in_python(quaternion_of)(plain)
        row["first_shape"] = place
        row["shape_count"] = len(info.shapes)
        for number, shape in enumerate(info.shapes):
            shapes[place]["body"] = index
            shapes[place]["index"] = number
            _fill_shape(shapes[place], shape, scale, vertices, engine)
            if shape.disabled:
                row["disabled"] |= np.uint64(1 << number)
            place += 1
        if info.kind == RIGID:
            set_mass(row, shapes[row["first_shape"] : place], info.mass, info.inertia, info.center_of_mass, engine)
            in_python(update_tensor)(rows["bodies"].view(np.recarray)[0, index])
            if info.is_frozen:
                row["kind"] = info.frozen_kind
        for wheel in info.wheels:
            _fill_wheel(rows[0]["wheels"][wheels], index, wheel)
            wheels += 1
    points = np.concatenate(vertices) if vertices else np.zeros((1, 3), np.float32)
    roster = make_roster(bodies, pairs, sees_static)
    statics = Statics(shapes, np.ascontiguousarray(points, np.float32), pairs, roster)
    _find_bounds(make_space(as_records(statics), rows, engine))
    rows["counts"][:, WAKES] = len(bodies)
    rows["counts"][:, STIRRED_COUNT] = 0  # the first overlaps test all areas
    rows["bodies"]["traits"] &= ~STIRRED
    return statics, rows


@kernel
def _find_bounds(space: Any) -> None:
    for index in range(space.bodies.shape[0]):
        update_bounds(space, index)


def as_records(value: Any) -> Any:
    """The same arrays so that kernels can read their fields where Numba is switched off (NUMBA_DISABLE_JIT=1)."""
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return value
    if isinstance(value, Statics):
        shapes, pairs, roster = (one.view(np.recarray) for one in (value.shapes, value.pairs, value.roster))
        return Statics(shapes, value.vertices, pairs, roster)
    return value.view(np.recarray)


@kernel
def space_of(statics: Statics, row: Any) -> Space:
    """The space of one world, from the nested record of its row."""
    return Space(
        statics.shapes,
        statics.vertices,
        statics.pairs,
        statics.roster,
        row.bodies,
        row.bounds,
        row.cores,
        row.near,
        row.motion,
        row.touching,
        row.events,
        row.moved,
        row.stirred,
        row.active,
        row.counts,
        row.scratch,
        row.manifolds,
        row.fat,
        row.order,
        row.meetings,
        row.announced,
        row.wheels,
    )


def make_space(statics: Statics, rows: np.ndarray, engine: str) -> Any:
    """The space of the first row, for kernels that Python calls."""
    kind: Any = GodotSpace if engine == GODOT else Space
    arrays = (rows[0][name] for name in rows.dtype.names or ())
    return kind(*as_records(statics), *(as_records(array) if array.dtype.names else array for array in arrays))


def new_character(transform: Sequence[float]) -> np.ndarray:
    """One row of CHARACTER with Godot's defaults."""
    rows = np.zeros(1, CHARACTER)
    row = rows[0]
    row["transform"] = transform
    row["up"] = (0.0, 1.0, 0.0)
    row["margin"] = 0.001
    row["floor_max_angle"] = np.deg2rad(45.0)
    row["floor_snap_length"] = 0.1
    row["wall_min_slide_angle"] = np.deg2rad(15.0)
    row["max_slides"] = 6
    row["platform_floor_layers"] = 0xFFFFFFFF
    row["floor_stop_on_slope"] = 1
    row["floor_block_on_wall"] = 1
    row["slide_on_ceiling"] = 1
    row["platform"] = -1
    return rows
