"""Makes the worlds of a run from its configuration."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from godojo.cluster.start import RAY, open_cluster
from godojo.engines.base import Worlds
from godojo.errors import GodojoError, option
from godojo.games.base import GAMES
from godojo.games.curriculum import Curriculum, Stage
from godojo.learn.presets import learner_settings
from godojo.learn.registry import algorithm_named
from godojo.runs.config import RunConfig


def worlds_of(
    config: RunConfig, games: Mapping[str, Any] | None = None, say: Callable[[str], None] | None = None
) -> Any:
    """The worlds to train in.

    `games` are options of a game that the user starts (`TrainArgs.games`). `say` is called with what an external game
    is waited for, and with the first error of its scripts.
    """
    from godojo.engines.godot.game_source import GameSource
    from godojo.engines.reward_wrapper import CustomReward, RewardWrapper

    if config.learner_settings.get("num_env_runners"):
        from godojo.trainers.rllib_worlds import RunnerWorlds

        return RunnerWorlds(config, worlds_of)
    if RAY in config.more:
        return open_cluster(config, worlds_of, say or (lambda _: None))
    more, source = config.more, GameSource.of(config.more)
    if source is not None and config.game not in GAMES:
        before = config.learner_settings.get(algorithm_named(config.learner).num_worlds)  # those of a resumed run
        if config.engine == "sim":
            from godojo.training.twins import twin_worlds

            return twin_worlds(source, seed=config.seed, num_worlds=source.worlds or before, say=say)
        return source.open(seed=config.seed, usual_worlds=before, say=say, **games or {}, **_timeouts(config))
    worlds = _tasks(config, games or {})
    if worlds.declared_loop is not None:
        worlds.close()
        raise GodojoError(
            f"{config.game} has a schedule of its own: remove the DojoTrainingLoop from its scene, or train it as"
            f" a project ({option('project', 'DIR')})"
        )
    reward, scale = more.get("reward"), more.get("reward_scale", 1.0)
    if reward is not None or scale != 1.0:
        worlds = RewardWrapper(worlds, reward=None if reward is None else CustomReward(reward), scale=scale)
    if config.engine == "sim":
        worlds.step()  # compile before training time counts
        worlds.reset(config.seed)
    return worlds


def curriculum_of(config: RunConfig) -> Curriculum | None:
    stages = config.more.get("curriculum")
    if not stages:
        return None
    settings = GAMES[config.game].settings.from_values(config.game_settings)
    return Curriculum(msgspec.convert(stages, list[Stage]), settings)


def loop_values(worlds: Worlds) -> dict[str, Any]:
    """The settings that a scene's training loop declares (`DojoTrainingLoop`), under the learner's names."""
    loop = worlds.declared_loop
    if loop is None:
        return {}
    steps = {"n_steps": loop.steps_in_round} if loop.steps_in_round else {}
    train_steps = {role: count for role, count in loop.train_steps.items() if count}
    return steps | {"train_steps": train_steps, "copy_interval": loop.checkpoint_every}


def _tasks(config: RunConfig, games: Mapping[str, Any]) -> Worlds:
    """The worlds of one of our games, or of several of its tasks in parallel."""
    from godojo.engines.make import make_vec
    from godojo.engines.multi_task import MultiTaskWorlds

    game, tasks, count = GAMES[config.game], config.more.get("tasks", []), _count(config)
    settings = game.settings.from_values(config.game_settings)
    options = {"settings": settings, **game.training_options(settings), **config.more.get("options", {})}
    options |= _game_source(config, games) | _timeouts(config)

    def make(number: int, **task: Any) -> Worlds:
        return make_vec(config.game, engine=config.engine, num_worlds=number, seed=config.seed, **options | task)

    if not tasks:
        return make(count)
    counts = [count // len(tasks) + (index < count % len(tasks)) for index in range(len(tasks))]
    if 0 in counts:
        raise GodojoError(f"{count} worlds are too few for {len(tasks)} tasks")
    task_options = [game.judging_options(settings, task) for task in tasks]  # all checked before worlds are made
    made = [make(number, **own) for number, own in zip(counts, task_options, strict=True)]
    return MultiTaskWorlds(dict(zip(tasks, made, strict=True)))


def _game_source(config: RunConfig, games: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the real engine: where its games come from, and whether they send their full state."""
    more = config.more
    if config.engine != "godot":
        return {}
    from godojo.opponents import may_need_privileged_state

    if "http" in more:
        return {name: more[name] for name in ("http", "scene", "reload_every")}
    learner = config.learner_settings
    asked = (*learner.get("scripted_opponents", ()), *learner.get("imitated_opponents", {}).values())
    asked += tuple(filter(None, [learner.get("opponent")]))
    truth = {"truth": any(may_need_privileged_state(name, config.game) for name in asked)}
    if "connect" in more:
        return {"connect": True, **games, **more["connect"], **truth}
    return {"num_processes": more["processes"], **truth}


def _timeouts(config: RunConfig) -> dict[str, Any]:
    return {name: config.more[name] for name in ("step_timeout_s",) if name in config.more}


def _count(config: RunConfig) -> int:
    settings = learner_settings(config.learner, config.learner_settings)
    return algorithm_named(config.learner).world_count(settings)
