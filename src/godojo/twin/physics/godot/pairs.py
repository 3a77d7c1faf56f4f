"""Which shapes of rigid bodies are near others: Godot's broad phase, and the order in which it pairs them."""

from typing import Any

import numpy as np

from godojo.twin.physics.bounds import is_enabled, list_within, shape_box
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import (
    AREA,
    ASLEEP,
    KINEMATIC,
    MANIFOLD_COUNT,
    PAIRED,
    REMOVED,
    RIGID,
    STATIC,
    TOO_MANY,
    Space,
)
from godojo.twin.physics.vectors import F0, add, read3, sub, wide
from godojo.twin.physics.wake import wake

Vector = Any

_ROOM_M = 0.1
"""The room of a box, and how far apart boxes of bodies may be to be looked at."""
_SHRUNK_M = 0.66
"""A box that is so much larger than its shape, all sides together, is made anew."""
_GROWTH = 0.025 / 0.9
"""Of the box of a body that moves: Godot adds a share of the last box, over and over."""


@inline
def _meet(fat: np.ndarray, one: int, two: int) -> bool:
    return bool(
        (fat[0, one] <= fat[3, two])
        & (fat[3, one] >= fat[0, two])
        & (fat[1, one] <= fat[4, two])
        & (fat[4, one] >= fat[1, two])
        & (fat[2, one] <= fat[5, two])
        & (fat[5, one] >= fat[2, two])
    )


@call
def update_fat(space: Space, index: int) -> bool:
    """Lets the boxes of a body follow it; whether one of them has changed."""
    body = space.bodies[index]
    fat = space.fat
    changed = False
    for place in range(body.shape_count):
        shape = body.first_shape + place
        low, high = shape_box(space.shapes[shape], body.transform, wide(read3(body.transform[9:])))
        grown = 0.0
        if body.kind == RIGID:
            grown = _GROWTH * ((high[0] - low[0]) + (high[1] - low[1]))
        way = (0.0, 0.0, 0.0)
        if body.kind == KINEMATIC:
            way = wide(sub(read3(body.target[9:]), read3(body.transform[9:])))
        is_inside, spare = True, 0.0
        for axis in range(3):
            spare += fat[3 + axis, shape] - fat[axis, shape] - (high[axis] - low[axis]) - 2.0 * grown - abs(way[axis])
            is_inside &= low[axis] - grown + min(way[axis], 0.0) >= fat[axis, shape]
            is_inside &= high[axis] + grown + max(way[axis], 0.0) <= fat[3 + axis, shape]
        if not is_inside or spare >= _SHRUNK_M:
            changed = True
            for axis in range(3):
                fat[axis, shape] = low[axis] - grown + min(way[axis], 0.0) - _ROOM_M
                fat[3 + axis, shape] = high[axis] + grown + max(way[axis], 0.0) + _ROOM_M
    return changed


@inline
def _can_meet(one: Any, two: Any) -> bool:
    """At least one of the two is rigid, and one looks for the other."""
    is_solid = one.kind != AREA and one.kind != REMOVED and two.kind != AREA and two.kind != REMOVED
    return bool(
        is_solid and (one.kind == RIGID or two.kind == RIGID) and ((one.layer & two.mask) | (two.layer & one.mask))
    )


@call
def _drop_pairs(space: Space) -> None:
    """Drops pairs that have come apart, or of which one is gone."""
    manifolds, bodies, kept = space.manifolds, space.bodies, 0
    for place in range(space.counts[MANIFOLD_COUNT]):
        manifold = manifolds[place]
        one, two = bodies[manifold.one], bodies[manifold.two]
        stays = _can_meet(one, two) and _meet(space.fat, manifold.shape_one, manifold.shape_two)
        stays &= is_enabled(one, manifold.shape_one - one.first_shape)
        stays &= is_enabled(two, manifold.shape_two - two.first_shape)
        if stays:
            if kept != place:
                manifolds[kept] = manifolds[place]
            kept += 1
    space.counts[MANIFOLD_COUNT] = kept


@call
def _pair(space: Space, one: int, two: int) -> None:
    """Pairs the shapes of two bodies whose boxes meet, unless they are paired already."""
    if one > two:
        one, two = two, one
    first, second = space.bodies[one], space.bodies[two]
    if not _can_meet(first, second):
        return
    manifolds = space.manifolds
    for a in range(first.first_shape, first.first_shape + first.shape_count):
        if not is_enabled(first, a - first.first_shape):
            continue
        for b in range(second.first_shape, second.first_shape + second.shape_count):
            if not is_enabled(second, b - second.first_shape) or not _meet(space.fat, a, b):
                continue
            known = False
            count = space.counts[MANIFOLD_COUNT]
            for place in range(count):
                known |= manifolds[place].shape_one == a and manifolds[place].shape_two == b
            if known:
                continue
            if count == manifolds.shape[0]:
                space.counts[TOO_MANY] = 1
                return
            manifold = manifolds[count]
            manifold.one, manifold.two, manifold.shape_one, manifold.shape_two = one, two, a, b
            manifold.count = manifold.island = 0
            space.counts[MANIFOLD_COUNT] = count + 1


@call
def _find_pairs(space: Space, me: int) -> None:
    """Static bodies from the last to the first, then others."""
    low, high = space.bounds[:3, me], space.bounds[3:, me]
    body = space.bodies[me]
    reach = 2.0 * _ROOM_M + _GROWTH * (high[0] - low[0] + high[1] - low[1])
    way = (F0, F0, F0)
    if body.kind == KINEMATIC:
        way = sub(read3(body.target[9:]), read3(body.transform[9:]))
    more = (np.float32(abs(way[0]) + reach), np.float32(abs(way[1]) + reach), np.float32(abs(way[2]) + reach))
    found = list_within(space, sub(read3(low), more), add(read3(high), more))
    near = space.near
    for wants_static in (True, False):
        for number in range(found - 1, -1, -1):
            other = near[number]
            if other != me and (space.bodies[other].kind == STATIC) == wants_static:
                _pair(space, me, other)


@call
def update_pairs(space: Space, movers: int, sorted_at: int) -> None:
    """Brings the pairs up to date: those that have come apart go, new ones come last."""
    bodies = space.bodies
    is_first = space.counts[PAIRED] == 0
    if is_first:
        space.counts[PAIRED] = 1
        for index in range(bodies.shape[0]):
            update_fat(space, index)
    _drop_pairs(space)
    # What moves last of all in a step is noticed last: kinematic bodies behind the rigid ones.
    for wanted in (RIGID, KINEMATIC):
        for number in range(movers):
            index = space.roster[number].mover if is_first else space.order[sorted_at + number]
            body = bodies[index]
            if body.kind != wanted or body.traits & ASLEEP:
                continue
            if is_first or update_fat(space, index):
                _find_pairs(space, index)


@call
def has_moved(space: Space, index: int) -> None:
    """After a body was put to another place, or into the world: wakes what it touched, and pairs it anew."""
    if space.fat.shape[1] <= 1 or space.counts[PAIRED] == 0:
        return
    for place in range(space.counts[MANIFOLD_COUNT]):
        manifold = space.manifolds[place]
        if manifold.one == index:
            wake(space, space.bodies[manifold.two])
        if manifold.two == index:
            wake(space, space.bodies[manifold.one])
    wake(space, space.bodies[index])
    if update_fat(space, index):
        _find_pairs(space, index)
