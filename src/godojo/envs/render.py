"""Pictures of a round from above, drawn with Pillow: 512 x 512 pixels, x to the right, z downwards."""

import functools
import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.games.base import game_named
from godojo.games.settings import TICK_S
from godojo.show.colours import BACKDROP, BLOCKS, FLOOR, FLOOR_OTHER, INK, MARKS, WALL
from godojo.show.colours import EYES as PAPER
from godojo.show.replay import Layout, LayoutBox, Observations, States, Team, replay_spec

SIZE_PX = 512
HEADER_PX = 44
MARGIN_PX = 14
WALL_PX = 5.0
MAT_M = 2.0
FINER = 2
"""Pictures are drawn this many times larger and scaled down, which smooths edges."""
NO_PICTURES = 'for pictures, make the environment with render_mode="rgb_array"'

Point = tuple[float, float]


@dataclass(frozen=True)
class Scene:
    """What a picture shows. A agents, R rays."""

    layout: Layout
    teams: tuple[Team, ...]
    states: States
    """Of A agents."""
    rays: np.ndarray
    """float32 [3, R]: directions in a body's frame."""
    sight_m: np.ndarray
    """float32 [A, R]."""
    seconds: float
    round_s: float
    """The longest that a round can be; 0 where there is no limit."""


class Camera:
    """Takes pictures of worlds on the twin, also of a round's end although the next round has begun."""

    def __init__(self, worlds: Worlds, game: str) -> None:
        self.worlds, self.spec = worlds, replay_spec(game, "render")
        self._twin = getattr(worlds, "twin", None)
        if self._twin is None or (self.spec.layout_now is None and game_named(game).places is not None):
            raise GodojoError('only engine="sim" knows where everything is, which pictures need')
        rays = self.spec.rays
        self._rays = np.zeros((3, 0), np.float32) if rays is None else rays(worlds.settings)
        self.reset()

    def reset(self) -> None:
        """To be called when new rounds begin in all worlds."""
        self._decisions = np.zeros(self.worlds.num_worlds, np.int64)
        self.remember()

    def remember(self) -> None:
        """To be called before a step whose end may be shown, of the first world."""
        layout = self._layout(0)
        self._before = layout, self._states(0, layout)

    def advance(self) -> None:
        """To be called after a step."""
        self._decisions = np.where(self.worlds.ended, 0, self._decisions + 1)

    def picture(self, world: int = 0, *, at_the_end: bool = False) -> np.ndarray:
        """uint8 [512, 512, 3]; `at_the_end`: of the first world's round that ended in the last step."""
        worlds, ticks = self.worlds, self.worlds.ticks_per_decision
        if at_the_end:
            layout, before = self._before
            observations: Observations = {name: role.final_observation[:1] for name, role in worlds.roles.items()}
            states = self.spec.read_states(worlds.settings, layout, observations, before, np.array([ticks]))
            seconds = float(worlds.length_ticks[0]) * TICK_S
        else:
            layout = self._layout(world)
            observations = self._observations(world)
            states = self._states(world, layout)
            seconds = float(self._decisions[world]) * ticks * TICK_S
        sight_m = np.zeros((1, states.active.shape[1], 0))
        if self.spec.read_sight is not None:
            sight_m, _ = self.spec.read_sight(worlds.settings, observations)
        round_s = self.spec.round_s(worlds.settings)
        return draw(Scene(layout, self.spec.teams, states.at(0), self._rays, sight_m[0], seconds, round_s))

    def _layout(self, world: int) -> Layout:
        found = self.spec.layout_now
        return self.spec.layout(self.worlds.settings, {}) if found is None else found(self._twin, world)

    def _observations(self, world: int) -> Observations:
        return {name: role.observation[world : world + 1] for name, role in self.worlds.roles.items()}

    def _states(self, world: int, layout: Layout) -> States:
        """[1, A]."""
        if self.spec.now is not None:
            return self.spec.now(self._twin).at(slice(world, world + 1))
        observations = self._observations(world)
        return self.spec.read_states(self.worlds.settings, layout, observations, None, np.zeros(1, np.int64))


class View:
    """From metres to pixels."""

    def __init__(self, layout: Layout) -> None:
        (wide, deep), (self._x, self._z) = layout.size_m, layout.centre_m
        room_px = SIZE_PX - HEADER_PX - MARGIN_PX
        self.scale = min((SIZE_PX - 2 * MARGIN_PX) / wide, room_px / deep)
        self.centre = (SIZE_PX / 2, HEADER_PX + room_px / 2)

    def at(self, x_m: float, z_m: float) -> Point:
        return self.centre[0] + (x_m - self._x) * self.scale, self.centre[1] + (z_m - self._z) * self.scale


