"""Arrays of numbers and vectors: Python's lists, and Numba's typed lists where the code is compiled.

Both are references, as in GDScript: a second name for an array sees what is written through the first.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, overload, type_callable
from numba.typed import List

from godojo.twin.gdscript.runtime.chance import new_random, random_type
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.gdscript.runtime.vector2 import Vector2
from godojo.twin.gdscript.runtime.vector3 import Vector3
from godojo.twin.gdscript.runtime.vector_ints import Vector2i, Vector3i
from godojo.twin.gdscript.runtime.vector_types import VECTOR_TYPES

_NUMBERS = (types.Number, types.Boolean)
_BYTES = ir.IntType(8).as_pointer()


def append(array, value):
    array.append(value)


@type_callable(append)
def _type_append(context):
    return lambda array, value: types.none


@lower_builtin(append, types.Any, types.Any)
def _append_any(context, builder, sig, args):
    return context.compile_internal(builder, lambda array, value: array.append(value), sig, args)


@lower_builtin(append, types.ListType, types.Any)
def _append_item(context, builder, sig, args):
    """Without the bound method `array.append`, which counts references to the array."""
    item = sig.args[0].item_type
    if not isinstance(item, _NUMBERS):
        return _append_any(context, builder, sig, args)
    data = context.data_model_manager[item].as_data(builder, context.cast(builder, args[1], sig.args[1], item))
    place = builder.bitcast(cgutils.alloca_once_value(builder, data), _BYTES)
    kind = ir.FunctionType(ir.IntType(32), [_BYTES, _BYTES])
    function = cgutils.get_or_insert_function(builder.module, kind, "numba_list_append")
    builder.call(function, [_list_of(context, builder, sig, args), place])
    return context.get_dummy_value()


def _list_of(context, builder, sig, args):
    return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).data


def item_at(array, index):
    """An item of an array that has it."""
    return array[index]


@type_callable(item_at)
def _type_item_at(context):
    def item(array, index):
        return array.item_type if isinstance(array, types.ListType) else array.item

    return item


@lower_builtin(item_at, types.Any, types.Any)
def _any_item_at(context, builder, sig, args):
    return context.compile_internal(builder, lambda array, index: array[index], sig, args)


@lower_builtin(item_at, types.ListType, types.Any)
def _list_item_at(context, builder, sig, args):
    """Without the check of the index, and without counting references to the array."""
    if not isinstance(sig.return_type, _NUMBERS):
        return _any_item_at(context, builder, sig, args)
    model = context.data_model_manager[sig.return_type]
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_BYTES, [_BYTES]), "numba_list_base_ptr")
    first = builder.call(function, [_list_of(context, builder, sig, args)])
    items = builder.bitcast(first, model.get_data_type().as_pointer())
    return model.load_from_data_pointer(builder, builder.gep(items, [args[1]]))


def bool_array(*items):
    return list(items)


def int_array(*items):
    return list(items)


def float_array(*items):
    return list(items)


def vector2_array(*items):
    return list(items)


def vector3_array(*items):
    return list(items)


def vector2i_array(*items):
    return list(items)


def vector3i_array(*items):
    return list(items)


def ref_array(null, *items):
    """An array of nodes; `null` gives their class."""
    return list(items)


@overload(ref_array)
def _ref_array(null, *items):
    element = null

    def empty(null, *items):
        return List.empty_list(element)

    def filled(null, *items):
        array = List.empty_list(element)
        for item in items:
            array.append(item)
        return array

    return filled if items else empty


ARRAYS = {
    bool_array: types.boolean,
    int_array: types.int64,
    float_array: types.float64,
    vector2_array: VECTOR_TYPES[Vector2],
    vector3_array: VECTOR_TYPES[Vector3],
    vector2i_array: VECTOR_TYPES[Vector2i],
    vector3i_array: VECTOR_TYPES[Vector3i],
}
"""The type of the elements, by the function that makes the array."""


def _register(function, element):
    @overload(function)
    def make(*items):
        if not items:
            return lambda *items: List.empty_list(element)

        def filled(*items):
            array = List.empty_list(element)
            for item in items:
                append(array, item)
            return array

        return filled


for _function, _element in ARRAYS.items():
    _register(_function, _element)


@jitable
def size(array):
    return np.int64(len(array))


@jitable
def contains(array, value):
    for i in range(len(array)):
        if array[i] == value:
            return True
    return False


@jitable
def find(array, value):
    for i in range(len(array)):
        if array[i] == value:
            return np.int64(i)
    return np.int64(-1)


@jitable
def count(array, value):
    number = np.int64(0)
    for i in range(len(array)):
        if array[i] == value:
            number += np.int64(1)
    return number


@jitable
def erase(array, value):
    for i in range(len(array)):
        if array[i] == value:
            array.pop(i)
            return


@jitable
def resize(array, length, filler):
    while len(array) > length:
        array.pop()
    while len(array) < length:
        array.append(filler)


@jitable
def fill(array, value):
    for i in range(len(array)):
        array[i] = value


@jitable
def append_array(array, other):
    for i in range(len(other)):
        append(array, item_at(other, i))


@jitable
def insert(array, place, value):
    array.insert(place, value)


@jitable
def largest(array):
    best = array[0]
    for i in range(1, len(array)):
        if best < array[i]:
            best = array[i]
    return best


@jitable
def smallest(array):
    best = array[0]
    for i in range(1, len(array)):
        if array[i] < best:
            best = array[i]
    return best


@jitable
def clear(array):
    while len(array) > 0:
        array.pop()


@jitable
def equal_arrays(a, b):
    if len(a) != len(b):
        return False
    for i in range(len(a)):
        if a[i] != b[i]:
            return False
    return True


@jitable
def sort(array):
    """By insertion: arrays of games are short, and equal numbers cannot be told apart."""
    for i in range(1, len(array)):
        item = array[i]
        j = i - 1
        while j >= 0 and item < array[j]:
            array[j + 1] = array[j]
            j -= 1
        array[j + 1] = item


@overload(new_random)
def _new_random():
    from numba.experimental.structref import new

    from godojo.twin.gdscript.runtime.chance import _DEFAULT_SEED, seed

    def make():
        generator = new(random_type)  # type: ignore[call-arg, var-annotated]
        seed(generator, _DEFAULT_SEED)
        return generator

    return make


def duplicate(array):
    return list(array)


@overload(duplicate)
def _duplicate(array):
    return lambda array: array.copy()


@jitable
def copied(empty, array):
    """A new array of the same items, in an empty one of the right type."""
    for i in range(len(array)):
        empty.append(array[i])
    return empty


@jitable
def sliced(empty, array, begin, end):
    """The items from `begin` to before `end`, in an empty array of the right type; negative ones count from the end."""
    length = len(array)
    begin = max(begin + length, 0) if begin < 0 else min(begin, length)
    end = max(end + length, 0) if end < 0 else min(end, length)
    for i in range(begin, end):
        empty.append(array[i])
    return empty


@jitable
def joined(empty, left, right):
    """A new array of both, in an empty one of the right type."""
    for i in range(len(left)):
        empty.append(left[i])
    for i in range(len(right)):
        empty.append(right[i])
    return empty


@jitable
def row_of(empty, items, starts, index):
    """A copy of a row of an array of arrays."""
    if index < 0:
        index += len(starts)
    end = starts[index + 1] if index + 1 < len(starts) else len(items)
    for i in range(starts[index], end):
        empty.append(items[i])
    return empty


@jitable
def assign_array(target, source):
    """What a member array does on assignment: it is filled anew, in place."""
    length = len(source)
    while len(target) > length:
        target.pop()
    for i in range(len(target)):
        target[i] = source[i]
    for i in range(len(target), length):
        target.append(source[i])


@jitable
def write_numbers(out, at, array):
    """Writes an array of numbers into a flat one; returns where the next one begins."""
    for i in range(len(array)):
        out[at + i] = item_at(array, i)
    return at + len(array)


def range_array(*numbers):
    """`range()` as an array."""
    return [np.int64(one) for one in range(*map(int, numbers))]


@overload(range_array)
def _range_array(*numbers):
    def made(*numbers):
        array = List.empty_list(types.int64)
        for one in range(*numbers):
            array.append(one)
        return array

    return made
