"""Replays: a recorded round of any game, and what a game declares so that its rounds can be recorded and drawn.

`recording` makes replays, `replay_file` writes and reads them.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np

from godojo.games.base import GAMES, game_named

NOTHING, WALL, FIRST_TEAM = 0, 1, 2
"""Kinds of what a ray meets; an agent of team T is `FIRST_TEAM + T`."""

Metres = Annotated[float, msgspec.Meta(gt=-1e6, lt=1e6)]
Length = Annotated[float, msgspec.Meta(ge=0, lt=1e6)]
Point = tuple[Metres, Metres, Metres]


class Team(msgspec.Struct, frozen=True):
    """Agents that are drawn alike and do not oppose each other."""

    name: str
    colour: Annotated[str, msgspec.Meta(pattern=r"\A#[0-9a-f]{6}\Z")]


class LayoutBox(msgspec.Struct, frozen=True):
    """A solid box; `position_m` is its centre."""

    position_m: Point
    size_m: tuple[Length, Length, Length]
    kind: str


class Mark(msgspec.Struct, frozen=True):
    """A place on the ground, such as a goal."""

    position_m: Point
    radius_m: Length
    kind: str


class Layout(msgspec.Struct, frozen=True):
    """An arena as it is drawn. y points up."""

    size_m: tuple[Length, Length]
    """Along x and z."""
    body_m: Length
    """Edge of an agent's cube."""
    eye_height_m: Metres
    """Of the rays' origin, above a body's centre."""
    wall_height_m: Length = 0.0
    """Of the outer walls; 0 for none."""
    boxes: tuple[LayoutBox, ...] = ()
    marks: tuple[Mark, ...] = ()
    centre_m: tuple[Metres, Metres] = (0.0, 0.0)
    """x and z of the middle."""
    has_floor: bool = True
    """Whether the ground is a floor of this size at y = 0; otherwise agents stand on boxes."""

    def solids(self, curb_m: float = 0.5, thick_m: float = 0.4) -> "list[LayoutBox]":
        """Floor, outer walls and boxes; outer walls are cut to `curb_m`, so that one sees over them."""
        (wide, deep), (x, z) = self.size_m, self.centre_m
        found = [LayoutBox((x, -0.1, z), (wide, 0.2, deep), "floor")] if self.has_floor else []
        for sign in (-1, 1) if self.wall_height_m > 0 else ():
            at, tall = (curb_m - 0.2) / 2, curb_m + 0.2
            across = (x, at, z + sign * (deep + thick_m) / 2), (wide + 2 * thick_m, tall, thick_m)
            along = (x + sign * (wide + thick_m) / 2, at, z), (thick_m, tall, deep)
            found += [LayoutBox(*across, "wall"), LayoutBox(*along, "wall")]
        return [*found, *self.boxes]


class ReplayRole(msgspec.Struct, frozen=True):
    """The agents of a role."""

    name: str
    first: int
    """Index of its first agent."""
    agents: int
    player: str
    """Who plays it: a run, a snapshot, a scripted opponent."""


class Header(msgspec.Struct, frozen=True):
    """The conditions of a round: the first line of a replay's file."""

    game: str
    engine: str
    settings: Any
    """The game's, complete: a `godojo.games.base.GAMES[game].settings`."""
    arena: dict[str, Any]
    """The game's own description, as plain JSON values."""
    layout: Layout
    roles: tuple[ReplayRole, ...]
    teams: tuple[Team, ...]
    reward_terms: tuple[str, ...]
    seed: int
    episode: int
    """Index among the rounds that were recorded together, from 0."""
    label: str = ""
    """For people: `final`, `after 10 s`."""
    ticks_per_second: int = 60
    ticks_per_decision: int = 4
    round_s: float = 0.0
    """The longest that a round can be; 0 where there is no limit."""

    @property
    def agents(self) -> int:
        return sum(role.agents for role in self.roles)

    @property
    def arena_title(self) -> str:
        return str(self.arena.get("title") or self.arena.get("name") or self.game)

    @property
    def spec(self) -> "ReplaySpec":
        return replay_spec(self.game)


