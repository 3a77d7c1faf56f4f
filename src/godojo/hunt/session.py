"""One engine process of a hunted game at a time: how it is started, answers, begins anew and ends."""

import math
import os
import secrets
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import msgspec
import numpy as np

from godojo.bridge.codec import StepFrame
from godojo.bridge.listener import Connection, Listener
from godojo.bridge.messages import PROTOCOL, Configure, ConnectionLost, GameRefused, PeerTimeout, Ready, WireError
from godojo.engines.godot.game_process import GameProcess
from godojo.errors import GodojoError
from godojo.hunt.detectors import DetectorSettings
from godojo.hunt.pace import START_S, Pace, Patience
from godojo.hunt.probe import ProbeServer, Report
from godojo.hunt.target import Launch
from godojo.hunt.usage import machine_mb, resident_mb, waited_ms

SLICE_S = 0.25
"""How often a game that keeps us waiting is looked at: its log must stay small."""
_LAST_BREATH_S, _LAST_WORDS_S = 1.0, 4.0
"""How long a process may take to end, and to tell where it hangs, which not every one can."""
_MOST_OF_MACHINE = 0.6
"""Memory that a game may take, whatever its limit."""
LOST = (ConnectionLost, PeerTimeout, WireError)
"""The game is gone, or as good as gone."""


class OutOfMemory(ConnectionLost):
    """The process took more memory than it may, and was ended."""


class Ending(NamedTuple):
    """How a process ended."""

    status: int | None
    """Negative for a signal; None if it still ran."""
    words: str
    lines: list[str]
    """Its last ones, which nobody has read yet."""


