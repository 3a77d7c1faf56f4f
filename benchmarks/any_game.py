"""Small godot_rl games learnt in the same time: our defaults, our former ones, and SB3 as godot_rl calls it.

    python3 dojo.py run benchmarks/any_game.py                                  all six games, 90 s each
    python3 dojo.py run benchmarks/any_game.py --games chase jumper --seconds 60 --seed 2
    python3 dojo.py run benchmarks/any_game.py --steps 100000 --learners godojo sb3      the same number of decisions

The games are scenes of tests/godot_rl_games/arcade. Each learner plays two processes of a game for the same time on the
clock, starts and compilation excluded. With --steps, both make the same number of decisions instead: a busy machine
then changes nothing, and neither gains from stepping faster. A reward is the mean over the last 100 episodes.
SB3 is PPO with the settings of godot_rl's own example (n_steps 32, ent_coef 0.0001, else SB3's defaults), through the
`godot-rl` package from PyPI, which takes one policy.
"""

import argparse
import csv
import json
import os
import shlex
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

ARCADE = Path(__file__).parent.parent / "tests/godot_rl_games/arcade"
GAMES = ("chase", "jumper", "escort", "crossing", "driving", "recall")
PROCESSES = 2
EPISODES = 100
SLOWEST_PER_S = 100
"""A learner that makes fewer decisions per second has failed."""
FORMER = {
    "n_steps": 32,
    "sequence_length": 0,
    "n_minibatches": 1,
    "n_epochs": 1,
    "learning_rate": 2e-3,
    "final_learning_rate": 2e-4,
    "gamma": 0.995,
    "ent_coef": 0.01,
    "normalize_reward": False,
}
"""The defaults that games of the user's own had before they were derived from the game."""


class Budget(NamedTuple):
    """How long a learner may train: by the clock, unless there is a number of decisions."""

    seconds: float
    steps: int | None


