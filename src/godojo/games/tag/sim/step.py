"""The rules of tag as kernels: the same game as in Godot, for many worlds at once.

Each function is the twin of a script in `godot/games/tag`, and the order of things within a tick is the same there;
docs/games/tag-motion.md has the motion model in words. `n` is the record of settings, `team` all agents of one world.
"""

import math
from typing import Any

import numpy as np
from numba import prange

from godojo.games.tag.sim.rewards import TAG, add_distances, measure, settle
from godojo.games.tag.sim.rounds import begin_round
from godojo.games.tag.sim.sight import observe
from godojo.games.tag.sim.state import CHUNKS, TERMS, Tables
from godojo.kernels.bodies import X, Y, Z, find_near, free_m, wrapped
from godojo.kernels.compile import device_kernel, njit_parallel
from godojo.kernels.results import Results
from godojo.kernels.trigonometry import arc_tangent

TICK_S = 1.0 / 60.0
MAX_STEP_M = 1.0
NEAR_SLACK_M = 1.5
"""How far an agent may move before its list of near boxes is made again."""
NOBODY, SEEKERS, HIDERS = 0, 1, 2


@njit_parallel
def step_worlds(
    numbers: np.ndarray,
    actions: np.ndarray,
    catalogue: np.ndarray,
    arenas: np.ndarray,
    worlds: np.ndarray,
    agents: np.ndarray,
    tables: Tables,
    results: Results,
) -> None:
    """One decision in every world. A world whose round ends begins the next one within the same step."""
    per_chunk = (len(worlds) + CHUNKS - 1) // CHUNKS
    for chunk in prange(CHUNKS):
        for index in range(chunk * per_chunk, min((chunk + 1) * per_chunk, len(worlds))):
            step_world(
                numbers[0], actions, catalogue, arenas, index, worlds[index], agents[index], tables, chunk, results
            )


@njit_parallel
def begin_worlds(
    numbers: np.ndarray,
    catalogue: np.ndarray,
    arenas: np.ndarray,
    worlds: np.ndarray,
    agents: np.ndarray,
    tables: Tables,
    observation: np.ndarray,
) -> None:
    """Begins a round in every world."""
    per_chunk = (len(worlds) + CHUNKS - 1) // CHUNKS
    for chunk in prange(CHUNKS):
        for index in range(chunk * per_chunk, min((chunk + 1) * per_chunk, len(worlds))):
            begin_round(numbers[0], catalogue, arenas, index, worlds[index], agents[index], tables.places[chunk])
            measure(numbers[0], agents[index])
            observe_world(numbers[0], arenas[index], worlds[index], agents[index], index, tables, chunk, observation)


@njit_parallel
def observe_worlds(
    numbers: np.ndarray,
    arenas: np.ndarray,
    worlds: np.ndarray,
    agents: np.ndarray,
    tables: Tables,
    observation: np.ndarray,
) -> None:
    """Writes the observations of states that were set from outside."""
    per_chunk = (len(worlds) + CHUNKS - 1) // CHUNKS
    for chunk in prange(CHUNKS):
        for index in range(chunk * per_chunk, min((chunk + 1) * per_chunk, len(worlds))):
            observe_world(numbers[0], arenas[index], worlds[index], agents[index], index, tables, chunk, observation)


@device_kernel
def step_world(
    n: Any,
    actions: np.ndarray,
    catalogue: np.ndarray,
    arenas: np.ndarray,
    index: int,
    world: Any,
    team: np.ndarray,
    tables: Tables,
    chunk: int,
    results: Results,
) -> None:
    """One decision: actions are set, a few ticks pass, rewards are settled; after a round the next one begins."""
    arena = arenas[index]
    for number in range(n.agents):
        decide(team[number], actions[row_of(tables, index, number)])
    is_over = False
    is_decided = False
    for _ in range(n.ticks_per_decision):
        was_tag = tick(n, arena, world, team)
        is_decided = was_tag and n.classic == 0 and nobody_hides(n, team)
        is_over = is_decided or world.ticks >= n.round_ticks
        if is_over:
            break
    settle(n, team, is_over and not is_decided)
    if not n.classic:
        for number in range(n.seekers, n.agents):
            if team[number].active:
                team[number].score = np.float32(world.ticks * TICK_S)  # a hider's is the time it has lasted
    world.decisions += 1
    is_cut_short = not is_over and n.truncate_after > 0 and world.decisions >= n.truncate_after
    for number in range(n.agents):
        report_agent(team[number], results, row_of(tables, index, number), is_over, is_cut_short)
    results.ended[index] = is_over or is_cut_short
    if is_over or is_cut_short:
        results.winner[index] = NOBODY if n.classic or is_cut_short else (SEEKERS if is_decided else HIDERS)
        results.length_ticks[index] = world.ticks
        results.arena[index] = arena.number
        observe_world(n, arena, world, team, index, tables, chunk, results.final_observation)
        begin_round(n, catalogue, arenas, index, world, team, tables.places[chunk])
        measure(n, team)
    else:
        for number in range(n.agents):
            row = row_of(tables, index, number)
            if results.terminated[row]:  # caught alone, while the others play on
                observe(n, arena, world, team, number, tables, chunk, results.final_observation[row])
    observe_world(n, arena, world, team, index, tables, chunk, results.observation)


