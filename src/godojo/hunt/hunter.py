"""The hunt: games in processes of their own, each played by a team of explorers; what they meet is proven and kept."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np

from godojo.errors import GodojoError, unknown
from godojo.hunt.archive import Archive
from godojo.hunt.contract import Playable
from godojo.hunt.explorers import POLICY
from godojo.hunt.findings import (
    Book,
    Finding,
    HuntRecord,
    HuntSettings,
    Moment,
    now,
    read_findings,
    read_hunt,
    target_fields,
    target_of,
    write_hunt,
)
from godojo.hunt.game import DetectorSettings, Target
from godojo.hunt.http_game import open_target
from godojo.hunt.pace import Pace
from godojo.hunt.team import EXPLORERS, Team
from godojo.hunt.trace import Interrupted
from godojo.hunt.worker import Worker

ARCHIVE = "archive.npz"
_BEAT_S, _SAVE_S, _QUIET_S = 0.5, 10.0, 4.0
_MOST_MOMENTS = 240
Progress = Callable[[str, float | None, str], None]


class Hunt:
    """A hunt in a folder: `run` plays it, `stop` ends it early from another thread or a signal."""

    def __init__(
        self,
        folder: Path,
        target: Target,
        settings: HuntSettings,
        detectors: DetectorSettings,
        *,
        earlier: HuntRecord | None = None,
        against: Path | None = None,
        opened: Callable[[], Playable] | None = None,
    ) -> None:
        _check(settings, target)
        self.folder, self.target, self.settings, self.detectors = folder, target, settings, detectors
        pace = Pace()
        self.opened = opened or (
            lambda: open_target(target, detectors=detectors, timeout_s=settings.timeout_s, pace=pace)
        )
        self.book = Book(folder, read_findings(folder) if earlier else ())
        self.archive = Archive(settings.seed)
        if earlier is not None:
            self.archive.load(folder / ARCHIVE)
        self.record = earlier or HuntRecord(target_fields(target), settings, detectors, now())
        self.against = against
        self.old = [] if against is None else read_findings(against)
        self.fixed: list[Finding] = [] if against is not None else list(self.record.fixed)
        """Findings of the hunt of `against` that do not happen any more."""
        self._before_s = self.record.seconds
        self._moments = list(self.record.timeline)
        self._team: Team | None = None
        self._team_ready = threading.Lock()
        self.is_stopped = False
        """Whether the user has stopped it."""
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._counts = {name: getattr(self.record, name) for name in _COUNTED}
        self._errors: list[Exception] = []

    @classmethod
    def resumed(cls, folder: Path, *, minutes: float | None = None, **how: object) -> "Hunt":
        """Continues a hunt for more minutes, by default those that it was to last."""
        earlier = read_hunt(folder)
        settings = earlier.settings if minutes is None else msgspec.structs.replace(earlier.settings, minutes=minutes)
        return cls(folder, target_of(earlier.target), settings, earlier.detectors, earlier=earlier, **how)  # type: ignore[arg-type]

    def stop(self) -> None:
        """Ends the hunt soon; everything found so far is kept."""
        self.is_stopped = True
        self._stop.set()

    def run(self, progress: Progress = lambda *_: None) -> HuntRecord:
        """Plays until the time is over; returns what `hunt.json` holds."""
        self._started, self.deadline = time.monotonic(), np.inf
        workers = [
            threading.Thread(target=self._work, args=(number,), name=f"hunt-{number}", daemon=True)
            for number in range(self.settings.processes)
        ]
        for worker in workers:
            worker.start()
        saved = time.monotonic()
        try:
            while any(worker.is_alive() for worker in workers):
                workers[0].join(_BEAT_S) if workers[0].is_alive() else time.sleep(_BEAT_S)
                self._show(progress)
                if time.monotonic() - saved > _SAVE_S and not self._is_empty:
                    saved = time.monotonic()
                    self._save()
        finally:
            self._stop.set()
            for worker in workers:
                worker.join(2 * self.settings.timeout_s)
            if self._errors and self._is_empty:
                with suppress(OSError):  # nothing was played: the folder is as if nothing had been asked for
                    self.folder.rmdir()
            else:
                self._save(is_finished=not self._errors)
                self.archive.save(self.folder / ARCHIVE)
        if self._errors and (self._is_empty or not isinstance(self._errors[0], GodojoError)):
            raise self._errors[0]
        return self.record

    @property
    def _is_empty(self) -> bool:
        return not self._counts["decisions"] and not self.book.findings

    @property
    def seconds(self) -> float:
        """Of play so far, with those before it was resumed."""
        return self._before_s + time.monotonic() - self._started

    def is_over(self) -> bool:
        """Whether workers are to stop at once."""
        return self._stop.is_set()

    def _show(self, progress: Progress) -> None:
        found, decisions = len(self.book.findings), self._counts["decisions"]
        what = f"{decisions:,} decisions, {len(self.archive.entries):,} places, {found} finding{'s' * (found != 1)}"
        if not decisions:
            if self.seconds - self._before_s > _QUIET_S:  # a game that is refused is refused in a line
                progress("starting the game", None, "")
            return
        share = min((self.seconds - self._before_s) / (60.0 * self.settings.minutes), 1.0)
        progress("hunting", share, what)

    def _save(self, *, is_finished: bool = False) -> None:
        with self._lock:
            seconds, counts = self.seconds, dict(self._counts)
            if self._team is not None:  # its time has begun
                self._moments.append(Moment(round(seconds, 1), counts["decisions"], self.archive.discovered))
            if len(self._moments) > _MOST_MOMENTS:
                self._moments = self._moments[::2]
        self.book.update()
        self.record = msgspec.structs.replace(
            self.record,
            settings=self.settings,
            seconds=round(seconds, 1),
            **counts,
            shares=dict(self._team.shares) if self._team else {},
            timeline=tuple(self._moments),
            unproven=tuple(self.book.unproven.values()),
            uncounted=self.book.uncounted,
            against=str(self.against) if self.against else self.record.against,
            fixed=tuple(self.fixed),
            is_finished=is_finished,
            trouble=str(self._errors[0]) if self._errors else "",
        )
        write_hunt(self.folder, self.record)

    def count(self, **more: int) -> None:
        """Adds to the counts of the record."""
        with self._lock:
            for name, number in more.items():
                self._counts[name] += number

    def _work(self, number: int) -> None:
        worker = Worker(self, number)
        try:
            worker.run()
        except Interrupted:
            pass
        except Exception as error:  # raised again by `run`, in the user's thread
            self._errors.append(error)
            self._stop.set()
        finally:
            worker.close()

    def team(self, names: Sequence[str]) -> Team:
        """One for all workers. The first one whose game is ready makes it, and time begins to count."""
        with self._team_ready:
            if self._team is None:
                self._team = Team(list(names), self.record.shares)
                self._started = time.monotonic()
                self.deadline = self._started + 60.0 * self.settings.minutes
            return self._team


_COUNTED = ("decisions", "attempts", "launches", "returns", "arrivals")


def _check(settings: HuntSettings, target: Target) -> None:
    if not settings.minutes > 0:
        raise GodojoError(f"a hunt takes more than 0 minutes, not {settings.minutes:g}")
    if settings.processes < 1:
        raise GodojoError(f"a hunt needs 1 process or more, not {settings.processes}")
    if target.http is not None and settings.processes > 1:
        raise GodojoError("a game over HTTP is one process: start a hunt for each address")
    for name in settings.explorers:
        if name not in (*EXPLORERS, POLICY):
            raise unknown("explorer", name, (*EXPLORERS, POLICY))
