"""Explorers: ways to play a game that nobody has played before."""

import re
from collections import defaultdict
from collections.abc import Hashable

import numpy as np

from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive, Cell, screen
from godojo.hunt.contract import Playable
from godojo.hunt.game import Seen
from godojo.hunt.trace import Trace

SEEDS = 2**31
_BODIES, _PAUSED = 2, 6
"""Numbers of a state: moving bodies, and whether the game is paused."""
_SHORTEST_HOLD, _LONGEST_HOLD = 2.0, 60.0
_QUITS = re.compile(r"(?i)quit|exit")


class Explorer:
    """Plays attempts: `begin`, then `choose` and `learn` for every decision. The base class plays at random."""

    name = "random"
    is_done = False
    """Whether it can do nothing more in this attempt that others could not do better."""
    returns_to: Cell | None = None
    """Where what is replayed first should lead."""
    shortest = 0
    """Decisions for which an attempt may go on, at least."""

    def __init__(self, space: ActionSpace, archive: Archive, rng: np.random.Generator) -> None:
        self.space, self.archive, self.rng = space, archive, rng

    def fits(self, seen: Seen) -> bool:  # noqa: ARG002 - some explorers need something that not every game has
        """Whether it can do anything in this game that others cannot."""
        return True

    def begin(self, game: Playable) -> Trace:  # noqa: ARG002 - trained policies look at it
        """What to replay first: only a seed, or also the actions that lead somewhere."""
        self.space.is_wild = True
        return self.fresh_start()

    def fresh_start(self) -> Trace:
        return Trace(int(self.rng.integers(SEEDS)), np.zeros((0, self.space.size), np.float32), self.name)

    def choose(self, seen: Seen) -> np.ndarray:  # noqa: ARG002 - others look
        return self.space.sample(self.rng)

    def learn(self, cell: Cell, novelty: float) -> None:
        """Where the last action led, and how rarely one was there: 1 for the first time, towards 0."""

    def lost(self) -> None:
        """The last action ended the game, and nothing was wrong with it."""


class Starts(Explorer):
    """Begins again and again: what a game draws at random at its start is different each time."""

    name = "starts"
    LENGTH = 3

    def begin(self, game: Playable) -> Trace:
        self._played, self.is_done = 0, False
        return super().begin(game)

    def choose(self, seen: Seen) -> np.ndarray:
        self._played += 1
        self.is_done = self._played >= self.LENGTH
        return super().choose(seen)


def is_played(seen: Seen) -> bool:
    """Whether there are moving bodies in a game that runs, rather than a menu."""
    return len(seen.state) > _PAUSED and seen.state[_BODIES] > 0 and not seen.state[_PAUSED]


