"""Godot's random numbers: PCG32, the same numbers from the same seed.

Scripts share the engine's global generator (`seed`, `randf`, …) or own a `RandomNumberGenerator`. The two differ: the
global `randf_range` draws 64-bit floats, that of an object 32-bit ones.
"""

import numpy as np
from numba import types
from numba.experimental import structref

from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.gdscript.runtime.scalars import TAU, cos, log

u32, u64 = np.uint32, np.uint64
_MULTIPLIER, _INCREMENT = u64(6364136223846793005), u64(1442695040888963407)
_ONE, _LOW = u64(1), u64(0xFFFFFFFF)
_DEFAULT_SEED = u64(12047754176567800795)


@structref.register
class RandomType(types.StructRef):
    """The compiled form of `RandomNumberGenerator`."""


class RandomNumberGenerator(structref.StructRefProxy):
    """A generator that Python holds but compiled code owns."""


structref.define_boxing(RandomType, RandomNumberGenerator)
random_type = RandomType([("state", types.uint64), ("increment", types.uint64)])


class PythonRandom:
    """The same generator where nothing is compiled."""

    state: np.uint64
    increment: np.uint64


def new_random():
    """`RandomNumberGenerator.new()`; Godot seeds it by chance, so a script that wants the same numbers seeds it."""
    generator = PythonRandom()
    seed(generator, _DEFAULT_SEED)
    return generator


@jitable
def seed(generator, value):
    generator.state = u64(0)
    generator.increment = (_INCREMENT << _ONE) | _ONE
    _next(generator)
    generator.state += u64(value)
    _next(generator)


@jitable
def _next(generator):
    """32 random bits, as an unsigned 64-bit integer."""
    state = generator.state
    generator.state = state * _MULTIPLIER + generator.increment
    shifted = (((state >> u64(18)) ^ state) >> u64(27)) & _LOW
    turn = state >> u64(59)
    return ((shifted >> turn) | (shifted << ((u64(32) - turn) & u64(31)))) & _LOW


@jitable
def _below(generator, bound):
    threshold = (u64(0x100000000) - bound) % bound
    bits = _next(generator)
    while bits < threshold:
        bits = _next(generator)
    return bits % bound


@jitable
def _leading_zeros(bits):
    count = 0
    while bits < u64(0x80000000):
        bits = bits << _ONE
        count += 1
    return count


@jitable
def _float64(generator):
    """A uniform 64-bit float: the exponent from one draw's leading zeros, the digits from two more."""
    zeros = _next(generator)
    if zeros == u64(0):
        return 0.0
    high = _next(generator)
    digits = (high << u64(32)) | _next(generator) | u64(0x8000000000000001)
    return np.float64(digits) * 2.0 ** np.float64(-64 - _leading_zeros(zeros))


@jitable
def _float32(generator):
    zeros = _next(generator)
    if zeros == u64(0):
        return np.float32(0.0)
    digits = _next(generator) | u64(0x80000001)
    return np.float32(np.float64(np.float32(digits)) * 2.0 ** np.float64(-32 - _leading_zeros(zeros)))


@jitable
def randi(generator):
    return np.int64(_next(generator))


@jitable
def randf(generator):
    """The global one: 32 bits of chance, as Godot divides them."""
    return np.float64(np.float32(_next(generator)) / np.float32(4294967295.0))


@jitable
def randf_range(generator, low, high):
    return _float64(generator) * (high - low) + low


@jitable
def randfn(generator, mean, deviation):
    first = _float64(generator)
    if first < 0.00001:
        first += 0.00001
    return mean + deviation * (cos(TAU * _float64(generator)) * np.sqrt(-2.0 * log(first)))


@jitable
def randi_range(generator, low, high):
    """Both ends included."""
    if low == high:
        return low
    if high < low:
        low, high = high, low
    span = u64(high - low) & _LOW
    if span == _LOW:
        return np.int64(_next(generator)) + low
    return np.int64(_below(generator, span + _ONE)) + low


@jitable
def rng_randf(generator):
    return np.float64(_float32(generator))


@jitable
def rng_randf_range(generator, low, high):
    return np.float64(_float32(generator) * (np.float32(high) - np.float32(low)) + np.float32(low))


@jitable
def pick_random(generator, array):
    return array[np.int64(_next(generator) % u64(len(array)))]


@jitable
def shuffle(generator, array):
    for i in range(len(array) - 1, 0, -1):
        j = np.int64(_next(generator) % u64(i + 1))
        array[i], array[j] = array[j], array[i]