@device_kernel
def row_of(tables: Tables, index: int, number: int) -> int:
    """Where results of agent `number` of world `index` belong."""
    return int(tables.rows[number, 0] + index * tables.rows[number, 1])


@device_kernel
def observe_world(
    n: Any, arena: Any, world: Any, team: np.ndarray, index: int, tables: Tables, chunk: int, observation: np.ndarray
) -> None:
    for number in range(n.agents):
        observe(n, arena, world, team, number, tables, chunk, observation[row_of(tables, index, number)])


@device_kernel
def decide(agent: Any, action: np.ndarray) -> None:
    """What the agent wants until the next decision."""
    x = min(max(action[0], np.float32(-1.0)), np.float32(1.0))
    z = min(max(action[1], np.float32(-1.0)), np.float32(1.0))
    length = np.float32(math.sqrt(x * x + z * z))
    if length > np.float32(1.0):
        x /= length
        z /= length
    agent.wish[0] = x
    agent.wish[1] = z
    agent.wish_length = math.sqrt(x * x + z * z)
    agent.wish_heading = arc_tangent(x, z)
    agent.jump = action[2] > 0.0
    agent.acts = agent.active


@device_kernel
def tick(n: Any, arena: Any, world: Any, team: np.ndarray) -> bool:
    """A sixtieth of a second: all agents move, then touches count, then clocks. Returns whether there was a tag."""
    world.ticks += 1
    is_crowd = n.agents > 2 or n.classic != 0
    if is_crowd:
        for number in range(n.agents):
            for axis in range(3):
                team[number].before[axis] = team[number].position[axis]
    for number in range(n.agents):
        agent = team[number]
        if agent.active:
            steer(n, agent)
            if is_crowd:
                push_apart(n, team, number)
            jump(n, agent)
            move(n, arena, agent)
    was_tag = find_tags(n, world, team)
    if n.classic:
        for number in range(n.agents):
            agent = team[number]
            agent.immune = max(agent.immune - 1, 0)
            if not agent.chases:
                agent.score += np.float32(TICK_S)
    return was_tag


@device_kernel
def top_speed(n: Any, agent: Any) -> float:
    return float(n.seeker_speed if agent.chases else n.hider_speed)


@device_kernel
def steer(n: Any, agent: Any) -> None:
    """Speed and heading follow the wish, each at its own rate."""
    is_wished = agent.wish_length >= n.dead_zone
    step = n.air_step
    if agent.grounded and is_wished:
        step = n.seeker_step if agent.chases else n.hider_step
    elif agent.grounded:
        step = n.brake_step
    speed = top_speed(n, agent) if is_wished else 0.0
    target_x = np.float32(agent.wish[0] * np.float32(speed))
    target_z = np.float32(agent.wish[1] * np.float32(speed))
    lack_x = np.float32(target_x - agent.velocity[X])
    lack_z = np.float32(target_z - agent.velocity[Z])
    lack = np.float32(math.sqrt(np.float32(lack_x * lack_x) + np.float32(lack_z * lack_z)))
    delta = np.float32(step)
    if lack <= delta or lack < np.float32(1e-5):
        agent.velocity[X] = target_x
        agent.velocity[Z] = target_z
    else:
        agent.velocity[X] += np.float32(np.float32(lack_x / lack) * delta)
        agent.velocity[Z] += np.float32(np.float32(lack_z / lack) * delta)
    if is_wished:
        turn = wrapped(agent.wish_heading - agent.heading)
        agent.heading = wrapped(agent.heading + min(max(turn, -n.turn_step), n.turn_step))


@device_kernel
def push_apart(n: Any, team: np.ndarray, number: int) -> None:
    """Overlapping bodies that cannot tag each other drift apart."""
    agent = team[number]
    size = np.float32(n.size_m)
    push_x = np.float32(0.0)
    push_z = np.float32(0.0)
    for other_number in range(n.agents):
        other = team[other_number]
        if other_number == number or not other.active or can_tag(agent, other) or can_tag(other, agent):
            continue
        away_x = np.float32(agent.before[X] - other.before[X])
        away_z = np.float32(agent.before[Z] - other.before[Z])
        overlap_x = size - abs(away_x)
        overlap_y = size - abs(agent.before[Y] - other.before[Y])
        overlap_z = size - abs(away_z)
        if min(overlap_x, overlap_y, overlap_z) <= 0.0:
            continue
        distance = np.float32(math.sqrt(np.float32(away_x * away_x) + np.float32(away_z * away_z)))
        way_x = np.float32(1.0) if number > other_number else np.float32(-1.0)
        way_z = np.float32(0.0)
        if distance > 0.0:
            way_x = np.float32(away_x / distance)
            way_z = np.float32(away_z / distance)
        strength = np.float32(n.push_step)
        depth = np.float32(min(overlap_x, overlap_z))
        push_x += np.float32(np.float32(np.float32(way_x * strength) * depth) / size)
        push_z += np.float32(np.float32(np.float32(way_z * strength) * depth) / size)
    agent.velocity[X] += push_x
    agent.velocity[Z] += push_z


