"""Courses as data: those that come with the game, and files of a user's own. The format is that of the Godot game."""

import math
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from godojo.errors import GodojoError
from godojo.games.settings import read_json
from godojo.resources import godot_sources

MAX_SOLIDS = 64
"""Boxes and steps of ramps together."""
MAX_STARTS = 16
MAX_ROUTES = 16
MAX_MARKS = 32

Number = Annotated[float, msgspec.Meta(gt=-1e3, lt=1e3)]
Size = Annotated[float, msgspec.Meta(ge=0.01, lt=1e3)]
Extent = Annotated[float, msgspec.Meta(ge=0, lt=1e3)]
Corner = tuple[float, float, float]


class Box(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something solid; `position_m` is its centre."""

    position_m: tuple[Number, Number, Number]
    size_m: tuple[Size, Size, Size]
    kind: str


class Ramp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A chain of low steps; `position_m` is the middle of its footprint, at its foot."""

    position_m: tuple[Number, Number, Number]
    size_m: tuple[Size, Size, Size]
    toward: Literal["+x", "-x", "+z", "-z"]
    steps: Annotated[int, msgspec.Meta(ge=1, le=32)]


class Start(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where rounds may begin: a flat rectangle, `position_m` its centre on the ground."""

    position_m: tuple[Number, Number, Number]
    size_m: tuple[Extent, Extent]
    yaw_deg: Annotated[float, msgspec.Meta(ge=-360, le=360)]
    spread_deg: Annotated[float, msgspec.Meta(ge=0, le=360)]


class Route(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Marks to be reached one after the other; the last is the goal."""

    marks_m: Annotated[tuple[tuple[Number, Number, Number], ...], msgspec.Meta(min_length=1, max_length=MAX_MARKS)]


class Course(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One course; y points up."""

    version: Literal[1]
    name: Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_-]{1,40}\Z")]
    title: Annotated[str, msgspec.Meta(max_length=80)]
    look: str
    boxes: Annotated[tuple[Box, ...], msgspec.Meta(min_length=1, max_length=MAX_SOLIDS)]
    ramps: tuple[Ramp, ...]
    starts: Annotated[tuple[Start, ...], msgspec.Meta(min_length=1, max_length=MAX_STARTS)]
    routes: Annotated[tuple[Route, ...], msgspec.Meta(min_length=1, max_length=MAX_ROUTES)]

    def solids(self) -> list[tuple[Corner, Corner]]:
        """Low and high corners of everything that is solid: boxes, then the steps of ramps."""
        found = [_corners(box.position_m, box.size_m) for box in self.boxes]
        for ramp in self.ramps:
            found += _steps(ramp)
        return found


def hand_made_courses() -> dict[str, Course]:
    """The courses that come with the game, by name."""
    return {
        path.stem: read_course(path) for path in sorted((godot_sources() / "games/navigation/courses").glob("*.json"))
    }


def read_course(path: Path) -> Course:
    """One file, checked; GodojoError names the file and the reason."""
    course = read_json(path, Course)
    check_course(course, str(path))
    return course


def check_course(course: Course, source: str = "course") -> None:
    """Refuses what could not be played, with the reason."""
    if not isinstance(course, Course):
        raise GodojoError(f"{source}: a course is a Course (see read_course), not {type(course).__name__}")
    solids = course.solids()
    if len(solids) > MAX_SOLIDS:
        raise GodojoError(f"{source}: {len(solids)} boxes and steps; there can be {MAX_SOLIDS}")
    for number, start in enumerate(course.starts):
        x, y, z = start.position_m
        if not any(_is_ground(x, y, z, low, high) for low, high in solids):
            raise GodojoError(f"{source}: starts[{number}]: there is no ground at its height")


def _is_ground(x: float, y: float, z: float, low: Corner, high: Corner) -> bool:
    return low[0] <= x <= high[0] and low[2] <= z <= high[2] and math.isclose(high[1], y, abs_tol=1e-4)


def _corners(middle: Corner, size: Corner) -> tuple[Corner, Corner]:
    (x, y, z), (wide, tall, deep) = middle, size
    return (x - wide / 2, y - tall / 2, z - deep / 2), (x + wide / 2, y + tall / 2, z + deep / 2)


def _steps(ramp: Ramp) -> list[tuple[Corner, Corner]]:
    """The i-th step covers the i-th part of the length, counted in the ramp's direction, and is i parts high."""
    (x, y, z), (wide, tall, deep) = ramp.position_m, ramp.size_m
    along_x, sign = ramp.toward[1] == "x", 1.0 if ramp.toward[0] == "+" else -1.0
    length = (wide if along_x else deep) / ramp.steps
    found = []
    for step in range(1, ramp.steps + 1):
        height = step * tall / ramp.steps
        shift = sign * (step - 0.5 - ramp.steps / 2) * length
        middle = (x + shift, y + height / 2, z) if along_x else (x, y + height / 2, z + shift)
        found.append(_corners(middle, (length, height, deep) if along_x else (wide, height, length)))
    return found
