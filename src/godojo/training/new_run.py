"""Configures a new run: checks the arguments, fills in defaults and opens the worlds."""

from collections.abc import Callable, Container, Mapping
from contextlib import ExitStack
from typing import Any

import msgspec

from godojo.cluster.start import AUTO, RAY, ClusterConfig
from godojo.engines.base import ENGINES, Worlds
from godojo.engines.reward_wrapper import custom_reward
from godojo.errors import GodojoError, option, unknown
from godojo.extras import require
from godojo.games.base import GAMES, HELD_OUT_SEED, SCENE_GAMES
from godojo.games.settings import flatten
from godojo.learn.presets import Preset, learner_settings, preset_names, read_config, read_preset, split_settings
from godojo.learn.registry import ALGORITHMS, SB3, algorithm_named
from godojo.learn.settings import PpoSettings, SacSettings, check_role_names
from godojo.runs.config import CONTINUED_BY, OPPONENTS, RunConfig
from godojo.runs.folder import RunFolder
from godojo.training.args import TrainArgs
from godojo.training.demos import kept_demos
from godojo.training.external_game import external_config, from_scene, open_external
from godojo.training.layers import Layer, defaults_for_few_worlds, with_settings
from godojo.training.worlds import curriculum_of, worlds_of

GODOT_WORLDS = 64
"""The default number of worlds on the real engine."""
PROCESSES = 2
"""The default number of Godot processes."""
HTTP_PPO = {"n_steps": 512, "n_minibatches": 1, "n_epochs": 4}
"""Defaults for the few worlds of games over HTTP: longer rollouts between updates."""
TRAINERS = ("built-in", *dict.fromkeys(entry.extra for entry in ALGORITHMS.values() if entry.extra))
MODE = "rules.mode"
"""The setting of games with several modes; a preset of a mode's name is that mode's default."""
NETWORK_SETTINGS = (
    *("net_arch", "activation_fn", "cnn_channels"),
    *("memory", "memory_size", "egocentric_memory_size", "egocentric"),
)
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
    preset = _preset(args, game)
    requested = algorithm_asked_for(args) or (preset.trainer if args.trainer is None else "") or None
    algorithm = requested or "ppo"
    _check_algorithm(args, algorithm, preset, say)
    given, game_texts = _given(args, algorithm)
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
        more=_game_source(args, engine, preset)
        | _world_options(args, preset)
        | kept_demos(args.demos)
        | _cluster(args, algorithm),
    )
    with ExitStack() as stack:
        worlds: Worlds | None = None
        if args.is_external_game:
            count = algorithm_named(algorithm).num_worlds
            num_worlds = given.get(count, preset.learner(algorithm).get(count))
            config, worlds = open_external(args, config, game_texts, num_worlds, say)
            stack.callback(worlds.close)
            kept = () if source is None else NETWORK_SETTINGS
            config, defaults = from_scene(config, worlds, requested, preset, given, say, kept)
        else:
            rules = GAMES[game].settings.defaults().override(**preset.game | _mode(args, game))
            rules = rules.override_texts(game_texts)
            config = msgspec.structs.replace(config, game_settings=msgspec.to_builtins(rules))
            few = defaults_for_few_worlds(GODOT_WORLDS, algorithm) if engine == "godot" else {}
            defaults = [Layer("default for this engine", few)]
        config = with_settings(
            config,
            *defaults,
            Layer(_preset_name(args), preset.learner(config.learner)),
            Layer("default for games over HTTP", _http_defaults(args, config.learner)),
            Layer("the run that it starts from", _network_settings(source, config.learner, given)),
            Layer("command line", given),
            Layer("the model that it continues", model_settings or {}),
        )
        curriculum_of(config)  # rejects a wrong one before there is a run
        _say_advice(config, say)
        entry = algorithm_named(config.learner)
        if entry.extra:
            require(entry.extra, say)
        if worlds is None:
            worlds = worlds_of(config, args.games, say)
            stack.callback(worlds.close)
        config = _checked(args, config, worlds)
        stack.pop_all()
    return config, worlds


def _check_algorithm(args: TrainArgs, algorithm: str, preset: Preset, say: Callable[[str], None]) -> None:
    if not algorithm_named(algorithm).can_continue and (args.init_from is not None or args.freeze):
        raise _only_new_policies()
    if not algorithm.startswith(preset.trainer):
        say(f"{args.config} has hyperparameters of {preset.trainer}; {algorithm} uses those of the default preset")


def _given(args: TrainArgs, algorithm: str) -> tuple[dict[str, Any], list[str]]:
    """The learner's settings on the command line, and the game's as texts."""
    entry = algorithm_named(algorithm)
    values, game_texts = split_settings(args.values)
    if args.num_envs is not None:
        values.setdefault(entry.num_worlds, args.num_envs)
    for name in ("device", "role", "opponent"):
        if (value := getattr(args, name)) is not None:
            if not entry.extra:
                raise GodojoError(f"{option(name)} is for {option('trainer', 'sb3')}; remove it")
            values[name] = value
    return values, game_texts


