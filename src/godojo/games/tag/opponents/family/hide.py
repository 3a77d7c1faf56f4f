"""Hiders: circle a pillar, sidestep, double back, jump over the seeker, camp, run for the open, stand still."""

import math
from typing import Any

import numpy as np

from godojo.games.tag.opponents.family.belief import (
    cells_are_free,
    has_sight,
    inside_bits,
    is_blocked_at,
    is_inside,
    lowest,
)
from godojo.games.tag.opponents.family.steer import Scratch, cell_x, cell_z, go_to, jump_onto, stand
from godojo.games.tag.opponents.family.traits import ALARM_M, CLEARANCE_M, DODGE_S, DOUBLE_S, MEMORY_S
from godojo.games.tag.opponents.grid import CELLS, HEIGHT_M, ONE, cell_of, clear
from godojo.kernels.compile import device_kernel, njit_nogil
from godojo.kernels.random import randint

CIRCLE, JUKE, DOUBLE, HOP, CAMP, RUN, FREEZE = 0, 1, 2, 3, 4, 5, 6
HIDER_STYLES = 7
"""How many of them are drawn."""
WAYS = 16
"""Directions that are compared."""
FORESEEN = 10
FORESIGHT_S = 0.08
HOP_FROM_S = 0.6
FOR_HIDING = 0.8
"""Worth of getting out of sight, in metres of distance."""
OPEN_M = 5.0
NOOKS = 20
"""Places that are compared to camp in."""
PILLAR_M = 7.0
"""The largest thing that is circled."""
WAY_X = np.sin(np.arange(WAYS) * 2.0 * np.pi / WAYS).astype(np.float32)
WAY_Z = np.cos(np.arange(WAYS) * 2.0 * np.pi / WAYS).astype(np.float32)


@device_kernel
def hide(r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, action: np.ndarray) -> None:
    stand(action)
    if m.hide_style == FREEZE:
        return
    rival = nearest_rival(r, b, m)
    if rival < 0:
        m.double = 0
        if m.hide_style == CAMP:
            camp(r, b, m, plan, scratch, rival, action)
        else:
            look_out(b, action)
        return
    away = math.sqrt((b.rival_x[rival] - b.x) ** 2 + (b.rival_z[rival] - b.z) ** 2)
    touch_s = time_to_touch(r, b, rival, away)
    is_hidden = False
    if plan.boxes > 0 or b.rival_age[rival] > 0:  # whom its own eyes see, sees it
        is_hidden = not has_sight(r, plan, b.rival_x[rival], b.rival_y[rival], b.rival_z[rival], b.x, b.y, b.z)
    if m.hide_style == HOP and not is_hidden and hop(r, b, rival, away, action):
        return
    if touch_s < m.traits[DODGE_S] and not is_hidden and m.hide_style != DOUBLE:
        flee(r, b, m, plan, rival, 0.0, 0.05, action)
    elif m.hide_style == CAMP and away > m.traits[ALARM_M]:
        camp(r, b, m, plan, scratch, rival, action)
    elif m.hide_style == CIRCLE or m.hide_style == CAMP:
        if not circle(r, b, m, plan, scratch, rival, action):
            retreat(r, b, m, plan, rival, away, is_hidden, action)
    elif m.hide_style == DOUBLE:
        double_back(r, b, m, plan, rival, away, touch_s, is_hidden, action)
    elif m.hide_style == RUN and away < m.traits[ALARM_M]:
        flee(r, b, m, plan, rival, 0.0, 0.35, action)
    else:
        retreat(r, b, m, plan, rival, away, is_hidden, action)


@device_kernel
def nearest_rival(r: Any, b: Any, m: Any) -> int:
    best = -1
    least = 1e9
    for rival in range(b.rivals):
        if b.rival_age[rival] * r.step_s <= m.traits[MEMORY_S]:
            away = math.sqrt((b.rival_x[rival] - b.x) ** 2 + (b.rival_z[rival] - b.z) ** 2)
            if away < least:
                least = away
                best = rival
    return best


@device_kernel
def time_to_touch(r: Any, b: Any, rival: int, away: float) -> float:
    """If it comes straight at us, as fast as it is now and can become."""
    x = b.x - b.rival_x[rival]
    z = b.z - b.rival_z[rival]
    closing = (x * b.rival_speed_x[rival] + z * b.rival_speed_z[rival]) / max(away, 0.1)
    gap = max(away - r.touch_m, 0.0)
    gain = r.acceleration[1]
    # gap = closing * t + gain / 2 * t * t
    closing = max(closing, 0.0)
    time_s: float = (math.sqrt(closing * closing + 2.0 * gain * gap) - closing) / gain
    return time_s