Result = tuple[dict[str, float], float]
"""The mean reward by role, and decisions a second."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=GAMES)
    parser.add_argument("--learners", nargs="+", choices=("random", "former", "godojo", "sb3"), default=None)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--steps", type=int, help="decisions of all agents, instead of seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.child:
        say(json.dumps(sb3(**json.loads(wanted.child))))
        return
    learners = wanted.learners or ("random", "former", "godojo", "sb3")
    say("| game | " + " | ".join(learners) + " |")
    say("|---" * (len(learners) + 1) + "|")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = str(Path(folder) / "runs")
        for game in wanted.games:
            project = one_game(game, Path(folder) / game)
            budget = Budget(wanted.seconds, wanted.steps)
            found = [measured(learner, project, budget, wanted.seed) for learner in learners]
            say(f"| {game} | " + " | ".join(map(words, found)) + " |")


def one_game(name: str, folder: Path) -> Path:
    """An imported copy of the project with this game as its main scene."""
    from godojo.engines.godot.find import find
    from godojo.engines.godot.project import prepared_project

    project = shutil.copytree(ARCADE, folder)
    file = project / "project.godot"
    file.write_text(file.read_text("utf-8").replace("res://chase.tscn", f"res://{name}.tscn"), encoding="utf-8")
    prepared_project(find(), project)
    return project


def measured(learner: str, project: Path, budget: Budget, seed: int) -> Result | None:
    if learner == "random":
        return at_random(project, budget.seconds / 5, seed)
    if learner == "sb3":
        return None if project.name == "escort" else sb3_in_a_process(project, budget, seed)
    return godojo_trained(project, budget, seed, FORMER if learner == "former" else {})


def at_random(project: Path, seconds: float, seed: int) -> Result:
    from godojo import open_game
    from godojo.engines.random_play import play_randomly

    with open_game(project, num_processes=PROCESSES, seed=seed) as worlds:
        chance = np.random.default_rng(seed)
        returns: dict[str, list[float]] = {name: [] for name in worlds.roles}
        steps, begun = 0, time.monotonic()
        while (passed := time.monotonic() - begun) < seconds:
            for role in worlds.roles.values():
                play_randomly(role, chance)
            worlds.step()
            steps += 1
            for name, role in worlds.roles.items():
                returns[name] += role.final_score[role.terminated | role.truncated].tolist()
        agents = sum(role.acted.size for role in worlds.roles.values())
    return {name: float(np.mean(values)) for name, values in returns.items()}, steps * agents / passed


def godojo_trained(project: Path, budget: Budget, seed: int, settings: dict[str, Any]) -> Result:
    import godojo

    steps_per_s = 0.0

    def note(status: Any) -> None:
        nonlocal steps_per_s
        steps_per_s = status.steps_per_s

    how: dict[str, Any] = {"minutes": budget.seconds / 60} if budget.steps is None else {"steps": budget.steps}
    run = godojo.train(project=project, settings=settings, seed=seed, progress=note, force=True, **how)
    with (run.path / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    returns = {
        role: [float(row[f"{role}_reward"]) for row in rows if row[f"{role}_reward"]] for role in run.config.roles
    }
    return {role: float(np.mean(values[-EPISODES:])) for role, values in returns.items()}, steps_per_s


def sb3_in_a_process(project: Path, budget: Budget, seed: int) -> Result | None:
    """SB3 with the package's wrapper, which launches the game by itself."""
    from godojo.bench.bridge import fetched_package
    from godojo.engines.godot.find import find
    from godojo.engines.godot.report import Silent
    from godojo.processes import finish

    package = fetched_package(Silent())
    if package is None:
        return None
    game = project / "game.x86_64"  # it starts nothing with another ending
    game.write_text(f'#!/bin/sh\nexec {shlex.join([str(find().program), "--path", str(project)])} "$@"\n', "utf-8")
    game.chmod(0o755)
    child = json.dumps({"game": str(game), "budget": budget, "seed": seed, "port": free_port()})
    done = finish(
        [sys.executable, __file__, "--child", child],
        timeout_s=120.0 + (budget.seconds if budget.steps is None else budget.steps / SLOWEST_PER_S),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])},
    )
    if done.code:
        raise SystemExit(f"SB3 failed in {project.name}: {done.output[-2000:]}")
    reward, speed = json.loads(next(line for line in done.output.splitlines() if line.startswith("[")))
    return {"shared_policy": reward}, speed


def sb3(game: str, budget: list[Any], seed: int, port: int) -> tuple[float, float]:
    """In the child: the mean reward, and decisions a second. One thread, which is faster for such small networks."""
    import torch
    from godot_rl.wrappers.stable_baselines_wrapper import StableBaselinesGodotEnv  # type: ignore[import-not-found]
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.utils import set_random_seed
    from stable_baselines3.common.vec_env.vec_monitor import VecMonitor

    class Clock(BaseCallback):
        def __init__(self) -> None:
            super().__init__()
            self.rewards: list[float] = []

        def _on_training_start(self) -> None:
            self.begun = time.monotonic()

        def _on_step(self) -> bool:
            self.passed = time.monotonic() - self.begun
            self.rewards += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
            return steps is not None or self.passed < seconds

    seconds, steps = budget
    torch.set_num_threads(1)
    set_random_seed(seed)
    env = VecMonitor(
        StableBaselinesGodotEnv(env_path=game, port=port, seed=seed, n_parallel=PROCESSES, framerate=60, speedup=1)
    )
    clock = Clock()
    model = PPO("MultiInputPolicy", env, ent_coef=0.0001, n_steps=32, device="cpu")
    model.learn(steps or 10**9, callback=clock)
    env.close()
    return float(np.mean(clock.rewards[-EPISODES:])), model.num_timesteps / clock.passed


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def words(found: Result | None) -> str:
    if found is None:
        return "none"
    rewards, speed = found
    shown = ", ".join(f"{reward:.2f}" for reward in rewards.values())
    return f"{shown} ({speed / 1e3:.1f} k/s)"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
