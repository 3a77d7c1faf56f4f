"""Generated arenas: kinds, sizes and pieces, drawn for each round from the world's random stream.

Pieces keep gaps through which a body fits, and walls stand only where there is a way round: every place on the floor
can be reached from every other. Nothing is allocated.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from godojo.games.tag.arenas import MAX_BOXES, MAX_SPAWNS
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.sim.state import ARENA, HIDER_MAY, SEEKER_MAY, WORLD, numbers
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import device_kernel
from godojo.kernels.random import randint, stream_of, uniform


class Kind(NamedTuple):
    """How often a kind of arena is drawn and, for scattered pieces, how many boxes it has and how often each piece."""

    share: float
    fewest: int = 0
    most: int = 0
    box: float = 0
    block: float = 0
    post: float = 0
    low: float = 0
    wall: float = 0
    stairs: float = 0
    stack: float = 0
    canopy: float = 0


KINDS = {
    "boxes": Kind(14, fewest=8, most=16, box=65, low=35),
    "blocks": Kind(6, fewest=2, most=7, block=1),
    "clutter": Kind(5, fewest=12, most=16, post=50, low=25, wall=25),
    "low": Kind(5, fewest=6, most=16, low=1),
    "open": Kind(6, fewest=0, most=3, box=40, block=20, low=20, wall=20),
    "walls": Kind(13, fewest=7, most=16, wall=1),
    "stairs": Kind(7, fewest=8, most=16, stairs=40, stack=20, box=40),
    "bridges": Kind(5, fewest=8, most=16, stairs=50, canopy=30, box=20),
    "mixed": Kind(9, fewest=6, most=16, box=20, block=10, post=10, low=15, wall=20, stairs=10, stack=10, canopy=5),
    "rooms": Kind(16),
    "corridors": Kind(9),
    "pillars": Kind(5),
}
"""Shares in per cent. The last three have layouts of their own; of the others, pieces are scattered."""
SIZES = (
    # share in per cent, least and most along one axis, least and most along the other
    (62, 14.0, 30.0, 14.0, 30.0),
    (12, 12.0, 16.0, 12.0, 16.0),
    (12, 28.0, 60.0, 28.0, 60.0),
    (14, 12.0, 18.0, 24.0, 60.0),
)
NAMES = tuple(KINDS)
ROOMS, CORRIDORS, PILLARS = (NAMES.index(name) for name in ("rooms", "corridors", "pillars"))
BOX, BLOCK, POST, LOW, WALL, STAIRS, STACK, CANOPY = range(8)
_PIECES_FROM = Kind._fields.index("box")


def _cumulative(shares: Any) -> np.ndarray:
    sums: np.ndarray = np.cumsum(np.array(shares, float), axis=-1)
    sums /= np.maximum(sums[..., -1:], 1.0)
    return sums


KIND_SHARES = _cumulative([kind.share for kind in KINDS.values()])
PIECE_SHARES = _cumulative([kind[_PIECES_FROM:] for kind in KINDS.values()])
FEWEST_BOXES = np.array([kind.fewest for kind in KINDS.values()])
MOST_BOXES = np.array([kind.most for kind in KINDS.values()])
SIZE_SHARES = _cumulative([size[0] for size in SIZES])
SIZE_LIMITS = np.array([size[1:] for size in SIZES])

GRID_M = 0.05
TRIES = 60
"""Pieces tried before an arena stays as it is."""
GAP_IN_BODIES = 1.5
GAP_OF_EXTENT = 1.0 / 60.0
"""Gaps exceed a body by this share of the arena's extent at least: one cell of the scripted opponents' grid."""
USUAL_M = 20.0
"""Pieces grow with the arena from this extent on, since there are no more of them."""
TALL_M, TALL_SHARE = 2.4, 0.7
"""Height of most tall pieces; no jump from a low box gets there."""
LOWEST_TALL_M, HIGHEST_TALL_M = 1.5, 3.6
THINNEST_M, THICKEST_M = 0.2, 0.8
"""Of walls."""
SLAB_M = 0.3
FAR_M = 1e6
LEAST_SPAWNS = 8
"""As many as there may be agents."""
SPAWN_TRIES = 50
SPAWN_M, SMALL_SPAWN_M = 1.2, 0.3


@device_kernel
def make_arena(n: Any, arena: Any, world: Any) -> int:
    """A hall of random size and kind; returns the kind, a place in `NAMES`."""
    size = draw(world, SIZE_SHARES)
    size_x = between(world, SIZE_LIMITS[size, 0], SIZE_LIMITS[size, 1])
    size_z = between(world, SIZE_LIMITS[size, 2], SIZE_LIMITS[size, 3])
    if uniform(world) < 0.5:
        size_x, size_z = size_z, size_x
    arena.number = -1
    arena.size_m[0] = size_x
    arena.size_m[1] = size_z
    arena.room_low[X] = -size_x * 0.5
    arena.room_low[Y] = 0.0
    arena.room_low[Z] = -size_z * 0.5
    arena.room_high[X] = size_x * 0.5
    arena.room_high[Y] = n.top_m
    arena.room_high[Z] = size_z * 0.5
    arena.boxes = 0
    arena.spawn_count = 0
    gap = on_grid(n.size_m + max((GAP_IN_BODIES - 1.0) * n.size_m, GAP_OF_EXTENT * max(size_x, size_z)) + 0.5 * GRID_M)
    kind = draw(world, KIND_SHARES)
    if kind == ROOMS:
        make_rooms(n, arena, world, gap)
    elif kind == CORRIDORS:
        make_corridors(arena, world, gap)
    elif kind == PILLARS:
        make_pillars(arena, world, gap)
    else:
        scatter_pieces(n, arena, world, gap, kind)
    mark_spawns(n, arena, world, gap)
    return kind


@device_kernel
def draw(world: Any, shares: np.ndarray) -> int:
    """A random place in a table of cumulative shares."""
    pick = uniform(world)
    chosen = 0
    while chosen < len(shares) - 1 and pick >= shares[chosen]:
        chosen += 1
    return chosen


@device_kernel
def on_grid(length: float) -> float:
    """The nearest length on the grid, so that generated arenas are tidy."""
    return math.floor(length / GRID_M + 0.5) * GRID_M


@device_kernel
def between(world: Any, least: float, most: float) -> float:
    """A random length, a multiple of the grid above `least`."""
    return least + math.floor(max(most - least, 0.0) * uniform(world) / GRID_M + 1e-6) * GRID_M


@device_kernel
def tall(world: Any) -> float:
    """A random height that cannot be jumped on from the floor."""
    return TALL_M if uniform(world) < TALL_SHARE else between(world, LOWEST_TALL_M, HIGHEST_TALL_M)


@device_kernel
def jump_m(n: Any) -> float:
    """A height that can be jumped on with ease; 0.3 where bodies hardly jump."""
    return on_grid(min(max(0.75 * n.jump_speed * n.jump_speed / (2.0 * n.gravity), 0.3), 1.0))


@device_kernel
def scatter_pieces(n: Any, arena: Any, world: Any, gap: float, kind: int) -> None:
    largest = min(max(math.sqrt(arena.size_m[0] * arena.size_m[1]) / USUAL_M, 1.0), 2.0)
    wanted = FEWEST_BOXES[kind] + randint(world, MOST_BOXES[kind] - FEWEST_BOXES[kind] + 1)
    for number in range(TRIES):
        if arena.boxes >= wanted:
            break
        stretch = largest * (1.0 - 0.7 * number / TRIES)  # what comes later must fit in between
        piece = draw(world, PIECE_SHARES[kind])
        if piece == WALL:
            try_wall(arena, world, gap, stretch)
        elif piece == STAIRS:
            try_stairs(n, arena, world, gap, stretch)
        elif piece == STACK:
            try_stack(n, arena, world, gap, stretch)
        else:
            try_box(n, arena, world, gap, stretch, piece)


@device_kernel
def try_box(n: Any, arena: Any, world: Any, gap: float, stretch: float, piece: int) -> None:
    """Tall, low, or hanging above the heads."""
    least, most = 1.0, 4.5 * stretch
    if piece == BLOCK:
        least, most = 3.5, 8.0 * stretch
    elif piece == POST:
        least, most = 0.3, 1.2
    low, high = 0.0, tall(world)
    if piece == LOW:
        high = between(world, max(on_grid(0.5 * jump_m(n)), 0.3), jump_m(n))
    elif piece == CANOPY:
        least = 2.0
        low = between(world, on_grid(1.2 * n.size_m + 0.1), 2.4)
        high = low + SLAB_M
    wide, deep = between(world, least, most), between(world, least, most)
    is_placed, x, z = find_place(arena, world, wide, deep, gap)
    if is_placed:
        add_box(arena, x, z, x + wide, z + deep, low, high)
        if piece == LOW and uniform(world) < 0.3:
            spawn_on_top(n, arena)


@device_kernel
def try_wall(arena: Any, world: Any, gap: float, stretch: float) -> None:
    """Straight, or in the shape of an L, a T or a U."""
    shape = max(randint(world, 5) - 1, 0)
    thick = between(world, THINNEST_M, THICKEST_M)
    length = between(world, 2.5, 8.0 * stretch)
    arm = between(world, 1.0, 5.0 * stretch) if shape > 0 else 0.0
    height = tall(world)
    turn = randint(world, 8)
    if shape == 3:
        length = max(length, gap + 2.0 * thick)
    deep = thick + arm
    is_placed, x, z = find_turned(arena, world, length, deep, gap, turn)
    if not is_placed or arena.boxes + max(shape, 1) > MAX_BOXES or (shape == 1 and arena.boxes + 2 > MAX_BOXES):
        return
    add_part(arena, x, z, length, deep, turn, 0.0, 0.0, length, thick, 0.0, height)
    if shape > 0:
        at = between(world, 0.0, length - thick) if shape == 2 else 0.0
        add_part(arena, x, z, length, deep, turn, at, thick, at + thick, deep, 0.0, height)
    if shape == 3:
        add_part(arena, x, z, length, deep, turn, length - thick, thick, length, deep, 0.0, height)


@device_kernel
def try_stairs(n: Any, arena: Any, world: Any, gap: float, stretch: float) -> None:
    """Steps, each a jump high, up to a platform, which may be a bridge: hang in the air, with steps on either side."""
    steps = 1 + randint(world, 3)
    rise = between(world, on_grid(0.6 * jump_m(n)), jump_m(n))
    tread = between(world, max(on_grid(1.1 * n.size_m), 1.0), 2.2)
    broad = between(world, max(on_grid(1.2 * n.size_m), 1.5), 4.0 * stretch)
    deck = between(world, max(gap, 2.0), 5.0 * stretch)
    top = rise * (steps + 1)
    low = top - SLAB_M
    if low < 1.2 * n.size_m or uniform(world) < 0.5:
        low = 0.0
    sides = 1 + randint(world, 2)
    length = sides * steps * tread + deck
    turn = randint(world, 8)
    is_placed, x, z = find_turned(arena, world, length, broad, gap, turn)
    if not is_placed or arena.boxes + sides * steps + 1 > MAX_BOXES:
        return
    first = steps * tread
    add_part(arena, x, z, length, broad, turn, first, 0.0, first + deck, broad, low, top)
    spawn_on_top(n, arena)
    for step in range(steps):
        add_part(arena, x, z, length, broad, turn, step * tread, 0.0, (step + 1) * tread, broad, 0.0, rise * (step + 1))
        if sides == 2:
            start, end = first + deck + step * tread, first + deck + (step + 1) * tread
            add_part(arena, x, z, length, broad, turn, start, 0.0, end, broad, 0.0, rise * (steps - step))


@device_kernel
def try_stack(n: Any, arena: Any, world: Any, gap: float, stretch: float) -> None:
    """A box on a larger one; both can be jumped on."""
    edge = between(world, 0.5, 1.5)
    wide, deep = between(world, 2.0 * edge + 0.8, 6.0 * stretch), between(world, 2.0 * edge + 0.8, 6.0 * stretch)
    is_placed, x, z = find_place(arena, world, wide, deep, gap)
    if not is_placed or arena.boxes + 2 > MAX_BOXES:
        return
    middle = between(world, on_grid(0.6 * jump_m(n)), jump_m(n))
    top = middle + between(world, on_grid(0.6 * jump_m(n)), jump_m(n))
    add_box(arena, x, z, x + wide, z + deep, 0.0, middle)
    add_box(arena, x + edge, z + edge, x + wide - edge, z + deep - edge, middle, top)
    spawn_on_top(n, arena)


@device_kernel
def find_place(arena: Any, world: Any, wide: float, deep: float, gap: float) -> tuple[bool, float, float]:
    """A random place for something this large: whether it is free with a gap all around, and its low corner."""
    room_x = arena.size_m[0] - 2.0 * gap - wide
    room_z = arena.size_m[1] - 2.0 * gap - deep
    x = between(world, gap - 0.5 * arena.size_m[0], gap - 0.5 * arena.size_m[0] + room_x)
    z = between(world, gap - 0.5 * arena.size_m[1], gap - 0.5 * arena.size_m[1] + room_z)
    is_room = room_x >= 0.0 and room_z >= 0.0 and arena.boxes < MAX_BOXES
    return is_room and is_free(arena, x - gap, z - gap, x + wide + gap, z + deep + gap, 0.0, FAR_M), x, z


@device_kernel
def find_turned(arena: Any, world: Any, length: float, deep: float, gap: float, turn: int) -> tuple[bool, float, float]:
    """`find_place` for a piece that is turned."""
    if turn & 1:
        return find_place(arena, world, deep, length, gap)
    return find_place(arena, world, length, deep, gap)


@device_kernel
def is_free(arena: Any, low_x: float, low_z: float, high_x: float, high_z: float, low_y: float, high_y: float) -> bool:
    """Whether no box is there."""
    for box in range(arena.boxes):
        is_beside = low_x >= arena.high[X, box] - 1e-4 or high_x <= arena.low[X, box] + 1e-4
        is_beside = is_beside or low_z >= arena.high[Z, box] - 1e-4 or high_z <= arena.low[Z, box] + 1e-4
        if not (is_beside or low_y >= arena.high[Y, box] - 1e-4 or high_y <= arena.low[Y, box] + 1e-4):
            return False
    return True


@device_kernel
def add_box(arena: Any, low_x: float, low_z: float, high_x: float, high_z: float, low_y: float, high_y: float) -> None:
    arena.low[X, arena.boxes] = low_x
    arena.low[Y, arena.boxes] = low_y
    arena.low[Z, arena.boxes] = low_z
    arena.high[X, arena.boxes] = high_x
    arena.high[Y, arena.boxes] = high_y
    arena.high[Z, arena.boxes] = high_z
    arena.boxes += 1


@device_kernel
def add_part(
    arena: Any,
    x: float,
    z: float,
    length: float,
    deep: float,
    turn: int,
    low_a: float,
    low_b: float,
    high_a: float,
    high_b: float,
    low_y: float,
    high_y: float,
) -> None:
    """A box of a piece whose low corner is at x, z; a runs along the piece, b across. `turn` mirrors and turns it."""
    if turn & 2:
        low_a, high_a = length - high_a, length - low_a
    if turn & 4:
        low_b, high_b = deep - high_b, deep - low_b
    if turn & 1:
        low_a, low_b, high_a, high_b = low_b, low_a, high_b, high_a
    add_box(arena, x + low_a, z + low_b, x + high_a, z + high_b, low_y, high_y)


@device_kernel
def make_corridors(arena: Any, world: Any, gap: float) -> None:
    """Parallel walls from one side to the other, with ways through at an end, at both, or in between."""
    turn = randint(world, 8)
    length, deep = arena.size_m[turn & 1], arena.size_m[1 - (turn & 1)]
    x, z = -0.5 * arena.size_m[0], -0.5 * arena.size_m[1]
    winds = uniform(world) < 0.3
    widest = between(world, 2.0, 4.0)
    thick = between(world, THINNEST_M, THICKEST_M)
    height = tall(world)
    at = between(world, max(gap, 1.5), max(gap, widest))
    walls = 0
    while at + thick + gap <= deep and arena.boxes + 2 <= MAX_BOXES:
        open_m = between(world, gap, max(gap, 3.0))
        way = walls % 2 if winds else randint(world, 5)
        start = open_m if way == 0 or way == 2 else 0.0
        end = length - (open_m if way == 1 or way == 2 else 0.0)
        if way < 3:
            add_part(arena, x, z, length, deep, turn, start, at, end, at + thick, 0.0, height)
        else:
            if way == 4:
                start, end = open_m, length - open_m
            middle = between(world, start + 0.5, end - 0.5 - open_m)
            add_part(arena, x, z, length, deep, turn, start, at, middle, at + thick, 0.0, height)
            add_part(arena, x, z, length, deep, turn, middle + open_m, at, end, at + thick, 0.0, height)
        at += thick + between(world, max(gap, 1.5), max(gap, widest))
        walls += 1


@device_kernel
def make_pillars(arena: Any, world: Any, gap: float) -> None:
    """Tall and small, one somewhere in each cell of a grid."""
    columns = min(max(int(4.0 * math.sqrt(arena.size_m[0] / arena.size_m[1]) + 0.5), 2), 8)
    rows = MAX_BOXES // columns
    pitch_x, pitch_z = (arena.size_m[0] - gap) / columns, (arena.size_m[1] - gap) / rows
    widest = between(world, 0.5, 2.5)
    for column in range(columns):
        for row in range(rows):
            wide, deep = between(world, 0.4, widest), between(world, 0.4, widest)
            is_in = uniform(world) >= 0.1
            # Half a gap inside its cell; on the grid, since cells are not.
            x, z = gap - 0.5 * arena.size_m[0], gap - 0.5 * arena.size_m[1]
            x += up_to_grid(column * pitch_x)
            z += up_to_grid(row * pitch_z)
            room_x, room_z = pitch_x - gap - wide - GRID_M, pitch_z - gap - deep - GRID_M
            x, z = between(world, x, x + room_x), between(world, z, z + room_z)
            if is_in and room_x >= 0.0 and room_z >= 0.0:
                add_box(arena, x, z, x + wide, z + deep, 0.0, tall(world))


@device_kernel
def up_to_grid(length: float) -> float:
    return math.ceil(length / GRID_M - 1e-6) * GRID_M


@device_kernel
def make_rooms(n: Any, arena: Any, world: Any, gap: float) -> None:
    """Rooms in columns and rows. Between two of them a wall stands only where there is another way round.

    Sets of rooms are bits of a number. `across` are the rooms with a wall to the next column, `along` to the next row;
    `doors_across` and `doors_along` those without. Walls are thought of in random order. Among few rooms, openings may
    be narrowed to doors.
    """
    thick = 2.0 * between(world, 0.5 * THINNEST_M, 0.5 * THICKEST_M)
    pitch = between(world, 2.5, 4.5)
    has_doors = uniform(world) < 0.35
    columns, rows = room_count(arena.size_m[0], pitch, gap + thick), room_count(arena.size_m[1], pitch, gap + thick)
    while most_walls(columns, rows, has_doors) > MAX_BOXES or columns * rows > MAX_SPAWNS:
        if columns > rows:
            columns -= 1
        else:
            rows -= 1
    open_share = 0.05 + 0.3 * uniform(world)
    across, along, doors_across, doors_along = 0, 0, 0, 0
    pending = most_walls(columns, rows, True)
    while pending > 0:
        wall = pick_wall(randint(world, pending), columns, rows, across | doors_across, along | doors_along)
        pending -= 1
        room = wall // 2
        is_across = wall % 2 == 0
        other = room + rows if is_across else room + 1
        is_way_round = can_reach(room, other, rows, doors_across, doors_along)
        if is_way_round and uniform(world) >= open_share:
            if is_across:
                across |= 1 << room
            else:
                along |= 1 << room
        elif is_across:
            doors_across |= 1 << room
        else:
            doors_along |= 1 << room
    height = tall(world)
    for column in range(columns):
        for row in range(rows):
            add_walls(arena, column, row, columns, rows, across, along, thick, height)
            spawn_in_room(n, arena, world, column, row, columns, rows, thick)
    if has_doors:
        for column in range(columns):
            for row in range(rows):
                add_doors(arena, world, column, row, columns, rows, doors_across, doors_along, thick, gap, height)


@device_kernel
def room_count(size: float, pitch: float, least: float) -> int:
    """Rooms along an axis."""
    return min(max(int(size / pitch), 3), 9, int(size / least))


@device_kernel
def most_walls(columns: int, rows: int, has_doors: bool) -> int:
    """Boxes that rooms may need: one between any two neighbours, or one for each way round."""
    if has_doors:
        return columns * (rows - 1) + rows * (columns - 1)
    return (columns - 1) * (rows - 1)


@device_kernel
def pick_wall(place: int, columns: int, rows: int, across: int, along: int) -> int:
    """The wall at this place among those not thought of yet: twice its room, plus one if it is along."""
    for room in range(columns * rows):
        if room // rows < columns - 1 and not across >> room & 1:
            if place == 0:
                return 2 * room
            place -= 1
        if room % rows < rows - 1 and not along >> room & 1:
            if place == 0:
                return 2 * room + 1
            place -= 1
    return 0


@device_kernel
def can_reach(room: int, other: int, rows: int, doors_across: int, doors_along: int) -> bool:
    """Whether doors lead from one room to the other."""
    before, found = 0, 1 << room
    while found != before and not found >> other & 1:
        before = found
        found |= (found & doors_across) << rows | (found >> rows) & doors_across
        found |= (found & doors_along) << 1 | (found >> 1) & doors_along
    return found >> other & 1 == 1


@device_kernel
def line(size: float, number: float, count: int) -> float:
    """Where along an axis the numbered line between rooms is."""
    return math.floor(number / count * size / GRID_M + 0.5) * GRID_M - 0.5 * size


@device_kernel
def is_set(rooms: int, column: int, row: int, rows: int) -> bool:
    return rooms >> (column * rows + row) & 1 == 1


@device_kernel
def add_walls(
    arena: Any, column: int, row: int, columns: int, rows: int, across: int, along: int, thick: float, height: float
) -> None:
    """A room's walls to the next column and row. Corners belong to the former, so that no two walls overlap."""
    half = 0.5 * thick
    x, z = line(arena.size_m[0], column, columns), line(arena.size_m[1], row, rows)
    next_x, next_z = line(arena.size_m[0], column + 1, columns), line(arena.size_m[1], row + 1, rows)
    if is_set(across, column, row, rows):
        low = z if row == 0 or is_set(across, column, row - 1, rows) else z - half
        high = next_z if row == rows - 1 or is_set(across, column, row + 1, rows) else next_z + half
        add_box(arena, next_x - half, low, next_x + half, high, 0.0, height)
    if is_set(along, column, row, rows):
        low, high = x, next_x
        if column > 0 and (is_set(across, column - 1, row, rows) or is_set(across, column - 1, row + 1, rows)):
            low += half
        if is_set(across, column, row, rows) or is_set(across, column, row + 1, rows):
            high -= half
        add_box(arena, low, next_z - half, high, next_z + half, 0.0, height)


