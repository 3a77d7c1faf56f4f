"""The rules of landing as kernels: the same game as in Godot, for many worlds at once. `n` is the settings' record."""

import math
from typing import Any

import numpy as np
from numba import prange

from godojo.games.landing.sim.flight import RAY_M, fly, ground_distance, length, touches, update_basis
from godojo.games.landing.sim.state import TERMS
from godojo.games.landing.spec import LAYOUT
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import kernel, njit_parallel
from godojo.kernels.random import uniform
from godojo.kernels.results import Results

NOBODY, PILOT, OFF_PAD, ROUGH, CRASH, CLOCK = 0, 1, 2, 3, 4, 5
DISTANCE, SLOW, TOUCHDOWN, PAD, TIMEOUT, SHAPING, FUEL = 0, 1, 2, 3, 4, 5, 6
ALTITUDE_SCALE_M, SPEED_SCALE_MPS, DISTANCE_SCALE_M = 1000.0, 50.0, 1000.0
TOUCHDOWN_MPS, BRAKING_MPS2 = 1.0, 3.0
"""Shaping wants no more speed than even braking brings down to `TOUCHDOWN_MPS` by the edge of the pad."""
_ALTITUDE, _VELOCITY, _SPIN = LAYOUT.start("altitude"), LAYOUT.start("velocity"), LAYOUT.start("angular_velocity")
_ROTATION, _DIRECTION = LAYOUT.start("rotation"), LAYOUT.start("pad_direction")
_DISTANCE, _GROUND, _FUEL = LAYOUT.start("pad_distance"), LAYOUT.start("ground_distance"), LAYOUT.start("fuel")


@njit_parallel
def step_worlds(
    numbers: np.ndarray, ground: np.ndarray, actions: np.ndarray, crafts: np.ndarray, results: Results
) -> None:
    """One decision in every world. A world whose round ends begins the next one within the same step."""
    for index in prange(len(crafts)):
        step_world(numbers[0], ground, actions[index], index, crafts[index], results)


@njit_parallel
def begin_worlds(numbers: np.ndarray, ground: np.ndarray, crafts: np.ndarray, observation: np.ndarray) -> None:
    """Begins a round in every world."""
    for index in prange(len(crafts)):
        begin_round(numbers[0], crafts[index])
        observe(numbers[0], ground, crafts[index], observation[index])


@njit_parallel
def observe_worlds(numbers: np.ndarray, ground: np.ndarray, crafts: np.ndarray, observation: np.ndarray) -> None:
    """Writes the observations of states that were set from outside."""
    for index in prange(len(crafts)):
        update_basis(crafts[index])
        crafts[index].potential = potential(numbers[0], crafts[index])
        observe(numbers[0], ground, crafts[index], observation[index])


@kernel
def step_world(n: Any, ground: np.ndarray, action: np.ndarray, index: int, craft: Any, results: Results) -> None:
    """One decision: a few ticks pass; after a round the next one begins."""
    set_action(n, craft, action)
    terms = results.terms[index]
    terms[:] = np.float32(0.0)
    outcome = NOBODY
    for _ in range(n.ticks_per_decision):
        outcome = tick(n, ground, craft, terms)
        if outcome != NOBODY:
            break
    craft.decisions += 1
    is_cut_short = outcome == NOBODY and n.truncate_after > 0 and craft.decisions >= n.truncate_after
    reward = np.float32(0.0)
    for term in range(TERMS):
        reward += terms[term]
        craft.round_terms[term] += terms[term]
    results.reward[index] = reward
    results.acted[index] = True
    results.terminated[index] = outcome != NOBODY
    results.truncated[index] = is_cut_short
    results.ended[index] = outcome != NOBODY or is_cut_short
    if results.ended[index]:
        results.winner[index] = outcome
        results.length_ticks[index] = craft.decisions * n.ticks_per_decision
        results.final_score[index] = fuel_left(n, craft)
        for term in range(TERMS):
            results.final_terms[index, term] = craft.round_terms[term]
        observe(n, ground, craft, results.final_observation[index])
        begin_round(n, craft)
    observe(n, ground, craft, results.observation[index])


@kernel
def cut(value: float) -> np.float32:
    """Clips to [-1, 1]; NaN counts as 0."""
    if not math.isfinite(value):
        return np.float32(0.0)
    return np.float32(min(max(value, -1.0), 1.0))


@kernel
def set_action(n: Any, craft: Any, action: np.ndarray) -> None:
    """The thrust no longer than 1, upwards from 0 (at -1) to 1; the torque by axis."""
    x, y, z = cut(action[0]), np.float32(0.5 * (1.0 + float(cut(action[1])))), cut(action[2])
    size = length(x, y, z)
    if size > np.float32(1.0):
        x, y, z = x / size, y / size, z / size
    craft.thrust[X], craft.thrust[Y], craft.thrust[Z] = x, y, z
    craft.burn = float(length(x, y, z))
    craft.torque[X] = cut(action[3]) * n.torque_nm
    craft.torque[Y] = np.float32(0.0)
    craft.torque[Z] = cut(action[4]) * n.torque_nm


