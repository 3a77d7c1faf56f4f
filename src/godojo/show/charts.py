"""A run's charts: `charts/*.png` in its folder."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from godojo.documents import read_document
from godojo.errors import GodojoError, command
from godojo.evaluation.exploitability import Exploitability
from godojo.evaluation.intervals import Z95
from godojo.evaluation.league import LeagueReport
from godojo.files import atomic_write, make_folder
from godojo.formats import LEAGUE
from godojo.games.base import GAMES
from godojo.runs.folder import RunFolder
from godojo.show import style
from godojo.show.curves import Curve, RunTables, smooth

FOLDER = "charts"
STEPS, SECONDS, SPEED = "agent_steps", "seconds", "time/fps"
SMOOTH = 9
"""Updates that a noisy curve is averaged over."""


def write_charts(run: RunFolder) -> list[Path]:
    """All charts of a run that have something to show."""
    tables = RunTables(run)
    folder = make_folder(run.path / FOLDER)
    means = "bands: 95 % intervals of the mean"
    charts: dict[str, Figure | None] = {}
    with style.look():
        charts["learning"] = learning(tables)
        for x, suffix in ((STEPS, ""), (SECONDS, "_by_time")):
            charts[f"win_rate{suffix}"] = _win_rate(tables, x)
            charts[f"reward{suffix}"] = _single(tables, "Reward of a round", means, _draw_reward, x)
        charts["reward_terms"] = _reward_terms(tables)
        lengths = "mean with its 95 % interval; pale: eight of ten rounds"
        charts["episode_length"] = _single(tables, "Length of rounds", lengths, _draw_length)
        ratings = "openskill, against past checkpoints; bars: 95 % intervals at snapshots"
        charts["rating"] = _single(tables, "Rating", ratings, _draw_rating)
        charts["speed"] = _single(
            tables, "Training speed", "everything included: playing, learning, saving", _draw_speed
        )
        written = [_write(folder / f"{name}.png", made) for name, made in charts.items() if made is not None]
    league = league_of(run)
    if league is not None:
        path = folder / "cross_play.png"
        atomic_write(path, draw_league(league))
        written.append(path)
    return written


def league_of(run: RunFolder) -> LeagueReport | None:
    """The run's league table, if `godojo league` has written one."""
    path = run.path / "league.json"
    try:
        return read_document(path, LEAGUE, LeagueReport, f"write it again: {command(f'league {run.name}')}")
    except FileNotFoundError:
        return None


def _write(path: Path, made: Figure) -> Path:
    atomic_write(path, _png(made))
    return path


def _png(made: Figure) -> bytes:
    picture = io.BytesIO()
    made.savefig(picture, format="png")
    return picture.getvalue()


def _x_axis(axes: Axes, x: str, *runs: RunTables) -> None:
    """Shows the whole training, even where curves cover only a part of it."""
    axes.set_xlim(0.0, 1.02 * max(tables.last(x) for tables in runs))
    if x == STEPS:
        style.count_axis(axes, "agent-steps")
    else:
        style.time_axis(axes)


def _title(tables: RunTables) -> str:
    config = tables.run.config
    spent = f"{style.counted(tables.last(STEPS))} agent-steps in {style.clock(tables.last(SECONDS))}"
    return f"run {tables.run.run_id} · {config.game} on {config.engine} · {config.learner} · {spent}"


def _empty(axes: Axes, why: str = "too few rounds yet") -> None:
    """An empty panel gives the reason, without numbers that might be taken for data."""
    axes.clear()
    axes.set_axis_off()
    axes.text(0.0, 0.92, why, transform=axes.transAxes, va="top", color=style.QUIET)


@contextmanager
def _lines(axes: Axes, x: str, *runs: RunTables) -> Iterator[Callable[[Curve, str, str], None]]:
    """Collects curves, writes their names at their ends when all are drawn, and labels the x axis."""
    ends: list[tuple[str, float, float, str]] = []

    def add(curve: Curve, name: str, colour: str) -> None:
        if len(curve):
            style.band(axes, curve.at, curve.low, curve.middle, curve.high, colour)
            ends.append((name, float(curve.at[-1]), float(curve.middle[-1]), colour))

    yield add
    if ends:
        style.label_ends(axes, ends)
        _x_axis(axes, x, *runs)
    else:
        _empty(axes)


Draw = Callable[[Axes, RunTables, str], bool]
"""Draws a panel over agent-steps or seconds; returns whether there was anything to draw."""


