"""A training that begins: what was asked for, checked and filled in, and worlds for it."""

import sys
from collections.abc import Callable
from typing import Any

import msgspec

from godojo.cli.train_args import TrainArgs
from godojo.cli.training_worlds import curriculum_of, worlds_of
from godojo.engines.base import ENGINES, Worlds
from godojo.engines.reward_wrapper import custom_reward
from godojo.errors import GodojoError, known
from godojo.extras import require
from godojo.games.base import GAMES, HELD_OUT_SEED
from godojo.learn.presets import (
    Preset,
    declared_values,
    filled,
    learner_settings,
    read_config,
    read_preset,
    split_words,
)
from godojo.learn.settings import ALGORITHMS
from godojo.runs.config import GOES_ON_BY, RunConfig
from godojo.runs.folder import RunFolder
from godojo.trainers.sb3_settings import SB3, Sb3Settings

TRAINING_SEEDS = HELD_OUT_SEED
GODOT_WORLDS = 64
"""Copies of the game on the real engine, unless asked for otherwise."""
PROCESSES = 2
"""Games at once there, likewise."""
HTTP_PPO = {"n_steps": 512, "n_minibatches": 1, "n_epochs": 4}
"""What suits few worlds: longer looks between updates."""
BUILT_IN = "built-in"
TRAINERS = (BUILT_IN, SB3)
MAX_GAME_NAME = 40
NETWORK = ("net_arch", "memory", "memory_size", "egocentric_memory_size", "egocentric")
"""Settings that policies are built by."""


def new_training(wishes: TrainArgs, source: RunFolder | None, say: Callable[[str], None]) -> tuple[RunConfig, Worlds]:
    """The configuration of a new run, and its worlds; `source` is the run whose policies it begins with.

    All that can be refused is refused before torch and the kernels are loaded, which takes seconds.
    """
    engine, game, seed = _where(wishes)
    trainer = trainer_named(wishes.trainer or BUILT_IN)
    if trainer == SB3 and (wishes.init_from is not None or wishes.freeze or wishes.algorithm not in (None, "ppo")):
        raise GodojoError(
            "Stable-Baselines3 trains by PPO from the start: leave --init-from, --freeze, --algorithm away"
        )
    preset = _preset(wishes, game)
    learner_values, game_texts = split_words(wishes.values)
    if wishes.num_envs is not None:
        learner_values.setdefault("num_envs" if trainer == SB3 else "num_worlds", wishes.num_envs)
    config = RunConfig(
        game=game,
        engine=engine,
        roles=(),
        learner=SB3 if trainer == SB3 else _algorithm(wishes.algorithm or "ppo"),
        learner_settings={},
        game_settings={},
        seed=seed,
        budget=wishes.budget(preset.budget or {"minutes": 5.0}).as_config(),
        command=tuple(sys.argv[1:]),
        more=_whence(wishes, engine) | _more(wishes, preset),
    )
    declared: dict[str, Any] = {}
    worlds: Worlds | None = None
    if wishes.is_of_others:
        config, worlds = _of_others(wishes, config, game_texts, learner_values.get("num_worlds"))
        model = worlds.declared_model or {}
        if wishes.algorithm is None:
            config = msgspec.structs.replace(config, learner=_algorithm(model.get("algorithm", "ppo")))
        declared = declared_values(model, config.learner) | _suiting(worlds.num_worlds, config.learner)
    else:
        rules = GAMES[game].settings.defaults().override(**preset.game).override_texts(game_texts)
        config = msgspec.structs.replace(config, game_settings=msgspec.to_builtins(rules))
        declared = _suiting(GODOT_WORLDS, config.learner) if engine == "godot" else {}
    if wishes.http:
        here = {"num_envs": len(wishes.http)} if trainer == SB3 else {"num_worlds": len(wishes.http)}
        learner_values = ({} if trainer == SB3 else HTTP_PPO) | learner_values | here
    learner: Any
    if trainer == SB3:
        learner = filled(Sb3Settings, preset.sb3, learner_values)
    else:
        networks = _networks_of(source, config.learner, learner_values)
        learner = learner_settings(config.learner, declared, preset.learner(config.learner), networks, learner_values)
    config = msgspec.structs.replace(config, learner_settings=msgspec.to_builtins(learner))
    curriculum_of(config)  # refused now, before there is a run
    if trainer == SB3:
        require(SB3, say)
    worlds = worlds or worlds_of(config, wishes.token)
    if config.learner == "sac":
        from godojo.learn.sac import check_actions

        check_actions(worlds.roles)
    if trainer == SB3:
        from godojo.envs.solo import only_agent

        only_agent(worlds)
    for role in wishes.freeze:
        if role not in worlds.roles:
            raise GodojoError(f"there is no role {role!r} to freeze; there is: {', '.join(worlds.roles)}")
    return msgspec.structs.replace(config, roles=tuple(worlds.roles)), worlds


def trainer_named(name: str) -> str:
    if name not in TRAINERS:
        raise GodojoError(f"there is no trainer {name!r}; {known(name, TRAINERS)}")
    return name


