"""What is hunted, and how it is started."""

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from godojo.engines.godot.display import display
from godojo.engines.godot.find import find
from godojo.engines.godot.launch import Recipe, engine_words, from_binary, from_project
from godojo.engines.godot.project import project_folder
from godojo.errors import GodojoError, option, unknown
from godojo.games.base import GAMES, SCENE_GAMES
from godojo.hunt.injection import ADDON, beside_binary, has_autoloads, shadow

_DATA_FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA")
_LISTENS = re.compile(rb"[Ii]nput|Button|LineEdit|Slider|ItemList|TextEdit")
_DIALOGS = ("zenity", "kdialog", "Xdialog", "xmessage")
"""What Godot shows its alerts with."""


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
    home: Path
    """Where the game keeps its data (`user://`): emptied at every start, so that a game begins as on a new machine,
    and never the folder in which the user's own saves are."""
    options: Mapping[str, Any] = field(default_factory=dict)
    ticks_per_decision: int | None = None
    needs_process: bool = False
    """Whether loading the scene anew is not enough to begin anew."""
    resources: ExitStack = field(default_factory=ExitStack)
    """What lives as long as the game: its folders, a virtual display."""

    @property
    def env(self) -> dict[str, str]:
        """The environment, with a fresh folder for the game's data."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        return {**self.recipe.env, **dict.fromkeys(_DATA_FOLDERS, str(self.home))}


def prepared(target: Target, *, window: bool = False) -> Launch:
    """Imports the target's project where needed; nothing else is written to it."""
    with ExitStack() as stack:
        session = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="godojo-hunt-", ignore_cleanup_errors=True))
        )
        env = {**stack.enter_context(display())} if window else {}
        env |= {"PATH": f"{_silent_dialogs(session)}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
        if target.input_map:
            env["GODOJO_HUNT_INPUT"] = "1"
        options: dict[str, Any] = dict(target.options)
        ticks, needs_process = None, True
        if target.binary is not None:
            original = from_binary(target.binary, wire="dojo/1" if target.input_map else None, window=window)
            program, more = beside_binary(Path(original.program[0]), session / "game", find())
            recipe = replace(original, program=(str(program), *original.program[1:]))
            env |= more
        else:
            folder, scene = target.project, target.scene
            if target.game is not None:
                described = _described(target.game)
                scene = scene or (SCENE_GAMES[target.game].scene_path if described is None else str(described.scene))
                own = SCENE_GAMES[target.game].project if described is None else getattr(described, "project", None)
                folder = folder or own
                if described is not None:
                    options, ticks = {**described.configure_options, **options}, described.ticks_per_decision
            recipe, needs_process = _shadowed(folder or project_folder(), scene, session / "project", target, window)
        recipe = replace(recipe, program=(*recipe.program[:1], "--xr-mode", "off", *recipe.program[1:]))
        recipe = replace(recipe, env={**recipe.env, **env})
        return Launch(recipe, session / "home", options, ticks, needs_process, stack.pop_all())
    raise AssertionError


def _shadowed(folder: Path, scene: str | None, place: Path, target: Target, window: bool) -> tuple[Recipe, bool]:
    """How to start the project's shadow, and whether its scene alone cannot begin anew."""
    project = Path(folder).expanduser().absolute()
    if target.input_map and (project / "project.godot").is_file() and not _hears_input(project, scene):
        raise GodojoError(
            f"{project} has no input actions: add some in its project settings (Input Map), or a DojoAgent to its scene"
        )
    original = from_project(folder, scene=scene, wire="dojo/1" if target.input_map else None)
    if original.wire == "any" and not (project / ADDON).is_dir():
        raise GodojoError(f"{project} has no agents: play it by its input actions ({option('input_map', True)})")
    engine = find()
    shadow(project, place, engine)
    text = (project / "project.godot").read_text(encoding="utf-8")
    words = engine_words(engine, place, scene, window=window, wire=original.wire)
    return Recipe(words, original.wire), has_autoloads(text) or original.wire != "dojo/1"


def _hears_input(project: Path, scene: str | None) -> bool:
    """Whether the project has input actions, or any file in it that may listen to a person; or nothing to play."""
    text = (project / "project.godot").read_text(encoding="utf-8", errors="replace")
    if re.search(r"^\[input\]", text, re.MULTILINE) or not (scene or "run/main_scene" in text):
        return True
    files = (path for path in project.rglob("*.*") if path.suffix in (".gd", ".cs", ".tscn", ".gdc", ".scn"))
    return any(path.suffix in (".gdc", ".scn") or _LISTENS.search(path.read_bytes()) for path in files)


def _silent_dialogs(session: Path) -> Path:
    """Programs that print a native dialog in place of the system's, which would wait for somebody to close it."""
    folder = session / "bin"
    folder.mkdir()
    for name in _DIALOGS if os.name == "posix" else ():
        (folder / name).write_text('#!/bin/sh\necho "Godojo: a native dialog was closed: $*"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def _described(game: str) -> Any:
    """What a game with a twin asks of its scene; None for a game that exists in Godot only."""
    if game not in GAMES:
        return None
    return GAMES[game].require("in_godot", "engine godot")(seed=0)
