"""How a game is started: our own scenes, a user's project, or an exported binary."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from godojo.bridge.listener import WIRES, Wire
from godojo.engines.godot.find import Engine, find
from godojo.engines.godot.project import prepared_project
from godojo.engines.godot.project_check import check_project, require_project, warnings_about
from godojo.engines.godot.templates import drawing_env
from godojo.errors import GodojoError, option, unknown

FPS = 60
"""Frames a second by a game's own clock."""
# One tick per iteration of the main loop, without sleeping. They must be two words.
_FAST = ("--fixed-fps", str(FPS))
# As godot_rl launches its games: without a window nothing is drawn, and frames need not be prepared for it.
_UNDRAWN = ("--disable-render-loop",)
# A game that draws still needs no sound card.
_QUIETLY = ("--audio-driver", "Dummy")


@dataclass(frozen=True)
class Recipe:
    """A program and its arguments."""

    program: tuple[str, ...]
    wire: Wire = "dojo/1"
    arguments: tuple[str, ...] = ()
    """The game's own, at the end."""
    ticks_per_decision: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    speedup: float = 1.0
    """Ticks of a godot_rl game between two frames."""

    def words(self, port: int, seed: int) -> list[str]:
        """The command line, with the arguments of godot_rl's games; never with a secret."""
        words = list(self.program)
        if self.wire != "dojo/1":
            words += [f"--port={port}", f"--env_seed={seed}", f"--speedup={self.speedup:g}"]
            if self.ticks_per_decision is not None:
                words.append(f"--action_repeat={self.ticks_per_decision}")
        return [*words, *self.arguments]


def own_scene(scene: str) -> Recipe:
    """A scene of Godojo's own project."""
    engine = find()
    return Recipe(engine_words(engine, prepared_project(engine), scene, window=False))


def from_project(
    folder: str | os.PathLike[str],
    *,
    scene: str | None = None,
    wire: Wire | None = None,
    arguments: Sequence[str] = (),
    ticks_per_decision: int | None = None,
    window: bool = False,
    env: Mapping[str, str] | None = None,
    say: Callable[[str], None] | None = None,
) -> Recipe:
    """A user's Godot project, imported first as the editor does; nothing else is written there."""
    place = Path(folder).expanduser().absolute()
    require_project(place)
    engine = find()
    check_project(engine, place, scene)
    if say is not None and not (place / ".godot").is_dir():
        say(f"importing {place} as the editor does, which may take minutes the first time")
    prepared_project(engine, place)
    if say is not None:
        for warning in warnings_about(engine, place):
            say(warning)
    spoken = checked_wire(wire) or wire_of(place)
    return Recipe(
        engine_words(engine, place, scene, window=window, wire=spoken),
        spoken,
        tuple(arguments),
        ticks_per_decision,
        env or {},
    )


def from_binary(
    file: str | os.PathLike[str],
    *,
    wire: Wire | None = None,
    arguments: Sequence[str] = (),
    ticks_per_decision: int | None = None,
    window: bool = False,
    env: Mapping[str, str] | None = None,
) -> Recipe:
    """An exported game."""
    program = Path(file).expanduser().absolute()
    if not program.is_file():
        raise GodojoError(f"there is no game {program}")
    if not os.access(program, os.X_OK):
        raise GodojoError(f"{program} is not executable; fix it with: chmod +x {program}")
    spoken = checked_wire(wire) or "any"
    words = (str(program), *_manner(window, spoken))
    env = {**(env or {}), **(drawing_env(program) if window else {})}
    return Recipe(words, spoken, tuple(arguments), ticks_per_decision, env)


def faster(recipe: Recipe, speedup: float) -> Recipe:
    """The same game, several ticks a frame."""
    if not 1.0 <= speedup < math.inf:
        raise GodojoError(f"{option('speedup')} must be 1 or more, not {speedup:g}")
    if recipe.wire == "dojo/1":
        raise GodojoError(f"a DojoSync never waits for the clock under a trainer; remove {option('speedup')}")
    return replace(recipe, speedup=speedup)


def checked_wire(wire: str | None) -> Wire | None:
    if wire is not None and wire not in WIRES:
        raise unknown("wire", wire, WIRES)
    return wire


def wire_of(project: Path) -> Wire:
    """The protocol of the project's addon."""
    has_dojo = (project / "addons/godojo").is_dir()
    has_godot_rl = (project / "addons/godot_rl_agents").is_dir()
    if has_dojo == has_godot_rl:
        return "any"
    return "dojo/1" if has_dojo else "godot_rl"


def engine_words(
    engine: Engine, project: Path, scene: str | None, *, window: bool, wire: Wire = "dojo/1"
) -> tuple[str, ...]:
    """The command line of an imported project."""
    return (str(engine.program), *_manner(window, wire), "--path", str(project), *([scene] if scene else []))


def _manner(window: bool, wire: Wire) -> tuple[str, ...]:
    if window:
        return (*_QUIETLY, *_FAST)
    return ("--headless", *_FAST, *(_UNDRAWN if wire == "godot_rl" else ()))
