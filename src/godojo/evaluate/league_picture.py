"""The league as a picture: who beats whom, and everybody's rating."""

import io
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from godojo.evaluate.league import LeagueReport

_INK, _COLOURS = "#22262e", ("#c2352b", "#2457a6")
_INKED: tuple[Any, ...] = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")


def draw(report: LeagueReport) -> bytes:
    """A PNG."""
    names = [standing.name for standing in report.standings]
    side = 1.6 + 0.62 * len(names)
    with mpl.rc_context({"font.size": 11, **dict.fromkeys(_INKED, _INK)}):
        figure = Figure(figsize=(2 * side + 1.4, side + 1.0), dpi=130, layout="constrained", facecolor="white")
        left, right = figure.subplots(1, 2)
        figure.suptitle(
            f"{report.run}: {len(names)} moments of its training against each other, {report.rounds} rounds a pairing",
            fontsize=14,
            fontweight="bold",
            color=_INK,
        )
        _heatmap(left, report, names)
        _ratings(right, report, names)
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
    return picture.getvalue()


def _heatmap(axes: Axes, report: LeagueReport, names: list[str]) -> None:
    rates = np.array([[cell.rate for cell in row] for row in report.matrix])
    axes.imshow(rates, cmap="RdBu_r", vmin=0.0, vmax=1.0, aspect="equal")
    for row, cells in enumerate(rates):
        for column, rate in enumerate(cells):
            shade = "white" if abs(rate - 0.5) > 0.3 else _INK
            axes.text(column, row, f"{100 * rate:.0f}", ha="center", va="center", color=shade)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(f"{report.columns} of")
    axes.set_ylabel(f"{report.rows} of")
    axes.set_title(f"rounds won by the {report.rows}, in per cent", fontsize=12, loc="left")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _ratings(axes: Axes, report: LeagueReport, names: list[str]) -> None:
    at = np.arange(len(names))
    for role, colour in zip((report.rows, report.columns), _COLOURS, strict=True):
        found = [standing.ratings[role] for standing in report.standings]
        middle, low, high = (np.array([getattr(one, name) for one in found]) for name in ("rating", "low", "high"))
        axes.fill_between(at, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.plot(at, middle, color=colour, linewidth=2.0, marker="o", label=role)
    axes.set_xticks(at, names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_title("rating, and its 95 % interval", fontsize=12, loc="left")
    axes.grid(axis="y", color="#e3e6eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
