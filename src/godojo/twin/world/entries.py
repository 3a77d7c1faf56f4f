"""The physics as functions at addresses: compiled once for all games, and never again with a game's own code.

Numba links a function into everything that calls it and optimizes it there anew. The physics is far larger than most
games, so generated code calls it through a table of addresses instead, which a world's row points to. An entry takes
the world's row and the offset of a node; other arguments and results are fields of `World`. 2D and 3D physics have
tables with the same entries (`calls`, `calls_2d`); a game compiles the one that it needs.
"""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import functools

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from godojo.kernels.compile import _FASTMATH

(
    FLUSH_TRANSFORMS,
    STEP_PHYSICS,
    SYNC_BODIES,
    MOVE_AND_SLIDE,
    APPLY_FLOOR_SNAP,
    MOVE_AND_COLLIDE,
    CAST,
    INTERSECT_RAY,
) = range(8)
NO_CALLS = np.zeros(8, np.int64)
_SIGNATURE = types.int64(types.voidptr, types.int64)


class CallTable:
    """Functions in the order of the numbers above."""

    def __init__(self, *functions):
        self._functions = functions
        self._kept = []

    def addresses(self):
        """Where they are; they are compiled when the first world with bodies needs them."""
        if not self._kept:
            self._kept = [np.array([_compiled(function).address for function in self._functions], np.int64)]
        return self._kept[0]


@functools.cache
def _compiled(function):
    return numba.cfunc(_SIGNATURE, cache=True, fastmath=_FASTMATH, error_model="numpy")(function)


@intrinsic
def call(typingctx, ref, table, number):
    """Calls an entry of the table for a node; returns an integer."""

    def make(context, builder, sig, args):
        node = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        integer = ir.IntType(64)
        entries = builder.inttoptr(args[1], integer.as_pointer())
        where = builder.load(builder.gep(entries, [args[2]]))
        kind = ir.FunctionType(integer, [ir.IntType(8).as_pointer(), integer])
        return builder.call(builder.inttoptr(where, kind.as_pointer()), [node.base, node.offset])

    return types.int64(ref, types.int64, types.int64), make
