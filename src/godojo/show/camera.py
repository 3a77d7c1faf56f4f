"""The tracking camera: it stays close to the agents, keeps all of them in view, and moves smoothly.

A shot's frames are known beforehand, so its whole path is planned here and Godot only follows it. A long lens looks
down from far away: near and far agents have about the same size. Of several directions the plan takes the one in which
agents are largest and least hidden by blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from godojo.show.replay import Layout, Replay

PITCH_RAD = np.radians(46.0)
"""How steeply it looks down."""
YAWS_RAD = np.radians(np.arange(15.0, 360.0, 30.0))
"""The directions to choose from."""
DRIFT_RADPS = np.radians(2.5)
"""It circles slowly around what it shows."""
DISTANCE_M = 60.0
"""Between the camera and what it aims at; `CameraRig.PLANNED_DISTANCE_M` in Godot."""
LARGEST = 0.125
"""Of the picture's shorter side: the most that the edge of an agent may take."""
AROUND_BODIES = 1.1
"""Room around an agent's middle, in bodies."""
SMOOTH_S = 0.6
"""Of the film: the camera begins to move this long before it has to, and needs as long to come to rest."""
TO_CENTRE = 0.12
"""How far the aim is drawn to the arena's middle, so that less is seen of what is outside."""
FAREWELL_S = 0.9
"""How long an agent that left the round is still shown; `AgentLook.FAREWELL_S` in Godot."""
HIDDEN_M = 2.0
"""A direction in which agents are always hidden is as bad as one that has to show this much more."""


class Area(NamedTuple):
    """The part of a picture in which agents are to stay, in shares of its width and height."""

    left: float = 0.04
    top: float = 0.18
    right: float = 0.96
    bottom: float = 0.95


ALL = Area()
"""All of the picture but the clock at its top, and its edges."""


@dataclass(frozen=True)
class CameraPath:
    """Where the camera is in F frames."""

    aim_m: np.ndarray
    """float [F, 3]: the point in the middle of the picture."""
    yaw_rad: np.ndarray
    """float [F]: 0 looks along -z."""
    half_height_m: np.ndarray
    """float [F]: of what is seen at the aim's distance."""

    def project(self, points_m: np.ndarray, width: int, height: int) -> np.ndarray:
        """Where points of every frame, [F, N, 3], are in a picture: pixels from its upper left corner, [F, N, 2]."""
        across, up, back = (axis[:, None] for axis in axes(self.yaw_rad))
        away = points_m - self.aim_m[:, None]
        depth = DISTANCE_M - (away * back).sum(-1)
        scale = height / 2 * DISTANCE_M / self.half_height_m[:, None] / depth
        flat = np.stack([(away * across).sum(-1), -(away * up).sum(-1)], -1) * scale[..., None]
        found: np.ndarray = flat + np.array([width / 2, height / 2])
        return found

    def numbers(self) -> np.ndarray:
        """float [F, 5]: what Godot reads of every frame."""
        return np.column_stack([self.aim_m, self.yaw_rad, self.half_height_m])


