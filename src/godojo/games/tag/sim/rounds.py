"""Starts of rounds: an arena is chosen or generated, and all agents get fair places in it."""

import math
from typing import Any, NamedTuple

import numpy as np

from godojo.games.tag.arenas import MAX_BOXES
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.sim.state import ARENA, HIDER_MAY, SEEKER_MAY, TERMS, WORLD, numbers
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import kernel
from godojo.kernels.random import randint, stream_of, uniform
from godojo.kernels.rays import is_blocked

# A generated arena: boxes keep a gap through which bodies fit, or walls make rooms; every place can be reached.
SMALLEST_M, LARGEST_M = 16.0, 24.0
ROOMS_SHARE = 0.25
FEWEST_ROOMS, MOST_ROOMS = 3, 5
"""Along either axis; few enough that walls never exceed the limit of boxes."""
WALL_M = 0.8
OPEN_SHARE = 0.3
"""Of the walls that could stand, how many do not: with loops, nobody is caught in a dead end for ever."""
TRIES = 60
GAP_IN_BODIES = 1.5
TALL_M = 2.4
TALL_SHARE = 0.65
SPAWNS_ACROSS = 5
SPAWN_M = 1.2
ROOM_SPAWN_M = 0.6
GRID_M = 0.05
FAR_M = 1e6
TRIED, BEST = 0, 1
DRAWS = 32
"""Places drawn for one body before a placing is given up."""
PROVEN_STREAM = np.uint64(1)
"""Random numbers with which an arena is checked for room, and which find it again."""
PLACINGS = 200
"""Placings drawn before an arena is taken to have no room."""


@kernel
def begin_round(
    n: Any, catalogue: np.ndarray, arenas: np.ndarray, index: int, world: Any, team: np.ndarray, places: np.ndarray
) -> None:
    """A new round in world `index`; `places` is scratch space."""
    if n.generated_share > 0.0 and uniform(world) < n.generated_share:
        if n.pool > 0:
            arenas[index] = catalogue[n.numbered + randint(world, n.pool)]
        else:
            make_arena(n, arenas[index], world)
    else:
        arenas[index] = catalogue[randint(world, n.numbered)]
    world.ticks = 0
    world.decisions = 0
    it = randint(world, n.agents) if n.classic else -1
    for number in range(n.agents):
        team[number].chases = number == it if n.classic else number < n.seekers
    choose_places(n, arenas[index], world, team, places)
    for number in range(n.agents):
        place_agent(n, team[number], places[number, BEST])
        team[number].heading = (uniform(world) * 2.0 - 1.0) * math.pi


@kernel
def place_agent(n: Any, agent: Any, ground: np.ndarray) -> None:
    """On the ground, at rest, taking part, with nothing remembered."""
    agent.position[X] = ground[X]
    agent.position[Y] = ground[Y] + n.size_m * 0.5 + n.skin_m
    agent.position[Z] = ground[Z]
    for axis in range(3):
        agent.velocity[axis] = 0.0
    agent.grounded = 1
    agent.coyote = 0
    agent.near_slack_m = -1.0
    agent.active = 1
    agent.immune = 0
    agent.jump = 0
    agent.score = 0.0
    agent.wish[0] = 0.0
    agent.wish[1] = 0.0
    for term in range(TERMS):
        agent.terms[term] = 0.0
        agent.round_terms[term] = 0.0


@kernel
def choose_places(n: Any, arena: Any, world: Any, team: np.ndarray, places: np.ndarray) -> None:
    """Looks at random placings and keeps the first that is wholly fair, or else the best. Bodies never overlap."""
    best_worth = -np.inf
    for _ in range(n.spawn_tries):
        if not draw_places(n, arena, world, places):
            continue
        worth = worth_of(n, arena, team, places)
        if worth > best_worth:
            best_worth = worth
            keep_places(n, places)
        if worth >= 0.0:
            break
    if best_worth == -np.inf:
        # None found: repeat the draws that found a placing when the arena was checked.
        stream = world.stream
        world.stream = PROVEN_STREAM
        find_places(n, arena, world, places)
        world.stream = stream


