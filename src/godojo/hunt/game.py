"""A game that is hunted: one engine process, played by decision, with everything that detectors see."""

import math
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from godojo.bridge.codec import StepFrame
from godojo.bridge.messages import GameRefused, PeerTimeout, Ready
from godojo.engines.godot.arrays import checked_seed, game_seed
from godojo.errors import GodojoError
from godojo.games.parts import ActionPart
from godojo.hunt.actions import ActionSpace
from godojo.hunt.budgets import BudgetDetector
from godojo.hunt.detectors import DetectorSettings, LogDetector, ProgressDetector, backtrace
from godojo.hunt.events import FREEZE, HANGS, Event, event
from godojo.hunt.features import FeatureReader
from godojo.hunt.invariants import Invariant
from godojo.hunt.pace import Pace
from godojo.hunt.probe import BODIES, STATE_HEAD, Report
from godojo.hunt.seen import Clicks, Place, Seen, event_of
from godojo.hunt.session import LOST, OutOfMemory, Session
from godojo.hunt.target import Launch, Target, prepared
from godojo.hunt.twin import TwinDetector, twin_of

__all__ = ["DetectorSettings", "Event", "HuntedGame", "Place", "Seen", "Target", "open_game"]

_KEPT_LINES = 2000
_MEMORY_DECISIONS = 64
"""Between two looks at the memory of the process."""
_SIGNALS = 128
"""Exit statuses from here on are signals, as shells report them."""
_BEGUN = "Godojo: the scene is loaded anew"
"""Printed between an old scene and a new one (`dojo_probe.gd`)."""
_MOST_OBSERVED = 128
"""Numbers of the observation that are part of the state."""
_MISREAD = "Parse Error"
_NOTHING = Seen(np.zeros(0, np.float32), np.zeros(3, np.float32), (), (), 0.0, True, np.zeros(0, np.float32))
"""What is seen of a game that is lost before its first round."""