def _checked(args: TrainArgs, config: RunConfig, worlds: Worlds) -> RunConfig:
    """The configuration with its roles; rejects worlds that the algorithm cannot train in, or that do not fit it."""
    entry = algorithm_named(config.learner)
    settings = learner_settings(config.learner, config.learner_settings)
    entry.check(worlds, settings)
    if args.demos and config.learner != "ppo":
        raise GodojoError(f"only PPO imitates demonstrations, not {config.learner}; remove {option('demos')}")
    wanted = entry.world_count(settings)
    if args.is_external_game and wanted != worlds.num_worlds:
        raise GodojoError(
            f"there are {worlds.num_worlds} worlds, and {entry.num_worlds} is {wanted}; remove the setting"
        )
    agents = {name: role.acted.size for name, role in worlds.roles.items()}
    if isinstance(settings, PpoSettings | SacSettings):
        check_role_names(settings, list(agents))
    if isinstance(settings, PpoSettings):
        settings.check_batches(agents)
    for role in args.freeze:
        if role not in worlds.roles:
            raise unknown("role", role, worlds.roles)
    return _with_roles(config, entry.trained_roles(worlds, settings), worlds)


def _with_roles(config: RunConfig, trained: tuple[str, ...], worlds: Worlds) -> RunConfig:
    """The roles that learn, and who plays the others."""
    others = [name for name in worlds.roles if name not in trained]
    if not others:
        return msgspec.structs.replace(config, roles=trained)
    from godojo.trainers.sb3 import opponent_of

    settings = learner_settings(config.learner, config.learner_settings)
    opponents = dict.fromkeys(others, opponent_of(worlds.game, settings))
    return msgspec.structs.replace(config, roles=trained, more={**config.more, OPPONENTS: opponents})


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
    if args.trainer in (None, "built-in") or args.algorithm == args.trainer:
        return args.algorithm
    algorithm = args.algorithm or "ppo"
    if algorithm not in SB3:
        raise unknown("algorithm of Stable-Baselines3", algorithm, SB3)
    return SB3[algorithm]


def _only_new_policies() -> GodojoError:
    given = ", ".join(option(name) for name in ("init_from", "freeze"))
    return GodojoError(f"Stable-Baselines3 trains new policies: remove {given}")


def _engine_game_and_seed(args: TrainArgs) -> tuple[str, str, int]:
    engine, game, seed = args.engine or "sim", args.game or "tag", 1 if args.seed is None else args.seed
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    args.check_game()
    if args.is_scene_game:
        for name in ("engine", "http", "ray"):
            if (given := getattr(args, name)) and given != "godot":
                raise GodojoError(f"{game} has no embedded twin and is played in Godot only; remove {option(name)}")
        engine = "godot"
    elif args.place is None and game not in GAMES:
        raise unknown("game", game, [*GAMES, *SCENE_GAMES])
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
        if args.tasks or args.reward or args.mode:
            given = ", ".join(option(name) for name in ("tasks", "reward", "mode"))
            raise GodojoError(f"an external game brings its own configuration: remove {given}")
        if args.preset is not None and (args.config is not None or not args.is_scene_game):
            raise GodojoError(
                f"presets are for games of Godojo, in place of {option('config')}; remove {option('preset')}"
            )
        return external_config(args.config, args.game if args.is_scene_game else None, args.preset)
    if args.config is None:
        mode = args.mode if args.mode in preset_names(game) else None
        return read_preset(game, args.preset or mode or "default")
    if args.preset is not None:
        raise GodojoError(f"give either {option('preset')} or {option('config')}, not both")
    return read_config(args.config, game)


def _preset_name(args: TrainArgs) -> str:
    return f"preset {args.preset or args.mode or 'default'}" if args.config is None else str(args.config)


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
    if args.place is not None or args.is_scene_game:
        from godojo.engines.godot.game_source import GameSource

        how = {name: getattr(args, name) for name in ("window", "speedup", "action_repeat", "strict")}
        how["processes"] = args.processes or processes
        if args.is_scene_game:
            return GameSource.of_scene(SCENE_GAMES[str(args.game)], **how).kept()
        return GameSource(project=str(args.place), scene=args.scene, **how).kept()
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
    given = {"connect": args.listen is not None, "http": args.http, "project": args.place, "demos": args.demos}
    for name, is_given in given.items():
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


def _http_defaults(args: TrainArgs, algorithm: str) -> dict[str, Any]:
    """Defaults for games over HTTP: a world for each, and longer rollouts."""
    if not args.http:
        return {}
    return {algorithm_named(algorithm).num_worlds: len(args.http)} | (HTTP_PPO if algorithm == "ppo" else {})


def _network_settings(source: RunFolder | None, algorithm: str, requested: dict[str, Any]) -> dict[str, Any]:
    """The network settings of `source`; a run that starts from its policies keeps them."""
    if source is None:
        return {}
    config = source.config
    if config.more.get(CONTINUED_BY, config.learner) != algorithm:
        raise GodojoError(f"run {source.name} was trained by {config.learner}, and {algorithm} cannot continue it")
    networks = _only(NETWORK_SETTINGS, config.learner_settings)
    for name in networks.keys() & requested.keys():
        if requested[name] != networks[name]:
            raise GodojoError(
                f"{option('init_from')} keeps the networks of run {source.name}: remove the setting {name!r}"
            )
    roles = {name: _only(NETWORK_SETTINGS, own) for name, own in config.learner_settings.get("roles", {}).items()}
    return networks | ({"roles": roles} if roles else {})


def _only(names: Container[str], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}
