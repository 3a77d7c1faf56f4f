"""Godojo trains, watches, judges and ships game-playing agents for Godot 4, from Python."""

import os
from typing import TYPE_CHECKING, Any

# Torch's threads would otherwise stay awake between two pieces of work and take the kernels' and the games' cores away.
# It is read once, when torch is loaded; who has set it knows why.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.1.0"
__all__ = ["make_vec", "open_game"]

if TYPE_CHECKING:
    from godojo.engines.make import make_vec, open_game


def __getattr__(name: str) -> Any:
    """They bring compilers along, so they are loaded when they are asked for; the command line stays quick."""
    if name in __all__:
        from godojo.engines import make

        return getattr(make, name)
    raise AttributeError(f"module 'godojo' has no attribute {name!r}")