class UiCrawler(Explorer):
    """Uses every element of every screen: clicks where there is a pointer, or tries what it has tried least there."""

    name = "ui"
    DEVIATES, STAYS, PLAYS, QUITS = 0.1, 12.0, 8.0, 1e-4
    OPENS, WITHOUT = 0.3, 15
    """Where there is nothing to click: how often it tries to open a menu, and how many times before it gives up."""
    PATIENT, WAITS = 2, 10
    """The first clicks on an element after which it waits, and for how many decisions: does anything happen?"""
    INSISTS, AGAIN = 0.3, 0.7
    """Attempts in which it clicks the same element again, and how often; some things break at the third time."""
    stays = True
    """Whether it prefers screens on which there is something to click."""

    def __init__(self, space: ActionSpace, archive: Archive, rng: np.random.Generator) -> None:
        super().__init__(space, archive, rng)
        self._pointer, self._click = space.find("pointer"), space.find("click")
        self._actions = space.prototypes(rng)
        self._clicks: defaultdict[Hashable, int] = defaultdict(int)
        self._leaves: defaultdict[Hashable, int] = defaultdict(int)
        """How often an element led to where nothing can be clicked, as the start of a level does."""
        self._plays: defaultdict[Hashable, int] = defaultdict(int)
        """How often an element led to where there is somebody to play."""
        self._last: tuple[Hashable, str] | None = None
        self._tried: dict[Hashable, np.ndarray] = {}
        self._after = space.neutral
        self._waits = 0
        self._shown: frozenset[str] = frozenset()

    def fits(self, seen: Seen) -> bool:
        return bool(seen.ui)

    def begin(self, game: Playable) -> Trace:
        self._game, self._release, self._last, self._waits = game, False, None, 0
        self._since, self.is_done = 0, False
        self._insists = self.rng.random() < self.INSISTS
        return super().begin(game)

    def lost(self) -> None:
        if self._last is not None:
            self.archive.quits.add(self._last[1])

    @property
    def is_pressing(self) -> bool:
        """Whether a press has yet to be released."""
        return self._release

    def sees_menu(self, seen: Seen) -> bool:
        """Whether there is something to click and nobody to play."""
        return self._pointer is not None and not is_played(seen) and bool(self._usable(seen))

    def may_quit(self, seen: Seen) -> bool:
        """Whether a key would end the game: the element that has the focus does."""
        return bool(seen.ui) and self._quits(seen.ui[0])

    def choose(self, seen: Seen) -> np.ndarray:
        if self._release:  # a press counts once it is released
            self._release = False
            return np.asarray(self._after)
        if self._waits > 0:
            self._waits -= 1
            if self._shown == frozenset(seen.ui) and not is_played(seen):
                return np.asarray(self._after)  # whether anything happens
            self._waits = 0
        self._release = True
        self.note(seen)
        self._since = 0 if seen.ui else self._since + 1
        self.is_done = self._since > self.WITHOUT
        if not seen.ui and self.rng.random() < self.OPENS:
            return self.press(self.space.interruption(self.rng))  # a menu within a level
        if self.rng.random() < self.DEVIATES or not seen.ui:
            action = self.space.sample(self.rng)
        else:
            clicked = self._pressed(seen)
            action = self._least_tried(seen) if clicked is None else clicked
        self._after = self.space.neutral.copy()
        if self._pointer is not None:
            self._after[self._pointer] = action[self._pointer]
        return action

    def press(self, action: np.ndarray) -> np.ndarray:
        """An action that is let go of in the next decision."""
        self._release, self._after = True, self.space.neutral
        return action

    def note(self, seen: Seen) -> None:
        """Learns where the last click led."""
        if self._last is not None and is_played(seen):
            self._plays[self._last] += 1
            if not seen.ui:
                self._leaves[self._last] += 1
            self._last = None

    def _pressed(self, seen: Seen) -> np.ndarray | None:
        """Clicks on an element of this screen, rarely clicked ones first; None where there is nothing to click with."""
        points, usable = self._game.ui_points, self._usable(seen)
        if self._pointer is None or self._click is None or not usable:
            return None
        shown = frozenset(seen.ui)
        weights = 1.0 / (1.0 + np.array([self._clicks[shown, path] for path in usable]))
        weights *= np.where([self._quits(path) for path in usable], self.QUITS, 1.0)
        if self.stays:
            weights /= 1.0 + self.STAYS * np.array([self._leaves[shown, path] for path in usable])
        else:
            weights *= 1.0 + self.PLAYS * np.array([self._plays[shown, path] for path in usable])
        path = usable[int(self.rng.choice(len(usable), p=weights / weights.sum()))]
        if self._insists and self._last in [(shown, one) for one in usable] and self.rng.random() < self.AGAIN:
            path = self._last[1]
        self._clicks[shown, path] += 1
        is_first = self.stays and self._clicks[shown, path] <= self.PATIENT
        self._waits, self._shown = (self.WAITS if is_first else 0), shown
        self._last = shown, path
        action = self.space.neutral.copy()
        action[self._pointer], action[self._click] = points[path], 1.0
        return action

    def _quits(self, path: str) -> bool:
        return path in self.archive.quits or _QUITS.search(path.rpartition("/")[2]) is not None

    def _usable(self, seen: Seen) -> list[str]:
        points = self._game.ui_points
        return [path for path in seen.ui if path in points and max(map(abs, points[path])) <= 1.0]

    def _least_tried(self, seen: Seen) -> np.ndarray:
        counts = self._tried.setdefault(screen(seen), np.zeros(len(self._actions), int))
        place = int(self.rng.choice(np.flatnonzero(counts == counts.min())))
        counts[place] += 1
        return np.asarray(self._actions[place])


class Player(Explorer):
    """Plays on its own, and clicks its way through menus. Inputs that open menus become rare."""

    CLICKS, WILD, RETURNS, AIMS = 0.9, 0.2, 0.25, 0.5
    """The share of clicks in menus, and of attempts in which all inputs are as likely and half of that is clicked;
    of attempts to leave a menu within a level; and of attempts in which it points at what is nearest."""

    def __init__(self, space: ActionSpace, archive: Archive, rng: np.random.Generator) -> None:
        super().__init__(space, archive, rng)
        self._crawler = UiCrawler(space, archive, rng)
        self._crawler.stays = False
        self._pointer, self._aims = space.find("pointer"), False
        self._before: tuple[Seen, np.ndarray, np.ndarray] | None = None
        """What was seen, the action before it and the one after it."""

    def begin(self, game: Playable) -> Trace:
        self._crawler.begin(game)
        self._before = None
        start = super().begin(game)
        self.space.is_wild = self.rng.random() < self.WILD
        self._aims = self._pointer is not None and self.rng.random() < self.AIMS
        return start

    def choose(self, seen: Seen) -> np.ndarray:
        if self._before is not None and is_played(self._before[0]):
            before = self._before[0]
            is_restarted = seen.scenes != before.scenes and seen.state[0] == before.state[0]
            is_interrupted = is_restarted or not is_played(seen)
            self.space.note_interruption(*self._before[1:], is_interrupted=is_interrupted)
        self._crawler.note(seen)
        action = np.asarray(self._chosen(seen))
        self._before = seen, self.space.neutral if self._before is None else self._before[2], action
        return action

    def _chosen(self, seen: Seen) -> np.ndarray:
        crawler = self._crawler
        if crawler.is_pressing:
            return crawler.choose(seen)
        if crawler.sees_menu(seen) and seen.state[_BODIES] > 0 and self.rng.random() < self.RETURNS:
            return crawler.press(self.space.interruption(self.rng))  # what opens a menu often closes it
        clicks = self.CLICKS / 2 if self.space.is_wild else self.CLICKS
        if crawler.sees_menu(seen) and (self.rng.random() < clicks or crawler.may_quit(seen)):
            return crawler.choose(seen)
        return self._aimed(self.play(seen), seen)

    def _aimed(self, action: np.ndarray, seen: Seen) -> np.ndarray:
        if self._aims and seen.aim is not None:
            action = action.copy()
            action[self._pointer] = seen.aim
        return action

    def lost(self) -> None:
        self._crawler.lost()

    def play(self, seen: Seen) -> np.ndarray:
        raise NotImplementedError


