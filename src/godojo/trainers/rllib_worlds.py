"""The worlds of RLlib's remote workers as the training loop sees them."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import msgspec

from godojo.cluster.messages import Description
from godojo.cluster.worlds import ClusterWorlds
from godojo.engines.base import Worlds
from godojo.runs.config import RunConfig

MakeWorlds = Callable[[RunConfig], Worlds]


class _Workers(NamedTuple):
    """RLlib looks after its workers itself."""

    size: int

    def close(self) -> None: ...


class RunnerWorlds(ClusterWorlds):
    """Arrays that replay the results of `num_env_runners` workers; each has its share of the worlds."""

    def __init__(self, config: RunConfig, make_worlds: MakeWorlds) -> None:
        learner = config.learner_settings
        workers = learner["num_env_runners"]
        share = max(round(learner["num_envs"] / workers), 1)
        one = msgspec.structs.replace(
            config, learner_settings={**learner, "num_env_runners": 0, "num_envs": share, "batch_size": 2}
        )
        with make_worlds(one) as worlds:
            description = Description.of(worlds)
        workers_of_rllib: Any = _Workers(workers)
        super().__init__(workers_of_rllib, description)
        self.make_worlds = partial(_worlds_of_worker, make_worlds, one)
        """From a seed to the worlds of one worker; it travels to the worker."""


def _worlds_of_worker(make_worlds: MakeWorlds, config: RunConfig, seed: int) -> Worlds:
    return make_worlds(msgspec.structs.replace(config, seed=seed))
