"""The command of games with the HTTP API."""

from collections.abc import Sequence
from pathlib import Path

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import game_scenes, prepared_project, project_folder
from godojo.errors import GodojoError, known
from godojo.games.base import GAMES


def http_words(
    engine: Engine, game: str, *, port: int, window: bool = False, paced: bool = False, options: Sequence[str] = ()
) -> list[str]:
    """The command that starts one of Godojo's games with its API.

    Without a window it runs as fast as possible, or in real time if `paced`.
    """
    check_has_api(game)
    folder, scenes = prepared_project(engine), game_scenes()
    manner = ("--audio-driver", "Dummy") if window else ("--headless", *(() if paced else ("--fixed-fps", "60")))
    project = ("--path", str(folder), scenes[game])
    return [str(engine.program), "--no-header", *manner, *project, "--", "--http", f"--http-port={port}", *options]


def check_has_api(game: str) -> None:
    """Refuses a game that cannot be played over HTTP."""
    folder, scenes = project_folder(), game_scenes()
    listeners = [name for name, scene in scenes.items() if _has_api(folder / scene.removeprefix("res://"))]
    if game not in listeners:
        what = f"{game} has no API" if game in {*scenes, *GAMES} else f"there is no game {game!r}"
        raise GodojoError(f"{what}; {known(game, listeners)}")


def _has_api(scene: Path) -> bool:
    return "addons/godojo/http/dojo_http.gd" in scene.read_text(encoding="utf-8")
