"""The opponent that knows everything: where everybody is, and every way through the arena.

A seeker runs the shortest way to where the nearest hider is going. A hider runs where it can stay uncaught for longest,
however the seekers run, out of their sight where it has the choice; far from them and unseen it stands still.
"""

import math
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.games.tag.opponents.evade import HORIZON, LATER, evade
from godojo.games.tag.opponents.grid import (
    PLAN,
    ROWS,
    cell_of,
    clear,
    entry_m,
    is_clear,
    is_in,
    put_in,
    spread_back,
    survey,
)
from godojo.games.tag.opponents.ways import MIND, RULES, WAVES, Scratch, State, go_along, next_cell
from godojo.games.tag.settings import TICK_S, TagSettings
from godojo.kernels.compile import device_kernel, njit_nogil
from godojo.opponents.base import Opponent, check_out, new_memory

MAX_LEAD_S = 0.45
THINK_EVERY = 3
"""Decisions for which a way is kept."""


class OracleOpponent(Opponent):
    """Knows everything that `Privileged` tells."""

    keeps = ("_memory", "_plans", "_is_new")
    needs_privileged_state = True
    _memory: np.ndarray | None = None

    def begin(self, worlds: Worlds) -> None:
        self._memory = new_memory(worlds, self.role, self.seed, MIND)
        told = worlds.privileged()
        self._first = told.first_agent[self.role]
        self._state = State(
            told.position_m,
            told.velocity_mps,
            told.grounded,
            told.active,
            told.chases,
            told.box_low_m,
            told.box_high_m,
            told.box_count,
            told.size_m,
        )
        self._rules = _rules(worlds.settings)
        self._plans = np.zeros(worlds.num_worlds, PLAN)
        self._scratch = Scratch(
            np.zeros((WAVES + 1, ROWS), np.uint64),
            np.zeros((HORIZON + 2, ROWS), np.uint64),
            np.zeros((LATER + 2, ROWS), np.uint64),
            np.zeros((LATER + 2, ROWS), np.uint64),
            np.zeros(WAVES + 1, np.int64),
        )
        self._is_new = np.ones(worlds.num_worlds, np.bool_)

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        memory = check_out(worlds, self.role, out, self._memory)
        self._is_new |= worlds.ended
        play_knowing(self._rules, self._state, self._plans, memory, self._first, self._scratch, self._is_new, out)
        self._is_new[:] = False


def _rules(settings: TagSettings) -> np.ndarray:
    motion, rules = settings.motion, np.zeros(1, RULES)
    rules["half_m"] = settings.body.size_m / 2
    rules["eye_m"] = settings.sight.eye_height_m
    rules["climb_m"] = motion.jump_speed_mps**2 / (2 * motion.gravity_mps2) - 0.12
    rules["seeker_speed"], rules["hider_speed"] = motion.seeker_speed_mps, motion.hider_speed_mps
    rules["step_s"] = settings.rules.ticks_per_decision * TICK_S
    rules["jump_speed"], rules["gravity"] = motion.jump_speed_mps, motion.gravity_mps2
    return rules


@njit_nogil
def play_knowing(
    rules: np.ndarray,
    state: State,
    plans: np.ndarray,
    memory: np.ndarray,
    first: int,
    scratch: Scratch,
    is_new: np.ndarray,
    out: np.ndarray,
) -> None:
    for world in range(len(plans)):
        r = rules[0]
        plan = plans[world]
        if is_new[world]:
            low = state.low[world]
            high = state.high[world]
            survey(plan, low, high, state.boxes[world], state.size[world], r.half_m, r.climb_m)
        for place in range(memory.shape[1]):
            mind = memory[world, place]
            if is_new[world]:
                mind.keep = 0
                mind.refuge_x = 1e6
            act_knowing(r, state, plan, world, first + place, mind, scratch, out[world, place])


