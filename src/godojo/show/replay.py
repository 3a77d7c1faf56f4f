"""A round as it was played: where everybody was, what they did, what they saw and what it was worth to them.

`recording` makes replays, `replay_file` writes and reads them; this is what they are.
"""

import functools
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from godojo.formats import REPLAY
from godojo.games.tag.arenas import Arena
from godojo.games.tag.settings import TICK_S, TagSettings
from godojo.games.tag.spec import ray_directions

NOTHING, WALL, SEEKER, HIDER = 0, 1, 2, 3
"""What a ray may see."""


class ReplayRole(msgspec.Struct, frozen=True):
    """Whose agents are which."""

    name: str
    first: int
    """Index of its first agent."""
    agents: int
    player: str
    """Who played it: a run, a snapshot, a scripted opponent."""


class Header(msgspec.Struct, frozen=True):
    """What a round was played with: the first line of a replay's file."""

    game: str
    engine: str
    settings: TagSettings
    """The game's, in full."""
    arena: Arena
    roles: tuple[ReplayRole, ...]
    reward_terms: tuple[str, ...]
    seed: int
    episode: int
    """Its place among the rounds that were recorded together, from 0."""
    label: str = ""
    """What a person would call it: `final`, `after 10 s`."""
    ticks_per_second: int = 60
    ticks_per_decision: int = 4

    @property
    def agents(self) -> int:
        return sum(role.agents for role in self.roles)


class Outcome(msgspec.Struct, frozen=True):
    """How a round ended: the last line of a replay's file."""

    winner: str
    ticks: int
    """How long it was."""
    scores: tuple[float, ...]
    """Of every agent."""

    @property
    def seconds(self) -> float:
        return self.ticks * TICK_S


@dataclass(frozen=True)
class Moment:
    """How a round stood at a time between two frames. A agents, R rays."""

    seconds: float
    position_m: np.ndarray
    """float32 [A, 3]: centres of bodies."""
    velocity_mps: np.ndarray
    """float32 [A, 3]."""
    heading_rad: np.ndarray
    """float32 [A]: 0 looks along +z, a quarter turn along +x."""
    grounded: np.ndarray
    """bool [A]; likewise below."""
    active: np.ndarray
    """Still in the round."""
    chases: np.ndarray
    """A seeker, or it."""
    decision: int
    """The one that was under way; -1 where a replay has none."""
    action: np.ndarray
    """float32 [A, 3]: what everybody does."""
    sight_m: np.ndarray
    """float32 [A, R]: how far each ray reached when the decision was taken."""
    sight_kind: np.ndarray
    """uint8 [A, R]: what it met: NOTHING, WALL, SEEKER or HIDER."""
    sight_heading_rad: np.ndarray
    """float32 [A]: where everybody looked when the decision was taken; rays are around it."""


