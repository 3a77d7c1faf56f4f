"""This checkout beside another one, in turns: processor time of the twin and of training, and their ratio.

python3 dojo.py run benchmarks/against.py ../other-checkout --turns 6

Processor time hardly depends on what else the machine does; agent-steps per second by the clock do.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PARTS = ("twin", "training")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="a checkout of Godojo")
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--part", choices=PARTS, action="append")
    asked = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    for part in asked.part or PARTS:
        found: dict[str, list[float]] = {"here": [], "other": []}
        workers = {"here": start(here, part, asked.seconds), "other": start(asked.other, part, asked.seconds)}
        try:
            for _ in range(asked.turns + 1):
                for name, worker in workers.items():
                    found[name].append(turn(worker))
        finally:
            for worker in workers.values():
                worker.kill()
        here_ns, other_ns = (statistics.median(found[name][1:]) for name in ("here", "other"))
        samples = json.dumps({name: [round(sample) for sample in found[name][1:]] for name in found})
        each = f"{here_ns:.0f} ns of processor time an agent-step here, {other_ns:.0f} there"
        sys.stdout.write(f"{part}: {each}: {other_ns / here_ns:.2f} times as fast; {samples}\n")
    return 0


def start(checkout: Path, part: str, seconds: float) -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", f"import runpy; runpy.run_path({__file__!r})['work']({part!r}, {seconds})"]
    environment = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src")}
    return subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def turn(worker: "subprocess.Popen[str]") -> float:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def work(part: str, seconds: float) -> None:
    """Measures once for every line of input: nanoseconds of processor time an agent-step."""
    step: Any = twin() if part == "twin" else training()
    step()
    for _ in sys.stdin:
        begun, used, steps = time.perf_counter(), time.process_time(), 0
        while time.perf_counter() - begun < seconds or not steps:
            steps += step()
        sys.stdout.write(f"{1e9 * (time.process_time() - used) / steps}\n")
        sys.stdout.flush()


def twin() -> Any:
    """As `bench sim` on one core."""
    import numba

    from godojo.bench.measure import RING, agent_count, random_actions
    from godojo.engines.make import make_vec
    from godojo.games.tag.numpy_baseline import baseline

    numba.set_num_threads(1)
    worlds = make_vec("tag", num_worlds=4096, seed=1, **baseline().options)
    ring, turns = random_actions(worlds), [0]

    def step() -> int:
        worlds.step(ring[turns[0] % RING])
        turns[0] += 1
        return agent_count(worlds)

    return step


def training() -> Any:
    """As `bench train`'s learner alone, with the default preset."""
    from godojo.bench.learners import OwnLearner
    from godojo.learn.presets import learner_settings, read_preset

    learner = OwnLearner(1, "tag", learner_settings("ppo", read_preset("tag", "default").ppo), 300.0)

    def step() -> int:
        before = learner.agent_steps
        learner.update()
        return learner.agent_steps - before

    return step


if __name__ == "__main__":
    sys.exit(main())
