"""What a member of the family believes: itself, its rivals, and a map. Behaviours read this and nothing else.

`knowledge.py` fills it from the true state or from an agent's own observations.
"""

import math
from typing import Any

import numpy as np

from godojo.games.tag.opponents.grid import CELLS, HEIGHT_M, ONE, PLAN, ROWS, WAYS, can_see, column_of, is_clear, row_of
from godojo.games.tag.settings import TICK_S, TagSettings
from godojo.kernels.compile import device_kernel, njit_nogil

RIVALS = 8
LOST = 10_000
"""Age of a rival that nothing is known of."""

RULES = np.dtype(
    [
        ("half_m", "f4"),
        ("touch_m", "f4"),  # distance of two centres that touch, along each axis
        ("eye_m", "f4"),  # above the centre
        ("range_m", "f4"),
        ("climb_m", "f4"),  # what a jump gets onto
        ("step_s", "f4"),  # a decision
        ("speed", "f4", 2),  # hider, seeker; likewise below
        ("acceleration", "f4", 2),
        ("air", "f4"),
        ("stop", "f4"),  # deceleration without a wish to move
        ("jump_speed", "f4"),
        ("gravity", "f4"),
        ("round_s", "f4"),
        ("fov_cosine", "f4"),  # of half the field of view
        ("wall_m", "f4"),  # height that scales the observed height
    ],
    align=True,
)
BELIEF = np.dtype(
    [
        ("active", "u1"),
        ("chases", "u1"),
        ("grounded", "u1"),
        ("time_left_s", "f4"),
        ("x", "f4"),  # centre, in the arena's frame
        ("y", "f4"),
        ("z", "f4"),
        ("speed_x", "f4"),
        ("speed_z", "f4"),
        ("forward_x", "f4"),
        ("forward_z", "f4"),
        ("rivals", "i4"),
        ("rival_x", "f4", RIVALS),
        ("rival_y", "f4", RIVALS),
        ("rival_z", "f4", RIVALS),
        ("rival_speed_x", "f4", RIVALS),
        ("rival_speed_z", "f4", RIVALS),
        ("rival_age", "i4", RIVALS),  # decisions since it was seen
        ("blind_cosine", "f4"),  # it sees nothing at an angle from its heading with a smaller cosine
    ],
    align=True,
)
MAP = np.dtype(
    [
        # First, so that Numba does not take a map for a kind of plan.
        ("blocked", "u8", ROWS),  # cells that cannot be entered from the floor
        ("looked", "u8", ROWS),  # cells that were in sight
        *((name, PLAN[name]) for name in PLAN.names or ()),
    ],
    align=True,
)
"""A plan as in `grid.py`. One that was drawn from sight has no boxes, only blocked cells."""


def make_rules(settings: TagSettings) -> np.ndarray:
    motion, rules = settings.motion, np.zeros(1, RULES)
    values: dict[str, Any] = {
        "half_m": settings.body.size_m / 2,
        "touch_m": settings.body.size_m + settings.rules.touch_reach_m,
        "eye_m": settings.sight.eye_height_m,
        "range_m": settings.sight.range_m,
        "climb_m": motion.jump_speed_mps**2 / (2 * motion.gravity_mps2) - 0.12,
        "step_s": settings.rules.ticks_per_decision * TICK_S,
        "speed": (motion.hider_speed_mps, motion.seeker_speed_mps),
        "acceleration": (motion.hider_acceleration_mps2, motion.seeker_acceleration_mps2),
        "air": motion.air_acceleration_mps2,
        "stop": motion.deceleration_mps2,
        "jump_speed": motion.jump_speed_mps,
        "gravity": motion.gravity_mps2,
        "round_s": settings.round_length_s,
        "fov_cosine": math.cos(math.radians(settings.sight.fov_deg / 2)),
        "wall_m": settings.arena.wall_height_m,
    }
    for name, value in values.items():
        rules[name] = value
    return rules


