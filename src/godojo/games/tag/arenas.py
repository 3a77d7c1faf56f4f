"""Arenas as data: the hand-made ones of the Godot game, files of a user's own, and generated ones.

The file format and its checks are those of the Godot game (docs/games/tag.md).
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.games.settings import read_json, whole_numbers
from godojo.games.tag.settings import TagSettings
from godojo.resources import godot_sources

VERSION: Literal[1] = 1
MAX_BOXES = 16
MAX_SPAWNS = 32
TOUCHING_M = 1e-4
"""What is closer is taken for touching."""

Name = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_ -]{1,40}\Z")]
Title = Annotated[str, msgspec.Meta(pattern=r"\A[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,40}\Z")]
"""A name for people: any letters that can be seen, and no line breaks."""
Number = Annotated[float, msgspec.Meta(gt=-1e6, lt=1e6)]


class Box(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something solid; `position_m` is its centre."""

    position_m: tuple[Number, Number, Number]
    size_m: tuple[Number, Number, Number]
    kind: Literal["tall", "low", "platform"]

    @property
    def low(self) -> tuple[float, float, float]:
        x, y, z = (at - size / 2 for at, size in zip(self.position_m, self.size_m, strict=True))
        return x, y, z

    @property
    def high(self) -> tuple[float, float, float]:
        x, y, z = (at + size / 2 for at, size in zip(self.position_m, self.size_m, strict=True))
        return x, y, z


