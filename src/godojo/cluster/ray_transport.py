"""Workers as Ray actors. The only module that imports Ray."""

import logging
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import ray
import ray._private.worker
import ray.exceptions

from godojo import __version__
from godojo.cluster.fleet import WorkerLost
from godojo.cluster.shard import MakeWorlds, Shard
from godojo.cluster.start import make_folder
from godojo.errors import GodojoError
from godojo.runs.config import RunConfig, cores

TASK_RETRIES = 3
RESULT_TIMEOUT_S = 60.0
"""For the transfer of a result that is ready."""
_LOST = {
    ray.exceptions.ActorDiedError: "its process died",
    ray.exceptions.ActorUnavailableError: "it cannot be reached",
    ray.exceptions.NodeDiedError: "its node is gone",
    ray.exceptions.GetTimeoutError: "its rollout did not arrive",
}
_MISSING = ("No module named 'godojo", "failed to import on the worker")


class RaySession:
    """A connection to a cluster; or one that is started on this machine, and ends with it."""

    def __init__(self, address: str | None, cpus: int) -> None:
        """`address` of a cluster that this machine belongs to; None starts one with `cpus`."""
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
        logging.getLogger("ray").setLevel(logging.CRITICAL)  # losses are told in one line each
        # Ray has no setting for the paragraphs that it prints whenever a worker or a node is lost.
        ray._private.worker.print_to_stdstream = lambda *_, **__: None
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray's own new default
        self._folder: str | None = None
        if address is not None:
            ray.init(address=address, **quiet)
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        # Ray's default, 15, lets all other work of the machine go first; a training without Ray does not do that.
        os.environ.setdefault("RAY_worker_niceness", "0")
        self._folder = make_folder()
        try:
            ray.init(address="local", num_cpus=cpus, include_dashboard=False, _temp_dir=self._folder, **quiet)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class RayTransport:
    """Actors in a running cluster, or in one that is started here."""

    def __init__(
        self, address: str | None, workers: int, config: RunConfig, make_worlds: MakeWorlds, cpus_each: int = 1
    ) -> None:
        self._config, self._make_worlds, self._cpus = config, make_worlds, cpus_each
        self._session = RaySession(address, max(workers * cpus_each, cores()))

    def start(self, place: int, generation: int) -> Any:
        threads = {"env_vars": {"NUMBA_NUM_THREADS": str(self._cpus)}}
        actor = ray.remote(num_cpus=self._cpus, max_restarts=0, max_task_retries=0, runtime_env=threads)(Shard)
        return actor.remote(self._config, self._make_worlds, place, generation, __version__)

    def call(self, worker: Any, method: str, *args: Any) -> Any:
        return getattr(worker, method).remote(*args)

    def share(self, value: Any) -> Any:
        return ray.put(value)

    def wait(self, futures: Sequence[Any], timeout_s: float) -> list[Any]:
        futures = list(futures)
        done, waiting = ray.wait(futures, num_returns=1, timeout=timeout_s)
        more, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0) if done and waiting else ([], [])
        return [*done, *more]

    def result(self, future: Any) -> Any:
        return _result(future)

    def kill(self, worker: Any) -> None:
        with suppress(ray.exceptions.RayError, ValueError):
            ray.kill(worker, no_restart=True)

    def close(self) -> None:
        self._session.close()


def run_tasks_on_ray(calls: Sequence[Callable[[], Any]], address: str | None, done: Callable[[int], None]) -> list[Any]:
    """The results of independent calls, in order, each on a CPU of its own; `done` is called with their number so far.

    A call whose worker or node is lost is repeated; an error of the call itself ends them all.
    """
    session = RaySession(address, cores())
    try:
        threads = {"env_vars": {"NUMBA_NUM_THREADS": "1"}}
        task = ray.remote(num_cpus=1, max_retries=TASK_RETRIES, runtime_env=threads)(_call)
        futures = [task.remote(call) for call in calls]
        waiting, count = list(futures), 0
        while waiting:
            ready, waiting = ray.wait(waiting, num_returns=1)
            count += len(ready)
            for future in ready:
                _result(future)
            done(count)
        return [_result(future) for future in futures]
    except WorkerLost as error:
        raise GodojoError(f"a task on the cluster failed: {error}") from None
    finally:
        session.close()


def _call(call: Callable[[], Any]) -> Any:
    return call()


def _result(future: Any) -> Any:
    """The result of a call that is done; raises WorkerLost, or the GodojoError that the call raised."""
    try:
        return ray.get(future, timeout=RESULT_TIMEOUT_S)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, GodojoError):
            raise GodojoError(str(error.cause)) from None
        raise WorkerLost(_reason(error.cause or error)) from None
    except (ray.exceptions.RayError, ray.exceptions.GetTimeoutError) as error:
        raise WorkerLost(_reason(error)) from None


def _reason(error: BaseException) -> str:
    """One line of what Ray writes many about."""
    text = str(error)
    if any(words in text for words in _MISSING):
        return "the cluster's Python has no Godojo; install the same version on every node"
    if plain := _LOST.get(type(error)):
        return str(plain)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}"[:200]
