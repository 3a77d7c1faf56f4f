"""How navigation is learnt: success, collisions and comfort over training, drawn from the tables of runs.

python3 dojo.py run benchmarks/navigation_curves.py docs/pictures/navigation-training.png RUN RUN ...

Each trainer has a row of panels; a run's curve is named after the preset in the run's command.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from godojo.games.navigation.game import IN_TIME_S
from godojo.runs.folder import RunFolder

WINDOW = 500
"""Rounds that a point of a curve is the mean of."""
COLOURS = ("#2457a6", "#d08700", "#3d8b4f", "#c2352b", "#7a4fa3")
PANELS = ("success", "without a collision", "without a comfort warning")
TRAINERS = {"ppo": "built-in PPO", "sac": "built-in SAC", "sb3": "Stable-Baselines3"}


def curves(run: RunFolder) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Agent-steps, and the share of the last rounds for each panel."""
    with run.metrics.open(newline="") as file:
        rows = list(csv.DictReader(file))
    steps = np.array([int(row["agent_steps"]) for row in rows])
    found = {
        "success": np.array([row["winner"] == "walker" and float(row["length_s"]) <= IN_TIME_S for row in rows]),
        "without a collision": np.array([float(row["walker_collision"]) == 0.0 for row in rows]),
        "without a comfort warning": np.array([float(row["walker_score"]) == 0.0 for row in rows]),
    }
    window = min(WINDOW, max(len(rows) // 10, 1))
    kernel = np.ones(window) / window
    shares = {name: np.convolve(held.astype(float), kernel, mode="valid") for name, held in found.items()}
    return steps[window - 1 :], shares


def preset_of(run: RunFolder) -> str:
    words = run.config.command
    return words[words.index("--preset") + 1] if "--preset" in words else "default"


def main(target: Path, names: list[str]) -> None:
    runs = [RunFolder.open(name) for name in names]
    presets = list(dict.fromkeys(preset_of(run) for run in runs))
    trainers = list(dict.fromkeys(run.config.learner for run in runs))
    figure = Figure(figsize=(12, 0.7 + 3.4 * len(trainers)), dpi=130, layout="constrained", facecolor="white")
    panels = figure.subplots(len(trainers), len(PANELS), sharey=True, squeeze=False)
    for run in runs:
        steps, shares = curves(run)
        colour = COLOURS[presets.index(preset_of(run)) % len(COLOURS)]
        for axes, panel in zip(panels[trainers.index(run.config.learner)], PANELS, strict=True):
            axes.plot(steps / 1e6, 100 * shares[panel], color=colour, linewidth=1.8, label=preset_of(run))
    for row, trainer in zip(panels, trainers, strict=True):
        for axes, panel in zip(row, PANELS, strict=True):
            axes.set_title(f"{TRAINERS[trainer]}: {panel}", loc="left", fontsize=11)
            axes.set_ylim(0, 101)
            axes.grid(axis="y", color="#e3e6eb", linewidth=0.8)
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("% of rounds while training")
    for axes in panels[-1]:
        axes.set_xlabel("million decisions")
    panels[0, 0].legend(frameon=False, loc="lower right")
    figure.savefig(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