def _single(tables: RunTables, title: str, note: str, draw: Draw, x: str = STEPS) -> Figure | None:
    """A chart of one panel; None where there is nothing to draw."""
    made = style.figure(title, f"{_title(tables)} · {note}")
    return made if draw(made.subplots(), tables, x) else None


def _by_role(axes: Axes, tables: RunTables, x: str, curve: Callable[[str], Curve]) -> bool:
    curves = [curve(role) for role in tables.roles]
    with _lines(axes, x, tables) as add:
        for role, found in zip(tables.roles, curves, strict=True):
            add(found, role, tables.colours[role])
    return any(map(len, curves))


def _draw_win_rate(axes: Axes, tables: RunTables, x: str, *, against_past: bool) -> bool:
    style.percent_axis(axes)
    axes.axhline(0.5, color=style.QUIET, linewidth=1.0, linestyle=(0, (2, 3)))
    return _by_role(axes, tables, x, lambda role: tables.win_rate(role, x, against_past=against_past))


def _can_win(tables: RunTables) -> bool:
    """Whether rounds of this game are won by roles at all."""
    return any(role in set(tables.rounds["winner"]) for role in tables.roles)


def _has_win_rate(tables: RunTables, x: str, *, against_past: bool) -> bool:
    rates = (tables.win_rate(role, x, against_past=against_past) for role in tables.roles)
    return _can_win(tables) and any(map(len, rates))


def _win_rate(tables: RunTables, x: str) -> Figure | None:
    """Two panels: both sides as they are, and each against past checkpoints of the other."""
    has_past, has_now = (_has_win_rate(tables, x, against_past=past) for past in (True, False))
    if not (has_past or has_now):
        return None
    made = style.figure(
        "Rounds won", f"{_title(tables)} · bands: 95 % intervals", size=(12.0 if has_past else 9.6, 5.4)
    )
    panels = made.subplots(1, 2 if has_past else 1, squeeze=False)[0]
    _draw_win_rate(panels[0], tables, x, against_past=False)
    if has_past:
        _draw_win_rate(panels[1], tables, x, against_past=True)
        panels[0].set_title("against each other")
        panels[1].set_title("against past checkpoints of the other side")
    return made


def _draw_reward(axes: Axes, tables: RunTables, x: str) -> bool:
    axes.axhline(0.0, color=style.QUIET, linewidth=1.0)
    return _by_role(axes, tables, x, lambda role: tables.mean(f"{role}_reward", x))


def _reward_terms(tables: RunTables) -> Figure | None:
    """A panel for each role, with its terms."""
    if not any(len(tables.mean(f"{role}_{term}", STEPS)) for role in tables.roles for term in tables.terms(role)):
        return None
    count = len(tables.roles)
    made = style.figure("Terms of the reward", f"{_title(tables)} · means over rounds", size=(6.4 * count, 5.4))
    for role, axes in zip(tables.roles, made.subplots(1, count, squeeze=False)[0], strict=True):
        axes.axhline(0.0, color=style.QUIET, linewidth=1.0)
        terms = tables.terms(role)
        with _lines(axes, STEPS, tables) as add:
            for term, colour in zip(terms, style.colours(len(terms)), strict=True):
                curve = tables.mean(f"{role}_{term}", STEPS)
                if len(curve) and np.abs(curve.middle).max() > 0.0:
                    add(curve, term, colour)
        axes.set_title(role, color=tables.colours[role])
    return made


def _draw_length(axes: Axes, tables: RunTables, x: str = STEPS) -> bool:
    mean, spread = tables.mean("length_s", x), tables.spread("length_s", x)
    if not len(mean):
        _empty(axes)
        return False
    axes.fill_between(spread.at, spread.low, spread.high, color=style.OTHERS[0], alpha=0.1, linewidth=0)
    style.band(axes, mean.at, mean.low, mean.middle, mean.high, style.OTHERS[0])
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("seconds of the game")
    _x_axis(axes, x, tables)
    return True


