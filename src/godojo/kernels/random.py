"""Random numbers from one stream per world, so that the number of worlds and threads changes nothing.

The stream is the field `stream` of a world's record.
"""

from typing import Any

import numpy as np

from godojo.errors import GodojoError
from godojo.kernels.compile import device_kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@device_kernel
def mix(value: np.uint64) -> np.uint64:
    """SplitMix64's scrambler: neighbouring inputs give unrelated outputs."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@device_kernel
def stream_of(seed: np.uint64, world: int) -> np.uint64:
    """Initial state of the world's stream."""
    return mix(mix(np.uint64(seed) + _GOLDEN) + np.uint64(world) * _GOLDEN)


def seed_streams(worlds: np.ndarray, seed: int) -> None:
    """Starts every world's stream afresh."""
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise GodojoError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
    for world in range(len(worlds)):
        worlds[world]["stream"] = stream_of(np.uint64(seed), world)


@device_kernel
def uniform(world: Any) -> float:
    """The world's next number from 0 to 1, exclusive."""
    world.stream += _GOLDEN
    return float(mix(world.stream) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@device_kernel
def randint(world: Any, count: int) -> int:
    """The world's next integer from 0 to `count`, exclusive."""
    return min(int(uniform(world) * count), count - 1)
