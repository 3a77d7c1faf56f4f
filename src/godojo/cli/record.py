"""`godojo record` and `godojo encode`: policies at play, drawn by the real Godot, as a film."""

from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import progress_report, say
from godojo.cli.engine import with_engine
from godojo.errors import command


def record(
    run: Annotated[str, typer.Argument(help="RUN or RUN@SNAPSHOT; the newest run if left away.")] = "latest",
    rounds: Annotated[int, typer.Option("--episodes", "--rounds", "-n", help="How many rounds.")] = 3,
    preset: Annotated[
        str, typer.Option("--preset", help="1080p60, 720p30, portrait (1080x1920, 60), portrait-720p30, small, ….")
    ] = "720p30",
    camera: Annotated[str, typer.Option("--camera", help="overview, follow or side.")] = "overview",
    hero: Annotated[str, typer.Option("--hero", help="Whom the follow camera follows: seeker or hider.")] = "seeker",
    role_labels: Annotated[
        bool, typer.Option("--role-labels/--no-role-labels", help="Write above the agents who they are.")
    ] = True,
    seeker: Annotated[
        str | None, typer.Option("--seeker", help="Another player: RUN@SNAPSHOT, scripted:NAME, POLICY.pt.")
    ] = None,
    hider: Annotated[str | None, typer.Option("--hider", help="Likewise.")] = None,
    arena: Annotated[
        str | None,
        typer.Option(
            "--arena", help="A hand-made arena, an arena's file, or generated:SEED; all in turn if left away."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed begins rounds at the same places.")] = 0,
    fine: Annotated[
        bool, typer.Option("--fine", help="Smoother edges; takes twice the time where there is no GPU.")
    ] = False,
    frames: Annotated[
        Path | None, typer.Option("--frames", help="Only draw, and keep the frames in this folder for `encode`.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="Another place than the run's folder.")] = None,
) -> None:
    """Film a run's policies: they play in the real Godot, and the pretty scene is drawn frame by frame.

    Needs no display where Xvfb is installed. The film lies in the run's folder: recording-DATE.mp4.

    Example:

      godojo record latest --rounds 5 --camera follow --hero hider --preset portrait
    """
    from godojo.api import films

    run = chosen_run(run)
    with progress_report() as shown:
        film = with_engine(
            lambda: films.record(
                run,
                output,
                episodes=rounds,
                preset=preset,
                camera=camera,
                hero=hero,
                players={"seeker": seeker, "hider": hider},
                arena=arena,
                role_labels=role_labels,
                seed=seed,
                fine=fine,
                frames=frames,
                progress=shown.progress,
            ),
            shown,
        )
    say(str(film))
    if frames is not None:
        say(f"encode them with: {command(f'encode {frames}')}")


def encode(
    folder: Annotated[
        Path, typer.Argument(help="Frames of `record --frames`, or numbered pictures such as frame_00001.png.")
    ],
    fps: Annotated[
        int | None, typer.Option("--fps", help="Frames a second; as recorded if left away, or 30 for pictures.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="The film; beside the folder if left away.")
    ] = None,
) -> None:
    """Encode a folder of frames as H.264 in MP4: those of `record --frames`, or numbered PNG files.

    Example:

      godojo encode screenshots --fps 60 --out film.mp4
    """
    from godojo.api import films

    with progress_report() as shown:
        film = films.encode(folder, output, fps=fps, progress=shown.progress)
    say(str(film))
