"""Where beliefs come from: the true state, or an agent's own observations and its memory of the round."""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from godojo.engines.base import Worlds
from godojo.games.tag.opponents.eyes import (
    FORWARD,
    GROUNDED,
    HIDER,
    IS_SEEKER,
    POSITION,
    SEEKER,
    VELOCITY,
    Eyes,
    distance_of,
    make_eyes,
    who_is_at,
)
from godojo.games.tag.opponents.family.belief import (
    BELIEF,
    LOST,
    MAP,
    RIVALS,
    cells_are_free,
    find_blocked,
    find_exits_of_cells,
    inside_bits,
    make_rules,
)
from godojo.games.tag.opponents.grid import CELL_M, CELLS, ONE, ROWS, column_of, row_of, survey
from godojo.games.tag.opponents.ways import State
from godojo.games.tag.spec import LAYOUT
from godojo.kernels.compile import device_kernel, njit_nogil

TIME_LEFT = LAYOUT.start("time_left")
LOOK_STEP_M = 0.8
MAX_LOOK_M = 16.0
SAME_M = 1.2
"""Rays that meet somebody this close to each other have met the same one."""
SURE, UNSURE = 0.75, 0.25
"""How far an estimated speed follows a place that is seen exactly, or only within bounds."""
FACE_M = 2e-3
"""Points that differ by less along an axis are on the same face of a body."""
COURSE_S = 0.7
"""How long somebody unseen is taken to keep its course."""
GROWN_PITCH_M = 0.6
"""With larger cells, walls are not widened by half a body."""

SENSE = np.dtype(
    [
        ("half_x", "f4"),  # the arena's half extents, as far as known
        ("half_z", "f4"),
        ("walked", "f4", 2),  # metres by own speed
        ("scaled", "f4", 2),  # and what they changed in the observed position
        ("was", "f4", 2),  # observed position at the last decision
        ("was_speed", "f4", 2),
        ("chased", "u1"),
        ("clock", "i4"),
        ("hit", "u8", ROWS),  # cells in which rays met something solid
    ],
    align=True,
)


class Knowledge(Protocol):
    """Keeps a belief for each agent, and a map for each agent or, where all know the same, for each world."""

    beliefs: np.ndarray
    maps: np.ndarray

    def begin(self, worlds: Worlds, role: str) -> None: ...

    def update(self, worlds: Worlds, is_new: np.ndarray) -> None: ...

    def memory(self) -> dict[str, np.ndarray]: ...


class FullKnowledge:
    """All that `Worlds.privileged` has."""

    beliefs: np.ndarray
    maps: np.ndarray

    def begin(self, worlds: Worlds, role: str) -> None:
        true = worlds.privileged()
        self._first = true.first_agent[role]
        self._state = State(
            true.position_m,
            true.velocity_mps,
            true.grounded,
            true.active,
            true.chases,
            true.box_low_m,
            true.box_high_m,
            true.box_count,
            true.size_m,
        )
        self._role = role
        self._rules = make_rules(worlds.settings)
        self.beliefs = np.zeros(worlds.roles[role].action.shape[:2], BELIEF)
        self.maps = np.zeros((worlds.num_worlds, 1), MAP)

    def update(self, worlds: Worlds, is_new: np.ndarray) -> None:
        observation = worlds.roles[self._role].observation
        know(self._rules, self._state, self._first, observation, is_new, self.beliefs, self.maps)

    def memory(self) -> dict[str, np.ndarray]:
        return {"_beliefs": self.beliefs, "_maps": self.maps}


class Lens(NamedTuple):
    """The level rays, as directions in a body's frame."""

    eyes: Eyes
    side: np.ndarray
    ahead: np.ndarray
    all_side: np.ndarray
    all_ahead: np.ndarray


class SightKnowledge:
    """What an agent's own rays have met in this round, and what follows from it."""

    beliefs: np.ndarray
    maps: np.ndarray

    def begin(self, worlds: Worlds, role: str) -> None:
        eyes = make_eyes(worlds.settings)
        self._lens = Lens(
            eyes,
            np.sin(eyes.level_rad).astype(np.float32),
            np.cos(eyes.level_rad).astype(np.float32),
            np.sin(eyes.all_rad).astype(np.float32),
            np.cos(eyes.all_rad).astype(np.float32),
        )
        self._role = role
        self._rules = make_rules(worlds.settings)
        shape = worlds.roles[role].action.shape[:2]
        self.beliefs = np.zeros(shape, BELIEF)
        self.maps = np.zeros(shape, MAP)
        self._senses = np.zeros(shape, SENSE)

    def update(self, worlds: Worlds, is_new: np.ndarray) -> None:
        observation = worlds.roles[self._role].observation
        sense(self._lens, self._rules, observation, is_new, self._senses, self.beliefs, self.maps)

    def memory(self) -> dict[str, np.ndarray]:
        return {"_beliefs": self.beliefs, "_maps": self.maps, "_senses": self._senses}


