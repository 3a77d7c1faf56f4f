"""The contract of an opponent: a player of one role in many worlds at once."""

import abc
from collections.abc import Mapping

import numpy as np

from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.kernels.compile import device_kernel
from godojo.kernels.random import stream_of


class Opponent(abc.ABC):
    """Plays `role` in every world of a batch.

    `begin` after each `worlds.reset`, then `act` once before each `worlds.step`. It forgets a world when that world's
    round has ended (`worlds.ended`). The same seed gives the same play at any number of threads and worlds.
    """

    keeps: tuple[str, ...] = ("_memory",)
    """Names of the arrays in which it remembers."""

    needs_privileged_state = False
    """Whether it reads `Worlds.privileged()`, which engines may send on request only."""

    is_numbered = False
    """Whether there are numbered members: `NAME:7` is made with `variant=7`."""

    def __init__(self, role: str, seed: int = 0) -> None:
        self.role = role
        self.seed = seed

    @abc.abstractmethod
    def begin(self, worlds: Worlds) -> None:
        """Allocates its memory of these worlds; every round is new."""

    @abc.abstractmethod
    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        """Writes the next actions of the role: float32 [N, n, A], from -1 to 1.

        `out` may be `worlds.roles[role].action` itself.
        """

    def state(self) -> dict[str, np.ndarray]:
        """Its memory, for a checkpoint."""
        return {name: getattr(self, name).copy() for name in self.keeps}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Restores what `state` returned, after `begin` with the same worlds."""
        for name in self.keeps:
            getattr(self, name)[...] = state[name]


def check_role(worlds: Worlds, role: str) -> None:
    if role not in worlds.roles:
        raise GodojoError(f"there is no role {role!r} to play; there is: {', '.join(worlds.roles)}")


def check_out(worlds: Worlds, role: str, out: np.ndarray, memory: np.ndarray | None) -> np.ndarray:
    """The memory, if there is one of these worlds, and `out` has the right shape."""
    if memory is None or memory.shape != out.shape[:2]:
        raise GodojoError("an opponent must be told of the worlds first: call begin(worlds) after each reset")
    wanted = worlds.roles[role].action
    if out.shape != wanted.shape or out.dtype != wanted.dtype:
        raise GodojoError(f"actions of {role} are {wanted.dtype} {wanted.shape}, not {out.dtype} {out.shape}")
    return memory


def new_memory(worlds: Worlds, role: str, seed: int, record: np.dtype) -> np.ndarray:
    """One record an agent, zero but for a random stream of its own; [N, n]."""
    check_role(worlds, role)
    count = worlds.roles[role].action.shape[1]
    memory = np.zeros((worlds.num_worlds, count), record)
    salt = sum(byte << (8 * (place % 7)) for place, byte in enumerate(role.encode()))
    for agent in range(count):
        start = np.uint64((seed * 0x9E3779B1 + salt * 31 + agent * 0x85EBCA77) & (2**64 - 1))
        _begin_streams(start, memory["stream"][:, agent])
    return memory


@device_kernel
def _begin_streams(start: np.uint64, streams: np.ndarray) -> None:
    for world in range(len(streams)):
        streams[world] = stream_of(start, world)
