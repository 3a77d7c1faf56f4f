"""Who plays tag, what they see and what they do: the same in every engine.

An agent acts with three numbers in [-1, 1]: `move_x` and `move_z` (where to go, along the arena's axes, wherever it
looks) and `jump` (above 0). It observes:

| part | numbers | what |
|---|---|---|
| position | 3 | x and z by half the arena's size, y by the outer walls' height |
| velocity | 3 | x and z by its own top speed, y by the jump's speed |
| forward | 2 | x and z of the direction it looks in |
| grounded | 1 | 1 when it stands on something |
| is_seeker | 1 | 1 for a seeker, and for whoever is it |
| is_hider | 1 | 1 for everybody else |
| immune | 1 | 1 while it can neither tag nor be tagged (classic) |
| time_left | 1 | share of the round that is left |
| rays | 2 each | distance by range, 1 where nothing is within it; then who was hit: hider 1, seeker -1, neither 0 |

Rays go row by row, each row from the left of the field of view to the right. Who has been caught observes zeros.
"""

from typing import NamedTuple

import numpy as np

from godojo.games.parts import ActionPart, Heading, ObservationPart, Role
from godojo.games.tag.settings import TagSettings

ACTION_SIZE = 3
ACTION_PARTS = (
    ActionPart("move_x", "continuous", 1),
    ActionPart("move_z", "continuous", 1),
    ActionPart("jump", "continuous", 1, rest=-1.0),
)
OWN_NUMBERS = 13
HEADING = Heading(forward=(6, 7), observed=((0, 2), (3, 5)), acted=((0, 1),))
"""Position, velocity and the wish to move are along the arena's axes; rays are around the agent's heading."""
NUMBERS_PER_RAY = 2
REWARD_TERMS: tuple[str, ...] = ("distance", "time", "tag", "survival")
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
    """The table above."""
    own = ("position", 3), ("velocity", 3), ("forward", 2)
    flags = ("grounded", "is_seeker", "is_hider", "immune", "time_left")
    return (
        *(ObservationPart(name, (size,), low=-2.0, high=2.0) for name, size in own),
        *(ObservationPart(name, (1,), low=0.0) for name in flags),
        ObservationPart("rays", (settings.ray_count, NUMBERS_PER_RAY)),
    )


def observation_size(settings: TagSettings) -> int:
    return OWN_NUMBERS + NUMBERS_PER_RAY * settings.ray_count


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