@njit_nogil
def know(
    rules: np.ndarray,
    state: State,
    first: int,
    observations: np.ndarray,
    is_new: np.ndarray,
    beliefs: np.ndarray,
    maps: np.ndarray,
) -> None:
    r = rules[0]
    for world in range(len(beliefs)):
        if is_new[world]:
            plan = maps[world, 0]
            low = state.low[world]
            high = state.high[world]
            survey(plan, low, high, state.boxes[world], state.size[world], r.half_m, r.climb_m)
            find_blocked(plan, r.climb_m)
        for place in range(beliefs.shape[1]):
            b = beliefs[world, place]
            me = first + place
            observation = observations[world, place]
            b.active = state.active[world, me]
            b.chases = state.chases[world, me]
            b.grounded = state.grounded[world, me]
            b.time_left_s = observation[TIME_LEFT] * r.round_s
            b.x = state.position[world, me, 0]
            b.y = state.position[world, me, 1]
            b.z = state.position[world, me, 2]
            b.speed_x = state.velocity[world, me, 0]
            b.speed_z = state.velocity[world, me, 2]
            b.forward_x = observation[FORWARD]
            b.forward_z = observation[FORWARD + 1]
            b.rivals = 0
            b.blind_cosine = -2.0
            for other in range(state.active.shape[1]):
                is_rival = state.active[world, other] and state.chases[world, other] != b.chases
                if is_rival and b.rivals < RIVALS:
                    at = b.rivals
                    b.rival_x[at] = state.position[world, other, 0]
                    b.rival_y[at] = state.position[world, other, 1]
                    b.rival_z[at] = state.position[world, other, 2]
                    b.rival_speed_x[at] = state.velocity[world, other, 0]
                    b.rival_speed_z[at] = state.velocity[world, other, 2]
                    b.rival_age[at] = 0
                    b.rivals = at + 1


@njit_nogil
def sense(
    lens: Lens,
    rules: np.ndarray,
    observations: np.ndarray,
    is_new: np.ndarray,
    senses: np.ndarray,
    beliefs: np.ndarray,
    maps: np.ndarray,
) -> None:
    r = rules[0]
    for world in range(len(beliefs)):
        for place in range(beliefs.shape[1]):
            s = senses[world, place]
            b = beliefs[world, place]
            observation = observations[world, place]
            plan = maps[world, place]
            b.active = observation[FORWARD] != 0.0 or observation[FORWARD + 1] != 0.0
            if is_new[world]:
                forget(s, b, observation)
            if b.active:
                feel(lens, r, observation, s, b, plan)
                draw_map(lens, observation, s, b, plan)
                follow_rivals(lens, r, observation, b, plan)


@device_kernel
def forget(s: Any, b: Any, observation: np.ndarray) -> None:
    """A new round: everything is new, the arena too."""
    s.half_x = 0.0
    s.half_z = 0.0
    s.clock = 0
    s.chased = observation[IS_SEEKER] > 0.5
    for axis in range(2):
        s.walked[axis] = 0.0
        s.scaled[axis] = 0.0
        s.was[axis] = observation[POSITION + 2 * axis]
        s.was_speed[axis] = 0.0
    b.rivals = 0


