"""Short trainings with three seeds: do they reach the recorded win rates, and are they as quick as they were?

    python3 dojo.py run benchmarks/learning_regression.py           thresholds, speed of tests/learning_thresholds.json
    python3 dojo.py run benchmarks/learning_regression.py --record  writes the measured speed to that file

Speed is told as a ratio, so that machines and busy moments can be compared: decisions a second of the training by
those of the bare embedded game with as many worlds, measured right before and after it.
"""

import argparse
import csv
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from godojo.cli import main as godojo
from godojo.engines.make import make_vec
from godojo.engines.random_play import play_randomly
from godojo.evaluation.evaluation import judge

FILE = Path(__file__).parent.parent / "tests/learning_thresholds.json"
LEAST = 0.8
"""Of the recorded ratio."""
BARE_S = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    wanted = parser.parse_args()
    thresholds: dict[str, Any] = json.loads(FILE.read_bytes())
    ratios, failures = [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        bare_speed(thresholds)  # compiles, and warms up
        for seed in thresholds["seeds"]:
            before = bare_speed(thresholds)
            speed = trained_speed(thresholds, seed, folder)
            ratios.append(speed / ((before + bare_speed(thresholds)) / 2))
            say(f"seed {seed}: {speed / 1e3:.0f} k decisions/s, {ratios[-1]:.3f} of the bare game's")
            failures += too_weak(thresholds, seed)
    ratio = float(np.median(ratios))
    recorded = thresholds["speed_ratio"]
    if wanted.record and failures:
        say("thresholds were missed: the speed is not recorded")
    elif wanted.record:
        text = FILE.read_text(encoding="utf-8")
        FILE.write_text(re.sub(r'("speed_ratio": )(null|[\d.]+)', rf"\g<1>{ratio:.3f}", text), encoding="utf-8")
    elif recorded is None:
        say(
            f"speed: {ratio:.3f} of the bare game's; none is recorded to compare it with (--record, on a quiet machine)"
        )
    else:
        say(f"speed: {ratio / recorded:.2f} of what was recorded ({ratio:.3f} by {recorded}); least: {LEAST}")
        failures += ratio < LEAST * recorded
    return 1 if failures else 0


def bare_speed(thresholds: dict[str, Any]) -> float:
    """Decisions of all agents a second, with nobody who learns."""
    worlds = make_vec("tag", num_worlds=thresholds["settings"]["num_worlds"], seed=1, generated_share=1.0)
    chance = np.random.default_rng(0)
    for role in worlds.roles.values():
        play_randomly(role, chance)
    worlds.step()
    agents = sum(role.acted.size for role in worlds.roles.values())
    decisions, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < BARE_S:
        worlds.step()
        decisions += agents
    return decisions / (time.perf_counter() - begun)


def trained_speed(thresholds: dict[str, Any], seed: int, folder: str) -> float:
    """The same of a training, learning and writing included."""
    words = [f"--set={name}={value}" for name, value in thresholds["settings"].items()]
    words += ["--steps", str(thresholds["agent_steps"]), "--seed", str(seed), "--run-id", f"seed{seed}", "--judge", "0"]
    code: object = 0
    try:
        godojo(["train", "tag", *words])
    except SystemExit as ended:
        code = ended.code
    if code:  # one that was stopped on its way says nothing about the level, nor about the speed
        raise SystemExit(f"the training with seed {seed} did not come to its end (exit status {code})")
    with Path(folder, f"seed{seed}/updates.csv").open(encoding="utf-8", newline="") as file:
        *_, last = csv.DictReader(file)
    return float(last["agent_steps"]) / float(last["seconds"])


def too_weak(thresholds: dict[str, Any], seed: int) -> int:
    """How many thresholds were missed."""
    missed = 0
    for role, wins in thresholds["wins"].items():
        found = judge(f"seed{seed}", list(wins), role=role, rounds=thresholds["rounds"])
        for opponent, least in wins.items():
            share = found.verdict(role, opponent).wins
            assert share is not None
            missed += share.rate < least
            told = f"{share.rate:.1%} ({share.low:.1%} to {share.high:.1%}), at least {least:.0%} wanted"
            say(f"seed {seed}: {role} against {opponent} wins {told}")
    return missed


def say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
