"""How kernels are compiled: the same options everywhere, once, and kept on disk."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

# Idle threads sleep instead of spinning: on a busy machine spinning ones steal the time of those that work.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# On an idle one they spin for some 50 µs first: to wake them takes as long as a small game takes to play a decision.
if hasattr(os, "getloadavg") and os.getloadavg()[0] < (os.cpu_count() or 1) / 2:
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")

import numba
import platformdirs

from godojo.kernels.sources import sources_hash
from godojo.resources import godot_sources

F = TypeVar("F", bound=Callable[..., Any])

# Nothing is fused or reordered: 32-bit sums and products round as they do in Godot, so that a twin follows it exactly.
_FASTMATH = {"nsz"}
_NO_REFERENCES: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


def _cache_folder() -> Path:
    home = os.environ.get("GODOJO_HOME")
    caches = Path(home).expanduser().absolute() / "cache" if home else platformdirs.user_cache_path("godojo", False)
    games = [Path(text).expanduser() for text in os.environ.get("GODOJO_GAMES", "").split(os.pathsep) if text]
    return caches / "kernels" / sources_hash(Path(__file__).parent.parent, godot_sources(), games)


CACHE_FOLDER = _cache_folder()
numba.config.CACHE_DIR = str(CACHE_FOLDER)  # type: ignore[attr-defined]


def is_compiled() -> bool:
    """Whether these kernels have been compiled on this machine before."""
    return CACHE_FOLDER.exists() and any(CACHE_FOLDER.rglob("*step_worlds*.nbi"))


def kernel(function: F) -> F:
    """A function over one world, called from other kernels."""
    return cast("F", numba.njit(cache=True, fastmath=_FASTMATH, error_model="numpy", forceinline=True)(function))


def device_kernel(function: F) -> F:
    """A kernel that can also be compiled for a GPU (`kernels/cuda.py`): it cannot allocate.

    So nothing counts references to arrays, which took a sixth of a step.
    """
    return cast("F", numba.njit(cache=True, fastmath=_FASTMATH, forceinline=True, **_NO_REFERENCES)(function))


def njit_parallel(function: F) -> F:
    """A function over all worlds, run on every core."""
    return cast("F", numba.njit(cache=True, fastmath=_FASTMATH, error_model="numpy", parallel=True)(function))


def njit_nogil(function: F) -> F:
    """A function that runs on the thread that calls it and lets Python's other threads run meanwhile.

    Like a `device_kernel`, it cannot allocate.
    """
    return cast("F", numba.njit(cache=True, fastmath=_FASTMATH, nogil=True, **_NO_REFERENCES)(function))


def njit_fastmath(function: F) -> F:
    """As `njit_nogil`, but sums and products may be fused and reordered: for networks, whose bits nobody compares."""
    fastmath = _FASTMATH | {"contract", "reassoc"}
    return cast("F", numba.njit(cache=True, fastmath=fastmath, nogil=True, **_NO_REFERENCES)(function))
