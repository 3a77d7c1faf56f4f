"""Areas: which bodies and areas overlap them, and who has entered or left."""

from typing import Any

import numpy as np

from godojo.twin.physics.bounds import is_enabled
from godojo.twin.physics.cores import core_of
from godojo.twin.physics.distance import find_gap
from godojo.twin.physics.engines import by_engine
from godojo.twin.physics.godot.overlaps import can_see as godot_can_see
from godojo.twin.physics.godot.overlaps import overlaps as godot_overlaps
from godojo.twin.physics.godot.overlaps import was_there as godot_was_there
from godojo.twin.physics.jit import call
from godojo.twin.physics.meshes import touches_mesh
from godojo.twin.physics.space import AREA, MESH, MONITORABLE, MONITORING, REMOVED, STATIC, Space
from godojo.twin.physics.vectors import read3

BEFORE, NOW = np.uint8(1), np.uint8(2)
"""Bits of `Space.touching`: overlapped at the last step, overlaps now."""


@call
def _overlaps(space: Space, one: int, two: int, margin: float) -> bool:
    """Whether two objects are closer than the margin, where queries see them."""
    bounds = space.bounds
    for axis in range(3):
        if bounds[axis, one] - margin > bounds[3 + axis, two] or bounds[axis, two] - margin > bounds[3 + axis, one]:
            return False
    first, second = space.bodies[one], space.bodies[two]
    for i in range(first.shape_count):
        if not is_enabled(first, i):
            continue
        shape = space.shapes[first.first_shape + i]
        if shape.kind == MESH:
            continue
        mine = core_of(shape, first.transform, read3(first.transform[9:]))
        for j in range(second.shape_count):
            other = space.shapes[second.first_shape + j]
            if not is_enabled(second, j):
                continue
            theirs = core_of(other, second.transform, read3(second.transform[9:]))
            if other.kind == MESH:
                if touches_mesh(space, mine, theirs, margin):
                    return True
                continue
            gap, _, _ = find_gap(mine, theirs, space.vertices, space.scratch, margin)
            if gap <= margin:
                return True
    return False


overlaps = by_engine(_overlaps, godot_overlaps)
"""Whether two objects are closer than a margin, by the rules of the space's engine."""


@call
def _can_see(space: Space, area: int, other: int) -> bool:
    """Whether an area monitors another object."""
    me, them = space.bodies[area], space.bodies[other]
    if me.kind != AREA or me.traits & MONITORING == 0 or (me.mask & them.layer) == 0:
        return False
    if them.kind == AREA:
        return bool(them.traits & MONITORABLE)
    return bool(them.kind != REMOVED)


can_see = by_engine(_can_see, godot_can_see)
"""Whether an area monitors another object, by the rules of the space's engine."""


@call
def _is_never_there(space: Space, other: int) -> bool:
    """Jolt's areas notice in their first step whatever is inside, and never what is taken out."""
    return bool(space.bodies[other].kind == REMOVED)


was_there = by_engine(_is_never_there, godot_was_there)
"""Whether an area has noticed a body before its first step, by the rules of the space's engine."""


@call
def _list_events(space: Space, pair: Any, with_areas: bool, entered: int, count: int) -> int:
    """Adds what has left or entered the area of a pair, bodies or areas, in the order of the pairs."""
    for index in range(pair.first, pair.end):
        other = space.pairs[index].other
        is_changed = space.touching[index] == (NOW if entered else BEFORE) and count < space.events.shape[0]
        if is_changed and (space.bodies[other].kind == AREA) == with_areas:
            event = space.events[count]
            event.area, event.other, event.entered = pair.area, other, entered
            count += 1
    return count


@call
def forget_overlaps(space: Space, area: int) -> bool:
    """Forgets what is inside an area that is taken out; returns whether there was anything."""
    found = False
    for index in range(space.pairs.shape[0]):
        if space.pairs[index].area == area and space.touching[index] != 0:
            found |= bool(space.touching[index] & NOW)
            space.touching[index] = np.uint8(0)
    return found


@call
def _update_pair(space: Space, index: int) -> bool:
    """Whether the two of a pair have met or parted since the last step."""
    touching, bounds = space.touching, space.bounds
    area, other = space.pairs[index].area, space.pairs[index].other
    is_near = (
        (bounds[0, area] <= bounds[3, other])
        & (bounds[3, area] >= bounds[0, other])
        & (bounds[2, area] <= bounds[5, other])
        & (bounds[5, area] >= bounds[2, other])
    )
    if not is_near and touching[index] == 0:
        return False
    before = (touching[index] & NOW) >> np.uint8(1)
    now = is_near and can_see(space, area, other) and overlaps(space, area, other, 0.0)
    if now and was_there(space, other):
        before = BEFORE
    touching[index] = before | (NOW if now else np.uint8(0))
    return bool(touching[index] == BEFORE or touching[index] == NOW)


@call
def update_overlaps(space: Space) -> None:
    """Finds what has entered and left since the last step.

    In the order in which Godot emits signals: the area that was noticed last comes first (exits are noticed before
    entries); in an area, bodies before areas, and those that left before those that entered. Areas that have not
    changed meet no other areas and no static bodies: then only pairs with bodies that move are tested.
    """
    touching, pairs = space.touching, space.pairs
    first, last = pairs.shape[0], -1
    if space.counts[1] != 0:
        for place in range(pairs.shape[0]):
            index = pairs[place].moving
            if index < 0:
                break
            if _update_pair(space, index):
                first, last = min(first, index), max(last, index)
    else:
        space.counts[1] = 1
        for index in range(pairs.shape[0]):
            if _update_pair(space, index):
                first, last = min(first, index), max(last, index)
                kind = space.bodies[pairs[index].other].kind
                if kind in (AREA, STATIC):
                    space.counts[1] = 0
    space.counts[2] = 1
    count = 0
    for entered in (1, 0):
        for index in range(last, first - 1, -1):
            if touching[index] != (NOW if entered else BEFORE):
                continue
            # An area is noticed at its first exit or, without exits, at its first entry.
            pair = pairs[index]
            is_first = True
            for earlier in range(pair.first, pair.end):
                if entered and touching[earlier] == BEFORE:
                    is_first = False
                if earlier < index and touching[earlier] == touching[index]:
                    is_first = False
            if is_first:
                for with_areas in (False, True):
                    for kind in (0, 1):
                        count = _list_events(space, pair, with_areas, kind, count)
    space.counts[0] = count
