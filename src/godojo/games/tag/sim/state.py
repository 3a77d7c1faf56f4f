"""The memory of the embedded game: records and arrays, allocated once, that kernels read and write."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from godojo.games.tag.arenas import MAX_BOXES, MAX_SPAWNS, Arena
from godojo.games.tag.settings import TICK_S, TagSettings, ticks_in
from godojo.games.tag.spec import ACTION_SIZE, REWARD_TERMS, Privileged, observation_size, ray_directions, roles
from godojo.kernels.rays import inverse_scratch
from godojo.kernels.results import Results, aligned_zeros, new_results, record_of, record_type

SEEKER_MAY, HIDER_MAY = 1, 2
"""Bits of who may start in a spawn area."""
CHUNKS = 64
"""Worlds are divided into this many pieces, whatever the number of threads."""
TERMS = len(REWARD_TERMS)

AGENT = np.dtype(
    [
        ("position", "f4", 3),
        ("velocity", "f4", 3),
        ("before", "f4", 3),  # position at the end of the last tick
        ("wish", "f4", 2),
        ("wish_length", "f4"),
        ("wish_heading", "f8"),
        ("heading", "f8"),
        ("nearest_m", "f4"),  # distance to the nearest opponent when last measured; -1 for none
        ("score", "f4"),
        ("terms", "f4", TERMS),  # of the decision under way
        ("round_terms", "f4", TERMS),
        ("near", "i4", MAX_BOXES),  # boxes that matter while it moves no farther than `near_slack_m`
        ("near_count", "i4"),
        ("near_slack_m", "f4"),
        ("coyote", "i4"),  # ticks in which a jump is still possible
        ("immune", "i4"),  # ticks left
        ("grounded", "u1"),
        ("active", "u1"),
        ("chases", "u1"),  # a seeker, or it
        ("jump", "u1"),
        ("acts", "u1"),  # took part when the decision began
    ],
    align=True,
)
ARENA = np.dtype(
    [
        ("low", "f4", (3, MAX_BOXES)),
        ("high", "f4", (3, MAX_BOXES)),
        ("room_low", "f4", 3),
        ("room_high", "f4", 3),
        ("size_m", "f4", 2),
        ("spawns", "f4", (MAX_SPAWNS, 5)),  # x, y, z, size along x, size along z
        ("spawn_roles", "u1", MAX_SPAWNS),
        ("spawn_count", "i4"),
        ("boxes", "i4"),
        ("number", "i4"),  # place in the catalogue, or -1 for one that was made for the round
    ],
    align=True,
)
WORLD = np.dtype([("stream", "u8"), ("ticks", "i4"), ("decisions", "i4")], align=True)


class Tables(NamedTuple):
    """Constants, and a piece of scratch space for each chunk of worlds."""

    rows: np.ndarray
    """First row and stride of each agent index: `row = rows[agent, 0] + world * rows[agent, 1]`."""
    directions: np.ndarray
    inverse: np.ndarray
    nearest: np.ndarray
    hits: np.ndarray
    visible: np.ndarray
    chosen: np.ndarray
    places: np.ndarray
    """Of each agent: where it would start, and where the best placing so far puts it."""


def _values(
    settings: TagSettings,
    worlds: int,
    generated_share: float = 0.0,
    truncate_after: int = 0,
    arenas: int = 0,
    pool: int = 0,
) -> dict[str, Any]:
    rules, motion, sight = settings.rules, settings.motion, settings.sight
    weights = [msgspec.structs.astuple(side) for side in (settings.rewards.hider, settings.rewards.seeker)]
    return {
        "worlds": worlds,
        "agents": settings.agent_count,
        "seekers": 0 if rules.mode == "classic" else rules.seekers,  # agents before this index start as seekers
        "classic": int(rules.mode == "classic"),
        "is_wide": int(sight.fov_deg > 175.0),  # whether the field of view is more than half a turn
        "fov_sine": np.float32(math.sin(math.radians(sight.fov_deg / 2))),  # of half the field of view
        "fov_cosine": np.float32(math.cos(math.radians(sight.fov_deg / 2))),
        "round_ticks": settings.round_ticks,
        "immunity_ticks": ticks_in(rules.immunity_s),
        "coyote_ticks": ticks_in(motion.coyote_s),
        "ticks_per_decision": rules.ticks_per_decision,
        "truncate_after": truncate_after,  # decisions after which a round is cut short; 0 for never
        "spawn_tries": settings.spawns.tries,
        "touch_m": settings.body.size_m + rules.touch_reach_m,
        "size_m": settings.body.size_m,
        "half_m": np.float32(settings.body.size_m / 2),
        "skin_m": motion.skin_m,
        "seeker_speed": motion.seeker_speed_mps,
        "hider_speed": motion.hider_speed_mps,
        "seeker_step": motion.seeker_acceleration_mps2 * TICK_S,  # change of speed in a tick; likewise below
        "hider_step": motion.hider_acceleration_mps2 * TICK_S,
        "air_step": motion.air_acceleration_mps2 * TICK_S,
        "brake_step": motion.deceleration_mps2 * TICK_S,
        "turn_step": motion.turn_rate_radps * TICK_S,
        "push_step": motion.push_acceleration_mps2 * TICK_S,
        "gravity": motion.gravity_mps2,
        "jump_speed": motion.jump_speed_mps,
        "fall_speed": motion.fall_speed_mps,
        "dead_zone": motion.dead_zone,
        "range_m": np.float32(sight.range_m),
        "eye_m": np.float32(sight.eye_height_m),
        "spawn_distance_m": settings.spawns.distance_m,
        "spawn_farthest_m": settings.spawns.farthest_m,
        "per_wall_height": np.float32(1 / settings.arena.wall_height_m),  # scales of the observation
        "per_jump_speed": np.float32(1 / max(motion.jump_speed_mps, 1.0)),
        "per_seeker_speed": np.float32(1 / motion.seeker_speed_mps),
        "per_hider_speed": np.float32(1 / motion.hider_speed_mps),
        "per_range": np.float32(1 / sight.range_m),
        "per_round_tick": np.float32(TICK_S / settings.round_length_s),
        "top_m": settings.arena.collider_height_m,
        "generated_share": generated_share,  # of all rounds, how many are played in an arena made for them
        "numbered": arenas or (0 if pool else 1),  # records of the catalogue that other rounds are played in
        "pool": pool,  # records behind them, one of which is taken instead of a generated arena; 0: none
        "weights": np.array(weights, np.float32),  # of the reward's terms: hider, seeker
    }


NUMBERS = record_type(_values(TagSettings.defaults(), 1))


def numbers(settings: TagSettings, *asked: Any) -> np.ndarray:
    """The settings as kernels read them: an array of one record."""
    return record_of(NUMBERS, _values(settings, *asked))


def catalogue(arenas: Sequence[Arena], settings: TagSettings, numbered: int | None = None) -> np.ndarray:
    """The arenas that rounds may be played in, as records; those behind the `numbered` first have no number."""
    table = np.zeros(max(len(arenas), 1), ARENA)
    table["low"] = table["high"] = 1e6
    for index, arena in enumerate(arenas):
        record = table[index]
        wide, deep = arena.size_m
        record["number"] = index if numbered is None or index < numbered else -1
        record["boxes"] = len(arena.boxes)
        record["size_m"] = arena.size_m
        record["room_low"] = (-wide / 2, 0, -deep / 2)
        record["room_high"] = (wide / 2, settings.arena.collider_height_m, deep / 2)
        record["spawn_count"] = len(arena.spawns)
        for place, box in enumerate(arena.boxes):
            record["low"][:, place] = box.low
            record["high"][:, place] = box.high
        for place, area in enumerate(arena.spawns):
            record["spawns"][place] = (*area.position_m, *area.size_m)
            bits = SEEKER_MAY * ("seeker" in area.roles) | HIDER_MAY * ("hider" in area.roles)
            record["spawn_roles"][place] = bits
    return table


def privileged(agents: np.ndarray, arena_slots: np.ndarray, settings: TagSettings) -> Privileged:
    """The true state that these records hold."""
    return Privileged(
        position_m=agents["position"],
        velocity_mps=agents["velocity"],
        heading_rad=agents["heading"],
        grounded=agents["grounded"],
        active=agents["active"],
        chases=agents["chases"],
        box_low_m=arena_slots["low"],
        box_high_m=arena_slots["high"],
        box_count=arena_slots["boxes"],
        size_m=arena_slots["size_m"],
        first_agent={role.name: role.first for role in roles(settings)},
    )


def results(settings: TagSettings, worlds: int) -> Results:
    return new_results(worlds, settings.agent_count, observation_size(settings), TERMS)


def actions(settings: TagSettings, worlds: int) -> np.ndarray:
    return np.zeros((worlds * settings.agent_count, ACTION_SIZE), np.float32)


def tables(settings: TagSettings, worlds: int, chunks: int = CHUNKS) -> Tables:
    directions, agents = ray_directions(settings), settings.agent_count
    rays = directions.shape[1]
    rows = np.zeros((agents, 2), np.int64)
    for role in roles(settings):
        for place in range(role.agents):
            rows[role.first + place] = (role.first * worlds + place, role.agents)
    return Tables(
        rows=rows,
        directions=directions,
        inverse=inverse_scratch(directions, chunks),
        nearest=aligned_zeros(chunks, rays),
        hits=aligned_zeros(chunks, rays),
        visible=np.zeros((chunks, MAX_BOXES), np.uint8),
        chosen=np.zeros((chunks, MAX_BOXES), np.int32),
        places=np.zeros((chunks, agents, 2, 3), np.float64),
    )
