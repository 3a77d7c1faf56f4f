"""Rotations between the world's axes and an agent's heading, normalisation and sampling, row by row, without gradients.

Pairs are the columns of an x and a z; without a heading, `forward` is empty and nothing is rotated.
"""

from typing import Any, NamedTuple

import numpy as np

from godojo.kernels.compile import kernel, njit_nogil


class Acting(NamedTuple):
    """Columns of the heading in observations, of direction pairs in actions, and of continuous actions."""

    forward: np.ndarray
    pairs: np.ndarray
    numbers: np.ndarray


@kernel
def in_frame(x: Any, z: Any, x_ahead: Any, z_ahead: Any) -> tuple[Any, Any]:
    """World x and z as components to the left of the heading and ahead."""
    return x * z_ahead - z * x_ahead, x * x_ahead + z * z_ahead


@kernel
def out_of_frame(left: Any, ahead: Any, x_ahead: Any, z_ahead: Any) -> tuple[Any, Any]:
    """The inverse of `in_frame`."""
    return left * z_ahead + ahead * x_ahead, ahead * z_ahead - left * x_ahead


@kernel
def within(number: Any, limit: Any) -> Any:
    """Clip to -limit and limit; NaN stays NaN, so that it is noticed."""
    number = limit if number > limit else number
    return -limit if number < -limit else number


@njit_nogil
def turn(raw: np.ndarray, forward: np.ndarray, pairs: np.ndarray, out: np.ndarray) -> None:
    """Observations relative to the heading."""
    for row in range(len(raw)):
        out[row] = raw[row]
        if len(forward):
            x_ahead, z_ahead = raw[row, forward[0]], raw[row, forward[1]]
            for pair in range(len(pairs)):
                x_at, z_at = pairs[pair, 0], pairs[pair, 1]
                out[row, x_at], out[row, z_at] = in_frame(raw[row, x_at], raw[row, z_at], x_ahead, z_ahead)


@njit_nogil
def turn_back(action: np.ndarray, raw: np.ndarray, acting: Acting, out: np.ndarray) -> None:
    """Actions along the world's axes, with continuous parts from -1 to 1.

    Directions are scaled down, not clipped by axis, which would bend them.
    """
    forward, pairs, numbers = acting
    one = action.dtype.type(1.0)
    for row in range(len(action)):
        out[row] = action[row]
        if len(forward):
            x_ahead, z_ahead = raw[row, forward[0]], raw[row, forward[1]]
            for pair in range(len(pairs)):
                x_at, z_at = pairs[pair, 0], pairs[pair, 1]
                left, ahead = action[row, x_at], action[row, z_at]
                x, z = out_of_frame(left, ahead, x_ahead, z_ahead)
                length = max(np.sqrt(x * x + z * z), one)
                out[row, x_at], out[row, z_at] = x / length, z / length
        for place in numbers:
            out[row, place] = within(out[row, place], one)


@njit_nogil
def tell(
    own: np.ndarray, other: np.ndarray, forward: np.ndarray, pairs: np.ndarray, columns: np.ndarray, out: np.ndarray
) -> None:
    """Another agent's own state (`columns` of its observation), relative to an agent's position and heading.

    Each of `pairs` has the columns of an x and a z in `out`, in the other's observation and in the agent's; the last
    are -1 for directions, which do not depend on the position.
    """
    for row in range(len(own)):
        for place, column in enumerate(columns):
            out[row, place] = other[row, column]
        if len(forward):
            x_ahead, z_ahead = own[row, forward[0]], own[row, forward[1]]
            for pair in range(len(pairs)):
                x, z = other[row, pairs[pair, 2]], other[row, pairs[pair, 3]]
                if pairs[pair, 4] >= 0:
                    x, z = x - own[row, pairs[pair, 4]], z - own[row, pairs[pair, 5]]
                out[row, pairs[pair, 0]], out[row, pairs[pair, 1]] = in_frame(x, z, x_ahead, z_ahead)


@njit_nogil
def scale(raw: np.ndarray, mean: np.ndarray, variance: np.ndarray, floor: Any, limit: Any, out: np.ndarray) -> None:
    """Normalise to mean 0 and variance 1, clipped to -limit and limit."""
    factor = raw.dtype.type(1.0) / np.sqrt(variance + floor)
    shift = -mean * factor
    for row in range(len(raw)):
        for place in range(raw.shape[1]):
            out[row, place] = within(raw[row, place] * factor[place] + shift[place], limit)


@njit_nogil
def draw(
    mean: np.ndarray,
    noise: np.ndarray,
    log_std: np.ndarray,
    log_root: Any,
    out: np.ndarray,
    log_probability: np.ndarray,
) -> None:
    """Sample from a diagonal Gaussian; also writes log-probabilities."""
    std = np.exp(log_std)
    most = -np.sum(log_std) - log_std.dtype.type(len(log_std)) * log_root
    for row in range(len(mean)):
        squares = most * log_std.dtype.type(0.0)
        for place in range(len(std)):
            out[row, place] = mean[row, place] + noise[row, place] * std[place]
            squares += noise[row, place] * noise[row, place]
        log_probability[row] = most - log_std.dtype.type(0.5) * squares


@njit_nogil
def forget(memory: np.ndarray, terminated: np.ndarray, truncated: np.ndarray, ended: np.ndarray, first: int) -> None:
    """Zero the memory where a round ended; rows are agents in world order, from `first` on."""
    agents = terminated.shape[1]
    for row in range(len(memory)):
        world, agent = (first + row) // agents, (first + row) % agents
        if terminated[world, agent] or truncated[world, agent] or ended[world]:
            memory[row] = 0.0


@njit_nogil
def moments(rows: np.ndarray, is_used: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> int:
    """Mean and variance of every column over the used rows; returns their number."""
    count = 0
    mean[:] = 0.0
    variance[:] = 0.0
    for row in range(len(rows)):
        if is_used[row]:
            count += 1
            for place in range(len(mean)):
                mean[place] += rows[row, place]
    if count == 0:
        return count
    mean /= count
    for row in range(len(rows)):
        if is_used[row]:
            for place in range(len(mean)):
                off = rows[row, place] - mean[place]
                variance[place] += off * off
    variance /= count
    return count
