"""A pretend game that speaks dojo/1 in plain Python, for tests of whoever trains it.

Its numbers are a function of seed, world, agent and decision, so that a test can tell a lost, doubled or mixed-up frame
from a good one (`PretendGame.told`). As a program it takes host, port and token from the environment, as a launched
game does, and misbehaves on demand:

    python tests/dojo_client.py [--die-after N] [--freeze-after N] [--babble-after N] [--refuse WORDS]
"""

import argparse
import os
import select
import socket
import sys
import time
from collections.abc import Callable
from typing import Self

import numpy as np
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from godojo.bridge import codec
from godojo.bridge.codec import ACTED, TERMINATED, TRUNCATED, RoleStep, StepFrame, StepLayout
from godojo.bridge.messages import (
    PROTOCOL,
    Close,
    Configure,
    Control,
    Epoch,
    HandshakeRejected,
    Hello,
    Plan,
    Ready,
    Reset,
    RoleDescription,
    WireError,
    decode_control,
    encode_control,
)
from godojo.games.parts import ActionPart, ObservationPart

PATIENCE_S = 30.0


class GameLayout(StepLayout):
    """The game's side of the codec."""

    def unpack_actions(self, data: bytes | bytearray) -> tuple[int, tuple[np.ndarray, ...]]:
        """The sequence number and each role's actions. Raises WireError."""
        if len(data) != self.actions_bytes:
            raise WireError(f"an actions frame has {len(data)} bytes, and should have {self.actions_bytes}")
        kind, zero, zeros, sequence = codec._ACTIONS_HEADER.unpack_from(data)
        if (kind, zero, zeros) != (codec._ACTIONS_KIND, 0, 0):
            raise WireError(f"an actions frame begins with 1, 0, 0, not {kind}, {zero}, {zeros}")
        actions, offset = [], codec._ACTIONS_HEADER.size
        for role in self.roles:
            shape = (self.worlds, role.agents, role.action_size)
            count = self.worlds * role.agents * role.action_size
            action = np.frombuffer(data, codec._FLOAT, count, offset).reshape(shape)
            if not np.isfinite(action).all():
                raise WireError("an action is not a finite number")
            actions.append(action)
            offset += action.nbytes
        return sequence, tuple(actions)

    def pack_step(self, step: StepFrame) -> bytes:
        """The frame with one step, as a game sends it. The arrays must have the shapes of the layout."""
        rows = [len(role.final_rows) for role in step.roles]
        head = self._header.pack(codec._STEP_KIND, 0, 0, step.sequence, step.engine_us, len(step.ended), *rows)
        arrays = [role.observation for role in step.roles] + [role.terms for role in step.roles]
        arrays += [] if step.truth is None else [step.truth]
        pieces = [head, *(array.astype(codec._FLOAT, copy=False).tobytes() for array in arrays)]
        pieces.append(step.ended.astype(codec._INT, copy=False).tobytes())
        for role in step.roles:
            pieces.append(role.final_rows.astype(codec._INT, copy=False).tobytes())
            for array in (role.final_observation, role.final_terms, role.final_score, role.final_measures):
                pieces.append(array.astype(codec._FLOAT, copy=False).tobytes())
        pieces += [role.flags.tobytes() for role in step.roles]
        return b"".join(pieces)


class Gone(Exception):
    """The trainer closed the connection."""


