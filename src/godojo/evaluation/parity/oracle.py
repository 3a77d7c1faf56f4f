"""The twin as an oracle: whether what the real engine shows could have happened by the rules.

Every round is played by the twin at the same time, from the first observation and with the same actions. What the
observation leaves open (the arena, the route) makes several candidates; one that agrees is enough. Where all of them
disagree, many copies are played again from starts and with actions that differ by up to a thousandth: if one of them
agrees, or if those with the smaller differences end up far from each other, a tie was decided differently, and nothing
is wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from godojo.engines.base import Worlds

COPIES = 48
"""Of each candidate, that begin elsewhere."""
NUDGES = (1e-5, 1e-4, 1e-3)
"""Metres and radians."""
PATIENCE = 5
"""Decisions in a row that must differ; likewise by which the ends of rounds may differ."""
_LONGEST = 4096
"""Decisions of a round that are kept; what differs later is no matter."""
_REWARD, _SHARE_OF_RAYS = 0.05, 0.5


@dataclass(frozen=True)
class OraclePlan:
    """How a game's twin is begun from an observation."""

    candidates: int
    make: Callable[[int], Worlds]
    """So many worlds of the twin; world `w` plays candidate `w % candidates`."""
    put: Callable[[Worlds, np.ndarray, np.ndarray], None]
    """Begins a round in all worlds from what all agents observe first [A, O], moved along x and z and turned by these
    metres and radians [W, 3]."""
    tolerance: Mapping[str, float]
    """By part of the observation: by how much its numbers may differ. Others are not compared."""
    rays: str
    """The part with rays: only reported if half of them differ."""
    ray_tolerance: float = 0.05


@dataclass
class _Moment:
    """One decision in the real engine."""

    actions: Sequence[np.ndarray]
    observation: np.ndarray
    terms: np.ndarray
    winner: int | None


