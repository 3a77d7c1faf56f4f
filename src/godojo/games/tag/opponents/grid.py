"""An arena as a grid in which distances are found by waves: a row of cells is one 64-bit word, moved at once.

A cell stands for a body whose centre is there; its height is what that body would stand on. From a cell one gets to a
neighbour that is not higher than a jump. Waves spread alternately to 4 and to 8 neighbours, so that a wave is nearly
round: one wave is one cell's width of way.
"""

import math
from typing import Any

import numpy as np

from godojo.kernels.compile import device_kernel

CELLS = 64
"""At most, along either axis."""
CELL_M = 0.4
"""Less than the room that generated arenas leave between two boxes; larger in arenas too large for it."""
HEIGHT_M = 0.05
"""Unit of heights."""
HIGHEST = 255
TOUCH_M = 0.005
ONE = np.uint64(1)
ROWS = CELLS + 2
"""A row of zeros at either end spares the question whether there is a neighbour."""
WAYS = 8
STEP_X = np.array([1, -1, 0, 0, 1, -1, 1, -1], np.int64)
STEP_Z = np.array([0, 0, 1, -1, 1, 1, -1, -1], np.int64)

PLAN = np.dtype(
    [
        ("exits", "u8", (WAYS, ROWS)),  # the cells that can be left in each way
        ("height", "u1", (CELLS, CELLS)),  # [row, column]
        ("columns", "i4"),
        ("rows", "i4"),
        ("from_x", "f4"),  # centre of the first cell
        ("from_z", "f4"),
        ("pitch_x", "f4"),
        ("pitch_z", "f4"),
        ("boxes", "i4"),
        ("low", "f4", (16, 3)),
        ("high", "f4", (16, 3)),
    ],
    align=True,
)


@device_kernel
def survey(
    plan: Any, low: np.ndarray, high: np.ndarray, boxes: int, size: np.ndarray, half_m: float, climb_m: float
) -> None:
    """Draws the plan of an arena."""
    room_x = size[0] - 2.0 * half_m
    room_z = size[1] - 2.0 * half_m
    plan.columns = min(math.ceil(room_x / CELL_M) + 1, CELLS)
    plan.rows = min(math.ceil(room_z / CELL_M) + 1, CELLS)
    plan.pitch_x = room_x / (plan.columns - 1)
    plan.pitch_z = room_z / (plan.rows - 1)
    plan.from_x = -0.5 * room_x
    plan.from_z = -0.5 * room_z
    plan.boxes = boxes
    for row in range(plan.rows):
        for column in range(plan.columns):
            plan.height[row, column] = 0
    for box in range(boxes):
        for axis in range(3):
            plan.low[box, axis] = low[axis, box]
            plan.high[box, axis] = high[axis, box]
    for _ in range(2):  # twice, for boxes listed before the one that they stand on
        for box in range(boxes):
            raise_ground(plan, box, half_m)
    find_exits(plan, int(climb_m / HEIGHT_M))


@device_kernel
def raise_ground(plan: Any, box: int, half_m: float) -> None:
    """Where the box is in a body's way it is what one stands on; one that is high above can be walked under."""
    reach = half_m - TOUCH_M
    top = min(int(plan.high[box, 1] / HEIGHT_M + 0.5), HIGHEST)
    under = plan.low[box, 1] - 2.0 * half_m
    first = max(math.ceil((plan.low[box, 0] - reach - plan.from_x) / plan.pitch_x), 0)
    last = min(math.floor((plan.high[box, 0] + reach - plan.from_x) / plan.pitch_x), plan.columns - 1)
    first_row = max(math.ceil((plan.low[box, 2] - reach - plan.from_z) / plan.pitch_z), 0)
    last_row = min(math.floor((plan.high[box, 2] + reach - plan.from_z) / plan.pitch_z), plan.rows - 1)
    for row in range(first_row, last_row + 1):
        for column in range(first, last + 1):
            if plan.height[row, column] < top and plan.height[row, column] * HEIGHT_M >= under:
                plan.height[row, column] = top


@device_kernel
def find_exits(plan: Any, climb: int) -> None:
    for way in range(WAYS):
        for row in range(ROWS):
            plan.exits[way, row] = 0
    for row in range(plan.rows):
        for column in range(plan.columns):
            reachable = int(plan.height[row, column]) + climb
            for way in range(WAYS):
                to_column = column + STEP_X[way]
                to_row = row + STEP_Z[way]
                if to_column < 0 or to_row < 0 or to_column >= plan.columns or to_row >= plan.rows:
                    continue
                is_open = (
                    plan.height[to_row, to_column] <= reachable
                    and plan.height[row, to_column] <= reachable
                    and plan.height[to_row, column] <= reachable
                )
                if is_open:
                    plan.exits[way, row + 1] |= ONE << np.uint64(column)


@device_kernel
def column_of(plan: Any, x: float) -> int:
    return int(min(max(math.floor((x - plan.from_x) / plan.pitch_x + 0.5), 0), plan.columns - 1))


@device_kernel
def row_of(plan: Any, z: float) -> int:
    return int(min(max(math.floor((z - plan.from_z) / plan.pitch_z + 0.5), 0), plan.rows - 1))


