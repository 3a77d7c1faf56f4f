"""`godojo record` and `godojo encode`: policies at play, drawn by the real Godot, as a film."""

from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import progress_report, say
from godojo.cli.engine import ready_engine
from godojo.engines.godot.display import check_screen
from godojo.errors import GodojoError, command


def record(
    run: Annotated[str, typer.Argument(help="RUN or RUN@SNAPSHOT; the newest run if left away.")] = "latest",
    rounds: Annotated[int, typer.Option("--rounds", "-n", help="How many rounds.")] = 3,
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
    run = chosen_run(run)
    from godojo.show import record as recording  # loads torch and the kernels
    from godojo.show.policies_to_show import PoliciesToShow, arenas_from
    from godojo.show.shots import CAMERAS
    from godojo.show.shots import preset as format_of

    film = format_of(preset)
    if rounds < 1:
        raise GodojoError(f"--rounds must be 1 or more, not {rounds}")
    if camera not in CAMERAS:
        raise GodojoError(f"there is no camera {camera!r}; there is: {', '.join(CAMERAS)}")
    lineup = PoliciesToShow.of(run, {"seeker": seeker, "hider": hider}, seed=seed)
    if hero not in lineup.run.config.roles:
        raise GodojoError(f"there is nobody called {hero!r} to follow; there is: {', '.join(lineup.run.config.roles)}")
    path = recording.film_path(lineup.run.path, "recording", output)
    arenas = arenas_from(arena, lineup.settings)
    check_screen()
    ready_engine()
    with progress_report() as shown:
        replays = recording.played_in_godot(lineup, arenas, rounds, seed=seed, progress=shown.progress)
        shots = recording.shots_of(replays, film, camera, hero, names=role_labels)
        if frames is not None:
            recording.dump_shots(shots, frames, film, fine=fine, progress=shown.progress)
        else:
            recording.film_shots(shots, path, film, fine=fine, progress=shown.progress)
    count = sum(shot.frames for shot in shots)
    if frames is not None:
        say(f"{count} frames of {film.size} are in {frames}; encode them with: {command(f'encode {frames}')}")
    else:
        say(f"{path}: {count} frames, {film.size}, {film.fps} a second, {count / film.fps:.1f} s")


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
    from godojo.show import record as recording

    path = recording.film_path(folder.absolute().parent, "recording", output)
    with progress_report() as shown:
        count, film = recording.encode(folder, path, fps=fps, progress=shown.progress)
    say(f"{path}: {count} frames, {film.size}, {film.fps} a second, {count / film.fps:.1f} s")
