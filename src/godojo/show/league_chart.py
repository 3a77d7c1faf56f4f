"""The league as a picture: who beats whom, and all ratings."""

import io

import numpy as np
from matplotlib.axes import Axes

from godojo.evaluation.league import LeagueReport
from godojo.show import style


def draw_league(report: LeagueReport) -> bytes:
    """A PNG."""
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
        picture = io.BytesIO()
        made.savefig(picture, format="png")
    return picture.getvalue()


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
