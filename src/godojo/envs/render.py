"""A picture of a round from above, drawn with NumPy alone: 512 x 512 points, x to the right, z downwards."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.envs.canvas import Canvas, Colour, colour, mixed
from godojo.errors import GodojoError
from godojo.games.tag.settings import TICK_S, TagSettings
from godojo.games.tag.spec import LAYOUT, RAY_DISTANCE

SIZE_PX = 512
HEADER_PX = 44
MARGIN_PX = 14
WALL_PX = 5.0
MAT_M = 2.0

# The palette of the Godot game (tag_style.gd).
SEEKER, HIDER = colour("ff8a1f"), colour("2f6bff")
PAPER, INK, BACKDROP = colour("fff8ec"), colour("171a26"), colour("20263a")
FLOOR, FLOOR_OTHER, WALL = colour("d9cdb4"), colour("d1c4a9"), colour("8d8078")
BLOCKS = {"tall": colour("5d5a74"), "low": colour("93b09c"), "platform": colour("b2948a")}


@dataclass(frozen=True)
class Block:
    """A box of the arena, from above."""

    low_m: tuple[float, float]
    high_m: tuple[float, float]
    top_m: float
    kind: str


@dataclass(frozen=True)
class Body:
    """An agent: where it is, where it looks, and how far its level rays reach, from its left to its right."""

    position_m: tuple[float, float, float]
    heading_rad: float
    chases: bool
    active: bool
    immune: bool
    sides_rad: np.ndarray
    reach_m: np.ndarray


@dataclass(frozen=True)
class Scene:
    """All that a picture shows."""

    size_m: tuple[float, float]
    body_m: float
    blocks: Sequence[Block]
    bodies: Sequence[Body]
    time_left: float
    """Share of the round."""
    round_s: float


def scene_of(worlds: Worlds, world: int) -> Scene:
    """How a world stands now."""
    return SceneRecorder(worlds, world).now()


class SceneRecorder:
    """Remembers how a world stood, so that the end of a round can be shown although the next one has begun."""

    def __init__(self, worlds: Worlds, world: int) -> None:
        self.worlds, self.world = worlds, world
        self.twin: Any = getattr(worlds, "twin", None)
        if self.twin is None:
            raise GodojoError('only engine="sim" tells where things are, which pictures need')
        self.settings: TagSettings = self.twin.settings
        self.remember()

    def remember(self) -> None:
        """To be called before a step."""
        self._slot = self.twin.arena_slots[self.world].copy()
        self._agents = self.twin.agents[self.world].copy()

    def now(self) -> Scene:
        self.remember()
        return self._scene([role.observation for role in self.worlds.roles.values()])

    def at_the_end(self) -> Scene:
        """Of the round that ended in the last step."""
        return self._scene([role.final_observation for role in self.worlds.roles.values()])

    def _scene(self, observations: Sequence[np.ndarray]) -> Scene:
        slot, settings = self._slot, self.settings
        told = np.concatenate([each[self.world] for each in observations])
        bodies = [self._body(told[number], self._agents[number]) for number in range(len(told))]
        blocks = [self._block(place) for place in range(int(slot["boxes"]))]
        wide, deep = (float(length) for length in slot["size_m"])
        return Scene(
            size_m=(wide, deep),
            body_m=settings.body.size_m,
            blocks=sorted(blocks, key=lambda block: block.top_m),
            bodies=bodies,
            time_left=float(LAYOUT.view(told, "time_left").max()),
            round_s=settings.round_ticks * TICK_S,
        )

    def _block(self, place: int) -> Block:
        low, high = self._slot["low"][:, place], self._slot["high"][:, place]
        number = int(self._slot["number"])
        if number >= 0:
            kind: str = self.twin.arenas[number].boxes[place].kind
        else:
            kind = "tall" if high[1] > self.settings.body.size_m * 2 else "low"
        return Block((float(low[0]), float(low[2])), (float(high[0]), float(high[2])), float(high[1]), kind)

    def _body(self, told: np.ndarray, remembered: np.void) -> Body:
        """From the agent's observation; a caught one observes zeros, and stays where it was."""
        part = {name: LAYOUT.view(told, name) for name in LAYOUT.names}
        if not told.any():
            x, y, z = (float(value) for value in remembered["position"])
            nothing = np.zeros(0)
            return Body((x, y, z), float(remembered["heading"]), False, False, False, nothing, nothing)
        wide, deep = self._slot["size_m"]
        x, y, z = part["position"] * (wide / 2, self.settings.arena.wall_height_m, deep / 2)
        sides, reach = level_rays(self.settings, told)
        heading = math.atan2(*part["forward"])
        return Body(
            (float(x), float(y), float(z)), heading, bool(part["is_seeker"]), True, bool(part["immune"]), sides, reach
        )


