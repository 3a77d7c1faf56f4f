"""Workers as Ray actors. The only module that imports Ray."""

import logging
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import ray
import ray.exceptions

from godojo import __version__
from godojo.cluster.fleet import WorkerLost
from godojo.cluster.shard import MakeWorlds, Shard
from godojo.errors import GodojoError
from godojo.runs.config import RunConfig, cores

_MISSING = ("No module named 'godojo", "failed to import on the worker")


class RayTransport:
    """Actors in a running cluster, or in one that is started here and ends with us."""

    def __init__(
        self, address: str | None, workers: int, config: RunConfig, make_worlds: MakeWorlds, cpus_each: int = 1
    ) -> None:
        """`address` of a cluster that this machine belongs to; None starts one on this machine."""
        self._config, self._make_worlds, self._cpus = config, make_worlds, cpus_each
        self._folder: str | None = None
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
        logging.getLogger("ray").setLevel(logging.CRITICAL)  # the fleet tells of losses, in one line each
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray's own new default
        if address is not None:
            ray.init(address=address, **quiet)
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        self._folder = tempfile.mkdtemp(prefix="godojo-ray-")
        cpus = max(workers * cpus_each, cores())
        ray.init(address="local", num_cpus=cpus, include_dashboard=False, _temp_dir=self._folder, **quiet)

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
        try:
            return ray.get(future, timeout=60.0)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, GodojoError):
                raise GodojoError(str(error.cause)) from None
            raise WorkerLost(_reason(error.cause or error)) from None
        except (ray.exceptions.RayError, ray.exceptions.GetTimeoutError) as error:
            raise WorkerLost(_reason(error)) from None

    def kill(self, worker: Any) -> None:
        with suppress(ray.exceptions.RayError, ValueError):
            ray.kill(worker, no_restart=True)

    def close(self) -> None:
        ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _reason(error: BaseException) -> str:
    """One line of what Ray writes many about."""
    text = str(error)
    if any(words in text for words in _MISSING):
        return "the cluster's Python has no Godojo; install the same version on every node"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}"[:200]
