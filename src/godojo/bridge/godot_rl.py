"""The wire of godot_rl without sockets: JSON behind a length, all three generations of it, as a `Session`.

The game connects and waits for the first message. Its agents restart their episodes by themselves, independently of
each other. Where all of them have one policy, each is a world of its own; agents of several policies share one world.
This module makes up for what the protocol lacks:

- A reset is answered one action-repeat late, and then another passes before the game listens, both on stale actions. So
  a reset is enclosed by two decisions in which all agents do nothing; the step after them is the first.
- The observation that comes with `done` is the next episode's. The last of the old one is what the game sends along as
  `terminal_observation`, or the previous observation.
- `done` means terminated, unless the game says `TimeLimit.truncated`.
- There are no seeds after the start, no settings, no notices.
"""

import enum
import json
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from godojo.bridge.codec import ACTED, TERMINATED, TRUNCATED, RoleStep, StepFrame
from godojo.bridge.godot_rl_agents import MEASURES, AgentRole, EnvInfo, numbers_of, read_roles
from godojo.bridge.messages import (
    Configure,
    ConnectionLost,
    GameRefused,
    Hello,
    Limits,
    Ready,
    WireError,
    check_ready,
    shown,
)
from godojo.bridge.repairs import Repair, observation_fields, repair
from godojo.bridge.session import Session
from godojo.errors import GodojoError

WIRE = "godot_rl"
DEFAULT_TICKS_PER_DECISION = 8
"""The default of godot_rl's Sync node; the scene or `--action_repeat=` may change it, and the game does not say."""

_LENGTH = struct.Struct("<I")
_NOBODY = np.empty((0, 4), np.int32)
_NO_ROWS = np.empty(0, np.int32)
_INFINITE, _TOO_LARGE = b"1e99999", b"1e39"
"""What the engine writes for an infinite number, which no reader takes; and a number too large for a float32."""
_LARGEST = np.finfo(np.float32).max


class _Turn(enum.Enum):
    """The message that the game has to send next."""

    NOTHING = "nothing"
    ENV_INFO = "env_info"
    LAST_STEP = "the step before a reset"
    RESET = "reset"
    FIRST_STEP = "the step after a reset"
    STEP = "step"


class _Said(msgspec.Struct):
    """Any message of a game except `env_info`."""

    type: str
    obs: list[Any] = []
    reward: list[Any] = []
    done: list[Any] = []
    info: Any = None
    message: Any = None


_said = msgspec.json.Decoder(_Said)
_env_info = msgspec.json.Decoder(EnvInfo)


