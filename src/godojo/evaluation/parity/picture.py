"""Draws how position errors grow over time."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter

from godojo.evaluation.parity.report import AT_MOST, Curve, Report

_LEAST_M, _MOST_M = 1e-8, 20.0
_BLUE, _AMBER, _RED, _INK = "#2457a6", "#d08700", "#c2352b", "#22262e"
_INKED: tuple[Any, ...] = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")
_UNITS = {1e-8: "≤ 10 nm", 1e-7: "0.1 µm", 1e-6: "1 µm", 1e-5: "10 µm", 1e-4: "0.1 mm", 1e-3: "1 mm", 1e-2: "1 cm"}
_UNITS |= {1e-1: "10 cm", 1.0: "1 m", 10.0: "10 m"}


def draw(report: Report, path: Path) -> None:
    """Writes a PNG: one second from Godot's own states, and whole rounds."""
    with mpl.rc_context({"font.size": 11, **dict.fromkeys(_INKED, _INK)}):
        figure = Figure(figsize=(12, 5.4), dpi=130, layout="constrained", facecolor="white")
        left, right = figure.subplots(1, 2, sharey=True)
        figure.suptitle(
            f"How far the twin is from Godot: {report.game}, {report.episodes} episodes in {len(report.arenas)} arenas",
            fontsize=15,
            fontweight="bold",
            color=_INK,
        )
        _panel(
            left,
            report.one_second,
            "One second, begun with Godot's state" if report.mechanisms is not None else "The first second",
            ("median", AT_MOST["one_second_median_position_error_m"]),
            ("95th percentile", AT_MOST["one_second_p95_position_error_m"]),
        )
        _panel(
            right,
            report.whole_round,
            "Whole rounds from the same start",
            ("median", AT_MOST["median_position_error_m"]),
            ("90th percentile", AT_MOST["p90_position_error_m"]),
        )
        left.set_ylabel("position error")
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        figure.savefig(path)


def _panel(axes: Axes, curve: Curve, title: str, *targets: tuple[str, float]) -> None:
    seconds = np.array(curve.seconds)
    low, median, p90, high, worst = (
        np.clip(np.array(values), _LEAST_M, _MOST_M)
        for values in (curve.low_m, curve.median_m, curve.p90_m, curve.high_m, curve.worst_m)
    )
    axes.fill_between(seconds, low, high, color=_BLUE, alpha=0.18, linewidth=0, label="90 % of all agents")
    axes.plot(seconds, worst, color="#8a93a3", linewidth=1.0, label="worst agent")
    axes.plot(seconds, p90, color=_BLUE, linewidth=1.2, linestyle=(0, (4, 2)), label="90th percentile")
    axes.plot(seconds, median, color=_BLUE, linewidth=2.2, label="median")
    for (name, target_m), colour in zip(targets, (_AMBER, _RED), strict=True):
        axes.axhline(target_m, color=colour, linewidth=1.4)
        words = f"target, {name}: {target_m * 1000:g} mm"
        place, halo = axes.get_yaxis_transform(), [withStroke(linewidth=3, foreground="white")]
        axes.text(0.985, target_m * 1.3, words, color=colour, ha="right", transform=place, path_effects=halo)
    axes.set_yscale("log")
    axes.set_ylim(_LEAST_M, _MOST_M)
    axes.set_xlim(0, seconds[-1] if len(seconds) else 1)
    axes.yaxis.set_major_locator(FixedLocator(list(_UNITS)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _unit(value)))
    axes.minorticks_off()
    axes.grid(axis="y", color="#e3e6eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=12, loc="left")
    axes.set_xlabel("seconds")


def _unit(value: float) -> str:
    return next((words for edge, words in _UNITS.items() if abs(value / edge - 1.0) < 1e-6), "")
