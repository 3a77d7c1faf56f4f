"""`godojo eval`: how good a trained policy is, against any opponent."""

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import out, plain_table, print_json, progress_report
from godojo.errors import GodojoError, known

if TYPE_CHECKING:
    from rich.table import Table

    from godojo.evaluation.evaluation import Evaluation
    from godojo.evaluation.intervals import Proportion
    from godojo.evaluation.sim_vs_godot import Comparison
    from godojo.evaluation.solo import SoloEvaluation

ENGINES = ("sim", "godot", "both")


def evaluate(
    run: Annotated[
        str,
        typer.Argument(help="RUN, RUN@SNAPSHOT or a policy file (*.pt, *.dojo, *.onnx); by default the newest run."),
    ] = "latest",
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            "--opponent",
            "-o",
            help="scripted:NAME, RUN, RUN@SNAPSHOT, a policy file (*.pt, *.dojo, *.onnx), file.py:Class, or itself;"
            " may be given several times. By default all scripted ones and itself.",
        ),
    ] = None,
    role: Annotated[str | None, typer.Option("--role", help="Evaluate this role only, for example: seeker")] = None,
    arenas: Annotated[
        str,
        typer.Option(
            "--arenas",
            help="held-out (hand-made and freshly generated ones), hand-made, generated, or a folder of your own.",
            metavar="SET|DIR",
        ),
    ] = "held-out",
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="Rounds against each opponent.")] = 500,
    engine: Annotated[str, typer.Option("--engine", help="sim (embedded), godot (the real one), or both.")] = "sim",
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same rounds.")] = 0,
    sampled: Annotated[
        bool,
        typer.Option("--sampled", help="Policies are stochastic, as in training, instead of deterministic."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Evaluate a trained policy: how often each role wins against each opponent, with 95 % intervals.

    Played in arenas that training does not use. With --engine both, the same on the embedded game and in the real one,
    and by how much they differ.

    Examples:

      godojo eval latest
      godojo eval latest -o oracle -o my-other-run@1m --role hider
    """
    if episodes < 1:
        raise GodojoError(f"--episodes must be 1 or more, not {episodes}")
    if engine not in ENGINES:
        raise GodojoError(f"there is no engine {engine!r}; {known(engine, ENGINES)}")
    run = chosen_run(run)
    from godojo.api.evaluation import evaluate as evaluate_policy  # loads torch and the kernels

    with progress_report() as shown:
        found = evaluate_policy(
            run,
            opponent or [],
            role=role,
            episodes=episodes,
            arenas=arenas,
            engine=engine,
            seed=seed,
            deterministic=not sampled,
            progress=shown.progress,
        )
    if as_json:
        print_json(msgspec.json.format(msgspec.json.encode(found), indent=2))
    else:
        show_any(found)


def show_any(found: "SoloEvaluation | Comparison | Evaluation") -> None:
    """Any result, in the form that suits it."""
    from godojo.evaluation.sim_vs_godot import Comparison
    from godojo.evaluation.solo import SoloEvaluation  # both load torch and the kernels

    if isinstance(found, SoloEvaluation):
        show_alone(found)
    elif isinstance(found, Comparison):
        show_comparison(found)
    else:
        show(found)


def show_alone(found: "SoloEvaluation") -> None:
    """A game that is played alone."""
    how = "deterministic" if found.deterministic else "stochastic"
    out.print(f"[bold]{escape(found.policy)}[/], {found.game} on {found.engine}, {escape(found.arenas)} courses")
    out.print(
        f"[dim]{found.rounds} rounds; {how} actions; agent-steps trained: {found.agent_steps:,}; seed {found.seed}[/]\n"
    )
    table = plain_table(["rounds"], ["share", "95 % interval", "target"])
    for name, share in found.measures.items():
        target = f"{100 * found.targets[name]:.0f} %" if name in found.targets else ""
        table.add_row(name, percent(share), interval(share), target)
    out.print(table)
    if len(found.by_arena) > 1:
        places = plain_table(["\nby course"], [f"\n{escape(title)}" for title in found.by_arena])
        for name in found.measures:
            places.add_row(name, *(percent(shares[name]) for shares in found.by_arena.values()))
        out.print(places)
    terms = ", ".join(f"{name} {mean.mean:.2f}" for name, mean in found.terms.items())
    out.print(f"\nreward {found.reward.mean:.2f} ({terms}); median round {found.median_length_s:.1f} s")
    if found.lost_rounds:
        out.print(f"[yellow]note:[/] {found.lost_rounds} rounds were cut short by a lost game and played again")


def show(found: "Evaluation") -> None:
    """Win rates by role and opponent."""
    steps = ", ".join(f"{role} {count:,}" for role, count in found.agent_steps.items())
    how = "deterministic" if found.deterministic else "stochastic"
    out.print(f"[bold]{escape(found.policy)}[/], {found.game} on {found.engine}, {escape(found.arenas)} arenas")
    out.print(f"[dim]{found.rounds} rounds each; {how} actions; agent-steps trained: {steps}; seed {found.seed}[/]\n")
    table = plain_table(["role", "against"], ["wins", "95 % interval", "reward", "median round"])
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
    _note_lost(found)


def show_comparison(found: "Comparison") -> None:
    """Both engines side by side."""
    one = found.sim
    out.print(f"[bold]{escape(one.policy)}[/], {one.game} on both engines, {escape(one.arenas)} arenas")
    out.print(
        f"[dim]{one.rounds} rounds each on each engine; seed {one.seed}; a difference in points: Godot - sim[/]\n"
    )
    rows = [(row.role, row.opponent, row.sim, row.godot) for row in found.rows]
    out.print(_side_by_side("sim wins", "Godot wins", rows))
    _note_lost(found.godot)


def show_progress(before: "Evaluation", after: "Evaluation") -> None:
    """Before and after a training."""
    out.print(f"[bold]{escape(after.policy)}[/] beside its start, {escape(after.arenas)} arenas")
    out.print(f"[dim]{after.rounds} rounds each; seed {after.seed}; a difference in points: after - before[/]\n")
    rows = []
    for one in before.verdicts:
        other = after.verdict(one.role, one.opponent)
        if one.wins is not None and other.wins is not None:
            rows.append((one.role, one.opponent, one.wins, other.wins))
    out.print(_side_by_side("before", "after", rows))


def _side_by_side(one: str, other: str, rows: "list[tuple[str, str, Proportion, Proportion]]") -> "Table":
    """Two win rates of each role against each opponent, and how far the second is above the first."""
    from godojo.evaluation.intervals import Difference

    table = plain_table(["role", "against"], [one, other, "difference", "95 % interval"])
    last = ""
    for role, opponent, first, second in rows:
        gap = Difference.of(second, first)
        table.add_row(
            role if role != last else "",
            escape(opponent),
            percent(first),
            percent(second),
            f"{gap.points:+.1f}",
            f"{gap.low:+.1f} to {gap.high:+.1f}",
        )
        last = role
    return table


def _note_lost(found: "Evaluation") -> None:
    lost = sum(verdict.lost_rounds for verdict in found.verdicts)
    if lost:
        out.print(f"[yellow]note:[/] {lost} rounds were cut short by a lost game and played again")


def percent(share: "Proportion | None") -> str:
    return "" if share is None else f"{100 * share.rate:.1f} %"


def interval(share: "Proportion | None") -> str:
    return "" if share is None else f"{100 * share.low:.1f} to {100 * share.high:.1f}"
