"""What is hunted, and how it is started."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from godojo.bridge.http import GameClient
from godojo.engines.godot.display import display
from godojo.engines.godot.find import find
from godojo.engines.godot.launch import Recipe, engine_words, from_binary, from_project, wire_of
from godojo.engines.godot.project import project_folder
from godojo.engines.godot.project_check import check_project, require_project
from godojo.errors import GodojoError, option, unknown
from godojo.games.base import GAMES, SCENE_GAMES
from godojo.hunt.injection import ADDON, beside_binary, has_autoloads, shadow
from godojo.processes import is_alive

_DATA_FOLDERS = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA")
_LISTENS = re.compile(rb"[Ii]nput|Button|LineEdit|Slider|ItemList|TextEdit")
_HEADSET = re.compile(r"^openxr/enabled(\.\w+)?\s*=\s*true", re.MULTILINE)
_TEMPORARY = "godojo-hunt-"
_ANSWER_S = 2.0
_DIALOGS = ("zenity", "kdialog", "Xdialog", "xmessage")
"""What Godot shows its alerts with."""


@dataclass(frozen=True)
class Target:
    """What is hunted: a game of Godojo, a project, an exported game or one that runs already."""

    game: str | None = None
    """With `project`: this game in that copy of Godojo's Godot project."""
    project: Path | None = None
    binary: Path | None = None
    http: str | None = None
    """The address of a game that runs already, with the HTTP API."""
    scene: str | None = None
    """A scene of the project in place of its main scene; over HTTP, one of the game's list."""
    input_map: bool = False
    """Drive the game by its own input actions instead of by its agents."""
    options: Mapping[str, str] = field(default_factory=dict)
    """What is asked of the scene: exported variables of its agents, by name."""
    invariants: tuple[str, ...] = ()
    """Functions of the user's, `file.py:function`, that get the state and say whether it is right."""

    def __post_init__(self) -> None:
        given = (self.game or self.project, self.binary, self.http)
        if sum(one is not None for one in given) != 1:
            raise GodojoError("what is hunted is a game, a project, a binary or an address: give one of them")
        if self.http is not None and self.input_map:
            raise GodojoError("a game over HTTP is played by its agent, not by its input actions")
        if self.binary is not None and self.scene is not None:
            raise GodojoError("a scene can be chosen in a project only, not in an exported game")
        if self.game is not None and self.game not in GAMES and self.game not in SCENE_GAMES:
            raise unknown("game", self.game, sorted([*GAMES, *SCENE_GAMES]))

    @property
    def name(self) -> str:
        """For people."""
        if self.http is not None:
            return re.sub(r"\W+", "-", self.http.partition("//")[2] or self.http).strip("-")
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
    needs_process: bool | None = None
    """Whether loading the scene anew is not enough to begin anew; None: it is not known before the game runs."""
    needs_headset: bool = False
    """Whether the project's settings ask for one; hunts play without."""
    resources: ExitStack = field(default_factory=ExitStack)
    """What lives as long as the game: its folders, a virtual display."""

    def remove_data(self) -> None:
        """Removes all that the game has written."""
        shutil.rmtree(self.home, ignore_errors=True)

    def clear_data(self) -> None:
        """Removes the game's files, while it runs."""
        for path in self.home.rglob("*"):
            if path.is_file() and path.suffix != ".log":
                path.unlink(missing_ok=True)

    @property
    def env(self) -> dict[str, str]:
        """The environment, with a folder for the game's data."""
        self.home.mkdir(parents=True, exist_ok=True)
        return {**self.recipe.env, **dict.fromkeys(_DATA_FOLDERS, str(self.home))}


def check(target: Target) -> None:
    """Refuses what cannot be hunted, as far as that is known before the game is imported and started."""
    if target.http is not None:
        with GameClient(target.http) as client:
            client.wait_until_healthy(_ANSWER_S)
    elif target.binary is not None:
        from_binary(target.binary)
    else:
        _check_project(*_place(target), target)


def _place(target: Target) -> tuple[Path, str | None]:
    """The folder of the project, and the scene in place of its main scene."""
    folder, scene = target.project, target.scene
    if target.game is not None:
        described = _described(target.game)
        scene = scene or (SCENE_GAMES[target.game].scene_path if described is None else str(described.scene))
        own = SCENE_GAMES[target.game].project if described is None else getattr(described, "project", None)
        folder = folder or own
    return (folder or project_folder()).expanduser().absolute(), scene


def _check_project(project: Path, scene: str | None, target: Target) -> None:
    require_project(project)
    check_project(find(), project, scene)
    if target.input_map:
        if not _hears_input(project, scene):
            raise GodojoError(
                f"{project} has no input actions: add some in its project settings (Input Map), or a DojoAgent to"
                " its scene"
            )
    elif wire_of(project) == "any" and not (project / ADDON).is_dir():
        raise GodojoError(f"{project} has no agents: play it by its input actions ({option('input_map', True)})")


def prepared(target: Target, *, window: bool = False, is_filmed: bool = False, counts_branches: bool = True) -> Launch:
    """Imports the target's project where needed; nothing else is written to it.

    `is_filmed`: the game draws in a window, and only when it is asked for a picture.
    """
    window = window or is_filmed
    with ExitStack() as stack:
        session = stack.enter_context(temporary_folder())
        env = {**stack.enter_context(display())} if window else {}
        env |= {"PATH": f"{_silent_dialogs(session)}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
        if target.input_map:
            env["GODOJO_HUNT_INPUT"] = "1"
        if is_filmed:
            env["GODOJO_HUNT_FILM"] = "1"
        options: dict[str, Any] = dict(target.options)
        ticks, needs_process, needs_headset = None, None, False
        if target.binary is not None:
            original = from_binary(target.binary, wire="dojo/1" if target.input_map else None, window=window)
            program, more = beside_binary(Path(original.program[0]), session / "game", find())
            recipe = replace(original, program=(str(program), *original.program[1:]))
            env |= more
        else:
            project, scene = _place(target)
            _check_project(project, scene, target)
            if target.game is not None and (described := _described(target.game)) is not None:
                options, ticks = {**described.configure_options, **options}, described.ticks_per_decision
            recipe, text = _shadowed(project, scene, session / "project", target, window, counts_branches)
            needs_process = has_autoloads(text) or recipe.wire != "dojo/1"
            needs_headset = _HEADSET.search(text) is not None
        recipe = replace(recipe, program=(*recipe.program[:1], "--xr-mode", "off", *recipe.program[1:]))
        recipe = replace(recipe, env={**recipe.env, **env})
        return Launch(recipe, session / "home", options, ticks, needs_process, needs_headset, stack.pop_all())
    raise AssertionError


def _shadowed(
    project: Path, scene: str | None, place: Path, target: Target, window: bool, counts_branches: bool
) -> tuple[Recipe, str]:
    """How to start the project's shadow, and the text of its settings."""
    original = from_project(project, scene=scene, wire="dojo/1" if target.input_map else None)
    engine = find()
    shadow(project, place, engine, counts_branches=counts_branches)
    words = engine_words(engine, place, scene, window=window, wire=original.wire)
    return Recipe(words, original.wire), (project / "project.godot").read_text(encoding="utf-8")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed; one that a killed hunt has left behind is removed by the next hunt."""
    for path in Path(tempfile.gettempdir()).glob(f"{_TEMPORARY}*"):
        owner = path.name.removeprefix(_TEMPORARY).partition("-")[0]
        if os.name == "posix" and owner.isdecimal() and not is_alive(int(owner)):
            shutil.rmtree(path, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{_TEMPORARY}{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


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
