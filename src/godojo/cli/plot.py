"""`godojo plot`: learning curves of runs."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from godojo.cli.chosen_run import open_run
from godojo.cli.console import out, progress_report


def plot(
    runs: Annotated[list[str] | None, typer.Argument(help="RUN; several to compare; defaults to the latest.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the comparison; defaults to charts/ of the first run."),
    ] = None,
) -> None:
    """Draw learning curves as charts/*.png in the run's folder. Several runs are also compared.

    Win rates and rewards have 95 % intervals. The cross-play matrix is drawn after `godojo league`.
    """
    folders = [open_run(run) for run in runs or ["latest"]]
    from godojo.show.charts import FOLDER, write_charts, write_comparison  # loads matplotlib

    written: list[Path] = []
    with progress_report() as shown:
        for folder in folders:
            shown.step(f"drawing {folder.run_id}")
            written += write_charts(folder)
        if len(folders) > 1:
            shown.step("comparing")
            written += write_comparison(folders, output or folders[0].path / FOLDER)
    for path in written:
        out.print(escape(str(path)))
