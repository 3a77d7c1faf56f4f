"""Actions as explorers draw them: flat vectors over the parts of all agents."""

from collections.abc import Sequence

import numpy as np

from godojo.games.parts import ActionPart, action_size

_MOST_PRESSED = 3
"""Buttons that are pressed at once in a sparse action."""
MOST_PROTOTYPES = 48
_INTERRUPTS, _RARE = 0.5, 0.03
"""Parts that interrupt the game in so many cases, and how likely they are beside others."""
_FOR_MENUS, _MENU_WEIGHT = ("ui_", "pointer", "click"), 0.25
"""Parts of a game's input that matter in menus above all, and how likely they are beside its own."""


class ActionSpace:
    """The actions of a hunted game."""

    def __init__(self, parts: Sequence[ActionPart]) -> None:
        self.parts = tuple(parts)
        self.size = action_size(parts)
        self.slices: list[slice] = []
        start = 0
        for part in self.parts:
            self.slices.append(slice(start, start + part.width))
            start += part.width
        self.neutral = np.zeros(self.size, np.float32)
        """Does nothing: continuous parts at rest, the first choice of discrete ones."""
        for part, where in zip(self.parts, self.slices, strict=True):
            self.neutral[where] = part.rest if part.kind == "continuous" else 0.0
        self._buttons = [place for place, part in enumerate(self.parts) if part.kind == "discrete"]
        weights = np.array([_MENU_WEIGHT if part.name.startswith(_FOR_MENUS) else 1.0 for part in self.parts])
        self._weights = self._first_weights = weights / weights.sum()
        """How likely each part is chosen where few are."""
        self._pressed, self._interrupted = np.zeros(len(self.parts)), np.zeros(len(self.parts))
        self._is_rare = np.zeros(len(self.parts), bool)
        self.is_wild = True
        """Whether parts that interrupt the game, as the key for its menu does, are as likely as others."""

    def note_interruption(self, before: np.ndarray, action: np.ndarray, *, is_interrupted: bool) -> None:
        """Learns which parts interrupt the game when they are pressed: in `action` and not `before`."""
        pressed = [
            place
            for place in self._buttons
            if action[self.slices[place]][0] != 0.0 and before[self.slices[place]][0] == 0.0
        ]
        for place in pressed:
            self._pressed[place] += 1.0 / len(pressed)
            self._interrupted[place] += is_interrupted / len(pressed)
        if is_interrupted:
            self._is_rare = self._interrupted / (self._pressed + 3.0) > _INTERRUPTS
            weights = self._first_weights * np.where(self._is_rare, _RARE, 1.0)
            self._weights = weights / weights.sum()

    def interrupts(self, action: np.ndarray) -> bool:
        """Whether an action has a part that interrupts the game, as far as that is known."""
        return any(self._is_rare[place] and action[self.slices[place]][0] != 0.0 for place in self._buttons)

    def interruption(self, rng: np.random.Generator) -> np.ndarray:
        """Presses a part that interrupts the game, or the key that cancels."""
        names = [place for place in self._buttons if self._is_rare[place] or self.parts[place].name == "ui_cancel"]
        return self._with(self.slices[int(rng.choice(names))], 1.0) if names else self.single(rng)

    @property
    def _likely(self) -> np.ndarray:
        return np.asarray(self._first_weights if self.is_wild else self._weights)

    def find(self, name: str) -> slice | None:
        """Where the first part of this name is."""
        for part, where in zip(self.parts, self.slices, strict=True):
            if part.name == name:
                return where
        return None

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """A random action. Where there are many buttons, few are pressed at once, as by a person."""
        action = self.neutral.copy()
        pressed = self._buttons
        if len(pressed) > _MOST_PRESSED:
            count = int(rng.integers(0, _MOST_PRESSED + 1))
            weights = self._likely[pressed]
            pressed = list(rng.choice(pressed, count, replace=False, p=weights / weights.sum()))
        for place, (part, where) in enumerate(zip(self.parts, self.slices, strict=True)):
            if part.kind == "continuous" or place in pressed:
                action[where] = self._draw(part, rng)
        return action

    def summary(self, actions: np.ndarray) -> np.ndarray:
        """One action in place of several: the direction of each axis as a whole, the most frequent choices."""
        action = self.neutral.copy()
        for part, where in zip(self.parts, self.slices, strict=True):
            column = actions[:, where]
            if part.kind == "discrete":
                choices, counts = np.unique(column, return_counts=True)
                action[where] = choices[counts.argmax()]
            else:
                mean = column.mean(0)
                is_strong = np.abs(mean) > 0.5 * max(float(np.abs(mean).max()), 0.1)
                action[where] = np.where(is_strong, np.sign(mean), part.rest)
        return action

    def single(self, rng: np.random.Generator) -> np.ndarray:
        """Does one thing: one choice, or one axis towards one of its ends; the rest is neutral."""
        place = int(rng.choice(len(self.parts), p=self._likely))
        part, where = self.parts[place], self.slices[place]
        if part.kind == "discrete":
            return self._with(where, float(rng.integers(1, max(part.size, 2))))
        axis = int(rng.integers(where.start, where.stop))
        return self._with(slice(axis, axis + 1), float(rng.choice((-1.0, 1.0))))

    def resample(self, action: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
        """The action with each part drawn anew with probability `share`."""
        changes = rng.random(len(self.parts)) < share
        if not changes.any():
            return action
        fresh, changed = self.sample(rng), action.copy()
        for where, is_changed in zip(self.slices, changes, strict=True):
            if is_changed:
                changed[where] = fresh[where]
        return changed

    def singles(self) -> np.ndarray:
        """float32 [n, size]: every choice and both ends of every axis alone; without parts that only menus need, where
        there are others."""
        own = [place for place, part in enumerate(self.parts) if not part.name.startswith(_FOR_MENUS)]
        return np.array([one for place in own or range(len(self.parts)) for one in self._singles_of(place)], np.float32)

    def _singles_of(self, place: int) -> list[np.ndarray]:
        part, where = self.parts[place], self.slices[place]
        if part.kind == "discrete":
            return [self._with(where, choice) for choice in range(1, part.size)]
        ends = [(axis, end) for axis in range(where.start, where.stop) for end in (-1.0, 1.0)]
        return [self._with(slice(axis, axis + 1), end) for axis, end in ends]

    def prototypes(self, rng: np.random.Generator) -> np.ndarray:
        """float32 [n, size]: doing nothing, every choice and both ends of every axis alone, then random ones."""
        found = [self.neutral, *(one for place in range(len(self.parts)) for one in self._singles_of(place))]
        if len(found) > MOST_PROTOTYPES:
            kept = rng.choice(np.arange(1, len(found)), MOST_PROTOTYPES - 1, replace=False)
            found = [found[0], *(found[place] for place in sorted(kept))]
        few = max(8, len(found) // 2)
        return np.array(found + [self.sample(rng) for _ in range(few)], np.float32)

    def _with(self, where: slice, value: float) -> np.ndarray:
        action = self.neutral.copy()
        action[where] = value
        return action

    @staticmethod
    def _draw(part: ActionPart, rng: np.random.Generator) -> np.ndarray | float:
        if part.kind == "discrete":
            return float(rng.integers(part.size))
        kind = rng.integers(3)  # anywhere, at the ends, along few axes
        drawn = rng.uniform(-1.0, 1.0, part.size)
        if kind == 1:
            drawn = np.sign(drawn)
        elif kind == 2:
            drawn = np.where(rng.random(part.size) < 0.5, np.sign(drawn), part.rest)
        return drawn
