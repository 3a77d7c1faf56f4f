"""`godojo league`: how a run's policies got better, moment against moment."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from godojo.cli.chosen_run import open_run
from godojo.cli.console import out, print_json, progress_report
from godojo.errors import GodojoError

if TYPE_CHECKING:
    from godojo.evaluation.exploitability import BestResponse
    from godojo.evaluation.league import LeagueReport


def league(
    run: Annotated[str, typer.Argument(help="RUN; by default the newest one.")] = "latest",
    snapshots: Annotated[
        str | None,
        typer.Option("--snapshots", help="Names, as in start,1m,final; by default up to 8, spread evenly."),
    ] = None,
    arenas: Annotated[
        str,
        typer.Option("--arenas", help="held-out, hand-made, generated, or a folder of your own.", metavar="SET|DIR"),
    ] = "held-out",
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="Rounds of each pairing.")] = 200,
    exploit: Annotated[
        float | None,
        typer.Option(
            "--exploit",
            metavar="MINUTES",
            help="Also train a new learner for so long against each frozen policy of the last snapshot.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same rounds.")] = 0,
    sampled: Annotated[
        bool,
        typer.Option("--sampled", help="Policies are stochastic, as in training, instead of deterministic."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Let the snapshots of a training play each other, everybody against everybody, and rate them.

    In classic tag a round is won by whoever was "it" for less time. Leaves league.png and league.json in the run's
    folder.
    """
    if episodes < 1:
        raise GodojoError(f"--episodes must be 1 or more, not {episodes}")
    folder = open_run(run)
    from godojo.api.league import league as play  # loads torch, the kernels and matplotlib

    names = [name.strip() for name in (snapshots or "").split(",") if name.strip()]
    with progress_report() as shown:
        found = play(
            folder,
            names,
            episodes=episodes,
            arenas=arenas,
            exploit_minutes=exploit,
            seed=seed,
            deterministic=not sampled,
            progress=shown.progress,
        )
    if as_json:
        print_json(found.as_tree())
        return
    show(found.report)
    for one in found.best_responses:
        show_probe(one)
    out.print(f"\nPicture and figures: {escape(str(folder.path / 'league.png'))} and league.json beside it")


def show(found: "LeagueReport") -> None:
    from godojo.evaluation.tables import plain_table  # loads torch

    out.print(
        f"[bold]{escape(found.run)}[/]: rounds won by the {found.rows} of the row against the {found.columns} of the"
        f" column, in per cent\n[dim]{found.rounds} rounds each, {escape(found.arenas)} arenas, seed {found.seed}[/]\n"
    )
    table = plain_table((f"{found.rows} \\ {found.columns}",), (escape(one.name) for one in found.standings))
    for standing, cells in zip(found.standings, found.matrix, strict=True):
        table.add_row(escape(standing.name), *(f"{100 * cell.rate:.1f}" for cell in cells))
    out.print(table)
    roles = list(dict.fromkeys((found.rows, found.columns)))
    ratings = plain_table(("snapshot",), ("agent-steps", *(word for role in roles for word in (role, "95 %"))))
    for standing in found.standings:
        words = [f"{standing.agent_steps:,}"]
        for role in roles:
            one = standing.ratings[role]
            words += [f"{one.rating:.1f}", f"{one.low:.1f} to {one.high:.1f}"]
        ratings.add_row(escape(standing.name), *words)
    out.print("\nratings")
    out.print(ratings)


def show_probe(one: "BestResponse") -> None:
    from godojo.evaluation.tables import interval, percent

    before, after = (f"{percent(share)} of rounds ({interval(share)})" for share in (one.before, one.after))
    out.print(
        f"\nThe {one.victim} loses {before} to the run's own {one.exploiter}, and {after} to a new one that trained"
        f" for {one.minutes:g} minutes ({one.agent_steps:,} agent-steps) to beat it alone."
    )
