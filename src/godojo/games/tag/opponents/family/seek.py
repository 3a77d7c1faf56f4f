"""Seekers: cut off, leap, wait in ambush; and search, systematically, for whom they do not see."""

import math
from typing import Any

import numpy as np

from godojo.games.tag.opponents.family.belief import can_walk, has_sight, inside_bits, lowest
from godojo.games.tag.opponents.family.steer import (
    WAVES,
    Scratch,
    cell_x,
    cell_z,
    go_to,
    intercept,
    jump_if_stuck,
    jump_onto,
    stand,
)
from godojo.games.tag.opponents.family.traits import LEAD, LEAP_M, MEMORY_S, PATIENCE_S
from godojo.games.tag.opponents.grid import CELLS, ONE, cell_of, clear, put_in, spread
from godojo.kernels.compile import device_kernel, njit_nogil

CUT_OFF, LEAP, AMBUSH, SEARCH, STAND = 0, 1, 2, 3, 4
SEEKER_STYLES = 4
"""How many of them are drawn."""
HUNT_S = 2.5
COMING_MPS, COMING_M = 1.5, 7.0
SEARCH_WAVES = 10
"""Waves after the nearest unseen place in which another may be better."""
SWING_S = 0.25
PEEK_EVERY, PEEK_M = 20, 5.0
"""Decisions after which a searcher jumps to look over low boxes, on its way to what is no nearer than this."""
LOST_REACH = 14
"""Cells around a lost hider that a searcher looks at again."""
AMBUSH_REACH = 14
"""Cells from the hider among which an ambush is chosen."""


@device_kernel
def seek(r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, action: np.ndarray) -> None:
    stand(action)
    if m.seek_style == STAND:
        return
    target = choose_target(r, b, m)
    if target < 0:
        search(r, b, m, plan, scratch, action)
        return
    m.goal = -1
    if m.seek_style == SEARCH:
        m.last = cell_of(plan, b.rival_x[target], 0.0, b.rival_z[target])
    if m.seek_style == AMBUSH and lie_in_wait(r, b, m, plan, scratch, target, action):
        return
    chase(r, b, m, plan, scratch, target, action)


@device_kernel
def choose_target(r: Any, b: Any, m: Any) -> int:
    """The nearest hider; what was not seen for long counts as farther away."""
    best = -1
    least = 1e9
    for rival in range(b.rivals):
        unseen_s = b.rival_age[rival] * r.step_s
        if unseen_s <= m.traits[MEMORY_S]:
            away = math.sqrt((b.rival_x[rival] - b.x) ** 2 + (b.rival_z[rival] - b.z) ** 2) + 4.0 * unseen_s
            away -= 1.0 if rival == m.target else 0.0
            if away < least:
                least = away
                best = rival
    m.target = best
    return best


@njit_nogil
def chase(r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, target: int, action: np.ndarray) -> None:
    feet = b.y - r.half_m
    x = b.rival_x[target]
    z = b.rival_z[target]
    rival_feet = b.rival_y[target] - r.half_m
    speed_x = b.rival_speed_x[target] * m.traits[LEAD]
    speed_z = b.rival_speed_z[target] * m.traits[LEAD]
    away = math.sqrt((x - b.x) ** 2 + (z - b.z) ** 2)
    # Nobody runs through walls: where its course is blocked, it will turn.
    soon_s = min(away / r.speed[1], 0.4)
    if not can_walk(r, plan, x, rival_feet, z, x + speed_x * soon_s, z + speed_z * soon_s):
        speed_x = 0.0
        speed_z = 0.0
    is_near_height = rival_feet < feet + r.climb_m
    if can_walk(r, plan, b.x, feet, b.z, x, z) and (is_near_height or plan.boxes == 0):
        intercept(r, b, x, z, speed_x, speed_z, action)
        if away > 0.1:
            jump_onto(r, b, plan, (x - b.x) / away, (z - b.z) / away, action)
            jump_if_stuck(b, m, action)
            if b.grounded and rival_feet > feet + 0.5 and away < 2.2:
                action[2] = 1.0
        if m.seek_style == LEAP and b.grounded and away < m.traits[LEAP_M]:
            leap(r, b, x, z, speed_x, speed_z, action)
        return
    lead_s = min(away / (r.speed[0] + r.speed[1]), 0.5)
    to_x = x + speed_x * lead_s
    to_z = z + speed_z * lead_s
    if not go_to(r, b, m, plan, scratch, to_x, rival_feet, to_z, r.speed[1], action):
        go_to(r, b, m, plan, scratch, x, 0.0, z, r.speed[1], action)


