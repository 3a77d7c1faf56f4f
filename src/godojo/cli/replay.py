"""`godojo replay`: rounds of a run, recorded tick by tick."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from godojo.api.references import is_file, named_players
from godojo.api.replays import Replays
from godojo.api.replays import replay as record
from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import out, progress_report
from godojo.errors import GodojoError

if TYPE_CHECKING:
    from godojo.show.replay import Replay


def replay(
    run: Annotated[
        str, typer.Argument(help="RUN or RUN@SNAPSHOT, a game for its latest run, or a replay's file or folder.")
    ] = "latest",
    player: Annotated[
        list[str] | None,
        typer.Option(
            "--player",
            help="Another player: a run, snapshot, opponent or file; in classic tag also opponent=NAME.",
            metavar="ROLE=NAME",
        ),
    ] = None,
    arena: Annotated[
        str | None,
        typer.Option("--arena", help="An arena's name or file, or generated:SEED; defaults to all hand-made ones."),
    ] = None,
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="How many rounds.")] = 5,
    engine: Annotated[str, typer.Option("--engine", help="sim (every tick) or godot (every decision).")] = "sim",
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same rounds.")] = 0,
    sampled: Annotated[
        bool,
        typer.Option("--sampled", help="Policies are stochastic, as in training, instead of deterministic."),
    ] = False,
    packed: Annotated[
        bool, typer.Option("--packed", help="One small file for all rounds instead of one each.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder; defaults to trajectories/ of the run.")
    ] = None,
    map_file: Annotated[
        Path | None, typer.Option("--map", help="Also draw the paths from above.", metavar="FILE.png")
    ] = None,
) -> None:
    """Play rounds and keep them as replays: trajectories/ep_*.jsonl in the run's folder, or one packed file.

    Given a replay's file or folder, list the rounds in it.

    Examples:

      godojo replay latest@10s --player hider=sighted -n 20
      godojo replay navigation --map paths.png
    """
    if map_file is not None and map_file.suffix != ".png":
        raise GodojoError(f"--map {map_file}: maps are PNG; let the name end with .png")
    run = chosen_run(run)
    if is_file(run):
        from godojo.show.replay_file import read_any

        folder = Path(run).expanduser()
        _show(Replays(folder, read_any(folder)), map_file)
        return
    with progress_report() as shown:
        found = record(
            run,
            output,
            episodes=episodes,
            players=named_players(player or []),
            arena=arena,
            engine=engine,
            seed=seed,
            deterministic=not sampled,
            packed=packed,
            progress=shown.progress,
        )
    _show(found, map_file)
    out.print(f"\n{len(found.episodes)} rounds in {escape(str(found.folder))}")


def _show(found: Replays, map_file: Path | None) -> None:
    """A table of them and, if asked for, a map."""
    replays = found.episodes
    if map_file is not None:
        out.print(f"map: {escape(str(found.draw_map(map_file)))}\n")
    table = Table(box=None, pad_edge=False, header_style="dim")
    has_teams = any(role.agents > 1 for one in replays for role in one.header.roles)
    for title in ("arena", "players", "engine", "winner", *(["out"] if has_teams else [])):
        table.add_column(title, no_wrap=title == "out")
    for title in ("seconds", "frames", "decisions"):
        table.add_column(title, justify="right")
    for one in replays:
        players = ", ".join(f"{role.name} {role.player}" for role in one.header.roles)
        winner = one.outcome.winner if one.outcome else "(cut off)"
        counts = (f"{one.seconds:.2f}", str(len(one.tick)), str(len(one.decision_frame)))
        words = [escape(one.header.arena_title), escape(players), one.header.engine, escape(winner)]
        table.add_row(*words, *([escape(_out(one))] if has_teams else []), *counts)
    out.print(table)


def _out(replay: "Replay") -> str:
    """How many of each team were out at the end: `hider 1 of 2`."""
    found = []
    for role in replay.header.roles:
        left = int(replay.active[-1, role.first : role.first + role.agents].sum())
        if left < role.agents:
            found.append(f"{role.name} {role.agents - left} of {role.agents}")
    return ", ".join(found)
