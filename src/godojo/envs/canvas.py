"""A square picture to draw on: smooth shapes by their distance from each point, in NumPy."""

import math
from typing import Self, TypeAlias

import numpy as np

Colour: TypeAlias = np.ndarray
"""Red, green and blue from 0 to 1."""
Point: TypeAlias = tuple[float, float]

# Strokes of the digits in a cell 1 wide and 2 high, as on a pocket calculator.
_STROKES = {
    "a": ((0, 0), (1, 0)),
    "b": ((1, 0), (1, 1)),
    "c": ((1, 1), (1, 2)),
    "d": ((0, 2), (1, 2)),
    "e": ((0, 1), (0, 2)),
    "f": ((0, 0), (0, 1)),
    "g": ((0, 1), (1, 1)),
}
_DIGITS = ("abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg")


def colour(code: str) -> Colour:
    """From `rrggbb`."""
    return np.array([int(code[at : at + 2], 16) for at in (0, 2, 4)], np.float32) / 255


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    blend: Colour = one + (other - one) * np.float32(share)
    return blend


def edge_between(rising_rad: np.ndarray, reach: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """How far it is, in the direction `turn`, to the straight line between the ends of the two rays beside it."""
    after = np.clip(np.searchsorted(rising_rad, turn), 1, len(rising_rad) - 1)
    past, left = turn - rising_rad[after - 1], rising_rad[after] - turn
    is_between = (past >= 0) & (left >= 0) & (past + left < 3.0)
    past, left = np.where(is_between, past, 0.5), np.where(is_between, left, 0.5)
    edge = np.sin(past + left) / (np.sin(left) / reach[after - 1] + np.sin(past) / reach[after])
    return np.where(is_between, edge, np.float32(-1.0))


class Canvas:
    """Positions in points from the top left corner, x to the right, y downwards."""

    def __init__(self, pixels: np.ndarray) -> None:
        """Draws into `pixels`: float32 [size, size, 3]."""
        self.pixels = pixels
        self.size_px = len(pixels)

    @classmethod
    def blank(cls, size_px: int, background: Colour) -> Self:
        return cls(np.full((size_px, size_px, 3), background, np.float32))

    def finished(self) -> np.ndarray:
        return (self.pixels * 255 + 0.5).astype(np.uint8)

    def rectangle(self, left: float, top: float, right: float, bottom: float, tint: Colour, alpha: float = 1.0) -> None:
        x, y, part = self._part(left, top, right, bottom)
        across = np.clip(np.minimum(x - left, right - x) + 0.5, 0, 1)
        along = np.clip(np.minimum(y - top, bottom - y) + 0.5, 0, 1)
        self._blend(part, across * along, tint, alpha)

    def square(self, x: float, y: float, half: float, tint: Colour, alpha: float = 1.0) -> None:
        """With rounded corners."""
        radius = half * 0.35
        grid_x, grid_y, part = self._part(x - half, y - half, x + half, y + half)
        over_x = np.maximum(abs(grid_x - x) - (half - radius), 0)
        over_y = np.maximum(abs(grid_y - y) - (half - radius), 0)
        self._blend(part, np.clip(radius - np.hypot(over_x, over_y) + 0.5, 0, 1), tint, alpha)

    def disc(self, x: float, y: float, radius: float, tint: Colour, alpha: float = 1.0) -> None:
        grid_x, grid_y, part = self._part(x - radius, y - radius, x + radius, y + radius)
        self._blend(part, np.clip(radius - np.hypot(grid_x - x, grid_y - y) + 0.5, 0, 1), tint, alpha)

    def line(self, start: Point, end: Point, width: float, tint: Colour, alpha: float = 1.0) -> None:
        """With round ends."""
        (x, y), (to_x, to_y), half = start, end, width / 2
        grid_x, grid_y, part = self._part(
            min(x, to_x) - half, min(y, to_y) - half, max(x, to_x) + half, max(y, to_y) + half
        )
        dx, dy = to_x - x, to_y - y
        share = np.clip(((grid_x - x) * dx + (grid_y - y) * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1)
        distance = np.hypot(grid_x - x - share * dx, grid_y - y - share * dy)
        self._blend(part, np.clip(half - distance + 0.5, 0, 1), tint, alpha)

    def triangle(self, one: Point, two: Point, three: Point, tint: Colour, alpha: float = 1.0) -> None:
        corners = (one, two, three)
        xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
        grid_x, grid_y, part = self._part(min(xs), min(ys), max(xs), max(ys))
        turn = math.copysign(1.0, (xs[1] - xs[0]) * (ys[2] - ys[0]) - (ys[1] - ys[0]) * (xs[2] - xs[0]))
        inside = np.full(np.broadcast_shapes(grid_x.shape, grid_y.shape), np.inf)
        for place in range(3):
            (x, y), (to_x, to_y) = corners[place], corners[(place + 1) % 3]
            dx, dy = to_x - x, to_y - y
            inside = np.minimum(inside, turn * (dx * (grid_y - y) - dy * (grid_x - x)) / max(math.hypot(dx, dy), 1e-9))
        self._blend(part, np.clip(inside + 0.5, 0, 1), tint, alpha)

    def fan(
        self,
        x: float,
        y: float,
        heading_rad: float,
        sides_rad: np.ndarray,
        reach: np.ndarray,
        tint: Colour,
        alpha: float,
    ) -> None:
        """The ground between rays that start at (x, y), and the rays; their angles fall from left to right."""
        if len(reach) == 0:
            return
        most = float(reach.max())
        grid_x, grid_y, part = self._part(x - most, y - most, x + most, y + most)
        away_x, away_y = grid_x - np.float32(x), grid_y - np.float32(y)
        distance = np.hypot(away_x, away_y)
        turn = np.arctan2(away_x, away_y) - np.float32(heading_rad)
        turn -= np.float32(2 * math.pi) * np.floor(turn / np.float32(2 * math.pi) + np.float32(0.5))
        rising, reach = sides_rad[::-1].astype(np.float32), reach[::-1].astype(np.float32)
        nearest = np.searchsorted((rising[1:] + rising[:-1]) / 2, turn)
        aside = distance * np.abs(turn - rising[nearest])
        cover = np.clip(np.float32(0.95) - aside, 0, 1) * (distance < reach[nearest]) * np.float32(0.3)
        if len(rising) > 1:
            limit = edge_between(rising, np.maximum(reach, np.float32(1e-3)), turn)
            cover += np.clip(limit - distance + np.float32(0.5), 0, 1) * np.float32(alpha)
        self._blend(part, cover, tint, 1.0)

    def number(self, text: str, right: float, middle: float, height: float, tint: Colour) -> None:
        """Digits and points, ending at `right`."""
        unit, width = height / 2, height / 7
        x, top = right, middle - height / 2
        for sign in reversed(text):
            if sign == ".":
                x -= width * 1.2
                self.disc(x, top + height, width * 0.75, tint)
                x -= width * 1.8
                continue
            x -= unit
            for stroke in _DIGITS[int(sign)]:
                (from_x, from_y), (to_x, to_y) = _STROKES[stroke]
                start = (x + from_x * unit, top + from_y * unit)
                self.line(start, (x + to_x * unit, top + to_y * unit), width, tint)
            x -= unit * 0.7

    def _part(
        self, left: float, top: float, right: float, bottom: float
    ) -> tuple[np.ndarray, np.ndarray, tuple[slice, slice]]:
        """Centres of the points that a shape may touch, and where they are."""
        first_x, last_x = (min(max(math.floor(edge), 0), self.size_px) for edge in (left - 1, right + 2))
        first_y, last_y = (min(max(math.floor(edge), 0), self.size_px) for edge in (top - 1, bottom + 2))
        x = np.arange(first_x, last_x, dtype=np.float32)[None, :] + np.float32(0.5)
        y = np.arange(first_y, last_y, dtype=np.float32)[:, None] + np.float32(0.5)
        return x, y, (slice(first_y, last_y), slice(first_x, last_x))

    def _blend(self, part: tuple[slice, slice], cover: np.ndarray, tint: Colour, alpha: float) -> None:
        share = (cover * alpha).astype(np.float32)[:, :, None]
        view = self.pixels[part]
        view += (tint - view) * share
