"""Prepares a training, new or resumed: its worlds, its locked run folder and its training loop."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import msgspec

from godojo.cluster.start import RAY
from godojo.errors import GodojoError, option
from godojo.extras import require
from godojo.games.base import GAMES, SCENE_GAMES
from godojo.learn.presets import learner_settings
from godojo.learn.registry import algorithm_named
from godojo.runs.config import CONTINUED_BY, RunConfig
from godojo.runs.folder import CONFIG, RunFolder, open_run
from godojo.training.args import TrainArgs
from godojo.training.demos import imitation_of
from godojo.training.from_model import continued_from_model
from godojo.training.new_run import algorithm_asked_for, new_config
from godojo.training.worlds import curriculum_of, worlds_of

if TYPE_CHECKING:
    from godojo.learn.training import Training


@contextmanager
def prepared(args: TrainArgs, say: Callable[[str], None]) -> "Iterator[Training]":
    """A training that is ready to start, in a run folder that is locked for this process."""
    args.check_times()
    zip_path = args.resumed_model
    with (
        _explaining_memory(),
        _from_run(args, say) if zip_path is None else continued_from_model(args, zip_path, say) as training,
    ):
        yield training


@contextmanager
def _explaining_memory() -> Iterator[None]:
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        if not isinstance(error, MemoryError) and not re.search(r"can't allocate memory|out of memory", reason):
            raise
        fewer = f"{option('num_envs')}, or num_environments in a configuration"
        raise GodojoError(f"out of memory ({reason}); play fewer environments at a time ({fewer})") from error


@contextmanager
def _from_run(args: TrainArgs, say: Callable[[str], None]) -> "Iterator[Training]":
    """A new run, or one that is resumed."""
    # Opened first: a new run would be the latest one.
    source = None if args.init_from is None else open_run(args.init_from, say)
    with ExitStack() as stack:
        if args.resume is not None:
            run = _to_resume(args, say)
            if extra := algorithm_named(run.config.learner).extra:
                require(extra, say)
            worlds = worlds_of(_resumed_config(run.config, args), args.games, say)
        else:
            if args.run_id is not None:
                RunFolder.check_id(args.run_id, force=args.force)  # before any game is started
            config, worlds = new_config(args, source, say)
            stack.callback(worlds.close)
            run = RunFolder.create(config, args.run_id, force=args.force, say=say)
            stack.callback(run.remove_if_unused)  # if the start fails
            if args.freeze:
                run.role_map(say).write(dict.fromkeys(args.freeze, "frozen"))
        stack.callback(worlds.close)
        stack.enter_context(run.lock())
        budget, resume = args.budget(run.config.budget), args.resume is not None
        curriculum = curriculum_of(run.config)
        from godojo.learn.training import Training, starting_policies  # loads torch

        policies = None if source is None else starting_policies(source, worlds)
        start = imitation_of(run.config, worlds, say, resume=resume)
        training = Training(
            run, worlds, budget, resume=resume, policies=policies, curriculum=curriculum, start=start, say=say
        )
        stack.callback(training.close)
        yield training


def resume_words(run: RunFolder) -> str:
    """The arguments of `godojo train` that resume a run."""
    is_ours = run.config.game in GAMES or run.config.game in SCENE_GAMES
    game = f"{run.config.game} " if is_ours else ""
    return f"{game}--resume {run.name}"


def _to_resume(args: TrainArgs, say: Callable[[str], None]) -> RunFolder:
    for name in (
        *("run_id", "init_from", "project", "binary", "window", "speedup", "action_repeat", "strict", "mode", "preset"),
        *(
            "config",
            "num_envs",
            "device",
            "role",
            "opponent",
            "reward",
            "tasks",
            "scene",
            "reload_every",
            "values",
            "freeze",
            "force",
            "demos",
        ),
    ):
        if getattr(args, name):
            given = option("settings" if name == "values" else name)
            raise GodojoError(f"{option('resume')} continues a run with its own configuration; remove {given}")
    assert args.resume is not None
    run = open_run(args.resume, say)
    config = run.config
    if CONTINUED_BY in config.more:
        start = option("init_from", run.name)
        raise GodojoError(f"run {run.name} was made from another one and cannot be resumed; start a run with {start}")
    if args.game not in (None, config.game):
        raise GodojoError(f"run {run.name} plays {config.game}, not {args.game}")
    requested, extra = algorithm_asked_for(args), algorithm_named(config.learner).extra
    if args.trainer is not None and args.trainer != (extra or "built-in"):
        raise GodojoError(f"run {run.name} is trained by {config.learner}; remove {option('trainer')}")
    if args.algorithm is not None and requested not in (None, config.learner):
        raise GodojoError(f"run {run.name} is trained by {config.learner}, not by {requested}")
    if args.engine not in (None, config.engine):
        raise GodojoError(
            f"run {run.name} is played on {config.engine}; to continue its policies on {args.engine}, start a new run: "
            f"{option('init_from', run.name)} {option('engine', args.engine)}"
        )
    if args.seed not in (None, config.seed):
        raise GodojoError(f"run {run.name} keeps its seed {config.seed}; remove {option('seed')}")
    for name, is_given, is_wrong, why in (
        ("processes", args.processes is not None, "processes" not in config.more, "starts no games of its own"),
        ("step_timeout", args.step_timeout is not None, config.engine != "godot", "is not played in the real engine"),
        ("connect", args.listen is not None, "connect" not in config.more, "does not wait for a game"),
        ("ray", args.ray is not None, RAY not in config.more, "is not spread over a cluster"),
        ("workers", args.workers is not None, RAY not in config.more, "is not spread over a cluster"),
        ("worker_timeout", args.worker_timeout is not None, RAY not in config.more, "is not spread over a cluster"),
    ):
        if is_given and is_wrong:
            raise GodojoError(f"run {run.name} {why}; remove {option(name)}")
    if args.http and len(args.http) != (games := len(config.more.get("http", ()))):
        raise GodojoError(f"run {run.name} is played in {games} games over HTTP; give as many addresses")
    _check_stored(run)
    return run


def _check_stored(run: RunFolder) -> None:
    """Reject settings that this version does not know, before anything is started."""
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
    """The configuration of a resumed run, with the game sources, processes and timeout that `args` replace."""
    more = dict(config.more)
    if args.processes is not None:
        more["processes"] = args.processes
    if args.step_timeout is not None:
        more["step_timeout_s"] = args.step_timeout
    if args.listen is not None:
        more["connect"] = {**more["connect"], **args.listen.place}
    if args.http:
        more["http"] = list(args.http)
    if args.cluster:
        more[RAY] = {**more[RAY], **args.cluster}
    return msgspec.structs.replace(config, more=more)