class SpawnArea(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where bodies may start: a flat rectangle, `position_m` its centre on the ground."""

    position_m: tuple[Number, Number, Number]
    size_m: tuple[Number, Number]
    roles: Annotated[tuple[Literal["seeker", "hider"], ...], msgspec.Meta(min_length=1)]


class Arena(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One arena. The origin is the middle of the floor, y points up."""

    version: Literal[1]
    name: Name
    title: Title
    size_m: tuple[Annotated[float, msgspec.Meta(ge=4, le=60)], Annotated[float, msgspec.Meta(ge=4, le=60)]]
    boxes: Annotated[tuple[Box, ...], msgspec.Meta(max_length=MAX_BOXES)]
    spawns: Annotated[tuple[SpawnArea, ...], msgspec.Meta(min_length=1, max_length=MAX_SPAWNS)]

    def to_json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def hand_made_arenas(settings: TagSettings | None = None) -> dict[str, Arena]:
    """The arenas that come with the game, by name."""
    files = sorted((godot_sources() / "games/tag/arenas").glob("*.json"))
    return {path.stem: read_arena(path, settings) for path in files}


def read_arena(path: Path, settings: TagSettings | None = None) -> Arena:
    """One file, checked; GodojoError names the file, the key and the reason."""
    arena = read_json(path, Arena)
    check_arena(arena, settings or TagSettings.defaults(), str(path))
    return arena


def check_arena(arena: Arena, settings: TagSettings, source: str = "arena") -> None:
    """Refuses what could not be played, with the key and the reason."""
    if not isinstance(arena, Arena):
        raise GodojoError(f"{source}: an arena is an Arena (see read_arena), not {type(arena).__name__}")
    try:  # one that was made by hand has not been checked yet
        tree = msgspec.to_builtins(arena)
        msgspec.convert(whole_numbers(tree), Arena)
    except msgspec.ValidationError as error:
        raise GodojoError(f"{source}: {error}") from None
    for path, value in flatten_all(tree):
        if isinstance(value, float) and not math.isfinite(value):
            raise GodojoError(f"{source}: {path}: must be a finite number, not {value}")
    for index, box in enumerate(arena.boxes):
        reason = _box_fault(arena, index, box, settings.arena.collider_height_m)
        if reason:
            raise GodojoError(f"{source}: boxes[{index}]: {reason}")
    for index, area in enumerate(arena.spawns):
        reason = _spawn_fault(arena, index, area, settings)
        if reason:
            raise GodojoError(f"{source}: spawns[{index}]: {reason}")
    for role in ("seeker", "hider"):
        if not any(role in area.roles for area in arena.spawns):
            raise GodojoError(f"{source}: spawns: there is none for a {role}")
    apart_m = settings.body.size_m + 2 * settings.rules.touch_reach_m
    if not _opponents_can_start(arena, apart_m):
        raise GodojoError(f"{source}: spawns: there is none for a seeker {apart_m:g} m away from one for a hider")


def _opponents_can_start(arena: Arena, apart_m: float) -> bool:
    """Whether a seeker and a hider can be out of each other's reach, at the far ends of two areas or of one."""
    for one in (area for area in arena.spawns if "seeker" in area.roles):
        for two in (area for area in arena.spawns if "hider" in area.roles):
            x, y, z = (abs(a - b) for a, b in zip(one.position_m, two.position_m, strict=True))
            wide, deep = ((a + b) / 2 for a, b in zip(one.size_m, two.size_m, strict=True))
            if max(x + wide, y, z + deep) >= apart_m:
                return True
    return False


def flatten_all(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of nested lists and dictionaries with its path, as in `boxes[2].size_m[0]`."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield from flatten_all(value, f"{path}.{name}" if path else str(name))
    elif isinstance(tree, list | tuple):
        for index, value in enumerate(tree):
            yield from flatten_all(value, f"{path}[{index}]")
    else:
        yield path, tree


def _box_fault(arena: Arena, index: int, box: Box, top_m: float) -> str:
    if min(box.size_m) < 0.1:
        return "size_m: every edge must be at least 0.1"
    if any(abs(at) + size / 2 > half / 2 + TOUCHING_M for at, size, half in _flat(box, arena)):
        return "position_m: the box is outside the arena"
    if box.low[1] < -TOUCHING_M:
        return "position_m: the box is sunk into the floor"
    if box.high[1] > top_m:
        return f"size_m: the box reaches above {top_m}"
    for other in range(index):
        if _overlap(box.low, box.high, arena.boxes[other].low, arena.boxes[other].high):
            return f"position_m: the box overlaps boxes[{other}]"
    return ""


def _flat(box: Box, arena: Arena) -> list[tuple[float, float, float]]:
    (x, _, z), (wide, _, deep) = box.position_m, box.size_m
    return [(x, wide, arena.size_m[0]), (z, deep, arena.size_m[1])]


def _spawn_fault(arena: Arena, index: int, area: SpawnArea, settings: TagSettings) -> str:
    body = settings.body.size_m
    tall = body + 2 * settings.motion.skin_m  # it stands a skin above the ground, and nothing may touch its head
    (x, y, z), (wide, deep) = area.position_m, area.size_m
    if wide < 0 or deep < 0:
        return "size_m: must not be negative"
    reach_x, reach_z = (wide + body) / 2, (deep + body) / 2
    if abs(x) + reach_x > arena.size_m[0] / 2 or abs(z) + reach_z > arena.size_m[1] / 2:
        return "position_m: no room for a body between the area and the outer wall"
    if y < -TOUCHING_M or y + tall > settings.arena.collider_height_m:
        return "position_m: is not between floor and ceiling"
    low, high = (x - reach_x, y + TOUCHING_M, z - reach_z), (x + reach_x, y + tall, z + reach_z)
    stands = abs(y) <= TOUCHING_M
    for number, box in enumerate(arena.boxes):
        if _overlap(low, high, box.low, box.high):
            return f"position_m: a body starting here would be inside boxes[{number}]"
        covers = _is_within(x, wide, box.position_m[0], box.size_m[0])
        covers = covers and _is_within(z, deep, box.position_m[2], box.size_m[2])
        stands = stands or (abs(box.high[1] - y) <= TOUCHING_M and covers)
    if not stands:
        return "position_m: there is no ground at that height"
    for number in range(index):
        other = arena.spawns[number]
        apart = [abs(a - b) for a, b in zip(area.position_m, other.position_m, strict=True)]
        near = apart[0] < (wide + other.size_m[0]) / 2 and apart[2] < (deep + other.size_m[1]) / 2
        if (near and apart[1] < body) or max(apart) < 1e-5:
            return f"position_m: the area overlaps spawns[{number}]"
    return ""


def _is_within(at: float, size: float, centre: float, edge: float) -> bool:
    return abs(at - centre) + size / 2 <= edge / 2 + TOUCHING_M


_Corner = tuple[float, float, float]


def _overlap(low: _Corner, high: _Corner, other_low: _Corner, other_high: _Corner) -> bool:
    return all(
        low[axis] < other_high[axis] - TOUCHING_M and other_low[axis] < high[axis] - TOUCHING_M for axis in range(3)
    )


def generate_arena(seed: int, settings: TagSettings | None = None) -> Arena:
    """A random arena, the same for the same seed: one that the embedded game could have made for a round of its own."""
    from godojo.games.tag.sim.generation import generate

    settings = settings or TagSettings.defaults()
    slot = generate(seed, settings)
    boxes = []
    for low, high in zip(slot.low, slot.high, strict=True):
        size = high - low
        kind: Literal["tall", "low", "platform"] = "tall" if high[1] > settings.body.size_m * 1.5 else "low"
        kind = "platform" if low[1] > 0 else kind
        boxes.append(Box(_triple((low + high) / 2), _triple(size), kind))
    spawns = [SpawnArea(_triple(row[:3]), (_tidy(row[3]), _tidy(row[4])), ("seeker", "hider")) for row in slot.spawns]
    title = f"Generated {slot.kind} {seed}"
    arena = Arena(VERSION, f"generated_{seed}", title, slot.size_m, tuple(boxes), tuple(spawns))
    check_arena(arena, settings)
    return arena


def _triple(values: np.ndarray) -> tuple[float, float, float]:
    x, y, z = (_tidy(value) for value in values)
    return x, y, z


def _tidy(value: float) -> float:
    """Without the tail that a 32-bit number shows as a 64-bit one."""
    return math.floor(float(value) * 1e4 + 0.5) / 1e4