@device_kernel
def cell_of(plan: Any, x: float, feet_m: float, z: float) -> int:
    """The nearest cell on which a body could be that is here now (row * CELLS + column)."""
    column = column_of(plan, x)
    row = row_of(plan, z)
    best = row * CELLS + column
    least = 1e9
    for near_row in range(max(row - 2, 0), min(row + 3, plan.rows)):
        for near in range(max(column - 2, 0), min(column + 3, plan.columns)):
            away_x = plan.from_x + near * plan.pitch_x - x
            away_z = plan.from_z + near_row * plan.pitch_z - z
            away = away_x * away_x + away_z * away_z
            if plan.height[near_row, near] * HEIGHT_M > feet_m + 0.06:
                away += 100.0
            if away < least:
                least = away
                best = near_row * CELLS + near
    return best


@device_kernel
def is_in(wave: np.ndarray, cell: int) -> bool:
    return bool((wave[cell // CELLS + 1] >> np.uint64(cell % CELLS)) & ONE != 0)


@device_kernel
def put_in(wave: np.ndarray, cell: int) -> None:
    wave[cell // CELLS + 1] |= ONE << np.uint64(cell % CELLS)


@device_kernel
def clear(wave: np.ndarray) -> None:
    for row in range(ROWS):
        wave[row] = 0


@device_kernel
def spread_back(exits: np.ndarray, rows: int, is_wide: bool, here: np.ndarray, there: np.ndarray) -> None:
    """The next wave of cells from which `here` can be reached."""
    for row in range(1, rows + 1):
        found = here[row]
        found |= (here[row] >> ONE) & exits[0, row]
        found |= (here[row] << ONE) & exits[1, row]
        found |= here[row + 1] & exits[2, row]
        found |= here[row - 1] & exits[3, row]
        if is_wide:
            found |= (here[row + 1] >> ONE) & exits[4, row]
            found |= (here[row + 1] << ONE) & exits[5, row]
            found |= (here[row - 1] >> ONE) & exits[6, row]
            found |= (here[row - 1] << ONE) & exits[7, row]
        there[row] = found


@device_kernel
def spread(exits: np.ndarray, rows: int, is_wide: bool, here: np.ndarray, there: np.ndarray) -> None:
    """The next wave of cells that can be reached from `here`."""
    for row in range(1, rows + 1):
        found = here[row]
        found |= (here[row] & exits[0, row]) << ONE
        found |= (here[row] & exits[1, row]) >> ONE
        found |= here[row - 1] & exits[2, row - 1]
        found |= here[row + 1] & exits[3, row + 1]
        if is_wide:
            found |= (here[row - 1] & exits[4, row - 1]) << ONE
            found |= (here[row - 1] & exits[5, row - 1]) >> ONE
            found |= (here[row + 1] & exits[6, row + 1]) << ONE
            found |= (here[row + 1] & exits[7, row + 1]) >> ONE
        there[row] = found


@device_kernel
def can_leave(plan: Any, cell: int, way: int) -> bool:
    return bool((plan.exits[way, cell // CELLS + 1] >> np.uint64(cell % CELLS)) & ONE != 0)


@device_kernel
def entry_m(plan: Any, box: int, x: float, z: float, to_x: float, to_z: float, grow_m: float) -> float:
    """Share of the straight way at which a body gets in touch with a box seen from above; above 1 for never."""
    enter = 0.0
    leave = 1.0
    for axis in (0, 2):
        start = x if axis == 0 else z
        along = (to_x if axis == 0 else to_z) - start
        low = plan.low[box, axis] - grow_m - start
        high = plan.high[box, axis] + grow_m - start
        if abs(along) < 1e-6:
            if low >= 0.0 or high <= 0.0:
                return 2.0
        else:
            enter = max(enter, min(low / along, high / along))
            leave = min(leave, max(low / along, high / along))
    return enter if enter < leave else 2.0


@device_kernel
def is_clear(
    plan: Any, x: float, feet_m: float, z: float, to_x: float, to_z: float, half_m: float, climb_m: float
) -> bool:
    """Whether a body can go straight there, over what is low."""
    for box in range(plan.boxes):
        if plan.high[box, 1] <= feet_m + climb_m or plan.low[box, 1] >= feet_m + 2.0 * half_m:
            continue
        if entry_m(plan, box, x, z, to_x, to_z, half_m - 0.02) <= 1.0:
            return False
    return True


@device_kernel
def can_see(plan: Any, x: float, y: float, z: float, to_x: float, to_y: float, to_z: float) -> bool:
    """Whether no box stands between two points."""
    for box in range(plan.boxes):
        enter = 0.0
        leave = 1.0
        for axis in range(3):
            start = x if axis == 0 else (y if axis == 1 else z)
            along = (to_x if axis == 0 else (to_y if axis == 1 else to_z)) - start
            along = along if abs(along) > 1e-6 else 1e-6
            low = (plan.low[box, axis] - start) / along
            high = (plan.high[box, axis] - start) / along
            enter = max(enter, min(low, high))
            leave = min(leave, max(low, high))
        if enter < leave:
            return False
    return True
