"""`learn_progress-*.mp4`: the film of a training, made from the run alone."""

from collections.abc import Sequence
from pathlib import Path

from godojo.runs.folder import RunFolder
from godojo.runs.snapshots import Snapshot
from godojo.show import frame_renderer
from godojo.show.learning_curve import Measure, measured, stages_of
from godojo.show.policies_to_show import PoliciesToShow
from godojo.show.progress import Progress
from godojo.show.shots import Format
from godojo.show.storyboard import Story, course_of
from godojo.show.titles import percent

ROUNDS = 30
"""Played by every stage; the film shows a few of them."""
MEASURED_ROUNDS = 300


def story_of(
    run: RunFolder,
    film: Format,
    *,
    stages: Sequence[str] = (),
    arena: str | None = None,
    seed: int = 0,
    rounds: int = ROUNDS,
    measured_rounds: int = MEASURED_ROUNDS,
    progress: Progress,
) -> Story:
    """Plays and measures what the film shows. All stages play the same rounds, on the twin, tick by tick."""
    entries = filmed_stages(run, stages)
    played = []
    for place, entry in enumerate(entries):
        lineup = PoliciesToShow.of(f"{run.path.absolute()}@{entry.name}", seed=seed, verb="film")
        progress("playing", place / len(entries))
        played.append(lineup.record(rounds, arenas=lineup.arenas(arena), seed=seed, label=entry.name))
    figures = measured(run, entries, measured_rounds, progress)
    shown = [one for one in figures if one.snapshot in entries]
    return Story(run, film, shown, played, course_of(figures, shown, played[0][0]), measured_rounds)


def filmed_stages(run: RunFolder, names: Sequence[str] = ()) -> list[Snapshot]:
    """The stages to show; GodojoError where the run cannot be filmed."""
    stages = stages_of(run, names)
    for role in run.config.roles:
        run.policy(role)
    Measure.of(run)
    return stages


def make_film(story: Story, path: Path, *, fine: bool = False, progress: Progress) -> int:
    """Draws and encodes all scenes; returns the number of frames."""
    return frame_renderer.make_film(story.scenes(), path, story.film, fine=fine, progress=progress)


def describe(story: Story) -> list[str]:
    """One line per stage, for the terminal."""
    lines = [f"{story.measure.title} in {story.measured_rounds} rounds, with 95 % intervals:"]
    for one in story.stages:
        rates = ", ".join(
            f"{role} {percent(share.rate)} ({100 * share.low:.0f} to {100 * share.high:.0f})"
            for role, share in one.rates.items()
        )
        lines.append(f"{one.title}: {rates}")
    return lines
