"""The arguments of a training, as `godojo train` and `godojo.train` take them."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from godojo.errors import GodojoError, option
from godojo.games.base import SCENE_GAMES
from godojo.learn.budget import Budget


def check_budget(minutes: float | None, steps: int | None) -> None:
    """Reject a budget that is not above 0, and two budgets at once."""
    if minutes is not None and steps is not None:
        raise GodojoError(f"give either {option('minutes')} or {option('steps')}, not both")
    for name, value in (("minutes", minutes), ("steps", steps)):
        if value is not None and not 0.0 < value < math.inf:
            raise GodojoError(f"{option(name)} must be above 0, not {value}")


class ListenAddress(NamedTuple):
    """Where to listen for a game that the user starts; None stands for the default, or the value of a resumed run."""

    host: str | None
    port: int | None
    token: str | None
    """Never stored in the run."""
    slot: Any = None
    """A `godojo.engines.godot.game_slots.GameSlot` that provides the game, in place of listening for it."""

    @classmethod
    def from_options(
        cls, connect: bool, host: str | None, port: int | None, token: str | None
    ) -> "ListenAddress | None":
        """The address, if `connect` asks for one."""
        if connect:
            return cls(host, port, token)
        if any(value is not None for value in (host, port, token)):
            raise GodojoError(f"{option('host')}, {option('port')} and a token need {option('connect', True)}")
        return None

    @property
    def place(self) -> dict[str, Any]:
        """`host` and `port`, without those that are None."""
        return {name: value for name, value in (("host", self.host), ("port", self.port)) if value is not None}


class TrainArgs(NamedTuple):
    """All arguments; `godojo.train` documents them. None stands for the default."""

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
    mode: str | None = None
    preset: str | None = None
    config: Path | None = None
    values: tuple[str, ...] = ()
    num_envs: int | None = None
    device: str | None = None
    role: str | None = None
    opponent: str | None = None
    seed: int | None = None
    freeze: tuple[str, ...] = ()
    reward: str | None = None
    tasks: tuple[str, ...] = ()
    demos: tuple[Path, ...] = ()
    processes: int | None = None
    step_timeout: float | None = None
    project: Path | None = None
    binary: Path | None = None
    window: bool = False
    speedup: float | None = None
    action_repeat: int | None = None
    strict: bool = False
    listen: ListenAddress | None = None
    http: tuple[str, ...] = ()
    scene: str | None = None
    reload_every: int = 0
    ray: str | None = None
    workers: int | None = None
    worker_timeout: float | None = None
    command: tuple[str, ...] = ()
    """The command line, for the run's configuration."""

    @property
    def is_external_game(self) -> bool:
        """Whether the game declares its roles and model itself: a user's own project, or a game without a twin."""
        return self.place is not None or self.is_scene_game or (self.listen is not None and self.game is None)

    @property
    def is_scene_game(self) -> bool:
        """Whether it is one of Godojo's games that exist in Godot only."""
        return self.place is None and self.game in SCENE_GAMES

    @property
    def place(self) -> Path | None:
        """The project's folder or the exported game, as an absolute path."""
        given = self.project or self.binary
        return None if given is None else given.expanduser().absolute()

    @property
    def resumed_model(self) -> Path | None:
        """The zip of Stable-Baselines3 that `resume` names, if it is one: a new run continues from it."""
        if self.resume is None or not self.resume.endswith(".zip"):
            return None
        return Path(self.resume).expanduser()

    @property
    def games(self) -> dict[str, Any]:
        """Options of a game that the user starts which are never stored: its token, or the slot that provides it."""
        return {} if self.listen is None else {"token": self.listen.token, "slot": self.listen.slot}

    def check_game(self) -> None:
        """Reject options of an external game that contradict each other, or that no external game takes."""
        if self.project is not None and self.binary is not None:
            raise GodojoError(f"give either {option('project')} or {option('binary')}, not both")
        if self.binary is not None and not self.binary.expanduser().is_file():
            raise GodojoError(f"there is no exported game {self.binary}; {option('project')} takes a folder")
        for name in ("window", "speedup", "strict", "scene"):
            is_scenes = self.is_scene_game and name != "scene"
            if getattr(self, name) and self.place is None and not is_scenes and not (name == "scene" and self.http):
                needed = f"{option('project')} or {option('binary')}" + (f" or {option('http')}" * (name == "scene"))
                raise GodojoError(f"{option(name)} needs {needed}")
        if self.action_repeat is not None and not self.is_external_game:
            raise GodojoError(f"{option('action_repeat')} needs {option('project')}, {option('binary')} or a game")
        if self.action_repeat is not None and self.action_repeat < 1:
            raise GodojoError(f"{option('action_repeat')} must be 1 or more, not {self.action_repeat}")

    @property
    def cluster(self) -> dict[str, Any]:
        """The values of a `ClusterConfig` that are given."""
        given = {"address": self.ray, "workers": self.workers, "timeout_s": self.worker_timeout}
        return {name: value for name, value in given.items() if value is not None}

    def check_times(self) -> None:
        check_budget(self.minutes, self.steps)
        if self.step_timeout is not None and not 0.0 < self.step_timeout < math.inf:
            raise GodojoError(f"{option('step_timeout')} must be seconds above 0, not {self.step_timeout:g}")

    def budget(self, default: Mapping[str, float]) -> Budget:
        """The requested budget; `default` is that of the preset or of the resumed run."""
        if self.steps is not None:
            return Budget(agent_steps=self.steps)
        if self.minutes is not None:
            return Budget(minutes=self.minutes)
        steps = default.get("agent_steps")
        return Budget(default.get("minutes"), None if steps is None else int(steps))
