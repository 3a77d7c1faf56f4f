"""The two physics engines of Godot 4: which one a space belongs to, and kernels that differ between them.

The engine is part of a space's type, so that a game compiles only the physics that it uses.
"""

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import overload

from godojo.twin.physics.jit import OPTIONS
from godojo.twin.physics.space import Space

JOLT, GODOT = "Jolt Physics", "GodotPhysics3D"

_make: Any = namedtuple
GodotSpace: Any = _make("GodotSpace", Space._fields)
"""As `Space`, of GodotPhysics3D."""


def is_godot(kind: Any) -> bool:
    """Whether a type of spaces, of Python or of Numba, is one of GodotPhysics3D."""
    return kind is GodotSpace or getattr(kind, "instance_class", None) is GodotSpace or getattr(kind, "is_godot", False)


def by_engine(jolt: Callable[..., Any], godot: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that takes a space first: one of these two, by the engine of the space."""

    def choose(space: Any, *args: Any) -> Any:
        return (godot if is_godot(type(space)) else jolt)(space, *args)

    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return choose

    def chosen(space: Any, *_args: Any) -> Any:
        if is_godot(space):
            return lambda space, *args: godot(space, *args)
        return lambda space, *args: jolt(space, *args)

    options: Any = {"forceinline": True, **OPTIONS}
    overload(choose, strict=False, jit_options=options)(chosen)
    return choose
