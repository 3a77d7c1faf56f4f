"""Sine, cosine and arc tangent of 32-bit numbers in plain arithmetic: the same bits on every machine and device.

The bits are those of glibc's `sincosf` and `atan2f`, with which the real Godot plays. System libraries and GPUs differ
from each other in the last bit. Nothing branches.
"""

import math

import numpy as np

from godojo.kernels.compile import device_kernel

_PER_HALF_PI = 2.0 / np.pi
_HALF_PI = np.pi / 2.0
_C1, _C2 = float.fromhex("-0x1.ffffffd0c621cp-2"), float.fromhex("0x1.55553e1068f19p-5")
_C3, _C4 = float.fromhex("-0x1.6c087e89a359dp-10"), float.fromhex("0x1.99343027bf8c3p-16")
_S1, _S2 = float.fromhex("-0x1.555545995a603p-3"), float.fromhex("0x1.1107605230bc4p-7")
_S3 = float.fromhex("-0x1.994eb3774cf24p-13")
_ZERO, _HALF, _ONE, _TWO, _ONE_AND_HALF = (np.float32(number) for number in (0.0, 0.5, 1.0, 2.0, 1.5))
_PI, _PI_REST = np.float32(3.1415927410e00), np.float32(-8.7422776573e-08)
# The arc tangents of 1/2, 1, 3/2 and of infinity, each with what 32 bits leave over, and where each is used up to.
_HIGH0, _HIGH1, _HIGH2, _HIGH3 = (
    np.float32(number) for number in (4.6364760399e-01, 7.8539812565e-01, 9.8279368877e-01, 1.5707962513e00)
)
_LOW0, _LOW1, _LOW2, _LOW3 = (
    np.float32(number) for number in (5.0121582440e-09, 3.7748947079e-08, 3.4473217170e-08, 7.5497894159e-08)
)
_TO0, _TO1, _TO2, _TO3 = (np.float32(number) for number in (0.4375, 0.6875, 1.1875, 2.4375))
_STEEP = np.float32(2.0**25)
"""From here on the angle is a quarter of a turn."""
_A0, _A1, _A2, _A3, _A4, _A5 = (
    np.float32(number)
    for number in (
        3.3333334327e-01, -2.0000000298e-01, 1.4285714924e-01, -1.1111110449e-01, 9.0908870101e-02, -7.6918758452e-02,
    )
)  # fmt: skip
_A6, _A7, _A8, _A9, _A10 = (
    np.float32(number)
    for number in (6.6610731184e-02, -5.8335702866e-02, 4.9768779427e-02, -3.6531571299e-02, 1.6285819933e-02)
)


@device_kernel
def sine_cosine(angle: np.float32) -> tuple[np.float32, np.float32]:
    """Sine and cosine of an angle of a few turns at most."""
    wide = float(angle)
    quarter = int(math.floor(wide * _PER_HALF_PI + 0.5))  # noqa: RUF046  # on a GPU, `floor` gives a float
    rest = wide - quarter * _HALF_PI
    square = rest * rest
    fourth = square * square
    third = square * rest
    sine = (rest + third * _S1) + (third * square) * (_S2 + square * _S3)
    cosine = ((1.0 + square * _C1) + fourth * _C2) + (fourth * square) * (_C3 + square * _C4)
    is_odd = quarter & 1 == 1
    first = cosine if is_odd else sine
    second = sine if is_odd else cosine
    first = -first if quarter & 2 else first
    second = -second if (quarter + 1) & 2 else second
    return np.float32(first), np.float32(second)


@device_kernel
def arc_tangent(y: np.float32, x: np.float32) -> np.float32:
    """The angle of the direction (x, y) from the x axis, from -pi to pi; 0 where both are 0."""
    size_x = abs(x)
    size_y = abs(y)
    ratio = size_y / (size_x if (size_x > _ZERO) | (size_y > _ZERO) else _ONE)
    above = ratio
    below = _ONE
    high = _ZERO
    low = _ZERO
    if ratio >= _TO3:
        above, below, high, low = -_ONE if ratio < _STEEP else _ZERO, ratio, _HIGH3, _LOW3
    elif ratio >= _TO2:
        above, below, high, low = ratio - _ONE_AND_HALF, _ONE + _ONE_AND_HALF * ratio, _HIGH2, _LOW2
    elif ratio >= _TO1:
        above, below, high, low = ratio - _ONE, ratio + _ONE, _HIGH1, _LOW1
    elif ratio >= _TO0:
        above, below, high, low = _TWO * ratio - _ONE, _TWO + ratio, _HIGH0, _LOW0
    t = above / below
    z = t * t
    w = z * z
    odd = z * (_A0 + w * (_A2 + w * (_A4 + w * (_A6 + w * (_A8 + w * _A10)))))
    even = w * (_A1 + w * (_A3 + w * (_A5 + w * (_A7 + w * _A9))))
    angle = high - ((t * (odd + even) - low) - t)
    angle = _PI - (angle - _PI_REST) if x < _ZERO else angle
    return -angle if y < _ZERO else angle