class GodotRlSession(Session):
    """One game of godot_rl. See `Session`."""

    wire = WIRE

    def __init__(self, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._received = bytearray()
        self._outgoing: list[bytes] = []
        self._turn: _Turn = _Turn.NOTHING
        self._has_greeted = False
        self._roles: list[AgentRole] = []
        self._count = 0
        self._worlds = 1
        self._is_ready = False
        self._ticks = DEFAULT_TICKS_PER_DECISION
        self._decisions = np.zeros(0, np.int32)
        """Of each world, since its episode started."""
        self._before: list[np.ndarray] = []
        self._returns: list[np.ndarray] = []
        self._repairs: list[Repair] = []
        """Of the step that is being read."""

    def begin(self) -> None:
        """The trainer sends the first message."""
        self._say({"type": "handshake", "major_version": "0", "minor_version": "7"})
        self._say({"type": "env_info"}, _Turn.ENV_INFO)

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        if self.closed:
            return
        self._received += data
        try:
            while not self.closed and (text := self._next_text()) is not None:
                self._take(text)
        except WireError as error:
            self._say({"type": "close"})
            self._end(error)

    def feed_end(self) -> None:
        self._end(ConnectionLost("the game closed the connection"))

    def take_outgoing(self) -> bytes:
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        return data

    def configure(self, request: Configure) -> None:
        """Nothing is sent: a launched game was configured by its command line."""
        if self.closed and self.events:
            return  # the waiting event says what is wrong
        if self.closed:
            raise ConnectionLost("cannot configure the game: the connection is over")
        if self._asked is not None:
            raise GodojoError("a godot_rl game is configured once")
        self._asked = request
        if self._roles:
            self._get_ready()

    def reset(self, seed: int) -> None:
        """The seed is not sent: the game got one on its command line."""
        self._my_turn("reset the game")
        if seed < 0:
            raise GodojoError(f"a seed is a whole number from 0 on, not {seed}")
        if self._before:
            self._idle(_Turn.LAST_STEP)
        else:
            self._say({"type": "reset"}, _Turn.RESET)

    def act(self, actions: Sequence[np.ndarray]) -> None:
        self._my_turn("act")
        if not self._before:
            raise GodojoError("the game has to be reset before anybody can act")
        words = self._words(actions)
        self._sequence += 1
        self._say({"type": "action", "action": words}, _Turn.STEP)

    def close(self, reason: str) -> None:
        if not self.closed:
            self._say({"type": "close"})
            self._end(ConnectionLost(f"the trainer closed the connection: {reason}"))

    # What the game says

    def _next_text(self) -> bytes | None:
        if len(self._received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._received)
        most = self._limits.control_bytes if self._turn is _Turn.ENV_INFO else self._limits.message_bytes
        if length > most:
            raise WireError(f"a message of {length} bytes is announced, and at most {most} are allowed")
        start = self._received[_LENGTH.size : _LENGTH.size + 1]
        if start and start != b"{":
            raise WireError("a peer connected that does not speak godot_rl's protocol")
        if start and not self._has_greeted:
            # This is a game: the limits of a pending connection no longer apply.
            self._has_greeted = True
            self.events.append(Hello(WIRE))
        if len(self._received) < _LENGTH.size + length:
            return None
        text = bytes(memoryview(self._received)[_LENGTH.size : _LENGTH.size + length])
        del self._received[: _LENGTH.size + length]
        return text

    def _take(self, text: bytes) -> None:
        said = _read(_said, text)
        if said.type == "error":
            self._end(GameRefused(f"the game says: {shown(str(said.message), 1000)}"))
        elif said.type == "env_info" and self._turn is _Turn.ENV_INFO:
            self._roles = read_roles(_read(_env_info, text))
            self._count = sum(len(role.agents) for role in self._roles)
            self._worlds = self._count if len(self._roles) == 1 else 1
            self._turn = _Turn.NOTHING
            if self._asked is not None:
                self._get_ready()
        elif said.type == "reset" and self._turn is _Turn.RESET:
            self._idle(_Turn.FIRST_STEP)
        elif said.type == "step" and self._turn is _Turn.LAST_STEP:
            self._say({"type": "reset"}, _Turn.RESET)
        elif said.type == "step" and self._turn is _Turn.FIRST_STEP:
            self._take_beginning(said)
        elif said.type == "step" and self._turn is _Turn.STEP:
            self._take_step(said)
        else:
            raise WireError(f"the game said {shown(said.type)!r}, and was expected to say {self._turn.value}")

    def _get_ready(self) -> None:
        asked = self._asked or Configure(1)
        self._ticks = asked.ticks_per_decision or DEFAULT_TICKS_PER_DECISION
        roles = tuple(role.describe(self._agents(role)) for role in self._roles)
        ready = Ready(self._worlds, self._ticks, roles, independent_agents=len(roles) > 1)
        try:
            check_ready(ready)
        except WireError as error:
            self._say({"type": "close"})
            self._end(error)
            return
        self._is_ready = True
        self.events.append(ready)

    def _take_beginning(self, said: _Said) -> None:
        self._before = self._observations(said)
        self._returns = [np.zeros(len(role.agents)) for role in self._roles]
        self._sequence, self._decisions = 0, np.zeros(self._worlds, np.int32)
        steps = []
        for observation in self._before:
            reward = np.zeros(observation.shape[:2], np.float32)
            steps.append(_role_step(observation, reward, np.zeros(reward.shape, np.uint8), _NO_ROWS))
        self._deliver(StepFrame(0, 0, _NOBODY, tuple(steps)))

    def _take_step(self, said: _Said) -> None:
        observations = self._observations(said)
        rewards = self._one_each(said.reward, "the reward")
        dones = np.nan_to_num(self._one_each(said.done, "done")) != 0
        has_infos = isinstance(said.info, list) and len(said.info) == self._count
        infos = said.info if has_infos else [None] * self._count
        self._decisions += 1
        steps = []
        for role, observation, before, returns in zip(
            self._roles, observations, self._before, self._returns, strict=True
        ):
            reward, done = _single(rewards[role.agents]), dones[role.agents]
            self._repair(role, reward[:, None], ["reward"])
            returns += reward
            shape = observation.shape[:2]
            if not done.any():
                flags = np.full(shape, ACTED, np.uint8)
                steps.append(_role_step(observation, reward.reshape(shape), flags, _NO_ROWS))
                continue
            flags = np.where(done, ACTED | TERMINATED, ACTED).astype(np.uint8)
            rows = np.flatnonzero(done).astype(np.int32)
            last = before.reshape(len(done), -1)[rows]
            success = np.full((len(rows), len(MEASURES)), np.nan, np.float32)
            for index, row in enumerate(rows):
                info = infos[role.agents[row]]
                self._take_info(info, role, last[index], flags[row : row + 1], success[index])
            self._repair(role, last, observation_fields(role.observation), rows)
            score = _single(np.clip(returns[rows], -_LARGEST, _LARGEST))
            steps.append(
                _role_step(observation, reward.reshape(shape), flags.reshape(shape), rows, last, score, success)
            )
            returns[rows] = 0
        over = np.flatnonzero(dones.reshape(self._worlds, -1).all(axis=1))
        ended = np.zeros((len(over), 4), np.int32)
        ended[:, 0], ended[:, 2], ended[:, 3] = over, self._decisions[over] * self._ticks, -1
        self._decisions[over] = 0
        self._before = observations
        self._deliver(StepFrame(self._sequence, 0, ended, tuple(steps)))

    def _take_info(self, info: Any, role: AgentRole, last: np.ndarray, flag: np.ndarray, success: np.ndarray) -> None:
        """Reads what some games send about the end of an episode; others send anything here."""
        if not isinstance(info, dict):
            return
        if info.get("is_success") in (True, False):
            success[0] = info["is_success"]
        if info.get("TimeLimit.truncated") in (True, 1):
            flag[0] = ACTED | TRUNCATED
        last_seen = info.get("terminal_observation")
        if isinstance(last_seen, list) and len(role.observation) == 1:
            last_seen = {role.observation[0].name: last_seen}
        if role.can_read(last_seen):
            role.read_observation(last_seen, last, f"the last observation of {role.name}")

    def _observations(self, said: _Said) -> list[np.ndarray]:
        """The observations of all agents by role: [worlds, agents, numbers]."""
        if len(said.obs) != self._count:
            raise WireError(f"the game has {self._count} agents and sent {len(said.obs)} observations")
        observations = []
        for role in self._roles:
            observed = np.empty((len(role.agents), 1, role.observation_size), np.float32)
            given = [said.obs[agent] for agent in role.agents]
            if not role.read_all(given, observed[:, 0]):
                for row, one in enumerate(given):
                    role.read_observation(one, observed[row, 0], f"the observation of {role.name} {row}:")
            self._repair(role, observed[:, 0], observation_fields(role.observation))
            observed = observed.reshape(self._worlds, self._agents(role), -1)
            observed.flags.writeable = False
            observations.append(observed)
        return observations

    def _agents(self, role: AgentRole) -> int:
        """The agents of a role in one world."""
        return len(role.agents) // self._worlds

    def _one_each(self, given: list[Any], what: str) -> np.ndarray:
        numbers = numbers_of(given, what)
        if numbers.shape != (self._count,):
            raise WireError(f"{what} must be a list of {self._count} numbers, one for each agent")
        return numbers

    def _repair(self, role: AgentRole, numbers: np.ndarray, fields: list[str], rows: np.ndarray | None = None) -> None:
        """Replaces what is not finite in the numbers of all agents, or of those in `rows`."""
        with np.errstate(all="ignore"):
            if not np.isfinite(numbers.sum()):
                agents = np.arange(len(role.agents)) if rows is None else rows
                self._repairs += repair(role.name, numbers, agents % self._agents(role), fields)

    def _deliver(self, step: StepFrame) -> None:
        self._turn = _Turn.NOTHING
        self.events.append(replace(step, repairs=tuple(self._repairs)) if self._repairs else step)
        self._repairs = []

    # What we say

    def _my_turn(self, what: str) -> None:
        super()._my_turn(what)
        if not self._is_ready:
            raise GodojoError("the game has to be configured first")

    def _idle(self, turn: _Turn) -> None:
        """Sends a decision in which all agents do nothing."""
        nothing = [np.zeros((self._worlds, self._agents(role), role.action_size), np.float32) for role in self._roles]
        self._say({"type": "action", "action": self._words(nothing)}, turn)

    def _words(self, actions: Sequence[np.ndarray]) -> list[dict[str, Any]]:
        """The actions of all agents, in the game's order."""
        if len(actions) != len(self._roles):
            raise GodojoError(f"there are {len(self._roles)} roles, and actions for {len(actions)}")
        words: list[dict[str, Any]] = [{} for _ in range(self._count)]
        for role, numbers in zip(self._roles, actions, strict=True):
            wanted = (self._worlds, self._agents(role), role.action_size)
            if numbers.shape != wanted:
                raise GodojoError(f"actions of {role.name} must have the shape {wanted}, not {numbers.shape}")
            if not np.isfinite(numbers).all():
                raise GodojoError(f"an action of {role.name} is not a finite number")
            for agent, row in zip(role.agents, numbers.reshape(len(role.agents), -1).tolist(), strict=True):
                words[agent] = role.write_action(row)
        return words

    def _say(self, message: dict[str, Any], turn: _Turn = _Turn.NOTHING) -> None:
        text = msgspec.json.encode(message)
        if not text.isascii():  # games read ASCII, and take the rest for something else
            text = json.dumps(message).encode("ascii")
        self._outgoing += (_LENGTH.pack(len(text)), text)
        self._turn = turn


def _role_step(
    observation: np.ndarray,
    reward: np.ndarray,
    flags: np.ndarray,
    rows: np.ndarray,
    last: np.ndarray | None = None,
    score: np.ndarray | None = None,
    success: np.ndarray | None = None,
) -> RoleStep:
    if last is None or score is None:
        last, score = np.empty((0, observation.shape[-1]), np.float32), np.empty(0, np.float32)
    if success is None:
        success = np.empty((0, len(MEASURES)), np.float32)
    return RoleStep(observation, reward[..., None], flags, rows, last, score[:, None], score, success)


def _single(numbers: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # what is too large is found afterwards, and named
        return numbers.astype(np.float32)


def _read(decoder: msgspec.json.Decoder[Any], text: bytes) -> Any:
    text = text.replace(_INFINITE, _TOO_LARGE)
    try:
        return decoder.decode(text)
    except RecursionError:
        raise WireError("a message of the game is nested too deeply") from None
    except UnicodeError:
        raise WireError("a message of the game is not UTF-8 text") from None
    except msgspec.MsgspecError as error:
        raise WireError(f"a message of the game cannot be read: {shown(str(error), 200)}") from None
