"""An explorer that does what a tester does first: every input, pressed again and again, and held to the end."""

from collections.abc import Iterator

import numpy as np

from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive
from godojo.hunt.contract import Playable
from godojo.hunt.explorers import Player
from godojo.hunt.game import Seen
from godojo.hunt.trace import Trace


class Drill(Player):
    """Presses every input eight times, holds each one until nothing moves any more, and presses the others beside
    those that move something; at the start, or where few have been."""

    name = "drill"
    shortest = 2048
    MOST = 12
    """Inputs of an attempt, drawn from all."""
    PRESSES, INSISTS, MORE = 8, 0.3, 24
    """Of one input, and in a share of all attempts more often."""
    LONGEST, STILL = 200, 12
    """Decisions for which an input is held, and for which nothing moves before it is let go of."""
    PAIRS, RETURNS_TO, MOVES = 12, 0.5, 3
    """Of a held and a pressed input, per attempt; attempts that begin where few have been; and decisions in which
    something must have moved for an input to count as one that moves."""

    def __init__(self, space: ActionSpace, archive: Archive, rng: np.random.Generator) -> None:
        super().__init__(space, archive, rng)
        self._inputs = space.singles()
        self._moving: set[int] = set()
        self._attempts = 0

    def begin(self, game: Playable) -> Trace:
        start, self.returns_to, self.is_done = super().begin(game), None, False
        self._place, self._still, self._moved = np.zeros(3), 0, 0
        self._drawn = self.rng.permutation(len(self._inputs))[: self.MOST]
        self._plan = self._planned()
        self._attempts += 1
        if self._attempts > 1 and self.rng.random() < self.RETURNS_TO:
            chosen = self.archive.choose(self.rng)
            if chosen is not None and len(chosen[1]):
                self.returns_to, way = chosen
                return Trace(way.seed, way.actions, self.name)
        return start

    def play(self, seen: Seen) -> np.ndarray:
        is_still = bool(np.abs(seen.position - self._place).max() < 1e-3)
        self._still = self._still + 1 if is_still else 0
        self._moved += not is_still
        self._place = seen.position.copy()
        action = next(self._plan, None)
        if action is None:
            self.is_done = True
            return self.space.neutral
        return action

    def _planned(self) -> Iterator[np.ndarray]:
        presses = self.MORE if self.rng.random() < self.INSISTS else self.PRESSES
        phases = [self._all_pressed(presses), self._all_held()]
        if self._attempts % 2:
            phases.reverse()
        for phase in (*phases, self._pairs()):
            yield from phase

    def _all_pressed(self, times: int) -> Iterator[np.ndarray]:
        for place in self.rng.permutation(self._drawn):
            yield from self._pressed(self._inputs[place], times)

    def _pressed(self, action: np.ndarray, times: int, beside: np.ndarray | None = None) -> Iterator[np.ndarray]:
        held = self.space.neutral if beside is None else beside
        both = np.where(action != self.space.neutral, action, held)
        for _ in range(1 if self.space.interrupts(action) else times):
            yield from (both, both, held, held)

    def _all_held(self) -> Iterator[np.ndarray]:
        for place in self.rng.permutation(self._drawn):
            action = self._inputs[place]
            if self.space.interrupts(action):
                continue
            self._still = self._moved = 0
            for _ in range(self.LONGEST):
                yield action
                if self._still > self.STILL:
                    break
            (self._moving.add if self._moved >= self.MOVES else self._moving.discard)(int(place))
            yield from (self.space.neutral,) * 2

    def _pairs(self) -> Iterator[np.ndarray]:
        for _ in range(self.PAIRS if self._moving else 0):
            held = int(self.rng.choice(sorted(self._moving)))
            action = self._inputs[int(self.rng.integers(len(self._inputs)))]
            yield from self._pressed(action, self.PRESSES, beside=self._inputs[held])
