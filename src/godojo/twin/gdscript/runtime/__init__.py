"""What generated code calls: Godot's functions and types, bit for bit, in plain Python and compiled alike."""

from godojo.twin.gdscript.runtime.arrays import (
    append_array,
    bool_array,
    clear,
    contains,
    count,
    duplicate,
    equal_arrays,
    erase,
    fill,
    find,
    float_array,
    insert,
    int_array,
    largest,
    resize,
    size,
    smallest,
    sort,
    vector2_array,
    vector2i_array,
    vector3_array,
    vector3i_array,
)
from godojo.twin.gdscript.runtime.chance import (
    new_random,
    pick_random,
    randf,
    randf_range,
    randfn,
    randi,
    randi_range,
    rng_randf,
    rng_randf_range,
    seed,
    shuffle,
)
from godojo.twin.gdscript.runtime.scalars import *
from godojo.twin.gdscript.runtime.vector2 import Vector2
from godojo.twin.gdscript.runtime.vector3 import Vector3
from godojo.twin.gdscript.runtime.vector_ints import Vector2i, Vector3i
