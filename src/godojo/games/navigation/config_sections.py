"""Training configurations in five sections: `network`, `ppo`, `rewards`, `training` and `environment`.

`RLConfig` is such a file; `preset_tree` turns one into a preset (`godojo.learn.presets.Preset`), `RLConfig.of` a preset
into one. Every key names the preset's value it stands for, whose default it takes.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import msgspec

from godojo.errors import GodojoError, known
from godojo.files import atomic_write
from godojo.games.curriculum import Stage
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.settings import TICK_S, flatten, whole_numbers
from godojo.learn.presets import ConfigForm, Preset, learner_settings, read_config, read_preset
from godojo.trainers.sb3_settings import Sb3Settings
from godojo.training.new_run import PROCESSES
from godojo.validation import converted, field_types

GAME = "navigation"
TRAINER = "sb3"
DEFAULT_STEPS = 1_000_000
GOAL = "rules.goal_within_m"
RADIANS = 6.3
"""A turn rate below this is one in radians per second."""
_DEFAULTS: dict[str, dict[str, Any]] = {
    TRAINER: msgspec.json.decode(msgspec.json.encode(Sb3Settings())),
    "game": flatten(msgspec.json.decode(msgspec.json.encode(NavigationSettings.defaults()))),
}
"""As in a file, with lists and no tuples."""

Count = Annotated[int, msgspec.Meta(ge=1)]


def _key(ours: str, default: Any = MISSING) -> Any:
    """A key that stands for `ours`: a value of a preset, as `SECTION.NAME`."""
    section, _, name = ours.partition(".")
    default = _DEFAULTS[section][name] if default is MISSING else default
    if isinstance(default, list | tuple):
        return field(default_factory=lambda: list(default), metadata={"ours": ours})
    return field(default=default, metadata={"ours": ours})


@dataclass
class NetworkConfig:
    """The policy of Stable-Baselines3."""

    policy: Literal["MlpPolicy"] = "MlpPolicy"
    """Observations are 48 numbers, so there is no other."""
    net_arch: list[int] = _key("sb3.net_arch")
    """Widths of the hidden layers."""
    activation_fn: Literal["relu", "tanh"] = _key("sb3.activation_fn")
    """Only policies with `relu` can be exported."""


@dataclass
class PPOConfig:
    """Hyperparameters of Stable-Baselines3's PPO, under its names."""

    learning_rate: float = _key("sb3.learning_rate")
    n_steps: int = _key("sb3.n_steps")
    """Steps of each environment between two updates."""
    batch_size: int = _key("sb3.batch_size")
    n_epochs: int = _key("sb3.n_epochs")
    gamma: float = _key("sb3.gamma")
    gae_lambda: float = _key("sb3.gae_lambda")
    clip_range: float = _key("sb3.clip_range")
    ent_coef: float = _key("sb3.ent_coef")
    vf_coef: float = _key("sb3.vf_coef")
    max_grad_norm: float = _key("sb3.max_grad_norm")


@dataclass
class RewardConfig:
    """Reward weights; penalties are negative."""

    goal_reached: float = _key("game.rewards.goal")
    progress: float = _key("game.rewards.progress_per_m")
    """For each metre closer to the goal, along the route."""
    smooth_bonus: float = _key("game.rewards.smooth")
    """For each step, times how little the action changed."""
    comfort_bonus: float = _key("game.rewards.comfort")
    """For each step, times comfort."""
    smooth_per_m: float = _key("game.rewards.smooth_per_m")
    """As `smooth_bonus`, for each metre of new ground instead."""
    comfort_per_m: float = _key("game.rewards.comfort_per_m")
    """As `comfort_bonus`, for each metre of new ground instead."""
    comfort_warning_penalty: float = _key("game.rewards.comfort_warning")
    """For each step with a comfort warning."""
    collision_penalty: float = _key("game.rewards.collision")
    fall_penalty: float = _key("game.rewards.fall")
    timeout_penalty: float = _key("game.rewards.timeout")
    teleport_penalty: float = _key("game.rewards.teleport")
    reward_class: str = _key("reward", "")
    """A reward of your own in place of all these, as `file.py:Class`."""
    reward_scale: float = _key("reward_scale", 0.05)
    """Factor of the reward for the learner."""


