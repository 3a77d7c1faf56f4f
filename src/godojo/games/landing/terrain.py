"""The ground: a square grid of heights that both engines read, each cell cut into two triangles."""

from typing import NamedTuple

import msgspec
import numpy as np

from godojo.games.landing.settings import FOLDER
from godojo.resources import godot_sources


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cell_m: float
    heights_m: tuple[tuple[float, ...], ...]
    """By x, then z; the pad is in the middle."""


class Terrain(NamedTuple):
    """`height_m[i, j]` is the height at `x = i * cell_m - half_m`, `z = j * cell_m - half_m`.

    Each cell is cut from its corner (i + 1, j) to (i, j + 1).
    """

    height_m: np.ndarray
    cell_m: float
    half_m: float
    """Half of an edge of the square."""


def read_terrain() -> Terrain:
    text = (godot_sources() / FOLDER / "terrain.json").read_bytes()
    file = msgspec.json.decode(text, type=_File)
    height_m = np.array(file.heights_m, np.float32)
    return Terrain(height_m, file.cell_m, file.cell_m * (len(height_m) - 1) / 2)
