"""`godojo train`: policies that play well, and a folder that explains itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.live import Live
from rich.table import Table

from godojo.cli.console import err
from godojo.cli.serve import token_in
from godojo.cli.stopping import stopping
from godojo.errors import GodojoError, command
from godojo.files import write_whole

if TYPE_CHECKING:
    from godojo.cli.training_setup import AnyTraining
    from godojo.learn.training import Standing

PLAIN_INTERVAL_S = 10.0


def train(
    game: Annotated[str | None, typer.Argument(help="Which game; tag if left away.")] = None,
    engine: Annotated[
        str | None, typer.Option(help="sim: the embedded twin (default). godot: the real engine, headless.")
    ] = None,
    algorithm: Annotated[str | None, typer.Option(help="ppo or sac; ppo if left away.")] = None,
    minutes: Annotated[float | None, typer.Option(help="How long; 5 if left away.")] = None,
    steps: Annotated[int | None, typer.Option(help="How long, in decisions of all agents, instead.")] = None,
    run_id: Annotated[str | None, typer.Option(help="Name of the run; the date and time if left away.")] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with this run (an id, a path or latest).")] = None,
    force: Annotated[bool, typer.Option(help="Replace a run of the same name.")] = False,
    init_from: Annotated[str | None, typer.Option(help="Begin with the policies of this run.", metavar="RUN")] = None,
    preset: Annotated[
        str | None, typer.Option(help="default, quick, team, …; what there is depends on the game.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A preset of your own in JSON; see: godojo config example.", metavar="FILE.json")
    ] = None,
    trainer: Annotated[str | None, typer.Option(help="built-in, or sb3 (Stable-Baselines3).")] = None,
    values: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting: the learner's (epochs=3) or the game's (motion.gravity_mps2=20)."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed trains the same policies on sim, bit by bit; 1 if left away.")
    ] = None,
    freeze: Annotated[list[str] | None, typer.Option(help="A role that plays but does not learn.")] = None,
    processes: Annotated[int | None, typer.Option(help="Games at once (engine godot); 2 if left away.", min=1)] = None,
    project: Annotated[
        Path | None,
        typer.Option(help="Somebody's Godot project or exported game instead of a game of ours (dojo/1 or godot_rl)."),
    ] = None,
    connect: Annotated[
        bool, typer.Option("--connect", help="Wait for a game that you start yourself; without GAME, for any game.")
    ] = False,
    port: Annotated[int | None, typer.Option(help="With --connect: where to wait; 8765 if left away.")] = None,
    host: Annotated[str | None, typer.Option(help="With --connect: on which of this computer's addresses.")] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="With --connect: a file with the token that the game must know.")
    ] = None,
    num_envs: Annotated[int | None, typer.Option(help="Copies of the game at once.", min=1)] = None,
    reward: Annotated[
        str | None, typer.Option(help="A reward of your own in the game's place.", metavar="file.py:Class")
    ] = None,
    tasks: Annotated[
        str | None, typer.Option(help="Arenas or courses to mix, each told apart by a task id.", metavar="NAME,NAME")
    ] = None,
    http: Annotated[
        str | None, typer.Option(help="Train over HTTP in games that run already (godojo serve-game).", metavar="URL,…")
    ] = None,
    scene: Annotated[str | None, typer.Option(help="The scene to load there first.")] = None,
    reload_every: Annotated[
        int, typer.Option(help="Load the scene anew after so many decisions, as a test of its stability.", min=0)
    ] = 0,
    judge_rounds: Annotated[
        int, typer.Option("--judge", "--eval", help="Rounds of each match at the end; 0 for none.", min=0)
    ] = 500,
    log_trajectories: Annotated[
        int,
        typer.Option(help="Rounds of every snapshot to keep in trajectories/ at the end, tick by tick (tag).", min=0),
    ] = 0,
) -> None:
    """Train all roles of a game, by self-play where there are several, and judge them.

    With no further words: tag, on the embedded twin, five minutes. Ctrl-C saves and says how to go on.

    Examples: godojo train tag --minutes 1 --run-id first · godojo train --resume first --minutes 5 · godojo train tag
    --engine godot --set worlds=64 · godojo train --connect · godojo train navigation --trainer sb3 --preset quick_test
    """
    from godojo.cli.conclusion import conclude  # these bring torch and kernels along
    from godojo.cli.training_setup import prepared, resume_words
    from godojo.cli.wishes import Door, Wishes

    if not connect and (port is not None or host is not None or token_file is not None):
        raise GodojoError("--port, --host and --token-file say where to wait for a game: they need --connect")
    wishes = Wishes(
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
        project=project,
        door=Door(host, port, token_in(token_file)) if connect else None,
        trainer=trainer,
        config=config,
        num_envs=num_envs,
        reward=reward,
        tasks=_words(tasks),
        http=_words(http),
        scene=scene,
        reload_every=reload_every,
    )
    with prepared(wishes, _say) as training:
        run = training.run
        where = f"{run.config.game} on {run.config.engine}"
        _say(f"training {where}, run {run.name}, {training.worlds.num_worlds} worlds, seed {run.config.seed}")
        with stopping(training, _say), _display(training) as report, _stability(training):
            is_spent = training.train(report)
    if not is_spent:
        _say(f"stopped and saved; go on with: {command(f'train {resume_words(run)}')}")
        raise typer.Exit(130)
    conclude(run, judge_rounds, log_trajectories, has_begun_with_others=init_from is not None)


def _words(text: str | None) -> tuple[str, ...]:
    """Some words with commas between."""
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else ()


@contextmanager
def _stability(training: "AnyTraining") -> Iterator[None]:
    """Tells how games over HTTP bore the training, and leaves it in the run as `stability.json`."""
    from godojo.evaluate.stability import http_worlds, memory_mb, stability

    worlds = http_worlds(training.worlds)
    if worlds is None:
        yield
        return
    before_mb = memory_mb(worlds)
    yield
    found = stability(worlds, training.agent_steps, before_mb)
    text = msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n"
    write_whole(training.run.path / "stability.json", text)
    health = ", ".join(f"{game.url} {game.status} ({game.memory_mb:.0f} MB)" for game in found.games)
    _say(
        f"stability: {found.agent_steps:,} decisions, {found.reloads} reloads, {found.restarts} losses, memory "
        f"{found.memory_growth_mb:+.1f} MB; {health}"
    )


def _say(sentence: str) -> None:
    err.print(sentence, markup=False)


@contextmanager
def _display(training: "AnyTraining") -> Iterator[Any]:
    """A live table on a terminal, one line an interval elsewhere."""
    if not err.is_terminal:
        last = -PLAIN_INTERVAL_S

        def in_lines(standing: "Standing") -> None:
            nonlocal last
            if standing.seconds - last >= PLAIN_INTERVAL_S:
                last = standing.seconds
                _say(_line(standing))

        yield in_lines
        return
    with Live(console=err, refresh_per_second=4, transient=False) as live:

        def in_table(standing: "Standing") -> None:
            live.update(_table(standing, training.run.name))

        yield in_table


def _line(standing: "Standing") -> str:
    roles = ", ".join(
        f"{role} wins {rate:.0%}" + (f" (rating {standing.ratings[role][0]:.0f})" if role in standing.ratings else "")
        for role, rate in standing.win_rates.items()
    )
    return (
        f"{standing.progress:4.0%}  {standing.seconds:5.0f} s  {standing.agent_steps / 1e6:7.2f} M agent-steps"
        f"  {standing.steps_per_s / 1e3:5.0f} k/s  {standing.episodes:,} rounds  {roles}"
    )


def _table(standing: "Standing", run: str) -> Table:
    table = Table(title=f"run {run}", title_justify="left", box=None, pad_edge=False, header_style="dim")
    left_s = standing.seconds / max(standing.progress, 1e-6) - standing.seconds
    bar = "█" * round(20 * standing.progress) + "░" * (20 - round(20 * standing.progress))
    for title in ("progress", "time left", "agent-steps", "per second", "rounds", *standing.win_rates):
        table.add_column(title, justify="right")
    table.add_row(
        f"{bar} {standing.progress:4.0%}",
        f"{left_s // 60:.0f}:{left_s % 60:02.0f}",
        f"{standing.agent_steps / 1e6:.1f} M",
        f"{standing.steps_per_s / 1e3:.0f} k",
        f"{standing.episodes:,}",
        *(
            f"wins {rate:.0%}" + (f"\nrating {standing.ratings[role][0]:.0f}" if role in standing.ratings else "")
            for role, rate in standing.win_rates.items()
        ),
    )
    return table