@dataclass
class CurriculumStage:
    """A stage ends after `timesteps`, or when the fraction `success_rate` of its rounds reached the goal."""

    name: str
    max_goal_distance: float | None = None
    """Goals are within this walking distance in metres; by default that of `environment`."""
    timesteps: Count | None = None
    success_rate: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    game: dict[str, Any] = field(default_factory=dict)
    """Other settings of the game, by path."""


def _documented_stages() -> list[CurriculumStage]:
    preset = read_preset(GAME, "curriculum_learning")
    return _stages(preset, _DEFAULTS["game"] | preset.game)


@dataclass
class TrainingConfig:
    """Length, checkpoints and stages."""

    total_timesteps: Count | None = _key("budget.agent_steps", DEFAULT_STEPS)
    """Steps of all environments together."""
    minutes: Annotated[float, msgspec.Meta(gt=0)] | None = _key("budget.minutes", None)
    """Training time in place of `total_timesteps`."""
    save_freq: Count = _key("sb3.checkpoint_steps", 10_000)
    """Steps between two checkpoints, each with an evaluation."""
    eval_episodes: int = _key("sb3.best_rounds")
    """Rounds of each evaluation, which finds the best model; 0 for none."""
    num_workers: Count = _key("processes", PROCESSES)
    """Godot processes that share the environments, with `--engine godot`."""
    use_curriculum: bool = False
    curriculum_stages: list[CurriculumStage] = field(default_factory=_documented_stages)
    """Used with `use_curriculum`. Training lasts as long as its stages; a last one without `timesteps` lasts until
    `total_timesteps`."""
    tasks: list[str] = _key("tasks", ())
    """Courses to mix, each with a task id."""
    device: Literal["auto", "cpu", "cuda"] = _key("sb3.device")
    """`auto` is a GPU if there is one."""


@dataclass
class EnvironmentConfig:
    """The game."""

    num_environments: int = _key("sb3.num_envs")
    """Copies that run in parallel."""
    max_episode_steps: Annotated[int, msgspec.Meta(ge=0, le=50_000)] = _key("options.truncate_after", 0)
    """Steps after which an episode is truncated; 0 for never. The time limit is raised to this length if need be."""
    time_limit_s: float = _key("game.rules.round_s")
    """Time after which an episode is lost."""
    max_goal_distance: float = _key(f"game.{GOAL}")
    """Goals are within this walking distance in metres; 0 for the end of the route."""
    goal_radius: float = _key("game.rules.mark_radius_m")
    ticks_per_decision: int = _key("game.rules.ticks_per_decision")
    """Physics ticks (60 a second) of each step."""
    max_speed: float = _key("game.motion.speed_mps")
    """Metres per second."""
    max_rotation_speed: float = _key("game.motion.turn_rate_degps")
    """Degrees per second."""
    action_smoothing: float = _key("game.motion.smoothing_s")
    """Time constant in seconds with which motion follows the action; 0 for none."""
    turn_mode: Literal["smooth", "snap"] = _key("game.motion.turn")
    snap_angle: float = _key("game.motion.snap_deg")
    """Degrees of a snap turn."""
    teleport_distance: float = _key("game.motion.teleport_m")
    """Metres; 0 for an action of three numbers, without teleport."""
    normalize_observations: bool = _key("sb3.norm_obs")
    normalize_rewards: bool = _key("sb3.norm_reward")
    clip_observations: float = _key("sb3.clip_obs")
    """Limit of normalised observations."""
    courses: list[str] = _key("options.courses", ())
    """Courses by name; all by default."""
    game: dict[str, Any] = field(default_factory=lambda: _others(_DEFAULTS["game"]))
    """Any other setting of the game, by path."""