@kernel
def tick(n: Any, ground: np.ndarray, craft: Any, terms: np.ndarray) -> int:
    """A ninetieth of a second; says how the round ended, if it did.

    A craft that touches the ground stays as it was when it did.
    """
    craft.ticks += 1
    has_landed = touches(n, ground, craft)
    if not has_landed:
        fuel_s = craft.fuel_s
        fly(n, craft)
        terms[FUEL] += np.float32(n.reward_fuel_per_s * (fuel_s - craft.fuel_s))
    away_m = pad_distance(n, craft)
    terms[DISTANCE] += np.float32(n.reward_distance / max(away_m, 1.0))
    if craft.position[Y] < n.low_altitude_m and abs(craft.velocity[Y]) < n.low_speed_mps:
        terms[SLOW] += np.float32(n.reward_slow)
    now = potential(n, craft)
    terms[SHAPING] += np.float32(now - craft.potential)
    craft.potential = now
    if has_landed:
        return touchdown(n, craft, away_m, terms)
    if craft.position[Y] < n.lowest_altitude_m:
        terms[TOUCHDOWN] += np.float32(n.reward_crash)
        return CRASH
    if craft.ticks >= n.max_ticks:
        terms[TIMEOUT] += np.float32(n.reward_timeout)
        return CLOCK
    return NOBODY


@kernel
def touchdown(n: Any, craft: Any, away_m: float, terms: np.ndarray) -> int:
    """How the touchdown was, and what it is worth."""
    is_on_pad = away_m <= n.pad_radius_m
    if is_on_pad:
        terms[PAD] += np.float32(n.reward_pad)
    speed_mps = length(craft.velocity[X], craft.velocity[Y], craft.velocity[Z])
    if speed_mps < n.soft_mps:
        terms[TOUCHDOWN] += np.float32(n.reward_soft)
        return PILOT if is_on_pad else OFF_PAD
    if speed_mps < n.rough_mps:
        terms[TOUCHDOWN] += np.float32(n.reward_rough)
        return ROUGH
    terms[TOUCHDOWN] += np.float32(n.reward_crash)
    return CRASH


@kernel
def pad_distance(n: Any, craft: Any) -> float:
    """From the centre of mass to where it is when the craft stands in the middle of the pad."""
    return float(length(craft.position[X], craft.position[Y] - np.float32(n.standing_m), craft.position[Z]))


@kernel
def potential(n: Any, craft: Any) -> float:
    """What shaping rewards the change of: near the pad, slow enough to stop there and upright are better."""
    speed_mps = float(length(craft.velocity[X], craft.velocity[Y], craft.velocity[Z]))
    tilt_rad = math.acos(min(max(float(craft.basis[1, 1]), -1.0), 1.0))
    away_m = pad_distance(n, craft)
    brakes_m = max(away_m - n.pad_radius_m, 0.0)
    excess_mps = max(speed_mps - TOUCHDOWN_MPS - math.sqrt(2.0 * BRAKING_MPS2 * brakes_m), 0.0)
    worth = n.reward_progress_per_m * away_m + n.reward_approach * math.log1p(away_m)
    return -float(worth + n.reward_braking_per_mps * excess_mps + n.reward_upright_per_rad * tilt_rad)


@kernel
def fuel_left(n: Any, craft: Any) -> float:
    """As a fraction of the tank."""
    return craft.fuel_s / n.fuel_s if n.fuel_s > 0.0 else 0.0


@kernel
def begin_round(n: Any, craft: Any) -> None:
    """Upright, at a random place above the pad, with a random velocity and a full tank."""
    craft.position[X] = (2.0 * uniform(craft) - 1.0) * n.offset_m
    craft.position[Y] = n.min_altitude_m + uniform(craft) * (n.max_altitude_m - n.min_altitude_m)
    craft.position[Z] = (2.0 * uniform(craft) - 1.0) * n.offset_m
    craft.velocity[X] = (2.0 * uniform(craft) - 1.0) * n.drift_mps
    craft.velocity[Y] = -uniform(craft) * n.sink_mps
    craft.velocity[Z] = (2.0 * uniform(craft) - 1.0) * n.drift_mps
    craft.rotation[:] = np.float32(0.0)
    craft.rotation[3] = np.float32(1.0)
    craft.spin[:] = np.float32(0.0)
    craft.round_terms[:] = np.float32(0.0)
    craft.fuel_s = n.fuel_s
    craft.ticks = 0
    craft.decisions = 0
    update_basis(craft)
    craft.potential = potential(n, craft)


@kernel
def observe(n: Any, ground: np.ndarray, craft: Any, into: np.ndarray) -> None:
    basis, away_m = craft.basis, pad_distance(n, craft)
    pad_y = float(np.float32(n.standing_m))
    into[_ALTITUDE] = float(craft.position[Y]) / ALTITUDE_SCALE_M
    for axis in range(3):
        goal = pad_y if axis == Y else 0.0
        into[_VELOCITY + axis] = float(craft.velocity[axis]) / SPEED_SCALE_MPS
        into[_SPIN + axis] = craft.spin[axis]
        into[_DIRECTION + axis] = (goal - float(craft.position[axis])) / max(away_m, 1e-6)
    into[_ROTATION] = math.asin(min(max(-float(basis[1, 2]), -1.0), 1.0)) / math.pi
    into[_ROTATION + 1] = math.atan2(float(basis[1, 0]), float(basis[1, 1])) / math.pi
    into[_DISTANCE] = away_m / DISTANCE_SCALE_M
    into[_GROUND] = ground_distance(n, ground, craft) / RAY_M
    if n.observed_fuel:
        into[_FUEL] = fuel_left(n, craft)
