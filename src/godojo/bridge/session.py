"""The protocol of one connection, without sockets: bytes in, events out.

`Session` is the interface of every protocol; `DojoSession` is dojo/1. `listener.Connection` moves the bytes.
"""

import abc
import enum
import hmac
import logging
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from websockets.exceptions import PayloadTooBig
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from godojo.bridge import visitors
from godojo.bridge.codec import StepFrame, StepLayout
from godojo.bridge.messages import (
    PROTOCOL,
    Close,
    Configure,
    ConnectionLost,
    Control,
    Epoch,
    GameRefused,
    HandshakeRejected,
    Hello,
    Limits,
    Notice,
    Plan,
    Ready,
    Reset,
    Status,
    WireError,
    decode_control,
    encode_control,
    shown,
)
from godojo.errors import GodojoError

_MAX_PINGS = 65_536  # between two messages; an idle game may ping every second for a day
_MAX_SEED = 2**53  # JSON in Godot has doubles only
_LAST_SEQUENCE = 2**32 - 1
# The library would log frames, token included, when debugging is on.
_no_log = logging.Logger("godojo.bridge", level=logging.CRITICAL + 1)


class Visitor(NamedTuple):
    """A browser connected and got a page to read. The connection is over."""

    what: str


class Closed(NamedTuple):
    """The connection is over; always the last event."""

    error: GodojoError
    """WireError: the game violated the protocol. GameRefused: it said why. ConnectionLost: it is gone, or we closed."""

    @property
    def reason(self) -> str:
        return str(self.error)


Event = Hello | Ready | Plan | StepFrame | Visitor | Closed


class Session(abc.ABC):
    """One game's connection. Nothing here waits or raises for what a game does: that is an event.

    The order: `begin`; Hello comes; `configure`; Ready comes; `reset`; a StepFrame comes; then `act` and a StepFrame
    each, or `reset` again. Calls out of turn raise GodojoError.
    A game whose Ready has a loop may be asked to `plan` wherever it may be asked to act.
    Exactly one event answers `configure`, `reset`, `plan` and `act`; it is Closed when things go wrong.
    """

    wire: str
    """The name of the protocol."""
    least_bytes: int = 1
    """The connection need not be read before it holds this many: no message is shorter."""
    _turn: enum.Enum
    """The message that the game has to send next; its value is the message's name, or `nothing`."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.events: deque[Event] = deque()
        """Events, oldest first; readers remove them."""
        self.closed = False
        """Whether the connection is over. Pending bytes should be sent; nothing more is read."""
        self._limits = limits or Limits()
        self._asked: Configure | None = None
        self._sequence = 0

    def begin(self) -> None:  # noqa: B027 - in most protocols the game sends first
        """Called once connected: a protocol in which the trainer sends first, sends."""

    @abc.abstractmethod
    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Takes received bytes; copies them."""

    @abc.abstractmethod
    def feed_end(self) -> None:
        """No more bytes will come."""

    @abc.abstractmethod
    def take_outgoing(self) -> bytes:
        """Takes the bytes to send."""

    @abc.abstractmethod
    def configure(self, request: Configure) -> None:
        """Configures the game; Ready follows, and says what it really plays."""

    @abc.abstractmethod
    def reset(self, seed: int) -> None:
        """Requests new rounds in all worlds; a StepFrame with the sequence 0 follows."""

    @abc.abstractmethod
    def act(self, actions: Sequence[np.ndarray]) -> None:
        """Sends one decision: an array [worlds, agents, numbers] for each role of Ready, in order; copies them. A
        StepFrame follows, numbered 1, 2, … since the last reset."""

    def plan(self, epoch: int) -> None:  # noqa: ARG002 - games of other protocols never have a loop
        """Asks a scene that drives the training for its plan of an epoch; a Plan follows."""
        raise GodojoError(f"a game that speaks {self.wire} does not drive the training")

    def notice(self, text: str, status: Status | None = None) -> None:  # noqa: B027 - not every protocol can
        """Shows a text, and how the training goes, to people who watch the game, if the protocol can."""

    @abc.abstractmethod
    def close(self, reason: str) -> None:
        """Says goodbye; Closed is the last event."""

    def _my_turn(self, what: str) -> None:
        if self.closed:
            raise ConnectionLost(f"cannot {what}: the connection is over")
        if self._turn.value != "nothing":
            raise GodojoError(f"cannot {what} while the game is expected to say {self._turn.value}")

    def _end(self, error: GodojoError) -> None:
        if not self.closed:
            self.closed = True
            self.events.append(Closed(error))


class _Turn(enum.Enum):
    """The message that the game has to send next."""

    REQUEST = "an HTTP request"
    HELLO = "hello"
    NOTHING = "nothing"
    READY = "ready"
    STEP = "a step"
    PLAN = "its plan"


