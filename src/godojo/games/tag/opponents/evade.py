"""The oracle as a hider: a race over the grid shows where it stays uncaught for longest, and it goes there."""

import math
from typing import Any

import numpy as np

from godojo.games.tag.opponents.grid import (
    CELLS,
    HEIGHT_M,
    ONE,
    can_see,
    cell_of,
    clear,
    is_in,
    put_in,
    spread,
    spread_back,
)
from godojo.games.tag.opponents.ways import Scratch, State, cell_before, go_along
from godojo.kernels.compile import device_kernel

HORIZON = 24
"""Waves after which a hider wants to be at its refuge."""
LATER = 24
"""Waves for which it thinks on from there."""
PLACES = 6
"""Refuges that are compared."""
ROOMY = 300
"""Cells that are room enough."""
WORTH_OF_DISTANCE = 1.5
WORTH_OF_ROOM = 1.0
WORTH_OF_HIDING = 0.25
WORTH_OF_FAITH = 0.05


@device_kernel
def race(r: Any, plan: Any, hold: np.ndarray, threat: np.ndarray, horizon: int) -> int:
    """Seekers spread as fast as they run, the hider wherever they are not yet. Says for how many waves it holds a cell.

    `hold[w]` are the cells it can be on after w waves without being caught, `threat[w]` those where a seeker can be.
    """
    lead = 0.0
    held = 0
    turns = 0
    while held < horizon:
        lead += r.seeker_speed / r.hider_speed - 1.0
        spread(plan.exits, plan.rows, turns % 2 == 1, threat[held], threat[held + 1])
        turns += 1
        if lead >= 1.0:
            lead -= 1.0
            spread(plan.exits, plan.rows, turns % 2 == 1, threat[held + 1], threat[horizon + 1])
            turns += 1
            for row in range(1, plan.rows + 1):
                threat[held + 1, row] = threat[horizon + 1, row]
        spread(plan.exits, plan.rows, held % 2 == 1, hold[held], hold[held + 1])
        any_left = np.uint64(0)
        for row in range(1, plan.rows + 1):
            hold[held + 1, row] &= ~threat[held + 1, row]
            any_left |= hold[held + 1, row]
        if any_left == 0:
            break
        held += 1
    return held


@device_kernel
def evade(
    r: Any,
    state: State,
    plan: Any,
    world: int,
    me: int,
    mind: Any,
    scratch: Scratch,
) -> None:
    """Goes to the refuge from which it will be able to get away best; far from seekers and unseen it stays."""
    position = state.position[world, me]
    feet = position[1] - r.half_m
    hold = scratch.waves
    threat = scratch.threat
    way = scratch.way
    clear(threat[0])
    clear(hold[0])
    is_seen = False
    for other in range(state.active.shape[1]):
        if state.active[world, other] and state.chases[world, other]:
            it = state.position[world, other]
            put_in(threat[0], cell_of(plan, it[0], it[1] - r.half_m, it[2]))
            is_seen = is_seen or can_see(plan, it[0], it[1] + r.eye_m, it[2], position[0], position[1], position[2])
    start = cell_of(plan, position[0], feet, position[2])
    put_in(hold[0], start)
    held = race(r, plan, hold, threat, HORIZON)
    if not is_seen and held == HORIZON and not is_in(threat[HORIZON], start):
        mind.keep = 2
        return
    cell = choose_refuge(r, state, plan, world, mind, held, start, scratch)
    count = 0
    for step in range(held):
        before = cell_before(plan, hold[held - step - 1], cell)
        if before != cell:
            way[count] = cell
            count += 1
        cell = before
    for step in range(count // 2):
        way[step], way[count - 1 - step] = way[count - 1 - step], way[step]
    go_along(r, plan, way, count, position, feet, mind)


@device_kernel
def count_in(wave: np.ndarray, rows: int) -> int:
    count = 0
    for row in range(1, rows + 1):
        word = wave[row]
        while word != 0:
            word &= word - ONE
            count += 1
    return count


@device_kernel
def choose_refuge(
    r: Any,
    state: State,
    plan: Any,
    world: int,
    mind: Any,
    held: int,
    start: int,
    scratch: Scratch,
) -> int:
    """Compares some of the cells held to the last by how the race would go on from there, the seeker having come."""
    last = scratch.waves[held]
    stride = max(count_in(last, plan.rows) // PLACES, 1)
    number = stride // 2
    best = start
    most = -1e9
    for row in range(1, plan.rows + 1):
        if last[row] == 0:
            continue
        for column in range(plan.columns):
            if (last[row] >> np.uint64(column)) & ONE == 0:
                continue
            number += 1
            if number % stride != 0:
                continue
            cell = (row - 1) * CELLS + column
            worth = worth_of_refuge(r, state, plan, world, mind, held, cell, scratch)
            if worth > most:
                most = worth
                best = cell
    mind.refuge_x = plan.from_x + (best % CELLS) * plan.pitch_x
    mind.refuge_z = plan.from_z + (best // CELLS) * plan.pitch_z
    return best


@device_kernel
def worth_of_refuge(
    r: Any,
    state: State,
    plan: Any,
    world: int,
    mind: Any,
    held: int,
    cell: int,
    scratch: Scratch,
) -> float:
    """Seconds of further freedom, distance and room to run; a little for being unseen and for staying with a plan."""
    hold = scratch.later
    threat = scratch.later_threat
    clear(threat[0])
    away = seekers_come(plan, scratch.threat[held], cell, hold, threat[0])
    later = LATER
    room = ROOMY
    if away < LATER:
        clear(hold[0])
        put_in(hold[0], cell)
        later = race(r, plan, hold, threat, LATER)
        room = count_in(hold[later], plan.rows)
    worth: float = (later + WORTH_OF_DISTANCE * away) * r.step_s + min(room, ROOMY) * (1.0 / ROOMY) * WORTH_OF_ROOM
    x = plan.from_x + (cell % CELLS) * plan.pitch_x
    z = plan.from_z + (cell // CELLS) * plan.pitch_z
    y = plan.height[cell // CELLS, cell % CELLS] * HEIGHT_M + r.half_m
    worth -= WORTH_OF_FAITH * min(math.sqrt((x - mind.refuge_x) ** 2 + (z - mind.refuge_z) ** 2), 6.0)
    for other in range(state.active.shape[1]):
        if state.active[world, other] and state.chases[world, other]:
            it = state.position[world, other]
            if not can_see(plan, it[0], it[1] + r.eye_m, it[2], x, y, z):
                worth += WORTH_OF_HIDING
    return worth


@device_kernel
def seekers_come(plan: Any, reach: np.ndarray, cell: int, spare: np.ndarray, came: np.ndarray) -> int:
    """Where the nearest seeker will be that can get to `reach` meanwhile, and goes for the cell (far away: nowhere).

    Says how many waves it will still be away.
    """
    clear(spare[0])
    put_in(spare[0], cell)
    for wave in range(LATER):
        spread_back(plan.exits, plan.rows, wave % 2 == 1, spare[wave], spare[wave + 1])
        for row in range(1, plan.rows + 1):
            met = spare[wave + 1, row] & reach[row]
            if met != 0:
                came[row] = met & (~met + ONE)
                return wave
    return LATER
