"""What an update's time goes into: trains tag as `python3 dojo.py train` does, and prints milliseconds an update.

python3 dojo.py run benchmarks/update_split.py --updates 60

Parts are in processor time, which hardly depends on what else the machine does; of all threads, without the parts that
are named before them. The last line is a calculation for a busy machine: how long two idle cores would take at least,
by the processor time of each task, if no thread waited for the interpreter.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from godojo.engines.base import Worlds
from godojo.learn import ppo
from godojo.learn.imitation import Imitation
from godojo.learn.kernels.policy import KernelPolicyRunner
from godojo.learn.kernels.ppo import KernelPpoGradient
from godojo.learn.rollout import RolloutWorker, Task
from godojo.learn.rollout_wins import RolloutWins
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.threads import TaskPool
from godojo.learn.training import Training
from godojo.training.args import TrainArgs
from godojo.training.setup import prepared

WARM_UP = 5
TWIN, REST = "the twin", "the rest"
PARTS: tuple[tuple[Any, str, str], ...] = (
    (RolloutWorker, "play_scripted", "scripted opponents"),
    (Imitation, "ask", "the imitated opponent"),
    (KernelPolicyRunner, "act", "policies deciding"),
    (RolloutWorker, "store_observation", "storing observations"),
    (RolloutWorker, "store_results", "storing results"),
    (RolloutWorker, "decide", "deciding, what is around it"),
    (RolloutWorker, "compute_returns_and_advantage", "values and advantages"),
    (KernelPpoGradient, "__call__", "gradients"),
    (ppo, "update", "updating, what is around the gradients"),
    (RolloutWins, "count", "counting wins"),
    (Training, "_after_step", "recording episodes"),
    (Training, "_log", "logging the update"),
)


class Split:
    """Seconds of processor time by part: of a thread, or of the process for what uses all threads by itself."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._open = threading.local()

    def timed(
        self, function: Callable[..., Any], label: str, clock: Callable[[], float] = time.thread_time
    ) -> Callable[..., Any]:
        def measured(*given: Any, **named: Any) -> Any:
            outer, self._open.inner = getattr(self._open, "inner", 0.0), 0.0
            begun = clock()
            try:
                return function(*given, **named)
            finally:
                took = clock() - begun
                self.spent[label] += took - self._open.inner
                self._open.inner = outer + took

        return measured


class IdleCores:
    """The time that two idle cores would take for the tasks of a pool, which are given out in order."""

    def __init__(self) -> None:
        self.tasks_s, self.clock_s = 0.0, 0.0
        self._run = TaskPool.run

    def run(self, pool: TaskPool, tasks: Sequence[Task], first: Task = lambda: None) -> list[Any]:
        """In place of `TaskPool.run`."""
        taken = [0.0] * (len(tasks) + 1)

        def measured(task: Task, place: int) -> object:
            begun = time.thread_time()
            try:
                return task()
            finally:
                taken[place] = time.thread_time() - begun

        timed = [partial(measured, task, place) for place, task in enumerate((first, *tasks))]
        found = self._run(pool, timed[1:], timed[0])
        cores = [taken[0], 0.0]
        for each_s in taken[1:]:
            cores[cores.index(min(cores))] += each_s
        self.tasks_s, self.clock_s = self.tasks_s + sum(taken), self.clock_s + max(cores)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=60)
    updates = parser.parse_args().updates
    split = Split()
    for owner, name, label in PARTS:
        setattr(owner, name, split.timed(getattr(owner, name), label))
    clock = Split()
    playing = clock.timed(PpoSelfPlay.play, "playing", time.perf_counter)
    PpoSelfPlay.play = playing  # type: ignore[method-assign]
    idle = IdleCores()
    TaskPool.run = lambda *given, **named: idle.run(*given, **named)  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        with prepared(TrainArgs(game="tag", steps=10**12, seed=1), lambda _: None) as training:
            kind_of_worlds: type[Worlds] = type(training.worlds)
            stepping = split.timed(kind_of_worlds.step, TWIN, time.process_time)
            kind_of_worlds.step = stepping  # type: ignore[method-assign]
            seen, begun, used = 0, 0.0, 0.0

            def report(_: object) -> None:
                nonlocal seen, begun, used
                seen += 1
                if seen == WARM_UP:
                    split.spent.clear()
                    clock.spent.clear()
                    idle.tasks_s = idle.clock_s = 0.0
                    begun, used = time.perf_counter(), time.process_time()
                if seen == WARM_UP + updates:
                    begun, used = time.perf_counter() - begun, time.process_time() - used
                    training.stop()

            training.train(report)
            assert isinstance(training, Training)
            rows = training.agent_steps / training.learner.updates
    each = 1e3 / updates
    write(f"{each * begun:.0f} ms an update by the clock, of which playing {each * clock.spent['playing']:.0f};")
    write(f"{rows * updates / begun / 1e3:.0f} k agent-steps/s")
    write(f"{each * used:.0f} ms of processor time, {used / begun:.2f} cores on average:")
    twin = split.spent[TWIN]
    clock_s = idle.clock_s + twin / 2 + used - twin - idle.tasks_s
    split.spent[REST] = used - sum(split.spent.values())
    for label in (TWIN, *(label for _, _, label in PARTS), REST):
        write(f"{each * split.spent[label]:6.1f} {label}")
    most = rows * updates / clock_s / 1e3
    write(f"two idle cores: at least {each * clock_s:.0f} ms, at most {most:.0f} k agent-steps/s")
    return 0


def write(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
