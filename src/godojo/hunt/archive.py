"""The archive of Go-Explore: for every kind of place that was seen, the shortest way to it.

Ecoffet et al., "First return, then explore", Nature 2021. A place is a cell: a box of positions, a few bits of the
state, and what the user interface shows. Boxes grow with the part of the world that is known, so that their number
stays bounded whatever a game's scale. Beside cells, the archive keeps a way to every feature of the scripts.
"""

import threading
import zipfile
import zlib
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from godojo.files import atomic_writer
from godojo.hunt.features import Feature
from godojo.hunt.game import Seen
from godojo.hunt.trace import Trace

RESOLUTION = 20
"""Boxes along an axis, over the middle 96 % of positions."""
FEWEST_BITS, MOST_BITS = 4, 16
"""Of the state, each a random plane that it is on one side of: more of them where a game shows few places."""
FEW_CELLS, MOST_CELLS = 400, 4000
SAMPLES = 20_000
"""Positions that are kept for the map of coverage, drawn evenly from all."""
_FIRST_REFIT = 64
_BODIES = 2
"""Where a state has the number of moving bodies."""
_STATE_NUMBERS = 256
_SAVED_NUMBERS = 4_000_000
"""Of all actions in the file of a hunt that is to be resumed."""
MOST_FEATURES = 20_000
MOST_RESTARTS = 3
"""Of the game for one setting, alone and beside others."""
BY_FEATURE = 0.6
"""Returns to a feature; the others are to a cell."""
Cell = Hashable


class Steps:
    """An attempt while it is played: its seed and its actions so far. Entries share it."""

    def __init__(self, seed: int, explorer: str = "") -> None:
        self.seed, self.explorer = seed, explorer
        self.actions: list[np.ndarray] = []

    def trace(self, length: int | None = None) -> Trace:
        actions = self.actions[:length]
        return Trace(
            self.seed, np.array(actions, np.float32) if actions else np.zeros((0, 0), np.float32), self.explorer
        )


class _Look(NamedTuple):
    """What a cell is made of; kept so that cells can be formed anew."""

    position: np.ndarray
    state: np.ndarray
    ui: int


@dataclass
class Entry:
    """A cell that was seen, and the shortest way to it."""

    look: _Look
    steps: Steps
    length: int
    visits: int = 0
    chosen: int = 0


class Destination:
    """A place to return to: equal to the cell that it is in, also after cells were formed anew."""

    def __init__(self, archive: "Archive", look: _Look) -> None:
        self._archive, self._look = archive, look

    def __eq__(self, cell: object) -> bool:
        return self._archive.cell_of(self._look) == cell

    def __hash__(self) -> int:
        return id(self)


