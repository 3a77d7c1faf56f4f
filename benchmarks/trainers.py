"""Every trainer on the same small task for the same time, as rows of a table.

    python3 dojo.py run benchmarks/trainers.py                                      navigation on the twin, 60 s each
    python3 dojo.py run benchmarks/trainers.py --task chase --trainers built-in sac single-file
    python3 dojo.py run benchmarks/trainers.py --task crossing --seconds 60 --seed 2

navigation has the game's own rewards, per_metre those of that preset. Success there is that of 200 rounds with
deterministic actions, for the single file that of the last rounds of training. chase (continuous actions) and crossing
(one discrete action) are godot_rl games of tests/godot_rl_games/arcade in two real engines; the figure is the mean
reward of the last 100 episodes of training.
Times are on the clock, compilation excluded where the trainer does. A trainer is one entry of `TRAINERS`.
"""

import argparse
import csv
import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parent.parent
ARCADE = ROOT / "tests/godot_rl_games/arcade"
TRAINERS: dict[str, dict[str, Any]] = {
    "built-in": {},
    "ppo": {"trainer": "sb3", "algorithm": "ppo"},
    "sac": {"trainer": "sb3", "algorithm": "sac"},
    "td3": {"trainer": "sb3", "algorithm": "td3"},
    "dqn": {"trainer": "sb3", "algorithm": "dqn"},
    "rllib": {"trainer": "rllib"},
    "single-file": {},
}
"""The arguments of `godojo.train` for each row; the single file is a program of its own."""
EPISODES = 100
ROUNDS = 200


class Task(NamedTuple):
    """What is trained, and the trainers that can."""

    arguments: dict[str, Any]
    trainers: tuple[str, ...]
    figure: str


TASKS = {
    "navigation": Task({"game": "navigation"}, ("built-in", "ppo", "rllib", "single-file", "sac", "td3"), "success"),
    "per_metre": Task(
        {"game": "navigation", "preset": "per_metre"}, ("built-in", "ppo", "rllib", "sac", "td3"), "success"
    ),
    "chase": Task(
        {"project": ARCADE, "engine": "godot"}, ("built-in", "ppo", "rllib", "sac", "td3", "single-file"), "reward"
    ),
    "crossing": Task(
        {"project": ARCADE, "engine": "godot"}, ("built-in", "ppo", "rllib", "dqn", "single-file"), "reward"
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=TASKS, default="navigation")
    parser.add_argument("--trainers", nargs="+", choices=TRAINERS, help="by default all that can learn the task")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    task = TASKS[wanted.task]
    say(f"| trainer | agent-steps | {task.figure} |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = str(Path(folder) / "runs")
        arguments = dict(task.arguments)
        if "project" in arguments:
            arguments["project"] = _one_game(wanted.task, Path(folder) / wanted.task)
        for name in wanted.trainers or task.trainers:
            measured = _single_file if name == "single-file" else _trained
            steps, figure = measured(task, arguments, name, wanted.seconds, wanted.seed)
            say(f"| {name} | {steps:,} | {figure} |")


def _one_game(name: str, folder: Path) -> Path:
    """A copy of the project with this game as its main scene."""
    project = shutil.copytree(ARCADE, folder)
    file = project / "project.godot"
    file.write_text(file.read_text("utf-8").replace("res://chase.tscn", f"res://{name}.tscn"), encoding="utf-8")
    return project


def _trained(task: Task, arguments: dict[str, Any], name: str, seconds: float, seed: int) -> tuple[int, str]:
    import godojo

    steps = 0

    def note(status: Any) -> None:
        nonlocal steps
        steps = status.agent_steps

    run = godojo.train(
        **arguments, **TRAINERS[name], minutes=seconds / 60, seed=seed, run_id=name, force=True, progress=note
    )
    if task.figure == "success":
        evaluation: Any = run.evaluate(episodes=ROUNDS)
        share = next(iter(evaluation.measures.values()))
        return steps, f"{share.rate:.1%} ({100 * share.low:.1f} to {100 * share.high:.1f})"
    with (run.path / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rewards = [float(row[f"{run.config.roles[0]}_reward"]) for row in csv.DictReader(file)]
    return steps, f"{np.mean(rewards[-EPISODES:]):.2f}" if rewards else "no episode has ended"


def _single_file(task: Task, arguments: dict[str, Any], _: str, seconds: float, seed: int) -> tuple[int, str]:
    spec = importlib.util.spec_from_file_location("ppo_single_file", ROOT / "examples/ppo_single_file.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = example  # dataclasses look themselves up there
    spec.loader.exec_module(example)
    where: dict[str, Any] = {"project": str(arguments["project"])} if "project" in arguments else {"game": "navigation"}
    if "game" in where:
        where["gamma"] = 0.95  # as in the default preset
    found = example.train(example.Args(**where, seconds=seconds, seed=seed, save=""))
    return round(found["steps_per_s"] * seconds), f"{found.get(task.figure, float('nan')):.3g}, in training"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