@device_kernel
def add_doors(
    arena: Any,
    world: Any,
    column: int,
    row: int,
    columns: int,
    rows: int,
    across: int,
    along: int,
    thick: float,
    gap: float,
    height: float,
) -> None:
    """Narrows a room's openings to the next column and row."""
    x, z = line(arena.size_m[0], column, columns), line(arena.size_m[1], row, rows)
    next_x, next_z = line(arena.size_m[0], column + 1, columns), line(arena.size_m[1], row + 1, rows)
    for is_across in range(2):
        if not is_set(across if is_across else along, column, row, rows):
            continue
        at = next_x if is_across else next_z
        low, high = (z, next_z) if is_across else (x, next_x)
        half = 0.5 * thick
        edge = 0.5 * (arena.size_m[1] if is_across else arena.size_m[0])
        door = between(world, gap, gap + 1.0)
        is_low = uniform(world) < 0.5
        # The wall fills the corner at its end where no other wall does.
        corner = low if is_low else high
        start, end = max(corner - half, -edge), min(corner + half, edge)
        is_corner_free = is_bar_free(arena, is_across, at - half, start, at + half, end)
        if is_low:
            start = start if is_corner_free else end
            end = high - half - door
        else:
            end = end if is_corner_free else start
            start = low + half + door
        if end - start < 0.3:
            continue
        if is_across:
            add_box(arena, at - half, start, at + half, end, 0.0, height)
        else:
            add_box(arena, start, at - half, end, at + half, 0.0, height)


