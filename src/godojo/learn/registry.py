"""Every algorithm by name. A new one is a module of its own and an entry in `ALGORITHMS`."""

import importlib
from typing import Any, NamedTuple

import msgspec

from godojo.engines.base import Worlds
from godojo.errors import GodojoError, known


class AlgorithmEntry(NamedTuple):
    """The parts of an algorithm, as `module:name`, imported on first use."""

    settings: str
    """Its hyperparameters: a frozen `msgspec.Struct` with a `check()`."""
    factory: str
    """`(worlds, settings, seed, policies, modes) -> Algorithm` (`learn/algorithm.py`)."""
    check_worlds: str = ""
    """A function of the worlds that raises GodojoError if the algorithm cannot train in them."""
    num_worlds: str = "num_worlds"
    """The setting that holds the number of parallel worlds."""
    extra: str = ""
    """The optional package that it needs (`godojo.extras`)."""
    cluster_factory: str = ""
    """The same as `factory`, with worlds on a cluster (`godojo.cluster`); empty if it cannot be spread."""
    can_continue: bool = True
    """Whether it can start from the policies of another run and keep roles frozen."""

    def settings_type(self) -> type[Any]:
        settings: type[msgspec.Struct] = load(self.settings)
        return settings

    def world_count(self, settings: Any) -> int:
        return int(getattr(settings, self.num_worlds))

    def check(self, worlds: Worlds) -> None:
        if self.check_worlds:
            load(self.check_worlds)(worlds)


ALGORITHMS = {
    "ppo": AlgorithmEntry(
        "godojo.learn.settings:PpoSettings",
        "godojo.learn.self_play:PpoSelfPlay",
        cluster_factory="godojo.cluster.learner:ClusterPpo",
    ),
    "sac": AlgorithmEntry(
        "godojo.learn.settings:SacSettings",
        "godojo.learn.sac:SacSelfPlay",
        check_worlds="godojo.learn.sac:check_worlds",
    ),
    "sb3": AlgorithmEntry(
        "godojo.trainers.sb3_settings:Sb3Settings",
        "godojo.trainers.sb3:Sb3Ppo",
        check_worlds="godojo.envs.spaces:only_agent",
        num_worlds="num_envs",
        extra="sb3",
        can_continue=False,
    ),
}


def algorithm_named(name: str) -> AlgorithmEntry:
    if name not in ALGORITHMS:
        raise GodojoError(f"there is no algorithm {name!r}; {known(name, ALGORITHMS)}")
    return ALGORITHMS[name]


def load(entry_point: str) -> Any:
    """Import `module:name`."""
    module, _, name = entry_point.partition(":")
    return getattr(importlib.import_module(module), name)