def _where(wishes: TrainArgs) -> tuple[str, str, int]:
    """Engine, game and seed."""
    engine, game, seed = wishes.engine or "sim", wishes.game or "tag", 1 if wishes.seed is None else wishes.seed
    if engine not in ENGINES:
        raise GodojoError(f"there is no engine {engine!r}; {known(engine, ENGINES)}")
    if wishes.project is None and game not in GAMES:
        raise GodojoError(f"there is no game {game!r}; {known(game, GAMES)}")
    if not 0 <= seed < TRAINING_SEEDS:
        raise GodojoError(f"--seed must be from 0 to {TRAINING_SEEDS - 1}, not {seed}: judging uses those above")
    if wishes.door is not None:
        _check_alone(wishes, "--connect", "waits for one game that you start yourself", "project", "processes", "http")
    if wishes.http:
        _check_alone(wishes, "--http", "plays one world at each address", "project", "processes", "num_envs")
    elif wishes.scene is not None or wishes.reload_every:
        raise GodojoError("--scene and --reload-every are for games over HTTP; give --http URL as well")
    return "godot" if wishes.door is not None or wishes.http else engine, game, seed


def _check_alone(wishes: TrainArgs, option: str, does: str, *others: str) -> None:
    """Refuses what games that somebody else starts cannot be asked for."""
    for name in (*others, "tasks"):
        if getattr(wishes, name):
            raise GodojoError(f"{option} {does}; leave --{name.replace('_', '-')} away")
    if wishes.engine == "sim":
        raise GodojoError(f"{option} is for the real engine; leave --engine sim away")


def _preset(wishes: TrainArgs, game: str) -> Preset:
    """What to train, and how: a preset, or a file of a user's own in its place."""
    if wishes.is_of_others:
        if wishes.config is not None or wishes.trainer == SB3 or wishes.tasks or wishes.reward:
            raise GodojoError("--config, --trainer sb3, --tasks and --reward are for games of ours; leave them away")
        return Preset()
    if wishes.config is None:
        return read_preset(game, wishes.preset or "default")
    if wishes.preset is not None:
        raise GodojoError("either --preset or --config, not both")
    return read_config(wishes.config)


def _whence(wishes: TrainArgs, engine: str) -> dict[str, Any]:
    """Where the games of a run come from, and how long they may be silent."""
    more = _games_of(wishes, engine)
    if wishes.step_timeout is not None:
        if not more:
            raise GodojoError("--step-timeout is for games in the real engine: say --engine godot, or leave it away")
        more["step_timeout_s"] = wishes.step_timeout
    return more


def _games_of(wishes: TrainArgs, engine: str) -> dict[str, Any]:
    if wishes.door is not None:
        from godojo.bridge.listener import DEFAULT_PORT

        return {"connect": {"host": "127.0.0.1", "port": DEFAULT_PORT} | wishes.door.place}
    if wishes.http:
        return {"http": list(wishes.http), "scene": wishes.scene, "reload_every": wishes.reload_every}
    more: dict[str, Any] = {}
    if wishes.project is not None:
        more["project"] = str(wishes.project.expanduser().absolute())
    if engine == "godot" or wishes.project is not None:
        more["processes"] = wishes.processes or PROCESSES
    elif wishes.processes is not None:
        raise GodojoError("--processes is for games in the real engine: say --engine godot, or leave it away")
    return more


def _more(wishes: TrainArgs, preset: Preset) -> dict[str, Any]:
    """What else decides about the worlds to train in."""
    more: dict[str, Any] = {}
    reward = wishes.reward or preset.reward
    if reward:
        more["reward"] = custom_reward(reward).source
    if preset.reward_scale != 1.0:
        more["reward_scale"] = preset.reward_scale
    if tasks := wishes.tasks or preset.tasks:
        more["tasks"] = list(tasks)
    if preset.options:
        more["options"] = preset.options
    if preset.curriculum:
        more["curriculum"] = msgspec.to_builtins(preset.curriculum)
    return more


def _algorithm(name: str) -> str:
    if name not in ALGORITHMS:
        raise GodojoError(f"there is no algorithm {name!r}; {known(name, ALGORITHMS)}")
    return name


def _suiting(worlds: int, algorithm: str) -> dict[str, Any]:
    """What suits the few worlds that the real engine plays: gradient steps that still learn from enough."""
    return {"num_worlds": worlds} | ({"n_minibatches": max(worlds // 16, 1)} if algorithm == "ppo" else {})


def _of_others(
    wishes: TrainArgs, config: RunConfig, game_texts: list[str], num_worlds: int | None
) -> tuple[RunConfig, Worlds]:
    """Somebody's game: what it is made of and how it should be learnt, it says itself."""
    if game_texts:
        raise GodojoError(f"--set {game_texts[0]}: somebody's game has no settings of ours; leave it away")
    config = msgspec.structs.replace(config, game="", engine="godot")
    worlds = worlds_of(config, wishes.token, num_worlds)
    place = None if wishes.project is None else wishes.project.expanduser().absolute()
    name = worlds.hellos[0].game if place is None else place.stem if place.is_file() else place.name
    letters = "".join(letter if letter.isalnum() else "-" for letter in name[:MAX_GAME_NAME])
    return msgspec.structs.replace(config, game=letters if letters and letters not in GAMES else "game"), worlds


def _networks_of(source: RunFolder | None, algorithm: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Whoever begins with the policies of a run keeps their networks; so the configuration says what is true."""
    if source is None:
        return {}
    config = source.config
    if config.more.get(GOES_ON_BY, config.learner) != algorithm:
        raise GodojoError(f"run {source.name} was learnt by {config.learner}, and {algorithm} cannot go on with it")
    networks = {name: value for name, value in config.learner_settings.items() if name in NETWORK}
    for name in networks.keys() & asked.keys():
        if asked[name] != networks[name]:
            raise GodojoError(f"--init-from keeps the networks of run {source.name}: leave --set {name} away")
    return networks
