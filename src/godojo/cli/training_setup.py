"""What `godojo train` was asked for, made ready: worlds, a run's folder, and a training in it."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from godojo.engines.base import Worlds
from godojo.engines.make import ENGINES, GAMES, make_vec, open_game
from godojo.errors import GodojoError
from godojo.evaluate.held_out import HELD_OUT_SEED
from godojo.learn.presets import Preset, declared_values, learner_settings, read_preset, split_words
from godojo.learn.sac import check_actions
from godojo.learn.settings import ALGORITHMS
from godojo.learn.training import Budget, Training, starting_policies
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from godojo.runs.names import known

TRAINING_SEEDS = HELD_OUT_SEED
GODOT_WORLDS = 64
"""Copies of the game on the real engine, unless asked for otherwise."""
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
    preset: str
    values: tuple[str, ...]
    seed: int
    freeze: tuple[str, ...]
    processes: int
    project: Path | None


@contextmanager
def prepared(wishes: Wishes, say: Callable[[str], None]) -> Iterator[Training]:
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
    for name in ("run_id", "init_from", "project"):
        if getattr(wishes, name) is not None:
            raise GodojoError(f"--resume goes on with a run as it is; leave --{name.replace('_', '-')} away")
    if wishes.values or wishes.freeze or wishes.force:
        raise GodojoError("--resume goes on with a run as it is; leave --set, --freeze and --force away")
    run = RunFolder.open(wishes.resume)
    if "project" not in run.config.more and run.config.game != wishes.game:
        raise GodojoError(f"run {run.name} is one of {run.config.game}, not of {wishes.game}")
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
    preset = Preset() if wishes.project is not None else read_preset(wishes.game, wishes.preset)
    learner_values, game_texts = split_words(wishes.values)
    config = RunConfig(
        game=wishes.game,
        engine=wishes.engine,
        roles=(),
        learner=_algorithm(wishes.algorithm or "ppo"),
        learner_settings={},
        game_settings={},
        seed=wishes.seed,
        budget=_budget(wishes, preset.budget or {"minutes": 5.0}).as_config(),
        command=tuple(sys.argv[1:]),
        more={"processes": wishes.processes} if wishes.engine == "godot" else {},
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
    networks = _networks_of(source, config.learner, learner_values)
    learner = learner_settings(config.learner, declared, preset.learner(config.learner), networks, learner_values)
    config = msgspec.structs.replace(config, learner_settings=msgspec.to_builtins(learner))
    worlds = worlds or _worlds(config)
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
    learner = learner_settings(config.learner, config.learner_settings)
    more: dict[str, Any] = {"num_processes": config.more["processes"]} if config.engine == "godot" else {}
    worlds = make_vec(
        config.game,
        engine=config.engine,
        num_worlds=learner.worlds,
        seed=config.seed,
        settings=settings,
        **game.training_options(settings),
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
