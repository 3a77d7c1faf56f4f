"""`godojo film`: the film of a training, made from the run alone."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import progress_report, say
from godojo.cli.engine import ready_engine
from godojo.engines.godot.display import check_screen


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
    fine: Annotated[bool, typer.Option("--fine", help="Smoother edges; twice the time without a GPU.")] = False,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="The film; defaults to the run's folder.")] = None,
) -> None:
    """Make the film of a training: untrained, after 10 s, after a minute and at the end, with measured figures.

    Writes learn_progress-DATE.mp4 into the run's folder. Without a GPU the default takes a few minutes, 1080p60 about
    five times as long.

    Example:

      godojo film latest --preset 1080p60
    """
    run = chosen_run(run)
    from godojo.show import film as filming  # loads torch and the kernels
    from godojo.show.policies_to_show import run_to_show
    from godojo.show.record import film_path
    from godojo.show.shots import preset as format_of

    size = format_of(preset)
    folder = run_to_show(run, "film")
    path = film_path(folder.path, "learn_progress", output or folder.path / f"learn_progress-{date.today()}.mp4")
    filming.filmed_stages(folder, stage or ())  # before anything that takes time
    check_screen()
    ready_engine()
    with progress_report() as shown:
        story = filming.story_of(folder, size, stages=stage or (), arena=arena, seed=seed, progress=shown.progress)
        frames = filming.make_film(story, path, fine=fine, progress=shown.progress)
    for line in filming.describe(story):
        say(line)
    say(f"{path}: {frames} frames, {size.size}, {size.fps} a second, {frames / size.fps:.1f} s")
