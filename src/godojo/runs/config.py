"""The configuration of a run, and the machine and versions it ran with."""

import os
import platform
import sys
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from godojo import __version__
from godojo.documents import document_bytes, read_document
from godojo.errors import GodojoError
from godojo.formats import RUN

CONTINUED_BY = "continued_by"
"""Key of `RunConfig.more`: the algorithm that can continue the policies, if it is not the one that made them."""
SCENE_LOOP = "scene_loop"
"""Key of `RunConfig.more`: the scene drives the training (`DojoTrainingLoop`)."""
OPPONENTS = "opponents"
"""Another: see `RunConfig.opponents`."""
_PACKAGES = ("torch", "numpy", "numba", "msgspec", "openskill", "tensorboard")


class RunConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that determines a training. Written once, when the run starts."""

    game: str
    engine: str
    roles: tuple[str, ...]
    learner: str
    """The algorithm: `ppo`, `sac`, …"""
    learner_settings: dict[str, Any]
    game_settings: dict[str, Any]
    """All of them, not only those that differ from the defaults."""
    seed: int
    budget: dict[str, float]
    """`{"minutes": 5}` or `{"agent_steps": 1000000}`."""
    command: tuple[str, ...] = ()
    """The command line."""
    more: dict[str, Any] = {}
    """Further values that a learner or an engine needs to resume."""

    @property
    def is_sb3(self) -> bool:
        """Whether Stable-Baselines3 trains it."""
        return self.learner.partition("_")[0] == "sb3"

    @property
    def sb3_name(self) -> str:
        """Stable-Baselines3's name of its algorithm."""
        return self.learner.partition("_")[2].upper() or "PPO"

    @property
    def opponents(self) -> dict[str, str]:
        """Who plays the game's other roles, where only `roles` learn, by role."""
        return dict(self.more.get(OPPONENTS, {}))

    def to_json(self) -> bytes:
        return document_bytes(RUN, self)

    @classmethod
    def read(cls, path: Path) -> "RunConfig":
        try:
            return read_document(path, RUN, cls, "restore it from a copy")
        except FileNotFoundError:
            raise GodojoError(f"{path} is missing; restore it from a copy") from None


class Environment(msgspec.Struct, frozen=True):
    """The machine and versions of one stretch of training."""

    began: str
    """In UTC."""
    godojo: str
    python: str
    packages: dict[str, str]
    godot: str
    """Its version; empty if it was not used."""
    system: str
    processor: str
    cores: int
    """Those available to this process."""
    memory_gib: float

    @classmethod
    def here(cls, godot: str = "") -> "Environment":
        return cls(
            began=datetime.now(UTC).isoformat(timespec="seconds"),
            godojo=__version__,
            python=sys.version.split()[0],
            packages=_versions(),
            godot=godot,
            system=platform.platform(),
            processor=processor(),
            cores=cores(),
            memory_gib=_memory_gib(),
        )


class Environments(msgspec.Struct, frozen=True):
    """`environment.json`."""

    stretches: list[Environment]


def _versions() -> dict[str, str]:
    versions = {}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def cores() -> int:
    """Those available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_gib() -> float:
    with suppress(AttributeError, OSError, ValueError):
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
    return 0.0
