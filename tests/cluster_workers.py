"""Workers on threads of this process, in place of Ray's: the same shards, and faults at chosen moments."""

import copy
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import msgspec

from godojo import __version__
from godojo.cluster.fleet import Fleet, Limits, WorkerLost
from godojo.cluster.learner import ClusterPpo
from godojo.cluster.shard import Shard
from godojo.cluster.start import worker_config
from godojo.cluster.worlds import ClusterWorlds
from godojo.engines.base import Worlds
from godojo.learn.settings import PpoSettings
from godojo.runs.config import RunConfig
from tests.learning_games import SMALL, tag


class ThreadWorker:
    """A shard and the thread that it runs on."""

    def __init__(self, shard: Shard, place: int, generation: int) -> None:
        self.shard, self.place, self.generation, self.rollouts = shard, place, generation, 0
        self.thread = ThreadPoolExecutor(1)
        self.is_dead = False


START = -1
"""In place of a rollout's number: while the worker starts."""


class ThreadTransport:
    """`faults` maps (place, generation, rollout) to what happens then: `dies`, `hangs` or `fails`."""

    def __init__(self, config: RunConfig, faults: dict[tuple[int, int, int], str] | None = None) -> None:
        self._config, self._faults, self._end = config, faults or {}, threading.Event()
        self.workers: list[ThreadWorker] = []

    def start(self, place: int, generation: int) -> ThreadWorker:
        worker = ThreadWorker(Shard(self._config, worlds_for, place, generation, __version__), place, generation)
        self.workers.append(worker)
        return worker

    def call(self, worker: ThreadWorker, method: str, *args: Any) -> "Future[Any]":
        return worker.thread.submit(self._run, worker, method, args)

    def _run(self, worker: ThreadWorker, method: str, args: Sequence[Any]) -> Any:
        if method == "open" and self._faults.get((worker.place, worker.generation, START)) == "hangs":
            self._end.wait(60.0)
        if method == "collect":
            fault = self._faults.get((worker.place, worker.generation, worker.rollouts))
            worker.rollouts += 1
            if fault == "hangs":
                self._end.wait(60.0)
            if fault == "dies":
                worker.is_dead = True
            if fault == "fails":
                raise ZeroDivisionError("a bug in a reward")
        if worker.is_dead:
            raise WorkerLost("it died")
        return copy.deepcopy(getattr(worker.shard, method)(*args))  # a worker plays on in the same buffers

    def share(self, value: Any) -> Any:
        return value

    def wait(self, futures: Sequence["Future[Any]"], timeout_s: float) -> "list[Future[Any]]":
        return list(wait(futures, timeout_s, FIRST_COMPLETED).done)

    def result(self, future: "Future[Any]") -> Any:
        try:
            return future.result(0.0)
        except ZeroDivisionError as error:
            raise WorkerLost(f"ZeroDivisionError: {error}") from None

    def kill(self, worker: ThreadWorker) -> None:
        worker.is_dead = True

    def close(self) -> None:
        self._end.set()
        for worker in self.workers:
            worker.thread.shutdown()
            worker.shard.close()


def worlds_for(config: RunConfig) -> Worlds:
    return tag(config.learner_settings["num_worlds"], config.seed)


def run_config(settings: PpoSettings = SMALL, seed: int = 1) -> RunConfig:
    return RunConfig("tag", "sim", (), "ppo", msgspec.to_builtins(settings), {}, seed, {"minutes": 1})


def cluster_learner(
    workers: int = 2,
    settings: PpoSettings = SMALL,
    seed: int = 1,
    faults: dict[tuple[int, int, int], str] | None = None,
    said: list[str] | None = None,
    behind_s: float = 60.0,
) -> ClusterPpo:
    transport = ThreadTransport(worker_config(run_config(settings, seed), workers), faults)
    fleet = Fleet(transport, workers, (said if said is not None else []).append, Limits(60.0, behind_s, 60.0))
    return ClusterPpo(ClusterWorlds(fleet, fleet.open()), settings, seed)
