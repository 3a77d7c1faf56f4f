"""`godojo plot`: a run's charts."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from godojo.cli.chosen_run import open_run
from godojo.cli.console import out, progress_report


def plot(
    runs: Annotated[list[str] | None, typer.Argument(help="RUN, or several to compare; the newest by default.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for charts of several runs; by default charts/ of the first."),
    ] = None,
) -> None:
    """Draw a run's curves: charts/*.png in its folder. Several runs are drawn each, and then compared.

    Win rates and rewards have 95 % intervals. The cross-play matrix is drawn if `godojo league` has been run.
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
