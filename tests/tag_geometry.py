"""Geometry written a second time, slowly and in 64 bits, to judge the kernels by; it shares no code with them."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from godojo.games.tag.arenas import Arena, Box
from godojo.games.tag.settings import TagSettings

NOTHING, WALL, SEEKER, HIDER = 0, 1, 2, 3
TOLERANCE_M = 1e-3
"""How exactly a ray's length is known."""
GRAZE_M = 2e-4
"""A ray that passes an edge closer than this may or may not hit it."""


def depth_m(agents: np.ndarray, arenas: np.ndarray, size_m: float) -> np.ndarray:
    """How deep each agent is inside any box; negative when it is clear of all."""
    deepest = np.full(agents.shape, -np.inf)
    at = agents["position"].astype(float)
    for world, arena in enumerate(arenas):
        for box in range(int(arena["boxes"])):
            low, high = arena["low"][:, box].astype(float), arena["high"][:, box].astype(float)
            overlap = np.minimum(at[world] + size_m / 2 - low, high - at[world] + size_m / 2).min(-1)
            deepest[world] = np.maximum(deepest[world], overlap)
    return deepest


def outside_m(agents: np.ndarray, arenas: np.ndarray, size_m: float) -> np.ndarray:
    """How far any face of each agent is beyond floor, ceiling or outer walls; negative when it is inside."""
    at = agents["position"].astype(float)
    low, high = arenas["room_low"].astype(float)[:, None], arenas["room_high"].astype(float)[:, None]
    found: np.ndarray = np.maximum(low - (at - size_m / 2), at + size_m / 2 - high).max(-1)
    return found


class Seen(NamedTuple):
    """What a ray must show: between `least_m` and `most_m`, and one of `kinds`."""

    least_m: float
    most_m: float
    kinds: set[int]


def look(agents: np.ndarray, number: int, arena: np.ndarray, settings: TagSettings) -> list[Seen]:
    """All rays of one agent, each against everything, first as if all were a bit smaller, then as if a bit larger."""
    agent = agents[number]
    eye = agent["position"].astype(float) + np.array([0.0, settings.sight.eye_height_m, 0.0])
    half = settings.body.size_m / 2
    things = [
        (arena["low"][:, box].astype(float), arena["high"][:, box].astype(float), WALL)
        for box in range(int(arena["boxes"]))
    ]
    for other in np.delete(agents, number):
        if other["active"]:
            at = other["position"].astype(float)
            things.append((at - half, at + half, SEEKER if other["chases"] else HIDER))
    room = arena["room_low"].astype(float), arena["room_high"].astype(float)
    return [_see(eye, way, things, room, settings.sight.range_m) for way in _ways(settings, float(agent["heading"]))]


def _ways(settings: TagSettings, heading: float) -> list[np.ndarray]:
    """docs/games/tag-motion.md, Sight: angles from the heading, positive to the agent's left."""
    found = []
    for row in settings.sight.rows:
        up = math.radians(row.elevation_deg)
        for column in range(row.columns):
            share = 0.5 if row.columns == 1 else column / (row.columns - 1)
            angle = heading + math.radians(settings.sight.fov_deg) * (0.5 - share)
            found.append(np.array([math.sin(angle) * math.cos(up), math.sin(up), math.cos(angle) * math.cos(up)]))
    return found


def _see(
    eye: np.ndarray,
    way: np.ndarray,
    things: list[tuple[np.ndarray, np.ndarray, int]],
    room: tuple[np.ndarray, np.ndarray],
    range_m: float,
) -> Seen:
    to_wall = min(_to_plane(eye, way, room, axis) for axis in range(3))
    surely: list[tuple[float, int]] = [(to_wall, WALL), (range_m, NOTHING)]
    perhaps: list[tuple[float, int]] = [(to_wall, WALL), (range_m, NOTHING)]
    for low, high, kind in things:
        if (eye > low - GRAZE_M).all() and (eye < high + GRAZE_M).all():
            # From within nothing is seen of a body; on its very surface it may be.
            if not ((eye > low + GRAZE_M).all() and (eye < high - GRAZE_M).all()):
                perhaps.append((0.0, kind))
            continue
        for grown, found in ((-GRAZE_M, surely), (GRAZE_M, perhaps)):
            enter_m = _slab_m(eye, way, low - grown, high + grown)
            if enter_m is not None:
                found.append((enter_m, kind))
    most_m = min(surely)[0]
    least_m = min(perhaps)[0]
    kinds = {kind for far_m, kind in surely + perhaps if far_m <= most_m + TOLERANCE_M}
    return Seen(least_m - TOLERANCE_M, most_m + TOLERANCE_M, kinds)