@device_kernel
def hop(r: Any, b: Any, rival: int, away: float, action: np.ndarray) -> bool:
    """Runs at a seeker that comes straight and fast, and jumps over it; whether it can."""
    x = (b.rival_x[rival] - b.x) / max(away, 0.1)
    z = (b.rival_z[rival] - b.z) / max(away, 0.1)
    off_x = b.speed_x - b.rival_speed_x[rival]
    off_z = b.speed_z - b.rival_speed_z[rival]
    closing = x * off_x + z * off_z
    if not b.grounded:
        action[0] = x
        action[1] = z
        return bool(closing > 0.0)
    aside = abs(x * off_z - z * off_x)
    meets_s = max(away - r.touch_m, 0.0) / max(closing, 0.1)
    apex_s = r.jump_speed / r.gravity
    over_s = 2.0 * math.sqrt(max(apex_s * apex_s - 2.0 * r.touch_m / r.gravity, 0.0))
    # Above a body's height for so long; the two are over each other for as long as they take to pass.
    if 2.0 * r.touch_m / max(closing, 0.1) > over_s or aside * meets_s > r.touch_m or meets_s > HOP_FROM_S:
        return False
    action[0] = x
    action[1] = z
    rise_s = apex_s - 0.5 * over_s
    if meets_s < rise_s + 1.5 * r.step_s:
        action[2] = 1.0
    return True


@device_kernel
def look_out(b: Any, action: np.ndarray) -> None:
    """Turns on the spot."""
    action[0] = 0.1 * (0.07 * b.forward_x + 0.9975 * b.forward_z)
    action[1] = 0.1 * (0.07 * b.forward_z - 0.9975 * b.forward_x)


@njit_nogil
def retreat(
    r: Any,
    b: Any,
    m: Any,
    plan: Any,
    rival: int,
    away: float,
    is_hidden: bool,
    action: np.ndarray,
) -> None:
    """Out of reach: stays where it is not seen or far away, or else makes off."""
    if away > m.traits[ALARM_M] or (is_hidden and away > 0.5 * m.traits[ALARM_M]):
        if b.rival_age[rival] > 3:
            look_out(b, action)
        return
    flee(r, b, m, plan, rival, 0.0, 0.15, action)


@njit_nogil
def free_m(plan: Any, x: float, z: float, way_x: float, way_z: float, most_m: float) -> float:
    """How far it is free to walk."""
    step_m: float = 0.9 * min(plan.pitch_x, plan.pitch_z)
    at = step_m
    while at < most_m:
        there_x = x + way_x * at
        there_z = z + way_z * at
        if not is_inside(plan, there_x, there_z) or is_blocked_at(plan, there_x, there_z):
            return at - step_m
        at += step_m
    return most_m


@njit_nogil
def flee(
    r: Any,
    b: Any,
    m: Any,
    plan: Any,
    rival: int,
    for_back: float,
    for_open: float,
    action: np.ndarray,
) -> None:
    """Compares ways by what the seeker, with its inertia, would make of them."""
    to_x = b.rival_x[rival] - b.x
    to_z = b.rival_z[rival] - b.z
    away = max(math.sqrt(to_x * to_x + to_z * to_z), 0.1)
    best = -1
    most = -1e9
    for way in range(WAYS):
        x = WAY_X[way]
        z = WAY_Z[way]
        free = free_m(plan, b.x, b.z, x, z, OPEN_M)
        worth = for_open * free
        ahead = (x * to_x + z * to_z) / away
        if for_back > 0.0 and ahead > 0.1:
            worth += for_back
        if ahead < b.blind_cosine:  # it would lose sight of the seeker
            worth -= 0.3
        if way == m.way:
            worth += 0.25
        value = worth + foresee_all(r, b, m, rival, x, z, free)
        if value + FOR_HIDING <= most:
            continue
        run = min(free, r.speed[0] * FORESEEN * FORESIGHT_S)
        from_x = b.rival_x[rival]
        from_z = b.rival_z[rival]
        if not has_sight(r, plan, from_x, b.rival_y[rival], from_z, b.x + x * run, b.y, b.z + z * run):
            value += FOR_HIDING
        if value > most:
            most = value
            best = way
    if best < 0:
        best = m.way
    m.way = best
    action[0] = WAY_X[best]
    action[1] = WAY_Z[best]
    jump_onto(r, b, plan, WAY_X[best], WAY_Z[best], action)


