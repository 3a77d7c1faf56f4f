"""`godojo play`: a game by hand, in the real Godot."""

import os
import subprocess
from typing import Annotated

import typer

from godojo.engines.godot.display import has_screen
from godojo.engines.godot.find import find
from godojo.engines.godot.project import game_scenes, prepared_project
from godojo.errors import GodojoError


def play(
    game: Annotated[str, typer.Argument(help="Which game, for example: tag")],
    options: Annotated[list[str] | None, typer.Argument(help="The game's own options.", metavar="[OPTIONS]")] = None,
) -> None:
    """Play a game by hand: WASD to move, Space to jump, Tab for the camera, R to restart, Esc to quit.

    Options are the game's own; for tag: --arena open|pillars|maze|platforms|mixed, --role seeker|hider,
    --mode hide_and_seek|classic, --camera overview|follow|side, --seed N, --set key=value, and --demo to watch two
    scripted players. Example: godojo play tag --arena maze --role hider
    """
    scenes = game_scenes()
    if game not in scenes:
        raise GodojoError(f"there is no game {game!r}; there is: {', '.join(scenes)}")
    if not has_screen():
        raise GodojoError("there is no display to play on; run this on a machine with a screen")
    engine = find()
    folder = prepared_project(engine)
    command = [
        str(engine.program),
        "--no-header",
        "--path",
        str(folder),
        scenes[game],
        "--",
        *game_words(options or []),
    ]
    if os.name == "nt":
        raise typer.Exit(subprocess.call(command))
    os.execv(command[0], command)  # noqa: S606 - becomes the game, so that signals and the exit status are its own


def game_words(options: list[str]) -> list[str]:
    """`--arena maze` as the games read it: `--arena=maze`."""
    words: list[str] = []
    for option in options:
        follows_a_name = bool(words) and words[-1].startswith("--") and "=" not in words[-1]
        if follows_a_name and not option.startswith("--"):
            words[-1] += f"={option}"
        else:
            words.append(option)
    return words
