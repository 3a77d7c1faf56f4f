"""The walker's observation, the twin of `navigation_observation.gd`."""

import math
from typing import Any

import numpy as np

from godojo.games.navigation.settings import LAYOUT, RAYS
from godojo.games.navigation.sim.state import Tables
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import device_kernel
from godojo.kernels.rays import aim, cast_at_boxes

HARDLY_M = 0.001
"""Nearer goals have no direction."""
POSITION, ROTATION = map(LAYOUT.start, ("camera_position", "camera_rotation"))
VELOCITY, ANGULAR_VELOCITY = map(LAYOUT.start, ("camera_velocity", "camera_angular_velocity"))
FIRST_RAY = LAYOUT.start("rays")
LEFT, RIGHT = map(LAYOUT.start, ("left_position", "right_position"))
LEFT_VELOCITY, RIGHT_VELOCITY = map(LAYOUT.start, ("left_velocity", "right_velocity"))
GOAL, GOAL_DISTANCE, GOAL_DIRECTION = map(LAYOUT.start, ("goal_position", "goal_distance", "goal_direction"))


@device_kernel
def observe(n: Any, course: Any, walker: Any, tables: Tables, chunk: int, observation: np.ndarray) -> None:
    """Writes the whole observation."""
    feet_y = float(walker.position[Y]) - float(n.half_m)
    sine = math.sin(walker.yaw)
    cosine = math.cos(walker.yaw)
    observation[POSITION + X] = walker.position[X]
    observation[POSITION + Y] = feet_y + n.eye_m
    observation[POSITION + Z] = walker.position[Z]
    sine_yaw = math.sin(walker.yaw / 2.0)
    cosine_yaw = math.cos(walker.yaw / 2.0)
    sine_roll = math.sin(walker.roll / 2.0)
    cosine_roll = math.cos(walker.roll / 2.0)
    observation[ROTATION] = sine_yaw * sine_roll
    observation[ROTATION + 1] = sine_yaw * cosine_roll
    observation[ROTATION + 2] = cosine_yaw * sine_roll
    observation[ROTATION + 3] = cosine_yaw * cosine_roll
    to_rig_frame(walker.velocity[X], walker.velocity[Y], walker.velocity[Z], sine, cosine, observation, VELOCITY)
    observation[ANGULAR_VELOCITY] = 0.0
    observation[ANGULAR_VELOCITY + 1] = walker.yaw_rate
    observation[ANGULAR_VELOCITY + 2] = walker.roll_rate
    look(n, course, walker, feet_y, sine, cosine, tables, chunk, observation)
    for axis in range(3):
        observation[LEFT + axis] = walker.left[axis]
        observation[RIGHT + axis] = walker.right[axis]
        observation[LEFT_VELOCITY + axis] = walker.left_velocity[axis]
        observation[RIGHT_VELOCITY + axis] = walker.right_velocity[axis]
    mark = course.marks[walker.route, walker.mark]
    x = float(mark[X]) - float(walker.position[X])
    y = float(mark[Y]) - feet_y
    z = float(mark[Z]) - float(walker.position[Z])
    to_rig_frame(x, y, z, sine, cosine, observation, GOAL)
    distance = math.sqrt(x * x + y * y + z * z)
    observation[GOAL_DISTANCE] = distance
    for axis in range(3):
        observation[GOAL_DIRECTION + axis] = observation[GOAL + axis] / distance if distance >= HARDLY_M else 0.0


@device_kernel
def to_rig_frame(x: float, y: float, z: float, sine: float, cosine: float, observation: np.ndarray, place: int) -> None:
    """Writes a vector of the world in the rig's frame."""
    observation[place] = x * cosine - z * sine
    observation[place + 1] = y
    observation[place + 2] = x * sine + z * cosine


@device_kernel
def look(
    n: Any,
    course: Any,
    walker: Any,
    feet_y: float,
    sine: float,
    cosine: float,
    tables: Tables,
    chunk: int,
    observation: np.ndarray,
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
    chosen = tables.chosen[chunk]
    count = 0
    for box in range(course.boxes):
        away_x = max(course.low[X, box] - x, x - course.high[X, box])
        away_z = max(course.low[Z, box] - z, z - course.high[Z, box])
        chosen[count] = box
        count += max(away_x, away_z) < n.range_m
    cast_at_boxes(course, chosen, count, x, y, z, inverse, nearest)
    for ray in range(RAYS):
        observation[FIRST_RAY + ray] = nearest[ray]
