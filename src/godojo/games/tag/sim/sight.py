"""What an agent is told: its own state, then what its eyes see. The twin of `tag_observation.gd` and `tag_sight.gd`."""

from typing import Any

import numpy as np

from godojo.games.tag.sim.state import Tables
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import kernel
from godojo.kernels.rays import aim, cast_at, cast_at_somebody, cast_out

WALL, SEEKER, HIDER = 1, 2, 3
OWN_NUMBERS = 13
NUMBERS_PER_RAY = 2


@kernel
def observe(
    n: Any, arena: Any, world: Any, team: np.ndarray, number: int, tables: Tables, chunk: int, told: np.ndarray
) -> None:
    """Writes what the agent is told: its own state, then what its eyes see (spec.py has the table)."""
    agent = team[number]
    if not agent.active:
        told[:] = 0.0
        return
    per_speed = n.per_seeker_speed if agent.chases else n.per_hider_speed
    told[0] = agent.position[X] / arena.room_high[X]
    told[1] = agent.position[Y] * n.per_wall_height
    told[2] = agent.position[Z] / arena.room_high[Z]
    told[3] = agent.velocity[X] * per_speed
    told[4] = agent.velocity[Y] * n.per_jump_speed
    told[5] = agent.velocity[Z] * per_speed
    heading = np.float32(agent.heading)  # 32-bit, as the engine turns its rays
    ahead_x = np.sin(heading)
    ahead_z = np.cos(heading)
    told[6] = ahead_x
    told[7] = ahead_z
    told[8] = 1.0 if agent.grounded else 0.0
    told[9] = 1.0 if agent.chases else 0.0
    told[10] = 0.0 if agent.chases else 1.0
    told[11] = 1.0 if agent.immune > 0 else 0.0
    told[12] = (n.round_ticks - world.ticks) * n.per_round_tick
    nearest = tables.nearest[chunk]
    kinds = tables.kinds[chunk]
    aim(tables.directions, ahead_x, ahead_z, tables.inverse[chunk])
    look(n, arena, team, number, ahead_x, ahead_z, tables.inverse[chunk], nearest, kinds, tables.visible[chunk])
    for ray in range(nearest.shape[0]):
        kind = kinds[ray] if nearest[ray] < n.range_m else 0
        place = OWN_NUMBERS + NUMBERS_PER_RAY * ray
        told[place] = min(nearest[ray] * n.per_range, np.float32(1.0))
        told[place + 1] = np.float32(kind == HIDER) - np.float32(kind == SEEKER)


@kernel
def look(
    n: Any,
    arena: Any,
    team: np.ndarray,
    number: int,
    ahead_x: np.float32,
    ahead_z: np.float32,
    inverse: np.ndarray,
    nearest: np.ndarray,
    kinds: np.ndarray,
    visible: np.ndarray,
) -> None:
    """Casts the agent's rays, which have been aimed ahead, at the room, the boxes and everybody else."""
    agent = team[number]
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
        visible[box] = may_be_seen(n, ahead_x, ahead_z, low_x, low_z, high_x, high_z)
    for box in range(arena.boxes):
        if visible[box]:
            cast_at(
                arena.low[X, box] - x,
                arena.low[Y, box] - y,
                arena.low[Z, box] - z,
                arena.high[X, box] - x,
                arena.high[Y, box] - y,
                arena.high[Z, box] - z,
                inverse,
                nearest,
            )
    kinds[:] = np.float32(WALL)
    half = n.half_m
    for other_number in range(n.agents):
        other = team[other_number]
        if other_number == number or not other.active:
            continue
        dx = other.position[X] - x
        dy = other.position[Y] - y
        dz = other.position[Z] - z
        if may_be_seen(n, ahead_x, ahead_z, dx - half, dz - half, dx + half, dz + half):
            kind = np.float32(SEEKER if other.chases else HIDER)
            cast_at_somebody(
                dx - half, dy - half, dz - half, dx + half, dy + half, dz + half, inverse, nearest, kinds, kind
            )


@kernel
def may_be_seen(
    n: Any,
    ahead_x: np.float32,
    ahead_z: np.float32,
    low_x: np.float32,
    low_z: np.float32,
    high_x: np.float32,
    high_z: np.float32,
) -> bool:
    """Whether a box, given relative to the eye, is not wholly to the left or to the right of the field of view."""
    across = n.fov_cosine
    along = n.fov_sine
    left_x = along * ahead_x + across * ahead_z
    left_z = along * ahead_z - across * ahead_x
    right_x = along * ahead_x - across * ahead_z
    right_z = along * ahead_z + across * ahead_x
    from_left = max(low_x * left_x, high_x * left_x) + max(low_z * left_z, high_z * left_z)
    from_right = max(low_x * right_x, high_x * right_x) + max(low_z * right_z, high_z * right_z)
    return bool((n.is_wide != 0) | ((from_left >= np.float32(0.0)) & (from_right >= np.float32(0.0))))