@njit_nogil
def feel(lens: Lens, r: Any, observation: np.ndarray, s: Any, b: Any, plan: Any) -> None:
    """Its own state, and how large the arena is; a map of other measures is drawn anew."""
    b.chases = observation[IS_SEEKER] > 0.5
    if b.chases != s.chased:
        s.chased = b.chases
        b.rivals = 0
    top = r.speed[b.chases]
    b.grounded = observation[GROUNDED] > 0.5
    b.time_left_s = observation[TIME_LEFT] * r.round_s
    b.speed_x = observation[VELOCITY] * top
    b.speed_z = observation[VELOCITY + 2] * top
    b.forward_x = observation[FORWARD]
    b.forward_z = observation[FORWARD + 1]
    b.blind_cosine = r.fov_cosine
    s.clock += 1
    was_x = s.half_x
    was_z = s.half_z
    k = lens.eyes.known[0]
    # No ray leaves the arena, so each is a bound, which is tight once one meets an outer wall.
    for index in range(len(lens.side)):
        away = distance_of(k, observation, lens.eyes.level[index]) * k.level_cos
        x = (b.forward_x * lens.ahead[index] + b.forward_z * lens.side[index]) * away
        z = (b.forward_z * lens.ahead[index] - b.forward_x * lens.side[index]) * away
        s.half_x = max(
            s.half_x, abs(x) / max(1.0 - math.copysign(observation[POSITION], x * observation[POSITION]), 0.01)
        )
        s.half_z = max(
            s.half_z, abs(z) / max(1.0 - math.copysign(observation[POSITION + 2], z * observation[POSITION + 2]), 0.01)
        )
    measure_by_walking(r, observation, s, b)
    b.x = observation[POSITION] * s.half_x
    b.z = observation[POSITION + 2] * s.half_z
    b.y = observation[POSITION + 1] * r.wall_m
    if abs(s.half_x - was_x) > 0.02 * was_x or abs(s.half_z - was_z) > 0.02 * was_z:
        start_map(r, s, plan)
        for rival in range(b.rivals):
            b.rival_x[rival] *= s.half_x / was_x
            b.rival_z[rival] *= s.half_z / was_z
    else:
        s.half_x = was_x
        s.half_z = was_z


@device_kernel
def measure_by_walking(r: Any, observation: np.ndarray, s: Any, b: Any) -> None:
    """Where no outer wall is in sight, by the metres walked for a change of the observed position."""
    for axis in range(2):
        here = observation[POSITION + 2 * axis]
        speed = b.speed_x if axis == 0 else b.speed_z
        s.walked[axis] += abs(speed + s.was_speed[axis]) * 0.5 * r.step_s
        s.scaled[axis] += abs(here - s.was[axis])
        s.was[axis] = here
        s.was_speed[axis] = speed
        if s.walked[axis] > 1.5 and s.scaled[axis] > 1e-3:
            half = s.walked[axis] / s.scaled[axis]
            if axis == 0 and half > 1.08 * s.half_x:
                s.half_x = half
            if axis == 1 and half > 1.08 * s.half_z:
                s.half_z = half


@njit_nogil
def start_map(r: Any, s: Any, plan: Any) -> None:
    room_x = max(2.0 * (s.half_x - r.half_m), 1.0)
    room_z = max(2.0 * (s.half_z - r.half_m), 1.0)
    plan.columns = min(math.ceil(room_x / CELL_M) + 1, CELLS)
    plan.rows = min(math.ceil(room_z / CELL_M) + 1, CELLS)
    plan.pitch_x = room_x / (plan.columns - 1)
    plan.pitch_z = room_z / (plan.rows - 1)
    plan.from_x = -0.5 * room_x
    plan.from_z = -0.5 * room_z
    plan.boxes = 0
    for row in range(ROWS):
        plan.blocked[row] = 0
        plan.looked[row] = 0
        s.hit[row] = 0
    for row in range(plan.rows):
        for column in range(plan.columns):
            plan.height[row, column] = 0
    find_exits_of_cells(plan)


@njit_nogil
def draw_map(lens: Lens, observation: np.ndarray, s: Any, b: Any, plan: Any) -> None:
    """Every other level ray: what it meets is solid, and what it passes over has been looked at."""
    k = lens.eyes.known[0]
    is_changed = False
    edge_x = -plan.from_x + 0.25
    edge_z = -plan.from_z + 0.25
    first = 0 if s.clock == 1 else s.clock % 2
    stride = 1 if s.clock == 1 else 2
    for index in range(first, len(lens.side), stride):
        ray = lens.eyes.level[index]
        away = distance_of(k, observation, ray) * k.level_cos
        x = b.forward_x * lens.ahead[index] + b.forward_z * lens.side[index]
        z = b.forward_z * lens.ahead[index] - b.forward_x * lens.side[index]
        if away < 0.98 * k.range_m and who_is_at(observation, ray) == 0:
            hit_x = b.x + x * (away + 0.1)
            hit_z = b.z + z * (away + 0.1)
            if abs(hit_x) < edge_x and abs(hit_z) < edge_z:
                row = row_of(plan, hit_z) + 1
                bit = ONE << np.uint64(column_of(plan, hit_x))
                if s.hit[row] & bit == 0:
                    s.hit[row] |= bit
                    is_changed = True
        if b.chases:
            at = 0.2
            reach = min(away, MAX_LOOK_M)
            while at < reach:
                row = row_of(plan, b.z + z * at) + 1
                plan.looked[row] |= ONE << np.uint64(column_of(plan, b.x + x * at))
                at += LOOK_STEP_M
    if is_changed:
        widen_walls(s, plan)
        find_exits_of_cells(plan)


