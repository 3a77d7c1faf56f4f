"""`learn_progress-*.mp4`: the film of a training, made from runs alone."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from godojo.errors import GodojoError
from godojo.evaluation.evaluation import plays_itself
from godojo.evaluation.matches import RIVAL
from godojo.runs.folder import CONFIG, RunFolder
from godojo.runs.snapshots import Snapshot
from godojo.show import frame_renderer
from godojo.show.camera import plan
from godojo.show.highlights import MOVES_MPS, behaviours_of, highlights_of
from godojo.show.learning_curve import Figures, Measure, measured, stages_of
from godojo.show.policies_to_show import PoliciesToShow, can_be_shown, settings_of
from godojo.show.progress import Progress
from godojo.show.replay import Highlight, Replay, replay_spec
from godojo.show.shots import TRACKING, Format, is_free_for_all, usual_camera
from godojo.show.storyboard import STAGE_S, Clip, Story, Take, course_of, slow_motion
from godojo.show.titles import Layout, percent

ROUNDS, DUELS = 24, 60
"""Played for every take, and by the last policies against each other; the film shows a few of them."""
MEASURED_ROUNDS = 300
GAIN = 0.05
"""A stage between the first and the last is shown if a role's rate is this much higher than in the stage before."""
BEST, MOMENTS = 3, 5
"""The best of each kind that are compared, and how many kinds a film shows."""
APART_S = 2.0
"""Moments of a round that are nearer to each other are the same."""
COARSE_FPS = 6
"""Frames a second in which rounds are compared."""


def story_of(
    run: RunFolder,
    film: Format,
    *,
    stages: Sequence[str] = (),
    arena: str | None = None,
    seed: int = 0,
    clips: Sequence[RunFolder] = (),
    rounds: int = ROUNDS,
    duels: int = DUELS,
    measured_rounds: int = MEASURED_ROUNDS,
    progress: Progress,
) -> Story:
    """Plays and measures what the film shows, on the twin, tick by tick.

    Args:
        run: The training.
        film: Size and speed of the film.
        stages: Snapshots to show; by default those of `stages_of`.
        arena: Play in this arena only.
        seed: Other rounds to choose from.
        clips: Other runs of the game, one moment of each.
        rounds: Played for every take.
        duels: Played by the last policies against each other.
        measured_rounds: Played by each role for every point of the curve.
        progress: Called with the step in progress and the share of it that is done.
    """
    entries, measure = filmed_stages(run, stages), Measure.of(run)
    figures = measured(run, entries, measured_rounds, progress)
    shown = [one for one in figures if one.snapshot in entries]
    roles = run.config.roles
    wanted = [(one, role) for one in shown for role in roles if stages or one in improving(shown, role)]
    takes: list[Take] = []
    for place, (one, role) in enumerate(wanted):
        progress("playing", place / (len(wanted) + 1))
        others_there = (*roles, *run.config.opponents)
        rivals = [RIVAL] if plays_itself(run.config) else [other for other in others_there if other != role]
        others = dict.fromkeys(rivals, measure.opponent or None)
        lineup = PoliciesToShow.of(f"{run.path.absolute()}@{one.snapshot.name}", others, seed=seed, verb="film")
        played = lineup.record(rounds, arenas=lineup.arenas(arena), seed=seed, label=one.snapshot.name)
        takes.append(Take(one, role, fitting(played, one, role, film, [take.replay for take in takes])))
    progress("playing", len(wanted) / (len(wanted) + 1))
    if measure.opponent:  # otherwise the last take is of all the last policies
        lineup = PoliciesToShow.of(f"{run.path.absolute()}@{entries[-1].name}", seed=seed, verb="film")
        played = lineup.record(duels, arenas=lineup.arenas(arena), seed=seed)
    moments = moments_of(played, film)
    others_shown = [clip for clip in (clip_of(other, film, seed, rounds) for other in clips) if clip is not None]
    course = course_of(figures, shown, played[0])
    return Story(run, film, shown, takes, moments, course, measured_rounds, others_shown)


def filmed_stages(run: RunFolder, names: Sequence[str] = ()) -> list[Snapshot]:
    """The stages to show; GodojoError where the run cannot be filmed."""
    stages = stages_of(run, names)
    for role in run.config.roles:
        run.policy(role)
    Measure.of(run)
    return stages


def improving(stages: Sequence[Figures], role: str) -> list[Figures]:
    """The first and the last stage, and those in between in which a role became better and not better than at last."""
    if len(stages) < 3 or role not in stages[0].rates:
        return list(stages)
    first, *between, last = stages
    found = [first]
    for one in between:
        rate = one.rates[role].rate
        if found[-1].rates[role].rate + GAIN <= rate <= last.rates[role].rate:
            found.append(one)
    return [*found, last]


