"""How one definition of a function serves plain Python and Numba."""

import ctypes
import ctypes.util
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numba.extending
import numpy as np

import godojo.kernels.compile  # noqa: F401 - sets where compiled code is kept, before anything is compiled

_NUMPY = {"acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
F = TypeVar("F", bound=Callable[..., Any])


def jitable(function: F) -> F:
    """Leaves the function as it is for Python, and lets compiled code call it."""
    numba.extending.register_jitable(function)
    return function


def libm(name: str) -> Callable[..., Any]:
    """A function of the C library.

    NumPy's own versions of sine and the like may round differently from one processor to the next; they only return
    the infinity or NaN where Python's `math` raises an error.
    """
    in_c, in_numpy = getattr(math, name), getattr(np, _NUMPY.get(name, name))

    if name in ("atan2", "pow"):

        def binary(x: float, y: float) -> Any:
            try:
                return np.float64(in_c(x, y))
            except (ValueError, OverflowError):
                return in_numpy(np.float64(x), np.float64(y))

        numba.extending.overload(binary)(lambda x, y: lambda x, y: in_c(x, y))
        return binary

    def unary(x: float) -> Any:
        try:
            return np.float64(in_c(x))
        except (ValueError, OverflowError):
            return in_numpy(np.float64(x))

    numba.extending.overload(unary)(lambda x: lambda x: in_c(x))
    return unary


def libm32(name: str) -> Callable[..., Any]:
    """A function of the C library over 32-bit floats, which rounds otherwise than the 64-bit one does."""
    in_c = numba.types.ExternalFunction(f"{name}f", numba.float32(numba.float32))
    native = _from_c(f"{name}f") or getattr(math, name)

    def unary(x: np.float32) -> Any:
        return np.float32(native(x))

    numba.extending.overload(unary)(lambda x: lambda x: in_c(x))
    return unary


def _from_c(name: str) -> Callable[..., Any] | None:
    library = ctypes.util.find_library("m")
    try:
        function = getattr(ctypes.CDLL(library), name)
    except (OSError, AttributeError, TypeError):
        return None
    function.restype, function.argtypes = ctypes.c_float, [ctypes.c_float]
    return function  # type: ignore[no-any-return]
