"""Areas: which bodies and areas overlap them, and who has entered or left."""

from typing import Any

import numpy as np

from godojo.twin.physics.bounds import is_enabled, list_within, stir
from godojo.twin.physics.cores import kept_core
from godojo.twin.physics.distance import gap_to_shape
from godojo.twin.physics.engines import by_engine
from godojo.twin.physics.godot.overlaps import can_see as godot_can_see
from godojo.twin.physics.godot.overlaps import overlaps as godot_overlaps
from godojo.twin.physics.godot.overlaps import was_there as godot_was_there
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.meshes import touches_mesh
from godojo.twin.physics.space import (
    ACTIVE_COUNT,
    AREA,
    AREAS_KNOWN,
    AT_REST,
    EVENTS,
    MESH,
    MONITORABLE,
    MONITORING,
    REMOVED,
    STATIC,
    STEPPED,
    STIRRED,
    STIRRED_COUNT,
    Space,
)

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
        mine = kept_core(space, np.int64(first.first_shape + i))
        for j in range(second.shape_count):
            other = space.shapes[second.first_shape + j]
            if not is_enabled(second, j):
                continue
            index = np.int64(second.first_shape + j)
            if other.kind == MESH:
                if touches_mesh(space, mine, kept_core(space, index), margin):
                    return True
                continue
            gap, _, _ = gap_to_shape(space, mine, index, margin)
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
def _is_never_there(space: Space, _area: int, other: int) -> bool:
    """Jolt's areas notice in their first step whatever is inside, and never what is taken out."""
    return bool(space.bodies[other].kind == REMOVED)


was_there = by_engine(_is_never_there, godot_was_there)
"""Whether an area has noticed a body before its first step, by the rules of the space's engine."""


@call
def _list_events(space: Space, pair: Any, with_areas: bool, entered: int, count: int) -> int:
    """Adds what has left or entered the area of a pair, bodies or areas, in the order of the pairs."""
    for index in range(pair.first, pair.end):
        other = space.pairs[index].other
        if space.touching[index] == (NOW if entered else BEFORE) and (space.bodies[other].kind == AREA) == with_areas:
            event = space.events[count]
            event.area, event.other, event.entered = pair.area, other, entered
            count += 1
    return count


@inline
def pair_of(space: Space, area: int, other: int) -> int:
    """The index of the pair of an area and another object that has a rank."""
    rank: int = space.roster[other].rank
    first: int = space.roster[area].first_pair
    return first + rank - (1 if rank > space.roster[area].rank else 0)


@call
def forget_overlaps(space: Space, area: int) -> bool:
    """Forgets what is inside an area that is taken out; returns whether there was anything."""
    found = False
    for index in range(space.roster[area].first_pair, space.pairs.shape[0]):
        if space.pairs[index].area != area:
            break
        found |= bool(space.touching[index] & NOW)
        space.touching[index] = np.uint8(0)
    return found


@call
def _update_pair(space: Space, area: int, other: int) -> int:
    """The pair's index if the two have met or parted since the last step, or -1; lists it as active while they meet."""
    index, touching = pair_of(space, area, other), space.touching
    before = (touching[index] & NOW) >> np.uint8(1)
    now = can_see(space, area, other) and overlaps(space, area, other, 0.0)
    if now and touching[index] == 0:
        if space.counts[ACTIVE_COUNT] == space.active.shape[0]:
            return -1
        space.active[space.counts[ACTIVE_COUNT]] = index
        space.counts[ACTIVE_COUNT] += 1
        if was_there(space, area, other):
            before = BEFORE
    touching[index] = before | (NOW if now else np.uint8(0))
    return index if touching[index] == BEFORE or touching[index] == NOW else -1


@call
def _update_active(space: Space) -> tuple[int, int]:
    """Tests again what overlapped or left at the last step; the first and the last pair that has changed."""
    touching, pairs, active = space.touching, space.pairs, space.active
    first, last, kept = pairs.shape[0], -1, 0
    for place in range(space.counts[ACTIVE_COUNT]):
        if touching[active[place]] == 0:  # forgotten
            continue
        pair = pairs[active[place]]
        area, other = space.bodies[pair.area], space.bodies[pair.other]
        # Areas and static bodies that overlap do so until one of them changes.
        is_settled = touching[active[place]] == BEFORE | NOW and (other.kind == AREA or other.kind == STATIC)
        if not (is_settled and (area.traits | other.traits) & STIRRED == 0 and space.counts[AREAS_KNOWN] != 0):
            index = _update_pair(space, pair.area, pair.other)
            if index >= 0:
                first, last = min(first, index), max(last, index)
        if touching[active[place]] != 0:
            active[kept] = active[place]
            kept += 1
    space.counts[ACTIVE_COUNT] = kept
    return first, last


@inline
def _list_around(space: Space, body: int) -> int:
    bounds = space.bounds
    low = (bounds[0, body], bounds[1, body], bounds[2, body])
    return list_within(space, low, (bounds[3, body], bounds[4, body], bounds[5, body]))


@call
def update_overlaps(space: Space) -> None:
    """Finds what has entered and left since the last step.

    In the order in which Godot emits signals: the area that was noticed last comes first (exits are noticed before
    entries); in an area, bodies before areas, and those that left before those that entered. Areas that have not
    changed meet no other areas and no static bodies that have not changed: then only bodies that move are tested.
    """
    touching, pairs, roster, bodies = space.touching, space.pairs, space.roster, space.bodies
    if pairs.shape[0] == 0:
        return
    if space.counts[AREAS_KNOWN] == 0:
        for place in range(roster.shape[0]):
            if roster[place].area < 0:
                break
            if bodies[roster[place].area].traits & STIRRED == 0:
                bodies[roster[place].area].traits |= AT_REST
            stir(space, roster[place].area)
    first, last = _update_active(space)
    for place in range(roster.shape[0]):
        mover = roster[place].mover
        if mover < 0:
            break
        for number in range(_list_around(space, mover)):
            area = space.near[number]
            if bodies[area].kind == AREA and touching[pair_of(space, area, mover)] == 0:
                index = _update_pair(space, area, mover)
                if index >= 0:
                    first, last = min(first, index), max(last, index)
    for place in range(space.counts[STIRRED_COUNT]):
        one = space.stirred[place]
        for number in range(_list_around(space, one)):
            two = space.near[number]
            if two == one or roster[two].rank < 0 or not (bodies[two].kind == AREA or bodies[two].kind == STATIC):
                continue
            for turned in (False, True):
                area, other = (two, one) if turned else (one, two)
                if bodies[area].kind == AREA and touching[pair_of(space, area, other)] == 0:
                    index = _update_pair(space, area, other)
                    if index >= 0:
                        first, last = min(first, index), max(last, index)
    for place in range(space.counts[STIRRED_COUNT]):
        bodies[space.stirred[place]].traits &= ~(STIRRED | AT_REST)
    space.counts[STIRRED_COUNT] = 0
    space.counts[AREAS_KNOWN], space.counts[STEPPED] = 1, 1
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
    space.counts[EVENTS] = count