class Archive:
    """All cells, shared by all explorers and threads."""

    def __init__(self, seed: int = 0) -> None:
        self.entries: dict[Cell, Entry] = {}
        self.visits = self._samples = 0
        self._has_level = False
        self.positions = np.zeros((SAMPLES, 3), np.float32)
        self.discovered = 0
        """Cells and features that were new when they were seen, over the whole hunt."""
        self.features: dict[Feature, Entry] = {}
        """What scripts have done, and the shortest way to it."""
        self._restarts: dict[str, int] = {}
        self.quits: set[str] = set()
        """Elements of the user interface that end the game."""
        self._rng = np.random.default_rng(seed)
        self._planes = np.random.default_rng(0).standard_normal((MOST_BITS, _STATE_NUMBERS)).astype(np.float32)
        self._mean = np.zeros(_STATE_NUMBERS, np.float32)
        self._scale = np.ones(_STATE_NUMBERS, np.float32)
        self._box = np.ones(3, np.float32)
        self._coarse, self._bits = 1.0, FEWEST_BITS
        self._refit_at = _FIRST_REFIT
        self._lock = threading.Lock()

    @property
    def sampled(self) -> np.ndarray:
        """float32 [n, 3]: positions, drawn evenly from all."""
        return self.positions[: min(self._samples, SAMPLES)]

    def visit(self, seen: Seen, steps: Steps) -> tuple[Cell, float]:
        """Counts a visit after all of `steps`; returns the cell and how novel it is, from 1 (new) towards 0."""
        look = _look(seen)
        with self._lock:
            self._sample(seen, look.position)
            self.visits += 1
            if self.visits >= self._refit_at:
                self._refit_at *= 2
                if len(self.entries) < FEW_CELLS:
                    self._bits = min(self._bits + 2, MOST_BITS)
                self._refit()
            cell = self._cell(look)
            entry = self.entries.get(cell)
            if entry is None:
                entry = self.entries[cell] = Entry(look, steps, len(steps.actions))
                self.discovered += 1
                if len(self.entries) > MOST_CELLS:
                    if self._bits > FEWEST_BITS:
                        self._bits -= 2
                    else:
                        self._coarse *= 1.5
                    self._refit()
            elif len(steps.actions) < entry.length:
                entry.look, entry.steps, entry.length, entry.chosen = look, steps, len(steps.actions), 0
            entry.visits += 1
            novelty = entry.visits**-0.5
            for feature in seen.features:
                novelty = max(novelty, self._note(feature, look, steps))
            return cell, novelty

    def _sample(self, seen: Seen, position: np.ndarray) -> None:
        """Draws evenly from all positions; in a game with a level, those in menus say nothing about it."""
        is_level = len(seen.state) <= _BODIES or bool(seen.state[_BODIES] > 0)
        if is_level and not self._has_level:
            self._has_level, self._samples = True, 0
            self._refit_at = min(self._refit_at, self.visits + _FIRST_REFIT)
        if is_level == self._has_level:
            at = self._samples if self._samples < SAMPLES else int(self._rng.integers(self._samples + 1))
            if at < SAMPLES:
                self.positions[at] = position
            self._samples += 1

    def _note(self, feature: Feature, look: _Look, steps: Steps) -> float:
        """Counts a feature; returns how novel it is."""
        entry = self.features.get(feature)
        if entry is None:
            if len(self.features) >= MOST_FEATURES:
                return 0.0
            entry = self.features[feature] = Entry(look, steps, len(steps.actions))
            self.discovered += 1
        elif len(steps.actions) < entry.length:
            entry.look, entry.steps, entry.length = look, steps, len(steps.actions)
        entry.visits += 1
        return float(entry.visits**-0.5)

    def cell(self, seen: Seen) -> Cell:
        return self.cell_of(_look(seen))

    def cell_of(self, look: _Look) -> Cell:
        with self._lock:
            return self._cell(look)

    def choose(self, rng: np.random.Generator) -> tuple[Cell, Trace] | None:
        """A cell or a feature to return to, rarely seen ones first, and the way to it."""
        with self._lock:
            if not self.entries:
                return None
            by_feature = self.features and rng.random() < BY_FEATURE
            known = list((self.features if by_feature else self.entries).values())
            weights = np.array([(one.visits + 1.0) ** -0.5 / (one.chosen + 1.0) for one in known])
            entry = known[int(rng.choice(len(known), p=weights / weights.sum()))]
            entry.chosen += 1
            return Destination(self, entry.look), entry.steps.trace(entry.length)

    def tests_anew(self, settings: frozenset[str]) -> bool:
        """Whether the game should be started again with these settings; each one counts a few times, alone and beside
        others, which tell whether any are kept."""
        keys = [f"{path} alone" if len(settings) == 1 else path for path in settings]
        with self._lock:
            for key in keys:
                self._restarts[key] = self._restarts.get(key, 0) + 1
            return any(self._restarts[key] <= MOST_RESTARTS for key in keys)

    def way_to(self, seen: Seen, seed: int) -> Trace | None:
        """The shortest known way to a place like this one, from the same seed."""
        with self._lock:
            entry = self.entries.get(self._cell(_look(seen)))
            if entry is None or entry.steps.seed != seed:
                return None
            return entry.steps.trace(entry.length)

    def save(self, path: Path) -> None:
        """Writes the shortest ways to cells, as many as fit, for a hunt that resumes."""
        with self._lock:
            entries = sorted([*self.entries.values(), *self.features.values()], key=lambda one: one.length)
        width = max((len(one.steps.actions[0]) for one in entries if one.length), default=1)
        total = np.cumsum([one.length * width for one in entries])
        kept = entries[: int(np.searchsorted(total, _SAVED_NUMBERS))]
        actions = [one.steps.trace(one.length).actions.reshape(-1, width) for one in kept]
        columns: dict[str, Any] = {
            "seeds": np.array([one.steps.seed for one in kept], np.int64),
            "lengths": np.array([one.length for one in kept], np.int64),
            "visits": np.array([one.visits for one in kept], np.int64),
            "ui": np.array([one.look.ui for one in kept], np.int64),
            "positions": np.array([one.look.position for one in kept], np.float32).reshape(-1, 3),
            "states": np.array([one.look.state for one in kept], np.float32).reshape(-1, _STATE_NUMBERS),
            "actions": np.concatenate([*actions, np.zeros((0, width), np.float32)]),
            "sampled": self.sampled,
            "resolution": np.array([self._bits, self._coarse]),
        }
        with atomic_writer(path) as file:
            np.savez_compressed(file, **columns)

    def load(self, path: Path) -> None:
        """Continues with what `save` wrote; a file that is missing or damaged only costs time."""
        try:
            with np.load(path, allow_pickle=False) as file:
                columns = {name: file[name] for name in file.files}
            seeds, lengths, sampled = columns["seeds"], columns["lengths"], columns["sampled"][:SAMPLES]
            starts = np.concatenate([[0], np.cumsum(lengths)])
            for place, seed in enumerate(seeds.tolist()):
                look = _Look(columns["positions"][place], columns["states"][place], int(columns["ui"][place]))
                steps = Steps(seed)
                steps.actions = list(columns["actions"][starts[place] : starts[place + 1]])
                entry = Entry(look, steps, len(steps.actions), int(columns["visits"][place]))
                self.entries[place] = entry
            self.positions[: len(sampled)] = sampled
            self.visits = self._samples = len(sampled)
            self.discovered, self._has_level = len(seeds), bool(len(seeds))
            if "resolution" in columns:
                self._bits, self._coarse = int(columns["resolution"][0]), float(columns["resolution"][1])
            self._refit()
        except (OSError, KeyError, ValueError, IndexError, EOFError, zipfile.BadZipFile, zlib.error):
            self.entries.clear()

    def _cell(self, look: _Look) -> Cell:
        box = np.floor(np.clip(look.position / self._box, -1e6, 1e6)).astype(int)
        normal = (look.state - self._mean) / self._scale
        bits = (self._planes[: self._bits] @ normal > 0.0).tobytes()
        return (*box.tolist(), bits, look.ui)

    def _refit(self) -> None:
        """Fits boxes and scales to what was seen so far, and sorts all entries into the new cells."""
        known = self.sampled
        low, high = np.quantile(known, (0.02, 0.98), axis=0)
        extent = np.maximum(high - low, 1e-6)
        self._box = np.maximum(extent / RESOLUTION, extent.max() / RESOLUTION / 4).astype(np.float32) * self._coarse
        states = np.array([entry.look.state for entry in self.entries.values()])
        if len(states):
            self._mean = states.mean(0)
            self._scale = np.maximum(states.std(0), 1e-3)
        before, self.entries = self.entries, {}
        for entry in before.values():
            there = self.entries.setdefault(self._cell(entry.look), entry)
            if there is not entry:
                there.visits += entry.visits
                if entry.length < there.length:
                    there.look, there.steps, there.length = entry.look, entry.steps, entry.length


def _look(seen: Seen) -> _Look:
    state = np.zeros(_STATE_NUMBERS, np.float32)
    numbers = np.nan_to_num(seen.state.astype(np.float32), nan=0.0, posinf=1e6, neginf=-1e6)[:_STATE_NUMBERS]
    state[: len(numbers)] = numbers
    position = np.zeros(3, np.float32)
    where = np.nan_to_num(seen.position.astype(np.float32), nan=0.0, posinf=1e6, neginf=-1e6)[:3]
    position[: len(where)] = where
    return _Look(position, state, screen(seen))


def screen(seen: Seen) -> int:
    """What the user interface shows: its elements, and which one is focused."""
    return zlib.crc32("\n".join((*seen.ui[:1], *sorted(seen.ui))).encode()) if seen.ui else 0
