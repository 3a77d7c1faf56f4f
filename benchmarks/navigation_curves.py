"""How navigation is learnt: success, collisions and comfort over training, drawn from the tables of runs.

python3 dojo.py run benchmarks/navigation_curves.py docs/pictures/navigation-training.png RUN RUN
"""

import csv
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from godojo.runs.folder import RunFolder

WINDOW = 500
"""Rounds that a point of a curve is the mean of."""
COLOURS = ("#2457a6", "#d08700", "#3d8b4f", "#c2352b")
PANELS = ("success", "without a collision", "without a comfort warning")


def curves(run: RunFolder) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Agent-steps, and the share of the last rounds for each panel."""
    with run.metrics.open(newline="") as file:
        rows = list(csv.DictReader(file))
    steps = np.array([int(row["agent_steps"]) for row in rows])
    found = {
        "success": np.array([row["winner"] == "walker" for row in rows]),
        "without a collision": np.array([float(row["walker_collision"]) == 0.0 for row in rows]),
        "without a comfort warning": np.array([float(row["walker_score"]) == 0.0 for row in rows]),
    }
    window = min(WINDOW, max(len(rows) // 20, 1))
    kernel = np.ones(window) / window
    shares = {name: np.convolve(held.astype(float), kernel, mode="valid") for name, held in found.items()}
    return steps[window - 1 :], shares


def main(target: Path, names: list[str]) -> None:
    figure = Figure(figsize=(12, 4.2), dpi=130, layout="constrained", facecolor="white")
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for name, colour in zip(names, COLOURS, strict=False):
        run = RunFolder.open(name)
        steps, shares = curves(run)
        for axes, panel in zip(panels, PANELS, strict=True):
            axes.plot(steps / 1e6, 100 * shares[panel], color=colour, linewidth=1.8, label=run.name)
    for axes, panel in zip(panels, PANELS, strict=True):
        axes.set_title(panel, loc="left")
        axes.set_xlabel("million decisions")
        axes.set_ylim(0, 101)
        axes.grid(axis="y", color="#e3e6eb", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("% of rounds while training")
    panels[0].legend(frameon=False, loc="lower right")
    figure.savefig(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