@dataclass
class RLConfig:
    """A training configuration in five sections."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    rewards: RewardConfig = field(default_factory=RewardConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    environment: EnvironmentConfig = field(default_factory=EnvironmentConfig)

    @classmethod
    def of(cls, preset: Preset) -> Self:
        """A preset with all its values."""
        game = _DEFAULTS["game"] | preset.game
        steps = preset.budget.get("agent_steps")
        tree: dict[str, Any] = {
            "sb3": _DEFAULTS[TRAINER] | preset.sb3,
            "game": game,
            "options": preset.options,
            "budget": {"agent_steps": None if steps is None else int(steps), "minutes": preset.budget.get("minutes")},
            "processes": preset.processes or PROCESSES,
            "tasks": list(preset.tasks),
            "reward": preset.reward,
            "reward_scale": preset.reward_scale,
        }
        config = cls()
        for section, name, ours in keys():
            found = _at(tree, ours)
            if found is not MISSING:
                setattr(getattr(config, section), name, found)
        config.training.use_curriculum = bool(preset.curriculum)
        if preset.curriculum:
            config.training.curriculum_stages = _stages(preset, game)
        config.environment.game = _others(game)
        return config

    @classmethod
    def from_preset(cls, name: str) -> Self:
        return cls.of(read_preset(GAME, name))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """From a file in either form, checked."""
        return cls.of(read_config(Path(path), GAME))

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def save(self, path: str | Path) -> None:
        atomic_write(Path(path), msgspec.json.format(msgspec.json.encode(self.to_dict()), indent=2) + b"\n")


SECTIONS = tuple(field_types(RLConfig))


def keys() -> Iterator[tuple[str, str, str]]:
    """Section, key and preset's value of every key that stands for one value."""
    for section, kind in field_types(RLConfig).items():
        for one in dataclasses.fields(kind):
            if "ours" in one.metadata:
                yield section, one.name, one.metadata["ours"]


def _others(game: dict[str, Any]) -> dict[str, Any]:
    """Settings of the game that no key stands for."""
    named = {ours for _, _, ours in keys()}
    return {path: value for path, value in game.items() if f"game.{path}" not in named}


def _at(tree: dict[str, Any], ours: str) -> Any:
    section, _, name = ours.partition(".")
    return tree.get(section, {}).get(name, MISSING) if name else tree.get(section, MISSING)


def _stages(preset: Preset, game: dict[str, Any]) -> list[CurriculumStage]:
    """The last one's steps are what the budget leaves."""
    left = preset.budget.get("agent_steps")
    found = []
    for stage in preset.curriculum:
        steps = stage.agent_steps
        if stage is preset.curriculum[-1] and left is not None and steps is None:
            steps = max(int(left), 1)
        left = None if left is None or steps is None else left - steps
        others = {path: value for path, value in stage.game.items() if path != GOAL}
        found.append(CurriculumStage(stage.name, stage.game.get(GOAL, game[GOAL]), steps, stage.success, others))
    return found


def preset_tree(tree: dict[str, Any]) -> dict[str, Any]:
    """A file's sections as those of a preset, checked; GodojoError names section and key."""
    tree = _under_their_names(whole_numbers(tree))
    _check_names(tree)
    given = {f"{section}.{name}" for section, values in tree.items() for name in values}
    config = converted(tree, RLConfig)
    _check(config, given)
    default = read_preset(GAME, "default")
    checkpoints = {"checkpoint_steps": config.training.save_freq}
    found: dict[str, Any] = {"trainer": TRAINER, "ppo": default.ppo | checkpoints, "sac": default.sac | checkpoints}
    for section, name, ours in keys():
        value = getattr(getattr(config, section), name)
        if value not in (None, []):
            part, _, key = ours.partition(".")
            found |= {part: {**found.get(part, {}), key: value}} if key else {part: value}
    found["game"] |= config.environment.game
    found["budget"] = _budget(config.training)
    if config.training.use_curriculum:
        found["curriculum"] = [msgspec.to_builtins(_stage(stage)) for stage in config.training.curriculum_stages]
    steps_s = config.environment.max_episode_steps * config.environment.ticks_per_decision * TICK_S
    if "environment.time_limit_s" not in given and steps_s >= config.environment.time_limit_s:
        found["game"]["rules.round_s"] = steps_s + 1.0
    _check_values(found)
    return found