@device_kernel
def leap(r: Any, b: Any, x: float, z: float, speed_x: float, speed_z: float, action: np.ndarray) -> None:
    """Jumps if it will land on the hider, or pass it on its way up or down."""
    for step in range(2, 14):
        at_s = step * 0.05
        off_x = x + speed_x * at_s - b.x - b.speed_x * at_s
        off_z = z + speed_z * at_s - b.z - b.speed_z * at_s
        off = max(math.sqrt(off_x * off_x + off_z * off_z) - 0.6 * r.touch_m, 0.0)
        height = r.jump_speed * at_s - 0.5 * r.gravity * at_s * at_s
        if off <= 0.5 * r.air * at_s * at_s and abs(height) < r.touch_m:
            action[2] = 1.0
            return


@njit_nogil
def lie_in_wait(r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, target: int, action: np.ndarray) -> bool:
    """After a hunt in vain, goes behind a corner near the hider, and strikes when it comes close or patience ends.

    A hider that comes its way unawares is awaited at once.
    """
    x = b.rival_x[target]
    y = b.rival_y[target]
    z = b.rival_z[target]
    away = math.sqrt((x - b.x) ** 2 + (z - b.z) ** 2)
    patience = m.traits[PATIENCE_S] / r.step_s
    is_seen = has_sight(r, plan, x, y, z, b.x, b.y, b.z)
    closing = -((x - b.x) * b.rival_speed_x[target] + (z - b.z) * b.rival_speed_z[target]) / max(away, 0.1)
    if m.strikes < 0:
        m.strikes = int(HUNT_S / r.step_s)
    if m.strikes > 0:
        m.strikes -= 1
        m.waited = 0
        m.lurked = 0
        m.spot = -1
        return not is_seen and closing > COMING_MPS and away < COMING_M
    m.waited += 1
    if (is_seen and away < 4.5 + 0.5 * closing) or m.lurked > patience or m.waited > 2.0 * patience:
        m.strikes = int(HUNT_S / r.step_s)
        return False
    if m.spot < 0 or m.waited % 8 == 0:
        m.spot = choose_ambush(r, b, plan, target)
    if m.spot < 0:
        return False
    spot_x = cell_x(plan, m.spot)
    spot_z = cell_z(plan, m.spot)
    near = math.sqrt((spot_x - b.x) ** 2 + (spot_z - b.z) ** 2)
    if near < 0.5:
        m.lurked += 1
    go_to(r, b, m, plan, scratch, spot_x, 0.0, spot_z, 0.0, action)
    return True


@njit_nogil
def choose_ambush(r: Any, b: Any, plan: Any, target: int) -> int:
    """A cell near the hider that it does not see, soon reached, on the side it is moving to."""
    x = b.rival_x[target]
    y = b.rival_y[target]
    z = b.rival_z[target]
    centre = cell_of(plan, x, y - r.half_m, z)
    best = -1
    least = 1e9
    for step_row in range(-AMBUSH_REACH, AMBUSH_REACH + 1, 2):
        for step in range(-AMBUSH_REACH, AMBUSH_REACH + 1, 2):
            row = centre // CELLS + step_row
            column = centre % CELLS + step
            if row < 0 or column < 0 or row >= plan.rows or column >= plan.columns:
                continue
            if (plan.blocked[row + 1] >> np.uint64(column)) & ONE != 0:
                continue
            cell = row * CELLS + column
            at_x = cell_x(plan, cell)
            at_z = cell_z(plan, cell)
            near = math.sqrt((at_x - x) ** 2 + (at_z - z) ** 2)
            if near < 2.0 or near > 6.0:
                continue
            mine = math.sqrt((at_x - b.x) ** 2 + (at_z - b.z) ** 2)
            coming = ((at_x - x) * b.rival_speed_x[target] + (at_z - z) * b.rival_speed_z[target]) / near
            worth = mine + near - 0.4 * coming
            if worth < least and not has_sight(r, plan, x, y, z, at_x, r.half_m, at_z):
                least = worth
                best = cell
    return best