@device_kernel
def act_knowing(
    r: Any,
    state: State,
    plan: Any,
    world: int,
    me: int,
    mind: Any,
    scratch: Scratch,
    action: np.ndarray,
) -> None:
    action[0] = 0.0
    action[1] = 0.0
    action[2] = -1.0
    if not state.active[world, me]:
        return
    position = state.position[world, me]
    feet = position[1] - r.half_m
    if mind.keep <= 0:
        mind.keep = THINK_EVERY
        mind.to_x = position[0]
        mind.to_z = position[2]
        if state.chases[world, me]:
            pursue(r, state, plan, world, me, mind, scratch.waves, scratch.way)
        else:
            evade(r, state, plan, world, me, mind, scratch)
    mind.keep -= 1
    x = mind.to_x - position[0]
    z = mind.to_z - position[2]
    away = math.sqrt(x * x + z * z)
    if away > 0.05:
        action[0] = x / away
        action[1] = z / away
        if state.grounded[world, me] and is_low_ahead(r, plan, position, feet, x / away, z / away, state, world, me):
            action[2] = 1.0


@device_kernel
def is_low_ahead(
    r: Any,
    plan: Any,
    position: np.ndarray,
    feet: float,
    x: float,
    z: float,
    state: State,
    world: int,
    me: int,
) -> bool:
    """Whether it is time to jump onto or over something low."""
    velocity = state.velocity[world, me]
    speed = max(velocity[0] * x + velocity[2] * z, 0.0)
    for box in range(plan.boxes):
        rise = plan.high[box, 1] - feet
        if rise < 0.02 or rise > r.climb_m or plan.low[box, 1] > feet + 2.0 * r.half_m:
            continue
        time_s = (r.jump_speed - math.sqrt(max(r.jump_speed * r.jump_speed - 2.0 * r.gravity * rise, 0.0))) / r.gravity
        reach = speed * (time_s + r.step_s) + 0.1
        if (
            entry_m(plan, box, position[0], position[2], position[0] + x * reach, position[2] + z * reach, r.half_m)
            <= 1
        ):
            return True
    return False


@device_kernel
def pursue(r: Any, state: State, plan: Any, world: int, me: int, mind: Any, waves: np.ndarray, way: np.ndarray) -> None:
    """The shortest way to the nearest hider; straight to where it is going when nothing is in between."""
    position = state.position[world, me]
    feet = position[1] - r.half_m
    clear(waves[0])
    nearest = 1e9
    for other in range(state.active.shape[1]):
        if state.active[world, other] and not state.chases[world, other]:
            prey = state.position[world, other]
            x = prey[0] - position[0]
            z = prey[2] - position[2]
            away = math.sqrt(x * x + z * z)
            lead_s = min(away / (r.seeker_speed + r.hider_speed), MAX_LEAD_S)
            ahead_x = prey[0] + state.velocity[world, other, 0] * lead_s
            ahead_z = prey[2] + state.velocity[world, other, 2] * lead_s
            prey_feet = prey[1] - r.half_m
            if not is_clear(plan, prey[0], prey_feet, prey[2], ahead_x, ahead_z, r.half_m, r.climb_m):
                ahead_x = prey[0]
                ahead_z = prey[2]
            is_near = away < nearest and prey_feet < feet + r.climb_m
            if is_near and is_clear(plan, position[0], feet, position[2], ahead_x, ahead_z, r.half_m, r.climb_m):
                nearest = away
                mind.to_x = ahead_x
                mind.to_z = ahead_z
            put_in(waves[0], cell_of(plan, ahead_x, prey_feet, ahead_z))
    if nearest < 1e9:
        mind.keep = 1
        return
    start = cell_of(plan, position[0], feet, position[2])
    count = 0
    while count < WAVES and not is_in(waves[count], start):
        spread_back(plan.exits, plan.rows, count % 2 == 1, waves[count], waves[count + 1])
        count += 1
    if count == WAVES:
        return
    cell = start
    for step in range(count):
        cell = next_cell(plan, waves[count - step - 1], cell)
        way[step] = cell
    go_along(r, plan, way, count, position, feet, mind)
