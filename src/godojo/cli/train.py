"""`godojo train`: two policies that play well, and a folder that explains itself."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.live import Live
from rich.table import Table

from godojo.cli.console import err, out
from godojo.cli.serve import token_in
from godojo.cli.stopping import stopping
from godojo.errors import GodojoError, command

if TYPE_CHECKING:
    from godojo.learn.training import Standing, Training
    from godojo.runs.folder import RunFolder

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
    preset: Annotated[str | None, typer.Option(help="default, quick, team, …")] = None,
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
        Path | None, typer.Option(help="Somebody's Godot project instead of a game of ours (dojo/1 or godot_rl).")
    ] = None,
    connect: Annotated[
        bool, typer.Option("--connect", help="Wait for a game that you start yourself; without GAME, for any game.")
    ] = False,
    port: Annotated[int | None, typer.Option(help="With --connect: where to wait; 8765 if left away.")] = None,
    host: Annotated[str | None, typer.Option(help="With --connect: on which of this computer's addresses.")] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="With --connect: a file with the token that the game must know.")
    ] = None,
    judge_rounds: Annotated[
        int, typer.Option("--judge", help="Rounds of each match at the end; 0 for none.", min=0)
    ] = 500,
    log_trajectories: Annotated[
        int,
        typer.Option(help="Rounds of every snapshot to keep in trajectories/ at the end, tick by tick (tag).", min=0),
    ] = 0,
) -> None:
    """Train both roles of a game by self-play, and judge them against scripted opponents.

    With no further words: tag, on the embedded twin, five minutes. Ctrl-C saves and says how to go on.

    Examples: godojo train tag --minutes 1 --run-id first · godojo train --resume first --minutes 5 · godojo train tag
    --engine godot --set worlds=64 · godojo train --connect
    """
    from godojo.cli import training_setup  # brings torch and kernels along

    if not connect and (port is not None or host is not None or token_file is not None):
        raise GodojoError("--port, --host and --token-file say where to wait for a game: they need --connect")
    wishes = training_setup.Wishes(
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
        door=training_setup.Door(host, port, token_in(token_file)) if connect else None,
    )
    with training_setup.prepared(wishes, _say) as training:
        run = training.run
        where = f"{run.config.game} on {run.config.engine}"
        _say(f"training {where}, run {run.name}, {training.worlds.num_worlds} worlds, seed {run.config.seed}")
        with stopping(training, _say), _display(training) as report:
            is_spent = training.train(report)
    if not is_spent:
        _say(f"stopped and saved; go on with: {command(f'train {training_setup.resume_words(run)}')}")
        raise typer.Exit(130)
    _conclude(run, judge_rounds, log_trajectories, has_begun_with_others=init_from is not None)


def _say(sentence: str) -> None:
    err.print(sentence, markup=False)


@contextmanager
def _display(training: "Training") -> Iterator[Any]:
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


def _conclude(run: "RunFolder", judge_rounds: int, log_trajectories: int, *, has_begun_with_others: bool) -> None:
    """A small table, where everything lies, and what to try next.

    Whoever began with policies that knew something sees what they have learnt since.
    """
    from godojo.cli.training_setup import resume_words
    from godojo.engines.make import GAMES

    if judge_rounds and run.config.game in GAMES and len(run.config.roles) == 2:
        from godojo.cli.console import progress_report
        from godojo.cli.eval import show, show_progress
        from godojo.evaluate.judge import judge

        learning = [role for role in run.config.roles if run.role_map().read().get(role, "train") == "train"]
        role = learning[0] if has_begun_with_others and len(learning) == 1 else None
        with progress_report() as shown:
            found = judge(str(run.path), role=role, rounds=judge_rounds, progress=shown.progress)
            if has_begun_with_others:
                before = judge(f"{run.path}@start", role=role, rounds=judge_rounds, progress=shown.progress)
        if has_begun_with_others:
            show_progress(before, found)
        else:
            show(found)
    charts = _attempt("charts", lambda: _charts(run))
    kept = _attempt("trajectories", lambda: _trajectories(run, log_trajectories)) if log_trajectories else 0
    out.print(f"\neverything lies in {run.path}", markup=False)
    for role in run.config.roles:
        out.print(f"  policy_{role}.pt", markup=False)
    if charts:
        out.print(f"  charts/ ({charts} pictures, learning.png first)", markup=False)
    if kept:
        out.print(f"  trajectories/ ({kept} rounds)", markup=False)
    out.print("next:")
    for words in (
        f"watch {run.name}",
        f"eval {run.name}",
        f"league {run.name}",
        f"export {run.name}",
        f"train {resume_words(run)} --minutes 10",
    ):
        out.print(f"  {command(words)}", markup=False)
    sys.stdout.flush()


def _attempt(what: str, write: Callable[[], int]) -> int:
    """How many of them were written. A training that is done and saved is not to fail for lack of a picture."""
    try:
        return write()
    except Exception as error:
        _say(f"no {what}: {error}")
        return 0


def _charts(run: "RunFolder") -> int:
    from godojo.show.charts import write_charts

    return len(write_charts(run))


def _trajectories(run: "RunFolder", rounds: int) -> int:
    from godojo.show.trajectories import write_trajectories

    return len(write_trajectories(run, rounds))
