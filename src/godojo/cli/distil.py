"""`godojo distil`: a smaller network that imitates a trained policy."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import note, out, print_json, progress_report
from godojo.cli.signals import stopping
from godojo.errors import GodojoError, command

if TYPE_CHECKING:
    from godojo.export.distilled_run import DistilReport


def distil(
    run: Annotated[
        str, typer.Argument(help="The teacher: RUN or RUN@SNAPSHOT; defaults to the latest run.")
    ] = "latest",
    net: Annotated[str, typer.Option("--net", help="Widths of its hidden layers.", metavar="N,N,…")] = "32,32",
    memory_size: Annotated[
        int | None,
        typer.Option(
            "--memory-size", help="Size of its memory; defaults to its teacher's, up to its first layer's width."
        ),
    ] = None,
    minutes: Annotated[float | None, typer.Option("--minutes", help="Training time; defaults to 1.")] = None,
    steps: Annotated[int | None, typer.Option("--steps", help="Train for N agent-steps instead.")] = None,
    run_id: Annotated[str | None, typer.Option("--run-id", help="Name of the student's run.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a run of the same name.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the weights and the arenas.")] = 1,
    episodes: Annotated[
        int, typer.Option("--episodes", "-n", help="Rounds of each evaluation match at the end; 0 for none.", min=0)
    ] = 500,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON, for programs.")] = False,
) -> None:
    """Train a smaller network that imitates a trained policy, and measure the cost.

    The student plays; the teacher labels every decision. The result is a run like any other. Ctrl-C keeps the students
    trained so far.

    Example:

      godojo distil latest --net 32,32 --minutes 2 --run-id small
    """
    from godojo.api.distil import distilled_run

    distilled = distilled_run(
        chosen_run(run),
        widths(net),
        memory_size=memory_size,
        minutes=minutes,
        steps=steps,
        run_id=run_id,
        force=force,
        seed=seed,
        typed=sys.argv[1:],
        say=note,
    )
    name = distilled.run.name
    try:
        with progress_report() as shown, stopping(distilled.distillation, note):
            is_spent = distilled.teach(shown.progress)
    finally:
        distilled.run.remove_if_unused()
    if not is_spent:
        note(f"stopped; the students so far are in {distilled.run.path}; evaluate them with: {command(f'eval {name}')}")
        raise typer.Exit(130)
    with progress_report() as shown:
        report = distilled.report(episodes, shown.progress)
    if as_json:
        print_json(report)
        return
    show(report)
    out.print(f"\nsaved in {distilled.run.path}\nnext:", markup=False)
    for words in (f"eval {name}", f"export {name}"):
        out.print(f"  {command(words)}", markup=False)


def widths(text: str) -> tuple[int, ...]:
    """`32,32` as numbers."""
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise GodojoError(f"--net {text!r} is no list of widths, such as 32,32") from None


def show(report: "DistilReport") -> None:
    from godojo.evaluation.tables import interval, percent, plain_table  # loads torch

    sizes = plain_table(("role", "policy"), ("net", "memory", "weights", "KiB", "torch µs", "GDScript µs"))
    for role, pair in report.sizes.items():
        for who, one in zip(("teacher", "student"), pair, strict=True):
            sizes.add_row(
                role if who == "teacher" else "",
                who,
                ",".join(str(width) for width in one.net_arch),
                str(one.memory_size),
                f"{one.weights:,}",
                f"{one.dojo_bytes / 1024:.1f}",
                f"{one.torch_us:.0f}",
                f"{one.gdscript_us:.0f}",
            )
    out.print(f"[bold]distilled from {escape(report.teacher)}[/]")
    out.print(sizes)
    out.print(
        "[dim]KiB of the .dojo file; one decision of one agent; GDScript: its matrices, at 22 ns a 4 x 4 block[/]\n"
    )
    if not report.prices:
        return
    costs = ("teacher wins", "student wins", "95 % interval", "costs", "95 % interval")
    table = plain_table(("role", "against"), costs)
    for price in report.prices:
        apart = price.difference
        table.add_row(
            price.role,
            price.opponent,
            percent(price.teacher),
            percent(price.student),
            interval(price.student),
            f"{0.0 - apart.points:.1f}",
            f"{0.0 - apart.high:.1f} to {0.0 - apart.low:.1f}",
        )
    out.print(table)
    out.print(f"[dim]{report.rounds} rounds each; costs in points of rounds won[/]")
