"""Islands: bodies that are linked by pairs of near shapes. Their contacts are solved together; they sleep together."""

from typing import Any

import numpy as np

from godojo.twin.physics.godot.manifolds import find_contacts, prepare, solve
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import ASLEEP, ISLANDS, MANIFOLD_COUNT, RIGID, STATIC, STAYS_AWAKE, Space
from godojo.twin.physics.vectors import dot, length32, read3
from godojo.twin.physics.wake import wake

ROUNDS = 16  # project setting physics/3d/solver/solver_iterations
STILL_MPS = np.float32(0.1)  # physics/3d/sleep_threshold_linear
STILL_RADPS = np.float32(np.deg2rad(8.0))  # physics/3d/sleep_threshold_angular
SLEEP_S = np.float32(0.5)  # physics/3d/time_before_sleep


@call
def sort_movers(space: Space, movers: int) -> int:
    """Lists the bodies that can move, those first that have begun to do so last; where the list begins."""
    order, bodies = space.order, space.bodies
    start: int = space.manifolds.shape[0] + 3 * bodies.shape[0]
    for number in range(movers):
        body = space.roster[movers - 1 - number].mover
        place = start + number
        while place > start and bodies[order[place - 1]].woken < bodies[body].woken:
            order[place] = order[place - 1]
            place -= 1
        order[place] = body
    return start


@inline
def _enter(space: Space, body: int, members: int) -> int:
    """Puts a body into the current island; how many members all islands have then."""
    record = space.bodies[body]
    record.island = space.counts[ISLANDS]
    if record.kind == RIGID:
        space.order[space.manifolds.shape[0] + members] = body
        members += 1
    return members


@call
def gather(space: Space, start: int, before: int, linked: int, members: int) -> tuple[int, int]:
    """Lists the pairs of an island, and its rigid bodies, in Godot's order; how many of both all islands have then.

    `before` is the last island of the step before. From a body to its pairs in the order in which they came about, and
    from each pair at once to the other body, unless it is static.
    """
    manifolds, order = space.manifolds, space.order
    stack = manifolds.shape[0] + space.bodies.shape[0]
    members = _enter(space, start, members)
    order[stack], order[stack + 1] = start, 0
    top = stack
    while top >= stack:
        body, place = order[top], order[top + 1]
        descends = False
        while place < space.counts[MANIFOLD_COUNT] and not descends:
            manifold = manifolds[place]
            if manifold.island <= before and (manifold.one == body or manifold.two == body):
                manifold.island = space.counts[ISLANDS]
                order[linked] = place
                linked += 1
                other = manifold.two if manifold.one == body else manifold.one
                if space.bodies[other].kind != STATIC and space.bodies[other].island <= before:
                    members = _enter(space, other, members)
                    order[top + 1] = place + 1
                    top += 2
                    order[top], order[top + 1] = other, 0
                    descends = True
            place += 1
        if not descends:
            top -= 2
    return linked, members


@call
def solve_island(space: Space, first: int, end: int, step: np.float32) -> None:
    """Finds the contacts of an island's pairs, and their impulses."""
    order = space.order
    for place in range(first, end):
        manifold = space.manifolds[order[place]]
        manifold.collided = find_contacts(space, order[place])
    for place in range(first, end):
        manifold = space.manifolds[order[place]]
        manifold.collided = bool(manifold.collided) and prepare(space, order[place], step)
    for _ in range(ROUNDS):
        again = False
        for place in range(first, end):
            if space.manifolds[order[place]].collided:
                again |= solve(space, order[place], step)
        if not again:
            break


@inline
def _is_still(record: Any, step: np.float32) -> bool:
    if record.traits & STAYS_AWAKE:
        return False
    velocity = read3(record.linear_velocity)
    if length32(read3(record.angular_velocity)) < STILL_RADPS and dot(velocity, velocity) < STILL_MPS * STILL_MPS:
        record.still_s += step
        return bool(record.still_s > SLEEP_S)
    record.still_s = np.float32(0.0)
    return False


@call
def let_sleep(space: Space, members: int, step: np.float32) -> None:
    """Puts islands to sleep all of whose bodies have been still for a while, and wakes all others."""
    first, start = 0, space.manifolds.shape[0]
    while first < members:
        island = space.bodies[space.order[start + first]].island
        end, can_sleep = first, True
        while end < members and space.bodies[space.order[start + end]].island == island:
            can_sleep &= _is_still(space.bodies[space.order[start + end]], step)
            end += 1
        for place in range(first, end):
            record = space.bodies[space.order[start + place]]
            if can_sleep:
                record.traits |= ASLEEP
            else:
                wake(space, record)
        first = end
