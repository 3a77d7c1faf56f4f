"""How deep two shapes overlap along an axis: Godot's `test_axis`, where a rougher measure leaves it open."""

from typing import Any, NamedTuple

import numpy as np

from godojo.twin.physics.godot.solids import Solid, column, corner, extent, local
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import BOX, CAPSULE, CYLINDER, SPHERE
from godojo.twin.physics.vectors import F0, F1, add, dot, is_near_zero, length32, neg, normalized32, sub

Vector = Any

_HALF = np.float32(0.5)
_ROUNDING = np.float32(1e-6)  # for each metre that shapes are large or away from the origin
_ROUNDING_OF_RIM = np.float32(1e-3)  # for each metre of radius
_SHORT = np.float32(1e-10)


class Pair(NamedTuple):
    """Two shapes with their margins, in Godot's order of shapes."""

    a: Solid
    b: Solid
    margin_a: Any
    margin_b: Any
    vertices: np.ndarray
    between: Vector  # from the first to the second
    rounding: Vector  # see `rounding_of`


class Best(NamedTuple):
    """The best axis so far, and how deep the shapes overlap along it; negative: they are apart."""

    depth: Any
    axis: Vector


NOTHING_YET = np.float32(1e15)
APART = np.float32(-1.0)


@inline
def _size(v: Vector) -> Any:
    return abs(v[0]) + abs(v[1]) + abs(v[2])


@inline
def rounding_of(solid: Solid) -> Vector:
    """More than what rounding can make of an extent along x, y and z.

    That of a cylinder is a square root of almost nothing along its axis.
    """
    size = _ROUNDING * (F1 + _size(solid.half))
    if solid.kind == CYLINDER:
        size += _ROUNDING_OF_RIM * solid.half[0]
    at = solid.origin
    return (size + _ROUNDING * abs(at[0]), size + _ROUNDING * abs(at[1]), size + _ROUNDING * abs(at[2]))


@inline
def room_along(v: Vector, rounding: Vector) -> Any:
    """The same along `v`, times its length."""
    return abs(v[0]) * rounding[0] + abs(v[1]) * rounding[1] + abs(v[2]) * rounding[2]


@inline
def pair_of(a: Solid, b: Solid, margin_a: Any, margin_b: Any, vertices: np.ndarray) -> Pair:
    rounding = add(rounding_of(a), rounding_of(b))
    return Pair(a, b, margin_a, margin_b, vertices, sub(b.origin, a.origin), rounding)


@call
def measure(pair: Pair, best: Best, axis: Vector) -> Best:
    """Godot's `test_axis`."""
    if best.depth < F0:
        return best
    if is_near_zero(axis):
        axis = (F0, F1, F0)
    low_a, high_a = extent(pair.a, pair.vertices, axis)
    low_b, high_b = extent(pair.b, pair.vertices, axis)
    low_a, high_a = low_a - pair.margin_a, high_a + pair.margin_a
    low_b, high_b = low_b - pair.margin_b, high_b + pair.margin_b
    size, middle = (high_a - low_a) * _HALF, (low_a + high_a) * _HALF
    low = (low_b - size) - middle
    high = (high_b + size) - middle
    if low > F0 or high < F0:
        return Best(APART, axis)
    low = abs(low)
    if high < low:
        if high < best.depth:
            return Best(high, axis)
    elif low < best.depth:
        return Best(low, neg(axis))
    return best


@inline
def _reach(solid: Solid, v: Vector) -> Any:
    """How far a box, sphere, capsule or cylinder extends from its origin along `v`, times the length of `v`."""
    inner, half = local(solid, v), solid.half
    if solid.kind == BOX:
        return half[0] * abs(inner[0]) + half[1] * abs(inner[1]) + half[2] * abs(inner[2])
    if solid.kind == CAPSULE:
        return half[0] * length32(inner) + half[1] * abs(inner[1])
    if solid.kind == SPHERE:
        return half[0] * length32(inner)
    along = abs(inner[1]) / (length32(column(solid, 1)) * length32(v))
    return length32(inner) * (half[1] * along + half[0] * np.float32(np.sqrt(max(F1 - along * along, F0))))


@inline
def span(solid: Solid, vertices: np.ndarray, v: Vector) -> tuple[Any, Any]:
    """The least and the greatest value along `v`, from the shape's origin, times the length of `v`."""
    if solid.kind <= CYLINDER:
        reach = _reach(solid, v)
        return -reach, reach
    inner = local(solid, v)
    low, high = np.float32(np.inf), np.float32(-np.inf)
    for index in range(solid.corners):
        value = dot(inner, corner(solid, vertices, index))
        low, high = min(low, value), max(high, value)
    return low, high


@inline
def depth_along(pair: Pair, v: Vector) -> Any:
    """About how deep the shapes overlap along `v`, times its length."""
    low_a, high_a = span(pair.a, pair.vertices, v)
    low_b, high_b = span(pair.b, pair.vertices, v)
    shift, margin = dot(v, pair.between), (pair.margin_a + pair.margin_b) * length32(v)
    return min(high_a - (low_b + shift), (high_b + shift) - low_a) + margin


_STAYS, _IS_APART, _IS_OPEN = range(3)


@inline
def _glance(pair: Pair, best: Best, v: Vector) -> int:
    """What `measure` finds along `v` of any length, if that is clear: that `best` stays, or that the two are apart."""
    if best.depth < F0:
        return _STAYS
    length = length32(v)
    if not length > _SHORT:
        return _IS_OPEN
    depth = depth_along(pair, v)
    room = room_along(v, pair.rounding)
    if depth > best.depth * length + room:
        return _STAYS
    return _IS_APART if depth < -room else _IS_OPEN


@inline
def test_unit(pair: Pair, best: Best, axis: Vector) -> Best:
    """As `measure`, which is called only where a glance leaves open what it finds."""
    seen = _glance(pair, best, axis)
    if seen == _IS_OPEN:
        return measure(pair, best, axis)
    return best if seen == _STAYS else Best(APART, axis)


@inline
def test(pair: Pair, best: Best, v: Vector) -> Best:
    """As `test_unit`, along a vector of any length."""
    seen = _glance(pair, best, v)
    if seen == _IS_OPEN:
        return measure(pair, best, normalized32(v))
    return best if seen == _STAYS else Best(APART, v)


@inline
def toward(axis: Vector, normal: Vector) -> Vector:
    return neg(axis) if dot(axis, normal) < F0 else axis


@inline
def test_facing(pair: Pair, best: Best, v: Vector, normal: Vector) -> Best:
    """As `test`, with the axis on the front side of a triangle."""
    seen = _glance(pair, best, v)
    if seen == _IS_OPEN:
        return measure(pair, best, toward(normalized32(v), normal))
    return best if seen == _STAYS else Best(APART, v)
