"""Configures a new run: checks the arguments, fills in defaults and opens the worlds."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from godojo.cluster.start import AUTO, RAY, ClusterConfig
from godojo.engines.base import ENGINES, Worlds
from godojo.engines.reward_wrapper import custom_reward
from godojo.errors import GodojoError, option, unknown
from godojo.extras import require
from godojo.games.base import GAMES, HELD_OUT_SEED
from godojo.games.settings import flatten
from godojo.learn.defaults import SHOWN, ppo_defaults
from godojo.learn.presets import (
    Preset,
    declared_values,
    learner_settings,
    preset_names,
    read_config,
    read_preset,
    split_settings,
)
from godojo.learn.registry import ALGORITHMS, algorithm_named
from godojo.runs.config import CONTINUED_BY, RunConfig
from godojo.runs.folder import RunFolder
from godojo.training.args import TrainArgs
from godojo.training.worlds import curriculum_of, worlds_of

GODOT_WORLDS = 64
"""The default number of worlds on the real engine."""
PROCESSES = 2
"""The default number of Godot processes."""
HTTP_PPO = {"n_steps": 512, "n_minibatches": 1, "n_epochs": 4}
"""Defaults for the few worlds of games over HTTP: longer rollouts between updates."""
TRAINERS = ("built-in", *(name for name, entry in ALGORITHMS.items() if entry.extra))
MAX_GAME_NAME = 40
MODE = "rules.mode"
"""The setting of games with several modes; a preset of a mode's name is that mode's default."""
NETWORK_SETTINGS = ("net_arch", "memory", "memory_size", "egocentric_memory_size", "egocentric")
"""Settings that decide the shape of a policy."""


def new_config(
    args: TrainArgs,
    source: RunFolder | None,
    say: Callable[[str], None],
    model_settings: Mapping[str, Any] | None = None,
) -> tuple[RunConfig, Worlds]:
    """The configuration of a new run, and its worlds. `source` is the run whose policies it starts from.

    `model_settings` are settings of the learner that a model to continue from demands.

    Rejects wrong arguments before torch and the kernels are loaded, which takes seconds.
    """
    engine, game, seed = _engine_game_and_seed(args)
    asked_for = algorithm_asked_for(args)
    preset = _preset(args, game)
    algorithm = asked_for or (preset.trainer if args.trainer is None else "") or "ppo"
    entry = algorithm_named(algorithm)
    if not entry.can_continue and (args.init_from is not None or args.freeze):
        raise _only_new_policies()
    if preset.trainer not in ("", algorithm):
        say(f"{args.config} has hyperparameters of {preset.trainer}; {algorithm} uses those of the default preset")
    cluster = _cluster(args, algorithm)
    learner_values, game_texts = split_settings(args.values)
    if args.num_envs is not None:
        learner_values.setdefault(entry.num_worlds, args.num_envs)
    if args.device is not None:
        if not entry.extra:
            raise GodojoError(f"{option('device')} is for {option('trainer', 'sb3')}; remove it")
        learner_values["device"] = args.device
    config = RunConfig(
        game=game,
        engine=engine,
        roles=(),
        learner=algorithm,
        learner_settings={},
        game_settings={},
        seed=seed,
        budget=args.budget(preset.budget or {"minutes": 5.0}).as_config(),
        command=args.command,
        more=_game_source(args, engine, preset) | _world_options(args, preset) | cluster,
    )
    declared: dict[str, Any] = {}
    worlds: Worlds | None = None
    if args.is_external_game:
        config, worlds = _open_external(args, config, game_texts, learner_values.get("num_worlds"), say)
        model = worlds.declared_model or {}
        if args.algorithm is None:
            algorithm = model.get("algorithm", "ppo")
            entry, config = algorithm_named(algorithm), msgspec.structs.replace(config, learner=algorithm)
            if entry.extra:
                raise GodojoError(f"{config.game} asks for algorithm {algorithm!r}, which cannot train external games")
        declared = _external_defaults(worlds, algorithm, declared_values(model, algorithm), learner_values, say)
    else:
        rules = GAMES[game].settings.defaults().override(**preset.game | _mode(args, game)).override_texts(game_texts)
        config = msgspec.structs.replace(config, game_settings=msgspec.to_builtins(rules))
        declared = _defaults_for_few_worlds(GODOT_WORLDS, algorithm) if engine == "godot" else {}
    if args.http:
        defaults = HTTP_PPO if algorithm == "ppo" else {}
        learner_values = defaults | {entry.num_worlds: len(args.http)} | learner_values
    networks = _network_settings(source, algorithm, learner_values)
    learner = learner_settings(
        algorithm, declared, preset.learner(algorithm), networks, learner_values, model_settings or {}
    )
    config = msgspec.structs.replace(config, learner_settings=msgspec.to_builtins(learner))
    curriculum_of(config)  # rejects a wrong one before there is a run
    _say_advice(config, say)
    if entry.extra:
        require(entry.extra, say)
    worlds = worlds or worlds_of(config, args.games, say)
    entry.check(worlds)
    for role in args.freeze:
        if role not in worlds.roles:
            raise unknown("role", role, worlds.roles)
    return msgspec.structs.replace(config, roles=tuple(worlds.roles)), worlds


def _say_advice(config: RunConfig, say: Callable[[str], None]) -> None:
    if config.game in GAMES and "reward" not in config.more:
        game = GAMES[config.game]
        settings = game.settings.from_values(config.game_settings)
        if advice := game.advice(settings, config.learner_settings["gamma"]):
            say(advice)


def algorithm_asked_for(args: TrainArgs) -> str | None:
    """The algorithm that `algorithm` or `trainer` (for another library's) names, if any."""
    if args.trainer is not None and args.trainer not in TRAINERS:
        raise unknown("trainer", args.trainer, TRAINERS)
    if args.trainer not in ALGORITHMS:
        return args.algorithm
    if args.algorithm not in (None, "ppo", args.trainer):
        raise _only_new_policies()
    return args.trainer


def _only_new_policies() -> GodojoError:
    given = ", ".join(option(name) for name in ("init_from", "freeze", "algorithm"))
    return GodojoError(f"Stable-Baselines3 trains new policies, by PPO: remove {given}")


def _engine_game_and_seed(args: TrainArgs) -> tuple[str, str, int]:
    engine, game, seed = args.engine or "sim", args.game or "tag", 1 if args.seed is None else args.seed
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    args.check_game()
    if args.place is None and game not in GAMES:
        raise unknown("game", game, GAMES)
    if not 0 <= seed < HELD_OUT_SEED:
        raise GodojoError(
            f"{option('seed')} must be from 0 to {HELD_OUT_SEED - 1}, not {seed}: evaluation uses the seeds above"
        )
    if args.listen is not None:
        _check_own_game(args, "connect", "waits for one game that you start", "project", "binary", "processes", "http")
    if args.http:
        _check_own_game(args, "http", "plays in games that you start", "project", "binary", "processes")
    elif args.reload_every:
        raise GodojoError(f"{option('reload_every')} needs {option('http')}")
    return "godot" if args.listen is not None or args.http else engine, game, seed


def _check_own_game(args: TrainArgs, source: str, does: str, *others: str) -> None:
    """Reject arguments that contradict a game which the user starts."""
    for name in (*others, "tasks"):
        if getattr(args, name):
            raise GodojoError(f"{option(source)} {does}; remove {option(name)}")
    if args.engine == "sim":
        raise GodojoError(f"{option(source)} is for the real engine; remove {option('engine', 'sim')}")


def _preset(args: TrainArgs, game: str) -> Preset:
    """The preset, or the configuration file given in its place."""
    if args.is_external_game:
        if args.config is not None or algorithm_asked_for(args) in TRAINERS or args.tasks or args.reward or args.mode:
            given = ", ".join(option(name) for name in ("config", "tasks", "reward", "mode"))
            raise GodojoError(f"an external game brings its own configuration: remove {given} and sb3")
        return Preset()
    if args.config is None:
        mode = args.mode if args.mode in preset_names(game) else None
        return read_preset(game, args.preset or mode or "default")
    if args.preset is not None:
        raise GodojoError(f"give either {option('preset')} or {option('config')}, not both")
    return read_config(args.config, game)


def _mode(args: TrainArgs, game: str) -> dict[str, Any]:
    """The game's setting that `mode` chooses."""
    if args.mode is None:
        return {}
    if MODE not in flatten(msgspec.to_builtins(GAMES[game].settings.defaults())):
        raise GodojoError(f"{game} has no modes; remove {option('mode')}")
    return {MODE: args.mode}


def _game_source(args: TrainArgs, engine: str, preset: Preset) -> dict[str, Any]:
    """Where the games of a run come from, and their timeout, for `RunConfig.more`."""
    more = _games_of(args, engine, preset.processes or (PROCESSES if args.ray is None else 1))
    if args.step_timeout is not None:
        if not more:
            raise _only_in_godot("step_timeout")
        more["step_timeout_s"] = args.step_timeout
    return more


def _games_of(args: TrainArgs, engine: str, processes: int) -> dict[str, Any]:
    if args.listen is not None:
        from godojo.bridge.listener import DEFAULT_PORT

        connect = {"connect": {"host": "127.0.0.1", "port": DEFAULT_PORT} | args.listen.place}
        return connect if args.action_repeat is None else connect | {"action_repeat": args.action_repeat}
    if args.http:
        return {"http": list(args.http), "scene": args.scene, "reload_every": args.reload_every}
    if args.place is not None:
        from godojo.engines.godot.game_source import GameSource

        how = {name: getattr(args, name) for name in ("scene", "window", "speedup", "action_repeat", "strict")}
        return GameSource(project=str(args.place), processes=args.processes or processes, **how).kept()
    if engine == "godot":
        return {"processes": args.processes or processes}
    if args.processes is not None:
        raise _only_in_godot("processes")
    return {}


def _only_in_godot(name: str) -> GodojoError:
    return GodojoError(f"{option(name)} is for the real engine: add {option('engine', 'godot')}, or remove it")


def _cluster(args: TrainArgs, algorithm: str) -> dict[str, Any]:
    """The workers of a run that is spread over a cluster, for `RunConfig.more`."""
    if args.ray is None:
        for name in ("workers", "worker_timeout"):
            if getattr(args, name) is not None:
                raise GodojoError(f"{option(name)} needs {option('ray', AUTO)}")
        return {}
    if not ALGORITHMS[algorithm].cluster_factory:
        raise GodojoError(f"{option('ray')} is for the built-in PPO, not for {algorithm}; remove one of them")
    for name, is_given in (("connect", args.listen is not None), ("http", args.http), ("project", args.place)):
        if is_given:
            raise GodojoError(f"{option('ray')} starts the games of Godojo on the workers; remove {option(name)}")
    cluster = ClusterConfig(**args.cluster)
    cluster.check()
    return {RAY: msgspec.to_builtins(cluster)}


def _world_options(args: TrainArgs, preset: Preset) -> dict[str, Any]:
    """Further options of the worlds, for `RunConfig.more`."""
    more: dict[str, Any] = {}
    reward = args.reward or preset.reward
    if reward:
        more["reward"] = custom_reward(reward).source
    if preset.reward_scale != 1.0:
        more["reward_scale"] = preset.reward_scale
    if tasks := args.tasks or preset.tasks:
        more["tasks"] = list(tasks)
    if preset.options:
        more["options"] = preset.options
    if preset.curriculum:
        more["curriculum"] = msgspec.to_builtins(preset.curriculum)
    return more


def _defaults_for_few_worlds(worlds: int, algorithm: str) -> dict[str, Any]:
    """Defaults for the few worlds of the real engine, with fewer minibatches so that each stays large enough."""
    if ALGORITHMS[algorithm].extra:
        return {}
    return {"num_worlds": worlds} | ({"n_minibatches": max(worlds // 16, 1)} if algorithm == "ppo" else {})


def _external_defaults(
    worlds: Worlds, algorithm: str, declared: dict[str, Any], given: dict[str, Any], say: Callable[[str], None]
) -> dict[str, Any]:
    """Defaults for a game of the user's own, below what its scene declares; also announces them."""
    if algorithm != "ppo":
        return _defaults_for_few_worlds(worlds.num_worlds, algorithm) | declared
    defaults = ppo_defaults(worlds, declared | given)
    chosen = ", ".join(f"{name} {defaults[name]}" for name in SHOWN)
    say(f"defaults for this game, which {option('settings')} changes: {chosen}")
    return defaults | declared


def _open_external(
    args: TrainArgs,
    config: RunConfig,
    game_texts: list[str],
    num_worlds: int | None,
    say: Callable[[str], None],
) -> tuple[RunConfig, Worlds]:
    """Open an external game, which declares its own roles and model; returns the configuration with its name."""
    if game_texts:
        raise GodojoError(f"an external game does not take the setting {game_texts[0]!r}; remove it")
    more = config.more if num_worlds is None else {**config.more, "worlds": num_worlds}
    config = msgspec.structs.replace(config, game="", engine="godot", more=more)
    worlds = worlds_of(config, args.games, say)
    place = args.place
    name = worlds.hellos[0].game if place is None else place.stem if place.is_file() else place.name
    letters = "".join(letter if letter.isalnum() else "-" for letter in name[:MAX_GAME_NAME])
    return msgspec.structs.replace(config, game=letters if letters and letters not in GAMES else "game"), worlds


def _network_settings(source: RunFolder | None, algorithm: str, requested: dict[str, Any]) -> dict[str, Any]:
    """The network settings of `source`; a run that starts from its policies keeps them."""
    if source is None:
        return {}
    config = source.config
    if config.more.get(CONTINUED_BY, config.learner) != algorithm:
        raise GodojoError(f"run {source.name} was trained by {config.learner}, and {algorithm} cannot continue it")
    networks = {name: value for name, value in config.learner_settings.items() if name in NETWORK_SETTINGS}
    for name in networks.keys() & requested.keys():
        if requested[name] != networks[name]:
            raise GodojoError(
                f"{option('init_from')} keeps the networks of run {source.name}: remove the setting {name!r}"
            )
    return networks