def _to_plane(eye: np.ndarray, way: np.ndarray, room: tuple[np.ndarray, np.ndarray], axis: int) -> float:
    if abs(way[axis]) < 1e-12:
        return math.inf
    return float(((room[1] if way[axis] > 0 else room[0])[axis] - eye[axis]) / way[axis])


def _slab_m(eye: np.ndarray, way: np.ndarray, low: np.ndarray, high: np.ndarray) -> float | None:
    """Where the ray enters the box; None when it does not."""
    enter, leave = -math.inf, math.inf
    for axis in range(3):
        if abs(way[axis]) < 1e-12:
            if not low[axis] < eye[axis] < high[axis]:
                return None
            continue
        ends = sorted(((low[axis] - eye[axis]) / way[axis], (high[axis] - eye[axis]) / way[axis]))
        enter, leave = max(enter, ends[0]), min(leave, ends[1])
    return enter if enter <= leave and enter > 0 else None


class Spot(NamedTuple):
    """Somewhere a body can stand: a rectangle between the edges of grown boxes, and a height."""

    column: int
    row: int
    ground_m: float


class FloorPlan:
    """Where the centre of a body can be in an arena and how it gets there, exactly: boxes are grown by half a body."""

    def __init__(self, arena: Arena, settings: TagSettings) -> None:
        motion, self.body_m = settings.motion, settings.body.size_m
        self.jump_m = 0.95 * motion.jump_speed_mps**2 / (2 * motion.gravity_mps2)
        grown = [tuple(_grown(box, axis, self.body_m) for axis in (0, 2)) for box in arena.boxes]
        self.lines = [
            sorted({-end, end, *(edge for box in grown for edge in box[axis] if -end < edge < end)})
            for axis, end in enumerate((extent - self.body_m) / 2 for extent in arena.size_m)
        ]
        self.boxes: dict[tuple[int, int], list[tuple[float, float]]] = {}  # bottoms and tops, by rectangle
        for box, (along_x, along_z) in zip(arena.boxes, grown, strict=True):
            for column in self._between(0, *along_x):
                for row in self._between(1, *along_z):
                    self.boxes.setdefault((column, row), []).append((box.low[1], round(box.high[1], 4)))
        self.starts = [self._spot(*area.position_m) for area in arena.spawns]

    def _between(self, axis: int, low: float, high: float) -> range:
        """The rectangles from one line to another."""
        lines = self.lines[axis]
        return range(max(bisect_left(lines, low), 0), min(bisect_left(lines, high), len(lines) - 1))

    def _spot(self, x: float, y: float, z: float) -> Spot:
        return Spot(bisect_left(self.lines[0], x) - 1, bisect_left(self.lines[1], z) - 1, round(y, 4))

    def is_free(self, column: int, row: int, from_m: float, to_m: float) -> bool:
        """Whether a body's feet can be at all these heights."""
        boxes = self.boxes.get((column, row), ())
        return all(high <= from_m + 1e-3 or low >= to_m + self.body_m for low, high in boxes)

    def exits(self, spot: Spot) -> Iterator[Spot]:
        """Where a body gets to at once, by walking, jumping or falling."""
        column, row, from_m = spot
        for to in ((column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)):
            if not (0 <= to[0] < len(self.lines[0]) - 1 and 0 <= to[1] < len(self.lines[1]) - 1):
                continue
            for to_m in {0.0, *(high for _, high in self.boxes.get(to, ()))}:
                top_m = max(from_m, to_m)
                is_low = to_m <= from_m + self.jump_m
                if is_low and self.is_free(column, row, from_m, top_m) and self.is_free(*to, to_m, top_m):
                    yield Spot(*to, to_m)

    def is_connected(self) -> bool:
        """Whether a body can get from every start to every other."""
        here = self.starts[0]
        origins: dict[Spot, list[Spot]] = {here: []}
        edge = [here]
        while edge:
            spot = edge.pop()
            for to in self.exits(spot):
                if to not in origins:
                    edge.append(to)
                origins.setdefault(to, []).append(spot)
        back, edge = {here}, [here]
        while edge:
            new = set(origins[edge.pop()]) - back
            back |= new
            edge += new
        is_room = all(self.is_free(*start, start.ground_m) for start in self.starts)
        return is_room and back.issuperset(self.starts)


def _grown(box: Box, axis: int, body_m: float) -> tuple[float, float]:
    return box.low[axis] - body_m / 2 + 1e-4, box.high[axis] + body_m / 2 - 1e-4
