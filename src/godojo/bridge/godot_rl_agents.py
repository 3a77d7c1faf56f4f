"""Agents of a godot_rl game as the contract's roles, observations and actions."""

import binascii
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from godojo.bridge.messages import MAX_AGENTS, MAX_NUMBERS, MAX_ROLES, RoleDescription, WireError, shown
from godojo.errors import GodojoError, option
from godojo.games.parts import ActionPart, Measure, ObservationPart

SHARED_POLICY = "shared_policy"
"""The role of agents whose game does not say which policy they belong to."""
MEASURES = (Measure("success", "bool"),)
"""What a godot_rl game may report of a finished episode: `is_success` in its `info`."""
MOST_AGENTS = MAX_AGENTS * MAX_ROLES

_Number = int | float


class _ObservationSpace(msgspec.Struct):
    size: _Number | list[_Number]
    space: str
    low: Any = None
    high: Any = None


class _ActionSpace(msgspec.Struct):
    size: _Number | list[_Number]
    action_type: str


_Observations = dict[str, _ObservationSpace]
_Actions = dict[str, _ActionSpace]


class EnvInfo(msgspec.Struct):
    """A game's answer to `env_info`, of any generation."""

    n_agents: _Number
    observation_space: Any
    """One dict for all agents (the first generation), or a list with one for each."""
    action_space: Any
    agent_policy_names: list[str] | None = None


class AgentRole:
    """Agents of one policy that share observation and action spaces."""

    def __init__(self, name: str, observation: tuple[ObservationPart, ...], action: tuple[ActionPart, ...]) -> None:
        self.name, self.observation, self.action = name, observation, action
        self.agents: list[int] = []
        """Their places in the game's own list."""
        self.observation_size = sum(part.size for part in observation)
        self.action_size = sum(part.width for part in action)

    def describe(self, agents: int) -> RoleDescription:
        """The role with this many agents in a world."""
        return RoleDescription(self.name, agents, self.observation, self.action, measures=MEASURES)

    def read_observation(self, given: Any, row: np.ndarray, what: str = "the observation") -> None:
        """Writes one agent's observation into its row; ignores keys that were not declared."""
        if not isinstance(given, dict):
            raise WireError(f"{what} is {_kind(given)}, and should be a dict")
        begin = 0
        for part in self.observation:
            if part.name not in given:
                raise WireError(f"{what} lacks {part.name!r}, which was declared")
            of = f"{what} {part.name!r}"
            value = given[part.name]
            numbers = _pixels(value, of) if part.kind == "image" else numbers_of(value, of)
            if numbers.size != part.size:
                raise WireError(f"{of} has {numbers.size} numbers, and {part.size} were declared")
            with np.errstate(over="ignore"):  # the caller checks for infinite numbers
                row[begin : begin + part.size] = numbers.reshape(-1)
            begin += part.size

    def read_all(self, given: Sequence[Any], rows: np.ndarray) -> bool:
        """Writes the observations of all agents at once. False where one is an image or odd: read them one by one."""
        begin = 0
        try:
            for part in self.observation:
                numbers = np.array([one[part.name] for one in given])
                if part.kind == "image" or numbers.dtype.kind not in "bif" or numbers.size != len(given) * part.size:
                    return False
                with np.errstate(over="ignore"):  # the caller checks for infinite numbers
                    rows[:, begin : begin + part.size] = numbers.reshape(len(given), -1)
                begin += part.size
        except (KeyError, TypeError, ValueError):
            return False
        return True

    def can_read(self, given: Any) -> bool:
        """Whether it has all declared keys."""
        return isinstance(given, dict) and all(part.name in given for part in self.observation)

    def write_action(self, numbers: Sequence[float]) -> dict[str, Any]:
        """One agent's action as the game expects it."""
        action: dict[str, Any] = {}
        begin = 0
        for part in self.action:
            if part.kind == "continuous":
                action[part.name] = list(numbers[begin : begin + part.size])
            else:
                choice = round(numbers[begin])
                if not 0 <= choice < part.size:
                    raise GodojoError(
                        f"action {part.name!r} of {self.name} is a choice from 0 to {part.size - 1}, not {choice}"
                    )
                action[part.name] = choice
            begin += part.width
        return action


def read_roles(info: EnvInfo) -> list[AgentRole]:
    """The roles of a game, in the order of its agents. Agents of one policy with different spaces become roles of their
    own: `name_0`, `name_1`, …"""
    count = _whole(info.n_agents, "n_agents", MOST_AGENTS, least=0)
    if not count:
        raise WireError("the game has no agents to train: set the control mode of its Sync node to Training")
    observations = _for_each(info.observation_space, _Observations, count, "observation_space")
    actions = _for_each(info.action_space, _Actions, count, "action_space")
    names = info.agent_policy_names or [SHARED_POLICY] * count
    if len(names) != count:
        raise WireError(f"the game has {count} agents and names {len(names)} policies")
    kinds: dict[str, dict[Any, AgentRole]] = {}
    roles: list[AgentRole] = []
    known: dict[tuple[int, int], Any] = {}
    for agent, (observation, action, name) in enumerate(zip(observations, actions, names, strict=True)):
        same = (id(observation), id(action))
        if same not in known:
            known[same] = (_observation_parts(observation), _action_parts(action))
        spaces = known[same]
        of_name = kinds.setdefault(name or SHARED_POLICY, {})
        if spaces not in of_name:
            of_name[spaces] = AgentRole(name or SHARED_POLICY, *spaces)
            roles.append(of_name[spaces])
        of_name[spaces].agents.append(agent)
    taken = set(kinds)
    for name, several in kinds.items():
        if len(several) > 1:
            numbers = (f"{name}_{index}" for index in range(count + len(taken)))
            for role, fresh in zip(several.values(), (n for n in numbers if n not in taken), strict=False):
                role.name = fresh
    return roles


