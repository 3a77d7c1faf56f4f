"""What is hunted, and how it is started."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from godojo.engines.godot.display import display
from godojo.engines.godot.launch import Recipe, from_binary, from_project
from godojo.engines.godot.project import project_folder
from godojo.errors import GodojoError, unknown
from godojo.games.base import GAMES, SCENE_GAMES


@dataclass(frozen=True)
class Target:
    """What is hunted: a game of Godojo, a project or an exported game."""

    game: str | None = None
    """With `project`: this game in that copy of Godojo's Godot project."""
    project: Path | None = None
    binary: Path | None = None
    scene: str | None = None
    """A scene of the project in place of its main scene."""
    input_map: bool = False
    """Drive the game by its own input actions instead of by its agents."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What is asked of the scene: exported variables of its agents, by name."""
    invariants: tuple[str, ...] = ()
    """Functions of the user's, `file.py:function`, that get the state and say whether it is right."""

    def __post_init__(self) -> None:
        if (self.binary is not None) == (self.game is not None or self.project is not None):
            raise GodojoError("what is hunted is a game, a project or a binary: give one of them")
        if self.binary is not None and self.scene is not None:
            raise GodojoError("a scene can be chosen in a project only, not in an exported game")
        if self.game is not None and self.game not in GAMES and self.game not in SCENE_GAMES:
            raise unknown("game", self.game, sorted([*GAMES, *SCENE_GAMES]))

    @property
    def name(self) -> str:
        """For people."""
        return self.game or (self.project or self.binary or Path()).stem


@dataclass(frozen=True)
class Launch:
    """How a target is started and configured."""

    recipe: Recipe
    options: Mapping[str, Any] = field(default_factory=dict)
    ticks_per_decision: int | None = None
    resources: ExitStack = field(default_factory=ExitStack)
    """What lives as long as the game, such as a virtual display."""


def prepared(target: Target, *, window: bool = False) -> Launch:
    """Imports the target's project where needed; nothing else is written to it."""
    with ExitStack() as stack:
        how: dict[str, Any] = {"window": window, "env": stack.enter_context(display()) if window else {}}
        options: dict[str, Any] = dict(target.options)
        ticks = None
        if target.binary is not None:
            recipe = from_binary(target.binary, **how)
        else:
            folder, scene = target.project, target.scene
            if target.game is not None:
                described, scene = _described(target.game), scene or _scene(target.game)
                if described is not None:
                    options = {**described.configure_options, **options}
                    ticks, folder = described.ticks_per_decision, folder or getattr(described, "project", None)
                else:
                    folder = folder or SCENE_GAMES[target.game].project
            recipe = from_project(folder or project_folder(), scene=scene, **how)
        return Launch(recipe, options, ticks, stack.pop_all())
    raise AssertionError


def _described(game: str) -> Any:
    """What a game with a twin asks of its scene; None for a game that exists in Godot only."""
    if game not in GAMES:
        return None
    return GAMES[game].require("in_godot", "engine godot")(seed=0)


def _scene(game: str) -> str:
    if game in SCENE_GAMES:
        return SCENE_GAMES[game].scene_path
    return str(_described(game).scene)
