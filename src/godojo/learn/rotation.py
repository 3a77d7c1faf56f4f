"""Rotations about the vertical axis, between the world's axes and an agent's heading (a unit vector: x and z)."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

Pairs = Sequence[tuple[int, int]]
"""Columns of an x and a z."""


def exact_sqrt(x: Tensor) -> Tensor:
    """The correctly rounded root, as kernels and GDScript compute it; torch's own may be off by one bit on the CPU."""
    return x.double().sqrt().to(x.dtype)


def to_heading(x: Tensor, z: Tensor, heading: Tensor) -> tuple[Tensor, Tensor]:
    """World x and z as components to the left of the heading and along it."""
    x_heading, z_heading = heading[..., 0], heading[..., 1]
    return x * z_heading - z * x_heading, x * x_heading + z * z_heading


def to_world(left: Tensor, front: Tensor, heading: Tensor) -> tuple[Tensor, Tensor]:
    """The inverse of `to_heading`."""
    x_heading, z_heading = heading[..., 0], heading[..., 1]
    return left * z_heading + front * x_heading, front * z_heading - left * x_heading


def rotate(rows: Tensor, pairs: Pairs, heading: Tensor, *, back: bool = False) -> Tensor:
    """Rotate pairs of columns from the world's axes to the heading, or `back`; the other columns stay."""
    x_at, z_at = (list(columns) for columns in zip(*pairs, strict=True))
    rotated = (to_world if back else to_heading)(rows[..., x_at], rows[..., z_at], heading[..., None, :])
    return replace_pairs(rows, pairs, rotated)


def replace_pairs(rows: Tensor, pairs: Pairs, values: tuple[Tensor, Tensor]) -> Tensor:
    """A copy of `rows` with other values in these columns."""
    x_at, z_at = (list(columns) for columns in zip(*pairs, strict=True))
    replaced = rows.clone()
    replaced[..., x_at], replaced[..., z_at] = values
    return replaced


def relative_state(
    own: Tensor, other: Tensor, forward: np.ndarray, pairs: np.ndarray, columns: np.ndarray, out: Tensor
) -> None:
    """Another agent's own state (`columns` of its observation), relative to an agent's position and heading.

    Each of `pairs` has the columns of an x and a z in `out`, in the other's observation and in the agent's; the last
    are -1 for directions, which do not depend on the position. Without a heading, `forward` is empty.
    """
    out.copy_(other[:, columns])
    for x_out, z_out, x_other, z_other, x_own, z_own in pairs.tolist() if len(forward) else ():
        x, z = other[:, x_other], other[:, z_other]
        if x_own >= 0:
            x, z = x - own[:, x_own], z - own[:, z_own]
        out[:, x_out], out[:, z_out] = to_heading(x, z, own[:, forward])