class DojoSession(Session):
    """dojo/1: WebSocket, control in JSON, steps in binary. See `Session`."""

    wire = PROTOCOL

    def __init__(self, token: str | None = None, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._token = token or ""
        self._protocol = ServerProtocol(max_size=self._limits.hello_bytes, logger=_no_log)
        self._turn: _Turn = _Turn.REQUEST
        self._last_words = b""
        self._pieces: list[bytes | bytearray] = []
        self._opcode = Opcode.TEXT
        self._pings = 0
        self._layout: StepLayout | None = None
        self._roles: frozenset[str] = frozenset()

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        if self.closed:
            return
        self._protocol.receive_data(data)  # type: ignore[arg-type]  # it is appended to a bytearray: views are fine
        self._take_events()

    def feed_end(self) -> None:
        if self.closed:
            return
        self._protocol.receive_eof()
        self._take_events()
        self._end(ConnectionLost("the game closed the connection without a reason"))

    def take_outgoing(self) -> bytes:
        writes = self._protocol.data_to_send()
        if self._last_words:
            writes.append(self._last_words)
            self._last_words = b""
        return writes[0] if len(writes) == 1 else b"".join(writes)

    def configure(self, request: Configure) -> None:
        self._my_turn("configure the game")
        self._asked = request
        self._say(request, _Turn.READY)

    def reset(self, seed: int) -> None:
        self._my_turn("reset the game")
        self._described()
        if not 0 <= seed < _MAX_SEED:
            raise GodojoError(f"a seed is a whole number from 0 to {_MAX_SEED - 1}, not {seed}")
        self._sequence = 0
        self._say(Reset(int(seed)), _Turn.STEP)

    def act(self, actions: Sequence[np.ndarray]) -> None:
        self._my_turn("act")
        sequence = self._sequence % _LAST_SEQUENCE + 1
        data = self._described().pack_actions(sequence, actions)
        self._sequence, self._turn, self._pings = sequence, _Turn.STEP, 0
        self._protocol.send_binary(data)

    def plan(self, epoch: int) -> None:
        self._my_turn("ask for a plan")
        self._described()
        self._say(Epoch(int(epoch)), _Turn.PLAN)

    def notice(self, text: str, status: Status | None = None) -> None:
        if not self.closed and self._turn not in (_Turn.REQUEST, _Turn.HELLO):
            self._protocol.send_text(encode_control(Notice(text, status)))

    def close(self, reason: str) -> None:
        if self.closed:
            return
        if self._protocol.state is State.OPEN:
            self._protocol.send_text(encode_control(Close(reason)))
        self._leave(CloseCode.NORMAL_CLOSURE, reason)
        self._end(ConnectionLost(f"the trainer closed the connection: {reason}"))

    # What the game says

    def _take_events(self) -> None:
        try:
            for event in self._protocol.events_received():
                if isinstance(event, Frame):
                    self._take_frame(event)
                elif isinstance(event, Request):
                    self._take_request(event)
                if self.closed:
                    return
        except WireError as error:
            self._refuse(error)
        self._take_failure()

    def _take_failure(self) -> None:
        """Handles errors of the WebSocket library."""
        problem = self._protocol.parser_exc
        if self._protocol.handshake_exc is not None and self._turn is _Turn.REQUEST:
            self._last_words = visitors.not_http().serialize()
            self._end(WireError("a peer connected that speaks neither HTTP nor WebSocket"))
        elif isinstance(problem, PayloadTooBig):
            self._end(
                WireError(f"the game sent more than the {self._protocol.max_message_size} bytes that are allowed")
            )
        elif isinstance(problem, EOFError):
            self._end(ConnectionLost("the connection broke off"))
        elif problem is not None:
            self._end(WireError(f"the game does not speak WebSocket as it should: {shown(str(problem), 200)}"))

    def _take_request(self, request: Request) -> None:
        if self._protocol.eof_sent or self._protocol.writes:
            raise WireError("the game sent data before it was accepted")
        if visitors.is_from_a_page(request):
            self._protocol.send_response(visitors.no_browser())
            self._end(WireError("a web page tried to connect, and was refused: games send no Origin"))
        elif not visitors.wants_websocket(request):
            self._protocol.send_response(visitors.page())
            self.events.append(Visitor("a browser connected and got the page about this port"))
            self._end(ConnectionLost("a browser, not a game"))
        else:
            try:
                response = self._protocol.accept(request)
            except UnicodeEncodeError:  # its refusal quotes the header, and chokes on bytes that are no text
                raise WireError("a peer requested a WebSocket with a header that is no text") from None
            self._protocol.send_response(response)
            self._turn = _Turn.HELLO
            if response.status_code != 101:
                self._end(WireError("a peer requested a WebSocket in an invalid way"))

    def _take_frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.CLOSE:
            self._end(ConnectionLost(self._farewell()))
            return
        if frame.opcode is Opcode.PING or frame.opcode is Opcode.PONG:
            self._pings += 1
            if self._turn is _Turn.HELLO:
                raise WireError("the game pinged before it said hello")
            if self._pings > _MAX_PINGS:
                raise WireError(f"the game pinged more than {_MAX_PINGS} times without saying anything")
            return
        data: bytes | bytearray = frame.data  # type: ignore[assignment]  # what comes in is never a view
        if frame.opcode is not Opcode.CONT:
            self._opcode = frame.opcode
        if not frame.fin or self._pieces:
            self._pieces.append(data)
            if len(self._pieces) > self._limits.frames_per_message:
                raise WireError(f"a message is in more than {self._limits.frames_per_message} pieces")
            if not frame.fin:
                return
            data = b"".join(self._pieces)
            self._pieces.clear()
        self._pings = 0
        if self._opcode is Opcode.BINARY:
            self._take_step(data)
        else:
            self._take_control(data)

    def _take_step(self, data: bytes | bytearray) -> None:
        if self._turn is not _Turn.STEP or self._layout is None:
            raise WireError(f"the game sent a step, and was expected to say {self._turn.value}")
        step = self._layout.unpack_step(data, self._sequence)
        self._turn = _Turn.NOTHING
        self.events.append(step)

    def _take_control(self, text: bytes | bytearray) -> None:
        if len(text) > self._limits.control_bytes:
            raise WireError(f"a control message has {len(text)} bytes, and {self._limits.control_bytes} are allowed")
        message = decode_control(text)
        if isinstance(message, HandshakeRejected):
            self._leave(CloseCode.NORMAL_CLOSURE, "")
            self._end(GameRefused(f"the game says: {shown(message.message, 1000)}", message.worlds))
        elif isinstance(message, Hello) and self._turn is _Turn.HELLO:
            self._take_hello(message)
        elif isinstance(message, Ready) and self._turn is _Turn.READY:
            self._take_ready(message)
        elif isinstance(message, Plan) and self._turn is _Turn.PLAN:
            for name in message.deterministic:
                if name not in self._roles:
                    raise WireError(f"the game's plan names {shown(name)!r}, which is no role")
            self._turn = _Turn.NOTHING
            self.events.append(message)
        else:
            said = type(message).__name__.lower()
            raise WireError(f"the game said {said!r}, and was expected to say {self._turn.value}")

    def _take_hello(self, hello: Hello) -> None:
        if hello.protocol != PROTOCOL:
            raise WireError(
                f"the game speaks {shown(hello.protocol)!r} and this trainer {PROTOCOL!r}: "
                "copy the addon of this Godojo into the game, or update Godojo"
            )
        if self._token and not hmac.compare_digest(hello.token.encode("utf-8", "replace"), self._token.encode()):
            raise WireError(
                f"the game's token is {'wrong' if hello.token else 'missing'}: "
                "give it the trainer's token in the variable GODOJO_TOKEN"
            )
        self._turn = _Turn.NOTHING
        self._protocol.max_message_size = self._limits.control_bytes
        # The token must not appear where a hello is printed.
        self.events.append(msgspec.structs.replace(hello, token=""))

    def _take_ready(self, ready: Ready) -> None:
        if self._asked is not None and ready.worlds != self._asked.worlds:
            raise WireError(f"the game plays {ready.worlds} worlds, and {self._asked.worlds} were requested")
        if ready.truth and not (self._asked is not None and self._asked.truth):
            raise WireError("the game sends a privileged state that was not requested")
        self._layout = StepLayout(ready, self._limits)
        self._roles = frozenset(role.name for role in ready.roles)
        self._protocol.max_message_size = max(self._limits.control_bytes, self._layout.most_step_bytes)
        self._turn = _Turn.NOTHING
        self.events.append(ready)

    def _farewell(self) -> str:
        close = self._protocol.close_rcvd
        reason = shown(close.reason, 125) if close else ""
        return f"the game closed the connection: {reason}" if reason else "the game closed the connection"

    # What we say

    def _described(self) -> StepLayout:
        if self._layout is None:
            raise GodojoError("the game has to be configured first")
        return self._layout

    def _say(self, message: Control, turn: _Turn) -> None:
        self._protocol.send_text(encode_control(message))
        self._turn, self._pings = turn, 0

    def _refuse(self, error: WireError) -> None:
        if self._protocol.state is State.OPEN:
            self._protocol.send_text(encode_control(HandshakeRejected(str(error))))
        self._leave(CloseCode.POLICY_VIOLATION, str(error))
        self._end(error)

    def _leave(self, code: CloseCode, reason: str) -> None:
        if self._protocol.state is State.OPEN:
            room = 123  # all that a close frame holds beside its code
            self._protocol.send_close(code, reason.encode()[:room].decode("utf-8", "ignore"))
