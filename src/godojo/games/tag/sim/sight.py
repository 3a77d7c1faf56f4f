"""An agent's observation: its own state, then its rays. The twin of `tag_observation.gd` and `tag_sight.gd`."""

from typing import Any

import numpy as np

from godojo.games.tag.sim.state import Tables
from godojo.games.tag.spec import LAYOUT, RAY_DISTANCE, RAY_HIT
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import device_kernel
from godojo.kernels.rays import aim, cast_at_agent, cast_at_boxes, cast_out
from godojo.kernels.trigonometry import sine_cosine

NOBODY_HIT, SEEKER_HIT, HIDER_HIT = np.float32(0.0), np.float32(-1.0), np.float32(1.0)
MARGIN_M = np.float32(1e-2)
"""Boxes are left out only where they are out of sight by more than rounding."""
POSITION, VELOCITY, FORWARD, GROUNDED = map(LAYOUT.start, ("position", "velocity", "forward", "grounded"))
IS_SEEKER, IS_HIDER, IMMUNE, TIME_LEFT = map(LAYOUT.start, ("is_seeker", "is_hider", "immune", "time_left"))
RAYS, NUMBERS_PER_RAY = LAYOUT.start("rays"), LAYOUT.width("rays")


@device_kernel
def observe(
    n: Any, arena: Any, world: Any, team: np.ndarray, number: int, tables: Tables, chunk: int, observation: np.ndarray
) -> None:
    """Writes the whole observation of one agent."""
    agent = team[number]
    if not agent.active:
        observation[:] = 0.0
        return
    per_speed = n.per_seeker_speed if agent.chases else n.per_hider_speed
    observation[POSITION + X] = agent.position[X] / arena.room_high[X]
    observation[POSITION + Y] = agent.position[Y] * n.per_wall_height
    observation[POSITION + Z] = agent.position[Z] / arena.room_high[Z]
    observation[VELOCITY + X] = agent.velocity[X] * per_speed
    observation[VELOCITY + Y] = agent.velocity[Y] * n.per_jump_speed
    observation[VELOCITY + Z] = agent.velocity[Z] * per_speed
    heading = np.float32(agent.heading)  # 32-bit, as the engine turns its rays
    forward_x, forward_z = sine_cosine(heading)
    observation[FORWARD] = forward_x
    observation[FORWARD + 1] = forward_z
    observation[GROUNDED] = 1.0 if agent.grounded else 0.0
    observation[IS_SEEKER] = 1.0 if agent.chases else 0.0
    observation[IS_HIDER] = 0.0 if agent.chases else 1.0
    observation[IMMUNE] = 1.0 if agent.immune > 0 else 0.0
    observation[TIME_LEFT] = (n.round_ticks - world.ticks) * n.per_round_tick
    nearest = tables.nearest[chunk]
    hits = tables.hits[chunk]
    aim(tables.directions, forward_x, forward_z, tables.inverse[chunk])
    look(n, arena, team, number, forward_x, forward_z, tables, chunk)
    for ray in range(nearest.shape[0]):
        place = RAYS + NUMBERS_PER_RAY * ray
        observation[place + RAY_DISTANCE] = min(nearest[ray] * n.per_range, np.float32(1.0))
        observation[place + RAY_HIT] = hits[ray] if nearest[ray] < n.range_m else NOBODY_HIT


@device_kernel
def look(
    n: Any,
    arena: Any,
    team: np.ndarray,
    number: int,
    forward_x: np.float32,
    forward_z: np.float32,
    tables: Tables,
    chunk: int,
) -> None:
    """Casts the agent's rays, already aimed along its heading, at the room, the boxes and the other agents."""
    agent = team[number]
    inverse = tables.inverse[chunk]
    nearest = tables.nearest[chunk]
    hits = tables.hits[chunk]
    visible = tables.visible[chunk]
    chosen = tables.chosen[chunk]
    x = agent.position[X]
    y = agent.position[Y] + n.eye_m
    z = agent.position[Z]
    low = arena.room_low
    high = arena.room_high
    cast_out(low[X] - x, low[Y] - y, low[Z] - z, high[X] - x, high[Y] - y, high[Z] - z, inverse, nearest)
    for box in range(arena.boxes):  # without a branch, so that many are done at once
        low_x = arena.low[X, box] - x
        low_z = arena.low[Z, box] - z
        high_x = arena.high[X, box] - x
        high_z = arena.high[Z, box] - z
        visible[box] = may_be_seen(n, forward_x, forward_z, low_x, low_z, high_x, high_z)
    count = 0
    for box in range(arena.boxes):
        chosen[count] = box
        count += visible[box]
    cast_at_boxes(arena, chosen, count, x, y, z, inverse, nearest)
    for ray in range(hits.shape[0]):
        hits[ray] = NOBODY_HIT
    half = n.half_m
    for other_number in range(n.agents):
        other = team[other_number]
        if other_number == number or not other.active:
            continue
        dx = other.position[X] - x
        dy = other.position[Y] - y
        dz = other.position[Z] - z
        if may_be_seen(n, forward_x, forward_z, dx - half, dz - half, dx + half, dz + half):
            hit = SEEKER_HIT if other.chases else HIDER_HIT
            cast_at_agent(dx - half, dy - half, dz - half, dx + half, dy + half, dz + half, inverse, nearest, hits, hit)


@device_kernel
def may_be_seen(
    n: Any,
    forward_x: np.float32,
    forward_z: np.float32,
    low_x: np.float32,
    low_z: np.float32,
    high_x: np.float32,
    high_z: np.float32,
) -> bool:
    """Whether a box, given relative to the eye, is in range and not wholly outside the field of view."""
    across = n.fov_cosine
    along = n.fov_sine
    left_x = along * forward_x + across * forward_z
    left_z = along * forward_z - across * forward_x
    right_x = along * forward_x - across * forward_z
    right_z = along * forward_z + across * forward_x
    from_left = max(low_x * left_x, high_x * left_x) + max(low_z * left_z, high_z * left_z)
    from_right = max(low_x * right_x, high_x * right_x) + max(low_z * right_z, high_z * right_z)
    is_left = from_left >= -MARGIN_M
    is_right = from_right >= -MARGIN_M
    # Up to half a turn, what is seen lies within both edges; beyond, within one of them at least.
    is_ahead = (is_left & is_right) | ((n.is_wide != 0) & (is_left | is_right))
    away_x = max(low_x, -high_x)
    away_z = max(low_z, -high_z)
    return bool(is_ahead & (max(away_x, away_z) < n.range_m + MARGIN_M))
