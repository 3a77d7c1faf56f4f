"""How one definition of a function serves plain Python and Numba."""

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

    def call(*numbers: float) -> Any:
        try:
            return np.float64(in_c(*numbers))
        except (ValueError, OverflowError):
            return in_numpy(*map(np.float64, numbers))

    def compiled(*numbers: Any) -> Any:
        if len(numbers) == 1:
            return lambda *numbers: in_c(np.float64(numbers[0]))
        return lambda *numbers: in_c(np.float64(numbers[0]), np.float64(numbers[1]))

    call.__name__ = call.__qualname__ = name
    numba.extending.overload(call)(compiled)
    return call
