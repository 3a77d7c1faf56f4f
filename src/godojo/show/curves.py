"""A run's tables as curves: rounds gathered into bins, each with an interval."""

import csv
import functools
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from godojo.errors import GodojoError
from godojo.evaluation.intervals import Mean, wilson
from godojo.runs.episodes import NOW, REWARD, SCORE
from godojo.runs.folder import RunFolder
from godojo.runs.tables import columns_of
from godojo.show.style import role_colours

BINS = 36
FEWEST = 12
"""Rounds in a bin; those with fewer are dropped."""
MOST_BYTES = 24 * 2**20
"""A longer table is sampled in evenly spread pieces."""
PIECES = 96

Summary = Callable[[np.ndarray], tuple[float, float, float]]
"""Low, middle and high of a bin's values."""


@dataclass(frozen=True)
class Curve:
    """A line and the bounds around it."""

    at: np.ndarray
    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray

    def __len__(self) -> int:
        return len(self.at)


class RunTables:
    """The tables of a run. Rounds are sampled where there are too many to read."""

    def __init__(self, run: RunFolder) -> None:
        self.run = run
        self.roles = run.config.roles
        self.colours = role_colours(run.config.game, self.roles)
        self._rounds, self.updates = read_table(run.metrics), read_table(run.updates)
        self.rounds = self._rounds.columns
        if not len(self.rounds.get("episode", ())):
            raise GodojoError(f"run {run.run_id} has no round in metrics.csv yet; train it longer")

    def terms(self, role: str) -> list[str]:
        """Names of the terms that the role's reward is the sum of."""
        names = list(self.rounds)
        first, last = (names.index(f"{role}_{name}") for name in (REWARD, SCORE))  # measures come after the score
        return [name.removeprefix(f"{role}_") for name in names[first + 1 : last]]

    def numbers(self, name: str) -> np.ndarray:
        return self._rounds.numbers(name)

    def updates_of(self, name: str, x: str) -> tuple[np.ndarray, np.ndarray]:
        """A column of updates.csv and its x values, without updates that have no value."""
        at, values = self.updates.numbers(x), self.updates.numbers(name)
        if len(values) != len(at):
            return np.zeros(0), np.zeros(0)
        known = np.isfinite(values)
        return at[known], values[known]

    def rating(self, role: str, x: str) -> tuple[np.ndarray, np.ndarray]:
        """Empty while all values are equal: ratings start equal."""
        at, values = self.updates_of(f"{role}/rollout/rating", x)
        return (at, values) if len(values) and np.ptp(values) > 0.0 else (at[:0], values[:0])

    def last(self, name: str) -> float:
        """The largest of both tables: a round is stamped with the steps at which its update began."""
        return float(np.append(self.numbers(name), self.updates.numbers(name)).max())

    def win_rate(self, role: str, x: str, *, against_past: bool) -> Curve:
        """The role's win rate: against the other side's current policy, or against past checkpoints."""
        won = np.array([winner == role for winner in self.rounds["winner"]])

        def share(part: np.ndarray) -> tuple[float, float, float]:
            low, high = wilson(int(part.sum()), len(part))
            return low, float(part.mean()), high

        return self._binned(x, won, share, self._against(role, against_past))

    def mean(self, name: str, x: str, where: np.ndarray | None = None) -> Curve:
        def mean(part: np.ndarray) -> tuple[float, float, float]:
            found = Mean.of(part)
            return found.low, found.mean, found.high

        return self._binned(x, self.numbers(name), mean, where)

    def score(self, role: str, x: str) -> Curve:
        """The role's score; where its agents play against each other, in rounds against opponents."""
        met = self._against(role, True)
        return self.mean(f"{role}_score", x, met if met.any() else None)

    def spread(self, name: str, x: str) -> Curve:
        """The median, with the range of eight in ten rounds."""

        def tenths(part: np.ndarray) -> tuple[float, float, float]:
            low, middle, high = np.percentile(part, (10, 50, 90))
            return float(low), float(middle), float(high)

        return self._binned(x, self.numbers(name), tenths)

    def _binned(self, x: str, values: np.ndarray, summary: Summary, where: np.ndarray | None = None) -> Curve:
        places, at, rows = self._bins, self.numbers(x), []
        known = np.isfinite(values) if where is None else np.isfinite(values) & where
        for number in range(int(places.max()) + 1):
            here = (places == number) & known
            if np.count_nonzero(here) >= FEWEST:
                rows.append((float(at[here].mean()), *summary(values[here])))
        found = np.array(rows).T if rows else np.zeros((4, 0))
        return Curve(*found)

    @functools.cached_property
    def _bins(self) -> np.ndarray:
        """The bin of each round, by agent-steps.

        All worlds begin at once, so for a while all rounds that are played to the end of the clock end together, and
        short ones in between. A bin is as long as one or more such rounds, or its shares would swing with the clock.
        """
        steps, lengths = self.numbers("agent_steps"), self.numbers("length_s")
        whole = max(float(steps.max()), 1.0)  # rounds of the first update alone are at 0
        worlds = float(self.run.config.learner_settings.get("num_worlds", 0))
        played_s = float(lengths.mean() * self.numbers("episode")[-1]) / worlds if worlds else 0.0
        most = min(BINS, max(len(steps) // (4 * FEWEST), 1))  # a bin's rounds are against several opponents
        rounds = played_s / float(np.percentile(lengths, 99)) if played_s else most
        bins = int(rounds / np.ceil(rounds / most)) if rounds >= 1.0 else 1
        # A round that ends just where a bin does belongs to it, not to the next.
        found: np.ndarray = np.maximum(np.ceil(steps / whole * max(bins, 1) - 1e-6) - 1, 0).astype(np.int64)
        return found

    def _against(self, role: str, past: bool) -> np.ndarray:
        others = [self.rounds[f"{role}_against"]] if past else [self.rounds[f"{each}_against"] for each in self.roles]
        met_past = np.any([[name not in (NOW, "") for name in names] for names in others], axis=0)
        found: np.ndarray = met_past if past else ~met_past
        return found


def smooth(values: np.ndarray, width: int) -> np.ndarray:
    """A running mean that does not reach beyond the ends."""
    if width < 2 or len(values) < 3:
        return values
    kernel = np.ones(min(width, len(values)))
    found: np.ndarray = np.convolve(values, kernel, "same") / np.convolve(np.ones_like(values), kernel, "same")
    return found


class Table:
    """A table of texts, by columns."""

    def __init__(self, columns: Mapping[str, Sequence[str]], path: Path | None = None) -> None:
        self.columns, self._path = columns, path

    def numbers(self, name: str) -> np.ndarray:
        """Not a number where there is none; empty where there is no such column."""
        texts = self.columns.get(name, ())
        try:
            return np.array(texts, np.float64)
        except ValueError:
            return np.array([self._number(name, text) for text in texts])

    def _number(self, name: str, text: str) -> float:
        try:
            return float(text) if text else np.nan
        except ValueError:
            raise GodojoError(f"{self._path} is damaged: {name} is {text[:40]!r} in a row; delete that row") from None


def read_table(path: Path) -> Table:
    """A table of a run, which may be growing: an unfinished row is dropped. No rows where there is no file."""
    try:
        with path.open("rb") as file:
            header = columns_of(file.readline(), path)
            texts = _pieces(file)
    except FileNotFoundError:
        return Table({})
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None
    rows: list[list[str]] = []
    for text in texts:
        whole = text[: text.rfind(b"\n") + 1].decode(errors="replace")
        try:
            rows += list(csv.reader(io.StringIO(whole)))
        except csv.Error as error:
            raise GodojoError(f"{path} is damaged ({error}); delete the row that is, or move the table away") from None
    spoilt = next((row for row in rows if len(row) != len(header)), None)
    if spoilt is not None:
        begin = ",".join(spoilt)[:40]
        raise GodojoError(f"{path} is damaged: the row {begin!r}... has not {len(header)} columns; delete that row")
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    return Table(dict(zip(header, columns, strict=True)), path)


def _pieces(file: BinaryIO) -> list[bytes]:
    """The rest of the file, or evenly spread pieces where it is too long; each begins with a row."""
    start = file.tell()
    size = file.seek(0, io.SEEK_END) - start
    file.seek(start)
    if size <= MOST_BYTES:
        return [file.read()]
    texts = []
    for piece in range(PIECES):
        file.seek(start + size * piece // PIECES)
        if piece:
            file.readline()
        texts.append(file.read(MOST_BYTES // PIECES))
    return texts
