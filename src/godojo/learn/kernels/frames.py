"""Rotation, normalisation and sampling, row by row: `rotation.py` and `networks.py` have the same in torch.

Pairs are the columns of an x and a z; without a heading, `forward` is empty and nothing is rotated.
"""

from typing import Any, NamedTuple

import numpy as np

from godojo.kernels.compile import device_kernel, njit_nogil


class ActionFrame(NamedTuple):
    """Columns of the heading in observations, of direction pairs in actions, and of continuous actions."""

    forward: np.ndarray
    pairs: np.ndarray
    continuous: np.ndarray


@device_kernel
def to_heading(x: Any, z: Any, x_heading: Any, z_heading: Any) -> tuple[Any, Any]:
    return x * z_heading - z * x_heading, x * x_heading + z * z_heading


@device_kernel
def to_world(left: Any, front: Any, x_heading: Any, z_heading: Any) -> tuple[Any, Any]:
    return left * z_heading + front * x_heading, front * z_heading - left * x_heading


@device_kernel
def clip(number: Any, limit: Any) -> Any:
    """Clip to -limit and limit; NaN stays NaN, so that it is noticed."""
    number = limit if number > limit else number
    return -limit if number < -limit else number


@njit_nogil
def rotate(rows: np.ndarray, forward: np.ndarray, pairs: np.ndarray, out: np.ndarray) -> None:
    """Pairs of columns relative to the heading."""
    for row in range(len(rows)):
        for place in range(rows.shape[1]):
            out[row, place] = rows[row, place]
        if len(forward):
            x_heading, z_heading = rows[row, forward[0]], rows[row, forward[1]]
            for pair in range(len(pairs)):
                x_at, z_at = pairs[pair, 0], pairs[pair, 1]
                out[row, x_at], out[row, z_at] = to_heading(rows[row, x_at], rows[row, z_at], x_heading, z_heading)


@njit_nogil
def to_env_action(action: np.ndarray, observation: np.ndarray, frame: ActionFrame, out: np.ndarray) -> None:
    forward, pairs, continuous = frame
    one = action.dtype.type(1.0)
    for row in range(len(action)):
        for place in range(action.shape[1]):
            out[row, place] = action[row, place]
        if len(forward):
            x_heading, z_heading = observation[row, forward[0]], observation[row, forward[1]]
            for pair in range(len(pairs)):
                x_at, z_at = pairs[pair, 0], pairs[pair, 1]
                left, front = action[row, x_at], action[row, z_at]
                x, z = to_world(left, front, x_heading, z_heading)
                length = max(np.sqrt(x * x + z * z), one)
                out[row, x_at], out[row, z_at] = x / length, z / length
        for place in continuous:
            out[row, place] = clip(out[row, place], one)


@njit_nogil
def from_env_action(action: np.ndarray, observation: np.ndarray, frame: ActionFrame, out: np.ndarray) -> None:
    forward, pairs, _ = frame
    for row in range(len(action)):
        for place in range(action.shape[1]):
            out[row, place] = action[row, place]
        if len(forward):
            x_heading, z_heading = observation[row, forward[0]], observation[row, forward[1]]
            for pair in range(len(pairs)):
                x_at, z_at = pairs[pair, 0], pairs[pair, 1]
                out[row, x_at], out[row, z_at] = to_heading(action[row, x_at], action[row, z_at], x_heading, z_heading)


@njit_nogil
def relative_state(
    own: np.ndarray, other: np.ndarray, forward: np.ndarray, pairs: np.ndarray, columns: np.ndarray, out: np.ndarray
) -> None:
    for row in range(len(own)):
        for place, column in enumerate(columns):
            out[row, place] = other[row, column]
        if len(forward):
            x_heading, z_heading = own[row, forward[0]], own[row, forward[1]]
            for pair in range(len(pairs)):
                x, z = other[row, pairs[pair, 2]], other[row, pairs[pair, 3]]
                if pairs[pair, 4] >= 0:
                    x, z = x - own[row, pairs[pair, 4]], z - own[row, pairs[pair, 5]]
                out[row, pairs[pair, 0]], out[row, pairs[pair, 1]] = to_heading(x, z, x_heading, z_heading)


@njit_nogil
def normalise(
    rows: np.ndarray, mean: np.ndarray, variance: np.ndarray, floor: Any, limit: Any, scratch: np.ndarray,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Normalise to mean 0 and variance 1, clipped to -limit and limit; `scratch` is [2, columns]."""
    factor, shift = scratch[0], scratch[1]
    for place in range(len(mean)):
        factor[place] = rows.dtype.type(1.0) / np.sqrt(variance[place] + floor)
        shift[place] = -mean[place] * factor[place]
    for row in range(len(rows)):
        for place in range(rows.shape[1]):
            out[row, place] = clip(rows[row, place] * factor[place] + shift[place], limit)


@njit_nogil
def sample_gaussian(
    mean: np.ndarray,
    noise: np.ndarray,
    log_std: np.ndarray,
    std: np.ndarray,
    log_root: Any,
    out: np.ndarray,
    log_prob: np.ndarray,
) -> None:
    """Sample from a diagonal Gaussian; also writes log-probabilities."""
    most = -log_std.dtype.type(len(log_std)) * log_root
    for place in range(len(log_std)):
        most -= log_std[place]
    for row in range(len(mean)):
        squares = most * log_std.dtype.type(0.0)
        for place in range(len(std)):
            out[row, place] = mean[row, place] + noise[row, place] * std[place]
            squares += noise[row, place] * noise[row, place]
        log_prob[row] = most - log_std.dtype.type(0.5) * squares


@njit_nogil
def moments(rows: np.ndarray, is_used: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> int:
    """Mean and variance of every column over the used rows; returns their number."""
    count = 0
    for place in range(len(mean)):
        mean[place] = 0.0
        variance[place] = 0.0
    for row in range(len(rows)):
        if is_used[row]:
            count += 1
            for place in range(len(mean)):
                mean[place] += rows[row, place]
    if count == 0:
        return count
    for place in range(len(mean)):
        mean[place] /= count
    for row in range(len(rows)):
        if is_used[row]:
            for place in range(len(mean)):
                off = rows[row, place] - mean[place]
                variance[place] += off * off
    for place in range(len(mean)):
        variance[place] /= count
    return count
