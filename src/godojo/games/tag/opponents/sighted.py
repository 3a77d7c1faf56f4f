"""The opponent that plays by its eyes: it knows its own observation, the rules, and what it remembers; nothing else.

A seeker runs where the hider it sees is going, then where it was last seen, and otherwise searches where it has not
looked for longest. A hider turns on the spot until it sees a seeker, then runs where something solid is between them.
"""

import math
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.games.tag.opponents.eyes import (
    GROUNDED,
    IS_SEEKER,
    POSITION,
    SECTOR_RAD,
    SECTORS,
    SEEN_FIELDS,
    Eyes,
    distance_of,
    free_along,
    look,
    make_eyes,
    must_jump,
    wake,
)
from godojo.kernels.bodies import X, Z
from godojo.kernels.compile import device_kernel, njit_nogil
from godojo.kernels.random import uniform
from godojo.opponents.base import Opponent, check_out, new_memory

TURNING = 0.1
"""A wish so short turns the body at full rate and hardly moves it."""
PATCHES = 8
"""The searched ground is remembered as so many patches along either axis."""
NEVER = -1000
MAX_LEAD_S = 0.5
FOLLOW_S = 2.0
"""How long a seeker follows what it no longer sees."""
FOLLOW_COURSE_S = 0.7
NEAR_GOAL_M = 0.8
LOOK_RAD = 4.2
SEARCH_ROOM_M = 1.6
CHASE_ROOM_M = 1.6
FLEE_S = 1.6
"""How long a hider runs from what it no longer sees."""
CLOSE_M = 4.0
HALF_GUESS_M = 10.0

MIND = np.dtype(
    [
        *SEEN_FIELDS,
        ("clock", "i4"),  # decisions in this round
        ("seen_at", "i4"),  # when an opponent was last seen
        ("last_x", "f4"),  # where it is believed to be, relative to itself
        ("last_z", "f4"),
        ("course_x", "f4"),  # its velocity, as far as seen
        ("course_z", "f4"),
        ("sector", "i4"),  # walked along last
        ("stuck", "i4"),  # decisions without getting on
        ("spin", "f4"),  # angle still to be looked around
        ("spin_way", "f4"),
        ("spun_at", "i4"),
        ("goal_x", "f4"),  # to be searched, by the scale of the observed position
        ("goal_z", "f4"),
        ("goal_until", "i4"),
        ("half_x", "f4"),  # the arena's half extent, as found out by walking
        ("half_z", "f4"),
        ("walked_x", "f4"),
        ("walked_z", "f4"),
        ("scaled_x", "f4"),
        ("scaled_z", "f4"),
        ("was_x", "f4"),  # observed position at the last decision
        ("was_z", "f4"),
        ("looked", "i4", (PATCHES, PATCHES)),  # when each patch was last looked at
    ],
    align=True,
)


class SightedOpponent(Opponent):
    """Sees what its rays see."""

    keeps = ("_memory", "_is_new")
    _memory: np.ndarray | None = None

    def begin(self, worlds: Worlds) -> None:
        self._memory = new_memory(worlds, self.role, self.seed, MIND)
        self._eyes = make_eyes(worlds.settings)
        self._is_new = np.ones(worlds.num_worlds, np.bool_)

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        memory = check_out(worlds, self.role, out, self._memory)
        self._is_new |= worlds.ended
        play_by_sight(self._eyes, worlds.roles[self.role].observation, memory, self._is_new, out)
        self._is_new[:] = False


@njit_nogil
def play_by_sight(eyes: Eyes, observation: np.ndarray, memory: np.ndarray, is_new: np.ndarray, out: np.ndarray) -> None:
    for world in range(len(memory)):
        for agent in range(memory.shape[1]):
            mind = memory[world, agent]
            told = observation[world, agent]
            action = out[world, agent]
            action[2] = -1.0
            if is_new[world]:
                forget(mind, told)
            take_in(eyes, told, mind)
            if told[IS_SEEKER] > 0.5:
                seek(eyes, told, mind, action)
            else:
                hide(eyes, told, mind, action)


