"""Prepares a training: worlds, a locked run folder, and the training loop of the algorithm."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import msgspec

from godojo.errors import GodojoError
from godojo.extras import require
from godojo.games.base import GAMES
from godojo.learn.presets import learner_settings
from godojo.learn.registry import ALGORITHMS, algorithm_named
from godojo.runs.config import GOES_ON_BY, RunConfig
from godojo.runs.folder import CONFIG, LATEST, RunFolder
from godojo.training.args import TrainArgs
from godojo.training.new_run import algorithm_asked_for, new_training
from godojo.training.worlds import curriculum_of, worlds_of

if TYPE_CHECKING:
    from godojo.learn.training import Training


@contextmanager
def prepared(args: TrainArgs, say: Callable[[str], None]) -> "Iterator[Training]":
    """Yields a training that is ready to start, in a run folder that no other process writes to."""
    args.check_time()
    # Before there is a new run, which would be the latest one.
    source = None if args.init_from is None else _opened(args.init_from, say)
    with ExitStack() as stack:
        if args.resume is not None:
            run = _to_resume(args, say)
            if extra := algorithm_named(run.config.learner).extra:
                require(extra, say)
            worlds = worlds_of(_resumed_config(run.config, args), args.token)
        else:
            if args.run_id is not None:
                RunFolder.check_id(args.run_id, force=args.force)  # before any game is started in vain
            config, worlds = new_training(args, source, say)
            stack.callback(worlds.close)
            run = RunFolder.create(config, args.run_id, force=args.force, say=say)
            stack.callback(run.remove_if_unused)  # a start that fails leaves nothing in the way of the next one
            if args.freeze:
                run.role_map(say).write(dict.fromkeys(args.freeze, "frozen"))
        stack.callback(worlds.close)
        stack.enter_context(run.lock())
        budget, resume = args.budget(run.config.budget), args.resume is not None
        curriculum = curriculum_of(run.config)
        from godojo.learn.training import Training, starting_policies  # loads torch

        policies = None if source is None else starting_policies(source, worlds)
        training = Training(run, worlds, budget, resume=resume, policies=policies, curriculum=curriculum, say=say)
        stack.callback(training.close)
        yield training


def _opened(name: str, say: Callable[[str], None]) -> RunFolder:
    run = RunFolder.open(name)
    if name == LATEST:
        say(f"using the latest run: {run.name}")
    return run


def resume_words(run: RunFolder) -> str:
    """The arguments of `godojo train` that resume a run."""
    game = f"{run.config.game} " if run.config.game in GAMES else ""
    return f"{game}--resume {run.name}"


def _to_resume(args: TrainArgs, say: Callable[[str], None]) -> RunFolder:
    for name in (
        *("run_id", "init_from", "project", "preset", "config", "num_envs", "reward", "tasks", "scene", "reload_every"),
        *("values", "freeze", "force"),
    ):
        if getattr(args, name):
            option = "set" if name == "values" else name.replace("_", "-")
            raise GodojoError(f"--resume goes on with a run as it is; leave --{option} away")
    assert args.resume is not None
    run = _opened(args.resume, say)
    config = run.config
    if GOES_ON_BY in config.more:
        raise GodojoError(
            f"run {run.name} was made from another one, with nothing to resume; begin with it by --init-from {run.name}"
        )
    if args.game not in (None, config.game):
        raise GodojoError(f"run {run.name} is one of {config.game}, not of {args.game}")
    asked, is_extra = algorithm_asked_for(args), bool(algorithm_named(config.learner).extra)
    if args.trainer is not None and (args.trainer in ALGORITHMS) != is_extra:
        raise GodojoError(f"run {run.name} learns by {config.learner}; leave --trainer away")
    if asked not in (None, config.learner):
        raise GodojoError(f"run {run.name} learns by {config.learner}, not by {asked}")
    if args.engine not in (None, config.engine):
        raise GodojoError(
            f"run {run.name} is played on {config.engine}, and stays there; to go on with its policies on "
            f"{args.engine}, begin a new run: --init-from {run.name} --engine {args.engine}"
        )
    if args.seed not in (None, config.seed):
        raise GodojoError(f"run {run.name} was begun with the seed {config.seed}, and keeps it; leave --seed away")
    if args.processes is not None and "processes" not in config.more:
        raise GodojoError(f"run {run.name} starts no games of its own; leave --processes away")
    if args.step_timeout is not None and config.engine != "godot":
        raise GodojoError(f"run {run.name} is not played in the real engine; leave --step-timeout away")
    if args.listen is not None and "connect" not in config.more:
        raise GodojoError(f"run {run.name} does not wait for a game; leave --connect away")
    if args.http and len(args.http) != len(config.more.get("http", ())):
        raise GodojoError(
            f"run {run.name} is played in {len(config.more.get('http', ()))} games over HTTP; say as many"
        )
    _check_stored(run)
    return run


def _check_stored(run: RunFolder) -> None:
    """Refuses settings that this version does not know, before anything is started, and names their file."""
    config, path = run.config, run.path / CONFIG
    if config.game in GAMES:
        GAMES[config.game].settings.from_values(config.game_settings, path)
    try:
        learner_settings(config.learner, config.learner_settings)
    except GodojoError as error:
        raise GodojoError(
            f"{path} does not fit this Godojo ({error}): update Godojo, or use the version that wrote it"
        ) from None


def _resumed_config(config: RunConfig, args: TrainArgs) -> RunConfig:
    """The configuration of a resumed run, with other game sources and process counts if they are given."""
    more = dict(config.more)
    if args.processes is not None:
        more["processes"] = args.processes
    if args.step_timeout is not None:
        more["step_timeout_s"] = args.step_timeout
    if args.listen is not None:
        more["connect"] = {**more["connect"], **args.listen.place}
    if args.http:
        more["http"] = list(args.http)
    return msgspec.structs.replace(config, more=more)
