"""What `godojo train` was asked for, made ready: worlds, a run's folder, and a training in it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol

import msgspec

from godojo.cli.chosen_run import open_run
from godojo.cli.new_training import new_training, trainer_named
from godojo.cli.train_args import TrainArgs
from godojo.cli.training_worlds import curriculum_of, worlds_of
from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.extras import require
from godojo.games.base import GAMES
from godojo.learn.presets import filled, learner_settings
from godojo.runs.config import GOES_ON_BY, RunConfig
from godojo.runs.folder import CONFIG, RunFolder
from godojo.trainers.sb3_settings import SB3, Sb3Settings

if TYPE_CHECKING:
    from godojo.learn.training import TrainingStatus


class AnyTraining(Protocol):
    """What the command line needs of a training, whoever trains."""

    run: RunFolder
    worlds: Worlds

    @property
    def agent_steps(self) -> int: ...

    def train(self, report: "Callable[[TrainingStatus], None]") -> bool: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


@contextmanager
def prepared(wishes: TrainArgs, say: Callable[[str], None]) -> Iterator[AnyTraining]:
    """A training that can begin, in a run that nobody else writes to."""
    wishes.check_time()
    # Before there is a new run, which would be the latest one.
    source = None if wishes.init_from is None else open_run(wishes.init_from)
    with ExitStack() as stack:
        if wishes.resume is not None:
            run = _to_resume(wishes)
            if run.config.learner == SB3:
                require(SB3, say)
            worlds = worlds_of(_for_this_stretch(run.config, wishes), wishes.token)
        else:
            if wishes.run_id is not None:
                RunFolder.check_id(wishes.run_id, force=wishes.force)  # before any game is started in vain
            config, worlds = new_training(wishes, source, say)
            stack.callback(worlds.close)
            run = RunFolder.create(config, wishes.run_id, force=wishes.force, say=say)
            stack.callback(run.remove_if_unused)  # a start that fails leaves nothing in the way of the next one
            if wishes.freeze:
                run.role_map(say).write(dict.fromkeys(wishes.freeze, "frozen"))
        stack.callback(worlds.close)
        stack.enter_context(run.lock())
        budget, resume = wishes.budget(run.config.budget), wishes.resume is not None
        curriculum = curriculum_of(run.config)
        training: AnyTraining
        if run.config.learner == SB3:
            from godojo.trainers.sb3 import Sb3Training

            training = Sb3Training(run, worlds, budget, resume=resume, curriculum=curriculum, say=say)
        else:
            from godojo.learn.training import Training, starting_policies

            policies = None if source is None else starting_policies(source, worlds)
            training = Training(run, worlds, budget, resume=resume, policies=policies, curriculum=curriculum, say=say)
        stack.callback(training.close)
        yield training


def resume_words(run: RunFolder) -> str:
    """What `train` is told to go on with a run."""
    game = f"{run.config.game} " if run.config.game in GAMES else ""
    return f"{game}--resume {run.name}"


def _to_resume(wishes: TrainArgs) -> RunFolder:
    for name in (
        *("run_id", "init_from", "project", "preset", "config", "num_envs", "reward", "tasks", "scene", "reload_every"),
        *("values", "freeze", "force"),
    ):
        if getattr(wishes, name):
            option = "set" if name == "values" else name.replace("_", "-")
            raise GodojoError(f"--resume goes on with a run as it is; leave --{option} away")
    assert wishes.resume is not None
    run = open_run(wishes.resume)
    config = run.config
    if GOES_ON_BY in config.more:
        raise GodojoError(
            f"run {run.name} was made from another one, with nothing to resume; begin with it by --init-from {run.name}"
        )
    if wishes.game not in (None, config.game):
        raise GodojoError(f"run {run.name} is one of {config.game}, not of {wishes.game}")
    if wishes.trainer is not None and (trainer_named(wishes.trainer) == SB3) != (config.learner == SB3):
        raise GodojoError(f"run {run.name} learns by {config.learner}; leave --trainer away")
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
    if wishes.step_timeout is not None and config.engine != "godot":
        raise GodojoError(f"run {run.name} is not played in the real engine; leave --step-timeout away")
    if wishes.door is not None and "connect" not in config.more:
        raise GodojoError(f"run {run.name} does not wait for a game; leave --connect away")
    if wishes.http and len(wishes.http) != len(config.more.get("http", ())):
        raise GodojoError(
            f"run {run.name} is played in {len(config.more.get('http', ()))} games over HTTP; say as many"
        )
    _check_stored(run)
    return run


def _check_stored(run: RunFolder) -> None:
    """Refuses settings that this Godojo does not know, before anything is started for them, and names their file."""
    config, path = run.config, run.path / CONFIG
    if config.game in GAMES:
        GAMES[config.game].settings.from_values(config.game_settings, path)
    try:
        if config.learner == SB3:
            filled(Sb3Settings, config.learner_settings)
        else:
            learner_settings(config.learner, config.learner_settings)
    except GodojoError as error:
        raise GodojoError(
            f"{path} does not fit this Godojo ({error}): update Godojo, or use the version that wrote it"
        ) from None


def _for_this_stretch(config: RunConfig, wishes: TrainArgs) -> RunConfig:
    """A run is gone on with as it is, but for where games come from and how many there are."""
    more = dict(config.more)
    if wishes.processes is not None:
        more["processes"] = wishes.processes
    if wishes.step_timeout is not None:
        more["step_timeout_s"] = wishes.step_timeout
    if wishes.door is not None:
        more["connect"] = {**more["connect"], **wishes.door.place}
    if wishes.http:
        more["http"] = list(wishes.http)
    return msgspec.structs.replace(config, more=more)
