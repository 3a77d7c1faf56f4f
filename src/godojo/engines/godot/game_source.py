"""Where an external game comes from, as its run's configuration keeps it, so that every verb opens the same game."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from godojo.engines.godot.launch import wire_of
from godojo.engines.godot.open import open_game
from godojo.engines.godot.worlds import FixedWorldCount, GodotWorlds
from godojo.errors import GodojoError
from godojo.validation import converted

WORLDS_EACH = 16
"""Worlds of one process, for a scene that can play several, unless the user asks for another number."""


class GameSource(msgspec.Struct, frozen=True):
    """An external game: a project, an exported game, or one that the user starts."""

    project: str | None = None
    """A folder with a project.godot, or an exported game."""
    scene: str | None = None
    window: bool = False
    speedup: float | None = None
    action_repeat: int | None = None
    worlds: int | None = None
    """Worlds of all processes; by default those that the game has, or several where it can play them."""
    processes: int = 1
    connect: dict[str, Any] | None = None
    """`host` and `port` to wait at, for a game that the user starts."""
    strict: bool = False

    @classmethod
    def of(cls, more: Mapping[str, Any]) -> "GameSource | None":
        """The source in `RunConfig.more`; None for one of our games."""
        if "project" not in more and "connect" not in more:
            return None
        return converted({name: more[name] for name in cls.__struct_fields__ if name in more}, cls)

    def kept(self) -> dict[str, Any]:
        """The values that differ from the defaults, for `RunConfig.more`."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        defaults = dict(zip(self.__struct_fields__, self.__struct_defaults__, strict=True))
        return {name: value for name, value in values.items() if value != defaults[name] or name == "processes"}

    def open(self, *, seed: int, usual_worlds: int | None = None, **how: Any) -> GodotWorlds:
        """The game, ready for its first step; `how` are further arguments of `open_game`.

        A game that can play any number of worlds is asked for `usual_worlds` unless the source has a number.
        """
        shared: dict[str, Any] = {"seed": seed, "ticks_per_decision": self.action_repeat, **how}
        if self.connect is not None:
            return open_game(num_worlds=self.worlds or usual_worlds, **self.connect, **shared)
        if self.project is None:
            raise GodojoError("there is no game to open")
        place = Path(self.project)
        shared |= {"scene": self.scene, "window": self.window, "num_processes": self.processes, "strict": self.strict}
        shared |= {"speedup": self.speedup or 1.0, "binary" if place.is_file() else "project": place}
        wire = "any" if place.is_file() else wire_of(place)
        if wire == "godot_rl":
            return open_game(num_worlds=self.worlds, **shared)
        try:
            return open_game(num_worlds=self.worlds or usual_worlds or WORLDS_EACH * self.processes, **shared)
        except FixedWorldCount:
            if self.worlds is not None:
                raise
        return open_game(**shared)
