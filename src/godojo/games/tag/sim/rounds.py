"""Starts of rounds: an arena is chosen or generated, and all agents get fair places in it."""

import math
from typing import Any

import numpy as np

from godojo.games.tag.sim.generation import make_arena
from godojo.games.tag.sim.state import HIDER_MAY, SEEKER_MAY, TERMS
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import device_kernel
from godojo.kernels.random import randint, uniform
from godojo.kernels.rays import is_blocked

TRIED, BEST = 0, 1
DRAWS = 32
"""Places drawn for one body before a placing is given up."""
PROVEN_STREAM = np.uint64(1)
"""Random numbers with which an arena is checked for room, and which find it again."""
PLACINGS = 200
"""Placings drawn before an arena is taken to have no room."""


@device_kernel
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


@device_kernel
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


@device_kernel
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


@device_kernel
def find_places(n: Any, arena: Any, world: Any, places: np.ndarray) -> bool:
    """Keeps any placing with bodies apart; says whether there is one."""
    for _ in range(PLACINGS):
        if draw_places(n, arena, world, places):
            keep_places(n, places)
            return True
    return False


@device_kernel
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


@device_kernel
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


@device_kernel
def keep_places(n: Any, places: np.ndarray) -> None:
    for number in range(n.agents):
        for axis in range(3):
            places[number, BEST, axis] = places[number, TRIED, axis]


@device_kernel
def worth_of(n: Any, arena: Any, team: np.ndarray, places: np.ndarray) -> float:
    """Zero when opponents are apart, not too far, and hidden from each other; less the worse it is."""
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
            apart_m = math.sqrt(x * x + y * y + z * z)
            worth -= max(n.spawn_distance_m - apart_m, 0.0) * 10.0
            worth -= max(apart_m - n.spawn_farthest_m, 0.0)
            if not sight_is_blocked(arena, one, two, n.size_m * 0.5 + n.eye_m):
                worth -= 10.0
    return worth


@device_kernel
def sight_is_blocked(arena: Any, one: np.ndarray, two: np.ndarray, eye_m: float) -> bool:
    for box in range(arena.boxes):
        if is_blocked(arena, box, one[X], one[Y] + eye_m, one[Z], two[X], two[Y] + eye_m, two[Z]):
            return True
    return False


@device_kernel
def pick_place(arena: Any, world: Any, may: int, place: np.ndarray) -> None:
    """A random place in a spawn area that is for one of these roles; large areas are chosen more often."""
    whole = 0.0
    for area in range(arena.spawn_count):
        if arena.spawn_roles[area] & may:
            whole += float(arena.spawns[area, 3] * arena.spawns[area, 4]) + 1.0
    pick = uniform(world) * whole
    chosen = 0
    for area in range(arena.spawn_count):
        if arena.spawn_roles[area] & may:
            chosen = area
            pick -= float(arena.spawns[area, 3] * arena.spawns[area, 4]) + 1.0
            if pick <= 0.0:
                break
    place[X] = float(arena.spawns[chosen, 0]) + (uniform(world) - 0.5) * float(arena.spawns[chosen, 3])
    place[Y] = arena.spawns[chosen, 1]
    place[Z] = float(arena.spawns[chosen, 2]) + (uniform(world) - 0.5) * float(arena.spawns[chosen, 4])