@device_kernel
def widen_walls(s: Any, plan: Any) -> None:
    """A body's centre keeps half a body away from walls."""
    is_wide = plan.pitch_x < GROWN_PITCH_M and plan.pitch_z < GROWN_PITCH_M
    inside = inside_bits(plan)
    for row in range(1, plan.rows + 1):
        word = s.hit[row]
        if is_wide:
            near = word | s.hit[row - 1] | s.hit[row + 1]
            word = near | (word << ONE) | (word >> ONE)
        plan.blocked[row] = word & inside


@njit_nogil
def follow_rivals(lens: Lens, r: Any, observation: np.ndarray, b: Any, plan: Any) -> None:
    """Where every rival is that was ever seen: seen now, or where its course has led it."""
    for rival in range(b.rivals):
        b.rival_age[rival] = min(b.rival_age[rival] + 1, LOST)
        drift(r, b, plan, rival)
    k = lens.eyes.known[0]
    wanted = HIDER if b.chases else SEEKER
    count = 0
    low_x = 0.0
    high_x = 0.0
    low_z = 0.0
    high_z = 0.0
    up = 0.0
    last = 0.0
    rays = len(lens.all_side)
    for ray in range(rays + 1):
        is_met = ray < rays and who_is_at(observation, ray) == wanted
        away = distance_of(k, observation, ray) if is_met else 0.0
        if count > 0 and (not is_met or abs(away - last) > SAME_M):
            meet(r, b, count, low_x, high_x, low_z, high_z, b.y + r.eye_m + up / count)
            count = 0
        if is_met:
            flat = away * lens.eyes.all_cos[ray]
            x = b.x + (b.forward_x * lens.all_ahead[ray] + b.forward_z * lens.all_side[ray]) * flat
            z = b.z + (b.forward_z * lens.all_ahead[ray] - b.forward_x * lens.all_side[ray]) * flat
            low_x = min(low_x, x) if count > 0 else x
            high_x = max(high_x, x) if count > 0 else x
            low_z = min(low_z, z) if count > 0 else z
            high_z = max(high_z, z) if count > 0 else z
            up = away * lens.eyes.all_sin[ray] + (up if count > 0 else 0.0)
            last = away
            count += 1
    drop_lost(lens, observation, b)


@njit_nogil
def drift(r: Any, b: Any, plan: Any, rival: int) -> None:
    """Somebody unseen keeps its course for a while; a seeker then comes for us."""
    unseen_s = b.rival_age[rival] * r.step_s
    x = b.rival_x[rival] + b.rival_speed_x[rival] * r.step_s
    z = b.rival_z[rival] + b.rival_speed_z[rival] * r.step_s
    if unseen_s > COURSE_S:
        b.rival_speed_x[rival] *= 0.8
        b.rival_speed_z[rival] *= 0.8
        if not b.chases:
            away = math.sqrt((b.x - x) ** 2 + (b.z - z) ** 2)
            if away > 2.0 and unseen_s < 2.0:
                x += (b.x - x) / away * 0.5 * r.speed[1] * r.step_s
                z += (b.z - z) / away * 0.5 * r.speed[1] * r.step_s
    if b.rival_age[rival] > 1 and not cells_are_free(plan, b.rival_x[rival], b.rival_z[rival], x, z):
        b.rival_speed_x[rival] = 0.0
        b.rival_speed_z[rival] = 0.0
        return
    edge_x = -plan.from_x
    edge_z = -plan.from_z
    b.rival_x[rival] = min(max(x, -edge_x), edge_x)
    b.rival_z[rival] = min(max(z, -edge_z), edge_z)


