"""What a decision is worth: eight terms, kept apart, whose sum is the reward; and how comfortable it was."""

import math
from typing import Any

import numpy as np

from godojo.games.navigation.sim.motion import ROTATE
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import device_kernel

GOAL, PROGRESS, SMOOTH, COMFORT, COLLISION, FALL, TIMEOUT, TELEPORT = 0, 1, 2, 3, 4, 5, 6, 7
NOBODY, WALKER, GAP, CLOCK = 0, 1, 2, 3


@device_kernel
def remaining_m(n: Any, course: Any, walker: Any) -> float:
    """The way that is left: straight to the mark in question, then from mark to mark to the goal."""
    marks = course.marks[walker.route]
    x = float(marks[walker.mark, X]) - float(walker.position[X])
    y = float(marks[walker.mark, Y]) - (float(walker.position[Y]) - float(n.half_m))
    z = float(marks[walker.mark, Z]) - float(walker.position[Z])
    left_m = math.sqrt(x * x + y * y + z * z)
    for mark in range(walker.mark, walker.goal):
        left_m += between_m(marks[mark], marks[mark + 1])
    return left_m


@device_kernel
def between_m(one: np.ndarray, other: np.ndarray) -> float:
    x = float(one[X]) - float(other[X])
    y = float(one[Y]) - float(other[Y])
    z = float(one[Z]) - float(other[Z])
    return math.sqrt(x * x + y * y + z * z)


@device_kernel
def smoothness(action: np.ndarray, last: np.ndarray) -> float:
    """1 where nothing changed since the last decision; 0 where much did."""
    change = abs(action[0] - last[0]) + abs(action[1] - last[1]) + abs(action[2] - last[2])
    return float(max(0.0, 1.0 - change / 2.0))


@device_kernel
def comfort_of(n: Any, rotate: float, speed_mps: float, roll_rad: float) -> float:
    """Starts at 1, and loses for fast turning, fast walking and a tilted head."""
    comfort = 1.0
    if abs(rotate) > n.turn_share and n.snaps == 0:
        comfort -= n.turn_loss
    if speed_mps > n.speed_share * n.speed:
        comfort -= n.speed_loss
    if abs(roll_rad) > n.roll_rad:
        comfort -= n.roll_loss
    return comfort


@device_kernel
def settle(n: Any, course: Any, walker: Any, outcome: int, terms: np.ndarray) -> None:
    """Fills in what the decision was worth, term by term."""
    now_m = remaining_m(n, course, walker)
    new_ground_m = max(walker.least_m - now_m, 0.0)
    x = float(walker.velocity[X])
    z = float(walker.velocity[Z])
    comfort = comfort_of(n, walker.smoothed[ROTATE], math.sqrt(x * x + z * z), walker.roll)
    warning = 0.0
    if comfort < n.warn_below:
        walker.warnings += 1
        warning = n.comfort_warning
    terms[GOAL] = n.weights[GOAL] if outcome == WALKER else 0.0
    terms[PROGRESS] = n.weights[PROGRESS] * (walker.remaining_m - now_m)
    smooth = n.weights[SMOOTH] + n.smooth_per_m * new_ground_m
    terms[SMOOTH] = smooth * smoothness(walker.action, walker.last_action)
    terms[COMFORT] = (n.weights[COMFORT] + n.comfort_per_m * new_ground_m) * comfort + warning
    terms[COLLISION] = n.weights[COLLISION] * walker.collisions
    terms[FALL] = n.weights[FALL] if outcome == GAP else 0.0
    terms[TIMEOUT] = n.weights[TIMEOUT] if outcome == CLOCK else 0.0
    terms[TELEPORT] = n.weights[TELEPORT] * walker.teleports
    walker.remaining_m = now_m
    walker.least_m = min(walker.least_m, now_m)
    walker.collisions = 0
    walker.teleports = 0
