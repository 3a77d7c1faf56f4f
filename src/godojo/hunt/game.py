"""A game that is hunted: one engine process, played by decision, with everything that detectors see."""

import math
import os
import secrets
import signal
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from godojo.bridge.codec import StepFrame
from godojo.bridge.listener import Connection, Listener
from godojo.bridge.messages import Configure, ConnectionLost, GameRefused, PeerTimeout, Ready, WireError
from godojo.engines.godot.arrays import checked_seed, game_seed
from godojo.engines.godot.game_process import GameProcess
from godojo.errors import GodojoError
from godojo.games.parts import ActionPart
from godojo.hunt.detectors import BudgetDetector, DetectorSettings, LogDetector, ProgressDetector, backtrace
from godojo.hunt.events import Event, event
from godojo.hunt.invariants import Invariant
from godojo.hunt.probe import ProbeServer, Report
from godojo.hunt.target import Launch, Target, prepared
from godojo.hunt.usage import cpu_ms, resident_mb

__all__ = ["DetectorSettings", "Event", "HuntedGame", "Seen", "Target", "open_game"]

_START_S = 60.0
_SLICE_S = 0.25
"""How often a game that keeps us waiting is looked at: its log must stay small."""
_LAST_BREATH_S = 1.0
_KEPT_LINES = 2000
_BEGUN = "Godojo: the scene is loaded anew"
"""Printed between an old scene and a new one (`dojo_probe.gd`)."""
_SIGNALS = 128
"""Exit statuses from here on are signals, as shells report them."""
_MOST_OBSERVED = 128
"""Numbers of the observation that are part of the state."""
_HEAD = ("scene", "nodes", "bodies", "focus", "elements", "texts", "paused")
_BODIES = 8
_Lost = (ConnectionLost, PeerTimeout, WireError)


class Seen(NamedTuple):
    """What there is after a reset or a decision."""

    state: np.ndarray
    """float32: where moving bodies are, what the UI shows; see `HuntedGame.state_names`."""
    position: np.ndarray
    """float32 [3]: of what is played, for maps of the level."""
    ui: tuple[str, ...]
    """Visible, enabled elements of the UI, the focused one first."""
    events: tuple[Event, ...]
    """Each signature once from reset to reset."""
    reward: float
    ended: bool
    """Whether an episode ended; the game has started the next one, unless it `is_lost`."""
    observation: np.ndarray
    """float32: the observations of all agents, as `HuntedGame.ready` describes them."""


