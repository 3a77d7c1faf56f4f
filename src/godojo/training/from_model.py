"""Prepares a new run that continues from a zip of Stable-Baselines3."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from godojo.engines.base import Worlds
from godojo.errors import GodojoError, option
from godojo.extras import require
from godojo.learn.presets import learner_settings
from godojo.learn.registry import SB3
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from godojo.training.args import TrainArgs
from godojo.training.new_run import algorithm_asked_for, new_config
from godojo.training.worlds import curriculum_of, worlds_of

if TYPE_CHECKING:
    from godojo.export.sb3_zip import Sb3Model
    from godojo.learn.training import Training

TRAINER = "sb3"
CONFIGURATION = (
    *("engine", "mode", "preset", "config", "values", "seed", "freeze", "reward", "tasks", "role", "opponent"),
    *("processes", "step_timeout", "project", "binary", "listen", "http", "scene", "reload_every"),
    *("window", "speedup", "action_repeat", "strict"),
)
"""Arguments that replace the configuration of the run that a zip is from."""


@contextmanager
def continued_from_model(args: TrainArgs, path: Path, say: Callable[[str], None]) -> "Iterator[Training]":
    """A training that is ready to start from the weights, optimiser, statistics and step count of a zip."""
    if args.init_from is not None:
        raise GodojoError(f"{option('resume')} and {option('init_from')} are two starting points; remove one")
    if args.demos:
        raise GodojoError(f"{path} is continued by Stable-Baselines3, which imitates nothing; remove {option('demos')}")
    args = args._replace(resume=None, trainer=args.trainer or (None if args.algorithm else TRAINER))
    asked_for = algorithm_asked_for(args)
    if asked_for not in SB3.values():
        raise GodojoError(f"{path} is continued by Stable-Baselines3: use {option('trainer', TRAINER)}")
    args.check_game()
    if args.run_id is not None:
        RunFolder.check_id(args.run_id, force=args.force)
    require(TRAINER, say)
    from godojo.export.sb3_zip import read_sb3_model  # these load torch
    from godojo.learn.training import Training

    model = read_sb3_model(path)
    if args.algorithm is not None and asked_for != SB3[model.algorithm]:
        raise GodojoError(f"{path} is a model of {model.algorithm.upper()}; remove {option('algorithm')}")
    args = args._replace(trainer=TRAINER, algorithm=model.algorithm)
    if model.normalization is None:
        say(f"{path.name} has no VecNormalize statistics beside it: observations and rewards are not normalised")
    with ExitStack() as stack:
        config, worlds = _config(args, model, say)
        stack.callback(worlds.close)
        run = RunFolder.create(config, args.run_id, force=args.force, say=say)
        stack.callback(run.remove_if_unused)  # if the start fails
        stack.enter_context(run.lock())
        say(f"continuing from {path} at {model.agent_steps:,} agent-steps in the new run {run.name}")
        training = Training(
            run,
            worlds,
            TrainArgs().budget(config.budget),
            resume=False,
            curriculum=curriculum_of(config),
            start=lambda learner: learner.load_model(model),  # type: ignore[attr-defined]  # SB3's has it
            say=say,
        )
        stack.callback(training.close)
        yield training


def _config(args: TrainArgs, model: "Sb3Model", say: Callable[[str], None]) -> tuple[RunConfig, Worlds]:
    """The settings of the run that the zip is from, unless others are given; a budget of steps is of further ones."""
    from godojo.export.sb3_zip import card_of, run_of
    from godojo.trainers.sb3 import settings_of

    source, demanded = run_of(model.path), settings_of(model)
    if not args.is_external_game:
        args = args._replace(game=args.game or (card_of(model) if source is None else source.config).game)
    is_configured = any(getattr(args, name) not in (None, (), 0) for name in CONFIGURATION)
    if source is None or source.config.game != args.game or is_configured:
        config, worlds = new_config(args, None, say, demanded)
    else:
        asked = {name: value for name in ("num_envs", "device") if (value := getattr(args, name)) is not None}
        learner = learner_settings(source.config.learner, source.config.learner_settings, asked, demanded)
        config = msgspec.structs.replace(
            source.config,
            budget=args.budget(source.config.budget).as_config(),
            learner_settings=msgspec.to_builtins(learner),
            command=args.command,
        )
        worlds = worlds_of(config, args.games, say)
    if "agent_steps" in config.budget:
        budget = {"agent_steps": config.budget["agent_steps"] + model.agent_steps}
        config = msgspec.structs.replace(config, budget=budget)
    return config, worlds
