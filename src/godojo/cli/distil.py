"""`godojo distil`: a smaller student that does what a trained policy does."""

import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import err, out, print_json, progress_report
from godojo.cli.signals import stopping
from godojo.errors import GodojoError, command
from godojo.learn.budget import Budget

if TYPE_CHECKING:
    from godojo.export.distilled_run import DistilReport


def distil(
    run: Annotated[
        str, typer.Argument(help="The teacher: RUN or RUN@SNAPSHOT; the newest run if left away.")
    ] = "latest",
    net: Annotated[str, typer.Option("--net", help="Widths of the student's layers.", metavar="N,N,…")] = "32,32",
    memory_size: Annotated[
        int | None,
        typer.Option("--memory-size", help="Numbers it remembers; its teacher's, or its first layer's if fewer."),
    ] = None,
    minutes: Annotated[float | None, typer.Option("--minutes", help="How long; 1 if left away.")] = None,
    steps: Annotated[int | None, typer.Option("--steps", help="How long, in decisions of all agents, instead.")] = None,
    run_id: Annotated[str | None, typer.Option("--run-id", help="Name of the student's run.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a run of the same name.")] = False,
    seed: Annotated[
        int, typer.Option("--seed", help="Where the student begins, and in which arenas it practises.")
    ] = 1,
    episodes: Annotated[
        int, typer.Option("--episodes", "-n", help="Rounds of each match at the end; 0 for none.", min=0)
    ] = 500,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON, for programs.")] = False,
) -> None:
    """Teach a smaller net to do what a trained policy does, and say what that costs.

    The student plays, the teacher says at every decision what it would have done. The result is a run like any other.
    Ctrl-C keeps what has been learnt.

    Example:

      godojo distil latest --net 32,32 --minutes 2 --run-id small
    """
    if minutes is not None and steps is not None:
        raise GodojoError("either --minutes or --steps, not both")
    for name, value in (("minutes", minutes), ("steps", steps)):
        if value is not None and not 0.0 < value < math.inf:
            raise GodojoError(f"there must be some time to learn: --{name} must be above 0, not {value}")
    if not 0 <= seed < 2**40:
        raise GodojoError(f"--seed must be from 0 to {2**40 - 1}, not {seed}")
    budget = Budget(agent_steps=steps) if steps is not None else Budget(minutes=1.0 if minutes is None else minutes)
    net_arch, run = widths(net), chosen_run(run)
    from godojo.export.distilled_run import DistilledRun  # loads torch and the kernels

    distilled = DistilledRun(
        run,
        net_arch,
        budget,
        memory_size=memory_size,
        run_id=run_id,
        force=force,
        seed=seed,
        typed=sys.argv[1:],
        say=_say,
    )
    name = distilled.run.name
    try:
        with progress_report() as shown, stopping(distilled.distillation, _say):
            is_spent = distilled.teach(shown.progress)
    finally:
        distilled.run.remove_if_unused()
    if not is_spent:
        _say(f"stopped; what has been learnt lies in {distilled.run.path}; judge it with: {command(f'eval {name}')}")
        raise typer.Exit(130)
    with progress_report() as shown:
        report = distilled.report(episodes, shown.progress)
    if as_json:
        print_json(report)
        return
    show(report)
    out.print(f"\neverything lies in {distilled.run.path}\nnext:", markup=False)
    for words in (f"eval {name}", f"export {name}"):
        out.print(f"  {command(words)}", markup=False)


def widths(text: str) -> tuple[int, ...]:
    """`32,32` as numbers."""
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise GodojoError(f"--net {text!r} is no list of widths such as 32,32") from None


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


def _say(sentence: str) -> None:
    err.print(sentence, markup=False)