class DojoClient:
    """The socket and the WebSocket of a pretend game."""

    def __init__(self, port: int, host: str = "127.0.0.1", *, origin: str | None = None) -> None:
        self.socket = socket.create_connection((host, port), timeout=PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.protocol = ClientProtocol(parse_uri(f"ws://{host}:{port}/"), max_size=None)
        request = self.protocol.connect()
        if origin is not None:
            request.headers["Origin"] = origin
        self.protocol.send_request(request)
        self._buffer = bytearray(256 * 1024)
        self._messages: list[bytes | str] = []
        try:
            self.flush()
            while self.protocol.state is State.CONNECTING and self.protocol.handshake_exc is None:
                self._read()
            if self.protocol.handshake_exc is not None:
                raise Gone(str(self.protocol.handshake_exc))
        except BaseException:
            self.socket.close()
            raise

    def send(self, message: Control | bytes) -> None:
        if self.protocol.state is not State.OPEN:
            raise Gone("the trainer is taking leave")
        if isinstance(message, bytes):
            self.protocol.send_binary(message)
        else:
            self.protocol.send_text(encode_control(message))
        self.flush()

    def flush(self) -> None:
        """Sends all there is, and reads what comes meanwhile."""
        data = memoryview(b"".join(self.protocol.data_to_send()))
        self.socket.setblocking(False)
        try:
            while data:
                try:
                    data = data[self.socket.send(data) :]
                except BlockingIOError:
                    readable, _, _ = select.select([self.socket], [self.socket], [], PATIENCE_S)
                    if readable:
                        self._read()
        except ConnectionError as error:
            raise Gone(str(error)) from None
        finally:
            if self.socket.fileno() >= 0:
                self.socket.settimeout(PATIENCE_S)

    def receive(self) -> Control | bytes:
        """The next message: control, or the bytes of an actions frame."""
        while not self._messages:
            self._read()
        message = self._messages.pop(0)
        return message if isinstance(message, bytes) else decode_control(message)

    def hello(self, token: str = "", game: str = "pretend", protocol: str = PROTOCOL) -> None:
        self.send(Hello(protocol, token, game, "4.6.3", "0.1.0"))

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        try:
            count = self.socket.recv_into(self._buffer)
        except ConnectionError as error:
            raise Gone(str(error)) from None
        if count:
            self.protocol.receive_data(self._buffer[:count])
        else:
            self.protocol.receive_eof()
        for event in self.protocol.events_received():
            if isinstance(event, Frame):
                if event.opcode is Opcode.TEXT:
                    self._messages.append(bytes(event.data).decode())
                elif event.opcode is Opcode.BINARY:
                    self._messages.append(bytes(event.data))
        if not count and not self._messages:
            raise Gone("the trainer closed the connection")


class PretendGame:
    """Worlds whose rounds last 5 to 11 decisions, won, lost and cut short in turn."""

    def __init__(
        self, configure: Configure, *, agents: tuple[int, ...] = (1, 2), told: int = 12, done: int = 3
    ) -> None:
        self.ready = Ready(
            worlds=configure.worlds,
            ticks_per_decision=configure.ticks_per_decision or 4,
            roles=tuple(
                RoleDescription(
                    f"role{index}",
                    count,
                    (ObservationPart("sight", (told,), low=-1e6, high=1e6),),
                    (ActionPart("move", "continuous", done),),
                )
                for index, count in enumerate(agents)
            ),
            reward_terms=("near", "won"),
            winners=("nobody", "role0", "role1"),
            arenas=("yard",),
        )
        self.layout = GameLayout(self.ready)
        self.worlds, self.told_size = configure.worlds, told
        self.seed, self.decision = 0, 0
        self.round_ages = np.zeros(self.worlds, np.int64)
        self.round_lengths = 5 + np.arange(self.worlds) % 7
        self.rounds = np.zeros(self.worlds, np.int64)

    def told(self, role: int, decision: int) -> np.ndarray:
        """What each agent of the role is told after that many decisions: float32 [W, n, D]."""
        shape = (self.worlds, self.layout.roles[role].agents, self.told_size)
        numbers = np.empty(shape, np.float32)
        numbers[..., 0] = decision
        numbers[..., 1] = np.arange(shape[0])[:, None]
        numbers[..., 2] = np.arange(shape[1])[None]
        numbers[..., 3] = self.seed
        numbers[..., 4:] = role + 1
        return numbers

    def reset(self, seed: int) -> StepFrame:
        self.seed, self.decision = seed, 0
        self.round_ages[:] = 0
        self.rounds[:] = 0
        nobody = np.zeros(0, np.int64)
        return self._frame(
            [np.zeros((self.worlds, role.agents, 2), np.float32) for role in self.layout.roles], nobody, 0
        )

    def step(self, actions: tuple[np.ndarray, ...]) -> StepFrame:
        """Rewards are the sum of what was done, and 1 at the end of a round."""
        self.decision += 1
        self.round_ages += 1
        ended = np.flatnonzero(self.round_ages >= self.round_lengths)
        terms = []
        for role, action in zip(self.layout.roles, actions, strict=True):
            given = np.zeros((self.worlds, role.agents, 2), np.float32)
            given[..., 0] = action.sum(axis=-1)
            given[ended, :, 1] = 1.0
            terms.append(given)
        step = self._frame(terms, ended, ACTED)
        self.rounds[ended] += 1
        self.round_ages[ended] = 0
        return step

    def _frame(self, terms: list[np.ndarray], ended: np.ndarray, flag: int) -> StepFrame:
        how = np.where(self.rounds[ended] % 3 == 2, TRUNCATED, TERMINATED)
        winner = np.where(self.rounds[ended] % 3 == 2, 0, 1 + self.rounds[ended] % 3)
        length = self.round_ages[ended] * self.ready.ticks_per_decision
        roles = []
        for index, role in enumerate(self.layout.roles):
            told = self.told(index, self.decision)
            flags = np.full((self.worlds, role.agents), flag, np.uint8)
            flags[ended] |= how[:, None].astype(np.uint8)
            rows = (ended[:, None] * role.agents + np.arange(role.agents)).reshape(-1).astype(np.int32)
            final = (-told[ended]).reshape(len(rows), self.told_size)
            sums = np.full((len(rows), 2), 1.0, np.float32)
            score = np.full(len(rows), 0.5, np.float32)
            measures = np.empty((len(rows), 0), np.float32)
            roles.append(RoleStep(told, terms[index], flags, rows, final, sums, score, measures))
        worlds = np.stack([ended, winner, length, np.zeros_like(ended)], axis=1).astype(np.int32)
        return StepFrame(self.decision, 7, worlds, tuple(roles))


def play(
    client: DojoClient,
    game: PretendGame | None = None,
    *,
    die_after: int = -1,
    freeze_after: int = -1,
    babble_after: int = -1,
    refuse: str = "",
    plan: Callable[[int], Plan] = lambda _: Plan(),
) -> int:
    """Answers the trainer until it goes away; the number of decisions played. The hello has been said.

    `plan` is what a game with a training loop wants of each epoch.
    """
    decisions = 0
    while True:
        try:
            message = client.receive()
            if isinstance(message, Configure):
                if refuse:
                    client.send(HandshakeRejected(refuse))
                    return decisions
                game = game or PretendGame(message)
                client.send(game.ready)
            elif isinstance(message, Reset) and game is not None:
                client.send(game.layout.pack_step(game.reset(message.seed)))
            elif isinstance(message, bytes) and game is not None:
                if decisions == die_after:
                    os._exit(3)
                if decisions == freeze_after:
                    time.sleep(3600)
                if decisions == babble_after:
                    client.send(b"\x02\x00nonsense")
                    return decisions
                sequence, actions = game.layout.unpack_actions(message)
                client.send(game.layout.pack_step(game.step(actions)))
                assert sequence == game.decision, (sequence, game.decision)
                decisions += 1
            elif isinstance(message, Epoch):
                client.send(plan(message.epoch))
            elif isinstance(message, Close):
                return decisions
        except Gone:
            return decisions


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser()
    for name in ("--die-after", "--freeze-after", "--babble-after"):
        parser.add_argument(name, type=int, default=-1)
    parser.add_argument("--refuse", default="")
    parser.add_argument("--again", action="store_true", help="Calls again and again, as a game started by hand does.")
    wanted = vars(parser.parse_args(words))
    again = wanted.pop("again")
    while True:
        try:
            with DojoClient(int(os.environ["GODOJO_PORT"]), os.environ.get("GODOJO_HOST", "127.0.0.1")) as client:
                client.hello(os.environ.get("GODOJO_TOKEN", ""))
                play(client, **wanted)
        except (OSError, Gone):
            if not again:
                raise
        if not again:
            return 0
        time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
