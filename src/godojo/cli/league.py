"""`godojo league`: plays the snapshots of a run against each other and rates them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from godojo.api.references import is_file
from godojo.cli.chosen_run import open_run
from godojo.cli.console import out, print_json, progress_report
from godojo.errors import GodojoError
from godojo.units import counted

if TYPE_CHECKING:
    from godojo.evaluation.exploitability import Exploitability
    from godojo.evaluation.league import LeagueReport


def league(
    run: Annotated[
        str,
        typer.Argument(
            help="RUN; defaults to the latest run. With --exploit also policy files (*.pt, *.dojo; one per role,"
            " separated by commas)."
        ),
    ] = "latest",
    snapshots: Annotated[
        str | None,
        typer.Option("--snapshots", help="Names, as in start,1m,final; defaults to up to 8, evenly spread."),
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
            help="Also search for weaknesses of the last policies: play every scripted opponent, and train opponents"
            " against each policy for MINUTES.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same rounds.")] = 0,
    sampled: Annotated[
        bool,
        typer.Option("--sampled", help="Policies are stochastic, as in training, instead of deterministic."),
    ] = False,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray", metavar="ADDRESS", help="Play the matches in a Ray cluster: HOST:PORT, auto or local (a new one)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Play all snapshots of a training against each other and rate them.

    In classic tag, the player with less time as "it" wins the round. Leaves league.png and league.json in the run's
    folder; with --exploit also exploitability.png.

    Examples:

      godojo league latest --exploit 5
      godojo league seeker.dojo,hider.dojo --exploit 5
    """
    if episodes < 1:
        raise GodojoError(f"--episodes must be 1 or more, not {episodes}")
    if is_file(run) and not Path(run).expanduser().is_dir():
        if ray is not None:
            raise GodojoError("--ray plays the league of a run; remove it to search for weaknesses of files")
        _probe_files(run, exploit, episodes, arenas, seed, sampled=sampled, as_json=as_json)
        return
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
            ray=ray,
            progress=shown.progress,
        )
    if as_json:
        print_json(found.as_tree())
        return
    show(found.report)
    if found.best_responses:
        show_exploitability(found.best_responses)
    out.print(f"\nPicture and figures: {escape(str(folder.path / 'league.png'))} and league.json beside it")


def _probe_files(
    policy: str, minutes: float | None, episodes: int, arenas: str, seed: int, *, sampled: bool, as_json: bool
) -> None:
    """Policy files have no snapshots to play a league, but weaknesses."""
    if minutes is None:
        raise GodojoError(f"{policy} has no snapshots for a league; search for its weaknesses with --exploit MINUTES")
    from godojo.api.league import EXPLOIT_EPISODES
    from godojo.api.league import exploit as search

    with progress_report() as shown:
        found = search(
            policy,
            minutes=minutes,
            episodes=max(episodes, EXPLOIT_EPISODES),
            arenas=arenas,
            seed=seed,
            deterministic=not sampled,
            progress=shown.progress,
        )
    if as_json:
        print_json(found)
    else:
        show_exploitability(found)


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
    for name, means in found.measures.items():
        out.print(f"\n{escape(name)}, mean of a round")
        table = plain_table((f"{found.rows} \\ {found.columns}",), (escape(one.name) for one in found.standings))
        for standing, row in zip(found.standings, means, strict=True):
            table.add_row(escape(standing.name), *(f"{cell.mean:.2f}" for cell in row))
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


def show_exploitability(found: "list[Exploitability]") -> None:
    from godojo.evaluation.tables import interval, percent, plain_table, sparkline

    rounds, minutes = found[0].response.wins.rounds, found[0].minutes
    out.print(
        f"\n[bold]exploitability[/]: how often each policy loses\n[dim]{rounds} rounds against each opponent[/]\n"
    )
    table = plain_table(("policy", "against"), ("loses", "95 % interval"))
    curves = plain_table((f"rounds won in {minutes:g} minutes of training", "", ""), ("agent-steps",))
    for one in found:
        rows = [
            (f"its own {one.exploiter}", one.before),
            (f"the best script: {one.best_script}", one.script),
            (f"a {one.exploiter} that learnt to beat it", one.response.wins),
            ("the same, all-knowing", one.informed.wins),
        ]
        for place, (name, losses) in enumerate((name, losses) for name, losses in rows if losses is not None):
            table.add_row("" if place else one.victim, escape(name), percent(losses), interval(losses))
        table.add_row("", "[bold]at least[/]", f"[bold]{percent(one.at_least)}[/]")
        for who, learnt in ((one.exploiter, one.response), (f"all-knowing {one.exploiter}", one.informed)):
            rates = [point.win_rate for point in learnt.curve]
            last = f"{100 * rates[-1]:.0f} %" if rates else ""
            curves.add_row(f"{who} against the {one.victim}", sparkline(rates), last, counted(learnt.agent_steps))
    out.print(table)
    out.print()
    out.print(curves)