@kernel
def find_places(n: Any, arena: Any, world: Any, places: np.ndarray) -> bool:
    """Keeps any placing with bodies apart; says whether there is one."""
    for _ in range(PLACINGS):
        if draw_places(n, arena, world, places):
            keep_places(n, places)
            return True
    return False


@kernel
def draw_places(n: Any, arena: Any, world: Any, places: np.ndarray) -> bool:
    """Random places, one for each agent; says whether all are apart."""
    for number in range(n.agents):
        may = SEEKER_MAY | HIDER_MAY
        if not n.classic:
            may = SEEKER_MAY if number < n.seekers else HIDER_MAY
        draws = 0
        pick_place(arena, world, may, places[number, TRIED])
        while not is_apart(n, places, number):
            draws += 1
            if draws == DRAWS:
                return False
            pick_place(arena, world, may, places[number, TRIED])
    return True


@kernel
def is_apart(n: Any, places: np.ndarray, number: int) -> bool:
    """Whether an agent's place is apart from those of the agents before it."""
    apart_m = n.size_m + 2.0 * (n.touch_m - n.size_m)
    for other in range(number):
        x = abs(places[number, TRIED, X] - places[other, TRIED, X])
        y = abs(places[number, TRIED, Y] - places[other, TRIED, Y])
        z = abs(places[number, TRIED, Z] - places[other, TRIED, Z])
        if max(x, y, z) < apart_m:
            return False
    return True


@kernel
def keep_places(n: Any, places: np.ndarray) -> None:
    for number in range(n.agents):
        for axis in range(3):
            places[number, BEST, axis] = places[number, TRIED, axis]


@kernel
def worth_of(n: Any, arena: Any, team: np.ndarray, places: np.ndarray) -> float:
    """Zero when opponents are far apart and hidden from each other; less the worse it is."""
    worth = 0.0
    for number in range(n.agents):
        for other in range(number):
            if team[number].chases == team[other].chases:
                continue
            one = places[number, TRIED]
            two = places[other, TRIED]
            x = one[X] - two[X]
            y = one[Y] - two[Y]
            z = one[Z] - two[Z]
            worth -= max(n.spawn_distance_m - math.sqrt(x * x + y * y + z * z), 0.0) * 10.0
            if not sight_is_blocked(arena, one, two, n.size_m * 0.5 + n.eye_m):
                worth -= 10.0
    return worth


@kernel
def sight_is_blocked(arena: Any, one: np.ndarray, two: np.ndarray, eye_m: float) -> bool:
    for box in range(arena.boxes):
        if is_blocked(arena, box, one[X], one[Y] + eye_m, one[Z], two[X], two[Y] + eye_m, two[Z]):
            return True
    return False


@kernel
def pick_place(arena: Any, world: Any, may: int, place: np.ndarray) -> None:
    """A random place in a spawn area that is for one of these roles; large areas are chosen more often."""
    whole = 0.0
    for area in range(arena.spawn_count):
        if arena.spawn_roles[area] & may:
            whole += arena.spawns[area, 3] * arena.spawns[area, 4] + 1.0
    pick = uniform(world) * whole
    chosen = 0
    for area in range(arena.spawn_count):
        if arena.spawn_roles[area] & may:
            chosen = area
            pick -= arena.spawns[area, 3] * arena.spawns[area, 4] + 1.0
            if pick <= 0.0:
                break
    place[X] = arena.spawns[chosen, 0] + (uniform(world) - 0.5) * arena.spawns[chosen, 3]
    place[Y] = arena.spawns[chosen, 1]
    place[Z] = arena.spawns[chosen, 2] + (uniform(world) - 0.5) * arena.spawns[chosen, 4]