@dataclass(frozen=True)
class Replay:
    """A round. F frames (ticks on the twin, decisions in Godot), D decisions, A agents, T terms, R rays."""

    header: Header
    tick: np.ndarray
    """int32 [F]: when, in ticks from the start."""
    position_m: np.ndarray
    """float32 [F, A, 3]; likewise below, as in `Moment`."""
    velocity_mps: np.ndarray
    heading_rad: np.ndarray
    grounded: np.ndarray
    active: np.ndarray
    chases: np.ndarray
    decision_frame: np.ndarray
    """int32 [D]: the frame at which each decision was taken."""
    action: np.ndarray
    """float32 [D, A, 3]."""
    terms: np.ndarray
    """float32 [D, A, T]: what the decision was worth, by term."""
    sight_m: np.ndarray
    """float32 [D, A, R]: what eyes told when the decision was taken."""
    sight_kind: np.ndarray
    """uint8 [D, A, R]."""
    outcome: Outcome | None
    """None where the file ends before the round does."""

    @property
    def seconds(self) -> float:
        """From the start to the last frame."""
        return float(self.tick[-1]) * TICK_S

    @property
    def arena(self) -> Arena:
        return self.header.arena

    @property
    def settings(self) -> TagSettings:
        return self.header.settings

    @property
    def reward(self) -> np.ndarray:
        """float32 [D, A]."""
        total: np.ndarray = self.terms.sum(axis=2)
        return total

    @functools.cached_property
    def rays(self) -> np.ndarray:
        """float32 [3, R]: the rays' directions in a body's frame: +z ahead, +x to its left, +y up."""
        return ray_directions(self.settings)

    def at(self, seconds: float) -> Moment:
        """How it stood then; before the start and after the end, as at the start and at the end.

        Places follow a cubic curve through both frames with the speeds they have there, but never leave the box that
        the two span: whoever runs into a wall is not shown inside it.
        """
        at = min(max(seconds / TICK_S, 0.0), float(self.tick[-1]))
        left = int(np.clip(np.searchsorted(self.tick, at, side="right") - 1, 0, len(self.tick) - 1))
        right = min(left + 1, len(self.tick) - 1)
        wide = float(self.tick[right] - self.tick[left])
        share = (at - float(self.tick[left])) / wide if wide else 0.0
        near = left if share < 0.5 else right
        decision = int(np.searchsorted(self.decision_frame, left, side="right")) - 1
        agents, rays = self.header.agents, self.sight_m.shape[2]
        looked = int(self.decision_frame[decision]) if decision >= 0 else 0
        return Moment(
            seconds=at * TICK_S,
            position_m=self._between(left, right, share, wide * TICK_S),
            velocity_mps=self.velocity_mps[left] * (1 - share) + self.velocity_mps[right] * share,
            heading_rad=self._turned(left, right, share),
            grounded=self.grounded[near],
            active=self.active[left] if share < 1.0 else self.active[right],
            chases=self.chases[left] if share < 1.0 else self.chases[right],
            decision=decision,
            action=self.action[decision] if decision >= 0 else np.zeros((agents, 3), np.float32),
            sight_m=self.sight_m[decision] if decision >= 0 else np.zeros((agents, rays), np.float32),
            sight_kind=self.sight_kind[decision] if decision >= 0 else np.zeros((agents, rays), np.uint8),
            sight_heading_rad=self.heading_rad[looked],
        )

    def _between(self, left: int, right: int, share: float, seconds: float) -> np.ndarray:
        one, two = self.position_m[left], self.position_m[right]
        leave, arrive = self.velocity_mps[left] * seconds, self.velocity_mps[right] * seconds
        s2, s3 = share * share, share**3
        curve = (2 * s3 - 3 * s2 + 1) * one + (s3 - 2 * s2 + share) * leave
        curve = curve + (3 * s2 - 2 * s3) * two + (s3 - s2) * arrive
        kept: np.ndarray = np.clip(curve, np.minimum(one, two), np.maximum(one, two)).astype(np.float32)
        return kept

    def _turned(self, left: int, right: int, share: float) -> np.ndarray:
        turn = (self.heading_rad[right] - self.heading_rad[left] + np.pi) % (2 * np.pi) - np.pi
        turned: np.ndarray = (self.heading_rad[left] + share * turn).astype(np.float32)
        return turned

    def gap_m(self) -> np.ndarray:
        """float32 [F]: between the nearest opponents in play, edge to edge; infinite where there are none.

        Touching is judged axis by axis, so this is the largest distance along any axis, less a body.
        """
        away = np.abs(self.position_m[:, :, None] - self.position_m[:, None, :]).max(axis=-1)
        opposes = self.chases[:, :, None] != self.chases[:, None, :]
        # Who has just been caught still counts: that is the very moment of the touch.
        plays = np.concatenate([self.active[:1], self.active[:-1]]) | self.active
        away = np.where(opposes & plays[:, :, None] & plays[:, None, :], away, np.inf)
        nearest: np.ndarray = away.min(axis=(1, 2)) - self.settings.body.size_m
        return nearest

    def sees(self) -> np.ndarray:
        """bool [D, A]: whether an agent's eyes met an opponent when it took the decision."""
        chases = self.chases[self.decision_frame]
        wanted = np.where(chases, HIDER, SEEKER)[:, :, None]
        met: np.ndarray = (self.sight_kind == wanted).any(axis=2)
        return met


def header_dict(header: Header) -> dict[str, Any]:
    """As JSON has it, the format first."""
    return {"format": REPLAY.tag, **msgspec.to_builtins(header)}
