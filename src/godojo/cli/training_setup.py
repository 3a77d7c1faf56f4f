"""What `godojo train` was asked for, made ready: worlds, a run's folder, and a training in it."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from godojo.engines.base import Worlds
from godojo.engines.make import ENGINES, GAMES, make_vec, open_game
from godojo.engines.mixed import MixedWorlds
from godojo.engines.rewarded import RewardedWorlds, UsersReward, users_reward
from godojo.envs.alone import only_agent
from godojo.errors import GodojoError
from godojo.evaluate.held_out import HELD_OUT_SEED
from godojo.games.curriculum import Curriculum, Stage
from godojo.learn.presets import (
    Preset,
    declared_values,
    filled,
    learner_settings,
    read_config,
    read_preset,
    split_words,
)
from godojo.learn.sac import check_actions
from godojo.learn.settings import ALGORITHMS
from godojo.learn.training import Budget, Standing, Training, starting_policies
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from godojo.runs.names import known

TRAINING_SEEDS = HELD_OUT_SEED
GODOT_WORLDS = 64
"""Copies of the game on the real engine, unless asked for otherwise."""
HTTP_PPO = {"steps": 512, "minibatches": 1, "epochs": 4}
"""What suits few worlds: longer looks between updates."""
BUILT_IN, SB3 = "built-in", "sb3"
TRAINERS = (BUILT_IN, SB3)
NETWORK = ("hidden", "memory", "memory_size", "own_frame")
"""Settings that policies are built by."""


class Wishes(NamedTuple):
    """The command line, as it was typed."""

    game: str
    engine: str
    algorithm: str | None
    minutes: float | None
    steps: int | None
    run_id: str | None
    resume: str | None
    force: bool
    init_from: str | None
    preset: str | None
    values: tuple[str, ...]
    seed: int
    freeze: tuple[str, ...]
    processes: int
    project: Path | None
    trainer: str | None = None
    config: Path | None = None
    num_envs: int | None = None
    reward: str | None = None
    tasks: tuple[str, ...] = ()
    http: tuple[str, ...] = ()
    scene: str | None = None
    reload_every: int = 0


class AnyTraining(Protocol):
    """What the command line needs of a training, whoever trains."""

    run: RunFolder
    worlds: Worlds

    @property
    def agent_steps(self) -> int: ...

    def train(self, report: Callable[[Standing], None]) -> bool: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


@contextmanager
def prepared(wishes: Wishes, say: Callable[[str], None]) -> Iterator[AnyTraining]:
    """A training that can begin, in a run that nobody else writes to."""
    _check_time(wishes)
    # Before there is a new run, which would be the latest one.
    source = None if wishes.init_from is None else RunFolder.open(wishes.init_from)
    with ExitStack() as stack:
        if wishes.resume is not None:
            run = _to_resume(wishes)
            worlds = _worlds(run.config)
        else:
            config, worlds = _new(wishes, source)
            stack.callback(worlds.close)
            run = RunFolder.create(config, wishes.run_id, force=wishes.force, say=say)
            if wishes.freeze:
                run.role_map(say).write(dict.fromkeys(wishes.freeze, "frozen"))
        stack.callback(worlds.close)
        stack.enter_context(run.lock())
        budget, resume = _budget(wishes, run.config.budget), wishes.resume is not None
        curriculum = _curriculum(run.config)
        training: AnyTraining
        if run.config.learner == SB3:
            from godojo.trainers.sb3 import Sb3Training

            training = Sb3Training(run, worlds, budget, resume=resume, curriculum=curriculum, say=say)
        else:
            policies = None if source is None else starting_policies(source, worlds)
            training = Training(run, worlds, budget, resume=resume, policies=policies, curriculum=curriculum, say=say)
        stack.callback(training.close)
        yield training


def _check_time(wishes: Wishes) -> None:
    if wishes.minutes is not None and wishes.steps is not None:
        raise GodojoError("either --minutes or --steps, not both")
    for name in ("minutes", "steps"):
        value = getattr(wishes, name)
        if value is not None and not 0.0 < value < math.inf:
            raise GodojoError(f"there must be some time to train: --{name} must be above 0, not {value}")


def _to_resume(wishes: Wishes) -> RunFolder:
    for name in ("run_id", "init_from", "project", "scene"):
        if getattr(wishes, name) is not None:
            raise GodojoError(f"--resume goes on with a run as it is; leave --{name.replace('_', '-')} away")
    if wishes.values or wishes.freeze or wishes.force:
        raise GodojoError("--resume goes on with a run as it is; leave --set, --freeze and --force away")
    run = RunFolder.open(wishes.resume)
    if "project" not in run.config.more and run.config.game != wishes.game:
        raise GodojoError(f"run {run.name} is one of {run.config.game}, not of {wishes.game}")
    if wishes.config is not None or wishes.reward is not None or wishes.tasks or wishes.num_envs is not None:
        raise GodojoError("--resume goes on with a run as it is; leave --config, --reward, --tasks and --num-envs away")
    if wishes.trainer is not None and (_trainer(wishes.trainer) == SB3) != (run.config.learner == SB3):
        raise GodojoError(f"run {run.name} learns by {run.config.learner}; leave --trainer away")
    if wishes.algorithm not in (None, run.config.learner):
        raise GodojoError(f"run {run.name} learns by {run.config.learner}, not by {wishes.algorithm}")
    return run


def _new(wishes: Wishes, source: RunFolder | None) -> tuple[RunConfig, Worlds]:
    if wishes.engine not in ENGINES:
        raise GodojoError(f"there is no engine {wishes.engine!r}; {known(wishes.engine, ENGINES)}")
    if wishes.project is None and wishes.game not in GAMES:
        raise GodojoError(f"there is no game {wishes.game!r}; {known(wishes.game, GAMES)}")
    if not 0 <= wishes.seed < TRAINING_SEEDS:
        raise GodojoError(f"--seed must be from 0 to {TRAINING_SEEDS - 1}, not {wishes.seed}: judging uses those above")
    if wishes.http:
        wishes = wishes._replace(engine="godot")
    elif wishes.scene is not None or wishes.reload_every:
        raise GodojoError("--scene and --reload-every are for games over HTTP; give --http URL as well")
    preset = _preset(wishes)
    trainer = _trainer(wishes.trainer or BUILT_IN)
    if trainer == SB3 and (wishes.init_from is not None or wishes.freeze or wishes.algorithm not in (None, "ppo")):
        raise GodojoError(
            "Stable-Baselines3 trains by PPO from the start: leave --init-from, --freeze, --algorithm away"
        )
    learner_values, game_texts = split_words(wishes.values)
    config = RunConfig(
        game=wishes.game,
        engine=wishes.engine,
        roles=(),
        learner=SB3 if trainer == SB3 else _algorithm(wishes.algorithm or "ppo"),
        learner_settings={},
        game_settings={},
        seed=wishes.seed,
        budget=_budget(wishes, preset.budget or {"minutes": 5.0}).as_config(),
        command=tuple(sys.argv[1:]),
        more=_more(wishes, preset),
    )
    declared: dict[str, Any] = {}
    worlds: Worlds | None = None
    if wishes.project is not None:
        config, worlds = _project(wishes, config, game_texts)
        model = worlds.declared_model or {}
        if wishes.algorithm is None:
            config = msgspec.structs.replace(config, learner=_algorithm(model.get("algorithm", "ppo")))
        declared = declared_values(model, config.learner) | {"worlds": worlds.num_worlds}
    else:
        game = GAMES[wishes.game].settings.defaults().override(**preset.game).override_texts(game_texts)
        config = msgspec.structs.replace(config, game_settings=msgspec.to_builtins(game))
        declared = {"worlds": GODOT_WORLDS} if wishes.engine == "godot" else {}
    if wishes.http:
        if wishes.num_envs is not None or wishes.tasks:
            raise GodojoError("over HTTP there is one world for each address: leave --num-envs and --tasks away")
        count = len(wishes.http)
        learner_values |= {"num_envs": count} if trainer == SB3 else {"worlds": count}
        declared = {}
        learner_values = ({} if trainer == SB3 else HTTP_PPO) | learner_values
    if wishes.num_envs is not None:
        learner_values.setdefault("num_envs" if trainer == SB3 else "worlds", wishes.num_envs)
    learner: Any
    if trainer == SB3:
        learner = _sb3_settings(preset.sb3, learner_values)
    else:
        networks = _networks_of(source, config.learner, learner_values)
        learner = learner_settings(config.learner, declared, preset.learner(config.learner), networks, learner_values)
    config = msgspec.structs.replace(config, learner_settings=msgspec.to_builtins(learner))
    _curriculum(config)  # refused now, before there is a run
    worlds = worlds or _worlds(config)
    if config.learner == "sac":
        check_actions(worlds.roles)
    if trainer == SB3:
        only_agent(worlds)
    for role in wishes.freeze:
        if role not in worlds.roles:
            raise GodojoError(f"there is no role {role!r} to freeze; there is: {', '.join(worlds.roles)}")
    return msgspec.structs.replace(config, roles=tuple(worlds.roles)), worlds


def _preset(wishes: Wishes) -> Preset:
    """What to train, and how: a preset, or a file of a user's own in its place."""
    if wishes.project is not None:
        if wishes.config is not None or wishes.trainer == SB3 or wishes.tasks or wishes.reward:
            raise GodojoError("--config, --trainer sb3, --tasks and --reward are for games of ours; leave them away")
        return Preset()
    if wishes.config is None:
        return read_preset(wishes.game, wishes.preset or "default")
    if wishes.preset is not None:
        raise GodojoError("either --preset or --config, not both")
    return read_config(wishes.config)


