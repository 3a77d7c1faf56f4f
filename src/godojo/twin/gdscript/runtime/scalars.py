"""GDScript's numbers: 64-bit integers that wrap, 64-bit floats, and the functions of `@GlobalScope` over them."""

import math

import numpy as np

from godojo.twin.gdscript.runtime.jit import jitable, libm, libm32

f32, f64, i64 = np.float32, np.float64, np.int64
PI, TAU, INF, NAN = f64(math.pi), f64(math.tau), f64(math.inf), f64(math.nan)
_EPSILON = 0.00001  # Godot's CMP_EPSILON
_SMALLEST = -(2**63)

sin, cos, tan = libm("sin"), libm("cos"), libm("tan")
sinh, cosh, tanh = libm("sinh"), libm("cosh"), libm("tanh")
atan, atan2, exp, log, power = libm("atan"), libm("atan2"), libm("exp"), libm("log"), libm("pow")
_asin, _acos = libm("asin"), libm("acos")
sin32, cos32 = libm32("sin"), libm32("cos")


@jitable
def to_int(x):
    """Towards zero; whatever 64 bits cannot hold becomes the smallest integer, as on x86."""
    if not (-9223372036854775808.0 <= x < 9223372036854775808.0):
        return i64(_SMALLEST)
    return i64(x)


@jitable
def float32(x):
    """Rounds to the 32 bits that a `PackedFloat32Array` keeps."""
    return f64(f32(x))


@jitable
def int32(x):
    """Wraps to the 32 bits that a `PackedInt32Array` keeps."""
    low = x & i64(0xFFFFFFFF)
    if low >= i64(0x80000000):
        return low - i64(0x100000000)
    return low


@jitable
def uint8(x):
    return x & i64(0xFF)


@jitable
def int_div(a, b):
    """Towards zero, as in C."""
    if b == i64(0):
        raise ZeroDivisionError
    quotient = a // b
    if quotient < i64(0) and quotient * b != a:
        quotient += i64(1)
    return quotient


@jitable
def int_mod(a, b):
    """With the sign of the dividend, as in C."""
    if b == i64(0):
        raise ZeroDivisionError
    rest = a % b
    if rest != i64(0) and (a < i64(0)) != (b < i64(0)):
        rest -= b
    return rest


@jitable
def int_pow(a, b):
    """Through 64-bit floats, as Godot does."""
    return to_int(power(f64(a), f64(b)))


@jitable
def float_pow(a, b):
    return power(a, b)


@jitable
def posmod(a, b):
    rest = int_mod(a, b)
    if (rest < i64(0) and b > i64(0)) or (rest > i64(0) and b < i64(0)):
        rest += b
    return rest


@jitable
def fmod(a, b):
    return np.fmod(a, b)


@jitable
def fposmod(a, b):
    rest = np.fmod(a, b)
    if (rest < 0.0 and b > 0.0) or (rest > 0.0 and b < 0.0):
        rest += b
    return rest + 0.0


@jitable
def floor(x):
    return np.floor(x)


@jitable
def ceil(x):
    return np.ceil(x)


@jitable
def round_away(x):
    """Halves go away from zero, as in C."""
    whole = np.trunc(x)
    if abs(x - whole) >= 0.5:
        whole += 1.0 if x > 0.0 else -1.0
    return np.copysign(whole, x)


@jitable
def floori(x):
    return to_int(np.floor(x))


@jitable
def ceili(x):
    return to_int(np.ceil(x))


@jitable
def roundi(x):
    return to_int(round_away(x))


@jitable
def absolute(x):
    return abs(x)


@jitable
def int_abs(x):
    return x if x > i64(0) else -x


@jitable
def sign(x):
    return f64(1.0) if x > 0.0 else (f64(-1.0) if x < 0.0 else f64(0.0))


@jitable
def int_sign(x):
    return i64(1) if x > i64(0) else (i64(-1) if x < i64(0) else i64(0))


