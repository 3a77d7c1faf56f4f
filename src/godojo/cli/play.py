"""`godojo play`: play a game by hand in Godot."""

import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from godojo.api.references import is_file, resolved
from godojo.cli.engine import become, ready_engine
from godojo.engines.godot.display import has_screen
from godojo.engines.godot.project import game_scenes, prepared_project
from godojo.errors import GodojoError, unknown
from godojo.games.base import GAMES
from godojo.games.settings import flatten
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference

POLICY, SUFFIX = "--policy", ".dojo"
"""The option of games that are played by trained policies, and the suffix of their files."""
# The games are silent; the dummy driver avoids errors on machines without a sound card.
_QUIETLY = ("--no-header", "--audio-driver", "Dummy")


def play(
    game: Annotated[str, typer.Argument(help="The game, such as tag.")],
    options: Annotated[list[str] | None, typer.Argument(help="The game's own options.", metavar="[OPTIONS]")] = None,
) -> None:
    """Play a game yourself: WASD to move, Space to jump, Tab for the camera, R to restart, Esc to quit.

    Options of tag:

      --level easy|medium|hard   how long the others were trained
      --opponent scripted        scripted players instead
      --policy RUN|FILE.dojo     policies of your own: a run's, in its game, or a file's
      --arena NAME|FILE.json     open, pillars, maze, platforms, mixed, or a file
      --role seeker|hider        which side you play
      --teams 2v6                seekers v hiders; trained players are your team-mates
      --mode hide_and_seek|classic
      --camera overview|follow|side
      --seed N, --set KEY=VALUE
      --attract, --demo          watch two trained, or two scripted, players

    F3 shows the observations of a trained player.

    Options of navigation; Q and E turn:

      --course course|obstacle_course|maze
      --turn smooth|snap
      --camera first|follow|overview
      --policy RUN|FILE.dojo     watch a trained walker
      --seed N, --set KEY=VALUE, --demo, --http

    Examples:

      godojo play tag --level hard --role hider
      godojo play tag --teams 2v6 --policy latest
      godojo play navigation --policy navigation
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
    words = with_policies(game, game_words(options or []))
    become([str(engine.program), *_QUIETLY, *project, "--", *words])


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


def with_policies(game: str, words: list[str]) -> list[str]:
    """`--policy=RUN` becomes the run's settings and policies, exported for Godot; other options follow and prevail."""
    found: list[str] = []
    others: list[str] = []
    for word in words:
        name, _, value = word.partition("=")
        if name != POLICY or value.endswith(SUFFIX):
            others.append(word)
            continue
        if is_file(value):
            raise GodojoError(f"{POLICY} {value}: a run, or a file for Godot (FILE{SUFFIX})")
        text = resolved(value)
        config = RunFolder.open(split_reference(text)[0]).config
        if config.game != game:
            raise GodojoError(f"{POLICY} {value}: it plays {config.game}, not {game}")
        kind = GAMES[game].settings
        usual, trained = (
            flatten(msgspec.to_builtins(one)) for one in (kind.defaults(), kind.from_values(config.game_settings))
        )
        found += [f"--set={path}={_text(trained[path])}" for path in usual if trained[path] != usual[path]]
        from godojo.api.exports import export  # loads torch

        found += [f"{POLICY}={Path(one.path).absolute()}" for one in export(text).files]
    return [*found, *others]


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _in_full(word: str) -> str:
    name, _, value = word.partition("=")
    return f"{name}={Path(value).absolute()}" if value.endswith((".json", ".dojo")) else word
