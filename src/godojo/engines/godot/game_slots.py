"""Where games come from: launched by us, or started by hand and waited for."""

import abc
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from godojo.bridge.listener import Connection, Listener
from godojo.bridge.messages import ConnectionLost, PeerTimeout
from godojo.engines.godot.game_process import GameProcess
from godojo.engines.godot.launch import Recipe
from godojo.errors import GodojoError, option

_LAST_BREATH_S = 1.0
"""How long the process of a lost connection has to end by itself, so that we can report how."""
_PARSE_PATIENCE_S = 5.0
"""A game whose scripts do not parse may still connect, but not much later."""
_LOG_CHECK_S = 1.0
_NO_TRAINING = "is the control mode of its Sync node Training, and is this its training scene?"
_NO_SYNC = "does its scene have a DojoSync, or godot_rl's Sync node with the control mode Training?"
_NOT_PORTABLE = "if it was exported with Debian's templates, export it here (docs/exporting.md)"


class GameSlot(abc.ABC):
    """A place for one game at a time; when it is lost, for another."""

    log: Path | None = None
    remedy: str
    """What happens after a loss, as in "it is ..."."""
    script_errors: int = 0
    """Errors of the game's own scripts so far."""
    first_script_error: str = ""
    """File, line and message."""
    is_started_by_hand: bool = False
    """Whether the user starts its games, and may start another after a pause."""

    @abc.abstractmethod
    def call(self) -> None:
        """Starts a game, or does nothing if the user starts it."""

    @abc.abstractmethod
    def receive(self, timeout_s: float) -> Connection:
        """The connected game. Raises ConnectionLost or PeerTimeout if it does not connect."""

    def has_arrived(self, timeout_s: float) -> bool:  # noqa: ARG002 - a game that we start always comes
        """Whether `receive` has a game at once, after a wait of at most `timeout_s`."""
        return True

    def clear(self, error: GodojoError) -> str:
        """Ends what is left of a lost game; returns what happened to it, as in "it ..."."""
        return str(error)

    def last_words(self) -> str:
        """More about a lost game, for the end of an error."""
        return "it was started by hand: see its output"

    def check_can_play(self) -> None:  # noqa: B027 - not every slot knows
        """Raises if the game has a problem that a restart would not fix."""

    def look_after(self, *, is_end: bool = False) -> None:  # noqa: B027 - not every slot needs it
        """Called now and then while the game plays, and at the end; raises if a script failed and that is an error."""

    @abc.abstractmethod
    def end(self, grace_s: float) -> None:
        """Closes the slot; a game that knows has `grace_s` to end by itself."""


