"""What `godojo train` was asked for, made ready: worlds, a run's folder, and a training in it."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from godojo.bridge.listener import DEFAULT_PORT
from godojo.engines.base import Worlds
from godojo.engines.make import ENGINES, GAMES, make_vec, open_game
from godojo.errors import GodojoError
from godojo.evaluate.held_out import HELD_OUT_SEED
from godojo.games.tag.settings import TagSettings
from godojo.learn.presets import Preset, declared_values, learner_settings, read_preset, split_words
from godojo.learn.sac import check_actions
from godojo.learn.settings import ALGORITHMS
from godojo.learn.training import Budget, Training, starting_policies
from godojo.runs.config import GOES_ON_BY, RunConfig
from godojo.runs.folder import RunFolder
from godojo.runs.names import known

TRAINING_SEEDS = HELD_OUT_SEED
GODOT_WORLDS = 64
"""Copies of the game on the real engine, unless asked for otherwise."""
PROCESSES = 2
"""Games at once there, likewise."""
MAX_GAME_NAME = 40
NETWORK = ("hidden", "memory", "memory_size", "own_frame")
"""Settings that policies are built by."""


class Door(NamedTuple):
    """Where a game that somebody starts by hand is waited for; what is left away is the usual, or a run's own."""

    host: str | None
    port: int | None
    token: str | None
    """Never written down."""


class Wishes(NamedTuple):
    """The command line, as it was typed; None is what was left away."""

    game: str | None
    engine: str | None
    algorithm: str | None
    minutes: float | None
    steps: int | None
    run_id: str | None
    resume: str | None
    force: bool
    init_from: str | None
    preset: str | None
    values: tuple[str, ...]
    seed: int | None
    freeze: tuple[str, ...]
    processes: int | None
    project: Path | None
    door: Door | None


@contextmanager
def prepared(wishes: Wishes, say: Callable[[str], None]) -> Iterator[Training]:
    """A training that can begin, in a run that nobody else writes to."""
    _check_time(wishes)
    # Before there is a new run, which would be the latest one.
    source = None if wishes.init_from is None else RunFolder.open(wishes.init_from)
    with ExitStack() as stack:
        if wishes.resume is not None:
            run = _to_resume(wishes)
            worlds = _worlds(_for_this_stretch(run.config, wishes), wishes.door)
        else:
            if wishes.run_id is not None:
                RunFolder.check_id(wishes.run_id, force=wishes.force)  # before any game is started in vain
            config, worlds = _new(wishes, source)
            stack.callback(worlds.close)
            run = RunFolder.create(config, wishes.run_id, force=wishes.force, say=say)
            if wishes.freeze:
                run.role_map(say).write(dict.fromkeys(wishes.freeze, "frozen"))
        stack.callback(worlds.close)
        stack.enter_context(run.lock())
        policies = None if source is None else starting_policies(source, worlds)
        training = Training(
            run,
            worlds,
            _budget(wishes, run.config.budget),
            resume=wishes.resume is not None,
            policies=policies,
            say=say,
        )
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
    for name in ("run_id", "init_from", "project", "preset"):
        if getattr(wishes, name) is not None:
            raise GodojoError(f"--resume goes on with a run as it is; leave --{name.replace('_', '-')} away")
    if wishes.values or wishes.freeze or wishes.force:
        raise GodojoError("--resume goes on with a run as it is; leave --set, --freeze and --force away")
    run = RunFolder.open(wishes.resume)
    config = run.config
    if GOES_ON_BY in config.more:
        raise GodojoError(
            f"run {run.name} was made from another one, with nothing to resume; begin with it by --init-from {run.name}"
        )
    if wishes.game not in (None, config.game):
        raise GodojoError(f"run {run.name} is one of {config.game}, not of {wishes.game}")
    if wishes.algorithm not in (None, config.learner):
        raise GodojoError(f"run {run.name} learns by {config.learner}, not by {wishes.algorithm}")
    if wishes.engine not in (None, config.engine):
        raise GodojoError(
            f"run {run.name} is played on {config.engine}, and stays there; to go on with its policies on "
            f"{wishes.engine}, begin a new run: --init-from {run.name} --engine {wishes.engine}"
        )
    if wishes.seed not in (None, config.seed):
        raise GodojoError(f"run {run.name} was begun with the seed {config.seed}, and keeps it; leave --seed away")
    if wishes.processes is not None and "processes" not in config.more:
        raise GodojoError(f"run {run.name} starts no games of its own; leave --processes away")
    if wishes.door is not None and "connect" not in config.more:
        raise GodojoError(f"run {run.name} does not wait for a game; leave --connect away")
    return run


def _for_this_stretch(config: RunConfig, wishes: Wishes) -> RunConfig:
    """A run is gone on with as it is, but for where games come from and how many there are."""
    more = dict(config.more)
    if wishes.processes is not None:
        more["processes"] = wishes.processes
    if wishes.door is not None:
        more["connect"] = {**more["connect"], **_told_of(wishes.door)}
    return msgspec.structs.replace(config, more=more)


def _told_of(door: Door) -> dict[str, Any]:
    return {name: value for name, value in (("host", door.host), ("port", door.port)) if value is not None}


def resume_words(run: RunFolder) -> str:
    """What `train` is told to go on with a run."""
    game = f"{run.config.game} " if run.config.game in GAMES else ""
    return f"{game}--resume {run.name}"


