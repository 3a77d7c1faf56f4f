"""`godojo export`: writes policies as files that games load without Python."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import out as console
from godojo.cli.console import print_json, progress_report
from godojo.errors import command

if TYPE_CHECKING:
    from godojo.export.ship import Shipped


def export(
    run: Annotated[
        str,
        typer.Argument(help="RUN, RUN@SNAPSHOT or a policy file (*.pt, *.dojo); defaults to the latest run."),
    ] = "latest",
    role: Annotated[str | None, typer.Option("--role", help="Export this role only, such as seeker.")] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--format",
            help="godot (*.dojo, played in pure GDScript), onnx, or godot-rl (ONNX for the runtime of its plugin).",
        ),
    ] = "godot",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The folder; defaults to `export` in the run's folder.", metavar="DIR"),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            "--levels",
            help="Snapshots as difficulty levels: easy=10s,medium=1m,hard=final writes easy_seeker.dojo, …",
            metavar="NAME=SNAPSHOT,…",
        ),
    ] = None,
    int8: Annotated[
        bool,
        typer.Option("--int8", help="Also write an ONNX model with 8-bit weights, and measure the cost in win rate."),
    ] = False,
    card: Annotated[
        bool, typer.Option("--card", help="Also write a model card, CARD.md, with win rates and a picture.")
    ] = False,
    episodes: Annotated[
        int, typer.Option("--episodes", "-n", help="Rounds against each opponent, for --int8 and --card.", min=1)
    ] = 500,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Write trained policies as files for games: one for each role.

    Examples:

      godojo export latest --out my_game/policies
      godojo export latest@1m --format onnx --int8
    """
    run = chosen_run(run)
    from godojo.api.exports import export as write  # loads torch
    from godojo.export.ship import parse_levels

    chosen = None if levels is None else parse_levels(levels)
    with progress_report() as shown:
        written, page = write(
            run,
            role=role,
            format=kind,
            out=out,
            levels=chosen,
            int8=int8,
            card=card,
            episodes=episodes,
            progress=shown.progress,
        )
    if as_json:
        print_json(written)
        return
    show(written)
    if int8 and all(one.int8_cost is None for one in written):
        console.print("the cost of int8 in win rate is unknown: this game has no opponents")
    if page is not None:
        console.print(f"model card: {escape(str(page))}")
    if kind == "godot":
        console.print(
            f"\nassign them to DojoAgent nodes in a scene; evaluate one: {escape(command(f'eval {written[0].path}'))}"
        )


def show(written: "list[Shipped]") -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("file", overflow="fold")
    table.add_column("format", no_wrap=True)
    for title in ("KiB", "agent-steps"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in written:
        what = one.format if one.differs is None else f"{one.format}, within {one.differs:.0e} of torch"
        table.add_row(escape(one.path), what, f"{one.bytes / 1024:.1f}", f"{one.agent_steps:,}")
    console.print(table)
    for one in written:
        if one.int8_cost is not None:
            cost = one.int8_cost
            console.print(
                f"int8 {one.role} against {cost.opponent}: wins {100 * cost.after.rate:.1f} % of {cost.after.rounds}"
                f" rounds, {100 * cost.before.rate:.1f} % with float32;"
                f" {cost.difference.points:+.1f} points"
                f" (95 %: {cost.difference.low:+.1f} to {cost.difference.high:+.1f})"
            )
