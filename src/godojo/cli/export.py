"""`godojo export`: a trained policy as a file that games read, without Python."""

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
        typer.Argument(help="RUN, RUN@SNAPSHOT or a policy file (*.pt, *.dojo); the newest run if left away."),
    ] = "latest",
    role: Annotated[str | None, typer.Option("--role", help="This role only, for example: seeker")] = None,
    kind: Annotated[str, typer.Option("--format", help="godot (*.dojo, played in pure GDScript) or onnx.")] = "godot",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Where to; the folder `export` of the run if left away.", metavar="DIR"),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            "--levels",
            help="Moments of the training as levels: easy=10s,medium=1m,hard=final writes easy_seeker.dojo and so on.",
            metavar="NAME=SNAPSHOT,…",
        ),
    ] = None,
    int8: Annotated[
        bool,
        typer.Option("--int8", help="Also an ONNX model with weights of one byte, and what that costs in rounds won."),
    ] = False,
    card: Annotated[
        bool, typer.Option("--card", help="Also a page about the policies: CARD.md, with figures and a picture.")
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
        console.print("what int8 costs in rounds won cannot be said here: nobody to play against")
    if page is not None:
        console.print(f"and a page about them: {escape(str(page))}")
    if kind == "godot":
        console.print(f"\nput them on the agents of a scene; judge one: {escape(command(f'eval {written[0].path}'))}")


def show(written: "list[Shipped]") -> None:
    """What was written, for a person."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("file", overflow="fold")
    table.add_column("what", no_wrap=True)
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