@device_kernel
def forget(mind: Any, told: np.ndarray) -> None:
    """A new round: everything is new, the arena too."""
    wake(mind)
    mind.clock = 0
    mind.seen_at = NEVER
    mind.sector = -1
    mind.stuck = 0
    mind.spin = 2.0 * math.pi
    mind.spin_way = 1.0
    mind.spun_at = 0
    mind.goal_until = NEVER
    mind.half_x = HALF_GUESS_M
    mind.half_z = HALF_GUESS_M
    mind.walked_x = 0.0
    mind.walked_z = 0.0
    mind.scaled_x = 0.0
    mind.scaled_z = 0.0
    mind.was_x = told[POSITION + X]
    mind.was_z = told[POSITION + Z]
    for column in range(PATCHES):
        for row in range(PATCHES):
            mind.looked[column, row] = NEVER


@device_kernel
def take_in(eyes: Eyes, told: np.ndarray, mind: Any) -> None:
    """The new observation, and what follows from it for where the opponent is."""
    k = eyes.known[0]
    was_heading = mind.heading
    look(eyes, told, mind)
    mind.clock += 1
    mind.spin -= abs(turn_between(was_heading, mind.heading))
    learn_scale(told, mind)
    believed_x = mind.last_x - mind.moved_x
    believed_z = mind.last_z - mind.moved_z
    if mind.sees:
        since = (mind.clock - mind.seen_at) * k.step_s
        if since < 0.3:
            top = k.hider_speed if told[IS_SEEKER] > 0.5 else k.seeker_speed
            x = (mind.seen_x - believed_x) / since
            z = (mind.seen_z - believed_z) / since
            fast = math.sqrt(x * x + z * z)
            old = 0.5 if mind.course_x != 0.0 or mind.course_z != 0.0 else 0.0
            share = (1.0 - old) * min(top / max(fast, 1e-3), 1.0)
            mind.course_x = old * mind.course_x + share * x
            mind.course_z = old * mind.course_z + share * z
        else:
            mind.course_x = 0.0
            mind.course_z = 0.0
        mind.last_x = mind.seen_x
        mind.last_z = mind.seen_z
        mind.seen_at = mind.clock
    else:
        mind.last_x = believed_x
        mind.last_z = believed_z
    fast = math.sqrt(mind.before_x * mind.before_x + mind.before_z * mind.before_z)
    mind.stuck = mind.stuck + 1 if fast < 1.0 else 0


@device_kernel
def turn_between(from_rad: float, to_rad: float) -> float:
    turn = to_rad - from_rad
    return turn - 2.0 * math.pi * math.floor(turn / (2.0 * math.pi) + 0.5)


@device_kernel
def learn_scale(told: np.ndarray, mind: Any) -> None:
    """How large the arena is: the metres walked by the change of the observed position."""
    mind.walked_x += abs(mind.moved_x)
    mind.walked_z += abs(mind.moved_z)
    mind.scaled_x += abs(told[POSITION + X] - mind.was_x)
    mind.scaled_z += abs(told[POSITION + Z] - mind.was_z)
    mind.was_x = told[POSITION + X]
    mind.was_z = told[POSITION + Z]
    if mind.walked_x > 1.0 and mind.scaled_x > 1e-3:
        mind.half_x = mind.walked_x / mind.scaled_x
    if mind.walked_z > 1.0 and mind.scaled_z > 1e-3:
        mind.half_z = mind.walked_z / mind.scaled_z


@device_kernel
def walk(eyes: Eyes, told: np.ndarray, mind: Any, x: float, z: float, room_m: float, action: np.ndarray) -> None:
    """Goes towards a point (relative to itself), around what the rose shows, over what is low."""
    wanted_rad = math.atan2(x, z)
    best = 0
    least = 1e9
    for sector in range(SECTORS):
        lack = max(room_m - free_along(eyes, mind, sector), 0.0) / max(room_m, 0.1)
        cost = abs(turn_between(wanted_rad, sector * SECTOR_RAD)) + 3.0 * lack
        if mind.sector >= 0:
            cost += 0.15 * abs(turn_between(mind.sector * SECTOR_RAD, sector * SECTOR_RAD))
        if cost < least:
            least = cost
            best = sector
    mind.sector = best
    if abs(turn_between(wanted_rad, best * SECTOR_RAD)) <= 0.6 * SECTOR_RAD:
        action[0] = math.sin(wanted_rad)
        action[1] = math.cos(wanted_rad)
    else:
        action[0] = eyes.unit[best, 0]
        action[1] = eyes.unit[best, 1]
    if must_jump(told, mind, best) or (mind.stuck > 2 and told[GROUNDED] > 0.5):
        action[2] = 1.0


