"""How a body with inertia gets somewhere: interception, braking, ways through the map, jumps onto low boxes."""

import math
from typing import Any, NamedTuple

import numpy as np

from godojo.games.tag.opponents.family.belief import can_walk
from godojo.games.tag.opponents.family.traits import BRAKE
from godojo.games.tag.opponents.grid import CELLS, ROWS, cell_of, clear, entry_m, is_in, put_in, spread_back
from godojo.games.tag.opponents.ways import next_cell
from godojo.kernels.compile import device_kernel, njit_nogil

WAVES = 192
AHEAD = 14
"""Cells of a way that are looked at for a short cut."""
FORESEEN = 28
FORESIGHT_S = 0.05
STUCK_SPEED_MPS = 0.6


class Scratch(NamedTuple):
    """Room to think in, used again for every agent."""

    waves: np.ndarray
    spare: np.ndarray
    way: np.ndarray


def make_scratch() -> Scratch:
    return Scratch(np.zeros((WAVES + 1, ROWS), np.uint64), np.zeros((4, ROWS), np.uint64), np.zeros(WAVES, np.int64))


@device_kernel
def stand(action: np.ndarray) -> None:
    action[0] = 0.0
    action[1] = 0.0
    action[2] = -1.0


@njit_nogil
def drive(r: Any, b: Any, speed_x: float, speed_z: float, action: np.ndarray) -> None:
    """Wishes for a velocity. Letting go stops a body sooner than turning does, where the two differ much."""
    top = r.speed[b.chases]
    lack = math.sqrt((speed_x - b.speed_x) ** 2 + (speed_z - b.speed_z) ** 2)
    fast = math.sqrt(b.speed_x * b.speed_x + b.speed_z * b.speed_z)
    wanted = math.sqrt(speed_x * speed_x + speed_z * speed_z)
    gain = r.acceleration[b.chases]
    is_better = lack > fast * gain / r.stop + wanted + 0.3
    if b.grounded and fast > 1.0 and is_better and r.stop > 1.5 * gain:
        action[0] = 0.0
        action[1] = 0.0
    else:
        action[0] = speed_x / top
        action[1] = speed_z / top


@njit_nogil
def towards(r: Any, b: Any, m: Any, x: float, z: float, end_mps: float, action: np.ndarray) -> None:
    """Goes to a point, to be there with no more than this speed."""
    way_x = x - b.x
    way_z = z - b.z
    away = math.sqrt(way_x * way_x + way_z * way_z)
    if away < 0.08:
        action[0] = 0.0
        action[1] = 0.0
        return
    slow = 0.6 * m.traits[BRAKE] * r.stop
    top = min(r.speed[b.chases], math.sqrt(end_mps * end_mps + 2.0 * slow * away))
    drive(r, b, way_x / away * top, way_z / away * top, action)
    jump_if_stuck(b, m, action)


@device_kernel
def jump_if_stuck(b: Any, m: Any, action: np.ndarray) -> None:
    """Jumps where it does not get on."""
    fast = math.sqrt(b.speed_x * b.speed_x + b.speed_z * b.speed_z)
    m.stuck = m.stuck + 1 if fast < STUCK_SPEED_MPS else 0
    if b.grounded and m.stuck > 4:
        action[2] = 1.0


@njit_nogil
def jump_onto(r: Any, b: Any, plan: Any, x: float, z: float, action: np.ndarray) -> None:
    """Jumps in time for a low box ahead, by a map that has boxes."""
    if not b.grounded or action[0] * action[0] + action[1] * action[1] < 0.01:
        return
    feet = b.y - r.half_m
    speed = max(b.speed_x * x + b.speed_z * z, 0.0)
    for box in range(plan.boxes):
        rise = plan.high[box, 1] - feet
        if rise < 0.02 or rise > r.climb_m or plan.low[box, 1] > feet + 2.0 * r.half_m:
            continue
        time_s = (r.jump_speed - math.sqrt(max(r.jump_speed * r.jump_speed - 2.0 * r.gravity * rise, 0.0))) / r.gravity
        reach = speed * (time_s + r.step_s) + 0.1
        if entry_m(plan, box, b.x, b.z, b.x + x * reach, b.z + z * reach, r.half_m) <= 1.0:
            action[2] = 1.0


@njit_nogil
def find_way(r: Any, b: Any, plan: Any, scratch: Scratch, to_x: float, to_feet: float, to_z: float) -> int:
    """Writes the cells of the shortest way there; their number, or -1 if there is none."""
    waves = scratch.waves
    clear(waves[0])
    put_in(waves[0], cell_of(plan, to_x, to_feet, to_z))
    start = cell_of(plan, b.x, b.y - r.half_m, b.z)
    count = 0
    while count < WAVES and not is_in(waves[count], start):
        spread_back(plan.exits, plan.rows, count % 2 == 1, waves[count], waves[count + 1])
        count += 1
    if count == WAVES:
        return -1
    cell = start
    for step in range(count):
        cell = next_cell(plan, waves[count - step - 1], cell)
        scratch.way[step] = cell
    return count


@device_kernel
def cell_x(plan: Any, cell: int) -> float:
    x: float = plan.from_x + (cell % CELLS) * plan.pitch_x
    return x