class _Pen:
    """Draws on a picture that is scaled down at the end."""

    def __init__(self, image: Image.Image) -> None:
        self._draw = ImageDraw.Draw(image, "RGBA")

    def polygon(self, points: list[Point], colour: str, alpha: float = 1.0) -> None:
        self._draw.polygon([(x * FINER, y * FINER) for x, y in points], _faded(colour, alpha))

    def rectangle(self, left: float, top: float, right: float, bottom: float, colour: str, alpha: float = 1.0) -> None:
        if right > left and bottom > top:
            self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour, alpha)

    def square(self, x: float, y: float, half: float, colour: str, alpha: float = 1.0) -> None:
        self.rectangle(x - half, y - half, x + half, y + half, colour, alpha)

    def disc(self, x: float, y: float, radius: float, colour: str, alpha: float = 1.0) -> None:
        box = [(x - radius) * FINER, (y - radius) * FINER, (x + radius) * FINER, (y + radius) * FINER]
        self._draw.ellipse(box, _faded(colour, alpha))

    def line(self, one: Point, other: Point, width: float, colour: str) -> None:
        ends = [tuple(value * FINER for value in point) for point in (one, other)]
        self._draw.line(ends, colour, round(width * FINER))

    def text(self, x: float, y: float, text: str, colour: str) -> None:
        """Right-aligned, centred vertically."""
        self._draw.text((x * FINER, y * FINER), text, colour, _font(), anchor="rm")


def draw(scene: Scene) -> np.ndarray:
    """uint8 [512, 512, 3]."""
    layout, view = scene.layout, View(scene.layout)
    image = _empty(layout).copy()
    pen = _Pen(image)
    for number in np.flatnonzero(scene.states.active):
        _draw_sight(pen, view, scene, int(number))
    for box in sorted(layout.boxes, key=_top_m):
        if box.kind != "floor":
            _draw_box(pen, view, box)
    for number in np.lexsort((scene.states.position_m[:, 1], scene.states.active)):
        _draw_body(pen, view, scene, int(number))
    _draw_header(pen, scene)
    return np.asarray(image.resize((SIZE_PX, SIZE_PX), Image.Resampling.BOX))


@functools.lru_cache(maxsize=16)
def _empty(layout: Layout) -> Image.Image:
    """Floor, outer walls and marks, the same in every picture of an arena."""
    image = Image.new("RGB", (SIZE_PX * FINER, SIZE_PX * FINER), BACKDROP)
    pen, view = _Pen(image), View(layout)
    (wide, deep), (mid_x, mid_z) = layout.size_m, layout.centre_m
    low_x, low_z, high_x, high_z = mid_x - wide / 2, mid_z - deep / 2, mid_x + wide / 2, mid_z + deep / 2
    (left, top), (right, bottom) = view.at(low_x, low_z), view.at(high_x, high_z)
    if layout.wall_height_m > 0:
        pen.rectangle(left - WALL_PX, top - WALL_PX, right + WALL_PX, bottom + WALL_PX, WALL)
    if layout.has_floor:
        pen.rectangle(left, top, right, bottom, FLOOR)
        for row in range(math.ceil(deep / MAT_M)):
            for column in range(row % 2, math.ceil(wide / MAT_M), 2):
                x, z = low_x + column * MAT_M, low_z + row * MAT_M
                far = view.at(min(x + MAT_M, high_x), min(z + MAT_M, high_z))
                pen.rectangle(*view.at(x, z), *far, FLOOR_OTHER)
    for box in layout.boxes:
        if box.kind == "floor":
            pen.rectangle(*_edges(view, box), FLOOR)
    for mark in layout.marks:
        at = view.at(mark.position_m[0], mark.position_m[2])
        pen.disc(*at, mark.radius_m * view.scale, MARKS.get(mark.kind, MARKS["waypoint"]), 0.7)
    return image


def _edges(view: View, box: LayoutBox) -> tuple[float, float, float, float]:
    (x, _, z), (wide, _, deep) = box.position_m, box.size_m
    return *view.at(x - wide / 2, z - deep / 2), *view.at(x + wide / 2, z + deep / 2)


def _top_m(box: LayoutBox) -> float:
    return box.position_m[1] + box.size_m[1] / 2


