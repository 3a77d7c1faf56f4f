"""`godojo behaviours`: counts what agents do, with a clip of each."""

from pathlib import Path
from typing import Annotated

import typer

from godojo.api.references import named_players
from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import out, print_json, progress_report
from godojo.cli.engine import with_engine


def behaviours(
    run: Annotated[str, typer.Argument(help="RUN or RUN@SNAPSHOT, or a replay's file or folder.")] = "latest",
    clips: Annotated[
        Path | None, typer.Option("--clips", help="Film the best of each, one .mp4 each, into this folder.")
    ] = None,
    player: Annotated[
        list[str] | None,
        typer.Option("--player", help="Another player: a run, snapshot, opponent or file.", metavar="ROLE=NAME"),
    ] = None,
    arena: Annotated[
        str | None,
        typer.Option("--arena", help="An arena's name or file, or generated:SEED; defaults to all hand-made ones."),
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="How many rounds.")] = 100,
    engine: Annotated[str, typer.Option("--engine", help="sim (every tick) or godot (every decision).")] = "sim",
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same rounds.")] = 0,
    sampled: Annotated[
        bool,
        typer.Option("--sampled", help="Policies are stochastic, as in training, instead of deterministic."),
    ] = False,
    preset: Annotated[
        str, typer.Option("--preset", help="Of the clips: 720p30, 1080p60, portrait, portrait-720p30, small, ….")
    ] = "720p30",
    fine: Annotated[bool, typer.Option("--fine", help="Smoother edges; twice the time without a GPU.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Play rounds, find what agents do in them and count it: in tag ambush, cut-off, double back, hide, juke and jump
    escape. Also measures how each role moves: time in the air, speed, turns.

    Each behaviour is found by a fixed geometric rule. --clips films the best example of each, with its name as a
    caption; this needs Godot.

    Example:

      godojo behaviours latest --clips clips
    """
    from godojo.api.behaviours import behaviours as found

    run = chosen_run(run)
    with progress_report() as shown:

        def find() -> object:
            return found(
                run,
                episodes=episodes,
                players=named_players(player or []),
                arena=arena,
                engine=engine,
                seed=seed,
                deterministic=not sampled,
                clips=clips,
                preset=preset,
                fine=fine,
                progress=shown.progress,
            )

        result = find() if clips is None and engine == "sim" else with_engine(find, shown)
    if as_json:
        print_json(result)
    else:
        out.print(result)