class Session:
    """A process of the game and the connections to it and to the probe in it; `start` replaces it."""

    def __init__(self, launch: Launch, settings: DetectorSettings, timeout_s: float, pace: Pace) -> None:
        self._launch, self._settings, self.timeout_s, self._pace = launch, settings, timeout_s, pace
        self.is_hurried = False
        """Whether a freeze is noticed sooner than a person would: in replays of one that is known."""
        self._has_begun = False
        """Whether any process was ready before: what a later one does at its start is the game's fault."""
        self.starts = 0
        """Processes that were started."""
        self._probe = ProbeServer()
        self._listener: Listener | None = None
        self._process: GameProcess | None = None
        self._connection: Connection | None = None
        self.is_quick = False
        """Whether autoloads are restored in the same process, as far as that is possible, instead of in a new one."""
        self._fresh_seed: int | None = None
        """The seed of a process that has not been played yet."""

    @property
    def is_lost(self) -> bool:
        return self._connection is None

    @property
    def has_process(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def report(self) -> Report:
        """The probe's last one."""
        return self._probe.report

    def start(self, seed: int, *, left: str | None = None) -> Ready:
        """Starts a process, and waits until it is ready; it has no data, or what the one before has `left`."""
        self.end()
        if left is None:
            self._launch.remove_data()
        recipe = self._launch.recipe
        token = secrets.token_urlsafe(24) if recipe.wire == "dojo/1" else None  # godot_rl has no tokens
        self._listener = Listener(port=0, token=token, wire=recipe.wire)
        self._probe.begin()
        env = {"GODOJO_PROCESS": "0", "GODOJO_HUNT_SEED": str(seed), **self._launch.env, **self._probe.env}
        env["GODOJO_HUNT_LEFT"] = left or ""
        env["GODOJO_HUNT_SETTINGS"] = msgspec.json.encode(self._settings).decode()
        if recipe.wire != "godot_rl":
            env |= {"GODOJO_HOST": "127.0.0.1", "GODOJO_PORT": str(self._listener.port), "GODOJO_TOKEN": token or ""}
        self._process = GameProcess(recipe.words(self._listener.port, seed % 2**31), env)
        self.starts += 1
        self._fresh_seed = seed
        try:
            return self._connect(Patience(START_S, self.waited_ms))
        except GameRefused as error:
            raise GodojoError(f"the game refused to play: {error}") from None
        except LOST as error:
            if self._has_begun:
                raise
            self._process.wait(_LAST_BREATH_S)
            raise GodojoError(f"the game did not start: {error}; {self._process.quoted()}") from None

    def begin(self, seed: int) -> bool:
        """The game as it is when it has just been started; whether its scene was loaded anew in the same process."""
        was_reloaded = False
        needs_process = self._needs_process and not (self.is_quick and self._is_restorable)
        if self._connection is None or (needs_process and self._fresh_seed != seed):
            self.start(seed)
        elif not needs_process:
            self._launch.clear_data()
            self._connection.notice(f"hunt:reload {seed}")
            self._connection.close("the game begins anew")
            self._connection = None
            began = time.monotonic()
            self._connect(self._patience_to_start())
            self._pace.note_start(time.monotonic() - began)
            was_reloaded = True
        self._fresh_seed = None
        return was_reloaded

    def restart(self, seed: int) -> None:
        """A new process that finds the data of the one before, as a person does who plays on the next day."""
        self.start(seed, left=self.report.left)
        self._fresh_seed = None

    @property
    def _needs_process(self) -> bool:
        """Whether loading the scene anew is not enough; of an exported game, the probe in it knows."""
        if self._launch.needs_process is not None:
            return self._launch.needs_process
        return self.report.autoloads != 0 or self._connection is None or self._connection.wire != PROTOCOL

    @property
    def _is_restorable(self) -> bool:
        is_ours = self._connection is not None and self._connection.wire == PROTOCOL
        return is_ours and self.report.autoloads == len(self.report.restored) and self.report.is_restorable

    def reset(self, seed: int) -> StepFrame:
        assert self._connection is not None
        patience, began = self._patience_to_start(), time.monotonic()
        try:
            frame = self._connection.reset(seed, SLICE_S)
        except PeerTimeout:
            frame = self._awaited(patience)
        self._pace.note_start(time.monotonic() - began)
        return frame

    def step(self, actions: list[np.ndarray], meanwhile: Callable[[], None]) -> StepFrame:
        """The game's answer to its actions; `meanwhile` is called now and then while it keeps us waiting."""
        if self._connection is None:
            raise GodojoError("the game is gone: call reset(seed) first")
        seconds, began = self._pace.answer_s(self.timeout_s, is_hurried=self.is_hurried), time.monotonic()
        self._connection.send_actions(actions, self.timeout_s)
        frame = self._answer(SLICE_S)
        if frame is None:
            frame = self._awaited(Patience(seconds, self.waited_ms), meanwhile)
        self._pace.note_answer(time.monotonic() - began)
        return frame

    def _awaited(self, patience: Patience, meanwhile: Callable[[], None] = lambda: None) -> StepFrame:
        while True:
            left_s = patience.left_s
            meanwhile()
            frame = self._answer(min(left_s, SLICE_S))
            if frame is not None:
                return frame
            if left_s <= 0:
                raise PeerTimeout(f"gave no answer within {patience.seconds:g} s")

    def _answer(self, timeout_s: float) -> StepFrame | None:
        """The next answer, if it comes in time."""
        assert self._connection is not None
        try:
            return self._connection.receive_step(max(timeout_s, 0.01))
        except PeerTimeout:
            self.check_memory()
            return None

    def _patience_to_start(self) -> Patience:
        return Patience(self._pace.start_s(self.timeout_s, is_hurried=self.is_hurried), self.waited_ms)

    def probed(self) -> Report:
        """What the probe sees now."""
        return self._probe.read(self.timeout_s)

    def notice(self, text: str) -> None:
        if self._connection is None:
            raise GodojoError("the game is gone: there is nothing to be seen")
        self._connection.notice(text)

    def new_lines(self) -> list[str]:
        """What it has printed since the last call."""
        return [] if self._process is None else self._process.new_lines()

    def waited_ms(self) -> float:
        """How long it has waited for a processor so far."""
        return 0.0 if self._process is None else waited_ms(self._process.pid)

    def lose(self, *, is_frozen: bool) -> Ending:
        """Ends what is left of the process; a frozen one prints where it is first."""
        assert self._process is not None
        process, connection = self._process, self._connection
        self._connection = None
        if is_frozen:
            with suppress(OSError):  # its crash handler prints where it is
                os.kill(process.pid, signal.SIGSEGV if hasattr(signal, "SIGSEGV") else signal.SIGTERM)
        process.wait(_LAST_WORDS_S if is_frozen else _LAST_BREATH_S)
        ending = Ending(process.status, process.how_it_ended(), process.new_lines())
        process.end()
        if connection is not None:
            connection.close("lost")
        return ending

    def end(self) -> None:
        """Ends the process, if there is one."""
        if self._connection is not None:
            self._connection.close("the hunt is over")
            self._connection = None
        if self._process is not None:
            self._process.end()
            self._process = None
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    def close(self) -> None:
        self.end()
        self._probe.close()
        self._launch.resources.close()

    def _connect(self, patience: Patience) -> Ready:
        """Waits for the game's call, and configures it."""
        assert self._listener is not None
        self._connection = self._listener.accept(math.inf, until=lambda: self._check_start(patience))
        request = Configure(1, self._launch.ticks_per_decision, dict(self._launch.options))
        ready = self._connection.configure(request, START_S)
        self._has_begun = True
        return ready

    def _check_start(self, patience: Patience) -> None:
        """Raises if the game that is awaited is gone, or takes too long."""
        assert self._process is not None
        if patience.left_s <= 0:
            raise PeerTimeout(f"was not ready within {patience.seconds:g} s")
        if not self._process.alive() and self._has_begun:
            raise ConnectionLost(self._process.how_it_ended())
        if self._process.alive():
            used_mb = self._beyond_mb()
            if used_mb:
                raise GodojoError(f"the game takes {used_mb:.0f} MB before it has begun; see memory_limit_mb")
            return
        if self._launch.needs_headset:
            raise GodojoError(
                "the game asks for a headset and ends without one: have it play on without XR, as in docs/hunt.md;"
                f" {self._process.quoted()}"
            )
        if self._process.status == 0:
            raise GodojoError(
                "the game quits at once: hunt a scene that stays (scene), or have it wait for a person;"
                f" {self._process.quoted()}"
            )
        if self._process.could_not_start():
            raise GodojoError(f"the game cannot start on this machine: {self._process.quoted()}")
        raise GodojoError(f"the game {self._process.how_it_ended()} before it connected; {self._process.quoted()}")

    def check_memory(self) -> None:
        """Ends a process that takes more than it may."""
        used_mb = self._beyond_mb()
        if used_mb and self._process is not None:
            self._process.end()
            raise OutOfMemory(f"takes {used_mb:.0f} MB and was ended")

    def _beyond_mb(self) -> float:
        """What it takes, if that is too much: more than the limit, or than most of the machine's memory."""
        most_mb = self._settings.memory_limit_mb
        if not most_mb or self._process is None:
            return 0.0
        used_mb = resident_mb(self._process.pid)
        return used_mb if used_mb > min(most_mb, _MOST_OF_MACHINE * machine_mb()) else 0.0
