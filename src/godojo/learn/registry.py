"""Every algorithm by name. A new one is a module of its own and an entry in `ALGORITHMS`."""

import importlib
from typing import Any, NamedTuple

import msgspec

from godojo.engines.base import Worlds
from godojo.errors import GodojoError, known, option


class AlgorithmEntry(NamedTuple):
    """The parts of an algorithm, as `module:name`, imported on first use."""

    settings: str
    """Its hyperparameters: a frozen `msgspec.Struct` with a `check()`."""
    factory: str
    """`(worlds, settings, seed, policies, modes) -> Algorithm` (`learn/algorithm.py`)."""
    check_worlds: str = ""
    """A function of the worlds and the settings that raises GodojoError if the algorithm cannot train in them."""
    num_worlds: str = "num_worlds"
    """The setting that holds the number of parallel worlds."""
    extra: str = ""
    """The optional package that it needs (`godojo.extras`)."""
    cluster_factory: str = ""
    """The same as `factory`, with worlds on a cluster (`godojo.cluster`); empty if it cannot be spread."""
    can_continue: bool = True
    """Whether it can start from the policies of another run and keep roles frozen."""
    one_role: bool = False
    """It trains a single role, by default the first."""

    def settings_type(self) -> type[Any]:
        settings: type[msgspec.Struct] = load(self.settings)
        return settings

    def world_count(self, settings: Any) -> int:
        return int(getattr(settings, self.num_worlds))

    def check(self, worlds: Worlds, settings: Any) -> None:
        if self.check_worlds:
            load(self.check_worlds)(worlds, settings)

    def trained_roles(self, worlds: Worlds, settings: Any) -> tuple[str, ...]:
        """The roles that learn: all, or the one that the settings name."""
        if role := getattr(settings, "role", ""):
            return (role,)
        return tuple(worlds.roles)[: 1 if self.one_role else None]


def _sb3(settings: str) -> AlgorithmEntry:
    return AlgorithmEntry(
        f"godojo.trainers.sb3_settings:{settings}",
        "godojo.trainers.sb3:Sb3",
        check_worlds="godojo.trainers.sb3:check_worlds",
        num_worlds="num_envs",
        extra="sb3",
        can_continue=False,
        one_role=True,
    )


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
    "sb3": _sb3("Sb3Settings"),
    "sb3_sac": _sb3("Sb3SacSettings"),
    "sb3_td3": _sb3("Sb3Td3Settings"),
    "sb3_dqn": _sb3("Sb3DqnSettings"),
    "rllib": AlgorithmEntry(
        "godojo.trainers.rllib_settings:RllibSettings",
        "godojo.trainers.rllib:Rllib",
        check_worlds="godojo.trainers.rllib:check_worlds",
        num_worlds="num_envs",
        extra="rllib",
        can_continue=False,
    ),
}


SB3 = {"ppo": "sb3", "sac": "sb3_sac", "td3": "sb3_td3", "dqn": "sb3_dqn"}
"""Stable-Baselines3's algorithms: their names in `ALGORITHMS`."""
RLLIB = {"ppo": "rllib"}
"""RLlib's."""


class Library(NamedTuple):
    """A library whose algorithms train here."""

    title: str
    algorithms: dict[str, str]
    """From its own names to those in `ALGORITHMS`."""


LIBRARIES = {"sb3": Library("Stable-Baselines3", SB3), "rllib": Library("RLlib", RLLIB)}
"""By extra."""


def algorithm_named(name: str) -> AlgorithmEntry:
    if name not in ALGORITHMS and name in SB3:
        raise GodojoError(f"{name} is an algorithm of Stable-Baselines3; add {option('trainer', 'sb3')}")
    if name not in ALGORITHMS:
        raise GodojoError(f"there is no algorithm {name!r}; {known(name, ALGORITHMS)}")
    return ALGORITHMS[name]


def load(entry_point: str) -> Any:
    """Import `module:name`."""
    module, _, name = entry_point.partition(":")
    return getattr(importlib.import_module(module), name)