@njit_nogil
def foresee_all(r: Any, b: Any, m: Any, nearest: int, x: float, z: float, free: float) -> float:
    """The worst that any seeker makes of it that is near."""
    worst = foresee(r, b, nearest, x, z, free)
    for rival in range(b.rivals):
        if rival != nearest and b.rival_age[rival] * r.step_s <= m.traits[MEMORY_S]:
            away = abs(b.rival_x[rival] - b.x) + abs(b.rival_z[rival] - b.z)
            if away < 2.0 * m.traits[ALARM_M]:
                worst = min(worst, foresee(r, b, rival, x, z, free))
    return worst


@njit_nogil
def foresee(r: Any, b: Any, rival: int, way_x: float, way_z: float, free: float) -> float:
    """Plays on for a moment: the hider runs this way, the seeker steers for it. How well that goes."""
    x = b.x
    z = b.z
    speed_x = b.speed_x
    speed_z = b.speed_z
    its_x = b.rival_x[rival]
    its_z = b.rival_z[rival]
    its_speed_x = b.rival_speed_x[rival]
    its_speed_z = b.rival_speed_z[rival]
    above = b.y - b.rival_y[rival]
    gain = (r.acceleration[0] if b.grounded else r.air) * FORESIGHT_S
    its_gain = r.acceleration[1] * FORESIGHT_S
    its_top = r.speed[1]
    least = 3.0
    gap = 3.0
    for step in range(1, FORESEEN + 1):
        lack_x = way_x * r.speed[0] - speed_x
        lack_z = way_z * r.speed[0] - speed_z
        lack = math.sqrt(lack_x * lack_x + lack_z * lack_z)
        share = min(gain / max(lack, 1e-3), 1.0)
        speed_x += lack_x * share
        speed_z += lack_z * share
        if (x - b.x) * way_x + (z - b.z) * way_z < free:
            x += speed_x * FORESIGHT_S
            z += speed_z * FORESIGHT_S
        to_x = x - its_x
        to_z = z - its_z
        away = math.sqrt(to_x * to_x + to_z * to_z)
        fast = math.sqrt(its_speed_x * its_speed_x + its_speed_z * its_speed_z)
        if to_x * its_speed_x + to_z * its_speed_z < 0.0 and fast > 1.0:
            share = max(1.0 - r.stop * FORESIGHT_S / fast, 0.0)
            its_speed_x *= share
            its_speed_z *= share
        else:
            lead_s = min(away / its_top, 0.5)
            off_x = to_x + (speed_x - its_speed_x) * lead_s
            off_z = to_z + (speed_z - its_speed_z) * lead_s
            off = max(math.sqrt(off_x * off_x + off_z * off_z), 1e-3)
            its_speed_x += off_x / off * its_gain
            its_speed_z += off_z / off * its_gain
            fast = math.sqrt(its_speed_x * its_speed_x + its_speed_z * its_speed_z)
            if fast > its_top:
                its_speed_x *= its_top / fast
                its_speed_z *= its_top / fast
        its_x += its_speed_x * FORESIGHT_S
        its_z += its_speed_z * FORESIGHT_S
        gap = max(abs(x - its_x), abs(z - its_z)) - r.touch_m
        at_s = step * FORESIGHT_S
        if above < r.touch_m:
            if gap < 0.05:
                return -6.0 + 4.0 * at_s
            least = min(least, gap)
    return min(least, 1.5) + 0.35 * min(gap, 8.0)


@njit_nogil
def double_back(
    r: Any,
    b: Any,
    m: Any,
    plan: Any,
    rival: int,
    away: float,
    touch_s: float,
    is_hidden: bool,
    action: np.ndarray,
) -> None:
    """Runs off, and back past the seeker once it has committed itself; behind a corner, back the way it came."""
    if m.double > 0:
        m.double -= 1
    elif touch_s < m.traits[DODGE_S] and not is_hidden:
        m.double = int(m.traits[DOUBLE_S] / r.step_s)
    if m.double > 0 and not is_hidden:
        flee(r, b, m, plan, rival, 1.2, 0.05, action)
        return
    m.double = 0
    retreat(r, b, m, plan, rival, away, is_hidden, action)


