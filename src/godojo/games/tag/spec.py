"""Roles, observation, action and reward terms of tag: the same in every engine.

An agent acts with three numbers in [-1, 1]: `move_x` and `move_z` (a direction along the arena's axes, whatever the
heading) and `jump` (jumps above 0). `godot/games/tag/observation.json` declares the observation and docs/games/tag.md
explains each part. A caught agent observes zeros.
"""

from typing import NamedTuple

import numpy as np

from godojo.games.parts import ActionPart, ObservationLayout, ObservationPart, Role
from godojo.games.tag.settings import RewardWeights, TagSettings

ACTION_SIZE = 3
ACTION_PARTS = (
    ActionPart("move_x", "continuous", 1),
    ActionPart("move_z", "continuous", 1),
    ActionPart("jump", "continuous", 1, rest=-1.0),
)
LAYOUT = ObservationLayout.read(TagSettings.folder)
RAY_DISTANCE, RAY_HIT = 0, 1
"""The numbers of a ray: distance by range (1 where nothing is within it); hider 1, seeker -1, wall or nothing 0."""
HEADING = LAYOUT.heading(acted=((0, 1),))
REWARD_TERMS = tuple(weight.partition("_per_")[0] for weight in RewardWeights.__struct_fields__)
WINNERS: tuple[str, ...] = ("nobody", "seeker", "hider")


class Privileged(NamedTuple):
    """The true state of N worlds: all agents in the order of their index, up to B boxes. Views, not copies."""

    position_m: np.ndarray
    """float32 [N, agents, 3]: centres of bodies."""
    velocity_mps: np.ndarray
    """float32 [N, agents, 3]."""
    heading_rad: np.ndarray
    """float64 [N, agents]."""
    grounded: np.ndarray
    """uint8 [N, agents]."""
    active: np.ndarray
    """uint8 [N, agents]: still in the round."""
    chases: np.ndarray
    """uint8 [N, agents]: a seeker, or it."""
    box_low_m: np.ndarray
    """float32 [N, 3, B]."""
    box_high_m: np.ndarray
    """float32 [N, 3, B]."""
    box_count: np.ndarray
    """int32 [N]."""
    size_m: np.ndarray
    """float32 [N, 2]: the arena along x and z."""
    first_agent: dict[str, int]
    """Index of each role's first agent."""


def roles(settings: TagSettings) -> tuple[Role, ...]:
    """In the order of the agents' indices."""
    rules = settings.rules
    parts = observation_parts(settings), ACTION_PARTS
    if rules.mode == "classic":
        return (Role("player", 0, rules.players, *parts, HEADING),)
    return (
        Role("seeker", 0, rules.seekers, *parts, HEADING),
        Role("hider", rules.seekers, rules.hiders, *parts, HEADING),
    )


def observation_parts(settings: TagSettings) -> tuple[ObservationPart, ...]:
    return LAYOUT.parts(settings)


def observation_size(settings: TagSettings) -> int:
    return LAYOUT.size(settings)


def ray_directions(settings: TagSettings) -> np.ndarray:
    """Unit vectors as rows x, y, z, in a body's frame: +z ahead, +x to its left, +y up."""
    fov = np.radians(settings.sight.fov_deg)
    found = []
    for row in settings.sight.rows:
        up = np.radians(row.elevation_deg)
        for column in range(row.columns):
            share = 0.5 if row.columns == 1 else column / (row.columns - 1)
            side = fov * (0.5 - share)
            found.append((np.sin(side) * np.cos(up), np.sin(up), np.cos(side) * np.cos(up)))
    return np.ascontiguousarray(np.array(found, dtype=np.float32).T)
