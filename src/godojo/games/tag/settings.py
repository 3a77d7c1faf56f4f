"""Tag's settings, typed and checked. Defaults and limits are JSON files beside the Godot game."""

import math
from typing import ClassVar, Literal

from godojo.errors import GodojoError
from godojo.games.settings import TICK_S, GameSettings, Section, flatten, ticks_in, whole_numbers

__all__ = ["TICK_S", "TagSettings", "flatten", "ticks_in", "whole_numbers"]

MAX_AGENTS = 8
MAX_RAYS = 256


class Rules(Section, frozen=True):
    """How a round is played."""

    mode: Literal["hide_and_seek", "classic"]
    seekers: int
    hiders: int
    players: int
    """In classic tag, where one of them is it."""
    round_s: float
    classic_round_s: float
    immunity_s: float
    """How long both parties of a classic tag can neither tag nor be tagged."""
    touch_reach_m: float
    """Gap between two bodies that still counts as a touch."""
    ticks_per_decision: int


class Body(Section, frozen=True):
    """The agents' bodies."""

    size_m: float


class Motion(Section, frozen=True):
    """How agents move. In classic tag, "it" moves like a seeker, the others like hiders."""

    seeker_speed_mps: float
    hider_speed_mps: float
    seeker_acceleration_mps2: float
    """On the ground, with a wish to move: how fast the velocity follows it, in any direction."""
    hider_acceleration_mps2: float
    air_acceleration_mps2: float
    deceleration_mps2: float
    """On the ground, without a wish to move."""
    turn_rate_radps: float
    gravity_mps2: float
    jump_speed_mps: float
    fall_speed_mps: float
    coyote_s: float
    """How long after leaving the ground a jump is still possible."""
    dead_zone: float
    """A wish shorter than this is no wish."""
    push_acceleration_mps2: float
    """How strongly overlapping bodies that cannot tag each other drift apart."""
    skin_m: float
    """Gap between a stopped body and the obstacle."""


class SightRow(Section, frozen=True):
    """A row of rays, spread evenly over the field of view."""

    elevation_deg: float
    columns: int


class Sight(Section, frozen=True):
    """The agents' eyes."""

    fov_deg: float
    range_m: float
    eye_height_m: float
    """Above the body's centre."""
    rows: tuple[SightRow, ...]


class Spawns(Section, frozen=True):
    """Where rounds begin."""

    distance_m: float
    """Wanted between opponents, at least."""
    farthest_m: float
    """Wanted between opponents, at most: large arenas leave time to find each other."""
    tries: int
    """Random placings looked at before the best one is taken."""


class RewardWeights(Section, frozen=True):
    """Weights of the terms of one role's reward, in the terms' order; a term is named before `_per_`."""

    distance_per_m: float
    """Per metre by which the nearest opponent got farther away."""
    time_per_decision: float
    tag: float
    """Per tag made (seeker) or suffered (hider)."""
    survival: float
    """Once, when the clock runs out."""


class Rewards(Section, frozen=True):
    """Reward weights of both roles."""

    seeker: RewardWeights
    hider: RewardWeights


class Shell(Section, frozen=True):
    """What all arenas share: floor, ceiling and outer walls."""

    wall_height_m: float
    """Visible height of the outer walls; scales heights in the observation."""
    collider_height_m: float
    thickness_m: float


class TagSettings(GameSettings, frozen=True):
    """All of them."""

    folder: ClassVar[str] = "games/tag"

    rules: Rules
    body: Body
    motion: Motion
    sight: Sight
    spawns: Spawns
    rewards: Rewards
    arena: Shell

    def check(self) -> None:
        super().check()
        if self.rules.seekers + self.rules.hiders > MAX_AGENTS:
            raise GodojoError(f"rules.hiders: there can be {MAX_AGENTS} agents in all")
        if abs(self.sight.eye_height_m) >= self.body.size_m / 2:
            raise GodojoError("sight.eye_height_m: the eye must be inside the body")
        if not 1 <= self.ray_count <= MAX_RAYS:
            raise GodojoError(f"sight.rows: there must be from 1 to {MAX_RAYS} rays")

    @property
    def agent_count(self) -> int:
        return self.rules.players if self.rules.mode == "classic" else self.rules.seekers + self.rules.hiders

    @property
    def ray_count(self) -> int:
        return sum(row.columns for row in self.sight.rows)

    @property
    def position_bound(self) -> float:
        """Bound of positions in the observation: x and z are within 1, y is scaled by the visible walls."""
        return float(math.ceil(max(self.arena.collider_height_m / self.arena.wall_height_m, 1.0)))

    @property
    def velocity_bound(self) -> float:
        """Bound of velocities in the observation, however agents jostle, rounded up so that JSON holds it exactly."""
        motion, others = self.motion, self.agent_count - 1
        # Pushing across a whole body gives a push its most; an agent that pushes may have been pushed itself.
        push_mps = others * math.sqrt(2.0 * motion.push_acceleration_mps2 * others * self.body.size_m)
        speeds = motion.seeker_speed_mps, motion.hider_speed_mps
        fall = motion.fall_speed_mps / max(motion.jump_speed_mps, 1.0)
        return float(math.ceil(max((max(speeds) + push_mps) / min(speeds), fall, 1.0)))

    @property
    def round_length_s(self) -> float:
        return self.rules.classic_round_s if self.rules.mode == "classic" else self.rules.round_s

    @property
    def round_ticks(self) -> int:
        return max(ticks_in(self.round_length_s), 1)
