"""Godojo trains, watches, judges and ships game-playing agents for Godot 4, from Python."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["make_vec"]

if TYPE_CHECKING:
    from godojo.engines.make import make_vec


def __getattr__(name: str) -> Any:
    """`make_vec` brings compilers along, so it is loaded when it is asked for; the command line stays quick."""
    if name == "make_vec":
        from godojo.engines.make import make_vec

        return make_vec
    raise AttributeError(f"module 'godojo' has no attribute {name!r}")
