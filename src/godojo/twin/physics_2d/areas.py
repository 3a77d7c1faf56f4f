"""Areas of GodotPhysics2D: what overlaps them, who has entered or left, and in which order that is announced."""

from typing import Any

import numpy as np

from godojo.twin.physics.areas import BEFORE, NOW, pair_of
from godojo.twin.physics.godot.overlaps import can_see
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import ACTIVE_COUNT, AREA, AREAS_KNOWN, EVENTS, REMOVED, STATIC, Space
from godojo.twin.physics.vectors import F0
from godojo.twin.physics_2d.motion import is_enabled, list_within
from godojo.twin.physics_2d.separate import touches
from godojo.twin.physics_2d.shapes import solid_of
from godojo.twin.physics_2d.vectors import ZERO, read6

FLUSHES, FLUSHES_AT_STEP = 6, 7
"""Places in `Space.counts`: how often transforms were handed to the server, and how often when the last step began."""
MOST_MOVES = 1 << 16


@inline
def _is_apart(bounds: np.ndarray, i: int, j: int) -> bool:
    """Whether the boxes around two shapes do not meet."""
    return bool(
        (bounds[0, i] > bounds[2, j])
        | (bounds[2, i] < bounds[0, j])
        | (bounds[1, i] > bounds[3, j])
        | (bounds[3, i] < bounds[1, j])
    )


@call
def _overlap(space: Space, one: int, two: int) -> bool:
    first, second, bounds = space.bodies[one], space.bodies[two], space.bounds
    for i in range(first.first_shape, first.first_shape + first.shape_count):
        if not is_enabled(first, space.shapes[i]):
            continue
        for j in range(second.first_shape, second.first_shape + second.shape_count):
            if _is_apart(bounds, i, j):
                continue
            if is_enabled(second, space.shapes[j]):
                theirs = solid_of(space.shapes[j], read6(second.transform))
                mine = solid_of(space.shapes[i], read6(first.transform))
                if touches(theirs, mine, ZERO, F0, space.vertices):
                    return True
    return False


@call
def _is_near(space: Space, one: int, two: int) -> bool:
    """Whether the boxes around any two shapes of two objects meet."""
    first, second = space.bodies[one], space.bodies[two]
    for i in range(first.first_shape, first.first_shape + first.shape_count):
        for j in range(second.first_shape, second.first_shape + second.shape_count):
            if not _is_apart(space.bounds, i, j):
                return True
    return False


@call
def _update_pair(space: Space, index: int) -> bool:
    """Whether the two of a pair have met or parted since the last step."""
    touching = space.touching
    area, other = space.pairs[index].area, space.pairs[index].other
    before = (touching[index] & NOW) >> np.uint8(1)
    now = can_see(space, area, other) and _overlap(space, area, other)
    touching[index] = before | (NOW if now else np.uint8(0))
    return bool(touching[index] == BEFORE or touching[index] == NOW)


@call
def _meet(space: Space, area: int, other: int) -> None:
    """Tests a pair; lists it as active if the two have met."""
    index = pair_of(space, area, other)
    if space.touching[index] != 0 or space.counts[ACTIVE_COUNT] == space.active.shape[0]:
        return
    if _update_pair(space, index):
        space.active[space.counts[ACTIVE_COUNT]] = index
        space.counts[ACTIVE_COUNT] += 1


@call
def _update_active(space: Space, is_known: bool) -> None:
    """Tests again what overlapped or left at the last step; what areas see of areas and of static bodies is settled
    while nothing has changed."""
    touching, pairs, active, bodies = space.touching, space.pairs, space.active, space.bodies
    kept = 0
    for place in range(space.counts[ACTIVE_COUNT]):
        index = active[place]
        if touching[index] == 0:  # forgotten
            continue
        kind = bodies[pairs[index].other].kind
        is_settled = is_known and touching[index] == BEFORE | NOW and kind in (AREA, STATIC)
        if not is_settled:
            _update_pair(space, index)
        if touching[index] != 0:
            active[kept] = index
            kept += 1
    space.counts[ACTIVE_COUNT] = kept