class Outcome(msgspec.Struct, frozen=True):
    """How a round ended: the last line of a replay's file."""

    winner: str
    ticks: int
    """Length of the round."""
    scores: tuple[float, ...]
    """Of every agent."""
    ticks_per_second: int = 60

    @property
    def seconds(self) -> float:
        return self.ticks / self.ticks_per_second


class States(NamedTuple):
    """Agents at one time, or at several: every array has the same leading axes, then A agents."""

    position_m: np.ndarray
    """float32 [..., A, 3]: centres of bodies."""
    velocity_mps: np.ndarray
    """float32 [..., A, 3]."""
    heading_rad: np.ndarray
    """float32 [..., A]: 0 looks along +z, a quarter turn along +x."""
    grounded: np.ndarray
    """bool [..., A]."""
    active: np.ndarray
    """bool [..., A]: still in the round."""
    team: np.ndarray
    """uint8 [..., A]: index into the header's `teams`."""

    @classmethod
    def zeros(cls, *shape: int) -> "States":
        position_m, velocity_mps = (np.zeros((*shape, 3), np.float32) for _ in range(2))
        grounded, active = (np.zeros(shape, bool) for _ in range(2))
        return cls(position_m, velocity_mps, np.zeros(shape, np.float32), grounded, active, np.zeros(shape, np.uint8))

    def at(self, index: Any) -> "States":
        """The same at an index of the leading axes."""
        return States(*(array[index] for array in self))


Observations = Mapping[str, np.ndarray]
"""By role: float32 [N, agents of the role, size]."""


@dataclass(frozen=True)
class ReplaySpec:
    """How rounds of a game are recorded and drawn; a game offers one as `Game.replay`."""

    teams: tuple[Team, ...]
    layout: Callable[[Any, Any], Layout]
    """From settings and an arena (the game's object, or its plain JSON values); GodojoError where it is invalid."""
    read_states: Callable[[Any, Layout, Observations, States | None, np.ndarray], States]
    """From settings, layout, observations of N worlds, the states before (None at the start of rounds) and the ticks
    since, int [N]: states [N, A]. Used where only observations are known, as in Godot."""
    rays: Callable[[Any], np.ndarray] = lambda _: np.zeros((3, 0), np.float32)
    """From settings: directions, float32 [3, R], in a body's frame: +z ahead, +x to its left, +y up."""
    read_sight: Callable[[Any, Observations], tuple[np.ndarray, np.ndarray]] | None = None
    """From settings and observations: distances in metres and kinds, both [N, A, R]."""
    round_s: Callable[[Any], float] = lambda _: 0.0
    """From settings: the longest that a round can be."""
    now: Callable[[Any], States] | None = None
    """From the twin: states [N, A]."""
    trace: Callable[[Any], tuple[States, np.ndarray]] | None = None
    """From the twin, with its actions set: states [N, T, A] after every tick of the coming decision, and how many of
    its T ticks are played, int [N]. The twin stays as it is."""
    scores: "Callable[[Replay], np.ndarray] | None" = None
    """From a replay: every agent's score so far, float32 [F, A], where agents of one role play against each other."""
    layout_now: Callable[[Any, int], Layout] | None = None
    """From the twin and the index of a world: the layout of its round; for games with several arenas."""
    highlights: "Callable[[Replay], Sequence[Highlight]] | None" = None
    """Moments of a round that are worth showing."""
    mode: Callable[[Any], str] = lambda _: ""
    """From settings: the mode that is played, in words, for a game that has several."""
    marks: Callable[[Any, Any, Observations], tuple[Mark, ...]] | None = None
    """From settings, an arena and the observations of a round's decisions: the marks of this round, in their order,
    where they are not those of the layout."""
    tracks: "Callable[[Replay], Mapping[str, np.ndarray]] | None" = None
    """From a replay: further numbers of every frame by name, float32 [F, A], for maps and the game's own film scene.
    The first is a rating from 0 to 1 that colours paths; where `collisions` grows, maps have a cross."""
    warn_below: Callable[[Any], float] = lambda _: 0.0
    """From settings: below this, the rating is a bad one."""
    cameras: tuple[str, ...] = ()
    """Of the game's own film scene (`Game.film_scene`), the usual one first."""
    endings: Mapping[str, str] = field(default_factory=dict)
    """In words, by winner: how a round ended."""


