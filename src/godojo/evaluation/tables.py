"""Evaluations as tables: `rich` prints them, `str()` returns the same text."""

import io
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table

from godojo.evaluation.intervals import Difference, Mean, Proportion
from godojo.games.base import GAMES

if TYPE_CHECKING:
    from godojo.evaluation.evaluation import Evaluation
    from godojo.evaluation.external import ExternalEvaluation, Performance
    from godojo.evaluation.sim_vs_godot import Comparison
    from godojo.evaluation.solo import SoloEvaluation

WIDTH = 500
"""Of plain text: no line is ever that long, so none is wrapped."""


class Printable:
    """A result that prints as a table. Its `repr` is short."""

    __slots__ = ()

    def __rich__(self) -> RenderableType:
        raise NotImplementedError

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=WIDTH, color_system=None, highlight=False)
        with console.capture() as capture:
            console.print(self)
        return "\n".join(line.rstrip() for line in capture.get().splitlines()).strip("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {str(self).partition(chr(10))[0]}>"


def plain_table(left: Iterable[str], right: Iterable[str]) -> Table:
    """A table without lines, with columns of texts, then of numbers."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in left:
        table.add_column(title, no_wrap=True)
    for title in right:
        table.add_column(title, justify="right")
    return table


def evaluation_table(found: "Evaluation") -> RenderableType:
    """Win rates by role and opponent."""
    steps = ", ".join(f"{role} {count:,}" for role, count in found.agent_steps.items())
    is_shared = any(verdict.share is not None for verdict in found.verdicts)
    measure = (
        (f"time {GAMES[found.game].shared_score}", "95 % interval", "wins") if is_shared else ("wins", "95 % interval")
    )
    table = plain_table(("role", "against"), (*measure, "reward", "median round"))
    last = ""
    for verdict in found.verdicts:
        table.add_row(
            verdict.role if verdict.role != last else "",
            escape(verdict.opponent),
            *((percent(verdict.share), interval(verdict.share)) if is_shared else ()),
            percent(verdict.wins),
            *(() if is_shared else (interval(verdict.wins),)),
            f"{verdict.reward.mean:.2f}",
            f"{verdict.median_length_s:.1f} s",
        )
        last = verdict.role
    lost = sum(verdict.lost_rounds for verdict in found.verdicts)
    heading = _heading(found, "arenas", f"{found.rounds} rounds each", steps)
    return Group(*heading, table, *_measures(found), *_lost(lost))


def _measures(found: "Evaluation", title: str = "") -> list[RenderableType]:
    """What the game measures besides who won, if anything: means by role and opponent."""
    names = list(found.verdicts[0].measures) if found.verdicts else []
    if not names:
        return []
    table = plain_table(("role", "against"), (word for name in names for word in (escape(name), "95 % interval")))
    last = ""
    for verdict in found.verdicts:
        means = (word for mean in verdict.measures.values() for word in (f"{mean.mean:.2f}", mean_interval(mean)))
        table.add_row(verdict.role if verdict.role != last else "", escape(verdict.opponent), *means)
        last = verdict.role
    return [f"\n{title or 'mean of a round'}", table]


def solo_table(found: "SoloEvaluation") -> RenderableType:
    """The measures of a game that is played alone."""
    table = plain_table(("rounds",), ("share", "95 % interval", "target"))
    for name, share in found.measures.items():
        target = f"{100 * found.targets[name]:.0f} %" if name in found.targets else ""
        table.add_row(name, percent(share), interval(share), target)
    parts: list[Any] = [table]
    if found.means:
        numbers = plain_table(("\nmean of a round",), ("", "\n95 % interval"))
        for name, mean in found.means.items():
            numbers.add_row(name, f"{mean.mean:.2f}", mean_interval(mean))
        parts.append(numbers)
    if len(found.by_arena) > 1:
        places = plain_table(("\nby course",), (f"\n{escape(title)}" for title in found.by_arena))
        for name in found.measures:
            places.add_row(name, *(percent(shares[name]) for shares in found.by_arena.values()))
        parts.append(places)
    terms = ", ".join(f"{name} {mean.mean:.2f}" for name, mean in found.terms.items())
    parts.append(f"\nreward {found.reward.mean:.2f} ({terms}); median round {found.median_length_s:.1f} s")
    heading = _heading(found, "courses", f"{found.rounds} rounds", f"{found.agent_steps:,}")
    return Group(*heading, *parts, *_lost(found.lost_rounds))


def external_table(found: "ExternalEvaluation") -> RenderableType:
    """Returns, lengths and successes of an external game, by role and player."""
    reports_success = any(one.success is not None for one in found.performances)
    has_endless = any(one.reward is None for one in found.performances)
    titles = ["episodes", "return", "steps"]
    titles += ["success"] * reports_success + ["reward/step"] * has_endless
    table = plain_table(("role", "played by", *titles), ())
    last = ""
    for one in found.performances:
        success = "" if one.success is None else f"{percent(one.success)} ({interval(one.success)})"
        table.add_row(
            escape(one.role) if one.role != last else "",
            one.player,
            f"{one.episodes}",
            plus_minus(one.reward),
            plus_minus(one.length),
            *((success,) if reports_success else ()),
            *((f"{one.reward_per_step:.3g}",) if has_endless else ()),
        )
        last = one.role
    steps = ", ".join(f"{escape(role)} {count:,}" for role, count in found.agent_steps.items())
    how = "deterministic" if found.deterministic else "stochastic"
    notes = []
    if not found.is_complete:
        notes.append(f"not all of {found.episodes} episodes ended in time; give more --seconds, or fewer --episodes")
    if found.lost_episodes:
        notes.append(f"{found.lost_episodes} episodes were cut short by a lost game and not counted")
    if found.script_errors:
        notes.append(f"{found.script_errors} script errors in the game, first {escape(found.first_script_error)}")
    notes += [f"not finite and replaced, {count:,} times: {escape(name)}" for name, count in found.non_finite.items()]
    return Group(
        f"[bold]{escape(found.policy)}[/], {escape(found.game)} in {escape(found.project)}",
        f"[dim]{how} actions; agent-steps trained: {steps}; seed {found.seed}; ± and in brackets: 95 % intervals[/]\n",
        table,
        *_external_measures(found),
        *(f"[yellow]note:[/] {note}" for note in notes),
    )


def twin_table(twin: "ExternalEvaluation", real: "ExternalEvaluation") -> RenderableType:
    """A trained policy on the twin and in the real engine, side by side."""
    table = plain_table(("role", "trained policy", "episodes", "return", "steps", "success"), ())
    for one in twin.performances:
        other = real.performance(one.role, one.player)
        for where, found in (("on the twin", one), ("in the real engine", other)):
            table.add_row(
                escape(one.role) if found is one else "",
                where,
                f"{found.episodes}",
                plus_minus(found.reward),
                plus_minus(found.length),
                "" if found.success is None else f"{percent(found.success)} ({interval(found.success)})",
            )
    return table


def _external_measures(found: "ExternalEvaluation") -> list[RenderableType]:
    """What agents report of their episodes besides rewards, by kind of player."""
    if not found.has_measures:
        return []
    players = list(dict.fromkeys(one.player for one in found.performances))
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for one in found.performances:
        for name, text in measure_texts(one).items():
            rows.setdefault((one.role, name), {})[one.player] = text
    table = plain_table(("\nrole", "\nof an episode", *(f"\n{player}" for player in players), "\ntarget"), ())
    last = ""
    for (role, name), texts in rows.items():
        target = f"{found.targets[name]:g}" if name in found.targets else ""
        table.add_row(
            escape(role) if role != last else "", escape(name), *(texts.get(who, "") for who in players), target
        )
        last = role
    return [table]


def measure_texts(one: "Performance") -> dict[str, str]:
    """Each measure in the order of the game's declaration: a share of episodes, or a mean, with its interval."""
    shares = {name: f"{percent(share)} ({interval(share)})" for name, share in one.measures.items()}
    return shares | {name: plus_minus(mean) for name, mean in one.means.items()}


def comparison_table(found: "Comparison") -> RenderableType:
    """Win rates on both engines, and their differences."""
    one = found.sim
    rows = [(row.role, row.opponent, row.sim, row.godot) for row in found.rows]
    return Group(
        f"[bold]{escape(one.policy)}[/], {one.game} on both engines, {escape(one.arenas)} arenas",
        f"[dim]{one.rounds} rounds each on each engine; seed {one.seed}; difference in points: Godot - sim[/]\n",
        _side_by_side("sim wins", "Godot wins", rows),
        *_measures(one, "sim, mean of a round"),
        *_measures(found.godot, "Godot, mean of a round"),
        *_lost(sum(verdict.lost_rounds for verdict in found.godot.verdicts)),
    )


def progress_table(before: "Evaluation", after: "Evaluation") -> RenderableType:
    """Win rates before and after a training, and their differences."""
    rows = []
    for one in before.verdicts:
        other = after.verdict(one.role, one.opponent)
        if one.wins is not None and other.wins is not None:
            rows.append((one.role, one.opponent, one.wins, other.wins))
    return Group(
        f"[bold]{escape(after.policy)}[/] compared with its first policies, {escape(after.arenas)} arenas",
        f"[dim]{after.rounds} rounds each; seed {after.seed}; difference in points: after - before[/]\n",
        _side_by_side("before", "after", rows),
    )


def _heading(found: "Evaluation | SoloEvaluation", places: str, rounds: str, steps: str) -> tuple[str, str]:
    how = "deterministic" if found.deterministic else "stochastic"
    return (
        f"[bold]{escape(found.policy)}[/], {found.game} on {found.engine}, {escape(found.arenas)} {places}",
        f"[dim]{rounds}; {how} actions; agent-steps trained: {steps}; seed {found.seed}[/]\n",
    )


def _side_by_side(one: str, other: str, rows: list[tuple[str, str, Proportion, Proportion]]) -> Table:
    """Two win rates of each role against each opponent, and the difference."""
    table = plain_table(("role", "against"), (one, other, "difference", "95 % interval"))
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


def _lost(rounds: int) -> list[str]:
    return [f"[yellow]note:[/] {rounds} rounds were cut short by a lost game and played again"] if rounds else []


def percent(share: Proportion | Mean | None) -> str:
    if share is None:
        return ""
    return f"{100 * (share.mean if isinstance(share, Mean) else share.rate):.1f} %"


def plus_minus(mean: Mean | None) -> str:
    """A mean and half of its interval, with as many digits as the latter justifies."""
    if mean is None:
        return ""
    half = mean.high - mean.mean
    if not 0.0 < half < math.inf:
        return f"{mean.mean:.4g}"
    digits = max(1 - math.floor(math.log10(half)), 0)
    return f"{mean.mean:.{digits}f} ± {half:.{digits}f}"


def mean_interval(mean: Mean) -> str:
    return f"{mean.low:.2f} to {mean.high:.2f}"


def interval(share: Proportion | Mean | None) -> str:
    return "" if share is None else f"{100 * share.low:.1f} to {100 * share.high:.1f}"


def sparkline(shares: Iterable[float]) -> str:
    """Shares from 0 to 1 as a line of small bars."""
    bars = "▁▂▃▄▅▆▇█"
    return "".join(bars[min(int(share * len(bars)), len(bars) - 1)] for share in shares)
