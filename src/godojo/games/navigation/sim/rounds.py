"""How a round begins: a course, a route and a start are drawn, and the walker stands there at rest."""

import math
from typing import Any

import numpy as np

from godojo.games.navigation.sim.motion import TELEPORT
from godojo.games.navigation.sim.rewards import between_m, remaining_m
from godojo.games.navigation.sim.state import TERMS
from godojo.kernels.bodies import X, Y, Z, wrapped
from godojo.kernels.compile import device_kernel
from godojo.kernels.random import randint, uniform


@device_kernel
def begin_round(n: Any, catalogue: np.ndarray, walker: Any) -> None:
    walker.course = randint(walker, catalogue.shape[0])
    course = catalogue[walker.course]
    walker.route = randint(walker, course.route_count)
    start = course.starts[randint(walker, course.start_count)]
    walker.position[X] = start[0] + (uniform(walker) - 0.5) * start[3]
    walker.position[Y] = start[1] + float(n.half_m) + n.skin_m
    walker.position[Z] = start[2] + (uniform(walker) - 0.5) * start[4]
    walker.yaw = wrapped(wrapped(start[5]) + (uniform(walker) - 0.5) * start[6])
    walker.goal = goal_mark(n, course, walker.route, start)
    rest(n, course, walker)


@device_kernel
def goal_mark(n: Any, course: Any, route: int, start: np.ndarray) -> int:
    """The last mark whose way along the route is short enough, and at least the first."""
    last = course.mark_count[route] - 1
    if n.goal_within_m <= 0.0:
        return int(last)
    marks = course.marks[route]
    x = float(marks[0, X]) - start[0]
    y = float(marks[0, Y]) - start[1]
    z = float(marks[0, Z]) - start[2]
    way_m = math.sqrt(x * x + y * y + z * z)
    goal = 0
    for mark in range(1, last + 1):
        way_m += between_m(marks[mark - 1], marks[mark])
        if way_m > n.goal_within_m:
            break
        goal = mark
    return goal


@device_kernel
def rest(n: Any, course: Any, walker: Any) -> None:
    """At rest where it stands, with nothing remembered."""
    for axis in range(3):
        walker.velocity[axis] = 0.0
        walker.left_velocity[axis] = 0.0
        walker.right_velocity[axis] = 0.0
        walker.action[axis] = 0.0
        walker.last_action[axis] = 0.0
        walker.smoothed[axis] = 0.0
    walker.action[TELEPORT] = 0.0
    walker.left[X] = -n.hand_side_m
    walker.right[X] = n.hand_side_m
    walker.left[Y] = n.hand_height_m
    walker.right[Y] = n.hand_height_m
    walker.left[Z] = -n.hand_ahead_m
    walker.right[Z] = -n.hand_ahead_m
    walker.yaw_rate = 0.0
    walker.roll = 0.0
    walker.roll_rate = 0.0
    walker.phase = 0.0
    walker.near_slack_m = -1.0
    walker.grounded = 1
    walker.may_snap = 1
    walker.may_teleport = 1
    walker.contact = 0
    walker.collisions = 0
    walker.teleports = 0
    walker.warnings = 0
    walker.mark = 0
    walker.ticks = 0
    walker.decisions = 0
    walker.remaining_m = remaining_m(n, course, walker)
    walker.least_m = walker.remaining_m
    for term in range(TERMS):
        walker.round_terms[term] = 0.0