@device_kernel
def is_bar_free(arena: Any, is_across: int, low_a: float, low_b: float, high_a: float, high_b: float) -> bool:
    """`is_free` from the floor up; a runs along x if `is_across`, else along z."""
    if is_across:
        return is_free(arena, low_a, low_b, high_a, high_b, 0.0, FAR_M)
    return is_free(arena, low_b, low_a, high_b, high_a, 0.0, FAR_M)


@device_kernel
def spawn_in_room(n: Any, arena: Any, world: Any, column: int, row: int, columns: int, rows: int, thick: float) -> None:
    x, z = line(arena.size_m[0], column, columns), line(arena.size_m[1], row, rows)
    next_x, next_z = line(arena.size_m[0], column + 1, columns), line(arena.size_m[1], row + 1, rows)
    room_x, room_z = next_x - x - thick - n.size_m - 0.1, next_z - z - thick - n.size_m - 0.1
    size = min(0.3 + 0.9 * uniform(world), room_x, room_z)
    x = 0.5 * (x + next_x) + (uniform(world) - 0.5) * (room_x - size)
    z = 0.5 * (z + next_z) + (uniform(world) - 0.5) * (room_z - size)
    try_spawn(n, arena, x, 0.0, z, size)


@device_kernel
def spawn_on_top(n: Any, arena: Any) -> None:
    """A spawn area on the newest box, for bodies that could jump there themselves."""
    if 0.5 * n.jump_speed * n.jump_speed / n.gravity < 1.2 * jump_m(n):
        return
    box = arena.boxes - 1
    wide, deep = arena.high[X, box] - arena.low[X, box], arena.high[Z, box] - arena.low[Z, box]
    x, z = 0.5 * (arena.high[X, box] + arena.low[X, box]), 0.5 * (arena.high[Z, box] + arena.low[Z, box])
    try_spawn(n, arena, x, arena.high[Y, box], z, min(max(min(wide, deep) - 0.4, 0.0), 1.5))


