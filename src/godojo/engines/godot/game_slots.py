"""Where games come from: launched by us and watched, or started by hand and waited for."""

import abc
import secrets
import time
from pathlib import Path

from godojo.bridge.listener import Connection, Listener
from godojo.bridge.messages import ConnectionLost, PeerTimeout
from godojo.engines.godot.game_process import GameProcess
from godojo.engines.godot.launch import Recipe
from godojo.errors import GodojoError

_LAST_BREATH_S = 1.0
"""How long the process of a lost connection has to end by itself, so that we can say how it did."""
_PARSE_PATIENCE_S = 5.0
"""A game whose scripts do not parse may still connect, but not much later than this."""
_LOG_CHECK_S = 10.0
_NO_TRAINING = " (is the control mode of its Sync node Training, and is this its training scene? scene=… takes another)"

_NOT_PORTABLE = "if it was exported with Debian's templates, export it anew here (docs/exporting.md)"


class GameSlot(abc.ABC):
    """One place at the table: a game sits here, and another one after it was lost."""

    log: Path | None = None
    remedy: str
    """What is done about a loss, as in "it is ..."."""

    @abc.abstractmethod
    def call(self) -> None:
        """Sees to it that a game will come, and returns."""

    @abc.abstractmethod
    def receive(self, timeout_s: float) -> Connection:
        """The game that was called. Raises ConnectionLost or Silent if it does not come."""

    @abc.abstractmethod
    def clear(self, error: GodojoError) -> str:
        """Ends what is left of a game that was lost by `error`; says what happened to it, as in "it ..."."""

    @abc.abstractmethod
    def last_words(self) -> str:
        """What else is known of a game that was lost, for the end of an error."""

    def check_can_play(self) -> None:  # noqa: B027 - not every seat can tell
        """Raises when a game that does not get going has a reason that starting it again would not mend."""

    def look_after(self) -> None:  # noqa: B027 - not every seat needs it
        """To be called now and then while the game plays."""

    @abc.abstractmethod
    def end(self, grace_s: float) -> None:
        """Nobody will sit here any more; a game that has been told so has a little time to leave by itself."""


class LaunchedGame(GameSlot):
    """For a game that we start ourselves, with a port and a token of its own each time."""

    remedy = "started again"

    def __init__(self, recipe: Recipe, number: int, *, seed: int = 0) -> None:
        self._recipe = recipe
        self._number = number
        self._seed = seed
        self._listener: Listener | None = None
        self._process: GameProcess | None = None
        self._next_look_s = 0.0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def call(self) -> None:
        self.end(0.0)
        wire = self._recipe.wire
        token = secrets.token_urlsafe(24) if wire == "dojo/1" else ""  # godot_rl has no words for one
        self._listener = Listener(port=0, token=token or None, wire=wire)
        env = {"GODOJO_PROCESS": str(self._number), **self._recipe.env}
        if wire != "godot_rl":
            env |= {"GODOJO_HOST": "127.0.0.1", "GODOJO_PORT": str(self._listener.port), "GODOJO_TOKEN": token}
        self._process = GameProcess(self._recipe.words(self._listener.port, self._seed + self._number), env)
        self.log = self._process.log

    def receive(self, timeout_s: float) -> Connection:
        assert self._listener is not None
        begun = time.monotonic()
        try:
            return self._listener.accept(timeout_s, until=lambda: self._check_alive(time.monotonic() - begun))
        except PeerTimeout:
            hint = _NO_TRAINING if self._recipe.wire == "godot_rl" else ""
            raise PeerTimeout(f"did not connect within {timeout_s:g} s{hint}") from None
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
        if any("Parse Error" in line for line in self._process.complaints()):
            raise GodojoError(f"the game cannot run, since its scripts do not parse: {self.last_words()}")

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
        return cause

    def last_words(self) -> str:
        if self._process is None:
            return "it never started"
        return self._process.quoted()

    def look_after(self) -> None:
        now = time.monotonic()
        if self._process is not None and now > self._next_look_s:
            self._next_look_s = now + _LOG_CHECK_S
            self._process.keep_log_small()

    def end(self, grace_s: float) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        if self._process is not None:
            self._process.end(grace_s=grace_s)


class PendingGame(GameSlot):
    """For a game that somebody starts by hand: it is waited for, and waited for again when it is lost."""

    remedy = "waited for"

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def call(self) -> None:
        """It comes by itself."""

    def receive(self, timeout_s: float) -> Connection:
        try:
            return self._listener.accept(timeout_s)
        except PeerTimeout:
            raise GodojoError(
                f"no game came to port {self._listener.port} within {timeout_s:g} s; start yours, with its sync node "
                f"set to port {self._listener.port}"
            ) from None

    def clear(self, error: GodojoError) -> str:
        return str(error)

    def last_words(self) -> str:
        return "it was started by hand: look where it prints"

    def end(self, grace_s: float) -> None:  # noqa: ARG002 - it is not ours to end
        self._listener.close()


class ConnectedGame(GameSlot):
    """For a game that has already come, and is not expected again."""

    remedy = "let go"

    def __init__(self, guest: Connection) -> None:
        self._guest: Connection | None = guest

    def call(self) -> None:
        """It is here."""

    def receive(self, timeout_s: float) -> Connection:  # noqa: ARG002 - there is nothing to wait for
        guest, self._guest = self._guest, None
        if guest is None:
            raise GodojoError("the game has left")
        return guest

    def clear(self, error: GodojoError) -> str:
        return str(error)

    def last_words(self) -> str:
        return "it was started by hand: look where it prints"

    def end(self, grace_s: float) -> None:  # noqa: ARG002 - it is not ours to end
        if self._guest is not None:
            self._guest.close()
            self._guest = None
