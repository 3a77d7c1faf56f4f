"""What an update's time goes into: trains tag as `python3 dojo.py train` does, and prints milliseconds an update.

python3 dojo.py run benchmarks/update_split.py --updates 60
"""

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from godojo.engines.base import Worlds
from godojo.learn import ppo
from godojo.learn.kernels.policy import KernelPolicyRunner
from godojo.learn.rollout import RolloutWorker
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.training import Training
from godojo.opponents import make_opponent
from godojo.training.args import TrainArgs
from godojo.training.setup import prepared

WARM_UP = 5
PARTS: tuple[tuple[Any, str, str], ...] = (
    (PpoSelfPlay, "_collect_rollout", "playing, by the clock"),
    (RolloutWorker, "decide", "  everything on the roles' two threads, both together"),
    (RolloutWorker, "store_observation", "    looking"),
    (KernelPolicyRunner, "act", "    policies deciding"),
    (RolloutWorker, "store_results", "    noting results"),
    (RolloutWorker, "compute_returns_and_advantage", "values and advantages, both roles"),
    (ppo, "update", "gradients, both roles"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=60)
    updates = parser.parse_args().updates
    spent: defaultdict[str, float] = defaultdict(float)
    for owner, name, label in PARTS:
        setattr(owner, name, timed(getattr(owner, name), label, spent))
    for name in ("wander", "sighted", "oracle"):
        kind = type(make_opponent(name, "seeker", game="tag"))
        kind.act = timed(kind.act, "    scripted slots", spent)  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        with prepared(TrainArgs(game="tag", steps=10**12, seed=1), lambda _: None) as training:
            kind_of_worlds: type[Worlds] = type(training.worlds)
            stepping = timed(kind_of_worlds.step, "  the twin, by the clock", spent)
            kind_of_worlds.step = stepping  # type: ignore[method-assign]
            seen, begun, used = 0, 0.0, 0.0

            def report(_: object) -> None:
                nonlocal seen, begun, used
                seen += 1
                if seen == WARM_UP:
                    spent.clear()
                    begun, used = time.perf_counter(), time.process_time()
                if seen == WARM_UP + updates:
                    begun, used = time.perf_counter() - begun, time.process_time() - used
                    training.stop()

            training.train(report)
            assert isinstance(training, Training)
            rows = training.agent_steps / training.learner.updates
    write(f"{1e3 * begun / updates:.0f} ms an update by the clock, {1e3 * used / updates:.0f} ms of processor time,")
    write(f"{rows * updates / begun / 1e3:.0f} k agent-steps/s; of which, in ms:")
    for label in dict.fromkeys([*(label for _, _, label in PARTS), "    scripted slots", "  the twin, by the clock"]):
        write(f"{1e3 * spent[label] / updates:6.1f} {label}")
    return 0


def timed(function: Callable[..., Any], label: str, spent: defaultdict[str, float]) -> Callable[..., Any]:
    def measured(*given: Any, **named: Any) -> Any:
        begun = time.perf_counter()
        try:
            return function(*given, **named)
        finally:
            spent[label] += time.perf_counter() - begun

    return measured


def write(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
