"""The server's side of a tick: when transforms take effect, areas, and the step at its end."""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.areas import BEFORE, NOW, pair_of
from godojo.twin.physics.godot.overlaps import can_see
from godojo.twin.physics.jit import call
from godojo.twin.physics.space import AREA, AREAS_KNOWN, EVENTS, KINEMATIC, MOVED, REMOVED, RIGID, STATIC, Space
from godojo.twin.physics.vectors import F0, F1
from godojo.twin.physics_2d.motion import is_enabled, update_bounds
from godojo.twin.physics_2d.separate import touches
from godojo.twin.physics_2d.shapes import solid_of
from godojo.twin.physics_2d.space import LAST_STEP
from godojo.twin.physics_2d.vectors import ZERO, add, dot, length, mul, read2, read6, sub, write2

_TURN = 2.0 * math.pi


FLUSHES, FLUSHES_AT_STEP = 6, 7
"""Places in `Space.counts`: how often transforms were handed to the server, and how often when the last step began."""
_MOST_MOVES = 1 << 16


@call
def set_body_transform(space: Space, body: int, transform: Any, order: int) -> None:
    """What setting a node's global transform does: queries of others see it after `flush_transforms`; that of a
    kinematic body after the step. `order`: how many nodes were moved before it since the last flush."""
    record = space.bodies[body]
    for part in range(6):
        record.target[part] = transform[part]
    record.traits |= MOVED
    if record.kind == AREA or record.stamp == 0:
        # Nodes that moved last are handed on first, and what is handed on last comes first in Godot's lists.
        record.stamp = (
            (np.int64(space.counts[FLUSHES]) + 1) * _MOST_MOVES + _MOST_MOVES - 1 - min(order, _MOST_MOVES - 2)
        )


@call
def flush_transforms(space: Space) -> None:
    """Hands the new transforms of nodes to the server."""
    space.counts[FLUSHES] += 1
    for body in range(space.bodies.shape[0]):
        record = space.bodies[body]
        if record.traits & MOVED == 0:
            continue
        record.traits &= ~MOVED
        if record.kind != KINEMATIC:
            space.counts[AREAS_KNOWN] = 0
            for part in range(6):
                record.transform[part] = record.target[part]
            update_bounds(space, body)


# Areas


@call
def _overlap(space: Space, one: int, two: int) -> bool:
    first, second, bounds = space.bodies[one], space.bodies[two], space.bounds
    for i in range(first.first_shape, first.first_shape + first.shape_count):
        if not is_enabled(first, space.shapes[i]):
            continue
        for j in range(second.first_shape, second.first_shape + second.shape_count):
            if (
                (bounds[0, i] > bounds[2, j])
                | (bounds[2, i] < bounds[0, j])
                | (bounds[1, i] > bounds[3, j])
                | (bounds[3, i] < bounds[1, j])
            ):
                continue
            if is_enabled(second, space.shapes[j]):
                theirs = solid_of(space.shapes[j], read6(second.transform))
                mine = solid_of(space.shapes[i], read6(first.transform))
                if touches(theirs, mine, ZERO, F0, space.vertices):
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
def _rank(space: Space, index: int) -> Any:
    """When the step notices a pair, lower is earlier: first what is far apart, then areas that have moved, then bodies;
    those that began to move last come first."""
    pair = space.pairs[index]
    area, other = space.bodies[pair.area], space.bodies[pair.other]
    stamp = other.stamp
    if space.touching[index] == BEFORE and not _is_near(space, pair.area, pair.other):
        return -(np.int64(1) << np.int64(60)) + index
    since = np.int64(space.counts[FLUSHES_AT_STEP] + 1) * _MOST_MOVES
    if area.stamp >= since or other.kind == AREA:
        stamp = (np.int64(1) << np.int64(40)) + max(area.stamp, other.stamp if other.kind == AREA else np.int64(0))
    return -stamp * np.int64(4096) + index % np.int64(4096)


