"""An explorer that walks: to every area, solid and body that it knows of, and tries everything there."""

from collections import defaultdict

import numpy as np

from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive
from godojo.hunt.contract import Playable
from godojo.hunt.explorers import Sticky, is_played
from godojo.hunt.game import Place, Seen
from godojo.hunt.trace import Trace


class Motion:
    """How each input moves what is played, per decision: linear models of what was played, one of them of the last few
    seconds, since a camera that turns may turn the inputs, too. The one that predicts better is asked."""

    RIDGE, FORGETS = 3.0, (0.9995, 0.97)
    _JUMP = 8.0
    """Times the usual step: a teleport, which teaches nothing."""

    def __init__(self, space: ActionSpace) -> None:
        self._space = space
        size = sum(part.width if part.kind == "continuous" else part.size - 1 for part in space.parts)
        count = len(self.FORGETS)
        self._forget = np.array(self.FORGETS)[:, None, None]
        self._inputs: np.ndarray = np.repeat(np.eye(size)[None] * self.RIDGE, count, 0)
        self._moved = np.zeros((count, size, 3))
        self._models: np.ndarray = np.zeros((count, size, 3))
        self._errors = np.zeros(count)
        self._stale = 0
        self.step = 0.0
        """How far a decision leads, usually, if anywhere."""

    def learn(self, action: np.ndarray, moved: np.ndarray) -> None:
        far = float(np.abs(moved).max())
        if not np.isfinite(far) or (self.step and far > self._JUMP * self.step):
            return
        if far > 1e-6:
            self.step = far if not self.step else 0.98 * self.step + 0.02 * far
        told = self._told(action)
        self._errors = 0.98 * self._errors + 0.02 * np.abs(told @ self._models - moved).sum(1)
        self._inputs = self._forget * self._inputs + np.outer(told, told)
        self._moved = self._forget * self._moved + np.outer(told, moved)
        self._stale += 1
        if self._stale >= 8:
            self._stale = 0
            self._models = np.linalg.solve(self._inputs + self.RIDGE * np.eye(len(told)), self._moved)

    def towards(self, actions: np.ndarray, way: np.ndarray) -> np.ndarray:
        """How far each of these actions leads on a way."""
        model = self._models[int(self._errors.argmin())]
        return np.asarray(np.array([self._told(action) for action in actions]) @ model @ way)

    def _told(self, action: np.ndarray) -> np.ndarray:
        """Axes as they are, and a 0 or 1 for every choice but the first."""
        numbers: list[float] = []
        for part, where in zip(self._space.parts, self._space.slices, strict=True):
            if part.kind == "continuous":
                numbers += (action[where] - part.rest).tolist()
            else:
                numbers += [float(round(float(action[where][0])) == choice) for choice in range(1, part.size)]
        return np.array(numbers)