def numbers_of(value: Any, what: str) -> np.ndarray:
    """The numbers of a list (of lists), or of a single one; true and false count as 1 and 0, null, which is what the
    engine writes for it, as NaN."""
    try:
        numbers = np.array(value)
        if numbers.dtype.kind == "O" and isinstance(value, list) and _first_odd(value) is None:
            numbers = np.array(value, np.float64)
    except (ValueError, TypeError):
        raise WireError(f"{what} is a list of lists of different lengths") from None
    if numbers.dtype.kind not in "bif":
        raise WireError(f"{what} holds {_kind(_first_odd(value))}, and should hold numbers")
    return numbers


def _pixels(value: Any, what: str) -> np.ndarray:
    """An image, from hexadecimal bytes; from 0 to 1."""
    if value is None:
        raise WireError(f"{what} is null: without a screen Godot draws nothing; add {option('window', True)}")
    if isinstance(value, str):
        try:
            numbers = np.frombuffer(binascii.unhexlify(value), np.uint8)
        except ValueError:  # an odd number of digits, or no digits
            raise WireError(f"{what} is an image, and its text is not hexadecimal") from None
    else:
        numbers = numbers_of(value, what)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() <= 255):
            raise WireError(f"{what} is an image, and its numbers are not all from 0 to 255")
    return numbers.astype(np.float32) / np.float32(255)


def _for_each(given: Any, kind: Any, count: int, what: str) -> list[Any]:
    """The spaces of each agent; the same object for all if the game declares one."""
    spaces = given if isinstance(given, list) else [given]
    try:
        read = [msgspec.convert(space, kind) for space in spaces]
    except msgspec.ValidationError as error:
        raise WireError(f"{what} cannot be read: {shown(str(error), 200)}") from None
    if not isinstance(given, list):
        return read * count
    if len(read) != count:
        raise WireError(f"the game has {count} agents and describes the {what} of {len(read)}")
    return read


def _observation_parts(space: _Observations) -> tuple[ObservationPart, ...]:
    parts = []
    for name, declared in space.items():
        what = f"the observation space of {shown(name)!r}"
        if "2d" in name:
            parts.append(ObservationPart(name, _image_shape(_shape(declared.size, what)), "image", 0.0, 1.0))
        elif declared.space == "box":
            low, high = _bound(declared.low, -1.0), _bound(declared.high, 1.0)
            parts.append(ObservationPart(name, _shape(declared.size, what), "box", min(low, high), max(low, high)))
        elif declared.space == "discrete":
            (size,) = _shape(declared.size, what)[:1]
            parts.append(ObservationPart(name, (1,), "discrete", 0.0, float(size - 1)))
        else:
            raise WireError(f"{what} is {shown(declared.space)!r}, and should be box or discrete")
    return tuple(parts)


def _action_parts(space: _Actions) -> tuple[ActionPart, ...]:
    parts = []
    for name, declared in space.items():
        what = f"the action space of {shown(name)!r}"
        size = math.prod(_shape(declared.size, what))
        if declared.action_type == "continuous":
            parts.append(ActionPart(name, "continuous", _whole(size, what, MAX_NUMBERS)))
        elif declared.action_type == "discrete":
            parts.append(ActionPart(name, "discrete", _whole(size, what, MAX_NUMBERS)))
        else:
            raise WireError(f"{what} is {shown(declared.action_type)!r}, and should be continuous or discrete")
    return tuple(parts)


def _image_shape(size: tuple[int, ...]) -> tuple[int, ...]:
    """Rows, columns, channels: the order of the bytes. Cameras declare channels, rows, columns; the oldest ones
    columns, rows, channels."""
    if len(size) != 3:
        return (*size, 1) if len(size) == 2 else size
    if size[0] <= 4:
        return (size[1], size[2], size[0])
    return (size[1], size[0], size[2])


def _shape(size: _Number | list[_Number], what: str) -> tuple[int, ...]:
    lengths = size if isinstance(size, list) else [size]
    if not 1 <= len(lengths) <= 8:
        raise WireError(f"{what} has {len(lengths)} dimensions, and should have 1 to 8")
    shape = tuple(_whole(length, what, MAX_NUMBERS) for length in lengths)
    _whole(math.prod(shape), what, MAX_NUMBERS)
    return shape


def _whole(number: _Number, what: str, most: int, least: int = 1) -> int:
    """Engines know no integers in JSON: 36.0 is a 36."""
    if number != number or number in (math.inf, -math.inf) or number != int(number) or not least <= number <= most:
        raise WireError(f"{what}: {shown(str(number), 20)} is not a whole number from {least} to {most}")
    return int(number)


def _bound(given: Any, usual: float) -> float:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return float(given) if is_number and abs(given) <= 1e38 else usual


def _first_odd(value: Any) -> Any:
    """The first item that is neither a number nor a list."""
    pending: list[Iterable[Any]] = [iter([value])]
    while pending:
        for item in pending[-1]:
            if isinstance(item, list):
                pending.append(iter(item))
                break
            if not isinstance(item, int | float):
                return item
        else:
            pending.pop()
    return value


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a dict"
    return "a list" if isinstance(value, list) else shown(repr(value), 40)