def _new(wishes: Wishes, source: RunFolder | None) -> tuple[RunConfig, Worlds]:
    engine, game, seed = wishes.engine or "sim", wishes.game or "tag", 1 if wishes.seed is None else wishes.seed
    is_theirs = wishes.project is not None or (wishes.door is not None and wishes.game is None)
    if engine not in ENGINES:
        raise GodojoError(f"there is no engine {engine!r}; {known(engine, ENGINES)}")
    if wishes.project is None and game not in GAMES:
        raise GodojoError(f"there is no game {game!r}; {known(game, GAMES)}")
    if not 0 <= seed < TRAINING_SEEDS:
        raise GodojoError(f"--seed must be from 0 to {TRAINING_SEEDS - 1}, not {seed}: judging uses those above")
    if wishes.door is not None:
        _check_door(wishes)
        engine = "godot"
    preset = Preset() if is_theirs else read_preset(game, wishes.preset or "default")
    learner_values, game_texts = split_words(wishes.values)
    config = RunConfig(
        game=game,
        engine=engine,
        roles=(),
        learner=_algorithm(wishes.algorithm or "ppo"),
        learner_settings={},
        game_settings={},
        seed=seed,
        budget=_budget(wishes, preset.budget or {"minutes": 5.0}).as_config(),
        command=tuple(sys.argv[1:]),
        more=_whence(wishes, engine),
    )
    declared: dict[str, Any] = {}
    worlds: Worlds | None = None
    if is_theirs:
        config, worlds = _theirs(wishes, config, game_texts, learner_values.get("worlds"))
        model = worlds.declared_model or {}
        if wishes.algorithm is None:
            config = msgspec.structs.replace(config, learner=_algorithm(model.get("algorithm", "ppo")))
        declared = declared_values(model, config.learner) | {"worlds": worlds.num_worlds}
    else:
        rules = TagSettings.defaults().override(**preset.game).override_texts(game_texts)
        config = msgspec.structs.replace(config, game_settings=msgspec.to_builtins(rules))
        declared = {"worlds": GODOT_WORLDS} if engine == "godot" else {}
    networks = _networks_of(source, config.learner, learner_values)
    learner = learner_settings(config.learner, declared, preset.learner(config.learner), networks, learner_values)
    config = msgspec.structs.replace(config, learner_settings=msgspec.to_builtins(learner))
    worlds = worlds or _worlds(config, wishes.door)
    if config.learner == "sac":
        check_actions(worlds.roles)
    for role in wishes.freeze:
        if role not in worlds.roles:
            raise GodojoError(f"there is no role {role!r} to freeze; there is: {', '.join(worlds.roles)}")
    return msgspec.structs.replace(config, roles=tuple(worlds.roles)), worlds


def _algorithm(name: str) -> str:
    if name not in ALGORITHMS:
        raise GodojoError(f"there is no algorithm {name!r}; {known(name, ALGORITHMS)}")
    return name


def _check_door(wishes: Wishes) -> None:
    for name, value in (("project", wishes.project), ("processes", wishes.processes)):
        if value is not None:
            raise GodojoError(f"--connect waits for one game that you start yourself; leave --{name} away")
    if wishes.engine == "sim":
        raise GodojoError("--connect is for the real engine; leave --engine sim away")


def _whence(wishes: Wishes, engine: str) -> dict[str, Any]:
    """Where the games of a run come from."""
    if wishes.door is not None:
        return {"connect": {"host": "127.0.0.1", "port": DEFAULT_PORT} | _told_of(wishes.door)}
    more: dict[str, Any] = {}
    if wishes.project is not None:
        more["project"] = str(wishes.project.expanduser().absolute())
    if engine == "godot" or wishes.project is not None:
        more["processes"] = wishes.processes or PROCESSES
    elif wishes.processes is not None:
        raise GodojoError("--processes is for games in the real engine: say --engine godot, or leave it away")
    return more


def _theirs(
    wishes: Wishes, config: RunConfig, game_texts: list[str], num_worlds: int | None
) -> tuple[RunConfig, Worlds]:
    """Somebody's game: what it is made of and how it should be learnt, it says itself."""
    if game_texts:
        raise GodojoError(f"--set {game_texts[0]}: somebody's game has no settings of ours; leave it away")
    config = msgspec.structs.replace(config, game="", engine="godot")
    worlds = _worlds(config, wishes.door, num_worlds)
    name = worlds.hellos[0].game if wishes.project is None else wishes.project.expanduser().absolute().name
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


def _worlds(config: RunConfig, door: Door | None, num_worlds: int | None = None) -> Any:
    """The game to train in: arenas are generated, so that the hand-made ones stay unseen."""
    if "project" in config.more:
        return open_game(config.more["project"], num_processes=config.more["processes"], seed=config.seed)
    waits = config.more.get("connect")
    token = None if door is None else door.token
    if waits is not None and config.game not in GAMES:
        num_worlds = num_worlds or config.learner_settings.get("worlds")
        return open_game(num_worlds=num_worlds, seed=config.seed, token=token, **waits)
    settings = TagSettings.from_json(msgspec.json.encode(config.game_settings))
    learner = learner_settings(config.learner, config.learner_settings)
    more: dict[str, Any] = {}
    if waits is not None:
        more = {"connect": True, "token": token, **waits}
    elif config.engine == "godot":
        more = {"num_processes": config.more["processes"]}
    worlds = make_vec(
        config.game,
        engine=config.engine,
        num_worlds=learner.worlds,
        seed=config.seed,
        settings=settings,
        generated_share=1.0,
        **more,
    )
    if config.engine == "sim":
        worlds.step()  # compiles, so that it does not count as training
        worlds.reset(config.seed)
    return worlds


def _budget(wishes: Wishes, otherwise: Mapping[str, float]) -> Budget:
    """What was asked for now; without a word, what the preset says, or what a run was begun with."""
    if wishes.steps is not None:
        return Budget(agent_steps=wishes.steps)
    if wishes.minutes is not None:
        return Budget(minutes=wishes.minutes)
    steps = otherwise.get("agent_steps")
    return Budget(otherwise.get("minutes"), None if steps is None else int(steps))