def axes(yaw_rad: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Across the picture, up in it, and from what is seen to the camera: [F, 3] each."""
    sin, cos, zero = np.sin(yaw_rad), np.cos(yaw_rad), np.zeros_like(yaw_rad)
    low, high = np.cos(PITCH_RAD), np.sin(PITCH_RAD)
    across = np.stack([cos, zero, -sin], -1)
    up = np.stack([-high * sin, zero + low, -high * cos], -1)
    back = np.stack([low * sin, zero + high, low * cos], -1)
    return across, up, back


def plan(
    replay: Replay, seconds: np.ndarray, width: int, height: int, *, area: Area = ALL, zoom: float = 1.0, fps: int
) -> CameraPath:
    """The best path for these moments of a round; `zoom` lets agents become larger than usual."""
    middles_m, shown = agents_at(replay, seconds)
    every = max(len(seconds) // 40, 1)
    paths = [_path(replay.layout, middles_m, shown, yaw, width, height, area, zoom, fps) for yaw in YAWS_RAD]
    costs = []
    for path in paths:
        hidden = is_hidden(replay.layout, path, middles_m, every)[shown[::every]]
        costs.append(float(path.half_height_m.mean()) + HIDDEN_M * float(hidden.mean() if hidden.size else 0.0))
    return paths[int(np.argmin(costs))]


def agents_at(replay: Replay, seconds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Middles of all agents, float [F, A, 3], and which of them are to be seen, bool [F, A]."""
    middles_m = np.stack([replay.at(second).position_m for second in seconds.tolist()]).astype(np.float64)
    lately = np.stack([replay.at(max(second - FAREWELL_S, 0.0)).active for second in seconds.tolist()])
    shown = lately | (seconds[:, None] >= replay.seconds) & replay.active[-2 if len(replay.tick) > 1 else -1]
    return middles_m, shown | ~shown.any(axis=1, keepdims=True)


def _path(
    layout: Layout,
    middles_m: np.ndarray,
    shown: np.ndarray,
    yaw_rad: float,
    width: int,
    height: int,
    area: Area,
    zoom: float,
    fps: int,
) -> CameraPath:
    frames = len(middles_m)
    yaws = yaw_rad + (np.arange(frames) - frames / 2) / fps * DRIFT_RADPS
    across, up, back = axes(yaws)
    low = np.where(shown[..., None], middles_m, np.inf).min(axis=1)
    high = np.where(shown[..., None], middles_m, -np.inf).max(axis=1)
    centre = np.array([layout.centre_m[0], 0.0, layout.centre_m[1]])
    middle = (low + high) / 2
    middle[:, [0, 2]] += TO_CENTRE * (centre - middle)[:, [0, 2]]
    span = max(round(SMOOTH_S * fps), 1)
    middle = _smoothed(middle, span)
    away = middles_m - middle[:, None]
    nearer = DISTANCE_M / (DISTANCE_M - (away * back[:, None]).sum(-1))
    room = AROUND_BODIES * layout.body_m
    aspect = width / height
    # Half the height that an agent needs, sideways and upwards; the picture may be used up to the area's edges.
    sideways = (np.abs((away * across[:, None]).sum(-1)) + room) * nearer / ((area.right - area.left) * aspect)
    upwards = (np.abs((away * up[:, None]).sum(-1)) + room) * nearer / (area.bottom - area.top)
    needed = np.where(shown, np.maximum(sideways, upwards), 0.0).max(axis=1)
    closest = layout.body_m * height / (2 * LARGEST * zoom * min(width, height))
    half = _smoothed(_widest(np.maximum(needed, closest), span)[:, None], span)[:, 0]
    # The middle of the area, not that of the picture, is where the agents are.
    right, below = (area.left + area.right - 1.0) * aspect, area.top + area.bottom - 1.0
    aim = middle - across * (right * half)[:, None] + up * (below * half)[:, None]
    return CameraPath(aim, yaws, half)


def _smoothed(values: np.ndarray, span: int) -> np.ndarray:
    """A weighted mean of every row, [F, N], and `span` others on both sides."""
    weights = np.hanning(2 * span + 3)[1:-1]
    padded = np.pad(values, ((span, span), (0, 0)), mode="edge")
    columns = [np.convolve(column, weights / weights.sum(), "valid") for column in padded.T]
    return np.stack(columns, -1)


def _widest(values: np.ndarray, span: int) -> np.ndarray:
    """The largest within `span` on both sides, so that a mean of it is nowhere less than the value itself."""
    padded = np.pad(values, span, mode="edge")
    found: np.ndarray = np.lib.stride_tricks.sliding_window_view(padded, 2 * span + 1).max(axis=1)
    return found


def is_hidden(layout: Layout, path: CameraPath, middles_m: np.ndarray, every: int = 1) -> np.ndarray:
    """bool [F / every, A]: whether a box stands between the camera and an agent's middle."""
    points = middles_m[::every]
    back = axes(path.yaw_rad[::every])[2]
    camera = (path.aim_m[::every] + DISTANCE_M * back)[:, None]
    hidden = np.zeros(points.shape[:2], bool)
    for box in layout.boxes:
        hidden |= _crosses(points, camera, np.array(box.position_m), np.array(box.size_m) / 2)
    return hidden


def _crosses(begin: np.ndarray, end: np.ndarray, centre: np.ndarray, half: Sequence[float] | np.ndarray) -> np.ndarray:
    """Whether the ways from one point to another, [..., 3], lead through a box."""
    way = end - begin
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = (centre - half - begin) / way, (centre + half - begin) / way
    enters = np.nan_to_num(np.minimum(one, two), nan=-np.inf).max(axis=-1)
    leaves = np.nan_to_num(np.maximum(one, two), nan=np.inf).min(axis=-1)
    found: np.ndarray = (enters < leaves) & (leaves > 0.0) & (enters < 1.0)
    return found