@njit_nogil
def meet(r: Any, b: Any, count: int, low_x: float, high_x: float, low_z: float, high_z: float, y: float) -> None:
    """Somebody is seen: the nearest of those remembered, if it can be there, or else a new one."""
    half = r.half_m
    middle_x = 0.5 * (low_x + high_x)
    middle_z = 0.5 * (low_z + high_z)
    best = -1
    least = 1e9
    for rival in range(b.rivals):
        away = math.sqrt((b.rival_x[rival] - middle_x) ** 2 + (b.rival_z[rival] - middle_z) ** 2)
        gate = 1.5 + r.speed[1 - b.chases] * r.step_s * b.rival_age[rival] * 1.5
        if away < min(gate, least):
            least = away
            best = rival
    is_new = best < 0
    if is_new:
        if b.rivals == RIVALS:
            return
        best = b.rivals
        b.rivals = best + 1
        b.rival_age[best] = LOST
        away = max(math.sqrt((middle_x - b.x) ** 2 + (middle_z - b.z) ** 2), 0.1)
        b.rival_x[best] = middle_x + (middle_x - b.x) / away * half
        b.rival_z[best] = middle_z + (middle_z - b.z) / away * half
    age = b.rival_age[best]
    if age == 0:  # by another row of rays
        return
    # A body is a cube along the axes: points that were met are on its faces towards us, and bound where it is.
    old_x = b.rival_x[best]
    old_z = b.rival_z[best]
    x = min(max(old_x, high_x - half), low_x + half)
    z = min(max(old_z, high_z - half), low_z + half)
    face_x = low_x + half if middle_x > b.x else high_x - half
    face_z = low_z + half if middle_z > b.z else high_z - half
    is_sure_x = (high_z - low_z > FACE_M and high_x - low_x < FACE_M) or abs(low_z - b.z) < 0.3 * half
    is_sure_z = (high_x - low_x > FACE_M and high_z - low_z < FACE_M) or abs(low_x - b.x) < 0.3 * half
    if high_x - low_x > FACE_M and high_z - low_z > FACE_M:
        is_sure_x = True
        is_sure_z = True
    if count == 1 and not is_sure_x and not is_sure_z:  # on one of two faces: the one it is more likely to be on
        if abs(face_x - old_x) < abs(face_z - old_z):
            x = face_x
        else:
            z = face_z
    if is_sure_x:
        x = face_x
    if is_sure_z:
        z = face_z
    b.rival_x[best] = x
    b.rival_z[best] = z
    b.rival_y[best] = y
    b.rival_age[best] = 0
    if age > 4:
        b.rival_speed_x[best] = 0.0
        b.rival_speed_z[best] = 0.0
        return
    b.rival_speed_x[best] += (SURE if is_sure_x else UNSURE) * (x - old_x) / (age * r.step_s)
    b.rival_speed_z[best] += (SURE if is_sure_z else UNSURE) * (z - old_z) / (age * r.step_s)
    fast = math.sqrt(b.rival_speed_x[best] ** 2 + b.rival_speed_z[best] ** 2)
    share = min(r.speed[1 - b.chases] / max(fast, 1e-3), 1.0)
    b.rival_speed_x[best] *= share
    b.rival_speed_z[best] *= share


@njit_nogil
def drop_lost(lens: Lens, observation: np.ndarray, b: Any) -> None:
    """Whoever is not where it was thought to be, in plain sight, is forgotten soon."""
    k = lens.eyes.known[0]
    kept = 0
    for rival in range(b.rivals):
        is_kept = b.rival_age[rival] < LOST
        if b.rival_age[rival] > 2:
            x = b.rival_x[rival] - b.x
            z = b.rival_z[rival] - b.z
            away = math.sqrt(x * x + z * z)
            ahead = (x * b.forward_x + z * b.forward_z) / max(away, 1e-3)
            side = (x * b.forward_z - z * b.forward_x) / max(away, 1e-3)
            for index in range(len(lens.side)):
                if ahead * lens.ahead[index] + side * lens.side[index] > 0.997:
                    beyond = distance_of(k, observation, lens.eyes.level[index])
                    is_kept = is_kept and not (beyond > away + 1.0 and away > 1.0)
        if is_kept:
            if kept != rival:
                b.rival_x[kept] = b.rival_x[rival]
                b.rival_y[kept] = b.rival_y[rival]
                b.rival_z[kept] = b.rival_z[rival]
                b.rival_speed_x[kept] = b.rival_speed_x[rival]
                b.rival_speed_z[kept] = b.rival_speed_z[rival]
                b.rival_age[kept] = b.rival_age[rival]
            kept += 1
    b.rivals = kept
