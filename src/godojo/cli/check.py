"""`godojo check`: reports what keeps agents from learning in a game."""

from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.console import out, print_json, progress_report


def check(
    project: Annotated[
        Path,
        typer.Argument(help="A Godot project's folder, or an exported game (dojo/1 or godot_rl).", metavar="DIR|FILE"),
    ],
    scene: Annotated[
        str | None, typer.Option("--scene", help="The training scene; defaults to the main scene.", metavar="SCENE")
    ] = None,
    window: Annotated[
        bool, typer.Option("--window", help="Let the game draw, as camera sensors need; on Xvfb without a display.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", help="How long to play; replays are shorter.", metavar="N")
    ] = 10.0,
    seed: Annotated[int, typer.Option("--seed", help="Of the game and the random actions.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Play a project with random actions and report what keeps agents from learning in it.

    Observations that never change or differ in scale, numbers that are not finite, rewards that are never given,
    episodes that never end, actions without effect, script errors. Exits with status 1 if there is a line with ✗.

    Examples:

      godojo check path/to/project
      godojo check path/to/project --scene res://training.tscn --seconds 30
    """
    from godojo.evaluation.game_check import check as check_game

    with progress_report() as shown:
        found = check_game(project, scene=scene, window=window, seconds=seconds, seed=seed, progress=shown.progress)
    if as_json:
        print_json({"healthy": found.healthy, "findings": found.findings})
    else:
        out.print(found)
    raise typer.Exit(0 if found.healthy else 1)
