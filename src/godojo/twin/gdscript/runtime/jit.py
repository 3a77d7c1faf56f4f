"""How one definition of a function serves plain Python and Numba."""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numba.extending
import numpy as np

import godojo.kernels.compile  # noqa: F401 - sets where compiled code is kept, before anything is compiled

F = TypeVar("F", bound=Callable[..., Any])


def jitable(function: F) -> F:
    """Leaves the function as it is for Python, and lets compiled code call it."""
    numba.extending.register_jitable(function)
    return function


def libm(name: str) -> Callable[..., Any]:
    """A function of the C library, which returns NaN or infinity where Python's `math` raises an error.

    NumPy's own versions of sine and the like may round differently from one processor to the next.
    """
    in_c = getattr(math, name)

    def call(*numbers: float) -> Any:
        try:
            return np.float64(in_c(*numbers))
        except ValueError:
            return np.float64(np.nan)
        except OverflowError:
            return np.float64(np.inf)

    def compiled(*numbers: Any) -> Any:
        if len(numbers) == 1:
            return lambda *numbers: in_c(np.float64(numbers[0]))
        return lambda *numbers: in_c(np.float64(numbers[0]), np.float64(numbers[1]))

    call.__name__ = call.__qualname__ = name
    numba.extending.overload(call)(compiled)
    return call