def _draw_rating(axes: Axes, tables: RunTables, x: str = STEPS) -> bool:
    ends = []
    snapshots = [entry for entry in tables.run.snapshots().entries() if entry.agent_steps > 0]
    for role in tables.roles:
        steps, values = tables.rating(role, x)
        if not len(values):
            continue
        colour = tables.colours[role]
        line = smooth(values, SMOOTH)
        axes.plot(steps, values, color=colour, linewidth=1.0, alpha=0.35)
        axes.plot(steps, line, color=colour)
        for entry in snapshots:
            found = entry.ratings.get(role)
            if found:
                middle, wide = float(found["mu"]), Z95 * float(found["sigma"])
                axes.errorbar([entry.agent_steps], [middle], [wide], color=colour, capsize=3, linewidth=1.4, fmt="o")
        ends.append((role, float(steps[-1]), float(line[-1]), colour))
    if ends:
        style.label_ends(axes, ends)
        _x_axis(axes, x, tables)
    return bool(ends)


def _draw_speed(axes: Axes, tables: RunTables, _: str = SECONDS) -> bool:
    seconds, values = tables.updates_of(SPEED, SECONDS)
    if len(seconds) < style.FEW:
        _empty(axes, "too few updates yet")
        return False
    axes.plot(seconds, values, color=style.OTHERS[-1])
    axes.fill_between(seconds, 0, values, color=style.OTHERS[-1], alpha=0.12, linewidth=0)
    axes.yaxis.set_major_formatter(lambda value, _: style.counted(value))
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("agent-steps per second")
    _x_axis(axes, SECONDS, tables)
    return True


def learning(tables: RunTables) -> Figure:
    """An overview in four panels."""
    made = style.figure("Training", _title(tables), size=(13.6, 8.4))
    (one, two), (three, four) = made.subplots(2, 2)
    if _can_win(tables):
        has_past = _has_win_rate(tables, STEPS, against_past=True)
        _draw_win_rate(one, tables, STEPS, against_past=has_past)
        one.set_title("rounds won against past checkpoints of the other side" if has_past else "rounds won")
    else:
        counted = GAMES[tables.run.config.game].shared_score if tables.run.config.game in GAMES else ""
        _by_role(one, tables, STEPS, lambda role: tables.score(role, STEPS))
        one.set_title(f"seconds {counted} in a round against opponents" if counted else "score of a round")
    if _draw_rating(two, tables):
        two.set_title("rating, with 95 % intervals")
    else:
        _draw_speed(two, tables)
        two.set_title("training speed")
    _draw_reward(three, tables, STEPS)
    three.set_title("reward of a round")
    _draw_length(four, tables)
    four.set_title("length of rounds")
    return made


class _Comparison(NamedTuple):
    """A chart of several runs."""

    name: str
    title: str
    curve: Callable[[RunTables, str, str], Curve]
    by_role: bool = True
    is_share: bool = False
    note: str = ""


def _past_win_rate(tables: RunTables, role: str, x: str) -> Curve:
    found = tables.win_rate(role, x, against_past=True)
    return found if len(found) else tables.win_rate(role, x, against_past=False)


def _rating_curve(tables: RunTables, role: str, x: str) -> Curve:
    at, values = tables.rating(role, x)
    line = smooth(values, SMOOTH)
    return Curve(at, line, line, line)


_COMPARISONS = (
    _Comparison(
        "win_rate",
        "Rounds won in training",
        _past_win_rate,
        is_share=True,
        note="against past checkpoints of the other side, where there are any; ",
    ),
    _Comparison("reward", "Reward of a round", lambda tables, role, x: tables.mean(f"{role}_reward", x)),
    _Comparison("rating", "Rating", _rating_curve),
    _Comparison("length", "Length of rounds", lambda tables, _, x: tables.mean("length_s", x), by_role=False),
)


def write_comparison(runs: Sequence[RunFolder], folder: Path) -> list[Path]:
    """Several runs in the same charts: a panel for each role, a colour for each run."""
    names = [run.run_id for run in runs]
    if len(set(names)) < len(names):
        raise GodojoError("the same run is named twice; compare different ones")
    games = {run.config.game for run in runs}
    if len(games) > 1:
        raise GodojoError(f"runs of one game can be compared, not of {' and '.join(sorted(games))}")
    all_tables = [RunTables(run) for run in runs]
    make_folder(folder)
    written = []
    with style.look():
        for x, suffix in ((STEPS, ""), (SECONDS, "_by_time")):
            for chart in _COMPARISONS:
                made = _compared(chart, all_tables, x)
                if made is not None:
                    written.append(_write(folder / f"compare_{chart.name}{suffix}.png", made))
    return written


