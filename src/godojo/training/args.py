"""The arguments of a training, as `godojo train` and `godojo.train` take them."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from godojo.errors import GodojoError
from godojo.learn.budget import Budget


class ListenAddress(NamedTuple):
    """Where to listen for a game that the user starts; None is the default, or what a resumed run used."""

    host: str | None
    port: int | None
    token: str | None
    """Never stored in the run."""

    @property
    def place(self) -> dict[str, Any]:
        """The given ones of `host` and `port`."""
        return {name: value for name, value in (("host", self.host), ("port", self.port)) if value is not None}


class TrainArgs(NamedTuple):
    """All arguments; None is the default."""

    game: str | None = None
    engine: str | None = None
    algorithm: str | None = None
    trainer: str | None = None
    minutes: float | None = None
    steps: int | None = None
    run_id: str | None = None
    resume: str | None = None
    force: bool = False
    init_from: str | None = None
    preset: str | None = None
    config: Path | None = None
    values: tuple[str, ...] = ()
    num_envs: int | None = None
    seed: int | None = None
    freeze: tuple[str, ...] = ()
    reward: str | None = None
    tasks: tuple[str, ...] = ()
    processes: int | None = None
    step_timeout: float | None = None
    project: Path | None = None
    listen: ListenAddress | None = None
    http: tuple[str, ...] = ()
    scene: str | None = None
    reload_every: int = 0
    command: tuple[str, ...] = ()
    """What was typed, for the run's configuration."""

    @property
    def is_external_game(self) -> bool:
        """Whether the game is not one of ours, and declares its roles and model itself."""
        return self.project is not None or (self.listen is not None and self.game is None)

    @property
    def token(self) -> str | None:
        return None if self.listen is None else self.listen.token

    def check_time(self) -> None:
        if self.minutes is not None and self.steps is not None:
            raise GodojoError("either --minutes or --steps, not both")
        for name in ("minutes", "steps"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < math.inf:
                raise GodojoError(f"there must be some time to train: --{name} must be above 0, not {value}")
        if self.step_timeout is not None and not 0.0 < self.step_timeout < math.inf:
            raise GodojoError(f"--step-timeout must be a number of seconds above 0, not {self.step_timeout:g}")

    def budget(self, otherwise: Mapping[str, float]) -> Budget:
        """The requested budget, or `otherwise`: that of the preset or of the resumed run."""
        if self.steps is not None:
            return Budget(agent_steps=self.steps)
        if self.minutes is not None:
            return Budget(minutes=self.minutes)
        steps = otherwise.get("agent_steps")
        return Budget(otherwise.get("minutes"), None if steps is None else int(steps))
