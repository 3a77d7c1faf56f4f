"""`godojo record` and `godojo encode`: rounds of a run's policies, drawn by the real Godot, as a film."""

from pathlib import Path
from typing import Annotated

import typer

from godojo.api.references import named_players
from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import progress_report, say
from godojo.cli.engine import with_engine
from godojo.errors import command


def record(
    run: Annotated[str, typer.Argument(help="RUN or RUN@SNAPSHOT; defaults to the latest run.")] = "latest",
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="How many rounds.", min=1)] = 3,
    rounds: Annotated[int | None, typer.Option("--rounds", help="--episodes.", hidden=True, min=1)] = None,
    preset: Annotated[
        str, typer.Option("--preset", help="1080p60, 720p30, portrait (1080x1920, 60), portrait-720p30, small, ….")
    ] = "720p30",
    camera: Annotated[
        str | None,
        typer.Option("--camera", help="tracking (close, all in view; default), overview, follow or side."),
    ] = None,
    hero: Annotated[
        str | None, typer.Option("--hero", help="The role that `follow` follows; defaults to the first.")
    ] = None,
    role_labels: Annotated[
        bool, typer.Option("--role-labels/--no-role-labels", help="Write roles above the agents.")
    ] = True,
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
        typer.Option("--arena", help="An arena's name or file, or generated:SEED; defaults to all in turn."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed starts rounds at the same places.")] = 0,
    fine: Annotated[bool, typer.Option("--fine", help="Smoother edges; twice the time without a GPU.")] = False,
    frames: Annotated[
        Path | None, typer.Option("--frames", help="Only draw, and keep frame_00000.png, … in this folder.")
    ] = None,
    project: Annotated[
        Path | None, typer.Option("--project", help="An external game's project; defaults to the run's.", metavar="DIR")
    ] = None,
    binary: Annotated[
        Path | None, typer.Option("--binary", help="The exported external game, instead.", metavar="FILE")
    ] = None,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="The film; defaults to the run's folder.")] = None,
) -> None:
    """Film rounds of a run's policies, played in the real Godot.

    An external game (train --project) is filmed as it draws itself: episodes of its first agent, at most a minute.
    Writes recording-DATE.mp4 into the run's folder. Needs no display where Xvfb is installed.

    Example:

      godojo record latest --episodes 5 --camera follow --hero hider --preset portrait
    """
    from godojo.api import films

    run = chosen_run(run)
    with progress_report() as shown:
        film = with_engine(
            lambda: films.record(
                run,
                output,
                episodes=rounds or episodes,
                preset=preset,
                camera=camera,
                hero=hero,
                players=named_players(player or []),
                arena=arena,
                role_labels=role_labels,
                seed=seed,
                fine=fine,
                frames=frames,
                project=project,
                binary=binary,
                progress=shown.progress,
            ),
            shown,
        )
    say(str(film))
    if frames is not None:
        say(f"encode them with: {command(f'encode {frames}')}")


def encode(
    folder: Annotated[
        Path, typer.Argument(help="Numbered pictures such as frame_00001.png, as `record --frames` draws them.")
    ],
    fps: Annotated[
        int | None,
        typer.Option("--fps", help="Frames a second; defaults to the recording's, or 30 for pictures."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="The film; defaults to beside the folder.")] = None,
) -> None:
    """Encode a folder of numbered PNG files as H.264 in MP4, such as those of `record --frames`.

    Example:

      godojo encode screenshots --fps 60 --out film.mp4
    """
    from godojo.api import films

    with progress_report() as shown:
        film = films.encode(folder, output, fps=fps, progress=shown.progress)
    say(str(film))