@call
def _is_near(space: Space, one: int, two: int) -> bool:
    """Whether the boxes around any two shapes of two objects meet."""
    first, second, bounds = space.bodies[one], space.bodies[two], space.bounds
    for i in range(first.first_shape, first.first_shape + first.shape_count):
        for j in range(second.first_shape, second.first_shape + second.shape_count):
            is_apart = (
                (bounds[0, i] > bounds[2, j])
                | (bounds[2, i] < bounds[0, j])
                | (bounds[1, i] > bounds[3, j])
                | (bounds[3, i] < bounds[1, j])
            )
            if not is_apart:
                return True
    return False


@call
def _next_pair(space: Space, first: int, end: int, with_areas: bool, after: Any) -> Any:
    """The earliest change among pairs of an area that was noticed later than a rank: its index or -1, and its rank."""
    found, best = -1, np.int64(1) << np.int64(62)
    for index in range(first, end):
        is_changed = space.touching[index] == NOW or space.touching[index] == BEFORE
        if is_changed and (space.bodies[space.pairs[index].other].kind == AREA) == with_areas:
            rank = _rank(space, index)
            if after < rank < best:
                found, best = index, rank
    return found, best


@call
def _list_changes(space: Space, first: int, last: int) -> None:
    """Lists what the pairs from `first` to `last` have noticed, in the order in which Godot emits signals.

    The area that was noticed last comes first; in an area, bodies come before areas.
    """
    count, limit, least = 0, np.int64(1) << np.int64(62), -(np.int64(1) << np.int64(62))
    while last >= first:
        latest, start = least, -1
        index = first
        while index <= last:
            pair = space.pairs[index]
            rank = limit
            for with_areas in (False, True):
                found, at = _next_pair(space, pair.first, pair.end, with_areas, least)
                if found >= 0:
                    rank = min(rank, at)
            if latest < rank < limit:
                latest, start = rank, index
            index = pair.end
        if start < 0:
            break
        limit = latest
        pair = space.pairs[start]
        for with_areas in (False, True):
            found, at = _next_pair(space, pair.first, pair.end, with_areas, least)
            while found >= 0:
                event = space.events[count]
                event.area, event.other = pair.area, space.pairs[found].other
                event.entered = 1 if space.touching[found] == NOW else 0
                count += 1
                found, at = _next_pair(space, pair.first, pair.end, with_areas, at)
    space.counts[EVENTS] = count
    space.counts[FLUSHES_AT_STEP] = space.counts[FLUSHES]


@call
def update_overlaps(space: Space) -> None:
    """Finds what has entered and left areas since the last step.

    Areas meet static bodies and each other only where one of them has changed; otherwise pairs with others are tested.
    """
    pairs, bodies, roster = space.pairs, space.bodies, space.roster
    first, last = pairs.shape[0], -1
    if space.counts[AREAS_KNOWN] != 0:
        for place in range(roster.shape[0]):
            if roster[place].mover < 0:
                break
            for number in range(roster.shape[0]):
                if roster[number].area < 0:
                    break
                index = pair_of(space, roster[number].area, roster[place].mover)
                if _update_pair(space, index):
                    first, last = min(first, index), max(last, index)
    else:
        space.counts[AREAS_KNOWN] = 1
        index = 0
        while index < pairs.shape[0]:
            pair = pairs[index]
            if bodies[pair.area].kind == REMOVED:  # it has forgotten what was inside
                index = pair.end
                continue
            kind = bodies[pair.other].kind
            if (kind != REMOVED or space.touching[index] != 0) and _update_pair(space, index):
                first, last = min(first, index), max(last, index)
                if kind in (AREA, STATIC):
                    space.counts[AREAS_KNOWN] = 0
            index += 1
    _list_changes(space, first, last)


# Bodies


@call
def _rotation(transform: Any) -> Any:
    return np.float32(math.atan2(transform[1], transform[0]))