class LaunchedGame(GameSlot):
    """A game that we start, with a new port and token each time."""

    remedy = "started again"

    def __init__(
        self,
        recipe: Recipe,
        number: int,
        *,
        seed: int = 0,
        strict: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """`say` is called with the first error of the game's scripts; with `strict` it is an error of ours."""
        self._recipe = recipe
        self._number = number
        self._seed = seed
        self._strict, self._say = strict, say
        self._errors_before, self._has_reported, self._has_connected = 0, False, False
        self._listener: Listener | None = None
        self._process: GameProcess | None = None
        self._next_look_s = 0.0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def call(self) -> None:
        self.end(0.0)
        wire = self._recipe.wire
        token = secrets.token_urlsafe(24) if wire == "dojo/1" else ""  # godot_rl has no tokens
        self._listener = Listener(port=0, token=token or None, wire=wire)
        env = {"GODOJO_PROCESS": str(self._number), **self._recipe.env}
        if wire != "godot_rl":
            env |= {"GODOJO_HOST": "127.0.0.1", "GODOJO_PORT": str(self._listener.port), "GODOJO_TOKEN": token}
        self._errors_before = self.script_errors
        self._process = GameProcess(self._recipe.words(self._listener.port, self._seed + self._number), env)
        self.log = self._process.log

    def receive(self, timeout_s: float) -> Connection:
        assert self._listener is not None
        begun = time.monotonic()
        try:
            guest = self._listener.accept(timeout_s, until=lambda: self._check_alive(time.monotonic() - begun))
            self._has_connected = True
            return guest
        except PeerTimeout:
            asked = {"godot_rl": _NO_TRAINING, "any": _NO_SYNC}.get(self._recipe.wire)
            hint = f" ({asked} {option('scene')} takes another scene)" if asked else ""
            what = f"did not connect within {timeout_s:g} s{hint}"
            if self._has_connected:
                raise PeerTimeout(what) from None
            self.check_can_play()
            raise GodojoError(f"the game {what}; {self.last_words()}") from None
        finally:
            self._listener.close()
            self._listener = None

    def _check_alive(self, waited_s: float) -> None:
        assert self._process is not None
        if not self._process.alive():
            if self._process.could_not_start():
                raise GodojoError(f"the game cannot start on this machine: {self.last_words()}; {_NOT_PORTABLE}")
            raise ConnectionLost("it ended before it connected")
        if waited_s > _PARSE_PATIENCE_S:
            self.check_can_play()

    def check_can_play(self) -> None:
        assert self._process is not None
        broken = [one for one in self._process.complaints() if one.is_parse_error]
        if broken:
            tool = "; install Blender and import it again" if ".blend" in broken[0].message else ""
            raise GodojoError(f"the game cannot run, since its files do not parse: {self.last_words()}{tool}")

    def clear(self, error: GodojoError) -> str:
        process = self._process
        if process is None:
            return str(error)
        if isinstance(error, PeerTimeout):
            cause = str(error)
        else:
            process.wait(_LAST_BREATH_S)
            cause = str(error)
            if not process.alive():
                said = "" if type(error) is ConnectionLost else f" ({error})"
                cause = f"{process.how_it_ended()}{said}"
        self.end(0.0)
        self._report_errors()
        return cause

    def last_words(self) -> str:
        if self._process is None:
            return "it never started"
        return self._process.quoted()

    def look_after(self, *, is_end: bool = False) -> None:
        now = time.monotonic()
        if self._process is not None and (is_end or now > self._next_look_s):
            self._next_look_s = now + _LOG_CHECK_S
            self._process.read_log(is_end=is_end)
            self._count_errors()
            self._report_errors()

    def _count_errors(self) -> None:
        assert self._process is not None
        errors = self._process.script_errors
        self.script_errors = self._errors_before + errors.count
        self.first_script_error = self.first_script_error or errors.first

    def _report_errors(self) -> None:
        """Says the first script error, once."""
        if not self.script_errors or self._has_reported:
            return
        self._has_reported = True
        what = f"a script of the game failed: {self.first_script_error}"
        if self._strict:
            raise GodojoError(f"{what}; fix it, or remove {option('strict', True)} (log: {self.log})")
        if self._say is not None:
            self._say(f"{what} (log: {self.log})")

    def end(self, grace_s: float) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._process is not None:
            self._process.end(grace_s=grace_s)
            self._count_errors()


class PendingGame(GameSlot):
    """A game that the user starts; it is waited for, also after a loss."""

    remedy = "waited for"

    is_started_by_hand = True

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._arrived: Connection | None = None

    def call(self) -> None:
        """The user starts it."""

    def has_arrived(self, timeout_s: float) -> bool:
        if self._arrived is None:
            with suppress(PeerTimeout):
                self._arrived = self._listener.accept(timeout_s)
        return self._arrived is not None

    def receive(self, timeout_s: float) -> Connection:
        arrived, self._arrived = self._arrived, None
        if arrived is not None and arrived.is_alive():
            return arrived
        try:
            return self._listener.accept(timeout_s)
        except PeerTimeout:
            raise GodojoError(
                f"no game connected to port {self._listener.port} within {timeout_s:g} s; start yours, with its sync "
                f"node set to port {self._listener.port}"
            ) from None

    def end(self, grace_s: float) -> None:  # noqa: ARG002 - the user ends it
        if self._arrived is not None:
            self._arrived.close()
        self._listener.close()


class ConnectedGame(GameSlot):
    """A game that is connected already; it does not come back."""

    remedy = "dropped"

    def __init__(self, guest: Connection) -> None:
        self._guest: Connection | None = guest

    def call(self) -> None:
        """It is connected."""

    def receive(self, timeout_s: float) -> Connection:  # noqa: ARG002 - there is nothing to wait for
        guest, self._guest = self._guest, None
        if guest is None:
            raise GodojoError("the game has left")
        return guest

    def end(self, grace_s: float) -> None:  # noqa: ARG002 - the user ends it
        if self._guest is not None:
            self._guest.close()
            self._guest = None