def can_replay(game: str) -> bool:
    """Whether there is such a game, and it offers a spec."""
    return game in GAMES and GAMES[game].replay is not None


def replay_spec(game: str, verb: str = "replay") -> ReplaySpec:
    """What the game offers; GodojoError where it offers nothing, or there is no such game."""
    spec: ReplaySpec = game_named(game).require("replay", verb)()
    return spec


@dataclass(frozen=True)
class Moment:
    """A round at a time between two frames. A agents, R rays; arrays as in `States` and `Replay`."""

    seconds: float
    position_m: np.ndarray
    velocity_mps: np.ndarray
    heading_rad: np.ndarray
    grounded: np.ndarray
    active: np.ndarray
    team: np.ndarray
    decision: int
    """The one under way; -1 where a replay has none."""
    action: np.ndarray
    """float32 [A, action size]."""
    sight_m: np.ndarray
    """float32 [A, R]: distances of the rays when the decision was taken."""
    sight_kind: np.ndarray
    """uint8 [A, R]: what they met."""
    sight_heading_rad: np.ndarray
    """float32 [A]: headings when the decision was taken; rays are around them."""


@dataclass(frozen=True)
class Replay:
    """A round. F frames (ticks on the twin, decisions in Godot), D decisions, A agents, T terms, R rays."""

    header: Header
    tick: np.ndarray
    """int32 [F]: ticks since the start."""
    position_m: np.ndarray
    """float32 [F, A, 3]; likewise below, as in `States`."""
    velocity_mps: np.ndarray
    heading_rad: np.ndarray
    grounded: np.ndarray
    active: np.ndarray
    team: np.ndarray
    decision_frame: np.ndarray
    """int32 [D]: the frame at which each decision was taken."""
    action: np.ndarray
    """float32 [D, A, action size]."""
    terms: np.ndarray
    """float32 [D, A, T]: the decision's reward, by term."""
    sight_m: np.ndarray
    """float32 [D, A, R]."""
    sight_kind: np.ndarray
    """uint8 [D, A, R]."""
    outcome: Outcome | None
    """None where the file ends before the round does."""

    @property
    def tick_s(self) -> float:
        return 1.0 / self.header.ticks_per_second

    @property
    def seconds(self) -> float:
        """From the start to the last frame."""
        return float(self.tick[-1]) * self.tick_s

    @property
    def layout(self) -> Layout:
        return self.header.layout

    @property
    def settings(self) -> Any:
        return self.header.settings

    @functools.cached_property
    def rays(self) -> np.ndarray:
        """float32 [3, R]: the rays' directions in a body's frame: +z ahead, +x to its left, +y up."""
        return self.header.spec.rays(self.settings)

    @functools.cached_property
    def tracks(self) -> Mapping[str, np.ndarray]:
        """See `ReplaySpec.tracks`; empty where the game has none."""
        tracks = self.header.spec.tracks
        return {} if tracks is None else tracks(self)

    def at(self, seconds: float) -> Moment:
        """The moment at a time, limited to the round.

        Positions follow a cubic curve through both frames with their velocities, but never leave the box that the two
        span: an agent that runs into a wall is not shown inside it.
        """
        at = min(max(seconds / self.tick_s, 0.0), float(self.tick[-1]))
        left = int(np.clip(np.searchsorted(self.tick, at, side="right") - 1, 0, len(self.tick) - 1))
        right = min(left + 1, len(self.tick) - 1)
        wide = float(self.tick[right] - self.tick[left])
        share = (at - float(self.tick[left])) / wide if wide else 0.0
        near = left if share < 0.5 else right
        stands = left if share < 1.0 else right
        decision = int(np.searchsorted(self.decision_frame, left, side="right")) - 1
        taken = self.action, self.sight_m, self.sight_kind
        action, sight_m, sight_kind = (one[decision] if decision >= 0 else np.zeros_like(one[:1])[0] for one in taken)
        return Moment(
            seconds=at * self.tick_s,
            position_m=self._between(left, right, share, wide * self.tick_s),
            velocity_mps=self.velocity_mps[left] * (1 - share) + self.velocity_mps[right] * share,
            heading_rad=self._heading(left, right, share),
            grounded=self.grounded[near],
            active=self.active[stands],
            team=self.team[stands],
            decision=decision,
            action=action,
            sight_m=sight_m,
            sight_kind=sight_kind,
            sight_heading_rad=self.heading_rad[int(self.decision_frame[decision]) if decision >= 0 else 0],
        )

    def _between(self, left: int, right: int, share: float, seconds: float) -> np.ndarray:
        one, two = self.position_m[left], self.position_m[right]
        leave, arrive = self.velocity_mps[left] * seconds, self.velocity_mps[right] * seconds
        s2, s3 = share * share, share**3
        curve = (2 * s3 - 3 * s2 + 1) * one + (s3 - 2 * s2 + share) * leave
        curve = curve + (3 * s2 - 2 * s3) * two + (s3 - s2) * arrive
        kept: np.ndarray = np.clip(curve, np.minimum(one, two), np.maximum(one, two)).astype(np.float32)
        return kept

    def _heading(self, left: int, right: int, share: float) -> np.ndarray:
        turn = (self.heading_rad[right] - self.heading_rad[left] + np.pi) % (2 * np.pi) - np.pi
        heading: np.ndarray = (self.heading_rad[left] + share * turn).astype(np.float32)
        return heading

    def gap_m(self) -> np.ndarray:
        """float32 [F]: between the nearest opponents in play, edge to edge; infinite where there are none.

        Touching is judged axis by axis, so this is the largest distance along any axis, less a body.
        """
        away = np.abs(self.position_m[:, :, None] - self.position_m[:, None, :]).max(axis=-1)
        opposes = self.team[:, :, None] != self.team[:, None, :]
        # An agent counts until one frame after it left the round: that is the very moment of the touch.
        plays = np.concatenate([self.active[:1], self.active[:-1]]) | self.active
        away = np.where(opposes & plays[:, :, None] & plays[:, None, :], away, np.inf)
        nearest: np.ndarray = away.min(axis=(1, 2)) - self.layout.body_m
        return nearest

    def sees(self) -> np.ndarray:
        """bool [D, A]: whether a ray of the agent met an opponent when it took the decision."""
        return np.asarray(opponents_met(self.sight_kind, self.team[self.decision_frame]).any(axis=2))


def opponents_met(sight_kind: np.ndarray, team: np.ndarray) -> np.ndarray:
    """bool [..., A, R]: whether each ray of agents of these teams, [..., A], meets an opponent."""
    return np.asarray((sight_kind >= FIRST_TEAM) & (sight_kind != FIRST_TEAM + team[..., None]))


class Highlight(NamedTuple):
    """A moment of a round that is worth showing."""

    kind: str
    """Highlights of a kind compete: `catch`."""
    title: str
    """For people: `Longest chase`."""
    text: str
    """A few words more: `caught after a chase of 3.2 s`."""
    replay: Replay
    worth: float
    """The larger, the better, within the kind."""
    seconds: float
    """When it happens."""
    begins: float
    """When what leads to it begins, in seconds of the round."""
    team: int
    """Whose moment it is."""

    def window(self, before_s: float = 2.5, after_s: float = 1.5) -> tuple[float, float]:
        """From when to when to show it."""
        return max(self.seconds - before_s, 0.0), min(self.seconds + after_s, self.replay.seconds)