def _more(wishes: Wishes, preset: Preset) -> dict[str, Any]:
    """What else decides about the worlds to train in."""
    more: dict[str, Any] = {"processes": wishes.processes} if wishes.engine == "godot" else {}
    if wishes.http:
        more = {"http": list(wishes.http), "scene": wishes.scene, "reload_every": wishes.reload_every}
    reward = wishes.reward or preset.reward
    if reward:
        more["reward"] = users_reward(reward).source
    if preset.reward_scale != 1.0:
        more["reward_scale"] = preset.reward_scale
    if tasks := wishes.tasks or preset.tasks:
        more["tasks"] = list(tasks)
    if preset.options:
        more["options"] = preset.options
    if preset.curriculum:
        more["curriculum"] = msgspec.to_builtins(preset.curriculum)
    return more


def _curriculum(config: RunConfig) -> Curriculum | None:
    stages = config.more.get("curriculum")
    if not stages:
        return None
    if config.engine != "sim":
        raise GodojoError("a curriculum changes the game's settings while it plays, which only engine sim can")
    settings = GAMES[config.game].settings.from_values(config.game_settings)
    return Curriculum(msgspec.convert(stages, list[Stage]), settings)


def _sb3_settings(*layers: Mapping[str, Any]) -> Any:
    from godojo.trainers.sb3_settings import Sb3Settings

    return filled(Sb3Settings, *layers)


