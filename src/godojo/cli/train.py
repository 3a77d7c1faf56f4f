"""`godojo train`: policies that play well, and a folder that explains itself."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.live import Live
from rich.table import Table

from godojo.cli.console import err
from godojo.cli.serve import token_in
from godojo.cli.signals import stopping
from godojo.errors import GodojoError, command
from godojo.units import counted

if TYPE_CHECKING:
    from godojo.evaluation.stability import Stability
    from godojo.learn.training import Training, TrainingStatus

PLAIN_INTERVAL_S = 10.0
BASICS, OWN_GAME, HTTP, EXPERT = "Basics", "Your own game", "HTTP", "Expert"


def train(
    game: Annotated[str | None, typer.Argument(help="tag or navigation; tag by default.", metavar="GAME")] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Training time; 5 by default.", metavar="N", rich_help_panel=BASICS)
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(help="Train for N agent-steps instead.", metavar="N", rich_help_panel=BASICS),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="What to train and how: default, quick, team, …", metavar="NAME", rich_help_panel=BASICS),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="sim, the embedded twin (default), or godot, the real engine, headless.",
            metavar="NAME",
            rich_help_panel=BASICS,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="The same seed trains the same policies on sim, bit for bit; 1 by default.",
            metavar="N",
            rich_help_panel=BASICS,
        ),
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option(help="Name of the run; game, date and time by default.", metavar="NAME", rich_help_panel=BASICS),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(help="Resume this run: an id, a path, or latest.", metavar="RUN", rich_help_panel=BASICS),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a run of the same name.", rich_help_panel=BASICS)
    ] = False,
    judge_rounds: Annotated[
        int,
        typer.Option(
            "--judge",
            "--eval",
            help="Rounds of each evaluation match at the end; 0 for none.",
            metavar="N",
            min=0,
            rich_help_panel=BASICS,
        ),
    ] = 500,
    project: Annotated[
        Path | None,
        typer.Option(
            help="Train in this Godot project or exported game (dojo/1 or godot_rl).",
            metavar="PATH",
            rich_help_panel=OWN_GAME,
        ),
    ] = None,
    connect: Annotated[
        bool,
        typer.Option(
            "--connect",
            help="Wait for a game that you start yourself; without GAME, for any game.",
            rich_help_panel=OWN_GAME,
        ),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(help="With --connect: the port; 8765 by default.", metavar="N", rich_help_panel=OWN_GAME),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(help="With --connect: the address to listen on.", metavar="IP", rich_help_panel=OWN_GAME),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="With --connect: a file with the token that the game must send.",
            metavar="FILE",
            rich_help_panel=OWN_GAME,
        ),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(
            help="Train in games that are running (see serve-game), one world each.",
            metavar="URL,…",
            rich_help_panel=HTTP,
        ),
    ] = None,
    scene: Annotated[
        str | None, typer.Option(help="The scene to load there first.", metavar="NAME", rich_help_panel=HTTP)
    ] = None,
    reload_every: Annotated[
        int,
        typer.Option(
            help="Reload the scene after N decisions, as a test of its stability.",
            metavar="N",
            min=0,
            rich_help_panel=HTTP,
        ),
    ] = 0,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the learner (n_epochs=3) or of the game (motion.gravity_mps2=20).",
            metavar="KEY=VALUE",
            rich_help_panel=EXPERT,
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="A preset of your own; `config example` prints one.", metavar="FILE.json", rich_help_panel=EXPERT
        ),
    ] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="ppo (default) or sac.", metavar="NAME", rich_help_panel=EXPERT)
    ] = None,
    trainer: Annotated[
        str | None,
        typer.Option(help="built-in (default) or sb3, Stable-Baselines3.", metavar="NAME", rich_help_panel=EXPERT),
    ] = None,
    init_from: Annotated[
        str | None, typer.Option(help="Start with the policies of this run.", metavar="RUN", rich_help_panel=EXPERT)
    ] = None,
    freeze: Annotated[
        list[str] | None,
        typer.Option(help="A role that plays but does not learn.", metavar="ROLE", rich_help_panel=EXPERT),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(help="Your own reward function.", metavar="FILE.py:Class", rich_help_panel=EXPERT),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            help="Arenas or courses to mix, told apart by a task id.", metavar="NAME,…", rich_help_panel=EXPERT
        ),
    ] = None,
    num_envs: Annotated[
        int | None, typer.Option(help="Copies of the game at once.", metavar="N", min=1, rich_help_panel=EXPERT)
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(help="Godot processes at once; 2 by default.", metavar="N", min=1, rich_help_panel=EXPERT),
    ] = None,
    step_timeout: Annotated[
        float | None,
        typer.Option(
            help="Seconds after which a silent game counts as frozen; 10 by default.",
            metavar="SECONDS",
            rich_help_panel=EXPERT,
        ),
    ] = None,
    log_trajectories: Annotated[
        int,
        typer.Option(
            help="Rounds of each snapshot to record tick by tick at the end (tag).",
            metavar="N",
            min=0,
            rich_help_panel=EXPERT,
        ),
    ] = 0,
) -> None:
    """Train all roles of a game, by self-play where there are several, and evaluate them.

    By default: tag, on the embedded twin, for five minutes. Ctrl-C saves the run and prints how to resume it.

    Examples:

      godojo train tag --minutes 1 --run-id first
      godojo train --resume first --minutes 5
      godojo train tag --engine godot --set num_worlds=64
      godojo train navigation --trainer sb3 --preset quick_test
      godojo train --connect
    """
    from godojo.training.args import ListenAddress, TrainArgs
    from godojo.training.setup import prepared, resume_words

    if not connect and (port is not None or host is not None or token_file is not None):
        raise GodojoError("--port, --host and --token-file say where to wait for a game: they need --connect")
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
        preset=preset,
        values=tuple(values or ()),
        seed=seed,
        freeze=tuple(freeze or ()),
        processes=processes,
        step_timeout=step_timeout,
        project=project,
        listen=ListenAddress(host, port, token_in(token_file)) if connect else None,
        trainer=trainer,
        config=config,
        num_envs=num_envs,
        reward=reward,
        tasks=_words(tasks),
        http=_words(http),
        scene=scene,
        reload_every=reload_every,
        command=tuple(sys.argv[1:]),
    )
    with prepared(args, _say) as training:
        from godojo.cli.summary import conclude  # these load torch and the charts, which a refusal need not wait for
        from godojo.training.outcome import run_training

        run = training.run
        where = f"{run.config.game} on {run.config.engine}"
        _say(f"training {where}, run {run.name}, {training.worlds.num_worlds} worlds, seed {run.config.seed}")
        with stopping(training, _say), _display(training) as report:
            outcome = run_training(training, report)
        if outcome.stability is not None:
            _say_stability(outcome.stability)
    if not outcome.is_spent:
        _say(f"stopped and saved; go on with: {command(f'train {resume_words(run)}')}")
        raise typer.Exit(130)
    conclude(run, judge_rounds, log_trajectories, started_from_policies=init_from is not None)


def _words(text: str | None) -> tuple[str, ...]:
    """Some words with commas between."""
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else ()


def _say_stability(found: "Stability") -> None:
    health = ", ".join(f"{game.url} {game.status} ({game.memory_mb:.0f} MB)" for game in found.games)
    _say(
        f"stability: {found.agent_steps:,} decisions, {found.reloads} reloads, {found.restarts} losses, memory "
        f"{found.memory_growth_mb:+.1f} MB; {health}"
    )


def _say(sentence: str) -> None:
    err.print(sentence, markup=False)


@contextmanager
def _display(training: "Training") -> Iterator[Any]:
    """A live table on a terminal, one line an interval elsewhere."""
    if not err.is_terminal:
        last = -PLAIN_INTERVAL_S

        def in_lines(standing: "TrainingStatus") -> None:
            nonlocal last
            if standing.seconds - last >= PLAIN_INTERVAL_S:
                last = standing.seconds
                _say(_line(standing))

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
    )
    return (
        f"{standing.progress:4.0%}  {standing.seconds:5.0f} s  {counted(standing.agent_steps):>6} agent-steps"
        f"  {counted(standing.steps_per_s):>6}/s  {_rounds(standing)}  {roles}"
    ).rstrip()


def _rounds(standing: "TrainingStatus") -> str:
    if not standing.episodes:
        return "no rounds yet"
    return f"{standing.episodes:,} rounds" + ("" if standing.win_rates else ", no win rates so far")


def _table(standing: "TrainingStatus", run: str) -> Table:
    table = Table(title=f"run {run}", title_justify="left", box=None, pad_edge=False, header_style="dim")
    left_s = standing.seconds / max(standing.progress, 1e-6) - standing.seconds
    bar = "█" * round(20 * standing.progress) + "░" * (20 - round(20 * standing.progress))
    for title in ("progress", "time left", "agent-steps", "per second", "rounds", *standing.win_rates):
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
    )
    return table
