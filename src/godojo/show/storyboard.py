"""The scenes of a film about a training, in their order: what each shows, and the text over it."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from PIL.Image import Image

from godojo.runs.folder import RunFolder
from godojo.show import titles
from godojo.show.camera import Area
from godojo.show.colours import rgb
from godojo.show.frame_renderer import Paint, Scene
from godojo.show.highlights import standing_still
from godojo.show.learning_curve import Figures, Measure, in_words
from godojo.show.replay import Highlight, Replay
from godojo.show.shots import (
    TRACKING,
    Format,
    Shot,
    camera_path,
    is_alone,
    letter_colour,
    result,
    steadily,
    usual_camera,
)
from godojo.show.style import counted
from godojo.show.titles import Course, Layout, lay

FIRST_S, STAGE_S, LAST_S = 1.6, 3.2, 4.0
"""How much of a round is shown: of the first stage, of those in between, and of the last one."""
ALONE_TAKES = 2.0
"""Times as much of an agent that is alone: one looks at its way, not at a duel."""
AFTER_S = 0.8
"""How long a round's end stays on screen."""
STILL_S = 1.5
"""How much of a longer time in which no agent moves a stage shows, the round's end included."""
LEAD_S, SLOW_BEFORE_S, SLOW_AFTER_S, REST_S = 2.0, 0.45, 0.15, 0.8
"""Around a highlight: at full speed, in slow motion before and after it, and at full speed again."""
SLOW = 0.3
CLOSER = 1.3
"""How much larger agents may become in a highlight."""
SMALLEST, LEAST_S = 0.085, 2.4
"""A shot begins where an agent's edge takes this much of the picture's shorter side, if enough of it is left."""
MOST_NAMES = 4
"""Names are written above so many agents at most; of more, they would hide each other."""
END_S = 3.6
TIMES = "\u00d7"
FADE_S = 0.16
GROW_S = 1.4
"""How long the curve takes to grow to a stage."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


class Take(NamedTuple):
    """A round that shows a stage of training: the policy of one role against the opponent of the measure."""

    figures: Figures
    role: str
    replay: Replay


class Clip(NamedTuple):
    """A moment of another run of the same game: of another mode, or with other teams."""

    title: str
    moment: Highlight


@dataclass(frozen=True)
class Story:
    """The contents of a film."""

    run: RunFolder
    film: Format
    stages: Sequence[Figures]
    takes: Sequence[Take]
    """In the order of the film."""
    moments: Sequence[Highlight]
    """Of rounds of the last policies against each other; the first one opens the film."""
    course: Course | None
    """None where nothing was measured."""
    measured_rounds: int
    """Played for every point of the curve."""
    clips: Sequence[Clip] = ()

    @functools.cached_property
    def measure(self) -> Measure:
        return Measure.of(self.run)

    def scenes(self) -> list[Scene]:
        """The best moment first, then the stages of training, the other moments, other modes, and the curve."""
        layout = Layout(self.film)
        opening, *others = self.moments or [_end_of(self.takes[-1].replay)]
        made = [self._opening(layout, opening)]
        made += [self._stage(layout, place) for place in range(len(self.takes))]
        made += [self._moment(layout, one, one.kind, one.title, one.text) for one in others]
        for number, (title, moment) in enumerate(self.clips):
            text = f"{players(moment.replay)}: {moment.text}"
            made.append(self._moment(layout, moment, f"clip-{number + 1}", title, text))
        return [*made, self._end(layout)]

    def _opening(self, layout: Layout, best: Highlight) -> Scene:
        """The title over the best moment."""
        last = self.stages[-1].snapshot
        title = f"Learning {self.run.config.game.replace('_', ' ')}"
        trained = f"{in_words(last)} of training · {counted(last.agent_steps)} decisions"
        plate = titles.headline(layout, title, f"{players(best.replay)} · {trained}")
        return self._moment(layout, best, "opening", plate=plate)

    def _moment(
        self,
        layout: Layout,
        moment: Highlight,
        name: str,
        title: str = "",
        text: str = "",
        plate: Image | None = None,
    ) -> Scene:
        """A highlight: at full speed up to it, then in slow motion."""
        fps, replay = self.film.fps, moment.replay
        colour = rgb(letter_colour(replay.header.teams[moment.team].colour))
        plate = plate or titles.caption(layout, title, text, colour)
        seconds, slow_from, slow_to = slow_motion(moment, fps)
        area = layout.above(plate.height)
        shot = self._shot(replay, seconds, area, CLOSER)
        slow = titles.chip(layout, f"slow motion {TIMES}{SLOW:g}", size=18)
        first, last = np.searchsorted(shot.seconds, [slow_from, slow_to])

        def paint(frame: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
            made = pictures[0].copy()
            lay(made, plate, layout.px(28), self.film.height - plate.height - layout.px(28), _appears(frame, fps))
            if first <= frame < last:
                lay(made, slow, *layout.below_clock(slow.width))
            return made

        return self._scene(name, shot, paint)

    def _stage(self, layout: Layout, place: int) -> Scene:
        fps, (figures, role, replay) = self.film.fps, self.takes[place]
        number = [one.snapshot for one in self.stages].index(figures.snapshot)
        length_s = FIRST_S if number == 0 else LAST_S if number == len(self.stages) - 1 else STAGE_S
        length_s *= ALONE_TAKES if is_alone(replay) else 1.0
        seconds, area = last_seconds(replay, length_s, fps), layout.beside_panels
        shot = self._shot(replay, seconds, area)
        below = "before training" if figures.is_untrained else "of training"
        plate = titles.facts_panel(layout, figures.title, below, self._fact(figures, role), self._footnote(role))
        ending, colour = _ending(replay)
        end = titles.chip(layout, ending, colour=colour, size=26)
        earlier = [one.figures.snapshot.seconds for one in self.takes[:place] if one.role == role]
        before_s, box, until = (earlier or [0.0])[-1], layout.facts, replay.seconds

        @functools.lru_cache(1)  # it grows for a while, and then stays as it is
        def grown(until_s: float) -> Image | None:
            if self.course is None:
                return None
            return titles.curve_panel(layout, layout.curve, self.course, until_s, self.measure.title, bold=role)

        def paint(frame: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
            made = pictures[0].copy()
            lay(made, plate, box.x, box.y)
            share = _eased(frame / (GROW_S * fps))
            curve = grown(before_s + share * (figures.snapshot.seconds - before_s))
            if curve is not None:
                lay(made, curve, layout.curve.x, layout.curve.y)
            if shot.seconds[frame] >= until:
                lay(made, end, *layout.below_clock(end.width))
            return made

        return self._scene(f"stage-{number + 1}-{role}", shot, paint)

    def _fact(self, figures: Figures, role: str) -> titles.Fact | None:
        if role not in figures.rates or self.course is None:
            return None
        share = figures.rates[role]
        figure = f"{self.measure.name} {titles.percent(share.rate)}"
        return titles.Fact(role, self.course.colours[role], figure, f"of {share.rounds} rounds")

    def _footnote(self, role: str) -> str:
        if not self.measure.name:
            return ""
        if not self.measure.opponent:
            return "in rounds that training has not seen"
        config = self.run.config
        others = " and ".join(one for one in (*config.roles, *config.opponents) if one != role)
        return f"against {self.measure.against(others)}, in arenas not trained in"

    def _end(self, layout: Layout) -> Scene:
        film = self.film
        wide, high = (0.62, 0.6) if layout.is_wide else (0.9, 0.36)
        width, height = round(film.width * wide), round(film.height * high)
        box = titles.Box((film.width - width) // 2, round(film.height * 0.235), width, height)
        last = self.stages[-1].snapshot
        how = f"{self.measured_rounds} rounds per point, not seen in training; 95 % intervals"
        made_with = "made with Godojo:  godojo train  ·  godojo film"
        above = [(f"{in_words(last)} of training", 48.0, True, titles.PAPER)]
        below = [(how, 18.0, False, titles.QUIET)] if self.course else []
        card = titles.empty(film)
        lay(card, titles.centred(layout, above, 0.12 if self.course else 0.45), 0, 0)
        lay(card, titles.centred(layout, [*below, (made_with, 22, False, titles.PAPER)], 0.915), 0, 0)

        @functools.lru_cache(1)  # it grows for a while, and then stays as it is
        def curve(until_s: float) -> Image | None:
            if self.course is None:
                return None
            return titles.curve_panel(layout, box, self.course, until_s, self.measure.title, large=True)

        def paint(frame: int, _: Sequence[np.ndarray]) -> np.ndarray:
            made = card.copy()
            drawn = curve(_eased(frame / (GROW_S * film.fps)) * last.seconds)
            if drawn is not None:
                lay(made, drawn, box.x, box.y)
            return made

        return Scene("end", round(END_S * film.fps), (), film, self._faded(paint, round(END_S * film.fps)))

    def _shot(self, replay: Replay, seconds: np.ndarray, area: Area, zoom: float = 1.0) -> Shot:
        """A shot without its beginning, if agents are so far apart in it that they would be small."""
        names = 1 < replay.header.agents <= MOST_NAMES
        shot = Shot(replay, seconds, usual_camera(replay), area=area, zoom=zoom, names=names, announced=False)
        if shot.camera != TRACKING:
            return shot
        edge = replay.layout.body_m * self.film.height / 2 / camera_path(shot, self.film).half_height_m
        small = np.flatnonzero(edge < SMALLEST * min(self.film.width, self.film.height))
        begin = int(small[-1]) + 1 if small.size else 0
        return replace(shot, seconds=seconds[begin:]) if shot.frames - begin >= LEAST_S * self.film.fps else shot

    def _scene(self, name: str, shot: Shot, paint: Paint) -> Scene:
        return Scene(name, shot.frames, (shot,), self.film, self._faded(paint, shot.frames))

    def _faded(self, paint: Paint, frames: int) -> Paint:
        """Every scene fades in and out, so that cuts are visible."""
        long = FADE_S * self.film.fps

        def faded(frame: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
            light = min((frame + 1) / long, (frames - frame) / long, 1.0)
            made = paint(frame, pictures)
            return made if light >= 1.0 else titles.mixed(made, light)

        return faded


def players(replay: Replay) -> str:
    """Who plays: `one seeker against two hiders`."""
    counts = [(role.agents, role.name) for role in replay.header.roles]
    return " against ".join(
        f"{NUMBERS[count] if count < len(NUMBERS) else count} {name}{'s' if count > 1 else ''}"
        for count, name in counts
    )


def last_seconds(replay: Replay, length_s: float, fps: int) -> np.ndarray:
    """The end of a round and a moment after it, without a long time in which nobody moves."""
    end_s = replay.seconds
    moments = steadily(max(end_s - length_s, 0.0), end_s, fps)
    for begin_s, until_s in standing_still([replay], STILL_S):
        begin_s = max(begin_s, end_s - length_s) + STILL_S - AFTER_S
        moments = moments[(moments < begin_s) | (moments >= until_s)]
    return np.concatenate([moments, steadily(end_s, end_s + AFTER_S, fps)])


def slow_motion(moment: Highlight, fps: int) -> tuple[np.ndarray, float, float]:
    """The moments of a round around a highlight, and from when to when they are in slow motion."""
    slow_from, slow_to = max(moment.seconds - SLOW_BEFORE_S, 0.0), moment.seconds + SLOW_AFTER_S
    before = steadily(max(slow_from - LEAD_S, 0.0), slow_from, fps)
    slowly, after = steadily(slow_from, slow_to, fps, SLOW), steadily(slow_to, slow_to + REST_S, fps)
    return np.concatenate([before, slowly, after]), slow_from, slow_to


def _end_of(replay: Replay) -> Highlight:
    return Highlight("end", "", "", replay, 0.0, replay.seconds, 0.0, int(replay.team[-1, 0]))


def _ending(replay: Replay) -> tuple[str, titles.Colour]:
    """How a round ended, and in which colour to write it."""
    title, _, agent = result(replay)
    team = int(replay.team[-1, agent]) if agent >= 0 else -1
    return title, rgb(letter_colour(replay.header.teams[team].colour)) if agent >= 0 else titles.PAPER


def course_of(figures: Sequence[Figures], stages: Sequence[Figures], replay: Replay) -> Course | None:
    """The curve through all measured moments; a replay has the colours of the roles."""
    if not figures[0].rates:
        return None
    seconds = np.array([0.0 if one.is_untrained else one.snapshot.seconds for one in figures])
    rates = {
        role: np.array([(share.low, share.rate, share.high) for share in (one.rates[role] for one in figures)]).T
        for role in figures[0].rates
    }
    marks = tuple((one.snapshot.seconds, "0" if one.is_untrained else one.title) for one in stages)
    teams = replay.header.teams
    colours = {
        role.name: rgb(letter_colour(teams[int(replay.team[0, role.first])].colour)) for role in replay.header.roles
    }
    return Course(seconds, rates, colours, marks)


def _eased(share: float) -> float:
    """From 0 to 1, gently at both ends."""
    kept = min(max(share, 0.0), 1.0)
    return kept * kept * (3.0 - 2.0 * kept)


def _appears(frame: int, fps: int) -> float:
    return min(frame / (0.4 * fps), 1.0)