@device_kernel
def jump(n: Any, agent: Any) -> None:
    """Possible on the ground, and for a moment after leaving it."""
    agent.coyote = n.coyote_ticks if agent.grounded else max(agent.coyote - 1, 0)
    if agent.jump and (agent.grounded or agent.coyote > 0):
        agent.velocity[Y] = n.jump_speed
        agent.coyote = 0
        agent.grounded = 0


@device_kernel
def move(n: Any, arena: Any, agent: Any) -> None:
    """One axis after the other, as far as nothing is in the way; height follows an exact parabola."""
    speed_y = agent.velocity[Y]
    next_y = max(speed_y - n.gravity * TICK_S, -n.fall_speed)
    tick_s = np.float32(TICK_S)
    motion_x = agent.velocity[X] * tick_s
    motion_y = float(np.float32((speed_y + next_y) * 0.5) * tick_s)
    motion_z = agent.velocity[Z] * tick_s
    agent.near_slack_m -= max(abs(motion_x), abs(motion_y), abs(motion_z))
    if agent.near_slack_m < 0.0:
        reach = n.half_m + 2.0 * n.skin_m + max(abs(motion_x), abs(motion_y), abs(motion_z)) + NEAR_SLACK_M
        agent.near_count = find_near(arena, agent.position, reach, agent.near)
        agent.near_slack_m = NEAR_SLACK_M
    if advance(n, arena, agent, X, motion_x):
        agent.velocity[X] = 0.0
    if advance(n, arena, agent, Z, motion_z):
        agent.velocity[Z] = 0.0
    agent.velocity[Y] = next_y
    agent.grounded = 0
    if advance(n, arena, agent, Y, motion_y):
        agent.velocity[Y] = 0.0
        agent.grounded = motion_y < 0.0


@device_kernel
def advance(n: Any, arena: Any, agent: Any, axis: int, motion: float) -> bool:
    """Moves along one axis; says whether something was in the way."""
    distance = np.float32(min(max(motion, -MAX_STEP_M), MAX_STEP_M))
    if distance == 0.0:
        return False
    free = free_m(arena, agent.near, agent.near_count, agent.position, axis, float(distance), n.half_m, n.skin_m)
    agent.position[axis] += free if distance > 0.0 else -free
    return bool(free < abs(distance))


@device_kernel
def can_tag(chaser: Any, other: Any) -> bool:
    is_open = chaser.immune == 0 and other.immune == 0 and chaser.active != 0 and other.active != 0
    return bool(is_open and chaser.chases != 0 and other.chases == 0)


@device_kernel
def touch(n: Any, one: Any, other: Any) -> bool:
    for axis in range(3):
        if abs(one.position[axis] - other.position[axis]) > n.touch_m:
            return False
    return True


@device_kernel
def find_tags(n: Any, world: Any, team: np.ndarray) -> bool:
    """A touch counts: in hide and seek the hider is out, in classic tag the two change sides, immune for a while."""
    was_tag = False
    for chaser_number in range(n.agents):
        for number in range(n.agents):
            chaser = team[chaser_number]
            caught = team[number]
            if not (can_tag(chaser, caught) and touch(n, chaser, caught)):
                continue
            add_distances(n, team)
            chaser.terms[TAG] += n.weights[1, TAG]
            caught.terms[TAG] += n.weights[0, TAG]
            if n.classic:
                chaser.chases = 0
                caught.chases = 1
                chaser.immune = n.immunity_ticks + 1
                caught.immune = n.immunity_ticks + 1
            else:
                chaser.score += 1.0
                caught.score = np.float32(world.ticks * TICK_S)
                caught.active = 0
            was_tag = True
            measure(n, team)
    return was_tag


@device_kernel
def nobody_hides(n: Any, team: np.ndarray) -> bool:
    for number in range(n.agents):
        if team[number].active and not team[number].chases:
            return False
    return True


@device_kernel
def report_agent(agent: Any, results: Results, row: int, is_over: bool, is_cut_short: bool) -> None:
    """An agent's round terminates when it is caught or the round is over; when cut short, it is truncated instead."""
    reward = np.float32(0.0)
    for term in range(TERMS):
        reward += agent.terms[term]
        results.terms[row, term] = agent.terms[term]
        agent.round_terms[term] += agent.terms[term]
        agent.terms[term] = 0.0
    acts = agent.acts != 0
    results.reward[row] = reward
    results.acted[row] = acts
    results.terminated[row] = acts and (is_over or agent.active == 0)
    results.truncated[row] = acts and is_cut_short and agent.active != 0
    if is_over or is_cut_short:
        results.final_score[row] = agent.score
        for term in range(TERMS):
            results.final_terms[row, term] = agent.round_terms[term]
