"""The scenes of a film about a training, in their order: what each shows, and the text over it."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from PIL.Image import Image

from godojo.evaluation.evaluation import has_opponents
from godojo.runs.folder import RunFolder
from godojo.show import titles
from godojo.show.colours import rgb
from godojo.show.frame_renderer import Paint, Scene
from godojo.show.highlights import best_highlights, highlights_of, standing_still
from godojo.show.learning_curve import Figures, Measure, in_words
from godojo.show.replay import Highlight, Replay
from godojo.show.shots import Format, Shot, is_wide, letter_colour, steadily
from godojo.show.style import counted
from godojo.show.titles import Course, Layout, lay

TITLE_S, END_S = 3.2, 5.0
ROUND_S, FASTEST = 6.5, 1.6
"""A longer round runs faster, up to this multiple of its speed, unless it would take longer than `LONGEST_S`."""
LONGEST_S = 12.0
AFTER_S = 1.4
"""How long a round's end stays on screen."""
STILL_S = 3.0
"""How much of a longer time in which no agent moves is shown, a round's end included."""
TOGETHER_SPEED = 1.5
LEAD_S, SLOW_BEFORE_S, SLOW_AFTER_S, REST_S = 2.4, 0.7, 0.2, 1.1
"""Around a highlight: at full speed, in slow motion before and after it, and at full speed again."""
SLOW = 0.25
CLOSER = 1.5
TIMES, MINUS = "\u00d7", "\u2212"
FADE_S = 0.22
GROW_S = 1.8
"""How long the curve takes to grow to a stage."""
NUMBERS = ("no", "one", "two", "three", "four")