@device_kernel
def look_around(mind: Any, action: np.ndarray) -> None:
    """Turns on the spot."""
    angle = mind.heading + 1.5 * mind.spin_way
    action[0] = math.sin(angle) * TURNING
    action[1] = math.cos(angle) * TURNING
    mind.sector = -1
    mind.stuck = 0


@device_kernel
def seek(eyes: Eyes, told: np.ndarray, mind: Any, action: np.ndarray) -> None:
    k = eyes.known[0]
    remember_ground(eyes, told, mind)
    since_s = (mind.clock - mind.seen_at) * k.step_s
    away = math.sqrt(mind.last_x * mind.last_x + mind.last_z * mind.last_z)
    if since_s < FOLLOW_S:
        mind.goal_until = NEVER
        if mind.sees:
            lead_s = min(away / (k.seeker_speed + k.hider_speed), MAX_LEAD_S)
        else:
            lead_s = min(since_s, FOLLOW_COURSE_S)
        x = mind.last_x + mind.course_x * lead_s
        z = mind.last_z + mind.course_z * lead_s
        near = math.sqrt(x * x + z * z)
        if mind.sees or near > 1.0:
            walk(eyes, told, mind, x, z, min(CHASE_ROOM_M, max(near - 0.5, 0.0)), action)
            if mind.sees and away < 2.0 and mind.seen_up > k.half_m and told[GROUNDED] > 0.5:
                action[2] = 1.0
            return
        mind.seen_at = NEVER
        mind.spin = 2.0 + LOOK_RAD
        mind.spin_way = 1.0 if turn_between(mind.heading, math.atan2(mind.course_x, mind.course_z)) > 0.0 else -1.0
    if mind.spin > 2.0:
        look_around(mind, action)
        return
    search(eyes, told, mind, action)


@device_kernel
def patch_of(scaled: float) -> int:
    return min(max(int((scaled + 1.0) * 0.5 * PATCHES), 0), PATCHES - 1)


@device_kernel
def remember_ground(eyes: Eyes, told: np.ndarray, mind: Any) -> None:
    """Marks the patches that the level rays pass over as looked at."""
    k = eyes.known[0]
    for index in range(0, len(eyes.level), 2):
        angle = mind.heading + eyes.level_rad[index]
        sine = math.sin(angle) / mind.half_x
        cosine = math.cos(angle) / mind.half_z
        reach = min(distance_of(k, told, eyes.level[index]), 14.0)
        at = 0.5
        while at < reach:
            mind.looked[patch_of(told[POSITION + X] + sine * at), patch_of(told[POSITION + Z] + cosine * at)] = (
                mind.clock
            )
            at += 1.5


@device_kernel
def search(eyes: Eyes, told: np.ndarray, mind: Any, action: np.ndarray) -> None:
    """Walks to the end of an open way beyond which it has not looked for long, looks around there, and so on."""
    x = (mind.goal_x - told[POSITION + X]) * mind.half_x
    z = (mind.goal_z - told[POSITION + Z]) * mind.half_z
    if mind.clock >= mind.goal_until or x * x + z * z < NEAR_GOAL_M * NEAR_GOAL_M or mind.stuck > 5:
        if mind.goal_until != NEVER and mind.spin <= 2.0 and mind.clock - mind.spun_at > 12:
            mind.spin = 2.0 + LOOK_RAD
            mind.spun_at = mind.clock
            mind.goal_until = NEVER
            look_around(mind, action)
            return
        choose_goal(eyes, told, mind)
        x = (mind.goal_x - told[POSITION + X]) * mind.half_x
        z = (mind.goal_z - told[POSITION + Z]) * mind.half_z
    walk(eyes, told, mind, x, z, SEARCH_ROOM_M, action)


@device_kernel
def choose_goal(eyes: Eyes, told: np.ndarray, mind: Any) -> None:
    k = eyes.known[0]
    best = -1e9
    far = 1.0
    for sector in range(SECTORS):
        free = free_along(eyes, mind, sector)
        reach = min(max(free - 0.3, 0.3), 8.0)
        x = told[POSITION + X] + eyes.unit[sector, 0] * reach / mind.half_x
        z = told[POSITION + Z] + eyes.unit[sector, 1] * reach / mind.half_z
        worth = uniform(mind) + 0.1 * reach - 2.0 * max(1.5 - free, 0.0) + 0.5 * unseen_s(k, mind, x, z)
        if worth > best:
            best = worth
            far = reach
            mind.goal_x = x
            mind.goal_z = z
    mind.goal_until = mind.clock + int((far / k.seeker_speed + 0.5) / k.step_s)


