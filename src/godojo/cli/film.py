"""`godojo film`: the film of a training, made from the run alone."""

from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import progress_report, say
from godojo.cli.engine import with_engine


def film(
    run: Annotated[str, typer.Argument(help="The run: an id or a path; defaults to the latest.")] = "latest",
    preset: Annotated[
        str, typer.Option("--preset", help="720p30, 1080p60 (slow), portrait, portrait-720p30, small, ….")
    ] = "720p30",
    stage: Annotated[
        list[str] | None,
        typer.Option("--stage", help="A snapshot to show; repeat it. Defaults to start, 10s, 1m and the last."),
    ] = None,
    arena: Annotated[
        str | None, typer.Option("--arena", help="Play in this arena only: a name, a file, or generated:SEED.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Other rounds to choose from.")] = 0,
    clip: Annotated[
        list[str] | None,
        typer.Option(
            "--clip",
            help="Another run to show a moment of; repeat it. Defaults to the latest run of every other mode.",
            metavar="RUN",
        ),
    ] = None,
    no_clips: Annotated[bool, typer.Option("--no-clips", help="Show this run alone.")] = False,
    fine: Annotated[bool, typer.Option("--fine", help="Smoother edges; twice the time without a GPU.")] = False,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="The film; defaults to the run's folder.")] = None,
) -> None:
    """Make the film of a training: the best moment, then how it got there, with measured figures.

    Writes learn_progress-DATE.mp4 into the run's folder. Without a GPU the default takes a few minutes, 1080p60 about
    five times as long. Runs of the game's other modes (tag: classic, teams) beside it add a clip each.

    Example:

      godojo film latest --preset 1080p60
    """
    from godojo.api import films

    run = chosen_run(run)
    with progress_report() as shown:
        made = with_engine(
            lambda: films.film(
                run,
                output,
                preset=preset,
                stages=stage or (),
                arena=arena,
                seed=seed,
                clips=() if no_clips else clip,
                fine=fine,
                progress=shown.progress,
            ),
            shown,
        )
    for line in (*made.notes, str(made)):
        say(line)
