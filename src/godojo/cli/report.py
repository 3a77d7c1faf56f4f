"""`godojo report`: a run as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from godojo.cli.chosen_run import open_run
from godojo.cli.console import out, progress_report


def report(
    run: Annotated[str, typer.Argument(help="RUN; defaults to the latest run.")] = "latest",
    episodes: Annotated[
        int, typer.Option("--episodes", "-n", help="Rounds against each opponent; 0 for no table of results.", min=0)
    ] = 300,
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same rounds.", min=0)] = 0,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page's file; defaults to report.html in the run's folder.")
    ] = None,
) -> None:
    """Write a run's report: one self-contained HTML page with results, rounds in 3D, charts and settings."""
    folder = open_run(run)
    from godojo.show.report.page import FILE, write_report  # loads torch, the kernels and matplotlib

    path = output or folder.path / FILE
    with progress_report() as shown:
        write_report(folder, path, rounds=episodes, seed=seed, progress=shown.progress)
    out.print(f"{escape(str(path))} ({path.stat().st_size / 1e6:.1f} MB); open it in any browser")
