"""Letters, panels and curves drawn over a film's pictures."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from godojo.show import style
from godojo.show.camera import Area
from godojo.show.colours import rgb
from godojo.show.shots import Format

PAPER, QUIET = (255, 248, 236), (186, 188, 204)
INK = (23, 26, 38)
PANEL_ALPHA = 205
DPI = 100
CLOCK_BOTTOM = 76
"""Where clock and score end in Godot's picture, in units of the layout."""

Colour = tuple[int, int, int]


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


@functools.cache
def font(pixels: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """DejaVu, which comes with matplotlib, so films look the same everywhere."""
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(Path(mpl.get_data_path()) / "fonts" / "ttf" / name, max(pixels, 6))


class Box(NamedTuple):
    """A place in the picture, in pixels."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Layout:
    """Where panels are, so that the agents stay free: to their left on a wide screen, below them on a tall one."""

    film: Format

    @property
    def scale(self) -> float:
        """Pixels for each of a screen of 1280x720, or of 720x1280."""
        wide, tall = (1280, 720) if self.is_wide else (720, 1280)
        return min(self.film.width / wide, self.film.height / tall)

    @property
    def is_wide(self) -> bool:
        return self.film.width >= self.film.height

    def px(self, units: float) -> int:
        return max(round(units * self.scale), 1)

    @property
    def facts(self) -> Box:
        """The panel with the figures of a stage."""
        px, height = self.px, self.film.height
        if self.is_wide:
            return Box(px(20), height - px(606), px(236), px(288))
        return Box(px(20), height - px(268), px(330), px(248))

    @property
    def curve(self) -> Box:
        px, film = self.px, self.film
        if self.is_wide:
            return Box(px(20), film.height - px(306), px(236), px(286))
        return Box(film.width - px(350), film.height - px(268), px(330), px(248))

    @property
    def beside_panels(self) -> Area:
        """Where agents are seen beside (or above) the panels of a stage."""
        if self.is_wide:
            return self._area(self.facts.x + self.facts.width, self.film.height)
        return self._area(0, self.facts.y)

    def above(self, plate: int) -> Area:
        """Where agents are seen above a plate of this height at the bottom."""
        return self._area(0, self.film.height - plate - self.px(28))

    def _area(self, left: int, bottom: int) -> Area:
        """From the clock and what is written below it down to `bottom`, with room for the names above agents."""
        px, film = self.px, self.film
        side, top = px(44), px(CLOCK_BOTTOM + 78)
        return Area(
            (left + side) / film.width, top / film.height, 1 - side / film.width, (bottom - px(12)) / film.height
        )

    def below_clock(self, width: int) -> tuple[int, int]:
        """Where something this wide is, below the clock."""
        return (self.film.width - width) // 2, self.px(CLOCK_BOTTOM + 8)


def lay(picture: np.ndarray, over: Image.Image, x: int, y: int, strength: float = 1.0) -> None:
    """Lays an RGBA image over a picture, in place."""
    if strength <= 0.0:
        return
    top = np.asarray(over, np.uint16)
    high, wide = min(top.shape[0], picture.shape[0] - y), min(top.shape[1], picture.shape[1] - x)
    under = picture[y : y + high, x : x + wide]
    top = top[:high, :wide]
    alpha = (top[..., 3:] * round(strength * 256)) >> 8
    under[:] = ((top[..., :3] * alpha + under * (255 - alpha)) // 255).astype(np.uint8)


def panel(width: int, height: int, radius: int, alpha: int = PANEL_ALPHA) -> Image.Image:
    """A dark plate with round corners."""
    shape = Image.new("L", (width * 2, height * 2), 0)
    ImageDraw.Draw(shape).rounded_rectangle((0, 0, width * 2 - 1, height * 2 - 1), radius * 2, fill=alpha)
    plate = Image.new("RGBA", (width, height), (*INK, 0))
    plate.putalpha(shape.resize((width, height), Image.Resampling.LANCZOS))
    return plate


def wrapped(text: str, letters: ImageFont.FreeTypeFont, width: int) -> list[str]:
    """Lines of a sentence that fit."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and letters.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def fitted(layout: Layout, text: str, size: float, width: float, bold: bool = True) -> ImageFont.FreeTypeFont:
    """Letters of this size, or smaller ones that fit."""
    while font(layout.px(size), bold).getlength(text) > width and size > 10:
        size -= 1
    return font(layout.px(size), bold)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


class Fact(NamedTuple):
    """A role at a stage of training: a figure in large letters, and a note in small ones."""

    role: str
    colour: Colour
    figure: str
    note: str


def facts_panel(layout: Layout, headline: str, below: str, fact: Fact | None, footnote: str) -> Image.Image:
    """The length of the training and the figure of a role."""
    px, box = layout.px, layout.facts
    plate = panel(box.width, box.height if fact else px(104), px(16))
    pen = ImageDraw.Draw(plate)
    left, room = px(18), box.width - 2 * px(18)
    pen.text((left, px(12)), headline, PAPER, fitted(layout, headline, 44, room))
    pen.text((left, px(66)), below, QUIET, font(px(16)))
    if fact is not None:
        spot, top = px(15), px(112 if layout.is_wide else 98)
        pen.rounded_rectangle((left, top + px(4), left + spot, top + px(4) + spot), px(4), fill=fact.colour)
        pen.text((left + px(23), top), fact.role.capitalize(), PAPER, font(px(18), True))
        pen.text((left, top + px(24)), fact.figure, fact.colour, fitted(layout, fact.figure, 33, room))
        pen.text((left, top + px(66)), fact.note, QUIET, font(px(15)))
    if not footnote:
        return plate
    letters = font(px(13))
    lines = "\n".join(wrapped(footnote, letters, room))
    pen.multiline_text((left, box.height - px(12)), lines, QUIET, letters, anchor="ld", spacing=px(3))
    return plate


@dataclass(frozen=True)
class Course:
    """The rates of all roles in the course of training: the points of the curve."""

    seconds: np.ndarray
    rates: Mapping[str, np.ndarray]
    """By role: lower bound, rate and upper bound, [3, points]."""
    colours: Mapping[str, Colour]
    marks: tuple[tuple[float, str], ...]
    """Moments that are named below the curve."""

    def along(self, seconds: float | np.ndarray) -> np.ndarray:
        """Where a moment is, from 0 to 1: early ones get more room than late ones, since most happens then."""
        last = float(self.seconds[-1])
        unit = max(min(10.0, last / 6.0), 1e-6)
        place: np.ndarray = np.log1p(np.asarray(seconds) / unit) / np.log1p(max(last, 1e-6) / unit)
        return place


def curve_panel(
    layout: Layout, box: Box, course: Course, until_s: float, title: str, *, large: bool = False, bold: str = ""
) -> Image.Image:
    """The curve up to a moment of training, on a dark plate; the line of one role may be bolder than the others."""
    grown = 1.7 if large else 1.0

    def at(units: float) -> int:
        return layout.px(units * grown)

    plate = panel(box.width, box.height, layout.px(16))
    pen = ImageDraw.Draw(plate)
    letters, small = font(at(15), True), font(at(13))
    lines = wrapped(title, letters, box.width - 2 * at(16))
    for place, line in enumerate(lines):
        pen.text((at(16), at(12 + 20 * place)), line, PAPER, letters)
    left, right = at(56), box.width - at(86 if large else 20)
    top, bottom = at(26 + 20 * len(lines)), box.height - at(34)
    taken: list[tuple[float, float]] = []
    for seconds, name in [*course.marks[:1], *reversed(course.marks[1:])]:  # the first and the last before others
        half = small.getlength(name) / 2
        x = min(max(left + float(course.along(seconds)) * (right - left), left), box.width - at(6) - half)
        if all(x + half + at(6) < low or x - half - at(6) > high for low, high in taken):
            pen.text((x, bottom + at(8)), name, QUIET, small, anchor="ma")
            taken.append((x - half, x + half))
    figure = Figure((box.width / DPI, box.height / DPI), dpi=DPI, facecolor="none")
    size = np.array([box.width, box.height] * 2)
    axes = figure.add_axes(tuple(np.array([left, box.height - bottom, right - left, bottom - top]) / size))
    axes.set(xlim=(0, 1), ylim=(0, 1), frame_on=False, xticks=[], yticks=[])
    point = 72 / DPI
    for share in (0.0, 0.5, 1.0):
        axes.axhline(share, color=_hex(QUIET), alpha=0.28, linewidth=at(1) * point, clip_on=False)
        pen.text((left - at(7), bottom - share * (bottom - top)), percent(share), QUIET, small, anchor="rm")
    last = float(np.clip(until_s, 0.0, course.seconds[-1]))
    moments = np.append(course.seconds[course.seconds < last], last)
    end, lowest = float(course.along(last)), float(bottom + at(24))
    drawn = {
        role: np.array([np.interp(moments, course.seconds, one) for one in band]) for role, band in course.rates.items()
    }
    for role, (low, rate, high) in sorted(drawn.items(), key=lambda one: float(one[1][1, -1])):
        colour, strength = _hex(course.colours[role]), 1.0 if bold in ("", role) else 0.4
        where = course.along(moments)
        axes.fill_between(where, low, high, color=colour, alpha=0.18 * strength, linewidth=0, clip_on=False)
        axes.plot(where, rate, color=colour, linewidth=at(3) * point, alpha=strength, clip_on=False)
        axes.plot([end], rate[-1:], "o", color=colour, markersize=at(11) * point, alpha=strength, clip_on=False)
        if large:
            lowest = min(bottom - float(rate[-1]) * (bottom - top), lowest - at(36))
            text = f"{role.capitalize()}\n{percent(float(rate[-1]))}"
            beside = (left + end * (right - left) + at(14), lowest)
            pen.multiline_text(beside, text, course.colours[role], font(at(14), True), anchor="lm")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    plate.alpha_composite(Image.fromarray(np.asarray(canvas.buffer_rgba())))  # type: ignore[no-untyped-call]
    return plate


def chip(layout: Layout, text: str, *, colour: Colour = PAPER, size: float = 18, bold: bool = True) -> Image.Image:
    """A short word on a small plate."""
    letters = font(layout.px(size), bold)
    high = layout.px(size * 1.9)
    plate = panel(round(letters.getlength(text)) + layout.px(size * 1.5), high, layout.px(size * 0.55))
    ImageDraw.Draw(plate).text((plate.width / 2, high / 2), text, colour, letters, anchor="mm")
    return plate


def caption(layout: Layout, title: str, below: str, colour: Colour) -> Image.Image:
    """A title and a text on a plate, with a bar in a role's colour."""
    px = layout.px
    large, small = font(px(30), True), font(px(18))
    lines = wrapped(below, small, layout.film.width - px(120))
    wide = round(max(large.getlength(title), *(small.getlength(line) for line in lines))) + px(52)
    plate = panel(wide, px(60) + px(25) * len(lines), px(16))
    pen = ImageDraw.Draw(plate)
    pen.rounded_rectangle((px(14), px(16), px(20), plate.height - px(16)), px(3), fill=colour)
    pen.text((px(34), px(12)), title, PAPER, large)
    for place, line in enumerate(lines):
        pen.text((px(34), px(52) + place * px(25)), line, QUIET, small)
    return plate


def headline(layout: Layout, title: str, below: str) -> Image.Image:
    """The film's title, on a plate."""
    px = layout.px
    room = layout.film.width - px(112)
    large, small = fitted(layout, title, 58, room), font(px(20))
    lines = wrapped(below, small, room)
    wide = round(max(large.getlength(title), *(small.getlength(line) for line in lines))) + px(56)
    plate = panel(wide, px(92) + px(28) * len(lines), px(18))
    pen = ImageDraw.Draw(plate)
    pen.text((px(28), px(10)), title, PAPER, large)
    for place, line in enumerate(lines):
        pen.text((px(28), px(82) + place * px(28)), line, QUIET, small)
    return plate


def centred(layout: Layout, lines: Sequence[tuple[str, float, bool, Colour]], middle: float = 0.5) -> Image.Image:
    """Lines of letters (text, size, bold, colour) in the middle of a whole, clear picture."""
    film = layout.film
    clear = Image.new("RGBA", (film.width, film.height), (0, 0, 0, 0))
    pen = ImageDraw.Draw(clear)
    letters = [
        (text, fitted(layout, text, size, film.width * 0.92, bold), colour) for text, size, bold, colour in lines
    ]
    y = film.height * middle - sum(used.size * 1.45 for _, used, _ in letters) / 2
    for text, used, colour in letters:
        pen.text((film.width / 2, y + used.size * 0.72), text, colour, used, anchor="mm")
        y += used.size * 1.45
    shadow = Image.new("RGBA", clear.size, (*INK, 0))
    shadow.putalpha(clear.getchannel("A").filter(ImageFilter.GaussianBlur(layout.px(5))))
    shadow.alpha_composite(clear)
    return shadow


def mixed(picture: np.ndarray, light: float) -> np.ndarray:
    """A picture mixed with the backdrop's colour; `light` is the picture's share."""
    backdrop = np.array(rgb(style.BACKDROP), np.float32)
    made: np.ndarray = (picture * light + backdrop * (1.0 - light)).astype(np.uint8)
    return made


def empty(film: Format) -> np.ndarray:
    """The backdrop."""
    return mixed(np.zeros((film.height, film.width, 3), np.uint8), 0.0)