def _under_their_names(tree: dict[str, Any]) -> dict[str, Any]:
    """The same with keys of ours (`rewards.goal`) under the names of the sections (`rewards.goal_reached`)."""
    renamed = {(section, ours.rpartition(".")[2]): name for section, name, ours in keys()}
    found: dict[str, Any] = {}
    for section, values in tree.items():
        if not isinstance(values, dict):
            raise GodojoError(f"{section} must be a section with settings of its own, not {values!r}")
        found[section] = {}
        for name, value in values.items():
            name_there = renamed.get((section, name), name)
            if name_there in found[section]:
                raise GodojoError(f"{section}.{name} and {section}.{name_there} are the same; remove one")
            found[section][name_there] = value
    return found


def _check_names(tree: dict[str, Any]) -> None:
    names = {section: list(field_types(kind)) for section, kind in field_types(RLConfig).items()}
    for section, values in tree.items():
        if section not in names:
            raise GodojoError(f"there is no section {section!r}; {known(section, names)}")
        for name in values:
            _check_name(section, name, names[section], [one for one in names if name in names[one]])
    stages = tree.get("training", {}).get("curriculum_stages")
    for place, stage in enumerate(stages if isinstance(stages, list) else []):
        for name in stage if isinstance(stage, dict) else ():
            _check_name(f"training.curriculum_stages[{place}]", name, list(field_types(CurriculumStage)))


def _check_name(section: str, name: str, names: list[str], elsewhere: list[str] | None = None) -> None:
    if name not in names:
        hint = f"it belongs in {elsewhere[0]}" if elsewhere else known(name, names)
        raise GodojoError(f"there is no setting {f'{section}.{name}'!r}; {hint}")


def _check(config: RLConfig, given: set[str]) -> None:
    """Rejects what the preset's own checks would let pass."""
    if {"training.minutes", "training.total_timesteps"} <= given and None not in (
        config.training.minutes,
        config.training.total_timesteps,
    ):
        raise GodojoError("training.minutes and training.total_timesteps are both given; remove one")
    for name, value in dataclasses.asdict(config.rewards).items():
        if name.endswith("_penalty") and value > 0:
            raise GodojoError(f"rewards.{name} must be 0 or less, not {value}: a penalty is a negative reward")
    if config.environment.max_rotation_speed < RADIANS:
        raise GodojoError(
            f"environment.max_rotation_speed is in degrees per second; {config.environment.max_rotation_speed} is too"
            " slow (1.57 radians are 90 degrees)"
        )
    if config.training.use_curriculum and not config.training.curriculum_stages:
        raise GodojoError("training.use_curriculum needs stages in training.curriculum_stages; add some, or remove it")


def _budget(training: TrainingConfig) -> dict[str, Any]:
    stages = [stage.timesteps for stage in training.curriculum_stages] if training.use_curriculum else []
    if training.minutes is not None:
        return {"minutes": training.minutes}
    if stages and all(stages):
        return {"agent_steps": sum(steps or 0 for steps in stages)}
    return {"agent_steps": training.total_timesteps or DEFAULT_STEPS}


def _stage(stage: CurriculumStage) -> Stage:
    goal = {} if stage.max_goal_distance is None else {GOAL: stage.max_goal_distance}
    return Stage(stage.name, {**goal, **stage.game}, stage.timesteps, stage.success_rate)


def _check_values(preset: dict[str, Any]) -> None:
    """The preset's own checks, with errors under the names of the sections."""
    try:
        learner_settings(TRAINER, preset["sb3"])
        settings = NavigationSettings.defaults().override(**preset["game"])
        for stage in preset.get("curriculum", ()):
            settings.override(**stage["game"])
    except GodojoError as error:
        path, _, rest = str(error).partition(" ")
        theirs = {
            ours.removeprefix("sb3.").removeprefix("game."): f"{section}.{name}" for section, name, ours in keys()
        }
        raise GodojoError(f"{theirs.get(path, path)} {rest}") from None


FORM = ConfigForm(SECTIONS, preset_tree, lambda preset: RLConfig.of(preset).to_dict())