@call
def _aim_kinematic(space: Space, body: int, step: np.float32) -> None:
    """Gives a kinematic body the velocity that brings it to its target."""
    record = space.bodies[body]
    moved = sub(read2(record.target[4:]), read2(record.transform[4:]))
    write2(record.linear_velocity, add(read2(record.constant_velocity), (moved[0] / step, moved[1] / step)))
    turn = F0
    if record.target[0] != record.transform[0] or record.target[1] != record.transform[1]:
        angle = np.float64(_rotation(record.target) - _rotation(record.transform))
        turn = np.float32(angle - _TURN * np.round(angle / _TURN)) / step
    record.angular_velocity = record.constant_spin + turn


@call
def _add_forces(space: Space, body: int, gravity: Any, step: np.float32) -> None:
    record = space.bodies[body]
    pull = mul(gravity, record.gravity_scale)
    force = add(add(mul(pull, record.mass), read2(record.force)), read2(record.constant_force))
    velocity = mul(read2(record.linear_velocity), max(F1 - step * record.linear_damp, F0))
    write2(record.linear_velocity, add(velocity, mul(mul(force, record.inverse_mass), step)))
    torque = record.torque + record.constant_torque
    spin = record.angular_velocity * max(F1 - step * record.angular_damp, F0)
    record.angular_velocity = spin + record.inverse_inertia * torque * step
    write2(record.force, ZERO)
    record.torque = F0


@call
def _move_rigid(space: Space, body: int, step: np.float32) -> None:
    record = space.bodies[body]
    t = record.transform
    turn = record.angular_velocity * step
    angle = _rotation(t) + turn
    place = add(read2(t[4:]), mul(read2(record.linear_velocity), step))
    center = (t[0] * record.center[0] + t[2] * record.center[1], t[1] * record.center[0] + t[3] * record.center[1])
    if dot(center, center) > np.float32(1e-10):
        c, s = np.float32(math.cos(turn)), np.float32(math.sin(turn))
        place = add(place, sub(center, (center[0] * c - center[1] * s, center[0] * s + center[1] * c)))
    size_x, size_y = length((t[0], t[1])), length((t[2], t[3]))
    if t[0] * t[3] - t[1] * t[2] < F0:
        size_y = -size_y
    c, s = np.float32(math.cos(angle)), np.float32(math.sin(angle))
    t[0], t[1], t[2], t[3] = c * size_x, s * size_x, -s * size_y, c * size_y
    write2(t[4:], place)
    for part in range(6):
        record.target[part] = t[part]
    update_bounds(space, body)


@call
def _move_kinematic(space: Space, body: int) -> None:
    record = space.bodies[body]
    has_moved = False
    for part in range(6):
        has_moved |= record.transform[part] != record.target[part]
        record.transform[part] = record.target[part]
    if has_moved:
        update_bounds(space, body)
    if record.linear_velocity[0] == F0 and record.linear_velocity[1] == F0 and record.angular_velocity == F0:
        record.stamp = 0


@call
def step_space(space: Space, gravity: Any, delta: float) -> None:
    """The physics step after all `_physics_process`: finds overlaps, moves rigid and kinematic bodies.

    Entered and exited pairs are in `space.events` afterwards, as many as `space.counts[EVENTS]` says; their signals are
    emitted before the next `_physics_process`.
    """
    step = np.float32(delta)
    space.scratch[LAST_STEP] = delta
    flush_transforms(space)
    bodies = space.bodies
    for body in range(bodies.shape[0]):
        if bodies[body].kind == KINEMATIC:
            _aim_kinematic(space, body, step)
        elif bodies[body].kind == RIGID:
            _add_forces(space, body, gravity, step)
    update_overlaps(space)
    for body in range(bodies.shape[0]):
        if bodies[body].kind == RIGID:
            _move_rigid(space, body, step)
        elif bodies[body].kind == KINEMATIC:
            _move_kinematic(space, body)