class HuntedGame:
    """One engine process. A crash, a freeze or an exit is an event; the next `reset` starts the game again."""

    def __init__(
        self,
        launch: Launch,
        settings: DetectorSettings | None = None,
        invariants: Sequence[Invariant] = (),
        *,
        timeout_s: float = 10.0,
    ) -> None:
        self._launch, self._settings, self._timeout_s = launch, settings or DetectorSettings(), timeout_s
        self.log: deque[str] = deque(maxlen=_KEPT_LINES)
        """The last lines of the game's output, of all its processes."""
        self._lines_read = 0
        self.decisions = 0
        self.starts = 0
        """Processes that were started."""
        self._known: set[str] = set()
        self._started_with: int | None = None
        """The seed of a process that has not been played yet."""
        self._probe = ProbeServer()
        self._listener: Listener | None = None
        self._process: GameProcess | None = None
        self._connection: Connection | None = None
        self._detector = LogDetector(self._settings)
        self._progress, self._budgets = ProgressDetector(self._settings), BudgetDetector(self._settings)
        self._invariants = invariants
        self._early: list[Event] = []
        """Events that were seen while the game kept us waiting."""
        try:
            self.ready = self._start(0)
        except BaseException:
            self.close()
            raise
        self.action_parts = _action_parts(self.ready)
        """The parts of an action: those of all agents, role by role."""
        self.state_names = _state_names(self.ready)
        """What the numbers of `Seen.state` are."""
        self._last: Seen

    @property
    def is_lost(self) -> bool:
        """Whether the process is gone; `reset` starts another."""
        return self._connection is None

    def reset(self, seed: int) -> Seen:
        """Begins the game anew. The same seed and the same actions give the same states."""
        number = game_seed(checked_seed(seed), 0, 0)
        self._known.clear()
        self._progress.begin()
        self._budgets.begin()
        if self._process is not None:
            self._read_log(is_end=True)  # what the round before has left
        for attempt in (1, 2):
            try:
                self._begin(number)
                assert self._connection is not None
                return self._seen(self._connection.reset(number, _START_S))
            except _Lost as error:
                found = self._lose(error)
                if attempt == 2:
                    raise GodojoError(f"the game cannot be reset: {found[0].message}") from None
        raise AssertionError

    def _begin(self, seed: int) -> None:
        """The game as it is when it has just been started."""
        if self._connection is None or (self._launch.needs_process and self._started_with != seed):
            self._start(seed)
        elif not self._launch.needs_process:
            self._connection.notice(f"hunt:reload {seed}")
            self._connection.close("the game begins anew")
            self._connection = None
            self._connect()
            self._skip_old_scene()
        self._started_with = None

    def _skip_old_scene(self) -> None:
        """What the old scene printed while it was replaced is not the new one's."""
        assert self._process is not None
        lines = list(self._process.new_lines())
        self.log.extend(lines)
        begun = max((place for place, line in enumerate(lines) if line == _BEGUN), default=-1)
        self._early = list(self._detector.read(lines[begun + 1 :], is_end=True))

    def step(self, action: np.ndarray) -> Seen:
        """Plays one decision."""
        if self._connection is None:
            raise GodojoError("the game is gone: call reset(seed) first")
        try:
            self._connection.send_actions(self._split(action), self._timeout_s)
            seen = self._seen(self._awaited(), np.asarray(action, np.float32))
        except _Lost as error:
            events = self._fresh(self._lose(error))
            self._last = self._last._replace(events=events, reward=0.0, ended=True)
            return self._last
        self.decisions += 1
        return seen

    @property
    def ui_points(self) -> dict[str, tuple[float, float]]:
        """Where each usable element of the UI is on the screen, as the action part `pointer` has it."""
        return {path: (x, y) for path, x, y in self._probe.report.ui}

    def screenshot(self, path: Path) -> None:
        """Saves a picture of the game as it is now; it must have been opened with a window."""
        if self._connection is None:
            raise GodojoError("the game is gone: there is nothing to be seen")
        self._connection.notice(f"hunt:picture {path.absolute()}")
        deadline = time.monotonic() + self._timeout_s
        while not path.is_file():
            if time.monotonic() > deadline:
                raise GodojoError("the game cannot draw: open it with window=True")
            time.sleep(0.01)

    def close(self) -> None:
        """Ends the process."""
        self._end_process()
        self._probe.close()
        self._launch.resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, seed: int) -> Ready:
        self._end_process()
        recipe = self._launch.recipe
        token = secrets.token_urlsafe(24) if recipe.wire == "dojo/1" else None  # godot_rl has no tokens
        self._listener = Listener(port=0, token=token, wire=recipe.wire)
        self._probe.begin()
        env = {"GODOJO_PROCESS": "0", "GODOJO_HUNT_SEED": str(seed), **self._launch.env, **self._probe.env}
        env["GODOJO_HUNT_SETTINGS"] = msgspec.json.encode(self._settings).decode()
        if recipe.wire != "godot_rl":
            env |= {"GODOJO_HOST": "127.0.0.1", "GODOJO_PORT": str(self._listener.port), "GODOJO_TOKEN": token or ""}
        self._process = GameProcess(recipe.words(self._listener.port, seed % 2**31), env)
        self.starts += 1
        self._started_with = seed
        try:
            return self._connect()
        except GameRefused as error:
            raise GodojoError(f"the game refused to play: {error}") from None
        except _Lost as error:
            self._process.wait(_LAST_BREATH_S)
            raise GodojoError(f"the game did not start: {error}; {self._process.quoted()}") from None

    def _connect(self) -> Ready:
        """Waits for the game's call, and configures it."""
        assert self._listener is not None
        self._connection = self._listener.accept(_START_S, until=self._check_alive)
        request = Configure(1, self._launch.ticks_per_decision, dict(self._launch.options))
        return self._connection.configure(request, _START_S)

    def _end_process(self) -> None:
        if self._connection is not None:
            self._connection.close("the hunt is over")
            self._connection = None
        if self._process is not None:
            self._process.end()
            self._process = None
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def _check_alive(self) -> None:
        assert self._process is not None
        if self._process.alive():
            return
        if self._process.status == 0:
            raise GodojoError(
                "the game quits at once: hunt a scene that stays (scene), or have it wait for a person;"
                f" {self._process.quoted()}"
            )
        if self._process.could_not_start():
            raise GodojoError(f"the game cannot start on this machine: {self._process.quoted()}")
        raise GodojoError(f"the game {self._process.how_it_ended()} before it connected; {self._process.quoted()}")

    def _awaited(self) -> StepFrame:
        """The game's answer; looks at the game while it keeps us waiting."""
        assert self._connection is not None
        assert self._process is not None
        deadline = time.monotonic() + self._timeout_s
        while True:
            left_s = deadline - time.monotonic()
            try:
                return self._connection.receive_step(min(max(left_s, 0.01), _SLICE_S))
            except PeerTimeout:
                self._early = self._read_log()
                self._check_memory()
                if left_s <= 0:
                    raise PeerTimeout(f"gave no answer within {self._timeout_s:g} s") from None

    def _check_memory(self) -> None:
        assert self._process is not None
        used_mb, most_mb = resident_mb(self._process.pid), self._settings.memory_limit_mb
        if most_mb and used_mb > most_mb:
            self._early.append(event("memory_budget", f"the game takes {used_mb:.0f} MB and was ended"))
            self._process.end()
            raise ConnectionLost("it takes too much memory")

    def _seen(self, frame: StepFrame, action: np.ndarray | None = None) -> Seen:
        observation = np.concatenate([role.observation.reshape(-1) for role in frame.roles])
        reward = sum(float(role.terms.sum()) for role in frame.roles)
        report = self._probe.read(self._timeout_s)
        state = np.concatenate([report.state, observation[:_MOST_OBSERVED]])
        ui = tuple(path for path, _, _ in report.ui)
        seen = Seen(state, report.position, ui, (), reward, len(frame.ended) > 0, observation)
        # The engine prints a complaint at once, before the game answers.
        events = [*map(_probed, report.events), *self._read_log(is_end=True), *self._repaired(frame)]
        for invariant in self._invariants:
            events += invariant.check(self._described(seen, report))
        if action is not None:
            events += self._progress.look(action, state.tobytes() + repr(ui).encode(), seen.position)
            events += self._budgets.look(
                {**report.metrics, "nodes": float(state[1])}, self._cpu_ms(), self.ready.ticks_per_decision
            )
        self._last = seen._replace(events=self._fresh(events))
        return self._last

    def _described(self, seen: Seen, report: Report) -> dict[str, Any]:
        """The state as users' invariants get it."""
        first = len(_HEAD)
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

    def _cpu_ms(self) -> float | None:
        return None if self._process is None else cpu_ms(self._process.pid)

    def _read_log(self, *, is_end: bool = False) -> list[Event]:
        assert self._process is not None
        early, self._early = self._early, []
        lines = self._process.new_lines()
        self.log.extend(lines)
        self._lines_read += len(lines)
        return [*early, *self._detector.read(lines, is_end=is_end)] if lines or is_end else early

    def _lose(self, error: GodojoError) -> list[Event]:
        """Ends what is left of the process; what happened to it, and what its log has."""
        assert self._process is not None
        process, connection = self._process, self._connection
        self._connection = None
        is_frozen = isinstance(error, PeerTimeout)
        if is_frozen:
            with suppress(OSError):  # its crash handler prints where it is
                os.kill(process.pid, signal.SIGSEGV if hasattr(signal, "SIGSEGV") else signal.SIGTERM)
        process.wait(_LAST_BREATH_S)
        before = self._lines_read
        found = self._read_log(is_end=True)
        frames = backtrace(list(self.log)[-max(self._lines_read - before, 1) :])
        status = process.status
        process.end()
        if connection is not None:
            connection.close("lost")
        ended = None
        if is_frozen:
            # A loop may be caught anywhere in what it calls; what called it is always the same.
            place, where = (f"{frames[-1].file}:{frames[-1].function}", f" in {frames[0]}") if frames else ("", "")
            ended = event("freeze", f"the game {error}{where}", place=place, pattern="no answer")
        elif isinstance(error, GameRefused):
            ended = event("exit", str(error))
        elif status is None:
            ended = event("exit", f"the game left the hunt: {error}")
        elif status < 0 or status >= _SIGNALS:
            place, where = (f"{frames[0].file}:{frames[0].line}", f" in {frames[0]}") if frames else ("", "")
            ended = event("crash", f"the game {process.how_it_ended()}{where}", place=place, pattern="crash")
        elif status > 0 or self._settings.exits:
            ended = event("exit", f"the game {process.how_it_ended()}")
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
    target: Target, *, detectors: DetectorSettings | None = None, window: bool = False, timeout_s: float = 10.0
) -> HuntedGame:
    """Opens a game, ready for `reset`."""
    invariants = [Invariant(text) for text in target.invariants]
    launch = prepared(target, window=window)
    try:
        return HuntedGame(launch, detectors, invariants, timeout_s=timeout_s)
    except BaseException:
        launch.resources.close()
        raise


def _action_parts(ready: Ready) -> tuple[ActionPart, ...]:
    several = sum(role.agents for role in ready.roles) > 1
    return tuple(
        msgspec.structs.replace(part, name=f"{role.name}{agent}.{part.name}") if several else part
        for role in ready.roles
        for agent in range(role.agents * ready.worlds)
        for part in role.action
    )


def _state_names(ready: Ready) -> tuple[str, ...]:
    """As `dojo_probe_state.gd` reads them, and then the observation."""
    bodies = [f"body{body}.{axis}" for body in range(_BODIES) for axis in ("x", "y", "z", "vx", "vy", "vz")]
    size = sum(role.agents * role.observation_size for role in ready.roles) * ready.worlds
    return (*_HEAD, *bodies, *(f"observation{index}" for index in range(min(size, _MOST_OBSERVED))))


def _probed(said: dict[str, Any]) -> Event:
    """An event that the probe saw."""
    position = said.get("position") or ()
    return event(
        str(said.get("detector", "")),
        str(said.get("message", "")),
        pattern=said.get("pattern"),
        node=str(said.get("node", "")),
        position=tuple(float(number) for number in position),
    )
