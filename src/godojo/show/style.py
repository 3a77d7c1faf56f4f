"""One look for charts and scenes: colours, large letters, little ink."""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, Locator, MaxNLocator

from godojo.show.colours import BACKDROP as BACKDROP
from godojo.show.colours import INK as INK
from godojo.show.replay import can_replay, replay_spec
from godojo.units import counted as counted

QUIET, GRID, PAPER = "#6d6f7c", "#e7e2d8", "#fffdf9"
FIRST, SECOND = "#ff7810", "#1b55d8"
"""The colours of the first and the second role of a game that has no colours of its own."""
OTHERS = ("#0f8a74", "#b0306a", "#7a4fc9", "#c79a06", "#3f7fae", "#5d5a74")
"""For further roles, terms and runs; distinguishable for every kind of colour vision."""
WINS = LinearSegmentedColormap.from_list("wins", [SECOND, "#9db8f2", "#faf6ee", "#ffc394", FIRST])
"""From all wins of the second role to all wins of the first."""
SIZE = (9.6, 5.4)
DPI = 150
FEW = 3
MOST_TICKS = 6
"""On the x axis, so that labels do not touch."""


def role_colours(game: str, roles: Sequence[str]) -> dict[str, str]:
    """By role: the colour of the game's team of that name, or the next in the palette."""
    teams = {team.name: team.colour for team in replay_spec(game).teams} if can_replay(game) else {}
    palette = itertools.cycle((FIRST, SECOND, *OTHERS))
    return {role: teams.get(role, colour) for role, colour in zip(roles, palette, strict=False)}


def colours(count: int) -> list[str]:
    return [OTHERS[place % len(OTHERS)] for place in range(count)]


@contextmanager
def look() -> Iterator[None]:
    """The style of everything drawn in the block."""
    inked = dict.fromkeys(("text.color", "axes.titlecolor"), INK)
    quiet = dict.fromkeys(("axes.labelcolor", "xtick.color", "ytick.color"), QUIET)
    values: Any = {
        **inked,
        **quiet,
        "font.family": "DejaVu Sans",  # comes with matplotlib, so charts look the same everywhere
        "font.size": 13,
        "axes.titlesize": 14,
        "axes.titlelocation": "left",
        "axes.titlepad": 12,
        "axes.titleweight": "bold",
        "axes.facecolor": PAPER,
        "figure.facecolor": PAPER,
        "axes.edgecolor": "#b9b4a8",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
        "axes.grid": True,
        "axes.grid.axis": "y",
        "axes.axisbelow": True,
        "axes.formatter.useoffset": False,
        "grid.color": GRID,
        "grid.linewidth": 1.0,
        "xtick.major.size": 4,
        "ytick.major.size": 0,
        "lines.linewidth": 2.6,
        "lines.solid_capstyle": "round",
        "legend.frameon": False,
        "figure.constrained_layout.h_pad": 0.12,
        "figure.constrained_layout.w_pad": 0.14,
    }
    with mpl.rc_context(values):
        yield


def figure(title: str, subtitle: str = "", *, size: tuple[float, float] = SIZE) -> Figure:
    """An empty picture with its headline."""
    made = Figure(figsize=size, dpi=DPI, layout="constrained")
    made.suptitle(title, x=0.012, ha="left", fontsize=19, fontweight="bold", color=INK)
    if subtitle:
        made.supxlabel(subtitle, x=0.988, ha="right", fontsize=10, color=QUIET)
    return made


def band(axes: Axes, at: Any, low: Any, middle: Any, high: Any, colour: str, **words: Any) -> None:
    """A line within its bounds; dots where there are too few points for a line."""
    if len(at) < FEW:
        axes.errorbar(
            at, middle, [np.subtract(middle, low), np.subtract(high, middle)], color=colour, fmt="o", capsize=4
        )
    axes.fill_between(at, low, high, color=colour, alpha=0.16, linewidth=0)
    axes.plot(at, middle, color=colour, **words)


def label_ends(axes: Axes, ends: Sequence[tuple[str, float, float, str]]) -> None:
    """Names at the ends of lines (name, x, y, colour), moved apart where they would overlap."""
    low, high = axes.get_ylim()
    gap = (high - low) * 0.075
    placed: list[float] = []
    for _, _, y, _ in sorted(ends, key=lambda end: end[2]):
        placed.append(max(y, placed[-1] + gap) if placed else y)
    over = placed[-1] - max(high, max(y for _, _, y, _ in ends)) if placed else 0.0
    for (name, x, _, colour), y in zip(sorted(ends, key=lambda end: end[2]), placed, strict=True):
        axes.annotate(
            name,
            (x, y - max(over, 0.0)),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontweight="bold",
            annotation_clip=False,
        )


def count_axis(axes: Axes, label: str) -> None:
    """Large counts as 2.5 M."""
    axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: counted(value)))
    axes.set_xlabel(label)


class TimeLocator(Locator):
    """A few ticks at round times: every 10 s, every minute, every half an hour."""

    STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200)

    def __call__(self) -> Sequence[float]:
        assert self.axis is not None
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        step = next((step for step in self.STEPS_S if vmax / step <= MOST_TICKS), self.STEPS_S[-1])
        ticks: np.ndarray = np.arange(np.ceil(max(vmin, 0.0) / step), np.floor(vmax / step) + 1) * step
        return list(ticks)


def time_axis(axes: Axes) -> None:
    axes.xaxis.set_major_locator(TimeLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: clock(value)))
    axes.set_xlabel("time spent training")


def clock(seconds: float) -> str:
    """30 s, 2 min, 1:30 h."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g} min"
    return f"{seconds / 3600:.3g} h"


def percent_axis(axes: Axes) -> None:
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f} %"))
    axes.set_ylim(-0.02, 1.02)
