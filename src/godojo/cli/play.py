"""`godojo play`: a game by hand, in the real Godot."""

import os
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.engine import ready_engine
from godojo.engines.godot.display import has_screen
from godojo.engines.godot.project import game_scenes, prepared_project
from godojo.errors import GodojoError

# The games make no sound; the dummy driver keeps a machine without a sound card from complaining.
_QUIETLY = ("--no-header", "--audio-driver", "Dummy")


def play(
    game: Annotated[str, typer.Argument(help="Which game, for example: tag")],
    options: Annotated[list[str] | None, typer.Argument(help="The game's own options.", metavar="[OPTIONS]")] = None,
) -> None:
    """Play a game by hand: WASD to move, Space to jump, Tab for the camera, R to restart, Esc to quit.

    Options are the game's own; for tag: --level easy|medium|hard (how well your opponent was trained), --opponent
    scripted, --policy FILE.dojo (one of your own), --arena open|pillars|maze|platforms|mixed|FILE.json, --role
    seeker|hider, --mode hide_and_seek|classic, --camera overview|follow|side, --seed N, --set key=value, --attract to
    watch two trained players until you move, and --demo to watch two scripted ones. F3 shows what a trained player
    sees. For navigation: --course course|obstacle_course|maze, --turn smooth|snap, --camera first|follow|overview,
    --seed N, --set key=value, --demo, --http; Q and E turn. Example: godojo play tag --level hard --role hider
    """
    scenes = game_scenes()
    if game not in scenes:
        raise GodojoError(f"there is no game {game!r}; there is: {', '.join(scenes)}")
    if not has_screen():
        raise GodojoError("there is no display to play on; run this on a machine with a screen")
    engine = ready_engine()
    project = ["--path", str(prepared_project(engine)), scenes[game]]
    command = [str(engine.program), *_QUIETLY, *project, "--", *game_words(options or [])]
    if os.name == "nt":
        raise typer.Exit(subprocess.call(command))
    os.execv(command[0], command)  # noqa: S606 - becomes the game, so that signals and the exit status are its own


def game_words(options: list[str]) -> list[str]:
    """`--arena maze` as the games read it: `--arena=maze`; a file is named in full, since the game runs elsewhere."""
    words: list[str] = []
    for option in options:
        follows_a_name = bool(words) and words[-1].startswith("--") and "=" not in words[-1]
        if follows_a_name and not option.startswith("--"):
            words[-1] += f"={option}"
        else:
            words.append(option)
    return [_in_full(word) for word in words]


def _in_full(word: str) -> str:
    name, _, value = word.partition("=")
    return f"{name}={Path(value).absolute()}" if value.endswith((".json", ".dojo")) else word
