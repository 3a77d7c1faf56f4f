"""Boxes around bodies, and which bodies are near."""

from typing import Any

import numpy as np

from godojo.twin.physics.cores import core_of, keep_core, out_of
from godojo.twin.physics.engines import by_engine
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import AREA, REMOVED, STATIC, STIRRED, STIRRED_COUNT, Space
from godojo.twin.physics.vectors import add, narrow, read3

Vector = Any
_FAR = 1e30


@inline
def shape_box(shape: Any, transform: Any, origin: Any) -> tuple[Vector, Vector]:
    """The corners of the box around a shape of a body with the basis of `transform` at `origin`."""
    core = core_of(shape, transform, origin)
    middle = (
        0.5 * (np.float64(shape.low[0]) + shape.high[0]),
        0.5 * (np.float64(shape.low[1]) + shape.high[1]),
        0.5 * (np.float64(shape.low[2]) + shape.high[2]),
    )
    half = (
        0.5 * (np.float64(shape.high[0]) - shape.low[0]),
        0.5 * (np.float64(shape.high[1]) - shape.low[1]),
        0.5 * (np.float64(shape.high[2]) - shape.low[2]),
    )
    center = add(core.center, out_of(core, middle))
    hx = abs(core.x[0]) * half[0] + abs(core.y[0]) * half[1] + abs(core.z[0]) * half[2]
    hy = abs(core.x[1]) * half[0] + abs(core.y[1]) * half[1] + abs(core.z[1]) * half[2]
    hz = abs(core.x[2]) * half[0] + abs(core.y[2]) * half[1] + abs(core.z[2]) * half[2]
    return (center[0] - hx, center[1] - hy, center[2] - hz), (center[0] + hx, center[1] + hy, center[2] + hz)


@inline
def is_enabled(body: Any, place: int) -> bool:
    return bool((body.disabled >> np.uint64(place)) & np.uint64(1) == np.uint64(0))


@call
def body_box(space: Space, index: int, transform: Any, origin: Vector) -> tuple[Vector, Vector]:
    """The corners of the box around the enabled shapes of a body."""
    body = space.bodies[index]
    lx, ly, lz = _FAR, _FAR, _FAR
    hx, hy, hz = -_FAR, -_FAR, -_FAR
    for place in range(body.shape_count):
        if is_enabled(body, place):
            low, high = shape_box(space.shapes[body.first_shape + place], transform, origin)
            lx, ly, lz = min(lx, low[0]), min(ly, low[1]), min(lz, low[2])
            hx, hy, hz = max(hx, high[0]), max(hy, high[1]), max(hz, high[2])
    return (lx, ly, lz), (hx, hy, hz)


@inline
def stir(space: Space, index: int) -> None:
    """Notes that an area or a static body must be tested at the next overlaps."""
    body = space.bodies[index]
    if body.traits & STIRRED == 0:
        body.traits |= STIRRED
        space.stirred[space.counts[STIRRED_COUNT]] = index
        space.counts[STIRRED_COUNT] += 1


@call
def _keep_cores(space: Space, index: int) -> None:
    body = space.bodies[index]
    for shape in range(body.first_shape, body.first_shape + body.shape_count):
        keep_core(space, shape, core_of(space.shapes[shape], body.transform, read3(body.transform[9:])))


@inline
def _keep_nothing(space: Space, index: int) -> None:
    pass


keep_cores = by_engine(_keep_cores, _keep_nothing)


@call
def update_bounds(space: Space, index: int) -> None:
    """To be called when the transform that queries see, or what is enabled, has changed."""
    body = space.bodies[index]
    origin = (np.float64(body.transform[9]), np.float64(body.transform[10]), np.float64(body.transform[11]))
    low, high = body_box(space, index, body.transform, origin)
    if body.kind == REMOVED:
        low, high = (_FAR, _FAR, _FAR), (-_FAR, -_FAR, -_FAR)
    bounds = space.bounds
    for axis in range(3):
        bounds[axis, index] = np.float32(low[axis] - 1e-5 - 1e-6 * abs(low[axis]))
        bounds[3 + axis, index] = np.float32(high[axis] + 1e-5 + 1e-6 * abs(high[axis]))
    keep_cores(space, index)
    if body.kind == AREA or (body.kind == STATIC and space.roster[index].rank >= 0):
        stir(space, index)


@call
def list_within(space: Space, low: Vector, high: Vector) -> int:
    """Lists in `space.near` everything whose box meets this one (32-bit corners); how many."""
    bounds, near = space.bounds, space.near
    lx, ly, lz = low[0], low[1], low[2]
    hx, hy, hz = high[0], high[1], high[2]
    count = bounds.shape[1]
    # First a flag for each, in a loop without branches that compiles to vector instructions.
    for index in range(count):
        near[index] = np.int32(
            (bounds[0, index] <= hx)
            & (bounds[3, index] >= lx)
            & (bounds[1, index] <= hy)
            & (bounds[4, index] >= ly)
            & (bounds[2, index] <= hz)
            & (bounds[5, index] >= lz)
        )
    found = 0
    blocks = count // 8 * 8
    for start in range(0, blocks, 8):
        some = near[start] | near[start + 1] | near[start + 2] | near[start + 3]
        some |= near[start + 4] | near[start + 5] | near[start + 6] | near[start + 7]
        if some != 0:
            for index in range(start, start + 8):
                if near[index] != 0:
                    near[found] = index
                    found += 1
    for index in range(blocks, count):
        if near[index] != 0:
            near[found] = index
            found += 1
    return found


@call
def find_near(space: Space, me: int, low: Vector, high: Vector, exclude: int) -> int:
    """Lists in `space.near` the bodies that a moving body can meet within a box; how many."""
    near = space.near
    mask = space.bodies[me].mask
    found = 0
    for number in range(list_within(space, narrow(low), narrow(high))):
        index = near[number]
        if index != me and index != exclude:
            body = space.bodies[index]
            if body.kind != AREA and body.kind != REMOVED and (body.layer & mask) != 0:
                near[found] = index
                found += 1
    return found


@inline
def origin_of(transform: Any) -> Vector:
    return read3(transform[9:])
