"""Godojo trains, watches, judges and ships game-playing agents for Godot 4, from Python."""

from typing import TYPE_CHECKING, Any

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