class Seeker(Sticky):
    """Learns which input moves where, walks to one place after the other and tries every input there."""

    name = "seeker"
    LEARNS = 150
    """Decisions of play at random before the first walk."""
    STRAYS, ADDS, HAMMERS = 0.1, 0.3, 0.3
    PATIENCE, DETOURS = 15, 3
    """Decisions without getting nearer before a detour, and detours before another place."""
    _EXTRA = 0.05
    """Of a step: what another input must be worth."""
    _NEAR = 3.0
    """Steps from a place at which one is there."""

    def __init__(self, space: ActionSpace, archive: Archive, rng: np.random.Generator) -> None:
        super().__init__(space, archive, rng)
        self._motion = Motion(space)
        self._learned = 0
        self._tried: defaultdict[str, int] = defaultdict(int)
        singles = space.prototypes(rng)
        self._singles = min(len(singles), 24)
        pairs = [np.where(one != space.neutral, one, other) for one in singles for other in singles]
        picked = rng.permutation(len(pairs))[:96]
        self._choices = np.array([*singles, *(pairs[place] for place in picked)], np.float32)
        self._extra = self._EXTRA * (self._choices != space.neutral).sum(1)

    def begin(self, game: Playable) -> Trace:
        start = super().begin(game)
        self._target: str = ""
        self._last: tuple[np.ndarray, np.ndarray, float] | None = None
        self._held, self._detour = 0, 0
        self._since, self._nearest, self._detours = 0, np.inf, 0
        self._pokes: list[np.ndarray] = []
        self._walked = self.space.neutral
        return start

    def play(self, seen: Seen) -> np.ndarray:
        position, is_here = seen.position.astype(float), is_played(seen)
        if self._last is not None and is_here and self._last[2] == seen.state[0]:
            self._motion.learn(self._last[0], position - self._last[1])
            self._learned += 1
        action = self._next(seen.places, position) if seen.places and is_here else None
        if action is None:
            action = super().play(seen)
        self._last = (np.asarray(action), position, float(seen.state[0])) if is_here else None
        return np.asarray(action)

    def choose(self, seen: Seen) -> np.ndarray:
        if not is_played(seen):
            self._last = None
        return super().choose(seen)

    def _next(self, places: tuple[Place, ...], position: np.ndarray) -> np.ndarray | None:
        if self._learned < self.LEARNS or not np.isfinite(position).all():
            return None
        if self._pokes:
            return np.asarray(self._pokes.pop())
        if self._detour > 0:
            self._detour -= 1
            return None
        known = {path: np.array(place) for path, *place in places}
        if self._target not in known:
            self._choose(known, position)
        way = known[self._target] - position
        far = float(np.linalg.norm(way))
        if far < self._NEAR * max(self._motion.step, 1e-3):
            self._arrive()
            return None
        self._since += 1
        if far < self._nearest - 0.5 * self._motion.step:
            self._nearest, self._since = far, 0
        elif self._since > self.PATIENCE:
            self._stray()
            return None
        if self._held <= 0:
            self._walked, self._held = self._best(way / far), int(self.rng.integers(1, 7))
        self._held -= 1
        return np.asarray(self._walked)

    def _choose(self, known: dict[str, np.ndarray], position: np.ndarray) -> None:
        """Rarely tried ones first, and near ones among them."""
        paths = list(known)
        far = np.array([np.linalg.norm(known[path] - position) for path in paths])
        weights = 1.0 / (1.0 + np.array([self._tried[path] for path in paths])) ** 2
        weights /= 0.2 + far / max(float(np.median(far)), 1e-6)
        self._target = paths[int(self.rng.choice(len(paths), p=weights / weights.sum()))]
        self._tried[self._target] += 1
        self._nearest, self._since, self._detours = np.inf, 0, 0

    def _best(self, way: np.ndarray) -> np.ndarray:
        if self.rng.random() < self.STRAYS:
            return self.space.sample(self.rng)
        scores = self._motion.towards(self._choices, way) - self._extra * self._motion.step
        order = np.argsort(scores)[::-1][:8]
        best = next((place for place in order if not self.space.interrupts(self._choices[place])), order[0])
        action = self._choices[int(best)].copy()
        if self.rng.random() < self.ADDS:  # a jump, a shot
            more = self.space.single(self.rng)
            action = np.where(action == self.space.neutral, more, action)
        return np.asarray(action)

    def _stray(self) -> None:
        """Something is in the way."""
        self._detours += 1
        self._since, self._nearest = 0, np.inf
        self._detour = int(self.rng.integers(4, 40))
        self._restart()
        if self._detours > self.DETOURS:
            self._target = ""

    def _arrive(self) -> None:
        """Every input once, and let go of it; or one of them again and again."""
        self._target = ""
        if self.rng.random() < self.HAMMERS:
            action = self.space.single(self.rng)
            self._pokes = [self.space.neutral, action] * int(self.rng.integers(4, 25))
            return
        for action in self.rng.permutation(self._choices[: self._singles]):
            if self.space.interrupts(action) and self.rng.random() < 0.9:
                continue
            self._pokes += [self.space.neutral, action, action]