class HuntedGame:
    """One engine process. A crash, a freeze or an exit is an event; the next `reset` starts the game again."""

    def __init__(
        self,
        launch: Launch,
        settings: DetectorSettings | None = None,
        invariants: Sequence[Invariant] = (),
        *,
        timeout_s: float = 10.0,
        twin: TwinDetector | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._twin, self._pace = twin, pace or Pace()
        self._settings = settings or DetectorSettings()
        self.session = Session(launch, self._settings, timeout_s, self._pace)
        self.log: deque[str] = deque(maxlen=_KEPT_LINES)
        """The last lines of the game's output, of all its processes."""
        self.decisions = 0
        self._known: set[str] = set()
        self._detector = LogDetector(self._settings)
        self._progress, self._budgets = ProgressDetector(self._settings), BudgetDetector(self._settings)
        self._invariants, self._features = invariants, FeatureReader()
        self._may_be_quick = True
        self._first_values: dict[str, str] = {}
        """Of autoloads in a new process."""
        self._early: list[Event] = []
        """Events that were seen while the game kept us waiting."""
        try:
            self.ready = self.session.start(0)
        except BaseException:
            self.close()
            raise
        lines = self.session.new_lines()
        self.log.extend(lines)
        self.is_misread = any(_MISREAD in line for line in lines)
        """Whether the engine could not read a script."""
        self._startup = [one for one in self._detector.read(lines, is_end=True) if one.detector == "script_error"]
        """Of the first process; later ones load their scripts from memory."""
        self.action_parts = action_parts_of(self.ready)
        """The parts of an action: those of all agents, role by role."""
        self._progress.parts = self.action_parts
        self._clicks = Clicks(ActionSpace(self.action_parts))
        self.state_names = _state_names(self.ready)
        """What the numbers of `Seen.state` are."""
        self._last: Seen

    @property
    def is_lost(self) -> bool:
        """Whether the process is gone; `reset` starts another."""
        return self.session.is_lost

    @property
    def starts(self) -> int:
        """Processes that were started."""
        return self.session.starts

    @property
    def is_hurried(self) -> bool:
        """Whether a freeze is noticed sooner, by what the game usually takes."""
        return self.session.is_hurried

    @is_hurried.setter
    def is_hurried(self, is_hurried: bool) -> None:
        self.session.is_hurried = is_hurried

    def restart(self, seed: int) -> Seen:
        """Begins the game anew in a new process, which finds the data of the one before."""
        self._begin()
        number = game_seed(checked_seed(seed), 0, 0)
        try:
            self.session.restart(number)
            return self._seen(self.session.reset(number))
        except LOST as error:
            self._lose(error)
            raise GodojoError(f"the game cannot be restarted: {error}") from None

    @property
    def settings_left(self) -> frozenset[str]:
        """Paths of settings that were changed, and whose screens were left."""
        return frozenset(msgspec.json.decode(self.session.report.left, type=dict[str, Any]))

    def _begin(self) -> None:
        self._known.clear()
        self._progress.begin()
        self._budgets.begin()
        self._features.begin()
        self._clicks.begin()

    def reset(self, seed: int) -> Seen:
        """Begins the game anew. The same seed and the same actions give the same states. A game that crashes or
        freezes at its start is lost, and that is an event."""
        number = game_seed(checked_seed(seed), 0, 0)
        self._begin()
        if self.session.has_process:
            self._read_log(is_end=True)  # what the round before has left
        for attempt in (1, 2):
            try:
                was_reloaded = self.session.begin(number)
                if was_reloaded:
                    self._skip_old_scene()
                seen = self._seen(self.session.reset(number))
                if not was_reloaded:
                    self._first_values = self._kept_values()
                if self._is_as_new():
                    self._last = seen._replace(events=(*seen.events, *self._fresh(self._startup)))
                    return self._last
                self.session.is_quick, self._may_be_quick = False, False
                return self.reset(seed)
            except LOST as error:
                found = self._fresh(self._lose(error))
                if found:
                    self._last = _NOTHING._replace(events=found)
                    return self._last
                if attempt == 2:
                    raise GodojoError(f"the game cannot be reset: {error}") from None
        raise AssertionError

    @property
    def is_quick(self) -> bool:
        """Whether `reset` may restore autoloads instead of starting a process: quick, and not always exact."""
        return self.session.is_quick

    @is_quick.setter
    def is_quick(self, is_quick: bool) -> None:
        self.session.is_quick = is_quick and self._may_be_quick

    def _is_as_new(self) -> bool:
        """Whether restored autoloads have the values that they have in a new process."""
        return not self.session.is_quick or self._kept_values() == self._first_values

    def _kept_values(self) -> dict[str, str]:
        report = self.session.report
        own = {f"/root/{name}" for name in report.restored}
        values = zip(report.variables, report.values.tolist(), strict=False)
        return {name: repr(value) for name, value in values if name.partition(":")[0] in own}

    def _skip_old_scene(self) -> None:
        """What the old scene printed while it was replaced is not the new one's."""
        lines = self.session.new_lines()
        self.log.extend(lines)
        begun = max((place for place, line in enumerate(lines) if line == _BEGUN), default=-1)
        self._early = list(self._detector.read(lines[begun + 1 :], is_end=True))

    def step(self, action: np.ndarray) -> Seen:
        """Plays one decision."""
        try:
            frame = self.session.step(self._split(action), self._read_ahead)
            seen = self._seen(frame, np.asarray(action, np.float32))
            if self.decisions % _MEMORY_DECISIONS == 0:
                self.session.check_memory()
        except LOST as error:
            events = self._fresh(self._lose(error))
            self._last = self._last._replace(events=events, reward=0.0, ended=True)
            return self._last
        self.decisions += 1
        return seen

    @property
    def ui_points(self) -> dict[str, tuple[float, float]]:
        """Where each usable element of the UI is on the screen, as the action part `pointer` has it."""
        return {path: (x, y) for path, x, y in self.session.report.ui}

    def screenshot(self, path: Path) -> None:
        """Saves a picture of the game as it is now; it must have been opened with a window or to be filmed."""
        self.session.notice(f"hunt:picture {path.absolute()}")
        deadline = time.monotonic() + self.session.timeout_s
        while not path.is_file():
            if time.monotonic() > deadline:
                raise GodojoError("the game cannot draw: open it with window=True")
            time.sleep(0.01)

    def close(self) -> None:
        """Ends the process."""
        self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_ahead(self) -> None:
        self._early = self._read_log()

    def _seen(self, frame: StepFrame, action: np.ndarray | None = None) -> Seen:
        observation = np.concatenate([role.observation.reshape(-1) for role in frame.roles])
        reward = sum(float(role.terms.sum()) for role in frame.roles)
        report = self.session.probed()
        state = np.concatenate([report.state, observation[:_MOST_OBSERVED]])
        ui = tuple(path for path, _, _ in report.ui)
        features = self._features.read(report.variables, report.values, report.branches)
        seen = Seen(state, report.position, ui, (), reward, len(frame.ended) > 0, observation, features, report.places)
        seen = seen._replace(aim=report.aim, scenes=int(report.metrics["scenes"]))
        # The engine prints a complaint at once, before the game answers.
        events = [*map(event_of, report.events), *self._read_log(is_end=True), *self._repaired(frame)]
        for invariant in self._invariants:
            events += invariant.check(self._described(seen, report))
        if action is not None:
            sight = state.tobytes() + repr(ui).encode()
            elements, clicked = self._clicks.look(action, report.ui)
            has_player = report.metrics["has_player"] > 0.0
            events += self._progress.look(
                action, sight, seen.position, elements, clicked, has_player=has_player, ended=seen.ended
            )
            counts = {"nodes": float(state[1]), "scene": float(state[0]), "ended": float(seen.ended)}
            metrics = {**report.metrics, **counts}
            events += self._budgets.look(metrics, frame.engine_us * 1e-3, self.session.waited_ms)
            events += [] if self._twin is None else self._twin.look(frame, self._split(action))
        elif self._twin is not None:
            self._twin.begin(frame)
        self._last = seen._replace(events=self._fresh(events))
        return self._last

    def _described(self, seen: Seen, report: Report) -> dict[str, Any]:
        """The state as users' invariants get it."""
        first = len(STATE_HEAD)
        bodies = {}
        for index, path in enumerate(report.bodies):
            at = first + 6 * index
            bodies[path] = {
                "position": tuple(seen.state[at : at + 3].tolist()),
                "velocity": tuple(seen.state[at + 3 : at + 6].tolist()),
            }
        return {
            "scene": report.scene,
            "position": tuple(seen.position.tolist()),
            "bodies": bodies,
            "ui": seen.ui,
            "observation": seen.observation,
            "reward": seen.reward,
            "ended": seen.ended,
            "nodes": int(seen.state[1]),
            "variables": dict(zip(report.variables, report.values.tolist(), strict=False)),
            **report.metrics,
        }

    def _repaired(self, frame: StepFrame) -> list[Event]:
        """Observations and rewards that are not numbers."""
        found = []
        for role, agent, field, _ in frame.repairs if self._settings.nan else ():
            nodes = next((each.nodes for each in self.ready.roles if each.name == role), ())
            node = nodes[agent] if agent < len(nodes) else role
            found.append(event("nan", f"{node}: {field} is not finite", pattern=field, node=node))
        return found

    def _read_log(self, *, is_end: bool = False) -> list[Event]:
        early, self._early = self._early, []
        lines = self.session.new_lines()
        self.log.extend(lines)
        return [*early, *self._detector.read(lines, is_end=is_end)] if lines or is_end else early

    def _lose(self, error: GodojoError) -> list[Event]:
        """Ends what is left of the process; what happened to it, and what its log has."""
        is_frozen = isinstance(error, PeerTimeout)
        ending = self.session.lose(is_frozen=is_frozen)
        early, self._early = self._early, []
        self.log.extend(ending.lines)
        found = [*early, *self._detector.read(ending.lines, is_end=True)]
        frames, ended = backtrace(ending.lines), None
        if is_frozen:
            # A loop may be caught anywhere in what it calls; what called it is always the same.
            place, where = (f"{frames[-1].file}:{frames[-1].function}", f" in {frames[0]}") if frames else ("", "")
            ended = event(FREEZE, f"the game {error}{where}", place=place, pattern=HANGS)
        elif isinstance(error, OutOfMemory):
            ended = event("memory_budget", f"the game {error}")
        elif isinstance(error, GameRefused):
            ended = event("exit", str(error))
        elif ending.status is None:
            ended = event("exit", f"the game left the hunt: {error}")
        elif ending.status < 0 or ending.status >= _SIGNALS:
            place, where = (f"{frames[0].file}:{frames[0].line}", f" in {frames[0]}") if frames else ("", "")
            ended = event("crash", f"the game {ending.words}{where}", place=place, pattern="crash")
        elif ending.status > 0 or self._settings.exits:
            ended = event("exit", f"the game {ending.words}")
        return found if ended is None else [ended, *found]

    def _fresh(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Those that have not been seen since the last reset."""
        fresh = {one.signature: one for one in events if one.signature not in self._known}
        self._known.update(fresh)
        return tuple(fresh.values())

    def _split(self, action: np.ndarray) -> list[np.ndarray]:
        """An action as the wire has it: an array of each role."""
        numbers = np.ascontiguousarray(action, np.float32).reshape(-1)
        width = sum(part.width for part in self.action_parts)
        if numbers.size != width or not np.isfinite(numbers).all():
            raise GodojoError(f"an action has {width} finite numbers, not {numbers.size}")
        split, first = [], 0
        for role in self.ready.roles:
            shape = (self.ready.worlds, role.agents, role.action_size)
            last = first + math.prod(shape)
            split.append(numbers[first:last].reshape(shape))
            first = last
        return split


def open_game(
    target: Target,
    *,
    detectors: DetectorSettings | None = None,
    window: bool = False,
    is_filmed: bool = False,
    timeout_s: float = 10.0,
    pace: Pace | None = None,
) -> HuntedGame:
    """Opens a game, ready for `reset`; `is_filmed`: it draws when it is asked for a screenshot."""
    invariants = [Invariant(text) for text in target.invariants]
    try:
        launch = prepared(target, window=window, is_filmed=is_filmed)
        game = _opened(launch, target, detectors, invariants, timeout_s, pace)
    except GodojoError as error:
        if _MISREAD not in str(error):
            raise
    else:
        if not game.is_misread:
            return game
        game.close()
    # As its author wrote it: what counts the branches of its scripts may be to blame.
    launch = prepared(target, window=window, is_filmed=is_filmed, counts_branches=False)
    return _opened(launch, target, detectors, invariants, timeout_s, pace)


def _opened(
    launch: Launch,
    target: Target,
    detectors: DetectorSettings | None,
    invariants: Sequence[Invariant],
    timeout_s: float,
    pace: Pace | None,
) -> HuntedGame:
    try:
        twin = twin_of(target.game, dict(target.options)) if (detectors or DetectorSettings()).twin else None
        return HuntedGame(launch, detectors, invariants, timeout_s=timeout_s, twin=twin, pace=pace)
    except BaseException:
        launch.resources.close()
        raise


def action_parts_of(ready: Ready) -> tuple[ActionPart, ...]:
    several = sum(role.agents for role in ready.roles) > 1
    return tuple(
        msgspec.structs.replace(part, name=f"{role.name}{agent}.{part.name}") if several else part
        for role in ready.roles
        for agent in range(role.agents * ready.worlds)
        for part in role.action
    )


def _state_names(ready: Ready) -> tuple[str, ...]:
    """As `dojo_probe_state.gd` reads them, and then the observation."""
    bodies = [f"body{body}.{axis}" for body in range(BODIES) for axis in ("x", "y", "z", "vx", "vy", "vz")]
    size = sum(role.agents * role.observation_size for role in ready.roles) * ready.worlds
    return (*STATE_HEAD, *bodies, *(f"observation{index}" for index in range(min(size, _MOST_OBSERVED))))
