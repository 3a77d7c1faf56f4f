"""What `godojo train` was asked for, as it was typed."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from godojo.errors import GodojoError
from godojo.learn.budget import Budget


class ListenAddress(NamedTuple):
    """Where a game that somebody starts by hand is waited for; what is left away is the usual, or a run's own."""

    host: str | None
    port: int | None
    token: str | None
    """Never written down."""

    @property
    def place(self) -> dict[str, Any]:
        """What was said of where."""
        return {name: value for name, value in (("host", self.host), ("port", self.port)) if value is not None}


class TrainArgs(NamedTuple):
    """The command line; None is what was left away."""

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
    door: ListenAddress | None = None
    http: tuple[str, ...] = ()
    scene: str | None = None
    reload_every: int = 0

    @property
    def is_of_others(self) -> bool:
        """Whether the game is somebody's own, which says itself what it is made of."""
        return self.project is not None or (self.door is not None and self.game is None)

    @property
    def token(self) -> str | None:
        return None if self.door is None else self.door.token

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
        """What was asked for now; without a word, what the preset says, or what a run was begun with."""
        if self.steps is not None:
            return Budget(agent_steps=self.steps)
        if self.minutes is not None:
            return Budget(minutes=self.minutes)
        steps = otherwise.get("agent_steps")
        return Budget(otherwise.get("minutes"), None if steps is None else int(steps))
