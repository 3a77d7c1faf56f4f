"""Dictionaries: an array of keys in the order in which they were added, one of values, and one that finds keys.

`slots[0]` is the number of keys that the other slots know, or something else if they have to be filled anew. Each of
these is 0, or 1 + the place of a key whose hash leads here or to the slots just before.
"""

import numpy as np
from numba import types
from numba.extending import overload

from godojo.twin.gdscript.runtime.arrays import assign_array, clear
from godojo.twin.gdscript.runtime.jit import jitable

i64 = np.int64
FEW = 8
"""So few keys are searched one by one."""
_FRACTIONS = 64.0


def hash_of(key):
    """A number that equal keys share."""
    if hasattr(key, "_offset"):
        return i64(key._offset)
    parts = [getattr(key, name) for name in ("_x", "_y", "_z") if hasattr(key, name)] or [key]
    number = 0
    for part in parts:
        whole = part * _FRACTIONS if isinstance(part, (float, np.floating)) else part
        number = number * 31 + (int(whole) if np.isfinite(whole) else 0)
    return i64(number % 2**31)


@overload(hash_of)
def _hash_of(key):
    if isinstance(key, (types.Integer, types.Boolean)):
        return lambda key: i64(key)
    if isinstance(key, types.Float):
        return lambda key: i64(key * _FRACTIONS)
    name = str(key)
    is_whole, scale = "i" in name.rpartition("Vector")[2], _FRACTIONS
    if "Vector2" in name:
        if is_whole:
            return lambda key: i64(key._x) * 31 + i64(key._y)
        return lambda key: i64(key._x * scale) * 31 + i64(key._y * scale)
    if "Vector3" in name:
        if is_whole:
            return lambda key: (i64(key._x) * 31 + i64(key._y)) * 31 + i64(key._z)
        return lambda key: (i64(key._x * scale) * 31 + i64(key._y * scale)) * 31 + i64(key._z * scale)
    return None


@jitable
def _first_slot(slots, key):
    """Where the search for a key begins."""
    number = hash_of(key)
    return (number ^ (number >> 15)) & (len(slots) - 2)


@jitable
def _note(keys, slots, place):
    """Notes where a key is."""
    at = _first_slot(slots, keys[place])
    while slots[1 + at] != 0:
        at = (at + 1) & (len(slots) - 2)
    slots[1 + at] = place + 1


@jitable
def _fill_slots(keys, slots):
    for at in range(len(slots)):
        slots[at] = 0
    for place in range(len(keys)):
        _note(keys, slots, place)
    slots[0] = len(keys)


@jitable
def key_index(keys, slots, key):
    """Where a dictionary has a key; behind its end if it has none, which is an error where it is read."""
    count = len(keys)
    if count <= FEW:
        for index in range(count):
            if keys[index] == key:
                return i64(index)
        return i64(count)
    if slots[0] != count:
        _fill_slots(keys, slots)
    at = _first_slot(slots, key)
    while slots[1 + at] != 0:
        place = i64(slots[1 + at]) - 1
        if keys[place] == key:
            return place
        at = (at + 1) & (len(slots) - 2)
    return i64(count)


@jitable
def has_key(keys, slots, key):
    return key_index(keys, slots, key) < len(keys)


@jitable
def set_key(keys, values, slots, key, value):
    count = len(keys)
    place = key_index(keys, slots, key)
    if place < count:
        values[place] = value
        return
    keys.append(key)
    values.append(value)
    if slots[0] == count and len(keys) > count:
        _note(keys, slots, count)
        slots[0] = count + 1


@jitable
def erase_key(keys, values, slots, key):
    place = key_index(keys, slots, key)
    if place < len(keys):
        keys.pop(place)
        values.pop(place)
        slots[0] = -1


@jitable
def value_or(keys, values, slots, key, default):
    place = key_index(keys, slots, key)
    return values[place] if place < len(keys) else default


@jitable
def clear_map(keys, values, slots):
    clear(keys)
    clear(values)
    slots[0] = -1


@jitable
def assign_map(keys, values, slots, other_keys, other_values):
    """A copy of another dictionary."""
    assign_array(keys, other_keys)
    assign_array(values, other_values)
    slots[0] = -1
