"""Geometry written a second time, slowly and in 64 bits, to judge the kernels by; it shares no code with them."""

import math
from typing import NamedTuple

import numpy as np

from godojo.games.tag.arenas import Arena
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


def parts_of_floor(arena: Arena, body_m: float) -> set[int]:
    """The parts of the floor that a body can walk between, by number, in which somebody may start."""
    pitch = 0.1
    half_x, half_z = (extent / 2 - body_m / 2 for extent in arena.size_m)
    x, z = np.arange(-half_x, half_x, pitch), np.arange(-half_z, half_z, pitch)
    free = np.ones((len(x), len(z)), bool)
    for box in arena.boxes:
        low, high = np.array(box.low) - body_m / 2 + 1e-6, np.array(box.high) + body_m / 2 - 1e-6
        if box.high[1] > 1.0:
            free &= ~(((x > low[0]) & (x < high[0]))[:, None] & ((z > low[2]) & (z < high[2]))[None, :])
    starts = set()
    for area in arena.spawns:
        start = (int(np.abs(x - area.position_m[0]).argmin()), int(np.abs(z - area.position_m[2]).argmin()))
        assert free[start], "a start inside a wall"
        starts.add(start)
    part = np.zeros(free.shape, int)
    number = 0
    for start in starts:
        if part[start]:
            continue
        number += 1
        edge = [start]
        part[start] = number
        while edge:
            i, j = edge.pop()
            for near in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if 0 <= near[0] < len(x) and 0 <= near[1] < len(z) and free[near] and not part[near]:
                    part[near] = number
                    edge.append(near)
    return {int(part[start]) for start in starts}