def _trainer(name: str) -> str:
    if name not in TRAINERS:
        raise GodojoError(f"there is no trainer {name!r}; {known(name, TRAINERS)}")
    return name


def _algorithm(name: str) -> str:
    if name not in ALGORITHMS:
        raise GodojoError(f"there is no algorithm {name!r}; {known(name, ALGORITHMS)}")
    return name


def _project(wishes: Wishes, config: RunConfig, game_texts: list[str]) -> tuple[RunConfig, Worlds]:
    """Somebody's game: what it is made of and how it should be learnt, it says itself."""
    assert wishes.project is not None
    if game_texts:
        raise GodojoError(f"--set {game_texts[0]}: a project has no settings of ours; leave it away")
    more = {"project": str(wishes.project.expanduser().absolute()), "processes": wishes.processes}
    name = "".join(letter if letter.isalnum() else "-" for letter in wishes.project.expanduser().absolute().name)
    config = msgspec.structs.replace(config, game=name or "project", engine="godot", more=more)
    return config, _worlds(config)


def _networks_of(source: RunFolder | None, algorithm: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Whoever begins with the policies of a run keeps their networks; so the configuration says what is true."""
    if source is None:
        return {}
    config = source.config
    if config.learner != algorithm:
        raise GodojoError(f"run {source.name} was learnt by {config.learner}, and {algorithm} cannot go on with it")
    networks = {name: value for name, value in config.learner_settings.items() if name in NETWORK}
    for name in networks.keys() & asked.keys():
        if asked[name] != networks[name]:
            raise GodojoError(f"--init-from keeps the networks of run {source.name}: leave --set {name} away")
    return networks


def _worlds(config: RunConfig) -> Worlds:
    """The game to train in."""
    if "project" in config.more:
        return open_game(config.more["project"], num_processes=config.more["processes"], seed=config.seed)
    game = GAMES[config.game]
    settings = game.settings.from_values(config.game_settings)
    options = {**game.training_options(settings), **config.more.get("options", {})}
    if "http" in config.more:
        options |= {name: config.more[name] for name in ("http", "scene", "reload_every")}
    elif config.engine == "godot":
        options["num_processes"] = config.more["processes"]
    count = _world_count(config)

    def made(number: int, **task: Any) -> Worlds:
        more = {"settings": settings, **options, **task}
        return make_vec(config.game, engine=config.engine, num_worlds=number, seed=config.seed, **more)

    tasks = config.more.get("tasks", [])
    worlds: Worlds
    if tasks:
        shares = [count // len(tasks) + (place < count % len(tasks)) for place in range(len(tasks))]
        if 0 in shares:
            raise GodojoError(f"{count} worlds are too few for {len(tasks)} tasks")
        asked = [game.judging_options(settings, task) for task in tasks]
        worlds = MixedWorlds(
            {task: made(number, **own) for task, number, own in zip(tasks, shares, asked, strict=True)}
        )
    else:
        worlds = made(count)
    reward, scale = config.more.get("reward"), config.more.get("reward_scale", 1.0)
    if reward is not None or scale != 1.0:
        worlds = RewardedWorlds(worlds, reward=None if reward is None else UsersReward(reward), scale=scale)
    if config.engine == "sim":
        worlds.step()  # compiles, so that it does not count as training
        worlds.reset(config.seed)
    return worlds


def _world_count(config: RunConfig) -> int:
    if config.learner == SB3:
        return int(_sb3_settings(config.learner_settings).num_envs)
    return learner_settings(config.learner, config.learner_settings).worlds


def _budget(wishes: Wishes, otherwise: Mapping[str, float]) -> Budget:
    """What was asked for now; without a word, what the preset says, or what a run was begun with."""
    if wishes.steps is not None:
        return Budget(agent_steps=wishes.steps)
    if wishes.minutes is not None:
        return Budget(minutes=wishes.minutes)
    steps = otherwise.get("agent_steps")
    return Budget(otherwise.get("minutes"), None if steps is None else int(steps))
