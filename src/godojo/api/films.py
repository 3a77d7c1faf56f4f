"""Films of a training, and of single episodes. Wrong arguments are rejected before torch and Godot start."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from godojo.api.references import resolved
from godojo.engines.godot.display import check_screen
from godojo.engines.godot.find import find
from godojo.errors import GodojoError, option, unknown
from godojo.runs.external import is_external, refuse_external
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference
from godojo.show.shots import Format, check_camera
from godojo.show.shots import preset as format_of

Progress = Callable[..., None]


class Film(NamedTuple):
    """A film that was made."""

    path: Path
    frames: int
    format: Format
    notes: tuple[str, ...] = ()
    """A line about each stage of the training."""

    def __str__(self) -> str:
        fps = self.format.fps
        return f"{self.path}: {self.frames} frames, {self.format.size}, {fps} fps, {self.frames / fps:.1f} s"


def film(
    text: str,
    path: Path | None,
    *,
    preset: str,
    stages: Sequence[str],
    arena: str | None,
    seed: int,
    clips: Sequence[str] | None,
    fine: bool,
    progress: Progress,
) -> Film:
    """See `Run.film`."""
    text = resolved(text)
    size, run = format_of(preset), RunFolder.open(text)
    refuse_external("film", run)
    for name in stages:
        run.snapshots().find(name)
    others = None if clips is None else [RunFolder.open(name) for name in clips]
    for other in others or ():
        if other.config.game != run.config.game:
            raise GodojoError(f"run {other.run_id} plays {other.config.game}, and the film is about {run.config.game}")
    from godojo.show import film as filming
    from godojo.show.policies_to_show import run_to_show
    from godojo.show.record import film_path

    run = run_to_show(text, "film")
    target = film_path(run.path, "learn_progress", path or run.path / f"learn_progress-{date.today()}.mp4")
    filming.filmed_stages(run, stages)
    if others is None:
        others = filming.other_modes(run)
    check_screen()
    find()
    story = filming.story_of(run, size, stages=stages, arena=arena, seed=seed, clips=others, progress=progress)
    notes = tuple(filming.describe(story))
    return Film(target, filming.make_film(story, target, fine=fine, progress=progress), size, notes)


def record(
    text: str,
    path: Path | None,
    *,
    episodes: int,
    preset: str,
    camera: str | None,
    hero: str | None,
    players: Mapping[str, str | None] | None,
    arena: str | None,
    role_labels: bool,
    seed: int,
    fine: bool,
    frames: Path | None = None,
    project: Path | None = None,
    binary: Path | None = None,
    progress: Progress,
) -> Film:
    """See `Run.record`. With `frames`, only draws the frames into that folder, as `frame_00000.png` and so on."""
    text, size = resolved(text), format_of(preset)
    run = RunFolder.open(split_reference(text)[0])
    if episodes < 1:
        raise GodojoError(f"{option('episodes')} must be 1 or more, not {episodes}")
    if is_external(run.config.game):
        ours = {"camera": camera, "hero": hero, "player": players, "arena": arena, "frames": frames}
        for name, given in ours.items():
            if given:
                raise GodojoError(f"{option(name)} is for Godojo's own games; {run.config.game} draws itself")
        return _record_external(text, run, path, size, episodes, seed, project, binary, progress)
    if project is not None or binary is not None:
        raise GodojoError(f"{run.name} plays one of Godojo's own games: remove {option('project')}, {option('binary')}")
    check_camera(camera, run.config.game)
    if hero is not None and hero not in run.config.roles:
        raise unknown("role", hero, run.config.roles)
    from godojo.show import record as recording
    from godojo.show.policies_to_show import PoliciesToShow

    lineup = PoliciesToShow.of(text, players, seed=seed, verb="record")
    target = recording.film_path(run.path, "recording", path)
    arenas = lineup.arenas(arena)
    check_screen()
    find()
    replays = recording.played_in_godot(lineup, arenas, episodes, seed=seed, progress=progress)
    shots = recording.shots_of(replays, size, camera, hero, names=role_labels)
    if frames is None:
        recording.film_shots(shots, target, size, fine=fine, progress=progress)
    else:
        recording.dump_shots(shots, frames, size, fine=fine, progress=progress)
    return Film(frames or target, sum(shot.frames for shot in shots), size)


def _record_external(
    text: str,
    run: RunFolder,
    path: Path | None,
    size: Format,
    episodes: int,
    seed: int,
    project: Path | None,
    binary: Path | None,
    progress: Progress,
) -> Film:
    from godojo.evaluation.external import source_of
    from godojo.show.external_film import film_external
    from godojo.show.record import film_path

    source, target = source_of(text, project=project, binary=binary), film_path(run.path, "recording", path)
    check_screen()
    find()
    return Film(
        target, film_external(text, source, target, size, episodes=episodes, seed=seed, progress=progress), size
    )


def encode(folder: Path, path: Path | None = None, *, fps: int | None = None, progress: Progress) -> Film:
    """Encode frames that `record` has drawn, or numbered PNG files, as H.264 in MP4."""
    from godojo.show import record as recording

    target = recording.film_path(folder.absolute().parent, "recording", path)
    return Film(target, *recording.encode(folder, target, fps=fps, progress=progress))
