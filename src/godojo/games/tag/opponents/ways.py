"""What the oracle's seeker and hider share: the state they read, room to think in, following a way on the grid."""

from typing import Any, NamedTuple

import numpy as np

from godojo.games.tag.opponents.grid import CELLS, STEP_X, STEP_Z, WAYS, can_leave, is_clear, is_in
from godojo.kernels.compile import device_kernel

WAVES = 256
AHEAD = 12
"""Cells of the way that are looked at for a short cut."""

RULES = np.dtype(
    [
        ("half_m", "f4"),
        ("eye_m", "f4"),
        ("climb_m", "f4"),
        ("seeker_speed", "f4"),
        ("hider_speed", "f4"),
        ("step_s", "f4"),
        ("jump_speed", "f4"),
        ("gravity", "f4"),
    ],
    align=True,
)
MIND = np.dtype(
    [("stream", "u8"), ("to_x", "f4"), ("to_z", "f4"), ("keep", "i4"), ("refuge_x", "f4"), ("refuge_z", "f4")],
    align=True,
)


class State(NamedTuple):
    """What kernels read of `Privileged`."""

    position: np.ndarray
    velocity: np.ndarray
    grounded: np.ndarray
    active: np.ndarray
    chases: np.ndarray
    low: np.ndarray
    high: np.ndarray
    boxes: np.ndarray
    size: np.ndarray


class Scratch(NamedTuple):
    """Room to think in, used again for every agent: waves, and the cells of a way."""

    waves: np.ndarray
    threat: np.ndarray
    later: np.ndarray
    later_threat: np.ndarray
    way: np.ndarray


@device_kernel
def go_along(r: Any, plan: Any, way: np.ndarray, count: int, position: np.ndarray, feet: float, mind: Any) -> None:
    """Aims at the farthest of the next cells to which the straight way is clear."""
    ahead = min(count, AHEAD)
    while ahead > 1:
        cell = way[ahead - 1]
        x = plan.from_x + (cell % CELLS) * plan.pitch_x
        z = plan.from_z + (cell // CELLS) * plan.pitch_z
        if is_clear(plan, position[0], feet, position[2], x, z, r.half_m, r.climb_m):
            break
        ahead -= 1
    if ahead > 0:
        cell = way[ahead - 1]
        mind.to_x = plan.from_x + (cell % CELLS) * plan.pitch_x
        mind.to_z = plan.from_z + (cell // CELLS) * plan.pitch_z


@device_kernel
def next_cell(plan: Any, nearer: np.ndarray, cell: int) -> int:
    """The neighbour, or the cell itself, that is in the nearer wave."""
    if is_in(nearer, cell):
        return cell
    for way in range(WAYS):
        to: int = cell + STEP_Z[way] * CELLS + STEP_X[way]
        if can_leave(plan, cell, way) and is_in(nearer, to):
            return to
    return cell


@device_kernel
def cell_before(plan: Any, earlier: np.ndarray, cell: int) -> int:
    """The neighbour in the earlier wave from which the cell was reached."""
    if is_in(earlier, cell):
        return cell
    for way in range(WAYS):
        come: int = cell - STEP_Z[way] * CELLS - STEP_X[way]
        row = cell // CELLS - STEP_Z[way]
        column = cell % CELLS - STEP_X[way]
        is_cell = row >= 0 and column >= 0 and row < plan.rows and column < plan.columns
        if is_cell and is_in(earlier, come) and can_leave(plan, come, way):
            return come
    return cell
