"""What the walker is told: 48 numbers (spec.py has the table)."""

import math
from typing import Any

import numpy as np

from godojo.games.navigation.settings import RAYS
from godojo.games.navigation.sim.state import Tables
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import kernel
from godojo.kernels.rays import aim, cast_at

HARDLY_M = 0.001
"""Nearer goals have no direction."""
VELOCITY, TURNING, RAYS_AT = 7, 10, 13
HANDS_AT = RAYS_AT + RAYS
GOAL_AT = HANDS_AT + 12


@kernel
def observe(n: Any, course: Any, walker: Any, tables: Tables, chunk: int, told: np.ndarray) -> None:
    """Writes all of it."""
    feet_y = float(walker.position[Y]) - float(n.half_m)
    sine = math.sin(walker.yaw)
    cosine = math.cos(walker.yaw)
    told[0] = walker.position[X]
    told[1] = feet_y + n.eye_m
    told[2] = walker.position[Z]
    sine_yaw = math.sin(walker.yaw / 2.0)
    cosine_yaw = math.cos(walker.yaw / 2.0)
    sine_roll = math.sin(walker.roll / 2.0)
    cosine_roll = math.cos(walker.roll / 2.0)
    told[3] = sine_yaw * sine_roll
    told[4] = sine_yaw * cosine_roll
    told[5] = cosine_yaw * sine_roll
    told[6] = cosine_yaw * cosine_roll
    in_rig(walker.velocity[X], walker.velocity[Y], walker.velocity[Z], sine, cosine, told, VELOCITY)
    told[TURNING] = 0.0
    told[TURNING + 1] = walker.yaw_rate
    told[TURNING + 2] = walker.roll_rate
    look(n, course, walker, feet_y, sine, cosine, tables, chunk, told)
    for axis in range(3):
        told[HANDS_AT + axis] = walker.left[axis]
        told[HANDS_AT + 3 + axis] = walker.right[axis]
        told[HANDS_AT + 6 + axis] = walker.left_velocity[axis]
        told[HANDS_AT + 9 + axis] = walker.right_velocity[axis]
    mark = course.marks[walker.route, walker.mark]
    x = float(mark[X]) - float(walker.position[X])
    y = float(mark[Y]) - feet_y
    z = float(mark[Z]) - float(walker.position[Z])
    in_rig(x, y, z, sine, cosine, told, GOAL_AT)
    distance = math.sqrt(x * x + y * y + z * z)
    told[GOAL_AT + 3] = distance
    for axis in range(3):
        told[GOAL_AT + 4 + axis] = told[GOAL_AT + axis] / distance if distance >= HARDLY_M else 0.0


@kernel
def in_rig(x: float, y: float, z: float, sine: float, cosine: float, told: np.ndarray, place: int) -> None:
    """A vector of the world, in the rig's frame."""
    told[place] = x * cosine - z * sine
    told[place + 1] = y
    told[place + 2] = x * sine + z * cosine


@kernel
def look(
    n: Any,
    course: Any,
    walker: Any,
    feet_y: float,
    sine: float,
    cosine: float,
    tables: Tables,
    chunk: int,
    told: np.ndarray,
) -> None:
    """Casts the rays."""
    inverse = tables.inverse[chunk]
    nearest = tables.nearest[chunk]
    aim(tables.directions, np.float32(sine), np.float32(cosine), inverse)
    x = walker.position[X]
    y = np.float32(feet_y + n.sight_m)
    z = walker.position[Z]
    for ray in range(RAYS):
        nearest[ray] = n.range_m
    for box in range(course.boxes):
        away_x = max(course.low[X, box] - x, x - course.high[X, box])
        away_z = max(course.low[Z, box] - z, z - course.high[Z, box])
        if max(away_x, away_z) < n.range_m:
            cast_at(
                course.low[X, box] - x,
                course.low[Y, box] - y,
                course.low[Z, box] - z,
                course.high[X, box] - x,
                course.high[Y, box] - y,
                course.high[Z, box] - z,
                inverse,
                nearest,
            )
    for ray in range(RAYS):
        told[RAYS_AT + ray] = nearest[ray]