@jitable
def maximum(a, b):
    return b if a < b else a


@jitable
def minimum(a, b):
    return b if a > b else a


@jitable
def clamp(x, low, high):
    if x < low:
        x = low
    if x > high:
        x = high
    return x


@jitable
def sqrt(x):
    return np.sqrt(x)


@jitable
def asin(x):
    return -PI / 2 if x < -1.0 else (PI / 2 if x > 1.0 else _asin(x))


@jitable
def acos(x):
    return PI if x < -1.0 else (f64(0.0) if x > 1.0 else _acos(x))


@jitable
def atan2_32(y, x):
    return f32(atan2(f64(y), f64(x)))


@jitable
def asin32(x):
    return f32(asin(f64(x)))


@jitable
def acos32(x):
    return f32(acos(f64(x)))


@jitable
def deg_to_rad(x):
    return x * (PI / 180.0)


@jitable
def rad_to_deg(x):
    return x * (180.0 / PI)


@jitable
def lerp(a, b, weight):
    return a + (b - a) * weight


@jitable
def inverse_lerp(a, b, x):
    return (x - a) / (b - a)


@jitable
def remap(x, in_low, in_high, out_low, out_high):
    return lerp(out_low, out_high, inverse_lerp(in_low, in_high, x))


@jitable
def move_toward(a, b, delta):
    return b if abs(b - a) <= delta else a + sign(b - a) * delta


@jitable
def angle_difference(a, b):
    difference = np.fmod(b - a, TAU)
    return np.fmod(2.0 * difference, TAU) - difference


@jitable
def lerp_angle(a, b, weight):
    return a + angle_difference(a, b) * weight


@jitable
def ease(x, curve):
    x = clamp(x, 0.0, 1.0)
    if curve > 0.0:
        return 1.0 - float_pow(1.0 - x, 1.0 / curve) if curve < 1.0 else float_pow(x, curve)
    if curve < 0.0:
        if x < 0.5:
            return float_pow(x * 2.0, -curve) * 0.5
        return (1.0 - float_pow(1.0 - (x - 0.5) * 2.0, -curve)) * 0.5 + 0.5
    return 0.0


@jitable
def rotate_toward(a, b, delta):
    difference = angle_difference(a, b)
    size = abs(difference)
    return a + clamp(delta, size - PI, size) * (1.0 if difference >= 0.0 else -1.0)


@jitable
def smoothstep(low, high, x):
    if is_equal_approx(low, high):
        if low <= high:
            return f64(0.0) if x <= low else f64(1.0)
        return f64(1.0) if x <= high else f64(0.0)
    s = clamp((x - low) / (high - low), 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


@jitable
def snapped(x, step):
    return np.floor(x / step + 0.5) * step if step != 0.0 else x


@jitable
def snappedi(x, step):
    return to_int(snapped(x, f64(step)))


@jitable
def wrapf(x, low, high):
    span = high - low
    if is_zero_approx(span):
        return low
    result = x - span * np.floor((x - low) / span)
    return low if is_equal_approx(result, high) else result


@jitable
def wrapi(x, low, high):
    span = high - low
    return low if span == i64(0) else low + int_mod(int_mod(x - low, span) + span, span)


@jitable
def pingpong(x, length):
    if length == 0.0:
        return f64(0.0)
    part = (x - length) / (length * 2.0)
    return abs((part - np.floor(part)) * length * 2.0 - length)


@jitable
def is_equal_approx(a, b):
    if a == b:
        return True
    tolerance = _EPSILON * abs(a)
    if tolerance < _EPSILON:
        tolerance = _EPSILON
    return abs(a - b) < tolerance


@jitable
def is_zero_approx(x):
    return abs(x) < _EPSILON


@jitable
def is_nan(x):
    return x != x


@jitable
def is_inf(x):
    return abs(x) == np.inf


@jitable
def is_finite(x):
    return abs(x) < np.inf