def fitting(
    rounds: Sequence[Replay], figures: Figures, role: str, film: Format, before: Sequence[Replay] = ()
) -> Replay:
    """The round that shows a stage best.

    The role wins in it if its rate is a half or more, and loses otherwise. Among such rounds the film prefers those in
    which agents are near each other and move, in arenas that were not shown before.
    """
    wins = figures.rates[role].rate >= 0.5 if role in figures.rates else True
    fits = [one for one in rounds if one.outcome is not None and (one.outcome.winner == role) == wins]
    if is_free_for_all(rounds[0]):  # agents of one role: some win, some lose
        fits = list(rounds)
    seen = Counter(one.header.arena_title for one in before)
    return max(fits or rounds, key=lambda one: appeal(one, film) - seen[one.header.arena_title])


def appeal(replay: Replay, film: Format) -> float:
    """How good the end of a round looks: how much agents move, less how far the camera must be away, in bodies."""
    seconds = np.arange(max(replay.seconds - STAGE_S, 0.0), replay.seconds, 1 / COARSE_FPS)
    recent = replay.tick >= replay.tick[-1] - STAGE_S * replay.header.ticks_per_second
    moves = (np.linalg.norm(replay.velocity_mps[recent], axis=-1) > MOVES_MPS) & replay.active[recent]
    worth = 4.0 * float(moves.mean())
    if usual_camera(replay) != TRACKING or not len(seconds):
        return worth
    area = Layout(film).beside_panels
    path = plan(replay, seconds, film.width, film.height, area=area, fps=COARSE_FPS)
    return worth - float(path.half_height_m.mean()) / replay.layout.body_m


def moments_of(rounds: Sequence[Replay], film: Format) -> list[Highlight]:
    """One moment of each kind: highlights first, then behaviours, `MOMENTS` in all.

    Of the `BEST` of a kind it is the one in which agents are largest. Nothing is shown twice.
    """
    found: list[Highlight] = []
    for offered in (highlights_of, behaviours_of):
        kinds: dict[str, list[Highlight]] = {}
        for one in (moment for replay in rounds for moment in offered(replay)):
            kinds.setdefault(one.kind, []).append(one)
        for kind in sorted(kinds):
            fresh = [one for one in kinds[kind] if not any(_is_same(one, other) for other in found)]
            best = sorted(fresh, key=lambda one: -one.worth)[:BEST]
            found += [min(best, key=lambda one: distance(one, film))] if best else []
    return found[:MOMENTS]


def _is_same(one: Highlight, other: Highlight) -> bool:
    return one.replay is other.replay and abs(one.seconds - other.seconds) < APART_S


def distance(moment: Highlight, film: Format) -> float:
    """How far the camera must be away in a moment, in bodies."""
    if usual_camera(moment.replay) != TRACKING:
        return 0.0
    seconds = slow_motion(moment, COARSE_FPS)[0]
    path = plan(moment.replay, seconds, film.width, film.height, fps=COARSE_FPS)
    return float(path.half_height_m.mean()) / moment.replay.layout.body_m


def clip_of(run: RunFolder, film: Format, seed: int, rounds: int) -> Clip | None:
    """The highlight of another run's policies in which agents are largest; None where there is no highlight."""
    lineup = PoliciesToShow.of(str(run.path.absolute()), seed=seed, verb="film")
    played = lineup.record(rounds, arenas=lineup.arenas(None), seed=seed)
    found = [one for replay in played for one in highlights_of(replay)]
    if not found:
        return None
    kind = min(one.kind for one in found)
    best = min((one for one in found if one.kind == kind), key=lambda one: distance(one, film))
    return Clip(mode_of(run) or run.run_id, best)


def mode_of(run: RunFolder) -> str:
    """The game's mode in words; empty where the game has only one."""
    return replay_spec(run.config.game, "film").mode(settings_of(run))


def other_modes(run: RunFolder) -> list[RunFolder]:
    """The latest runs of the game's other modes, from the folder that this run is in."""
    own, found = mode_of(run), dict[str, RunFolder]()
    configs = run.path.absolute().parent.glob(f"*/{CONFIG}")
    for path in (one.parent for one in sorted(configs, key=lambda one: one.stat().st_mtime)):
        try:
            other = RunFolder.open(path)
            if other.config.game != run.config.game or not can_be_shown(other):
                continue
            for role in other.config.roles:
                other.policy(role)
            mode = mode_of(other)
        except (GodojoError, OSError):
            continue  # no run, or one without policies yet
        if mode and mode != own:
            found[mode] = other
    return [found[mode] for mode in sorted(found)]


def make_film(story: Story, path: Path, *, fine: bool = False, progress: Progress) -> int:
    """Draws and encodes all scenes; returns the number of frames."""
    return frame_renderer.make_film(story.scenes(), path, story.film, fine=fine, progress=progress)


def describe(story: Story) -> list[str]:
    """One line per stage, for the terminal."""
    if story.course is None:
        return []
    lines = [f"{story.measure.title} in {story.measured_rounds} rounds, with 95 % intervals:"]
    for one in story.stages:
        rates = ", ".join(
            f"{role} {percent(share.rate)} ({100 * share.low:.0f} to {100 * share.high:.0f})"
            for role, share in one.rates.items()
        )
        lines.append(f"{one.title}: {rates}")
    return lines
