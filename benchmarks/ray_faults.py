"""Kills workers, stops them and removes nodes while a Ray cluster trains tag, and compares what is learnt with an
undisturbed training of as many steps.

    python3 dojo.py install ray
    python3 dojo.py run benchmarks/ray_faults.py                                   50 kills, 20 stalls, 10 node losses
    python3 dojo.py run benchmarks/ray_faults.py --kills 5 --stalls 2 --nodes 2 --steps 1000000

Each training ends when its faults have happened and its steps are played, whichever is later. The level is the seeker's
win rate against `sighted` in held-out arenas. Afterwards nothing of the cluster may be left.
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
from godojo.training.args import TrainArgs
from godojo.training.setup import prepared

ROUNDS = 500
WORKERS = 2
VALUES = ("num_worlds=256", "n_minibatches=8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--stalls", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--steps", type=int, default=3_000_000)
    parser.add_argument("--every", type=float, default=3.0, help="Mean seconds between two faults.")
    wanted = parser.parse_args()
    write("| faults | number | workers lost | agent-steps | seeker's wins (95 %) | left behind |")
    write("|---|---|---|---|---|---|")
    _train("none", 0, wanted, lambda: False)
    _train("worker killed", wanted.kills, wanted, lambda: _signal_worker(signal.SIGKILL))
    _train("worker stopped", wanted.stalls, wanted, lambda: _signal_worker(signal.SIGSTOP))
    if wanted.nodes:
        with _nodes() as (address, lose_one, add_nodes):
            _train("node lost", wanted.nodes, wanted, lose_one, address, add_nodes)
    return 0


def _train(
    name: str,
    count: int,
    wanted: argparse.Namespace,
    fault: Callable[[], bool],
    address: str = "local",
    repair: Callable[[], None] = lambda: None,
) -> None:
    if name != "none" and not count:
        return
    done, over = [0], threading.Event()

    def disturb() -> None:
        rng = random.Random(1)  # noqa: S311 - moments of faults, not secrets
        while done[0] < count and not over.wait(rng.expovariate(1.0 / wanted.every)):
            done[0] += fault()

    before = _descendants()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        args = TrainArgs(
            game="tag", steps=wanted.steps, values=VALUES, ray=address, workers=WORKERS, worker_timeout=2.0
        )
        with prepared(args, lambda text: print(text, file=sys.stderr)) as training:  # noqa: T201 - progress
            disturber = threading.Thread(target=disturb, daemon=True)
            disturber.start()
            training.train(lambda _: repair())
            while done[0] < count and disturber.is_alive():  # play on until all have happened
                training.learner.iterate(1.0)
                repair()
            training.save()
            over.set()
            disturber.join(60.0)
            losses, steps, path = training.worlds.fleet.losses, training.agent_steps, str(training.run.path)  # type: ignore[attr-defined]
        wins = judge(path, ["sighted"], rounds=ROUNDS).verdict("seeker", "sighted").wins
    assert wins is not None
    kind = "ray" if address == "local" else "ray::Shard"  # the nodes of a cluster of ours stay until it is shut down
    left = len([title for pid, title in _descendants().items() if pid not in before and kind in title])
    rate = f"{100 * wins.rate:.0f} % ({100 * wins.low:.0f} to {100 * wins.high:.0f})"
    write(f"| {name} | {done[0]} | {losses} | {steps:,} | {rate} | {left} processes |")


def _signal_worker(number: int) -> bool:
    workers = [pid for pid, title in _descendants().items() if title.startswith("ray::Shard")]
    if len(workers) < WORKERS:
        return False  # the last one is still being replaced
    os.kill(random.choice(workers), number)  # noqa: S311 - any of them
    return True


@contextlib.contextmanager
def _nodes() -> Iterator[tuple[str, Callable[[], bool], Callable[[], None]]]:
    """A cluster of a head and two nodes in this machine; functions that lose a node, and that add one in its place.

    Ray starts nodes in the main thread only.
    """
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(WORKERS)]

    def lose_one() -> bool:
        if len(nodes) < WORKERS:
            return False  # the last one is still being replaced
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
