"""`godojo play`: play a game by hand in Godot."""

import os
from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.engine import become, ready_engine
from godojo.engines.godot.display import has_screen
from godojo.engines.godot.project import game_scenes, prepared_project
from godojo.errors import GodojoError, unknown
from godojo.games.base import GAMES

# The games are silent; the dummy driver avoids errors on machines without a sound card.
_QUIETLY = ("--no-header", "--audio-driver", "Dummy")


def play(
    game: Annotated[str, typer.Argument(help="The game, such as tag.")],
    options: Annotated[list[str] | None, typer.Argument(help="The game's own options.", metavar="[OPTIONS]")] = None,
) -> None:
    """Play a game yourself: WASD to move, Space to jump, Tab for the camera, R to restart, Esc to quit.

    Options of tag:

      --level easy|medium|hard   how long your opponent was trained
      --opponent scripted        a scripted opponent instead
      --policy FILE.dojo         a policy of your own
      --arena NAME|FILE.json     open, pillars, maze, platforms, mixed, or a file
      --role seeker|hider        which side you play
      --mode hide_and_seek|classic
      --camera overview|follow|side
      --seed N, --set KEY=VALUE
      --attract, --demo          watch two trained, or two scripted, players

    F3 shows the observations of a trained player.

    Options of navigation; Q and E turn:

      --course course|obstacle_course|maze
      --turn smooth|snap
      --camera first|follow|overview
      --seed N, --set KEY=VALUE, --demo, --http

    Example:

      godojo play tag --level hard --role hider
    """
    scenes, folder = game_scenes(), None
    if game not in scenes and game in GAMES:
        folder = getattr(GAMES[game].require("in_godot", "play")(), "project", None)
    if game not in scenes and folder is None:
        raise unknown("game", game, scenes)
    if not has_screen():
        raise GodojoError("there is no display; run this on a machine with a screen")
    engine = ready_engine()
    os.environ.setdefault("GODOJO_SERVER", "off")  # a person plays, whatever is being trained meanwhile
    project = ["--path", str(prepared_project(engine, folder)), *([scenes[game]] if folder is None else [])]
    become([str(engine.program), *_QUIETLY, *project, "--", *game_words(options or [])])


def game_words(options: list[str]) -> list[str]:
    """Options as the games read them: `--arena maze` becomes `--arena=maze`; paths become absolute."""
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