@njit_nogil
def camp(r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, rival: int, action: np.ndarray) -> None:
    """Goes where nobody sees it, and stays; seen from afar, it goes somewhere else."""
    m.keep -= 1
    is_found = False
    if rival >= 0 and m.goal >= 0:
        y = b.rival_y[rival]
        x = b.rival_x[rival]
        z = b.rival_z[rival]
        is_found = has_sight(r, plan, x, y, z, cell_x(plan, m.goal), r.half_m, cell_z(plan, m.goal))
    if m.goal < 0 or (is_found and m.keep <= 0):
        m.goal = choose_nook(r, b, m, plan, rival)
        m.keep = 6
    if m.goal < 0:
        look_out(b, action)
        return
    x = cell_x(plan, m.goal)
    z = cell_z(plan, m.goal)
    if abs(x - b.x) < 0.3 and abs(z - b.z) < 0.3:
        return
    go_to(r, b, m, plan, scratch, x, 0.0, z, 0.0, action)


@njit_nogil
def choose_nook(r: Any, b: Any, m: Any, plan: Any, rival: int) -> int:
    """Of some random cells, one that is out of sight, hardly exposed and soon reached."""
    best = -1
    most = -1e9
    reach = int(7.0 / plan.pitch_x)
    centre = cell_of(plan, b.x, b.y - r.half_m, b.z)
    for _ in range(NOOKS):
        row = centre // CELLS + randint(m, 2 * reach + 1) - reach
        column = centre % CELLS + randint(m, 2 * reach + 1) - reach
        if row < 0 or column < 0 or row >= plan.rows or column >= plan.columns:
            continue
        if plan.height[row, column] * HEIGHT_M > 0.1 or (plan.blocked[row + 1] >> np.uint64(column)) & ONE != 0:
            continue
        cell = row * CELLS + column
        x = cell_x(plan, cell)
        z = cell_z(plan, cell)
        way = math.sqrt((x - b.x) ** 2 + (z - b.z) ** 2)
        worth = -0.25 * way
        for side in range(0, WAYS, 4):
            worth -= 0.12 * free_m(plan, x, z, WAY_X[side], WAY_Z[side], 6.0)
        if rival >= 0:
            its_x = b.rival_x[rival]
            its_z = b.rival_z[rival]
            its_way = math.sqrt((x - its_x) ** 2 + (z - its_z) ** 2)
            worth += 0.3 * min(its_way, 12.0)
            if not has_sight(r, plan, its_x, b.rival_y[rival], its_z, x, r.half_m, z):
                worth += 4.0
            if its_way / r.speed[1] + 0.3 < way / r.speed[0]:
                worth -= 3.0
        if worth > most:
            most = worth
            best = cell
    return best


@njit_nogil
def circle(r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, rival: int, action: np.ndarray) -> bool:
    """Keeps a pillar between itself and the seeker; whether there is one."""
    m.keep -= 1
    if m.keep <= 0 and (m.has_pillar == 0 or plan.boxes == 0):
        choose_pillar(r, b, m, plan, scratch, rival)
        m.keep = 8
    if m.has_pillar == 0:
        return False
    middle_x = 0.5 * (m.pillar[0] + m.pillar[2])
    middle_z = 0.5 * (m.pillar[1] + m.pillar[3])
    half_x = 0.5 * (m.pillar[2] - m.pillar[0])
    half_z = 0.5 * (m.pillar[3] - m.pillar[1])
    its_x = b.rival_x[rival] + 0.25 * b.rival_speed_x[rival] - middle_x
    its_z = b.rival_z[rival] + 0.25 * b.rival_speed_z[rival] - middle_z
    if abs(its_x) < half_x and abs(its_z) < half_z:
        its_x = b.rival_x[rival] - middle_x
        its_z = b.rival_z[rival] - middle_z
    x = b.x - middle_x
    z = b.z - middle_z
    # Angles as on a circle into which the rectangle is squeezed.
    mine = math.atan2(x / half_x, z / half_z)
    its = math.atan2(its_x / half_x, its_z / half_z)
    apart = wrap(mine - its)
    is_near = abs(x) < half_x + 1.5 and abs(z) < half_z + 1.5
    goal = its + math.pi
    if is_near:
        left = math.pi - abs(apart)
        if left < 0.2:
            return True
        sense = 1.0 if apart > 0.0 else -1.0
        goal = mine + sense * min(left, 0.9)
    goal_x = math.sin(goal)
    goal_z = math.cos(goal)
    stretch = 1.0 / max(abs(goal_x), abs(goal_z))
    to_x = middle_x + goal_x * stretch * half_x
    to_z = middle_z + goal_z * stretch * half_z
    go_to(r, b, m, plan, scratch, to_x, 0.0, to_z, r.speed[0], action)
    return True


