"""What an observation and an action are made of: the same words in every game, on every engine and on the wire."""

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

import msgspec


class ObservationPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Some neighbouring numbers of an observation that belong together."""

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
    """Something an agent does."""

    name: str
    kind: Literal["continuous", "discrete"]
    size: int
    """How many numbers from -1 to 1 there are (continuous), or how many choices (discrete)."""
    rest: float = 0.0
    """What its numbers are when nothing is done with it: where an untrained policy begins (continuous)."""

    @property
    def width(self) -> int:
        """Numbers it takes in an action: a choice is one number, its index."""
        return self.size if self.kind == "continuous" else 1


class Heading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where an agent looks, and which numbers are along the world's axes, so that a policy can think in its own frame.

    Pairs are places of an x and a z: in the observation, in the action, or in what a policy remembers, which is the
    policy's matter and not the game's.
    """

    forward: tuple[int, int]
    """Of the unit vector it looks along, in the observation."""
    observed: tuple[tuple[int, int], ...]
    acted: tuple[tuple[int, int], ...]
    remembered: tuple[tuple[int, int], ...] = ()


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
