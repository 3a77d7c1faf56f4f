"""Pictures of a round from above, drawn with Pillow: 512 x 512 pixels, x to the right, z downwards."""

import functools
import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.games.base import game_named
from godojo.show.colours import BACKDROP, BLOCKS, FLOOR_OTHER, INK, MARKS
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
        self._rays = self.spec.rays(worlds.settings)
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
            seconds = float(worlds.length_ticks[0]) * worlds.tick_s
        else:
            layout = self._layout(world)
            observations = self._observations(world)
            states = self._states(world, layout)
            seconds = float(self._decisions[world]) * ticks * worlds.tick_s
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
    """From metres to pixels, in a picture that is `finer` times as large."""

    def __init__(self, layout: Layout, finer: int = 1) -> None:
        (wide, deep), (self._x, self._z) = layout.size_m, layout.centre_m
        room_px = SIZE_PX - HEADER_PX - MARGIN_PX
        self.scale = finer * min((SIZE_PX - 2 * MARGIN_PX) / wide, room_px / deep)
        self.centre = finer * SIZE_PX / 2, finer * (HEADER_PX + room_px / 2)

    def at(self, x_m: float, z_m: float) -> Point:
        return self.centre[0] + (float(x_m) - self._x) * self.scale, self.centre[1] + (
            float(z_m) - self._z
        ) * self.scale

    def edges(self, box: LayoutBox) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        (x, _, z), (wide, _, deep) = box.position_m, box.size_m
        return *self.at(x - wide / 2, z - deep / 2), *self.at(x + wide / 2, z + deep / 2)


def draw(scene: Scene) -> np.ndarray:
    """uint8 [512, 512, 3]."""
    layout, view = scene.layout, View(scene.layout, FINER)
    image = _empty(layout).copy()
    pen = ImageDraw.Draw(image, "RGBA")
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
    pen, view = ImageDraw.Draw(image, "RGBA"), View(layout, FINER)
    for box in layout.solids(thick_m=WALL_PX * FINER / view.scale):
        if box.kind in ("floor", "wall"):
            pen.rectangle(view.edges(box), BLOCKS[box.kind])
    if layout.has_floor:
        (wide, deep), (x, z) = layout.size_m, layout.centre_m
        for row, column in np.ndindex(math.ceil(deep / MAT_M), math.ceil(wide / MAT_M)):
            if (row + column) % 2 == 0:
                low = column * MAT_M, row * MAT_M
                high = min(low[0] + MAT_M, wide), min(low[1] + MAT_M, deep)
                corners = (view.at(x - wide / 2 + one, z - deep / 2 + other) for one, other in (low, high))
                pen.rectangle([*corners], FLOOR_OTHER)
    for mark in layout.marks:
        colour = MARKS.get(mark.kind, MARKS["waypoint"])
        pen.circle(view.at(mark.position_m[0], mark.position_m[2]), mark.radius_m * view.scale, _faded(colour, 0.7))
    return image


def _top_m(box: LayoutBox) -> float:
    return box.position_m[1] + box.size_m[1] / 2


def _draw_box(pen: ImageDraw.ImageDraw, view: View, box: LayoutBox) -> None:
    """Higher ones cast a longer shadow and have a lighter top."""
    edges, height_m = np.array(view.edges(box)), max(_top_m(box), 0.0)
    pen.rectangle(list(edges + min(height_m, 4.0) * 0.1 * view.scale), _faded(INK, 0.22))
    base, rim = BLOCKS.get(box.kind, BLOCKS["tall"]), max(0.06 * view.scale, FINER)
    pen.rectangle(list(edges), _mixed(base, INK, 0.35))
    if (edges[2:] - edges[:2] > 2 * rim).all():
        pen.rectangle(list(edges + rim * np.array([1, 1, -1, -1])), _mixed(base, PAPER, min(height_m / 16.0, 0.2)))


def _draw_sight(pen: ImageDraw.ImageDraw, view: View, scene: Scene, number: int) -> None:
    """The level rays: the ground between them, and what they meet."""
    up = np.abs(scene.rays[1])
    level = up <= up.min(initial=1.0) + 1e-3
    aside, _, forward = scene.rays[:, level] * scene.sight_m[number, level]
    heading, colour = float(scene.states.heading_rad[number]), _colour(scene, number)
    x_m, _, z_m = scene.states.position_m[number]
    x = x_m + aside * math.cos(heading) + forward * math.sin(heading)
    z = z_m + forward * math.cos(heading) - aside * math.sin(heading)
    ends = [view.at(one, other) for one, other in zip(x, z, strict=True)]
    if len(ends) > 1:
        pen.polygon([view.at(x_m, z_m), *ends], _faded(colour, 0.22))
    for end in ends:
        pen.circle(end, 1.8 * FINER, _faded(colour, 0.8))


def _draw_body(pen: ImageDraw.ImageDraw, view: View, scene: Scene, number: int) -> None:
    x_m, y_m, z_m = scene.states.position_m[number]
    (x, y), half = view.at(x_m, z_m), scene.layout.body_m / 2 * view.scale
    colour = _colour(scene, number)
    if not scene.states.active[number]:
        _square(pen, x, y, half, _faded(_mixed(colour, PAPER, 0.35), 0.8))
        tip = half * 0.75
        for sign in (-1, 1):
            pen.line([(x - tip, y - tip * sign), (x + tip, y + tip * sign)], INK, 5)
        return
    lift = max(float(y_m) - scene.layout.body_m / 2, 0.0) * 0.1 * view.scale + FINER
    _square(pen, x + lift, y + lift, half, _faded(INK, 0.3))
    _square(pen, x, y, half + 1.6 * FINER, PAPER)
    _square(pen, x, y, half, colour)
    heading = float(scene.states.heading_rad[number])
    forward_x, forward_y = math.sin(heading) * half, math.cos(heading) * half
    root_x, root_y = x + forward_x * 0.7, y + forward_y * 0.7
    left, right = ((root_x + sign * forward_y * 0.75, root_y - sign * forward_x * 0.75) for sign in (-1, 1))
    pen.polygon([(x + forward_x * 2.1, y + forward_y * 2.1), left, right], INK)


def _draw_header(pen: ImageDraw.ImageDraw, scene: Scene) -> None:
    """Who plays, and the clock: seconds left and a bar that shrinks; without a limit, seconds played."""
    middle, right = (HEADER_PX / 2 - 2) * FINER, (SIZE_PX - MARGIN_PX) * FINER
    for number, active in enumerate(scene.states.active):
        colour = _faded(_colour(scene, number), 1.0 if active else 0.3)
        _square(pen, (MARGIN_PX + 10 + number * 24) * FINER, middle, 8.0 * FINER, colour)
    left_s = max(scene.round_s - scene.seconds, 0.0) if scene.round_s else scene.seconds
    pen.text((right, middle), f"{left_s:.1f}", PAPER, _font(), anchor="rm")
    if scene.round_s:
        start, end = 224.0 * FINER, right - 84.0 * FINER
        pen.line([(start, middle), (end, middle)], _mixed(BACKDROP, PAPER, 0.2), 7 * FINER)
        pen.line([(start, middle), (start + (end - start) * left_s / scene.round_s, middle)], PAPER, 7 * FINER)


def _square(pen: ImageDraw.ImageDraw, x: float, y: float, half: float, colour: str | tuple[int, ...]) -> None:
    pen.rectangle([x - half, y - half, x + half, y + half], colour)


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