@dataclass(frozen=True)
class Story:
    """The contents of a film."""

    run: RunFolder
    film: Format
    stages: Sequence[Figures]
    rounds: Sequence[Sequence[Replay]]
    """The same rounds of every stage: same arenas, same starts."""
    course: Course
    measured_rounds: int
    """Played for every point of the curve."""

    @functools.cached_property
    def measure(self) -> Measure:
        return Measure.of(self.run)

    @property
    def is_solo(self) -> bool:
        return not has_opponents(self.run.config)

    def scenes(self) -> list[Scene]:
        """Title, stages one by one, all of them together, the highlights, the end."""
        layout = Layout(self.film)
        chosen = self.chosen()
        made = [self._title(layout, chosen)]
        made += [self._stage(layout, chosen, place) for place in range(len(self.stages))]
        made.append(self._together(layout, chosen))
        made += [self._slowly(layout, one) for one in best_highlights(self.rounds[-1])]
        return [*made, self._end(layout)]

    def chosen(self) -> int:
        """Which of the rounds every stage shows.

        Of the last stage's rounds with a highlight (of the first kind that there is), the best one; those that ended
        differently at the first stage come first, and among them those in which its agents moved.
        """
        first, last = self.rounds[0], self.rounds[-1]
        found = []
        for place, (before, after) in enumerate(zip(first, last, strict=True)):
            is_other = before.outcome is None or after.outcome is None or before.outcome.winner != after.outcome.winner
            is_lively = not standing_still([before], STILL_S)
            found += [(one.kind, is_other, is_lively, one.worth, -place) for one in highlights_of(after)]
        kind = min((one[0] for one in found), default="")
        return -max((one for one in found if one[0] == kind), default=(0,))[-1]

    def _camera(self, replay: Replay, close: bool = False) -> str:
        """In an arena so wide that agents can hardly be seen, the camera follows one of them."""
        return "follow" if is_wide(replay) else "side" if close else "overview"

    def _title(self, layout: Layout, chosen: int) -> Scene:
        replay = self.rounds[-1][chosen]
        shot = Shot(
            replay, steadily(0.0, TITLE_S, self.film.fps), camera=self._camera(replay, True), names=False, hud=0.0
        )
        last = self.stages[-1].snapshot
        trained = f"{in_words(last)} of training, {counted(last.agent_steps)} decisions"
        title = f"Learning {self.run.config.game.replace('_', ' ')}"
        lines = [(title, 66, True, titles.PAPER), (_players(replay), 28, False, titles.PAPER)]
        words = titles.centred(layout, [*lines, (trained, 24, False, titles.QUIET)])

        def paint(frame: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
            made = titles.dimmed(pictures[0], layout)
            lay(made, words, 0, 0, min(frame / (0.6 * self.film.fps), 1.0))
            return made

        return self._scene("title", (shot,), self.film, paint)

    def _stage(self, layout: Layout, chosen: int, place: int) -> Scene:
        replay, figures = self.rounds[place][chosen], self.stages[place]
        shown = lively([replay], self.film.fps)
        facts = [
            titles.Fact(
                role,
                self.course.colours[role],
                f"{self.measure.name} {titles.percent(share.rate)}",
                (f"of {share.rounds} rounds", *self._rating_gain(role, place)),
            )
            for role, share in figures.rates.items()
        ]
        plate = titles.facts_panel(
            layout,
            figures.title,
            "before training" if figures.is_untrained else "of training",
            facts,
            self._footnote(),
        )
        before_s = self.stages[place - 1].snapshot.seconds if place else 0.0
        box, curve = layout.facts(len(facts)), layout.curve
        note = titles.chip(layout, shown.note, size=17) if shown.note else None

        @functools.lru_cache(1)  # it grows for a while, and then stays as it is
        def grown(until_s: float) -> Image:
            return titles.curve_panel(layout, curve, self.course, until_s, self.measure.title)

        def paint(frame: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
            made = pictures[0].copy()
            lay(made, plate, box.x, box.y, min(frame / (0.4 * self.film.fps), 1.0))
            share = _eased(frame / (GROW_S * self.film.fps))
            until_s = before_s + share * (figures.snapshot.seconds - before_s)
            lay(made, grown(until_s), curve.x, curve.y)
            if note is not None:
                lay(made, note, self.film.width - note.width - layout.px(18), curve.y - note.height - layout.px(10))
            return made

        return self._scene(f"stage-{place + 1}", (Shot(replay, shown.seconds, self._camera(replay)),), self.film, paint)

    def _footnote(self) -> str:
        if self.is_solo:
            return "in rounds that training has not seen"
        return f"against {self.measure.opponent_title}, in arenas not trained in; rating: stages against each other"

    def _rating_gain(self, role: str, place: int) -> list[str]:
        """How much a role's rating changed since the first stage: only differences of ratings mean something."""
        ratings, first = self.stages[place].ratings, self.stages[0].ratings
        if not place or role not in ratings or role not in first:
            return []
        since = "start" if self.stages[0].is_untrained else self.stages[0].title
        gain = round(ratings[role] - first[role])
        return [f"rating {'±' if not gain else '+' if gain > 0 else MINUS}{abs(gain)} since {since}"]

    def _together(self, layout: Layout, chosen: int) -> Scene:
        """All stages at once, from the same start."""
        replays = [rounds[chosen] for rounds in self.rounds]
        columns = (2 if len(replays) > 1 else 1) if layout.is_wide else 1
        rows = -(-len(replays) // columns)
        cell = Format(self.film.width // columns // 2 * 2, self.film.height // rows // 2 * 2, self.film.fps)
        shown = lively(replays, self.film.fps, TOGETHER_SPEED)
        shots = tuple(Shot(replay, shown.seconds, self._camera(replay), hud=1.55) for replay in replays)
        chips = [titles.chip(layout, figures.title, size=18) for figures in self.stages]
        note = titles.chip(layout, f"the same start · {shown.note}", size=17, bold=False)
        beside = (self.film.width - note.width) // 2, (self.film.height - note.height) // 2
        if columns == 1:  # clocks and scores are in the middle
            beside = self.film.width - note.width - layout.px(16), self.film.height - note.height - layout.px(14)
        spare = None
        if len(replays) < rows * columns:
            space = titles.Box(0, 0, cell.width - layout.px(32), cell.height - layout.px(32))
            spare = titles.curve_panel(
                layout, space, self.course, self.course.seconds[-1], self.measure.title, large=True
            )

        def paint(_: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
            made = titles.empty(self.film)
            gap = layout.px(2)
            for place, picture in enumerate(pictures):
                x, y = place % columns * cell.width, place // columns * cell.height
                made[y + gap : y + cell.height - gap, x + gap : x + cell.width - gap] = picture[gap:-gap, gap:-gap]
                lay(made, chips[place], x + layout.px(8), y + cell.height - chips[place].height - layout.px(18))
            if spare is not None:
                corner = self.film.width - cell.width, self.film.height - cell.height
                lay(made, spare, corner[0] + layout.px(16), corner[1] + layout.px(16))
            lay(made, note, *beside)
            return made

        return self._scene("together", shots, cell, paint)

    def _slowly(self, layout: Layout, pick: Highlight) -> Scene:
        """A highlight: at full speed up to it, then in slow motion."""
        fps, replay = self.film.fps, pick.replay
        slow_from, slow_to = max(pick.seconds - SLOW_BEFORE_S, 0.0), pick.seconds + SLOW_AFTER_S
        begin = max(slow_from - LEAD_S, 0.0)
        before = steadily(begin, slow_from, fps)
        slowly = steadily(slow_from, slow_to, fps, SLOW)
        after = steadily(slow_to, slow_to + REST_S, fps)
        moments, camera = np.concatenate([before, slowly, after]), self._camera(replay, True)
        shot = Shot(replay, moments, camera=camera, zoom=CLOSER, announced=False)
        colour = rgb(letter_colour(replay.header.teams[pick.team].colour))
        plate = titles.caption(layout, pick.title, pick.text, colour)
        slow = titles.chip(layout, f"slow motion {TIMES}{SLOW:g}", size=20)
        first, last = len(before), len(before) + len(slowly)

        def paint(frame: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
            made = pictures[0].copy()
            lay(made, plate, layout.px(28), self.film.height - plate.height - layout.px(28))
            if first <= frame < last:
                lay(made, slow, (self.film.width - slow.width) // 2, layout.px(86))
            return made

        return self._scene(pick.kind, (shot,), self.film, paint)

    def _end(self, layout: Layout) -> Scene:
        film = self.film
        wide, high = (0.62, 0.6) if layout.is_wide else (0.9, 0.36)
        width, height = round(film.width * wide), round(film.height * high)
        box = titles.Box((film.width - width) // 2, round(film.height * 0.235), width, height)
        last = self.stages[-1].snapshot
        how = f"{self.measured_rounds} rounds per point, not seen in training; 95 % intervals"
        made_with = "made with Godojo:  godojo train  ·  godojo film"
        card = titles.empty(film)
        lay(card, titles.centred(layout, [(f"{in_words(last)} of training", 48, True, titles.PAPER)], 0.12), 0, 0)
        below = [(how, 18, False, titles.QUIET), (made_with, 22, False, titles.PAPER)]
        lay(card, titles.centred(layout, below, 0.915), 0, 0)

        @functools.lru_cache(1)  # it grows for a while, and then stays as it is
        def curve(until_s: float) -> Image:
            return titles.curve_panel(layout, box, self.course, until_s, self.measure.title, large=True)

        def paint(frame: int, _: Sequence[np.ndarray]) -> np.ndarray:
            made = card.copy()
            lay(made, curve(_eased(frame / (GROW_S * film.fps)) * last.seconds), box.x, box.y)
            return made

        return Scene("end", round(END_S * film.fps), (), film, self._faded(paint, round(END_S * film.fps)))

    def _scene(self, name: str, shots: tuple[Shot, ...], cell: Format, paint: Paint) -> Scene:
        return Scene(name, shots[0].frames, shots, cell, self._faded(paint, shots[0].frames))

    def _faded(self, paint: Paint, frames: int) -> Paint:
        """Every scene fades in and out, so that cuts are visible."""
        long = FADE_S * self.film.fps

        def faded(frame: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
            light = min((frame + 1) / long, (frames - frame) / long, 1.0)
            made = paint(frame, pictures)
            return made if light >= 1.0 else titles.mixed(made, light)

        return faded


def _players(replay: Replay) -> str:
    """Who plays: `one seeker against two hiders`."""
    counts = [(role.agents, role.name) for role in replay.header.roles]
    return " against ".join(
        f"{NUMBERS[count] if count < len(NUMBERS) else count} {name}{'s' if count > 1 else ''}"
        for count, name in counts
    )


class Lively(NamedTuple):
    """Which moments of a round the film shows."""

    seconds: np.ndarray
    note: str
    """For the viewer: the speed, and what is left out."""


def lively(replays: Sequence[Replay], fps: int, speed: float | None = None) -> Lively:
    """Rounds from their start to a moment after the end of the longest, without long pauses.

    By default the speed is such that about `ROUND_S` are seen.
    """
    end_s = max(replay.seconds for replay in replays)
    cuts = [(begin_s + STILL_S - AFTER_S, until_s) for begin_s, until_s in standing_still(replays, STILL_S)]
    left_out_s = sum(until_s - begin_s for begin_s, until_s in cuts)
    played_s = end_s - left_out_s
    speed = max(speed or min(max(played_s / ROUND_S, 1.0), FASTEST), played_s / LONGEST_S)
    seconds = steadily(0.0, end_s, fps, speed)
    for begin_s, until_s in cuts:
        seconds = seconds[(seconds < begin_s) | (seconds >= until_s)]
    notes = [f"{TIMES}{speed:.2g}"] if speed > 1.05 else []
    notes += [f"nobody moves: {left_out_s:.0f} s left out"] if left_out_s else []
    return Lively(np.concatenate([seconds, steadily(end_s, end_s + AFTER_S, fps)]), " · ".join(notes))


def course_of(figures: Sequence[Figures], stages: Sequence[Figures], replay: Replay) -> Course:
    """The curve through all measured moments; a replay has the colours of the roles."""
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
