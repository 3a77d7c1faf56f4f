"""The parts of observations and actions: the same words in every game, on every engine and on the wire."""

import math
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Self

import msgspec
import numpy as np

from godojo.resources import godot_sources


class ObservationPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Neighbouring numbers of an observation that belong together."""

    name: str
    shape: tuple[int, ...]
    """Its numbers are in C order."""
    kind: Literal["box", "image", "discrete"] = "box"
    """`image`: rows, columns, channels, from 0 to 1. `discrete`: one number, an index."""
    low: float = -1.0
    high: float = 1.0

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class ActionPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Neighbouring numbers of an action."""

    name: str
    kind: Literal["continuous", "discrete"]
    size: int
    """Count of numbers from -1 to 1 (continuous) or of choices (discrete)."""
    rest: float = 0.0
    """Value that does nothing: where an untrained policy begins (continuous)."""

    @property
    def width(self) -> int:
        """Its numbers in an action: a choice is one number, its index."""
        return self.size if self.kind == "continuous" else 1


class Measure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent reports of its finished episode besides rewards, such as `success` or `fuel`."""

    name: str
    kind: Literal["bool", "number"] = "number"
    """A bool is reported as a share of episodes, a number as a mean."""


class Heading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Indices of the heading and of the vectors along the world's axes, for policies that work in the agent's frame.

    Each pair is the indices of an x and a z: in the observation, in the action, or in a policy's memory (which the
    policy sets, not the game).
    """

    forward: tuple[int, int]
    """The unit vector along the heading, in the observation."""
    observed: tuple[tuple[int, int], ...]
    acted: tuple[tuple[int, int], ...]
    remembered: tuple[tuple[int, int], ...] = ()


class DeclaredPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part as `observation.json` declares it.

    A text in `shape`, `low` or `high` is the path of a setting (`sight.range_m`) or of a number that the game's
    settings derive (`ray_count`), with a minus sign for its negative.
    """

    name: str
    shape: tuple[int | str, ...]
    low: float | str
    high: float | str
    frame: Literal["own", "world", "heading"] = "own"
    """`world`: vectors along the world's axes; `heading`: the unit vector (x, z) along the agent's heading."""


class ObservationLayout:
    """A game's observation by part name, from the `observation.json` beside its `settings.json`.

    Godot reads the same file. Only the last part may have a size that depends on settings, so that every part starts
    at a constant index, which kernels compile in.
    """

    def __init__(self, declared: tuple[DeclaredPart, ...]) -> None:
        self.declared = {part.name: part for part in declared}
        self.names = tuple(self.declared)
        self._starts: dict[str, int] = {}
        end = 0
        for part in declared:
            self._starts[part.name] = end
            if isinstance(part.shape[0], str) and part != declared[-1]:
                raise ValueError(f"{part.name}: only the last part's size may depend on settings")
            end += math.prod(extent for extent in part.shape if isinstance(extent, int))

    @classmethod
    def read(cls, folder: str) -> Self:
        """Of the game in this folder of the Godot project."""
        text = (godot_sources() / folder / "observation.json").read_bytes()
        return cls(msgspec.json.decode(text, type=tuple[DeclaredPart, ...]))

    def start(self, name: str) -> int:
        """Index of the part's first number."""
        return self._starts[name]

    def width(self, name: str) -> int:
        """The part's last extent: the numbers of a vector, or of one ray."""
        return int(self.declared[name].shape[-1])

    def slice(self, name: str) -> slice:
        start, shape = self._starts[name], self.declared[name].shape
        return slice(start, None if isinstance(shape[0], str) else start + math.prod(map(int, shape)))

    def view(self, observation: np.ndarray, name: str) -> np.ndarray:
        """The part of observations `[..., numbers]` in its own shape: rays become `[..., rays, numbers of one ray]`."""
        part = observation[..., self.slice(name)]
        return part if len(self.declared[name].shape) == 1 else part.reshape(*part.shape[:-1], -1, self.width(name))

    def parts(self, settings: object) -> tuple[ObservationPart, ...]:
        """With the sizes and bounds that these settings give."""

        def value(declared: float | str) -> Any:
            if not isinstance(declared, str):
                return declared
            return (-1 if declared[0] == "-" else 1) * attrgetter(declared.lstrip("-"))(settings)

        return tuple(
            ObservationPart(part.name, tuple(map(value, part.shape)), low=value(part.low), high=value(part.high))
            for part in self.declared.values()
        )

    def size(self, settings: object) -> int:
        return observation_size(self.parts(settings))

    def heading(self, acted: tuple[tuple[int, int], ...]) -> Heading:
        """From the parts' frames; `acted`: pairs of an action along the world's axes."""

        def pairs(frame: str) -> tuple[tuple[int, int], ...]:
            named = [name for name, part in self.declared.items() if part.frame == frame]
            return tuple((self.start(name), self.start(name) + self.width(name) - 1) for name in named)

        (forward,) = pairs("heading")
        return Heading(forward, pairs("world"), acted)


class Role(NamedTuple):
    """A group of agents that share a policy."""

    name: str
    first: int
    """Index of its first agent."""
    agents: int
    observation_parts: tuple[ObservationPart, ...]
    action_parts: tuple[ActionPart, ...]
    heading: Heading | None = None


def observation_size(parts: Iterable[ObservationPart]) -> int:
    return sum(part.size for part in parts)


def action_size(parts: Iterable[ActionPart]) -> int:
    return sum(part.width for part in parts)