@device_kernel
def wrap(angle: float) -> float:
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@njit_nogil
def choose_pillar(r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, rival: int) -> None:
    """Of all that stands free and is small enough, what is near to it and nearer than to the seeker."""
    done = scratch.spare[0]
    part = scratch.spare[1]
    clear(done)
    m.has_pillar = 0
    most = -1e9
    inside = inside_bits(plan)
    for row in range(1, plan.rows + 1):
        left = plan.blocked[row] & inside & ~done[row]
        while left != 0:
            bit = left & (~left + ONE)
            clear(part)
            part[row] = bit
            low_row, high_row, columns = fill(plan, part, row)
            for each in range(low_row, high_row + 1):
                done[each] |= part[each]
            left = plan.blocked[row] & inside & ~done[row]
            worth = worth_of_pillar(r, b, plan, rival, low_row, high_row, columns)
            if worth > most:
                most = worth
                m.has_pillar = 1
                rectangle(m, plan, low_row, high_row, columns)


@device_kernel
def fill(plan: Any, part: np.ndarray, row: int) -> tuple[int, int, np.uint64]:
    """Spreads over blocked cells that are connected; the rows, and the columns as bits."""
    low_row = row
    high_row = row
    columns = part[row]
    is_growing = True
    while is_growing:
        is_growing = False
        for each in range(max(low_row - 1, 1), min(high_row + 1, plan.rows) + 1):
            near = part[each] | part[each - 1] | part[each + 1]
            grown = (near | (near << ONE) | (near >> ONE)) & plan.blocked[each]
            if grown != part[each]:
                part[each] = grown
                columns |= grown
                low_row = min(low_row, each)
                high_row = max(high_row, each)
                is_growing = True
    return low_row, high_row, columns


@device_kernel
def highest(bits: np.uint64) -> int:
    at = CELLS - 1
    while (bits >> np.uint64(at)) & ONE == 0:
        at -= 1
    return at


@device_kernel
def rectangle(m: Any, plan: Any, low_row: int, high_row: int, columns: np.uint64) -> None:
    """The way around it, for a body's centre."""
    aside_x = 0.6 * plan.pitch_x + m.traits[CLEARANCE_M]
    aside_z = 0.6 * plan.pitch_z + m.traits[CLEARANCE_M]
    m.pillar[0] = plan.from_x + lowest(columns) * plan.pitch_x - aside_x
    m.pillar[2] = plan.from_x + highest(columns) * plan.pitch_x + aside_x
    m.pillar[1] = plan.from_z + (low_row - 1) * plan.pitch_z - aside_z
    m.pillar[3] = plan.from_z + (high_row - 1) * plan.pitch_z + aside_z


@njit_nogil
def worth_of_pillar(r: Any, b: Any, plan: Any, rival: int, low_row: int, high_row: int, columns: np.uint64) -> float:
    first = lowest(columns)
    last = highest(columns)
    wide = (last - first) * plan.pitch_x
    deep = (high_row - low_row) * plan.pitch_z
    if first < 2 or low_row < 3 or last > plan.columns - 3 or high_row > plan.rows - 2 or max(wide, deep) > PILLAR_M:
        return -2e9
    low_x = plan.from_x + (first - 1) * plan.pitch_x
    high_x = plan.from_x + (last + 1) * plan.pitch_x
    low_z = plan.from_z + (low_row - 2) * plan.pitch_z
    high_z = plan.from_z + high_row * plan.pitch_z
    is_round = (
        cells_are_free(plan, low_x, low_z, high_x, low_z)
        and cells_are_free(plan, high_x, low_z, high_x, high_z)
        and cells_are_free(plan, high_x, high_z, low_x, high_z)
        and cells_are_free(plan, low_x, high_z, low_x, low_z)
    )
    middle_x = 0.5 * (low_x + high_x)
    middle_z = 0.5 * (low_z + high_z)
    mine = math.sqrt((middle_x - b.x) ** 2 + (middle_z - b.z) ** 2)
    its = math.sqrt((middle_x - b.rival_x[rival]) ** 2 + (middle_z - b.rival_z[rival]) ** 2)
    worth = -mine - 0.5 * abs(wide + deep - 5.0) - 10.0 * max(mine / r.speed[0] - its / r.speed[1], 0.0)
    return worth if is_round else -2e9