@device_kernel
def mark_spawns(n: Any, arena: Any, world: Any, gap: float) -> None:
    """Squares in random places where no box is, and then, should there be too few, along the outer walls."""
    wanted = LEAST_SPAWNS + randint(world, 13)
    for number in range(SPAWN_TRIES):
        if arena.spawn_count >= wanted:
            break
        size = SPAWN_M if number % 2 == 0 else SMALL_SPAWN_M
        x = (uniform(world) - 0.5) * (arena.size_m[0] - n.size_m - size - 0.04)
        z = (uniform(world) - 0.5) * (arena.size_m[1] - n.size_m - size - 0.04)
        try_spawn(n, arena, x, 0.0, z, size)
    size = gap - n.size_m - 0.04
    for number in range(4 * LEAST_SPAWNS):
        if arena.spawn_count >= LEAST_SPAWNS:
            break
        along = (number // 4 / (LEAST_SPAWNS - 1) - 0.5) * 0.999
        side = 0.4999 if number % 2 == 0 else -0.4999
        x = along if number % 4 < 2 else side
        z = side if number % 4 < 2 else along
        try_spawn(n, arena, x * (arena.size_m[0] - gap), 0.0, z * (arena.size_m[1] - gap), size)


@device_kernel
def try_spawn(n: Any, arena: Any, x: float, y: float, z: float, size: float) -> None:
    """Adds a spawn area for both roles where bodies fit in, out of reach of those in other areas."""
    reach = 0.5 * (size + n.size_m) + 0.005
    tall_m = n.size_m + 2.0 * n.skin_m
    if arena.spawn_count == MAX_SPAWNS or y + tall_m > n.top_m:
        return
    if abs(x) + reach > 0.5 * arena.size_m[0] or abs(z) + reach > 0.5 * arena.size_m[1]:
        return
    if not is_free(arena, x - reach, z - reach, x + reach, z + reach, y, y + tall_m + 1e-3):
        return
    apart = n.size_m + 2.0 * (n.touch_m - n.size_m) + 1e-3
    for other in range(arena.spawn_count):
        far = max(abs(x - arena.spawns[other, 0]), abs(z - arena.spawns[other, 2])) - 0.5 * (
            size + arena.spawns[other, 3]
        )
        if max(far, abs(y - arena.spawns[other, 1])) < apart:
            return
    spawn = arena.spawn_count
    arena.spawns[spawn, 0] = x
    arena.spawns[spawn, 1] = y
    arena.spawns[spawn, 2] = z
    arena.spawns[spawn, 3] = size
    arena.spawns[spawn, 4] = size
    arena.spawn_roles[spawn] = SEEKER_MAY | HIDER_MAY
    arena.spawn_count += 1


class GeneratedArena(NamedTuple):
    """One generated arena, as arrays of its true length."""

    kind: str
    low: np.ndarray
    high: np.ndarray
    spawns: np.ndarray
    size_m: tuple[float, float]


def generate(seed: int, settings: TagSettings) -> GeneratedArena:
    """The arena that a world with this stream would make first."""
    worlds, arenas = np.zeros(1, WORLD), np.zeros(1, ARENA)
    worlds["stream"] = stream_of(np.uint64(seed), 0)
    kind = make_arena(numbers(settings, 1, 1.0, 0)[0], arenas[0], worlds[0])
    arena = arenas[0]
    boxes, areas = int(arena["boxes"]), int(arena["spawn_count"])
    size = (round(float(arena["size_m"][0]), 4), round(float(arena["size_m"][1]), 4))
    low, high = arena["low"][:, :boxes].T, arena["high"][:, :boxes].T
    return GeneratedArena(NAMES[kind], low, high, arena["spawns"][:areas], size)
