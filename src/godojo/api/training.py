"""`godojo.train`: trains a game's policies, as `godojo train` does."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from godojo.api.references import reference
from godojo.api.runs import Run, log
from godojo.errors import GodojoError
from godojo.training.args import ListenAddress, TrainArgs
from godojo.training.setup import prepared

if TYPE_CHECKING:
    from godojo.learn.training import TrainingStatus


def train(
    game: str | None = None,
    *,
    minutes: float | None = None,
    steps: int | None = None,
    mode: str | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | Sequence[str] = (),
    config: str | Path | None = None,
    algorithm: str | None = None,
    trainer: str | None = None,
    role: str | None = None,
    opponent: str | None = None,
    engine: str | None = None,
    seed: int | None = None,
    run_id: str | None = None,
    force: bool = False,
    resume: Any = None,
    init_from: Any = None,
    freeze: Sequence[str] = (),
    reward: str | None = None,
    tasks: Sequence[str] = (),
    demos: str | Path | Sequence[str | Path] = (),
    num_envs: int | None = None,
    device: str | None = None,
    processes: int | None = None,
    step_timeout: float | None = None,
    project: str | Path | None = None,
    binary: str | Path | None = None,
    window: bool = False,
    speedup: float | None = None,
    action_repeat: int | None = None,
    strict: bool = False,
    connect: bool = False,
    host: str | None = None,
    port: int | None = None,
    token: str | None = None,
    http: Sequence[str] = (),
    scene: str | None = None,
    reload_every: int = 0,
    ray: str | None = None,
    workers: int | None = None,
    worker_timeout: float | None = None,
    progress: "Callable[[TrainingStatus], object] | None" = None,
) -> Run:
    """Train all roles of a game, by self-play where there are several.

    Prints nothing; notes go to the logger `godojo`. An exception, Ctrl-C included, leaves the last checkpoint, which
    `resume` continues from.

    Args:
        game: The game's name; `"tag"` by default.
        minutes: Training time; 5 minutes by default.
        steps: Train for this many agent-steps instead.
        mode: A mode of the game; in tag `"hide_and_seek"` (default) or `"classic"`, where all players share a policy.
        preset: A preset of the game; by default that of the mode, or `"default"`.
        settings: Settings of the algorithm (`{"learning_rate": 1e-3}`) and of the game
            (`{"motion.gravity_mps2": 20}`), above those of the preset; or texts such as `"learning_rate=1e-3"`.
        config: A JSON file in place of a preset; `godojo config example` prints one.
        algorithm: `"ppo"` (default) or `"sac"`; with `trainer="sb3"` also `"td3"` or `"dqn"`; `trainer="rllib"` has
            `"ppo"` only.
        trainer: `"built-in"` (default), `"sb3"`, Stable-Baselines3, which trains one role, or `"rllib"`, RLlib.
        role: The only role that learns; by default the game's first with `"sb3"`, and all roles with `"rllib"`.
        opponent: With `role`: plays all other agents; a scripted opponent, a run, a policy file or `"file.py:Class"`.
        engine: `"sim"`, the embedded twin (default), or `"godot"`, the real engine, headless.
        seed: On `sim` the same seed trains the same policies, bit for bit; 1 by default.
        run_id: The run's name; game, date and time by default.
        force: Replace a run of the same name.
        resume: Continue this run: a `Run`, an id, a path, or `"latest"`; or, in a new run, a zip of Stable-Baselines3.
        init_from: Start with the policies of this run.
        freeze: Roles that play but do not learn.
        reward: A reward function in place of the game's, as `"file.py:Class"`.
        tasks: Arenas or courses to mix; policies observe which one they play.
        demos: Files of demonstrations to imitate (`godojo play --demo`, or recorded by godot_rl): cloned before, and a
            decaying term of the loss during PPO.
        num_envs: Worlds that run in parallel.
        device: With `"sb3"` and `"rllib"`: `"auto"` (default; a GPU if there is one), `"cpu"` or `"cuda"`.
        processes: Godot processes; 2 by default.
        step_timeout: Seconds after which a silent game counts as frozen; 10 by default.
        project: Train in this Godot project instead of one of our games.
        binary: Train in this exported game.
        window: With `project` or `binary`: let the game draw, as camera sensors need; on Xvfb without a display.
        speedup: With `window`: ticks of a godot_rl game between two frames; 1 by default.
        action_repeat: With `project`, `binary` or `connect`: physics ticks per decision; the scene's by default.
        strict: With `project` or `binary`: an error in the game's scripts ends the training.
        connect: Wait for a game that you start yourself; without `game`, for any game.
        host: With `connect`: the address to listen on; 127.0.0.1 by default.
        port: With `connect`: the port; 8765 by default.
        token: With `connect`: the token that the game must send.
        http: Addresses of running games to train in (see `godojo serve-game`); they share `num_envs` evenly, one each
            by default.
        scene: With `project`: the training scene in place of the main scene. With `http`: the scene to load first.
        reload_every: With `http`: reload the scene after this many decisions.
        ray: Play the rollouts on a Ray cluster: its `"HOST:PORT"`; `"auto"` for the one on this machine, or else a new
            one; `"local"` for a new one. Needs `godojo[ray]`.
        workers: With `ray`: processes that play, each with its share of the worlds; 2 by default. With `"rllib"`: the
            same, none by default.
        worker_timeout: With `ray`: seconds that a worker may fall behind the first; 15 by default.
        progress: Called after each update with a `TrainingStatus`; return False to stop the training.

    Returns:
        The run, with its newest policies saved.

    Raises:
        GodojoError: An argument is wrong, or something is missing that the training needs.
    """
    args = TrainArgs(
        game=game,
        engine=engine,
        algorithm=algorithm,
        trainer=trainer,
        role=role,
        opponent=opponent,
        minutes=minutes,
        steps=steps,
        run_id=run_id,
        resume=None if resume is None else reference(resume),
        force=force,
        init_from=None if init_from is None else reference(init_from),
        mode=mode,
        preset=preset,
        config=None if config is None else Path(config),
        values=setting_texts(settings),
        num_envs=num_envs,
        device=device,
        seed=seed,
        freeze=tuple(freeze),
        reward=reward,
        tasks=tuple(tasks),
        demos=tuple(map(Path, [demos] if isinstance(demos, str | Path) else demos)),
        processes=processes,
        step_timeout=step_timeout,
        project=None if project is None else Path(project),
        binary=None if binary is None else Path(binary),
        window=window,
        speedup=speedup,
        action_repeat=action_repeat,
        strict=strict,
        listen=ListenAddress.from_options(connect, host, port, token),
        http=(http,) if isinstance(http, str) else tuple(http),
        scene=scene,
        reload_every=reload_every,
        ray=ray,
        workers=workers,
        worker_timeout=worker_timeout,
    )
    with prepared(args, log.info) as training:
        from godojo.training.outcome import run_training  # loads torch

        def report(status: "TrainingStatus") -> None:
            if progress is not None and progress(status) is False:
                training.stop()

        run_training(training, report)
        return Run(training.run)


def setting_texts(settings: Mapping[str, Any] | Sequence[str]) -> tuple[str, ...]:
    """Settings in the form of `--set`."""
    if isinstance(settings, str):
        raise GodojoError(f"settings={settings!r} must be a mapping, or a list of texts such as 'n_epochs=3'")
    if not isinstance(settings, Mapping):
        return tuple(settings)
    try:
        return tuple(f"{name}={msgspec.json.encode(value).decode()}" for name, value in settings.items())
    except TypeError as error:
        raise GodojoError(f"settings must be numbers, texts, booleans or lists of them ({error})") from None
