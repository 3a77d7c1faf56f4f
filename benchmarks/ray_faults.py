"""Kills workers, stops them and removes nodes while a Ray cluster trains tag; each time also trains undisturbed.

    python3 dojo.py install ray
    python3 dojo.py run benchmarks/ray_faults.py                                   50 kills, 20 stops, 10 node losses
    python3 dojo.py run benchmarks/ray_faults.py --kills 5 --stops 2 --nodes 2

Faults are spread evenly over a training that takes `--seconds-each` for each of them (three times as long for a stop or
a node, since their replacement takes longer); then another one plays as many steps undisturbed, so both have the same
schedule of learning rate and imitation. Faults strike workers that play, also the only one at that moment; stops spare
it, since a cluster that is silent as a whole counts as lost only after a minute. The level is the seeker's win rate
against `sighted` in held-out arenas. Left behind are processes below this one, files in shared memory and folders of a
cluster, counted after the cluster's end.
"""

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from godojo.evaluation.evaluation import judge
from godojo.learn.training import TrainingStatus
from godojo.training.args import TrainArgs
from godojo.training.setup import prepared

ROUNDS = 500
WORKERS = 2
VALUES = ("num_worlds=128", "n_minibatches=8")
APART = 3
"""Updates between two faults, at least: a worker that is lost six times before its first rollout ends the training."""
PLAYING = "ray::Shard.collect"
"""The title of a worker's process while it plays; while it waits it is that of one that starts."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--stops", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--seconds-each", type=float, default=6.0, help="Seconds of training for each fault.")
    wanted = parser.parse_args()
    faults: dict[str, tuple[int, Callable[[], contextlib.AbstractContextManager[Disturbance]]]] = {
        "worker killed": (wanted.kills, lambda: _on_this_machine(signal.SIGKILL, 0)),
        "worker stopped": (wanted.stops, lambda: _on_this_machine(signal.SIGSTOP, 1)),
        "node lost": (wanted.nodes, _nodes),
    }
    seconds = {"worker stopped": 3 * wanted.seconds_each, "node lost": 3 * wanted.seconds_each}
    with tempfile.TemporaryDirectory(prefix="rf-") as folder:  # short: Ray puts sockets there
        tempfile.tempdir = os.environ["RAY_TMPDIR"] = folder
        write("| faults | number | workers lost | agent-steps | seeker's wins (95 %) | left behind |")
        write("|---|---|---|---|---|---|")
        for name, (count, cluster) in faults.items():
            if count:
                steps = _report(name, count, cluster(), minutes=count * seconds.get(name, wanted.seconds_each) / 60.0)
                _report("none", 0, _undisturbed(), steps=steps)
    return 0


Disturbance = tuple[str, Callable[[], bool], Callable[[], None]]
"""A cluster's address, a function that causes a fault if it can, and one that repairs the cluster after each update."""


def _report(
    name: str, count: int, cluster: contextlib.AbstractContextManager[Disturbance], **budget: float | int
) -> int:
    """Train with faults and write the row; returns the steps played."""
    before = _leftovers()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        with cluster as disturbance:
            done, losses, steps, path = _train(count, disturbance, budget)
        wins = judge(path, ["sighted"], rounds=ROUNDS).verdict("seeker", "sighted").wins
    assert wins is not None
    left = _leftovers() - before
    rate = f"{100 * wins.rate:.0f} % ({100 * wins.low:.0f} to {100 * wins.high:.0f})"
    write(f"| {name} | {done} | {losses} | {steps:,} | {rate} | {', '.join(sorted(left)) or 'nothing'} |")
    return steps


def _train(count: int, disturbance: Disturbance, budget: dict[str, Any]) -> tuple[int, int, int, str]:
    """Faults that happened, workers lost, steps played and the run's folder."""
    address, fault, repair = disturbance
    done, progress, updates, over = 0, 0.0, 0, threading.Event()

    def disturb() -> None:
        nonlocal done, updates
        while done < count and not over.wait(0.05):
            _playing()  # remember who plays
            if progress * (count + 1) > done + 1 and updates >= APART and fault():
                done, updates = done + 1, 0

    def after_update(status: TrainingStatus) -> None:
        nonlocal progress, updates
        progress, updates = status.progress, updates + 1
        repair()

    args = TrainArgs(game="tag", **budget, values=VALUES, ray=address, workers=WORKERS, worker_timeout=4.0)
    with prepared(args, lambda text: print(text, file=sys.stderr, flush=True)) as training:  # noqa: T201 - progress
        disturber = threading.Thread(target=disturb, daemon=True)
        disturber.start()
        training.train(after_update)
        over.set()
        disturber.join(60.0)
        return done, training.worlds.fleet.losses, training.agent_steps, str(training.run.path)  # type: ignore[attr-defined]


def _leftovers() -> set[str]:
    """Processes and folders that a cluster may leave behind."""
    processes = {title.split(" ")[0] for title in _descendants().values() if "ray" in title}
    folders = (*Path("/dev/shm").iterdir(), *Path(tempfile.gettempdir()).glob("*ray-*"))  # noqa: S108 - not written to
    return processes | {path.name for path in folders}


_struck: set[int] = set()
"""Workers that have had a signal."""
_have_played: set[int] = set()


def _playing() -> list[int]:
    """Workers that play or wait for the learner; not those that start or have had a signal."""
    titles = _descendants()
    _have_played.update(pid for pid, title in titles.items() if title.startswith(PLAYING))
    return [pid for pid in titles if pid in _have_played and pid not in _struck]


def _signal_worker(number: int, others: int) -> bool:
    """Send a signal to a worker, if this many others play."""
    playing = _playing()
    if len(playing) <= others:
        return False  # replacements still start
    _struck.add(victim := random.choice(playing))  # noqa: S311 - any of them
    os.kill(victim, number)
    return True


def _nothing() -> None:
    pass


def _undisturbed() -> contextlib.AbstractContextManager[Disturbance]:
    return contextlib.nullcontext(("local", lambda: False, _nothing))


def _on_this_machine(number: int, others: int) -> contextlib.AbstractContextManager[Disturbance]:
    return contextlib.nullcontext(("local", lambda: _signal_worker(number, others), _nothing))


@contextlib.contextmanager
def _nodes() -> Iterator[Disturbance]:
    """A cluster of a head and two nodes in this machine; functions that lose a node, and that add one in its place.

    Ray starts nodes in the main thread only.
    """
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(WORKERS)]

    def lose_one() -> bool:
        if len(nodes) < WORKERS or not _playing():
            return False  # replacements still start
        cluster.remove_node(nodes.pop(0), allow_graceful=False)
        return True

    def add_nodes() -> None:
        while len(nodes) < WORKERS:
            nodes.append(cluster.add_node(num_cpus=1, wait=False))

    try:
        yield cluster.address, lose_one, add_nodes
    finally:
        cluster.shutdown()


def _descendants() -> dict[int, str]:
    """The processes below this one, by id."""
    parents, titles = {}, {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            pid = int(entry.name)
            parents[pid] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            titles[pid] = (entry / "cmdline").read_text().replace("\0", " ")
    found: dict[int, str] = {}
    waiting = [os.getpid()]
    while waiting:
        parent = waiting.pop()
        below = [pid for pid, of in parents.items() if of == parent]
        found |= {pid: titles.get(pid, "") for pid in below}
        waiting += below
    return found


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
