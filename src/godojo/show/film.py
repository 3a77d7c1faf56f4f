"""`learn_progress-*.mp4`: the whole film of a training, from nothing but its run."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from godojo.runs.folder import RunFolder
from godojo.runs.snapshots import Snapshot
from godojo.show.encoding import FilmWriter
from godojo.show.frame_renderer import Drawing, Piece, arrived, drawing, frames_in
from godojo.show.policies_to_show import PoliciesToShow, arenas_from
from godojo.show.progress import Progress, frame_progress
from godojo.show.recording import record_rounds
from godojo.show.replay import Replay
from godojo.show.scratch import scratch
from godojo.show.shots import Format
from godojo.show.storyboard import Scene, Story, course_of
from godojo.show.titles import percent
from godojo.show.win_rate_curve import OPPONENT, measured, stages_of

ROUNDS = 30
"""Played by every stage; those to show are chosen among them."""
YARDSTICK_ROUNDS = 300
PIECE_FRAMES = 500
"""So many are drawn by one engine, unless one scene alone has more."""


def story_of(
    run: RunFolder,
    film: Format,
    *,
    stages: Sequence[str] = (),
    arena: str | None = None,
    seed: int = 0,
    rounds: int = ROUNDS,
    yardstick_rounds: int = YARDSTICK_ROUNDS,
    progress: Progress,
) -> Story:
    """Plays and measures what the film tells."""
    entries = filmed_stages(run, stages)

    def part(place: int) -> Callable[[float], None]:
        return lambda share: progress("playing", (place + share) / len(entries))

    played = [_played(run, entry.name, arena, seed, rounds, part(place)) for place, entry in enumerate(entries)]
    figures = measured(run, entries, yardstick_rounds, progress)
    shown = [one for one in figures if one.snapshot in entries]
    return Story(run, film, shown, played, course_of(figures, shown), yardstick_rounds)


def filmed_stages(run: RunFolder, names: Sequence[str] = ()) -> list[Snapshot]:
    """The stages to show; GodojoError where the run cannot be filmed."""
    stages = stages_of(run, names)
    for role in run.config.roles:
        run.policy(role)
    return stages


def _played(
    run: RunFolder, snapshot: str, arena: str | None, seed: int, rounds: int, progress: Callable[[float], None]
) -> list[Replay]:
    """The same rounds whoever plays them, on the embedded twin, which sees every tick."""
    lineup = PoliciesToShow.of(f"{run.path.absolute()}@{snapshot}", seed=seed)
    return record_rounds(
        lineup.players,
        settings=lineup.settings,
        arenas=arenas_from(arena, lineup.settings),
        episodes=rounds,
        seed=seed,
        names=lineup.names,
        label=snapshot,
        progress=progress,
    )


def make_film(story: Story, path: Path, *, fine: bool = False, progress: Progress) -> int:
    """Draws all scenes, writes over them and encodes them; returns the number of frames."""
    scenes = story.scenes()
    progress("starting Godot", None)
    with (
        scratch(path.parent) as folder,
        drawing(folder, story.film, fine=fine) as crew,
        FilmWriter(path, story.film) as writer,
    ):
        encoding = frame_progress(progress, "encoding", sum(scene.frames for scene in scenes))
        for scene, pictures in _drawn(crew, folder, scenes, progress):
            for frame in range(scene.frames):
                writer.write(scene.paint(frame, [next(each) for each in pictures]))
                if crew.is_done:  # until then drawing is what takes the time
                    encoding(writer.frames)
    return writer.frames


def _drawn(
    crew: Drawing, folder: Path, scenes: Sequence[Scene], progress: Progress
) -> Iterator[tuple[Scene, list[Iterator[np.ndarray]]]]:
    """Every scene with the pictures of its shots, as soon as they are there. Scenes of one size share an engine."""
    total = sum(shot.frames for scene in scenes for shot in scene.shots)
    orders: list[tuple[list[Scene], Future[Piece] | None]] = []
    before = 0
    for together in _pieces(scenes):
        shots = [shot for scene in together for shot in scene.shots]
        name = f"piece_{len(orders):03d}"
        report = frame_progress(progress, "drawing", total, before)
        piece = crew.draw(shots, name, report, together[0].format) if shots else None
        orders.append((together, piece))
        before += sum(shot.frames for shot in shots)
    for together, waiting in orders:
        done = arrived(waiting) if waiting is not None else None
        first = 0
        for scene in together:
            pictures: list[Iterator[np.ndarray]] = []
            for shot in scene.shots:
                assert done is not None
                pictures.append(
                    itertools.islice(frames_in(folder / done.file, done.frames), first, first + shot.frames)
                )
                first += shot.frames
            yield scene, pictures
        if done is not None:
            (folder / done.file).unlink()


def _pieces(scenes: Sequence[Scene]) -> list[list[Scene]]:
    """Consecutive scenes of one size, not too many: while one piece is encoded the next is being drawn."""
    pieces: list[list[Scene]] = []
    for scene in scenes:
        frames = sum(one.frames for one in pieces[-1]) + scene.frames if pieces else 0
        if pieces and pieces[-1][0].format == scene.format and frames <= PIECE_FRAMES:
            pieces[-1].append(scene)
        else:
            pieces.append([scene])
    return pieces


def describe(story: Story) -> list[str]:
    """One line a stage, for the terminal."""
    lines = [f"rounds won of {story.yardstick_rounds} against the scripted player {OPPONENT}, with 95 % intervals:"]
    for one in story.stages:
        wins = ", ".join(
            f"{role} {percent(share.rate)} ({100 * share.low:.0f} to {100 * share.high:.0f})"
            for role, share in one.wins.items()
        )
        lines.append(f"{one.title}: {wins}")
    return lines
