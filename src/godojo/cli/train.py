"""`godojo train`: trains policies, evaluates them and prints what to do next."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.live import Live
from rich.table import Table

from godojo.cli.console import err, note
from godojo.cli.serve import token_in
from godojo.cli.signals import stopping
from godojo.errors import command
from godojo.units import counted

if TYPE_CHECKING:
    from godojo.evaluation.stability import Stability
    from godojo.learn.training import Training, TrainingStatus

PLAIN_INTERVAL_S = 10.0


def _in(panel: str) -> Callable[..., Any]:
    """Makes options of one panel of the help: `option(help, metavar, *flags)`."""

    def option(text: str, metavar: str | None = None, *flags: str, **limits: Any) -> Any:
        return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel=panel, **limits)

    return option


basic, own_game, over_http, expert = _in("Basics"), _in("Your own game"), _in("HTTP"), _in("Expert")


def train(
    game: Annotated[
        str | None, typer.Argument(help="tag, navigation, first_agent, …; defaults to tag.", metavar="GAME")
    ] = None,
    minutes: Annotated[float | None, basic("Training time; defaults to 5.", "N")] = None,
    steps: Annotated[int | None, basic("Train for N agent-steps instead.", "N")] = None,
    mode: Annotated[str | None, basic("A mode of the game; in tag hide_and_seek (default) or classic.", "NAME")] = None,
    preset: Annotated[str | None, basic("A preset of the game: default, quick, 2v2, classic, …", "NAME")] = None,
    engine: Annotated[
        str | None,
        basic("sim, the embedded twin (default; with --project if it agrees), or godot, the real engine.", "NAME"),
    ] = None,
    seed: Annotated[
        int | None, basic("On sim the same seed trains the same policies, bit for bit; defaults to 1.", "N")
    ] = None,
    run_id: Annotated[str | None, basic("Name of the run; defaults to game, date and time.", "NAME")] = None,
    resume: Annotated[
        str | None, basic("Resume this run: an id, a path, or latest; or a zip of Stable-Baselines3.", "RUN")
    ] = None,
    force: Annotated[bool, basic("Replace a run of the same name.", None, "--force")] = False,
    judge_rounds: Annotated[
        int, basic("Rounds of each evaluation match at the end; 0 for none.", "N", "--eval", min=0)
    ] = 500,
    judge: Annotated[int | None, typer.Option("--judge", hidden=True, min=0)] = None,
    project: Annotated[Path | None, own_game("Train in this Godot project (dojo/1 or godot_rl).", "DIR")] = None,
    binary: Annotated[Path | None, own_game("Train in this exported game.", "FILE")] = None,
    scene: Annotated[
        str | None, own_game("The project's training scene; defaults to its main scene. Also for --http.", "SCENE")
    ] = None,
    window: Annotated[
        bool,
        own_game("Let the game draw, as camera sensors need; on Xvfb where there is no display.", None, "--window"),
    ] = False,
    speedup: Annotated[
        float | None, own_game("With --window: ticks of a godot_rl game between two frames; defaults to 1.", "N")
    ] = None,
    action_repeat: Annotated[
        int | None, own_game("Physics ticks per decision; defaults to the scene's.", "N", min=1)
    ] = None,
    strict: Annotated[bool, own_game("Stop at the first error in the game's scripts.", None, "--strict")] = False,
    connect: Annotated[
        bool, own_game("Wait for a game that you start; without GAME, for any game.", None, "--connect")
    ] = False,
    port: Annotated[int | None, own_game("With --connect: the port; defaults to 8765.", "N")] = None,
    host: Annotated[str | None, own_game("With --connect: the address to listen on.", "IP")] = None,
    token_file: Annotated[
        Path | None, own_game("With --connect: a file with the token that the game must send.", "FILE")
    ] = None,
    http: Annotated[
        str | None, over_http("Train in running games (see serve-game); --num-envs in all.", "URL,…")
    ] = None,
    reload_every: Annotated[
        int, over_http("Reload the scene after every N decisions, to test its stability.", "N", min=0)
    ] = 0,
    values: Annotated[
        list[str] | None,
        expert("A setting of the algorithm (n_epochs=3) or the game (motion.gravity_mps2=20).", "KEY=VALUE", "--set"),
    ] = None,
    config: Annotated[Path | None, expert("A configuration; `config example` prints one.", "FILE.json")] = None,
    algorithm: Annotated[str | None, expert("ppo (default) or sac; sb3 also has td3 and dqn.", "NAME")] = None,
    trainer: Annotated[str | None, expert("built-in (default), sb3 or rllib.", "NAME")] = None,
    role: Annotated[str | None, expert("With sb3 or rllib: the only role that learns.", "ROLE")] = None,
    opponent: Annotated[
        str | None,
        expert("With sb3 or rllib: plays the other agents. A script, RUN, policy file or FILE.py:Class.", "PLAYER"),
    ] = None,
    init_from: Annotated[str | None, expert("Start with the policies of this run.", "RUN")] = None,
    freeze: Annotated[list[str] | None, expert("A role that plays but does not learn.", "ROLE")] = None,
    reward: Annotated[str | None, expert("Your own reward function.", "FILE.py:Class")] = None,
    tasks: Annotated[str | None, expert("Arenas or courses to mix; policies observe which one.", "NAME,…")] = None,
    demos: Annotated[
        list[Path] | None, expert("Imitate these demonstrations before and during PPO (see play --demo).", "FILE")
    ] = None,
    num_envs: Annotated[int | None, expert("Worlds played in parallel.", "N", min=1)] = None,
    device: Annotated[
        str | None, expert("With sb3 or rllib: auto (default; a GPU if there is one), cpu or cuda.", "NAME")
    ] = None,
    processes: Annotated[int | None, expert("Godot processes; defaults to 2.", "N", "--engines", min=1)] = None,
    num_processes: Annotated[int | None, typer.Option("--processes", hidden=True, min=1)] = None,
    step_timeout: Annotated[
        float | None,
        expert("A game that is silent for longer counts as frozen; defaults to 10.", "SECONDS"),
    ] = None,
    ray: Annotated[
        str | None,
        expert("Play in a Ray cluster: HOST:PORT, auto or local.", "ADDRESS"),
    ] = None,
    workers: Annotated[
        int | None, expert("Rollout workers, with --ray (defaults to 2) or rllib (0).", "N", min=1)
    ] = None,
    worker_timeout: Annotated[
        float | None, expert("How far a worker may fall behind the first; defaults to 15.", "SECONDS")
    ] = None,
    log_trajectories: Annotated[
        int, expert("Rounds of each snapshot to record tick by tick at the end.", "N", min=0)
    ] = 0,
    verbose: Annotated[bool, expert("Print the metrics of every update.", None, "--verbose")] = False,
) -> None:
    """Train all roles of a game, by self-play where there are several, and evaluate them.

    By default: tag, on the embedded twin, for five minutes. Ctrl-C saves the run and prints how to resume it.

    Examples:

      godojo train tag --minutes 1 --run-id first
      godojo train --resume first --minutes 5
      godojo train tag --mode classic
      godojo train navigation --trainer sb3 --algorithm sac --preset per_metre
      godojo train first_agent --minutes 2
      godojo train tag --trainer rllib --workers 2
      godojo train --project path/to/project --minutes 5
      godojo train --connect
    """
    from godojo.training.args import ListenAddress, TrainArgs
    from godojo.training.setup import prepared, resume_words

    args = TrainArgs(
        game=game,
        engine=engine,
        algorithm=algorithm,
        minutes=minutes,
        steps=steps,
        run_id=run_id,
        resume=resume,
        force=force,
        init_from=init_from,
        mode=mode,
        preset=preset,
        values=tuple(values or ()),
        seed=seed,
        freeze=tuple(freeze or ()),
        processes=processes if num_processes is None else num_processes,
        step_timeout=step_timeout,
        project=project,
        binary=binary,
        window=window,
        speedup=speedup,
        action_repeat=action_repeat,
        strict=strict,
        listen=ListenAddress.from_options(connect, host, port, token_in(token_file)),
        trainer=trainer,
        config=config,
        num_envs=num_envs,
        device=device,
        role=role,
        opponent=opponent,
        reward=reward,
        tasks=_words(tasks),
        demos=tuple(demos or ()),
        http=_words(http),
        scene=scene,
        reload_every=reload_every,
        ray=ray,
        workers=workers,
        worker_timeout=worker_timeout,
        command=tuple(sys.argv[1:]),
    )
    with prepared(args, note) as training:
        from godojo.cli.summary import conclude  # these load torch and the charts
        from godojo.training.outcome import run_training

        run = training.run
        where = f"{run.config.game} on {run.config.engine}"
        note(f"training {where}, run {run.name}, {training.worlds.num_worlds} worlds, seed {run.config.seed}")
        with stopping(training, note), training_display(training, verbose) as report:
            outcome = run_training(training, report)
        if outcome.stability is not None:
            _say_stability(outcome.stability)
        if outcome.script_errors[0]:
            note("the game's scripts caused {:,} errors; the first: {}".format(*outcome.script_errors))
        for where, count in outcome.non_finite.items():
            note(f"not finite and replaced, {count:,} times: {where}")
    if not outcome.is_spent:
        note(f"stopped and saved; continue with: {command(f'train {resume_words(run)}')}")
        raise typer.Exit(130)
    conclude(
        run, judge_rounds if judge is None else judge, log_trajectories, started_from_policies=init_from is not None
    )


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else ()


def _say_stability(found: "Stability") -> None:
    health = ", ".join(f"{game.url} {game.status} ({game.memory_mb:.0f} MB)" for game in found.games)
    note(
        f"stability: {found.agent_steps:,} decisions, {found.reloads} reloads, {found.restarts} losses, memory "
        f"{found.memory_growth_mb:+.1f} MB; {health}"
    )


@contextmanager
def training_display(training: "Training", verbose: bool = False) -> Iterator[Any]:
    """Shows a live table on a terminal, or else prints a line every `PLAIN_INTERVAL_S`; metrics of every update if
    `verbose`."""
    if verbose:
        yield lambda standing: err.print("\n".join((_line(standing), *_metrics(standing))), markup=False)
        return
    if not err.is_terminal:
        last = -PLAIN_INTERVAL_S

        def in_lines(standing: "TrainingStatus") -> None:
            nonlocal last
            if standing.seconds - last >= PLAIN_INTERVAL_S:
                last = standing.seconds
                err.print(_line(standing), markup=False)

        yield in_lines
        return
    with Live(console=err, refresh_per_second=4, transient=False) as live:

        def in_table(standing: "TrainingStatus") -> None:
            live.update(_table(standing, training.run.name))

        yield in_table


def _line(standing: "TrainingStatus") -> str:
    roles = ", ".join(
        f"{role} wins {rate:.0%}" + (f" (rating {standing.ratings[role][0]:.0f})" if role in standing.ratings else "")
        for role, rate in standing.win_rates.items()
    ) or ", ".join(f"{role} reward {mean:.4g}" for role, mean in standing.rewards.items())
    return (
        f"{standing.progress:4.0%}  {standing.seconds:5.0f} s  {counted(standing.agent_steps):>6} agent-steps"
        f"  {counted(standing.steps_per_s):>6}/s  {_rounds(standing)}  {roles}"
    ).rstrip()


def _metrics(standing: "TrainingStatus") -> list[str]:
    width = max(map(len, standing.metrics), default=0)
    return [f"      {name:{width}}  {value:.5g}" for name, value in sorted(standing.metrics.items())]


def _rounds(standing: "TrainingStatus") -> str:
    if not standing.episodes:
        return "no rounds yet"
    if standing.rewards and not standing.win_rates:
        return f"{standing.episodes:,} episodes"
    return f"{standing.episodes:,} rounds" + ("" if standing.win_rates else ", no win rates so far")


def _table(standing: "TrainingStatus", run: str) -> Table:
    table = Table(title=f"run {run}", title_justify="left", box=None, pad_edge=False, header_style="dim")
    left_s = standing.seconds / max(standing.progress, 1e-6) - standing.seconds
    bar = "█" * round(20 * standing.progress) + "░" * (20 - round(20 * standing.progress))
    rewards = {} if standing.win_rates else standing.rewards
    for title in ("progress", "time left", "agent-steps", "per second", "rounds", *standing.win_rates, *rewards):
        table.add_column(title, justify="right")
    table.add_row(
        f"{bar} {standing.progress:4.0%}",
        f"{left_s // 60:.0f}:{left_s % 60:02.0f}",
        counted(standing.agent_steps),
        counted(standing.steps_per_s),
        f"{standing.episodes:,}" if standing.episodes else "none yet",
        *(
            f"wins {rate:.0%}" + (f"\nrating {standing.ratings[role][0]:.0f}" if role in standing.ratings else "")
            for role, rate in standing.win_rates.items()
        ),
        *(f"reward {mean:.4g}" for mean in rewards.values()),
    )
    return table