@call
def _find_met(space: Space, body: int, meets_areas_only: bool) -> None:
    """Tests a body or an area with all whose boxes meet its own."""
    bodies, bounds, record = space.bodies, space.bounds, space.bodies[body]
    for shape in range(record.first_shape, record.first_shape + record.shape_count):
        low, high = (bounds[0, shape], bounds[1, shape]), (bounds[2, shape], bounds[3, shape])
        for number in range(list_within(space, low, high)):
            other = space.shapes[space.near[number]].body
            if other == body:
                continue
            if not meets_areas_only:
                if bodies[other].kind != REMOVED:
                    _meet(space, body, other)
            elif bodies[other].kind == AREA:
                _meet(space, other, body)


@call
def update_overlaps(space: Space) -> None:
    """Finds what has entered and left areas since the last step.

    Areas meet static bodies and each other only where one of them has changed; otherwise pairs with others are tested.
    """
    bodies, roster = space.bodies, space.roster
    is_known = bool(space.counts[AREAS_KNOWN] != 0)
    if space.pairs.shape[0] == 0:
        return
    _update_active(space, is_known)
    for place in range(roster.shape[0]):
        body = roster[place].mover if is_known else roster[place].area
        if body < 0:
            break
        if bodies[body].kind != REMOVED:
            _find_met(space, body, is_known)
    _list_changes(space)


@call
def _rank(space: Space, index: int) -> Any:
    """When the step notices a pair, lower is earlier: first what is far apart, then areas that have moved, then bodies;
    those that began to move last come first."""
    pair = space.pairs[index]
    area, other = space.bodies[pair.area], space.bodies[pair.other]
    stamp = other.stamp
    if space.touching[index] == BEFORE and not _is_near(space, pair.area, pair.other):
        return -(np.int64(1) << np.int64(60)) + index
    since = np.int64(space.counts[FLUSHES_AT_STEP] + 1) * MOST_MOVES
    if area.stamp >= since or other.kind == AREA:
        stamp = (np.int64(1) << np.int64(40)) + max(area.stamp, other.stamp if other.kind == AREA else np.int64(0))
    return -stamp * np.int64(4096) + index % np.int64(4096)


@inline
def _comes_before(space: Space, one: int, two: int) -> bool:
    """Of two events: the area that was noticed last comes first; in an area, bodies come before areas."""
    first, second = space.events[one], space.events[two]
    if first.area_rank != second.area_rank:
        return bool(first.area_rank > second.area_rank)
    is_area, is_other_area = space.bodies[first.other].kind == AREA, space.bodies[second.other].kind == AREA
    if is_area != is_other_area:
        return bool(is_other_area)
    return bool(first.rank < second.rank)


@call
def _list_changes(space: Space) -> None:
    """Lists what has changed among active pairs, in the order in which Godot emits signals."""
    events, bodies = space.events, space.bodies
    count, is_settled = 0, True
    for place in range(space.counts[ACTIVE_COUNT]):
        index = space.active[place]
        state, pair = space.touching[index], space.pairs[index]
        if state == BEFORE | NOW or count == events.shape[0]:
            continue
        kind = bodies[pair.other].kind
        is_settled &= kind not in (AREA, STATIC)
        event = events[count]
        event.area, event.other, event.entered = pair.area, pair.other, 1 if state == NOW else 0
        event.rank = event.area_rank = _rank(space, index)
        for earlier in range(count):
            if events[earlier].area == pair.area:
                least = min(events[earlier].area_rank, event.area_rank)
                events[earlier].area_rank = event.area_rank = least
        count += 1
    for place in range(1, count):
        at = place
        while at > 0 and _comes_before(space, at, at - 1):
            _swap(events, at, at - 1)
            at -= 1
    space.counts[EVENTS] = count
    space.counts[AREAS_KNOWN] = 1 if is_settled else 0
    space.counts[FLUSHES_AT_STEP] = space.counts[FLUSHES]


@inline
def _swap(events: np.ndarray, one: int, two: int) -> None:
    a, b = events[one], events[two]
    a.area, b.area = b.area, a.area
    a.other, b.other = b.other, a.other
    a.entered, b.entered = b.entered, a.entered
    a.rank, b.rank = b.rank, a.rank
    a.area_rank, b.area_rank = b.area_rank, a.area_rank