def level_rays(settings: TagSettings, told: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the row that looks most nearly straight ahead: angles to the left, and distances along the floor."""
    rows = settings.sight.rows
    chosen = min(range(len(rows)), key=lambda row: (abs(rows[row].elevation_deg), -rows[row].columns))
    first = sum(row.columns for row in rows[:chosen])
    columns = rows[chosen].columns
    half = math.radians(settings.sight.fov_deg) / 2
    sides = np.linspace(half, -half, columns) if columns > 1 else np.zeros(1)
    shares = LAYOUT.view(told, "rays")[first : first + columns, RAY_DISTANCE].astype(np.float64)
    return sides, shares * settings.sight.range_m * math.cos(math.radians(rows[chosen].elevation_deg))


def draw(scene: Scene) -> np.ndarray:
    """uint8 [512, 512, 3]."""
    return Drawing(scene).picture()


class View:
    """Where in the picture a place of the arena is."""

    def __init__(self, size_m: tuple[float, float]) -> None:
        room_px = SIZE_PX - HEADER_PX - MARGIN_PX
        self.scale = min((SIZE_PX - 2 * MARGIN_PX) / size_m[0], room_px / size_m[1])
        self.centre = (SIZE_PX / 2, HEADER_PX + room_px / 2)

    def at(self, x_m: float, z_m: float) -> tuple[float, float]:
        return self.centre[0] + x_m * self.scale, self.centre[1] + z_m * self.scale


@functools.lru_cache(maxsize=16)
def empty_floor(size_m: tuple[float, float]) -> np.ndarray:
    """Mats and outer walls, the same in every picture of an arena of this size."""
    canvas, view = Canvas.blank(SIZE_PX, BACKDROP), View(size_m)
    half_x, half_z = size_m[0] / 2, size_m[1] / 2
    (left, top), (right, bottom) = view.at(-half_x, -half_z), view.at(half_x, half_z)
    canvas.rectangle(left - WALL_PX, top - WALL_PX, right + WALL_PX, bottom + WALL_PX, WALL)
    canvas.rectangle(left, top, right, bottom, FLOOR)
    for row in range(math.ceil(size_m[1] / MAT_M)):
        for column in range(row % 2, math.ceil(size_m[0] / MAT_M), 2):
            x, z = column * MAT_M - half_x, row * MAT_M - half_z
            corner, other = view.at(x, z), view.at(min(x + MAT_M, half_x), min(z + MAT_M, half_z))
            canvas.rectangle(*corner, *other, FLOOR_OTHER)
    return canvas.pixels


class Drawing:
    """Turns metres into points of the picture."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.canvas = Canvas(empty_floor(scene.size_m).copy())
        self.view = View(scene.size_m)
        self.scale = self.view.scale

    def picture(self) -> np.ndarray:
        for body in self.scene.bodies:
            if body.active:
                self._sight(body)
        for block in self.scene.blocks:
            self._block(block)
        for body in sorted(self.scene.bodies, key=lambda each: (each.active, each.position_m[1])):
            self._body(body)
        self._header()
        return self.canvas.finished()

    def _block(self, block: Block) -> None:
        """Higher ones cast a longer shadow and have a lighter rim."""
        (left, top), (right, bottom) = self.view.at(*block.low_m), self.view.at(*block.high_m)
        shadow = min(block.top_m, 4.0) * 0.1 * self.scale
        self.canvas.rectangle(left + shadow, top + shadow, right + shadow, bottom + shadow, INK, 0.22)
        base = BLOCKS.get(block.kind, BLOCKS["tall"])
        self.canvas.rectangle(left, top, right, bottom, mixed(base, INK, 0.35))
        rim = max(0.06 * self.scale, 1.0)
        level = mixed(base, PAPER, min(block.top_m / 16.0, 0.2))
        self.canvas.rectangle(left + rim, top + rim, right - rim, bottom - rim, level)

    def _sight(self, body: Body) -> None:
        """Its level rays, the ground between them, and what they hit."""
        x, y = self.view.at(body.position_m[0], body.position_m[2])
        tint = tint_of(body)
        self.canvas.fan(x, y, body.heading_rad, body.sides_rad, body.reach_m * self.scale, tint, 0.22)
        for side, reach_m in zip(body.sides_rad, body.reach_m, strict=True):
            angle = body.heading_rad + side
            end = (x + math.sin(angle) * reach_m * self.scale, y + math.cos(angle) * reach_m * self.scale)
            self.canvas.disc(*end, 1.8, tint, 0.8)

    def _body(self, body: Body) -> None:
        x, y = self.view.at(body.position_m[0], body.position_m[2])
        half = self.scene.body_m / 2 * self.scale
        if not body.active:
            self.canvas.square(x, y, half, mixed(HIDER, PAPER, 0.35), 0.8)
            for sign in (-1, 1):
                tip = half * 0.75
                self.canvas.line((x - tip, y - tip * sign), (x + tip, y + tip * sign), 2.6, INK, 0.9)
            return
        lift = max(body.position_m[1] - self.scene.body_m / 2, 0.0) * 0.1 * self.scale
        self.canvas.square(x + lift + 1, y + lift + 1, half, INK, 0.3)
        if body.immune:
            self.canvas.disc(x, y, half * 1.9, PAPER, 0.6)
        tint = tint_of(body)
        self.canvas.square(x, y, half + 1.6, PAPER)
        self.canvas.square(x, y, half, tint)
        ahead_x, ahead_y = math.sin(body.heading_rad), math.cos(body.heading_rad)
        nose = (x + ahead_x * half * 2.1, y + ahead_y * half * 2.1)
        root_x, root_y = x + ahead_x * half * 0.7, y + ahead_y * half * 0.7
        aside_x, aside_y = ahead_y * half * 0.75, -ahead_x * half * 0.75
        self.canvas.triangle(nose, (root_x - aside_x, root_y - aside_y), (root_x + aside_x, root_y + aside_y), INK)

    def _header(self) -> None:
        """Who is in, and the clock: seconds left, and a bar that shrinks."""
        scene = self.scene
        middle = HEADER_PX / 2 - 2
        for place, body in enumerate(scene.bodies):
            x = MARGIN_PX + 10 + place * 24
            self.canvas.square(x, middle, 8.0, tint_of(body), 1.0 if body.active else 0.3)
        seconds = scene.time_left * scene.round_s
        self.canvas.number(f"{seconds:.1f}", SIZE_PX - MARGIN_PX, middle, 20.0, PAPER)
        left, right = 224.0, SIZE_PX - MARGIN_PX - 84.0
        self.canvas.line((left, middle), (right, middle), 7.0, mixed(BACKDROP, PAPER, 0.2))
        if scene.time_left > 0:
            self.canvas.line((left, middle), (left + (right - left) * scene.time_left, middle), 7.0, PAPER)


def tint_of(body: Body) -> Colour:
    return SEEKER if body.chases else HIDER
