"""The hunt: games in processes of their own, each played by a team of explorers; what they meet is proven and kept."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from godojo.errors import GodojoError, unknown
from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive, Steps
from godojo.hunt.contract import Playable
from godojo.hunt.events import Event
from godojo.hunt.explorers import EXPLORERS, POLICY, SEEDS, Explorer
from godojo.hunt.findings import (
    Book,
    Finding,
    HuntRecord,
    HuntSettings,
    Moment,
    minimal_trace,
    now,
    read_finding,
    read_findings,
    read_hunt,
    target_fields,
    target_of,
    write_hunt,
)
from godojo.hunt.game import DetectorSettings, HuntedGame, Seen, Target, open_game
from godojo.hunt.prove import first_position, prove
from godojo.hunt.team import Team
from godojo.hunt.trace import Interrupted, Trace, fits, replay, without_lines

ARCHIVE = "archive.npz"
SHORTEST, LONGEST = 32, 1024
"""Decisions of an attempt."""
STOPS_AT_END = 0.7
"""Attempts that stop with their episode; the others go on into the next ones."""
_SLOW_RESET_S = 0.5
"""A game that takes longer to start afresh is played on."""
_BEAT_S, _SAVE_S = 0.5, 10.0
_MOST_MOMENTS = 240
_MOST_LOSSES = 5
"""Games in a row that could not be started."""
_SHRINK_SHARE, _LEAST_SHRINK_S = 0.1, 5.0
"""Of all time, for one finding, and the least that it gets."""
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
        _check(settings)
        self.folder, self.target, self.settings, self.detectors = folder, target, settings, detectors
        self._opened = opened or (lambda: open_game(target, detectors=detectors, timeout_s=settings.timeout_s))
        self.book = Book(folder, read_findings(folder) if earlier else ())
        self.archive = Archive(settings.seed)
        if earlier is not None:
            self.archive.load(folder / ARCHIVE)
        self.record = earlier or HuntRecord(target_fields(target), settings, detectors, now())
        self._against = against
        self._old = [] if against is None else read_findings(against)
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
        self._started, self._deadline = time.monotonic(), np.inf
        progress("starting the game", None, "")
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
                if time.monotonic() - saved > _SAVE_S:
                    saved = time.monotonic()
                    self._save()
        finally:
            self._stop.set()
            for worker in workers:
                worker.join(2 * self.settings.timeout_s)
            self._save(is_finished=not self._errors)
            self.archive.save(self.folder / ARCHIVE)
        if self._errors and (not self._counts["decisions"] or not isinstance(self._errors[0], GodojoError)):
            raise self._errors[0]
        return self.record

    @property
    def _elapsed_s(self) -> float:
        return time.monotonic() - self._started

    def _is_over(self) -> bool:
        return self._stop.is_set()

    def _show(self, progress: Progress) -> None:
        found, decisions = len(self.book.findings), self._counts["decisions"]
        what = f"{decisions:,} decisions, {len(self.archive.entries):,} places, {found} finding{'s' * (found != 1)}"
        if not decisions:
            return  # importing a project takes a while
        share = min(self._elapsed_s / (60.0 * self.settings.minutes), 1.0)
        progress("hunting", share, what)

    def _save(self, *, is_finished: bool = False) -> None:
        with self._lock:
            seconds, counts = self._before_s + self._elapsed_s, dict(self._counts)
            self._moments.append(Moment(round(seconds, 1), counts["decisions"], self.archive.discovered))
            if len(self._moments) > _MOST_MOMENTS:
                self._moments = self._moments[::2]
        found = {without_lines(one.event.signature) for one in self.book.sorted()}
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
            against=str(self._against) if self._against else self.record.against,
            fixed=tuple(one for one in self._old if without_lines(one.event.signature) not in found)
            if self._against
            else self.record.fixed,
            is_finished=is_finished,
        )
        write_hunt(self.folder, self.record)

    def _count(self, **more: int) -> None:
        with self._lock:
            for name, number in more.items():
                self._counts[name] += number

    def _open(self) -> Playable:
        self._count(launches=1)
        return self._opened()

    def _work(self, number: int) -> None:
        worker = _Worker(self, number)
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
                self._deadline = self._started + 60.0 * self.settings.minutes
            return self._team


_COUNTED = ("decisions", "attempts", "launches", "returns", "arrivals")


class _Worker:
    """One game, played by all explorers in turn."""

    def __init__(self, hunt: Hunt, number: int) -> None:
        self._hunt, self._number = hunt, number
        settings = hunt.settings
        self._rng = np.random.default_rng([settings.seed, number, hunt.record.attempts])
        self._game: Playable | None = None
        self._reset_s = 0.0

    def close(self) -> None:
        if self._game is not None:
            self._game.close()
            self._game = None

    def reopened(self) -> Playable:
        """The game in a fresh process."""
        self.close()
        self._game = self._hunt._open()
        return self._game

    def run(self) -> None:
        hunt = self._hunt
        game = self.reopened()
        self._space = ActionSpace(game.action_parts)
        seen = game.reset(int(self._rng.integers(SEEDS)))
        explorers = self._explorers(game, seen)
        team = hunt.team([one.name for one in explorers])
        if self._number == 0 and hunt._old:
            self._compare()
        losses = 0
        while not hunt._is_over() and time.monotonic() < hunt._deadline:
            explorer = team.choose(explorers)
            started, cells = time.monotonic(), hunt.archive.discovered
            found, steps = 0, Steps(0)
            try:
                found, steps = self._attempt(explorer)
                losses = 0
            except GodojoError:
                losses += 1
                if losses >= _MOST_LOSSES:
                    raise
                self.reopened()
            hunt._count(attempts=1)
            team.played(
                explorer.name,
                seconds=time.monotonic() - started,
                decisions=len(steps.actions),
                new_cells=hunt.archive.discovered - cells,
                findings=found,
            )

    def _explorers(self, game: Playable, seen: Seen) -> list[Explorer]:
        hunt, wanted = self._hunt, self._hunt.settings.explorers
        given = (self._space, hunt.archive, self._rng)
        made = [kind(*given) for name, kind in EXPLORERS.items() if name in wanted or not wanted]
        found = [one for one in made if one.fits(seen)] or [EXPLORERS["random"](*given)]
        if (POLICY in wanted or not wanted) and isinstance(game, HuntedGame):
            from godojo.hunt.policies import explorers_of  # loads torch

            found += explorers_of(hunt.target, hunt.settings.policies, game, *given)
        return found

    def _attempt(self, explorer: Explorer) -> tuple[int, Steps]:
        """Plays one attempt; returns the number of findings and what was played."""
        hunt, game, rng = self._hunt, self._game, self._rng
        assert game is not None
        start = explorer.begin(game)
        steps = Steps(start.seed, explorer.name)
        is_slow = self._reset_s > _SLOW_RESET_S
        longest = int(np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST)))) * (1 + is_slow)
        stops_at_end = not is_slow and rng.random() < STOPS_AT_END
        most = len(start) + longest
        if hunt.settings.reload_every is not None:
            most, stops_at_end = hunt.settings.reload_every, False
        began = time.monotonic()
        seen = game.reset(start.seed)
        self._reset_s = 0.8 * self._reset_s + 0.2 * (time.monotonic() - began)
        target = explorer.returns_to
        while True:
            claimed = next((event for event in seen.events if hunt.book.claim(event)), None)
            if claimed is not None:
                return self._prove(steps, claimed), steps
            if game.is_lost:
                return 0, steps
            cell, novelty = hunt.archive.visit(seen, steps)
            played = len(steps.actions)
            if played == len(start) and target is not None:
                hunt._count(returns=1, arrivals=int(cell == target))
            if played > len(start):
                explorer.learn(cell, novelty)
            is_end = stops_at_end and seen.ended and played > len(start)
            if played >= most or is_end or hunt._is_over() or time.monotonic() > hunt._deadline:
                return 0, steps
            action = start.actions[played] if played < len(start) else explorer.choose(seen)
            steps.actions.append(np.array(action, np.float32))
            seen = game.step(steps.actions[-1])
            hunt._count(decisions=1)

    def _prove(self, steps: Steps, event: Event) -> int:
        hunt = self._hunt
        original = steps.trace() if steps.actions else Trace(steps.seed, self._no_actions(), steps.explorer)
        found_after_s = hunt._before_s + hunt._elapsed_s
        left_s = max(_SHRINK_SHARE * (hunt._deadline - hunt._started), _LEAST_SHRINK_S)
        try:
            proof = prove(
                self.reopened,
                original,
                event,
                proofs=hunt.settings.proofs,
                shrink_seconds=min(hunt.settings.shrink_seconds, left_s),
                archive=hunt.archive,
                is_over=hunt._is_over,
            )
        except (Interrupted, GodojoError):
            hunt.book.release(event)
            raise
        if proof is None:
            hunt.book.give_up(event)
            return 0
        assert self._game is not None
        finding = Finding(
            hunt.book.number(),
            proof.event,
            original.explorer,
            original.seed,
            round(found_after_s, 1),
            len(original),
            len(proof.minimal),
            proof.is_minimal,
            proof.replays,
            proof.reproduced,
            status="still there" if self._is_old(event) else "new",
            target=hunt.record.target,
            detectors=hunt.detectors,
            timeout_s=hunt.settings.timeout_s,
            level=first_position(proof.path),
        )
        hunt.book.add(finding, proof.minimal, original, self._game.action_parts, proof.log, proof.path)
        return 1

    def _no_actions(self) -> np.ndarray:
        return np.zeros((0, self._space.size), np.float32)

    def _is_old(self, event: Event) -> bool:
        return any(without_lines(one.event.signature) == without_lines(event.signature) for one in self._hunt._old)

    def _compare(self) -> None:
        """Replays the findings of an earlier hunt: those that happen again are still there."""
        hunt = self._hunt
        assert hunt._against is not None
        for old in hunt._old:
            folder = hunt._against / old.folder
            trace, parts = minimal_trace(folder)
            game = self.reopened()
            if not fits(game, parts):
                continue
            for _ in range(2):
                if hunt._is_over():
                    return
                found = replay(game, trace, old.event.signature, lines_moved=True, is_over=hunt._is_over)
                if found.event is not None:
                    if hunt.book.claim(found.event):
                        steps = Steps(trace.seed, trace.explorer)
                        steps.actions = list(trace.actions)
                        self._prove(steps, found.event)
                    break


def _check(settings: HuntSettings) -> None:
    if not settings.minutes > 0:
        raise GodojoError(f"a hunt takes more than 0 minutes, not {settings.minutes:g}")
    if settings.processes < 1:
        raise GodojoError(f"a hunt needs 1 process or more, not {settings.processes}")
    for name in settings.explorers:
        if name not in (*EXPLORERS, POLICY):
            raise unknown("explorer", name, (*EXPLORERS, POLICY))


def reproduce(
    folder: Path,
    *,
    times: int = 1,
    window: bool = False,
    project: Path | None = None,
    binary: Path | None = None,
) -> tuple[Finding, int]:
    """Replays a finding's minimal actions in a fresh process; returns it and how often it happened.

    `project` or `binary`: in another build than the one it was found in.
    """
    finding = read_finding(folder)
    trace, parts = minimal_trace(folder)
    target = target_of(finding.target)
    if project is not None:
        target = replace(target, project=project.expanduser().absolute(), binary=None)
    elif binary is not None:
        target = replace(target, game=None, project=None, scene=None, binary=binary.expanduser().absolute())
    with open_game(target, detectors=finding.detectors, window=window, timeout_s=finding.timeout_s) as game:
        if not fits(game, parts):
            raise GodojoError(f"the game has other actions than when {folder} was found; hunt again")
        hits = sum(
            replay(game, trace, finding.event.signature, lines_moved=True).event is not None for _ in range(times)
        )
    return finding, hits