class Sticky(Player):
    """Holds actions for a while, as long as a person would or longer: random ones, one thing at a time, or only one."""

    name = "sticky"
    MANNERS = ("all", "one", "all", "one", "rest", "same", "mash", "mash")
    """Changes every part by chance; does one thing at a time; likewise, and mostly nothing; one thing all the time;
    one thing again and again, beside another."""
    RESTS = 0.8

    def begin(self, game: Playable) -> Trace:
        self._restart()
        return super().begin(game)

    def _restart(self) -> None:
        self._manner = self.MANNERS[int(self.rng.integers(len(self.MANNERS)))]
        self._action, self._mashed = self._drawn(), self.space.single(self.rng)
        self._beats, self._period = 0, int(self.rng.integers(2, 13))
        self._change = 1.0 / np.exp(self.rng.uniform(np.log(_SHORTEST_HOLD), np.log(_LONGEST_HOLD)))

    def play(self, seen: Seen) -> np.ndarray:  # noqa: ARG002 - blind
        if self._manner == "mash":
            self._beats += 1
            if self.rng.random() < self._change / 4:
                self._action, self._mashed = self._drawn(), self.space.single(self.rng)
            is_on = self._beats % self._period < max(self._period // 2, 1)
            return np.where(self._mashed != self.space.neutral, self._mashed, self._action) if is_on else self._action
        if self._manner == "all":
            self._action = self.space.resample(self._action, self._change, self.rng)
        elif self._manner != "same" and self.rng.random() < self._change:
            self._action = self._drawn()
        return self._action

    def _drawn(self) -> np.ndarray:
        if self._manner in ("rest", "mash") and self.rng.random() < self.RESTS:
            return self.space.neutral
        if self._manner == "all" or (self._manner == "same" and self.rng.random() < 0.5):
            return self.space.sample(self.rng)
        return self.space.single(self.rng)


class Returning(Sticky):
    """Go-Explore: returns to a rarely seen place by replaying the actions that led there, then explores."""

    name = "archive"

    def begin(self, game: Playable) -> Trace:
        start, self.returns_to = super().begin(game), None
        chosen = self.archive.choose(self.rng)
        if chosen is None or not len(chosen[1]):
            return start
        self.returns_to, way = chosen
        return Trace(way.seed, way.actions, self.name)


class Novelty(Player):
    """Q-learning over the archive's cells, with a table; rewarded for places that are rarely seen."""

    name = "novelty"
    LEARNING_RATE, GAMMA, EPSILON = 0.3, 0.95, 0.1
    LONGEST_HOLD = 8
    MOST_CELLS = 20_000

    def __init__(self, space: ActionSpace, archive: Archive, rng: np.random.Generator) -> None:
        super().__init__(space, archive, rng)
        self._actions = space.prototypes(rng)
        self._values: dict[Cell, np.ndarray] = {}

    def begin(self, game: Playable) -> Trace:
        self._from: tuple[Cell, int] | None = None
        self._cell: Cell | None = None
        self._held = 0
        return super().begin(game)

    def play(self, seen: Seen) -> np.ndarray:
        if self._held == 0 or self._from is None:
            cell = self._cell if self._cell is not None else self.archive.cell(seen)
            values = self._of(cell)
            greedy = np.flatnonzero(values == values.max())
            explores = self.rng.random() < self.EPSILON
            choice = int(self.rng.integers(len(values)) if explores else self.rng.choice(greedy))
            self._from = cell, choice
            self._held = int(self.rng.integers(1, self.LONGEST_HOLD + 1))
        self._held -= 1
        return np.asarray(self._actions[self._from[1]])

    def learn(self, cell: Cell, novelty: float) -> None:
        self._cell = cell
        if self._from is None:
            return
        values, choice = self._of(self._from[0]), self._from[1]
        following = 0.0 if cell == self._from[0] else self.GAMMA * float(self._of(cell).max())
        values[choice] += self.LEARNING_RATE * (novelty + following - values[choice])

    def _of(self, cell: Cell) -> np.ndarray:
        if cell not in self._values:
            if len(self._values) >= self.MOST_CELLS:
                self._values.clear()  # cells are formed anew now and then, so most are stale
            self._values[cell] = np.ones(len(self._actions), np.float32)
        return self._values[cell]


POLICY = "policy"
"""The name of explorers that are trained policies."""
