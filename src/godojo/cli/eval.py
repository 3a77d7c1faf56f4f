"""`godojo eval`: how good a trained policy is, against whom you like."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from godojo.cli.console import out, print_json, progress_report
from godojo.errors import GodojoError

if TYPE_CHECKING:
    from godojo.evaluate.alone import AloneJudgement
    from godojo.evaluate.intervals import Share
    from godojo.evaluate.judge import Judgement


def evaluate(
    run: Annotated[
        str, typer.Argument(help="RUN, RUN@SNAPSHOT or a policy file (*.pt); the newest run if left away.")
    ] = "latest",
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            "--opponent",
            "-o",
            help="scripted:NAME, RUN, RUN@SNAPSHOT, POLICY.pt, file.py:Class, or itself; may be given several times."
            " All scripted ones and itself if left away.",
        ),
    ] = None,
    role: Annotated[str | None, typer.Option("--role", help="Judge this role only, for example: seeker")] = None,
    arenas: Annotated[
        str,
        typer.Option(
            "--arenas",
            help="held-out (hand-made and freshly generated ones), hand-made, generated, or a folder of your own.",
            metavar="SET|DIR",
        ),
    ] = "held-out",
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="Rounds against each opponent.")] = 500,
    engine: Annotated[str, typer.Option("--engine", help="sim (embedded) or godot (the real one).")] = "sim",
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same rounds.")] = 0,
    sampled: Annotated[
        bool,
        typer.Option("--sampled", help="Policies draw lots as in training, instead of doing what they think best."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Judge a trained policy: how often each role wins against each opponent, with 95 % intervals.

    Played in arenas that training does not use. Example: godojo eval latest -o oracle -o my-other-run@1m --role hider
    """
    if episodes < 1:
        raise GodojoError(f"--episodes must be 1 or more, not {episodes}")
    judge_and_show(
        run,
        opponent or [],
        role=role,
        arenas=arenas,
        rounds=episodes,
        engine=engine,
        seed=seed,
        greedy=not sampled,
        as_json=as_json,
    )


def judge_and_show(
    run: str,
    opponents: Sequence[str] = (),
    *,
    role: str | None = None,
    arenas: str = "held-out",
    rounds: int = 500,
    engine: str = "sim",
    seed: int = 0,
    greedy: bool = True,
    as_json: bool = False,
) -> None:
    """Judges a policy in the way that suits its game, and tells a person or a program."""
    from godojo.evaluate.alone import AloneJudgement, is_played_alone, judge_alone  # bring torch and kernels along
    from godojo.evaluate.judge import Judgement, judge

    how: dict[str, Any] = {"arenas": arenas, "rounds": rounds, "engine": engine, "seed": seed, "greedy": greedy}
    found: Judgement | AloneJudgement
    with progress_report() as shown:
        if is_played_alone(run):
            if opponents:
                raise GodojoError(f"{run} plays alone: there is nobody to play against; leave --opponent away")
            found = judge_alone(run, **how, progress=shown.progress)
        else:
            found = judge(run, opponents, role=role, **how, progress=shown.progress)
    if as_json:
        print_json(msgspec.json.format(msgspec.json.encode(found), indent=2))
    elif isinstance(found, Judgement):
        show(found)
    else:
        show_alone(found)


def show_alone(found: "AloneJudgement") -> None:
    """What the rounds of somebody who plays alone were like."""
    how = "what it thinks best" if found.greedy else "by lot"
    out.print(f"[bold]{escape(found.policy)}[/], {found.game} on {found.engine}, {escape(found.arenas)} courses")
    out.print(
        f"[dim]{found.rounds} rounds; it does {how}; agent-steps trained: {found.agent_steps:,}; seed {found.seed}[/]\n"
    )
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("rounds", no_wrap=True)
    for title in ("share", "95 % interval", "target"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, share in found.measures.items():
        target = f"{100 * found.targets[name]:.0f} %" if name in found.targets else ""
        table.add_row(name, percent(share), interval(share), target)
    out.print(table)
    if len(found.by_arena) > 1:
        places = Table(box=None, pad_edge=False, header_style="dim")
        places.add_column("\nby course", no_wrap=True)
        for title in found.by_arena:
            places.add_column(f"\n{escape(title)}", justify="right")
        for name in found.measures:
            places.add_row(name, *(percent(shares[name]) for shares in found.by_arena.values()))
        out.print(places)
    terms = ", ".join(f"{name} {mean.mean:.2f}" for name, mean in found.terms.items())
    out.print(f"\nreward {found.reward.mean:.2f} ({terms}); median round {found.median_length_s:.1f} s")
    if found.lost_rounds:
        out.print(f"[yellow]note:[/] {found.lost_rounds} rounds were cut short by a lost game and played again")


def show(found: "Judgement") -> None:
    """The judgement for a person."""
    steps = ", ".join(f"{role} {count:,}" for role, count in found.agent_steps.items())
    how = "what it thinks best" if found.greedy else "by lot"
    out.print(f"[bold]{escape(found.policy)}[/], {found.game} on {found.engine}, {escape(found.arenas)} arenas")
    out.print(f"[dim]{found.rounds} rounds each; it does {how}; agent-steps trained: {steps}; seed {found.seed}[/]\n")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("role")
    table.add_column("against")
    for title in ("wins", "95 % interval", "reward", "median round"):
        table.add_column(title, justify="right")
    last = ""
    for verdict in found.verdicts:
        table.add_row(
            verdict.role if verdict.role != last else "",
            escape(verdict.opponent),
            percent(verdict.wins),
            interval(verdict.wins),
            f"{verdict.reward.mean:.2f}",
            f"{verdict.median_length_s:.1f} s",
        )
        last = verdict.role
    out.print(table)
    lost = sum(verdict.lost_rounds for verdict in found.verdicts)
    if lost:
        out.print(f"[yellow]note:[/] {lost} rounds were cut short by a lost game and played again")


def percent(share: "Share | None") -> str:
    return "" if share is None else f"{100 * share.rate:.1f} %"


def interval(share: "Share | None") -> str:
    return "" if share is None else f"{100 * share.low:.1f} to {100 * share.high:.1f}"
