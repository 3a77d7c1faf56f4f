"""Where an external game comes from, as its run's configuration keeps it, so that every verb opens the same game."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from godojo.engines.godot.launch import wire_of
from godojo.engines.godot.open import open_game
from godojo.engines.godot.project import project_folder
from godojo.engines.godot.worlds import FixedWorldCount, GodotWorlds
from godojo.errors import GodojoError
from godojo.games.base import SceneGame
from godojo.validation import converted

WORLDS_EACH = 16
"""Worlds of one process, for a scene that can play several, unless the user asks for another number."""


class GameSource(msgspec.Struct, frozen=True):
    """An external game: a project, an exported game, one that the user starts, or a scene of Godojo's own project."""

    project: str | None = None
    """A folder with a project.godot, or an exported game; with a scene alone, Godojo's own project."""
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
    options: dict[str, Any] = {}
    """What is asked of the scene: exported variables of its agents, by name."""

    @classmethod
    def of(cls, more: Mapping[str, Any]) -> "GameSource | None":
        """The source in `RunConfig.more`; None for a game with a twin."""
        if "http" in more or not {"project", "connect", "scene"} & more.keys():
            return None
        return converted({name: more[name] for name in cls.__struct_fields__ if name in more}, cls)

    @classmethod
    def of_scene(cls, game: SceneGame, **how: Any) -> "GameSource":
        """A game that exists in Godot only; `how` are further fields."""
        project = None if game.project is None else str(game.project)
        return cls(project=project, scene=game.scene_path, window=how.pop("window", False) or game.window, **how)

    @property
    def is_launched(self) -> bool:
        """Whether Godojo starts the game, rather than the user."""
        return self.connect is None

    @property
    def place(self) -> Path:
        """The project's folder or the exported game."""
        return project_folder() if self.project is None else Path(self.project)

    def kept(self) -> dict[str, Any]:
        """The values that differ from the defaults, for `RunConfig.more`."""
        usual = GameSource()
        return {
            name: value
            for name in self.__struct_fields__
            if (value := getattr(self, name)) != getattr(usual, name) or name == "processes"
        }

    def open(self, *, seed: int, usual_worlds: int | None = None, **how: Any) -> GodotWorlds:
        """The game, ready for its first step; `how` are further arguments of `open_game`.

        A game that can play any number of worlds is asked for `usual_worlds` unless the source has a number.
        """
        shared: dict[str, Any] = {
            "seed": seed,
            "ticks_per_decision": self.action_repeat,
            "options": self.options,
            **how,
        }
        if self.connect is not None:
            return open_game(num_worlds=self.worlds or usual_worlds, **self.connect, **shared)
        if self.project is None and self.scene is None:
            raise GodojoError("there is no game to open")
        place = self.place
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
