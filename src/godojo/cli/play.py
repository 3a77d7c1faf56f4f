"""`godojo play`: play a game by hand in Godot."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import typer

from godojo.api.references import is_file, resolved
from godojo.cli.console import note, progress_report
from godojo.cli.engine import become, ready_engine
from godojo.demos.file import Demos, read_demos
from godojo.engines.godot.display import has_screen
from godojo.engines.godot.project import game_scenes, prepared_project
from godojo.errors import GodojoError, command, unknown
from godojo.games.base import GAMES, SCENE_GAMES
from godojo.games.settings import flatten
from godojo.processes import GuardedProcess
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference

POLICY, SUFFIX = "--policy", ".dojo"
"""The option of games that are played by trained policies, and the suffix of their files."""
DEMO_VARIABLE = "GODOJO_DEMO"
"""The environment variable that asks a game to record (`dojo_demo_recorder.gd`)."""
POLL_S = 0.2
# The games are silent; the dummy driver avoids errors on machines without a sound card.
_QUIETLY = ("--no-header", "--audio-driver", "Dummy")


class Recording(NamedTuple):
    """The options that are ours and not the game's."""

    demo: Path | None = None
    project: Path | None = None
    scene: str | None = None
    rounds: int | None = None


def play(
    game: Annotated[str, typer.Argument(help="The game, such as tag; or --project DIR.")],
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

    Demonstrations, for `train --demos FILE`:

      --demo FILE                record what you do, in any game or project
      --project DIR              play a project of your own that has the addon
      --scene SCENE              with --project: this scene
      --rounds N                 with --demo: --policy plays for you, without a
                                 window: a scripted opponent, a run or a file
                                 (--role, --seed, --set, --engine sim|godot)

    Examples:

      godojo play tag --level hard --role hider
      godojo play tag --teams 2v6 --policy latest
      godojo play navigation --policy navigation
      godojo play tag --role hider --demo hider.jsonl
      godojo play tag --policy sighted --rounds 100 --demo sighted.jsonl
    """
    named = None if game.startswith("--") else game
    ours, words = own_options(game_words([*([] if named else [game]), *(options or [])]))
    if (named is None) == (ours.project is None):
        raise GodojoError("give either a game or --project DIR")
    if ours.rounds is not None:
        _record_policy(named, ours, words)
        return
    if ours.demo is not None and ours.demo.exists():
        raise GodojoError(f"{ours.demo} exists; choose another name, or delete it")
    folder, scene = (ours.project, ours.scene) if named is None else _scene_of(named)
    if named is None and ours.demo is not None:
        _check_addon(folder)
    if not has_screen():
        raise GodojoError("there is no display; run this on a machine with a screen")
    engine = ready_engine()
    os.environ.setdefault("GODOJO_SERVER", "off")  # a person plays, whatever is being trained meanwhile
    project = ["--path", str(prepared_project(engine, folder)), *([scene] if scene else [])]
    words = words if named is None else with_policies(named, words)
    program = [str(engine.program), *_QUIETLY, *project, "--", *words]
    if ours.demo is None:
        become(program)
    else:
        _record_person(program, named, ours)


def own_options(words: list[str]) -> tuple[Recording, list[str]]:
    """Our options among a game's; a bare `--demo` is the game's."""
    found: dict[str, Any] = {}
    others = []
    for word in words:
        name, _, value = word.partition("=")
        key = name.removeprefix("--")
        if not value or key not in Recording._fields or not name.startswith("--"):
            others.append(word)
        elif key == "rounds":
            if not value.isdecimal() or int(value) < 1:
                raise GodojoError(f"--rounds must be a number of 1 or more, not {value!r}")
            found[key] = int(value)
        else:
            found[key] = value if key == "scene" else Path(value).expanduser().absolute()
    ours = Recording(**found)
    if ours.rounds is not None and ours.demo is None:
        raise GodojoError("--rounds needs --demo FILE to record to")
    if ours.scene is not None and ours.project is None:
        raise GodojoError("--scene needs --project DIR")
    return ours, others


def _scene_of(game: str) -> tuple[Path | None, str | None]:
    """The project of a game, None for ours, and its scene."""
    scenes, folder = game_scenes(), None
    if game in SCENE_GAMES:
        return SCENE_GAMES[game].project, SCENE_GAMES[game].scene_path
    if game not in scenes and game in GAMES:
        folder = getattr(GAMES[game].require("in_godot", "play")(), "project", None)
    if game not in scenes and folder is None:
        raise unknown("game", game, scenes)
    return folder, None if folder is not None else scenes[game]


def _check_addon(folder: Path | None) -> None:
    if folder is not None and not (folder / "addons/godojo/sync/dojo_demo_recorder.gd").is_file():
        install = command(f"addon install {folder}")
        raise GodojoError(
            f"{folder} has no addon that records: {install}; or record with godot_rl's own and train with its JSON"
        )


def _record_person(program: list[str], game: str | None, ours: Recording) -> None:
    """Run the game with its output, and sum up what was recorded; Ctrl-C ends the game."""
    sys.stdout.flush()
    game_process = GuardedProcess(program, env={**os.environ, DEMO_VARIABLE: str(ours.demo)}, output=sys.stdout.buffer)
    try:
        with suppress(KeyboardInterrupt):
            while not game_process.wait(POLL_S):
                pass
        code = game_process.status()
    finally:
        game_process.end()
    assert ours.demo is not None
    if not ours.demo.is_file():
        raise GodojoError("nothing was recorded: the scene has no DojoSync that plays by hand")
    _sum_up(read_demos(ours.demo), game or f"--project {ours.project}")
    raise typer.Exit(130 if code is None else max(code, 0))


def _record_policy(game: str | None, ours: Recording, words: list[str]) -> None:
    """Let a policy play without a window, and record it."""
    from godojo.api.demos import record_demos

    given: dict[str, Any] = {"settings": []}
    for word in words:
        name, _, value = word.partition("=")
        if name == "--set":
            given["settings"].append(value)
        elif name in ("--policy", "--role", "--engine", "--seed") and value:
            given[name.removeprefix("--")] = value
        else:
            raise GodojoError(f"{name} is not for --rounds; there is: --policy, --role, --engine, --seed, --set")
    if "policy" not in given:
        raise GodojoError("--rounds needs --policy: a scripted opponent, a run or a policy file")
    seed = given.pop("seed", "1")
    if not seed.isdecimal():
        raise GodojoError(f"--seed must be a whole number, not {seed!r}")
    assert ours.demo is not None
    where: dict[str, Any] = {"project": ours.project, "scene": ours.scene, "rounds": ours.rounds, "seed": int(seed)}
    with progress_report() as shown:
        found = record_demos(ours.demo, game, **where, **given, progress=shown.progress)
    _sum_up(found, game or f"--project {ours.project}")


def _sum_up(found: Demos, game: str) -> None:
    for role in found.header.roles:
        own = [episode for episode in found.episodes if episode.role == role.name]
        if own:
            steps = sum(len(episode.action) for episode in own)
            mean = sum(episode.reward for episode in own) / len(own)
            note(f"{role.name}: {len(own)} episodes, {steps:,} steps, mean reward {mean:.3g}")
    note(f"recorded in {found.path}; imitate with: {command(f'train {game} --demos {found.path}')}")


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
        found += _changed_settings(config)
        from godojo.api.exports import export  # loads torch

        found += [f"{POLICY}={Path(one.path).absolute()}" for one in export(text).files]
    return [*found, *others]


def _changed_settings(config: RunConfig) -> list[str]:
    """The settings, or a scene's options, of a run that differ from the defaults, as words for the game."""
    if config.game in SCENE_GAMES:
        return [f"--{name}={_text(value)}" for name, value in config.more.get("options", {}).items()]
    kind = GAMES[config.game].settings
    usual, trained = (
        flatten(msgspec.to_builtins(one)) for one in (kind.defaults(), kind.from_values(config.game_settings))
    )
    return [f"--set={path}={_text(trained[path])}" for path in usual if trained[path] != usual[path]]


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _in_full(word: str) -> str:
    name, _, value = word.partition("=")
    return f"{name}={Path(value).absolute()}" if value.endswith((".json", ".dojo")) else word