@kernel
def between(world: Any, least: float, most: float) -> float:
    """A random length on the grid, so that generated arenas are tidy."""
    return math.floor((least + (most - least) * uniform(world)) / GRID_M) * GRID_M


@kernel
def make_arena(n: Any, arena: Any, world: Any) -> None:
    """A hall of random size with random boxes, between any two of which a body fits through, or with rooms in it."""
    size_x = between(world, SMALLEST_M, LARGEST_M)
    size_z = between(world, SMALLEST_M, LARGEST_M)
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
    if uniform(world) < ROOMS_SHARE:
        make_rooms(arena, world)
    else:
        make_boxes(n, arena, world)
        mark_spawns(n, arena)


@kernel
def make_boxes(n: Any, arena: Any, world: Any) -> None:
    size_x, size_z = arena.size_m[0], arena.size_m[1]
    climb_m = min(max(0.75 * n.jump_speed * n.jump_speed / (2.0 * n.gravity), 0.3), 1.0)
    gap = GAP_IN_BODIES * n.size_m
    wanted = MAX_BOXES // 2 + randint(world, MAX_BOXES // 2 + 1)
    for _ in range(TRIES):
        if arena.boxes == wanted:
            break
        height = TALL_M
        if uniform(world) >= TALL_SHARE:
            height = max(between(world, 0.5 * climb_m, climb_m), 0.3)
        width = between(world, 1.0, 4.5)
        depth = between(world, 1.0, 4.5)
        x = between(world, -0.5 * size_x + gap, 0.5 * size_x - gap - width)
        z = between(world, -0.5 * size_z + gap, 0.5 * size_z - gap - depth)
        if is_free(arena, x - gap, z - gap, x + width + gap, z + depth + gap):
            add_box(arena, x, z, x + width, z + depth, height)


@kernel
def add_box(arena: Any, low_x: float, low_z: float, high_x: float, high_z: float, height: float) -> None:
    arena.low[X, arena.boxes] = low_x
    arena.low[Y, arena.boxes] = 0.0
    arena.low[Z, arena.boxes] = low_z
    arena.high[X, arena.boxes] = high_x
    arena.high[Y, arena.boxes] = height
    arena.high[Z, arena.boxes] = high_z
    arena.boxes += 1


@kernel
def make_rooms(arena: Any, world: Any) -> None:
    """Rooms in columns and rows. Between two of them a wall stands only where there is another way round.

    Walls are thought of in random order: `across[c, r]` parts room (c, r) from the next column, `along` from the next
    row.
    """
    columns = FEWEST_ROOMS + randint(world, MOST_ROOMS - FEWEST_ROOMS + 1)
    rows = FEWEST_ROOMS + randint(world, MOST_ROOMS - FEWEST_ROOMS + 1)
    across = np.zeros((columns, rows), np.bool_)
    along = np.zeros((columns, rows), np.bool_)
    joined = np.arange(columns * rows)
    order = np.arange(2 * columns * rows)
    for place in range(len(order) - 1, 0, -1):
        other = randint(world, place + 1)
        order[place], order[other] = order[other], order[place]
    for place in range(len(order)):
        wall = int(order[place])
        room = wall // 2
        column, row = room // rows, room % rows
        is_across = wall % 2 == 0
        if (is_across and column == columns - 1) or (not is_across and row == rows - 1):
            continue
        here = joined[room]
        there = joined[room + rows if is_across else room + 1]
        if here != there:
            for each in range(len(joined)):
                if joined[each] == there:
                    joined[each] = here
        elif uniform(world) >= OPEN_SHARE:
            across[column, row] |= is_across
            along[column, row] |= not is_across
    for column in range(columns):
        for row in range(rows):
            middle_x, middle_z = line(arena, 0, column + 0.5, columns), line(arena, 1, row + 0.5, rows)
            add_spawn(arena, middle_x, middle_z, ROOM_SPAWN_M)
            add_walls(arena, column, row, across, along)