@njit_nogil
def find_blocked(plan: Any, climb_m: float) -> None:
    """Marks the cells that are too high to jump onto from the floor."""
    for row in range(ROWS):
        plan.blocked[row] = 0
        plan.looked[row] = 0
    for row in range(plan.rows):
        word = np.uint64(0)
        for column in range(plan.columns):
            if plan.height[row, column] * HEIGHT_M > climb_m:
                word |= ONE << np.uint64(column)
        plan.blocked[row + 1] = word


@njit_nogil
def find_exits_of_cells(plan: Any) -> None:
    """The ways between cells that are not blocked, a row at a time."""
    inside = inside_bits(plan)
    for row in range(1, plan.rows + 1):
        free = ~plan.blocked[row] & inside
        over = ~plan.blocked[row + 1] & inside if row < plan.rows else np.uint64(0)
        under = ~plan.blocked[row - 1] & inside if row > 1 else np.uint64(0)
        # From a blocked cell, into which a rough map may put a body, every way is open.
        plan.exits[0, row] = (free >> ONE) & inside
        plan.exits[1, row] = (free << ONE) & inside
        plan.exits[2, row] = over
        plan.exits[3, row] = under
        plan.exits[4, row] = (over >> ONE) & over & (free >> ONE) & inside
        plan.exits[5, row] = (over << ONE) & over & (free << ONE) & inside
        plan.exits[6, row] = (under >> ONE) & under & (free >> ONE) & inside
        plan.exits[7, row] = (under << ONE) & under & (free << ONE) & inside
    for way in range(WAYS):
        plan.exits[way, 0] = 0
        for row in range(plan.rows + 1, ROWS):
            plan.exits[way, row] = 0


@device_kernel
def inside_bits(plan: Any) -> np.uint64:
    if plan.columns >= CELLS:
        return ~np.uint64(0)
    return (ONE << np.uint64(plan.columns)) - ONE


@device_kernel
def is_blocked_at(plan: Any, x: float, z: float) -> bool:
    column = column_of(plan, x)
    row = row_of(plan, z)
    return bool((plan.blocked[row + 1] >> np.uint64(column)) & ONE != 0)


@njit_nogil
def cells_are_free(plan: Any, x: float, z: float, to_x: float, to_z: float) -> bool:
    """Whether no blocked cell is between two points; a rough map may have the first one just inside a blocked cell."""
    away = math.sqrt((to_x - x) ** 2 + (to_z - z) ** 2)
    steps = int(away / (0.9 * min(plan.pitch_x, plan.pitch_z))) + 1
    is_out = not is_blocked_at(plan, x, z)
    for step in range(1, steps + 1):
        share = step / steps
        if not is_blocked_at(plan, x + (to_x - x) * share, z + (to_z - z) * share):
            is_out = True
        elif is_out or step > 1:
            return False
    return True


@njit_nogil
def can_walk(r: Any, plan: Any, x: float, feet: float, z: float, to_x: float, to_z: float) -> bool:
    """Whether a body can go straight there, over what is low."""
    if plan.boxes == 0:
        return cells_are_free(plan, x, z, to_x, to_z)
    return is_clear(plan, x, feet, z, to_x, to_z, r.half_m, r.climb_m)


@njit_nogil
def has_sight(r: Any, plan: Any, x: float, y: float, z: float, to_x: float, to_y: float, to_z: float) -> bool:
    """Whether nothing is in between, for eyes at the first point."""
    if plan.boxes == 0:
        return cells_are_free(plan, x, z, to_x, to_z)
    return can_see(plan, x, y + r.eye_m, z, to_x, to_y, to_z)


@device_kernel
def is_inside(plan: Any, x: float, z: float) -> bool:
    is_along_x = x >= plan.from_x - 0.02 and x <= plan.from_x + (plan.columns - 1) * plan.pitch_x + 0.02
    is_along_z = z >= plan.from_z - 0.02 and z <= plan.from_z + (plan.rows - 1) * plan.pitch_z + 0.02
    return bool(is_along_x and is_along_z)


@device_kernel
def lowest(bits: np.uint64) -> int:
    at = 0
    while (bits >> np.uint64(at)) & ONE == 0:
        at += 1
    return at
