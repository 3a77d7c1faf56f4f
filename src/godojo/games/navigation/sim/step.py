"""The rules of navigation as kernels: the same game as in Godot, for many worlds at once.

docs/games/navigation.md has every rule in words, in this order. `n` is the record of settings.
"""

import math
from typing import Any

import numpy as np
from numba import prange

from godojo.games.navigation.sim.motion import cut_action, move, move_rig, smooth, teleport, turn
from godojo.games.navigation.sim.rewards import CLOCK, GAP, NOBODY, WALKER, settle
from godojo.games.navigation.sim.rounds import begin_round
from godojo.games.navigation.sim.sight import observe
from godojo.games.navigation.sim.state import CHUNKS, TERMS, Tables
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import device_kernel, njit_parallel
from godojo.kernels.results import Results


@njit_parallel
def step_worlds(
    numbers: np.ndarray,
    actions: np.ndarray,
    catalogue: np.ndarray,
    walkers: np.ndarray,
    tables: Tables,
    results: Results,
) -> None:
    """One decision in every world. A world whose round ends begins the next one within the same step."""
    per_chunk = (len(walkers) + CHUNKS - 1) // CHUNKS
    for chunk in prange(CHUNKS):
        for index in range(chunk * per_chunk, min((chunk + 1) * per_chunk, len(walkers))):
            step_world(numbers[0], actions[index], catalogue, index, walkers[index], tables, chunk, results)


@njit_parallel
def begin_worlds(
    numbers: np.ndarray, catalogue: np.ndarray, walkers: np.ndarray, tables: Tables, observation: np.ndarray
) -> None:
    """Begins a round in every world."""
    per_chunk = (len(walkers) + CHUNKS - 1) // CHUNKS
    for chunk in prange(CHUNKS):
        for index in range(chunk * per_chunk, min((chunk + 1) * per_chunk, len(walkers))):
            walker = walkers[index]
            begin_round(numbers[0], catalogue, walker)
            observe(numbers[0], catalogue[walker.course], walker, tables, chunk, observation[index])


@njit_parallel
def observe_worlds(
    numbers: np.ndarray, catalogue: np.ndarray, walkers: np.ndarray, tables: Tables, observation: np.ndarray
) -> None:
    """Writes the observations of states that were set from outside."""
    per_chunk = (len(walkers) + CHUNKS - 1) // CHUNKS
    for chunk in prange(CHUNKS):
        for index in range(chunk * per_chunk, min((chunk + 1) * per_chunk, len(walkers))):
            walker = walkers[index]
            observe(numbers[0], catalogue[walker.course], walker, tables, chunk, observation[index])


@device_kernel
def step_world(
    n: Any,
    action: np.ndarray,
    catalogue: np.ndarray,
    index: int,
    walker: Any,
    tables: Tables,
    chunk: int,
    results: Results,
) -> None:
    """One decision: a few ticks pass, the reward is settled; after a round the next one begins."""
    course = catalogue[walker.course]
    for number in range(3):
        walker.last_action[number] = walker.action[number]
    cut_action(action, walker.action)
    outcome = NOBODY
    for _ in range(n.ticks_per_decision):
        outcome = tick(n, course, walker)
        if outcome != NOBODY:
            break
    terms = results.terms[index]
    settle(n, course, walker, outcome, terms)
    walker.decisions += 1
    is_cut_short = outcome == NOBODY and n.truncate_after > 0 and walker.decisions >= n.truncate_after
    is_over = outcome != NOBODY or is_cut_short
    reward = np.float32(0.0)
    for term in range(TERMS):
        reward += terms[term]
        walker.round_terms[term] += terms[term]
    results.reward[index] = reward
    results.acted[index] = True
    results.terminated[index] = outcome in (WALKER, GAP)
    results.truncated[index] = outcome == CLOCK or is_cut_short
    results.ended[index] = is_over
    if is_over:
        results.winner[index] = outcome
        results.length_ticks[index] = walker.ticks
        results.arena[index] = walker.course
        results.final_score[index] = walker.warnings
        for term in range(TERMS):
            results.final_terms[index, term] = walker.round_terms[term]
        observe(n, course, walker, tables, chunk, results.final_observation[index])
        begin_round(n, catalogue, walker)
    observe(n, catalogue[walker.course], walker, tables, chunk, results.observation[index])


@device_kernel
def tick(n: Any, course: Any, walker: Any) -> int:
    """A sixtieth of a second; says how the round ended, if it did."""
    walker.ticks += 1
    smooth(walker.smoothed, walker.action, n.smoothing)
    turn(n, walker)
    if n.teleport_m > 0.0:
        teleport(n, course, walker)
    is_blocked = move(n, course, walker)
    walker.contact = max(walker.contact - 1, 0)
    if is_blocked and walker.contact == 0:
        walker.collisions += 1
        walker.contact = n.contact_ticks
    move_rig(n, walker)
    return ending(n, course, walker)


@device_kernel
def ending(n: Any, course: Any, walker: Any) -> int:
    """The first that holds: fallen, at the goal, out of time. A mark that is reached makes way for the next."""
    feet_y = float(walker.position[Y]) - float(n.half_m)
    if feet_y < -n.fall_below_m:
        return GAP
    mark = course.marks[walker.route, walker.mark]
    x = float(mark[X]) - float(walker.position[X])
    z = float(mark[Z]) - float(walker.position[Z])
    if math.sqrt(x * x + z * z) <= n.mark_radius_m and abs(float(mark[Y]) - feet_y) <= n.mark_height_m:
        if walker.mark == walker.goal:
            return WALKER
        walker.mark += 1
    return CLOCK if walker.ticks >= n.round_ticks else NOBODY
