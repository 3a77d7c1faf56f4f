"""Kills workers, stops them and removes nodes while a Ray cluster trains tag; then trains undisturbed as long.

    python3 dojo.py install ray
    python3 dojo.py run benchmarks/ray_faults.py                                   50 kills, 20 stalls, 10 node losses
    python3 dojo.py run benchmarks/ray_faults.py --kills 5 --stalls 2 --nodes 2 --steps 300000

Each training ends when its faults have happened and its steps are played, whichever is later; the undisturbed one plays
as many steps as the longest of them. Faults strike workers that play, also the only one at that moment; stops spare it,
since a cluster that is silent as a whole counts as lost only after a minute. The level is the seeker's win rate against
`sighted` in held-out arenas. Left behind are processes below this one, files in shared memory and folders of a cluster,
counted after the cluster's end.
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
VALUES = ("num_worlds=128", "n_minibatches=8")
PLAYING = ("ray::Shard", "ray::Shard.collect")
"""The titles of a worker's process once it is ready."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--stalls", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=10)
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--every", type=float, default=1.0, help="Mean seconds between two faults.")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rf-") as folder:  # short: Ray puts sockets there
        tempfile.tempdir = os.environ["RAY_TMPDIR"] = folder
        write("| faults | number | workers lost | agent-steps | seeker's wins (95 %) | left behind |")
        write("|---|---|---|---|---|---|")
        longest = wanted.steps
        for name, count, fault in (
            ("worker killed", wanted.kills, lambda: _signal_worker(signal.SIGKILL, 0)),
            ("worker stopped", wanted.stalls, lambda: _signal_worker(signal.SIGSTOP, 1)),
        ):
            if count:
                longest = max(longest, _report(name, count, wanted, contextlib.nullcontext(("local", fault, _nothing))))
        if wanted.nodes:
            longest = max(longest, _report("node lost", wanted.nodes, wanted, _nodes()))
        wanted.steps = longest
        _report("none", 0, wanted, contextlib.nullcontext(("local", lambda: False, _nothing)))
    return 0


Disturbance = tuple[str, Callable[[], bool], Callable[[], None]]
"""A cluster's address, a function that causes a fault if it can, and one that repairs the cluster after each update."""


def _nothing() -> None:
    pass


def _report(
    name: str, count: int, wanted: argparse.Namespace, cluster: contextlib.AbstractContextManager[Disturbance]
) -> int:
    """Train with faults and write the row; returns the steps played."""
    before = _leftovers()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        with cluster as (address, fault, repair):
            done, losses, steps, path = _train(count, wanted, address, fault, repair)
        wins = judge(path, ["sighted"], rounds=ROUNDS).verdict("seeker", "sighted").wins
    assert wins is not None
    left = _leftovers() - before
    rate = f"{100 * wins.rate:.0f} % ({100 * wins.low:.0f} to {100 * wins.high:.0f})"
    write(f"| {name} | {done} | {losses} | {steps:,} | {rate} | {', '.join(sorted(left)) or 'nothing'} |")
    return steps


def _train(
    count: int, wanted: argparse.Namespace, address: str, fault: Callable[[], bool], repair: Callable[[], None]
) -> tuple[int, int, int, str]:
    """Faults that happened, workers lost, steps played and the run's folder."""
    done, over = 0, threading.Event()

    def disturb() -> None:
        nonlocal done
        rng = random.Random(1)  # noqa: S311 - moments of faults, not secrets
        while done < count and not over.wait(rng.expovariate(1.0 / wanted.every)):
            done += fault()

    args = TrainArgs(game="tag", steps=wanted.steps, values=VALUES, ray=address, workers=WORKERS, worker_timeout=2.0)
    with prepared(args, lambda text: print(text, file=sys.stderr, flush=True)) as training:  # noqa: T201 - progress
        disturber = threading.Thread(target=disturb, daemon=True)
        disturber.start()
        training.train(lambda _: repair())
        while done < count and disturber.is_alive():  # play on until all have happened
            training.learner.iterate(1.0)
            repair()
        training.save()
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


def _playing() -> list[int]:
    """Workers that play or wait for the learner; not those that start or have had a signal."""
    names = {pid: title.strip().split(" ")[0] for pid, title in _descendants().items()}
    return [pid for pid, name in names.items() if name in PLAYING and pid not in _struck]


def _signal_worker(number: int, others: int) -> bool:
    """Send a signal to a worker, if this many others play."""
    playing = _playing()
    if len(playing) <= others:
        return False  # replacements still start
    _struck.add(victim := random.choice(playing))  # noqa: S311 - any of them
    os.kill(victim, number)
    return True


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
