"""The physics as a function at an address: compiled once for all games, and never again with a game's own code.

Numba links a function into everything that calls it and optimizes it there anew. The physics is far larger than most
games, so generated code calls it through an address instead, which a world's row points to. It takes the world's row,
the offset of a node, and the number of what to do; other arguments and results are fields of `World`. Each physics
engine has such a function (`calls`, `calls_2d`); a game compiles the one that it needs.
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
    UPDATE_BOUNDS,
    APPLY_PROCESS_MODE,
    RENEW_BODIES,
    PUT_IN,
    TAKE_OUT,
    BEGIN_STEP,
    END_STEP,
) = range(15)
MOVE_RIGID_BODIES, MOVE_VEHICLES = range(2)
"""Of the entry of rigid bodies, which games without them do not compile."""
NO_ENTRY = np.zeros(1, np.int64)
_SIGNATURE = types.int64(types.voidptr, types.int64, types.int64)


class Entry:
    """The physics of an engine, as one function: what its parts share is compiled once."""

    def __init__(self, function):
        self._function = function

    @functools.cached_property
    def _compiled(self):
        options = {"fastmath": _FASTMATH, "error_model": "numpy", "_nrt": False}
        return numba.cfunc(_SIGNATURE, cache=True, **options)(self._function)

    @functools.cached_property
    def address(self):
        """Where it is, in an array of one; it is compiled when the first world with bodies needs it."""
        return np.array([self._compiled.address], np.int64)


@intrinsic
def call(typingctx, ref, entry, number):
    """Calls the physics for a node; returns an integer."""

    def make(context, builder, sig, args):
        node = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        integer = ir.IntType(64)
        where = builder.load(builder.inttoptr(args[1], integer.as_pointer()))
        kind = ir.FunctionType(integer, [ir.IntType(8).as_pointer(), integer, integer])
        return builder.call(builder.inttoptr(where, kind.as_pointer()), [node.base, node.offset, args[2]])

    return types.int64(ref, types.int64, types.int64), make
