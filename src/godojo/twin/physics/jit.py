"""How physics is compiled: into the functions of a world's tick, which alone are kept on disk and called from Python.

With records among the arguments, most of the time to compile a short function goes into its Python wrapper.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

import godojo.kernels.compile  # noqa: F401 (sets where compiled functions are kept)
from godojo.kernels.linked import Linked

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {
    # As for all kernels: nothing is fused or reordered, so that sums round as they do in Godot.
    "fastmath": {"nsz"},
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # nothing is allocated, so nothing counts references to the arrays of a space
    "pipeline_class": Linked,
}


def inline(function: F) -> F:
    """A short function, copied into its callers."""
    return cast("F", numba.njit(forceinline=True, **OPTIONS)(function))


def call(function: F) -> F:
    """A longer function, called from other kernels."""
    # Said explicitly: a function inherits the option from the one for whose sake it is compiled.
    return cast("F", numba.njit(forceinline=False, **OPTIONS)(function))


def in_python(function: F) -> F:
    """A kernel that calls no other one, as plain Python."""
    return cast("F", getattr(function, "py_func", function))