def _compared(chart: _Comparison, all_tables: Sequence[RunTables], x: str) -> Figure | None:
    roles = all_tables[0].roles if chart.by_role else all_tables[0].roles[:1]
    curves = {role: [chart.curve(tables, role, x) for tables in all_tables] for role in roles}
    if not any(len(curve) for found in curves.values() for curve in found):
        return None
    made = style.figure(chart.title, f"{chart.note}bands: 95 % intervals", size=(6.6 * max(len(roles), 1.4), 5.4))
    shades = style.colours(len(all_tables))
    for panel, role in zip(made.subplots(1, len(roles), squeeze=False)[0], roles, strict=True):
        if chart.is_share:
            style.percent_axis(panel)
        with _lines(panel, x, *all_tables) as add:
            for curve, tables, shade in zip(curves[role], all_tables, shades, strict=True):
                add(curve, tables.run.run_id, shade)
        if chart.by_role:
            panel.set_title(role, color=all_tables[0].colours[role])
    return made


def draw_league(report: LeagueReport) -> bytes:
    """The league as a PNG: who beats whom, and all ratings."""
    names = [standing.name for standing in report.standings]
    side = max(2.6 + 0.62 * len(names), 4.4)
    with style.look():
        made = style.figure(
            "Everybody against everybody",
            f"{report.run} · {report.rounds} rounds a pairing · {report.arenas} arenas",
            size=(2 * side + 1.8, side + 1.2),
        )
        left, right = made.subplots(1, 2)
        _heatmap(left, report, names)
        _ratings(right, report, names)
        return _png(made)


def _heatmap(axes: Axes, report: LeagueReport, names: list[str]) -> None:
    tints = style.role_colours(report.game, (report.rows, report.columns))
    rates = np.array([[cell.rate for cell in row] for row in report.matrix])
    axes.imshow(rates, cmap=style.WINS, vmin=0.0, vmax=1.0, aspect="equal")
    for row, cells in enumerate(rates):
        for column, rate in enumerate(cells):
            shade = "white" if rate < 0.2 else style.INK
            axes.text(column, row, f"{100 * rate:.0f}", ha="center", va="center", color=shade, fontweight="bold")
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(f"{report.columns} of", color=tints[report.columns], fontweight="bold")
    axes.set_ylabel(f"{report.rows} of", color=tints[report.rows], fontweight="bold")
    axes.set_title(f"rounds won by the {report.rows}, in per cent")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _ratings(axes: Axes, report: LeagueReport, names: list[str]) -> None:
    at = np.arange(len(names))
    ends = []
    for role, colour in style.role_colours(report.game, (report.rows, report.columns)).items():
        found = [standing.ratings[role] for standing in report.standings]
        middle, low, high = (np.array([getattr(one, name) for one in found]) for name in ("rating", "low", "high"))
        style.band(axes, at, low, middle, high, colour, marker="o")
        ends.append((role, float(at[-1]), float(middle[-1]), colour))
    style.label_ends(axes, ends)
    axes.set_xticks(at, names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_title("rating, and its 95 % interval")


def draw_exploitability(game: str, found: Sequence[Exploitability]) -> bytes:
    """How opponents learnt to beat each policy, as a PNG, beside what its other opponents reach."""
    tints = style.role_colours(game, [one.victim for one in found])
    with style.look():
        title = f"{found[0].minutes:g} minutes each · dashed: the best script · dotted: the policy's own opponent"
        made = style.figure("Opponents that learn to beat one policy", title, size=(6.4 * len(found) + 1.0, 5.4))
        for axes, one in zip(np.atleast_1d(made.subplots(1, len(found))), found, strict=True):
            ends = []
            for learnt, colour in ((one.response, style.INK), (one.informed, style.QUIET)):
                axes.plot([point.minutes for point in learnt.curve], [p.win_rate for p in learnt.curve], color=colour)
                axes.plot([one.minutes], [learnt.wins.rate], "o", color=colour)
                name = "all-knowing" if learnt is one.informed else "by sight"
                ends.append((name, one.minutes, learnt.wins.rate, colour))
            for level, line in ((one.script, "--"), (one.before, ":")):
                if level is not None:
                    axes.axhline(level.rate, color=style.INK, linestyle=line, linewidth=1.2)
            axes.set_xlim(0.0, 1.02 * one.minutes)
            style.percent_axis(axes)
            style.label_ends(axes, ends)
            axes.set_xlabel("minutes of training")
            axes.set_title(f"against the {one.victim}", color=tints[one.victim])
        return _png(made)
