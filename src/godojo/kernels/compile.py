"""How kernels are compiled: the same options everywhere, cached on disk."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be fused, but never reordered, and NaN and infinity keep their meaning: results must not depend on how a
# loop happens to be vectorised.
_FASTMATH = {"contract", "nsz"}


def kernel(function: F) -> F:
    """A function over one world, called from other kernels."""
    compiled: F = numba.njit(cache=True, fastmath=_FASTMATH, error_model="numpy", inline="never")(function)
    return compiled


def over_worlds(function: F) -> F:
    """A function over all worlds, run on every core."""
    compiled: F = numba.njit(cache=True, fastmath=_FASTMATH, error_model="numpy", parallel=True)(function)
    return compiled