@kernel
def line(arena: Any, axis: int, number: float, count: int) -> float:
    """Where along an axis (0 is x) the numbered line between rooms is."""
    size_m: float = arena.size_m[axis]
    return math.floor(number / count * size_m / GRID_M + 0.5) * GRID_M - 0.5 * size_m


@kernel
def add_walls(arena: Any, column: int, row: int, across: np.ndarray, along: np.ndarray) -> None:
    """A room's walls to the next column and row. Corners belong to the former, so that no two walls overlap."""
    columns, rows = across.shape
    half = 0.5 * WALL_M
    x, z = line(arena, 0, column, columns), line(arena, 1, row, rows)
    next_x, next_z = line(arena, 0, column + 1, columns), line(arena, 1, row + 1, rows)
    if across[column, row]:
        low = z if row == 0 or across[column, row - 1] else z - half
        high = next_z if row == rows - 1 or across[column, row + 1] else next_z + half
        add_box(arena, next_x - half, low, next_x + half, high, TALL_M)
    if along[column, row]:
        low, high = x, next_x
        if column > 0 and (across[column - 1, row] or across[column - 1, row + 1]):
            low += half
        if across[column, row] or across[column, row + 1]:
            high -= half
        add_box(arena, low, next_z - half, high, next_z + half, TALL_M)


@kernel
def is_free(arena: Any, low_x: float, low_z: float, high_x: float, high_z: float) -> bool:
    """Whether no box stands on the rectangle."""
    for box in range(arena.boxes):
        is_beside = low_x >= arena.high[X, box] or high_x <= arena.low[X, box]
        if not (is_beside or low_z >= arena.high[Z, box] or high_z <= arena.low[Z, box]):
            return False
    return True


@kernel
def mark_spawns(n: Any, arena: Any) -> None:
    """Squares on a grid that no box comes near; the corners always are, since boxes keep away from the outer walls."""
    room_m = 0.5 * (SPAWN_M + n.size_m) + 0.01
    for row in range(SPAWNS_ACROSS):
        for column in range(SPAWNS_ACROSS):
            x = (column / (SPAWNS_ACROSS - 1) - 0.5) * (arena.size_m[0] - 2.0 * room_m)
            z = (row / (SPAWNS_ACROSS - 1) - 0.5) * (arena.size_m[1] - 2.0 * room_m)
            if is_free(arena, x - room_m, z - room_m, x + room_m, z + room_m):
                add_spawn(arena, x, z, SPAWN_M)


@kernel
def add_spawn(arena: Any, x: float, z: float, size: float) -> None:
    spawn = arena.spawn_count
    arena.spawns[spawn, 0] = x
    arena.spawns[spawn, 1] = 0.0
    arena.spawns[spawn, 2] = z
    arena.spawns[spawn, 3] = size
    arena.spawns[spawn, 4] = size
    arena.spawn_roles[spawn] = SEEKER_MAY | HIDER_MAY
    arena.spawn_count += 1


class GeneratedArena(NamedTuple):
    """One generated arena, as arrays of its true length."""

    low: np.ndarray
    high: np.ndarray
    spawns: np.ndarray
    size_m: tuple[float, float]


def generate(seed: int, settings: TagSettings) -> GeneratedArena:
    """The arena that a world with this stream would make first."""
    worlds, arenas = np.zeros(1, WORLD), np.zeros(1, ARENA)
    worlds["stream"] = stream_of(np.uint64(seed), 0)
    make_arena(numbers(settings, 1, 1.0, 0)[0], arenas[0], worlds[0])
    arena = arenas[0]
    boxes, areas = int(arena["boxes"]), int(arena["spawn_count"])
    size = (round(float(arena["size_m"][0]), 4), round(float(arena["size_m"][1]), 4))
    return GeneratedArena(arena["low"][:, :boxes].T, arena["high"][:, :boxes].T, arena["spawns"][:areas], size)