class Oracle:
    """Watches one world of the real engine: `begin` with every round, `step` with every decision."""

    def __init__(self, plan: OraclePlan) -> None:
        self._plan = plan
        self._worlds = plan.make(plan.candidates)
        self._crowd: Worlds | None = None
        (parts,) = {role.observation_parts for role in self._worlds.roles.values()}
        size = sum(part.size for part in parts)
        self._tolerance = np.full(size, np.inf)
        self._part = np.full(size, "", dtype=object)
        self._is_ray = np.zeros(size, np.bool_)
        start = 0
        for part in parts:
            where = slice(start, start + part.size)
            self._tolerance[where] = plan.tolerance.get(part.name, np.inf)
            self._part[where], self._is_ray[where] = part.name, part.name == plan.rays
            start = where.stop
        self._is_open = False

    def begin(self, observation: np.ndarray) -> None:
        """A round begins; all agents observe [A, O]."""
        self._start, self._played = observation.copy(), list[_Moment]()
        self._is_open = True
        self._plan.put(self._worlds, observation, np.zeros((self._worlds.num_worlds, 3)))
        self._judge = _Judge(self, self._worlds)

    def step(
        self, actions: Sequence[np.ndarray], observation: np.ndarray, terms: np.ndarray, winner: int | None
    ) -> tuple[str, str]:
        """What differs, in a word and in a sentence; both empty if nothing does. `winner`: the round has ended."""
        if not self._is_open or len(self._played) >= _LONGEST:
            return "", ""
        self._played.append(_Moment([one.copy() for one in actions], observation.copy(), terms.copy(), winner))
        self._judge.play(self._played[-1])
        if self._judge.agrees.any():
            return "", ""
        self._is_open = False
        best = int(np.argmax(self._judge.since))  # the candidate that agreed for longest
        what, told = self._judge.word[best], self._judge.sentence[best]
        return ("", "") if self._is_tie(best) else (what, f"{told} after {len(self._played)} decisions")

    def _is_tie(self, best: int) -> bool:
        """Whether copies that begin a little elsewhere agree, or disagree with one another."""
        plan = self._plan
        count = plan.candidates * COPIES
        if self._crowd is None:
            self._crowd = plan.make(count)
        chance = np.random.default_rng(0)
        size = np.repeat(np.resize(NUDGES, COPIES), plan.candidates)[:, None]
        plan.put(self._crowd, self._start, size * chance.uniform(-1.0, 1.0, (count, 3)))
        judge = _Judge(self, self._crowd)
        # Of a long round, the largest nudges add up to a difference without any tie.
        same = (np.arange(count) % plan.candidates == best) & (size[:, 0] < max(NUDGES))
        for moment in self._played:
            judge.play(moment, lambda shape: size[:, None] * chance.uniform(-1.0, 1.0, shape))
            if not judge.agrees.any():
                break
        return bool(judge.fits.any()) or judge.spread(same) > 1.0

    def compared(self, twin: np.ndarray, real: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of observations [W, A, O] and [A, O]: the worst difference [W] in tolerances, and the number [W] with it."""
        off = (np.abs(twin.astype(np.float64) - real) / self._tolerance).max(axis=1)
        rays = np.abs(twin[..., self._is_ray].astype(np.float64) - real[..., self._is_ray]) > self._plan.ray_tolerance
        blind = rays.reshape(len(twin), -1).sum(axis=1) > _SHARE_OF_RAYS * max(rays[0].size, 1)
        worst, where = off.max(axis=1), off.argmax(axis=1)
        where = np.where((worst <= 1.0) & blind, int(np.argmax(self._is_ray)), where)
        return np.where(blind, np.maximum(worst, 2.0), worst), where

    def part_of(self, number: int) -> str:
        return str(self._part[number])


class _Judge:
    """Which worlds of the twin agree so far."""

    def __init__(self, oracle: Oracle, worlds: Worlds) -> None:
        self._oracle, self._worlds = oracle, worlds
        count = worlds.num_worlds
        self.agrees = np.ones(count, np.bool_)
        self.since = np.zeros(count, np.int64)
        """Decisions that each agreed for."""
        self.word, self.sentence = [""] * count, [""] * count
        self._off = np.zeros(count, np.int64)
        self._ended = np.full(count, -1)
        """Decisions since each world's round is over; -1: it is not."""
        self._winner = np.zeros(count, np.int64)
        self._rewards = np.zeros(count)
        self._last: np.ndarray | None = None
        self._is_over = False

    def play(self, moment: _Moment, noise: Callable[[tuple[int, ...]], np.ndarray] | None = None) -> None:
        """The same decision in all worlds that go on; `noise` is added to actions [W, n, numbers]."""
        goes_on = self._step(moment.actions, noise)
        seen = self._observed(goes_on)
        worst, where = self._oracle.compared(seen, moment.observation)
        self._off = np.where(goes_on & (worst > 1.0), self._off + 1, 0)
        terms = np.concatenate([role.terms for role in self._worlds.roles.values()], axis=1)
        off_reward = np.abs(terms - moment.terms).max(axis=(1, 2))
        least = _REWARD + 0.05 * np.abs(moment.terms).max(initial=0.0)
        self._rewards = np.where(goes_on & (worst <= 1.0), self._rewards + (off_reward > least), self._rewards)
        for world in np.flatnonzero(self.agrees & (self._off >= PATIENCE)):
            part = self._oracle.part_of(int(where[world]))
            self._refuse(int(world), part, f"{part} differs from the twin's")
        for world in np.flatnonzero(self.agrees & (self._rewards >= PATIENCE)):
            self._refuse(int(world), "reward", "the reward differs from the twin's")
        for world in np.flatnonzero(self.agrees & (self._ended >= PATIENCE)):
            self._refuse(int(world), "end", "the round goes on, and in the twin it is over")
        self.since += self.agrees
        if moment.winner is not None:
            self._end(moment)

    @property
    def fits(self) -> np.ndarray:
        """Which worlds agree, and do not even begin to differ."""
        goes_on = self._is_over | (self._ended < 1)
        return np.asarray(self.agrees & (self._off == 0) & (2 * self._rewards < PATIENCE) & goes_on)

    def spread(self, same: np.ndarray) -> float:
        """How far worlds of one candidate are from each other, in tolerances."""
        assert self._last is not None
        seen, goes_on = self._last[same], self._ended[same] < 0
        if goes_on.any() and not goes_on.all():
            return np.inf
        if len(set(self._winner[same][~goes_on].tolist())) > 1:
            return np.inf
        worst, _ = self._oracle.compared(seen, seen[0])
        return float(worst.max())

    def _step(
        self, actions: Sequence[np.ndarray], noise: Callable[[tuple[int, ...]], np.ndarray] | None = None
    ) -> np.ndarray:
        """Which worlds' rounds go on or end now."""
        goes_on = self._ended < 0
        for role, action in zip(self._worlds.roles.values(), actions, strict=True):
            role.action[:] = action if noise is None else action + noise(role.action.shape)
        self._worlds.step()
        ends = goes_on & self._worlds.ended
        self._winner[ends] = self._worlds.winner[ends]
        self._ended = np.where(goes_on, np.where(ends, 0, -1), self._ended + 1)
        return goes_on

    def _observed(self, goes_on: np.ndarray) -> np.ndarray:
        roles = list(self._worlds.roles.values())
        now, last = (
            np.concatenate([getattr(role, name) for role in roles], axis=1)
            for name in ("observation", "final_observation")
        )
        seen = np.where(self._worlds.ended[:, None, None], last, now)
        if self._last is not None:
            seen = np.where(goes_on[:, None, None], seen, self._last)
        self._last = seen
        return np.asarray(seen)

    def _end(self, moment: _Moment) -> None:
        """The real round is over; the twin's has a little more time."""
        self._is_over = True
        for _ in range(PATIENCE):
            if (self._ended >= 0).all():
                break
            self._step(moment.actions)
        for world in np.flatnonzero(self.agrees):
            if self._ended[world] < 0:
                self._refuse(int(world), "end", "the round is over, and goes on in the twin")
            elif self._winner[world] != moment.winner:
                self._refuse(int(world), "outcome", "the outcome differs from the twin's")

    def _refuse(self, world: int, word: str, sentence: str) -> None:
        self.agrees[world] = False
        self.word[world], self.sentence[world] = word, sentence