@device_kernel
def cell_z(plan: Any, cell: int) -> float:
    z: float = plan.from_z + (cell // CELLS) * plan.pitch_z
    return z


@njit_nogil
def follow_way(r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, count: int, action: np.ndarray) -> None:
    """Runs to the farthest cell of the way to which it is clear, slow enough for the corner there."""
    feet = b.y - r.half_m
    ahead = min(count, AHEAD)
    while ahead > 1:
        cell = scratch.way[ahead - 1]
        if can_walk(r, plan, b.x, feet, b.z, cell_x(plan, cell), cell_z(plan, cell)):
            break
        ahead -= 1
    if ahead < 1:
        stand(action)
        return
    cell = scratch.way[ahead - 1]
    x = cell_x(plan, cell)
    z = cell_z(plan, cell)
    end = r.speed[b.chases]
    if ahead < count and b.chases:
        after = scratch.way[min(ahead + 3, count) - 1]
        one_x = x - b.x
        one_z = z - b.z
        two_x = cell_x(plan, after) - x
        two_z = cell_z(plan, after) - z
        both = math.sqrt((one_x * one_x + one_z * one_z) * (two_x * two_x + two_z * two_z))
        cosine = (one_x * two_x + one_z * two_z) / max(both, 1e-3)
        # Around a corner of 1.5 m radius, by how sharp it is.
        sharp = 1.0 - max(min(cosine, 1.0), 0.0)
        slow = math.sqrt(r.acceleration[1] * 1.5)
        end = end + (slow - end) * min(2.0 * sharp, 1.0) * m.traits[BRAKE]
    towards(r, b, m, x, z, end, action)
    away = max(math.sqrt((x - b.x) ** 2 + (z - b.z) ** 2), 1e-3)
    jump_onto(r, b, plan, (x - b.x) / away, (z - b.z) / away, action)


@njit_nogil
def go_to(
    r: Any, b: Any, m: Any, plan: Any, scratch: Scratch, x: float, feet: float, z: float, end: float, action: np.ndarray
) -> bool:
    """Goes to a place, straight or round what is in the way; whether there is a way."""
    away = math.sqrt((x - b.x) ** 2 + (z - b.z) ** 2)
    if can_walk(r, plan, b.x, b.y - r.half_m, b.z, x, z) and feet < b.y - r.half_m + r.climb_m:
        towards(r, b, m, x, z, end, action)
        if away > 0.1:
            jump_onto(r, b, plan, (x - b.x) / away, (z - b.z) / away, action)
        return True
    count = find_way(r, b, plan, scratch, x, feet, z)
    if count < 0:
        towards(r, b, m, x, z, end, action)
        return False
    follow_way(r, b, m, plan, scratch, count, action)
    return True


@njit_nogil
def intercept(r: Any, b: Any, x: float, z: float, speed_x: float, speed_z: float, action: np.ndarray) -> float:
    """Chases somebody on a straight course as soon as its acceleration allows; the time that takes.

    It either steers at once or first lets go to stop, whichever is sooner.
    """
    gain = r.acceleration[b.chases] if b.grounded else r.air
    top = r.speed[b.chases]
    fast = math.sqrt(b.speed_x * b.speed_x + b.speed_z * b.speed_z)
    stop_s = fast / r.stop
    stop_x = b.x + 0.5 * b.speed_x * stop_s
    stop_z = b.z + 0.5 * b.speed_z * stop_s
    steer_s = 9.0
    restart_s = 9.0
    miss_x = x - b.x
    miss_z = z - b.z
    for step in range(1, FORESEEN + 1):
        at_s = step * FORESIGHT_S
        there_x = x + speed_x * at_s
        there_z = z + speed_z * at_s
        if steer_s > 8.0:
            off_x = there_x - b.x - b.speed_x * at_s
            off_z = there_z - b.z - b.speed_z * at_s
            off = max(math.sqrt(off_x * off_x + off_z * off_z) - 0.7 * r.touch_m, 0.0)
            reach = math.sqrt((there_x - b.x) ** 2 + (there_z - b.z) ** 2) - 0.7 * r.touch_m
            if off <= 0.5 * gain * at_s * at_s and reach <= top * at_s:
                steer_s = at_s
                miss_x = off_x
                miss_z = off_z
        if restart_s > 8.0 and at_s > stop_s:
            off = math.sqrt((there_x - stop_x) ** 2 + (there_z - stop_z) ** 2) - 0.7 * r.touch_m
            if off <= 0.5 * gain * (at_s - stop_s) ** 2:
                restart_s = at_s
        if steer_s < 8.0 and restart_s < 8.0:
            break
    if steer_s > 8.0:
        # Out of reach for now: along a course that closes in.
        at_s = min(math.sqrt(miss_x * miss_x + miss_z * miss_z) / top, 1.0)
        miss_x = x + speed_x * at_s - b.x - b.speed_x * 0.5 * at_s
        miss_z = z + speed_z * at_s - b.z - b.speed_z * 0.5 * at_s
    if b.grounded and fast > 1.5 and restart_s < steer_s - 0.08:
        action[0] = 0.0
        action[1] = 0.0
        return restart_s
    miss = math.sqrt(miss_x * miss_x + miss_z * miss_z)
    if miss < 0.05:
        miss_x = x - b.x
        miss_z = z - b.z
        miss = max(math.sqrt(miss_x * miss_x + miss_z * miss_z), 1e-3)
    way_x = miss_x / miss
    way_z = miss_z / miss
    # The wish is where this acceleration would end: on the circle of top speed.
    along = b.speed_x * way_x + b.speed_z * way_z
    room = max(along * along + top * top - fast * fast, 0.0)
    more = math.sqrt(room) - along
    action[0] = (b.speed_x + way_x * more) / top
    action[1] = (b.speed_z + way_z * more) / top
    return steer_s