@njit_nogil
def search(r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, action: np.ndarray) -> None:
    """Goes to the nearest place that it has not looked at; once it has seen all, it starts over."""
    m.keep -= 1
    if m.last >= 0:  # a rival out of sight cannot be far
        darken(plan, m.last)
        m.last = -1
        m.goal = -1
    if m.goal >= 0:
        row = m.goal // CELLS + 1
        bit = ONE << np.uint64(m.goal % CELLS)
        if plan.looked[row] & bit != 0 or plan.blocked[row] & bit != 0:
            m.goal = -1
    if m.goal < 0 or m.keep <= 0:
        m.goal = nearest_unseen(r, b, plan, scratch)
        m.keep = 12
        if m.goal < 0:
            for row in range(plan.rows + 2):
                plan.looked[row] = 0
            return
    if not go_to(r, b, m, plan, scratch, cell_x(plan, m.goal), 0.0, cell_z(plan, m.goal), r.speed[1], action):
        plan.looked[m.goal // CELLS + 1] |= ONE << np.uint64(m.goal % CELLS)
        m.goal = -1
    elif m.seek_style == SEARCH and b.grounded:
        m.waited += 1
        if m.waited % PEEK_EVERY == 0 and abs(cell_x(plan, m.goal) - b.x) + abs(cell_z(plan, m.goal) - b.z) > PEEK_M:
            action[2] = 1.0


@device_kernel
def erode(plan: Any, cells: np.ndarray, inner: np.ndarray) -> None:
    """The cells whose four neighbours are also in."""
    clear(inner)
    for row in range(2, plan.rows):
        word = cells[row]
        inner[row] = word & (word << ONE) & (word >> ONE) & cells[row - 1] & cells[row + 1]


@device_kernel
def darken(plan: Any, cell: int) -> None:
    """Takes the cells around for not looked at."""
    for row in range(max(cell // CELLS - LOST_REACH, 0), min(cell // CELLS + LOST_REACH + 1, plan.rows)):
        for column in range(max(cell % CELLS - LOST_REACH, 0), min(cell % CELLS + LOST_REACH + 1, plan.columns)):
            plan.looked[row + 1] &= ~(ONE << np.uint64(column))


@njit_nogil
def nearest_unseen(r: Any, b: Any, plan: Any, scratch: Scratch) -> int:
    """The first cell that a wave from here meets which, with its neighbours, has not been looked at; or -1."""
    inside = inside_bits(plan)
    dark = scratch.spare[0]
    clear(dark)
    for row in range(1, plan.rows + 1):
        dark[row] = ~plan.looked[row] & ~plan.blocked[row] & inside
    core = scratch.spare[1]
    heart = scratch.spare[2]
    erode(plan, dark, core)
    erode(plan, core, heart)
    is_any = False
    for row in range(1, plan.rows + 1):
        is_any |= heart[row] != 0
    if is_any:  # first where there is room for somebody
        core = heart
    here = scratch.waves[0]
    there = scratch.waves[1]
    clear(here)
    clear(there)
    put_in(here, cell_of(plan, b.x, b.y - r.half_m, b.z))
    best = -1
    least = 1e9
    last = WAVES
    for wave in range(WAVES):
        is_growing = False
        for row in range(1, plan.rows + 1):
            is_growing |= here[row] != there[row]
            met = here[row] & core[row]
            if met != 0:
                last = min(last, wave + SEARCH_WAVES)
                cell = (row - 1) * CELLS + lowest(met)
                x = cell_x(plan, cell) - b.x
                z = cell_z(plan, cell) - b.z
                away = max(math.sqrt(x * x + z * z), 0.1)
                # What it runs towards anyhow is nearer.
                cost = wave * plan.pitch_x - SWING_S * (x * b.speed_x + z * b.speed_z) / away
                if cost < least:
                    least = cost
                    best = cell
        if not is_growing or wave >= last:
            break
        spread(plan.exits, plan.rows, wave % 2 == 1, here, there)
        here, there = there, here
    return best