@device_kernel
def unseen_s(k: Any, mind: Any, x: float, z: float) -> float:
    """For how long the patches around a place have not been looked at, on average; not above some seconds."""
    column = patch_of(x)
    row = patch_of(z)
    whole = 0.0
    count = 0
    for near in range(max(column - 1, 0), min(column + 2, PATCHES)):
        for near_row in range(max(row - 1, 0), min(row + 2, PATCHES)):
            whole += min((mind.clock - mind.looked[near, near_row]) * k.step_s, 8.0)
            count += 1
    return whole / count


@device_kernel
def hide(eyes: Eyes, told: np.ndarray, mind: Any, action: np.ndarray) -> None:
    k = eyes.known[0]
    since_s = (mind.clock - mind.seen_at) * k.step_s
    if since_s > 0.0 and since_s < FLEE_S:
        come_nearer(k, mind)
    away = math.sqrt(mind.last_x * mind.last_x + mind.last_z * mind.last_z)
    if since_s >= FLEE_S or (since_s > 0.5 and away > 2.0 * CLOSE_M):
        look_around(mind, action)
        return
    flee(eyes, told, mind, away, action)


@device_kernel
def come_nearer(k: Any, mind: Any) -> None:
    """A seeker that is no longer seen is taken to run after us."""
    away = math.sqrt(mind.last_x * mind.last_x + mind.last_z * mind.last_z)
    if away > 1.5:
        share = min(k.seeker_speed * k.step_s, away - 1.5) / away
        mind.last_x -= mind.last_x * share
        mind.last_z -= mind.last_z * share


@device_kernel
def flee(eyes: Eyes, told: np.ndarray, mind: Any, away: float, action: np.ndarray) -> None:
    """Of all directions the best one: open, away from the seeker, and out of its sight."""
    threat_rad = math.atan2(mind.last_x, mind.last_z)
    best = 0
    most = -1e9
    for sector in range(SECTORS):
        free = free_along(eyes, mind, sector)
        reach = min(free, 4.0)
        x = eyes.unit[sector, 0] * reach - mind.last_x
        z = eyes.unit[sector, 1] * reach - mind.last_z
        gain = math.sqrt(x * x + z * z) - away
        worth = gain + 0.6 * reach - 2.5 * max(1.2 - free, 0.0)
        facing = math.cos(turn_between(threat_rad, sector * SECTOR_RAD))
        if away < CLOSE_M:
            worth -= 3.0 * max(facing, 0.0)
        if reach > 1.0 and is_behind_something(eyes, mind, sector, reach, threat_rad):
            worth += 2.0
        if mind.sector >= 0:
            worth -= 0.5 * abs(turn_between(mind.sector * SECTOR_RAD, sector * SECTOR_RAD))
        if worth > most:
            most = worth
            best = sector
    mind.sector = best
    action[0] = eyes.unit[best, 0]
    action[1] = eyes.unit[best, 1]
    if must_jump(told, mind, best) or (mind.stuck > 2 and told[GROUNDED] > 0.5):
        action[2] = 1.0


@device_kernel
def is_behind_something(eyes: Eyes, mind: Any, sector: int, reach: float, threat_rad: float) -> bool:
    """Whether, by the rose, something stands between the seeker and the place `reach` metres along the sector."""
    to_x = eyes.unit[sector, 0] * reach - mind.last_x
    to_z = eyes.unit[sector, 1] * reach - mind.last_z
    turn = turn_between(sector * SECTOR_RAD, threat_rad)
    steps = int(abs(turn) / SECTOR_RAD)
    way = 1 if turn > 0.0 else -1
    for step in range(1, steps):
        between = (sector + way * step) % SECTORS
        x = eyes.unit[between, 0]
        z = eyes.unit[between, 1]
        cross = x * to_z - z * to_x
        if abs(cross) > 1e-3:
            line = (mind.last_x * to_z - mind.last_z * to_x) / cross
            if mind.rose[between] < line - 0.4:
                return True
    return False