def _draw_box(pen: _Pen, view: View, box: LayoutBox) -> None:
    """Higher ones cast a longer shadow and have a lighter top."""
    left, top, right, bottom = _edges(view, box)
    height_m = max(_top_m(box), 0.0)
    shadow = min(height_m, 4.0) * 0.1 * view.scale
    pen.rectangle(left + shadow, top + shadow, right + shadow, bottom + shadow, INK, 0.22)
    base = BLOCKS.get(box.kind, BLOCKS["tall"])
    pen.rectangle(left, top, right, bottom, _mixed(base, INK, 0.35))
    rim = max(0.06 * view.scale, 1.0)
    pen.rectangle(left + rim, top + rim, right - rim, bottom - rim, _mixed(base, PAPER, min(height_m / 16.0, 0.2)))


def _draw_sight(pen: _Pen, view: View, scene: Scene, number: int) -> None:
    """The level rays: the ground between them, and what they meet."""
    up = np.abs(scene.rays[1])
    level = up <= up.min(initial=1.0) + 1e-3
    aside, _, forward = scene.rays[:, level] * scene.sight_m[number, level]
    heading, colour = float(scene.states.heading_rad[number]), _colour(scene, number)
    x = scene.states.position_m[number, 0] + aside * math.cos(heading) + forward * math.sin(heading)
    z = scene.states.position_m[number, 2] + forward * math.cos(heading) - aside * math.sin(heading)
    ends = [view.at(float(one), float(other)) for one, other in zip(x, z, strict=True)]
    if len(ends) > 1:
        here = view.at(float(scene.states.position_m[number, 0]), float(scene.states.position_m[number, 2]))
        pen.polygon([here, *ends], colour, 0.22)
    for end in ends:
        pen.disc(*end, 1.8, colour, 0.8)


def _draw_body(pen: _Pen, view: View, scene: Scene, number: int) -> None:
    px, py, pz = (float(value) for value in scene.states.position_m[number])
    (x, y), half = view.at(px, pz), scene.layout.body_m / 2 * view.scale
    colour = _colour(scene, number)
    if not scene.states.active[number]:
        pen.square(x, y, half, _mixed(colour, PAPER, 0.35), 0.8)
        tip = half * 0.75
        for sign in (-1, 1):
            pen.line((x - tip, y - tip * sign), (x + tip, y + tip * sign), 2.6, INK)
        return
    lift = max(py - scene.layout.body_m / 2, 0.0) * 0.1 * view.scale
    pen.square(x + lift + 1, y + lift + 1, half, INK, 0.3)
    pen.square(x, y, half + 1.6, PAPER)
    pen.square(x, y, half, colour)
    heading = float(scene.states.heading_rad[number])
    forward_x, forward_y = math.sin(heading) * half, math.cos(heading) * half
    root_x, root_y = x + forward_x * 0.7, y + forward_y * 0.7
    left, right = ((root_x + sign * forward_y * 0.75, root_y - sign * forward_x * 0.75) for sign in (-1, 1))
    pen.polygon([(x + forward_x * 2.1, y + forward_y * 2.1), left, right], INK)


def _draw_header(pen: _Pen, scene: Scene) -> None:
    """Who plays, and the clock: seconds left and a bar that shrinks; without a limit, seconds played."""
    middle = HEADER_PX / 2 - 2
    for number, active in enumerate(scene.states.active):
        pen.square(MARGIN_PX + 10 + number * 24, middle, 8.0, _colour(scene, number), 1.0 if active else 0.3)
    left_s = max(scene.round_s - scene.seconds, 0.0) if scene.round_s else scene.seconds
    pen.text(SIZE_PX - MARGIN_PX, middle, f"{left_s:.1f}", PAPER)
    if scene.round_s:
        left, right = 224.0, SIZE_PX - MARGIN_PX - 84.0
        pen.line((left, middle), (right, middle), 7.0, _mixed(BACKDROP, PAPER, 0.2))
        if left_s > 0:
            pen.line((left, middle), (left + (right - left) * left_s / scene.round_s, middle), 7.0, PAPER)


def _colour(scene: Scene, number: int) -> str:
    return scene.teams[int(scene.states.team[number])].colour


def _mixed(one: str, other: str, share: float) -> str:
    pairs = zip(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(a + (b - a) * share) for a, b in pairs).hex()


def _faded(colour: str, alpha: float) -> tuple[int, ...]:
    return *bytes.fromhex(colour[1:]), round(255 * alpha)


@functools.cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(22 * FINER)
