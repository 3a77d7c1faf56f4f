"""What generated code calls: Godot's functions and types, bit for bit, in plain Python and compiled alike."""

from godojo.twin.gdscript.runtime.arrays import (
    append,
    append_array,
    assign_array,
    bool_array,
    clear,
    contains,
    copied,
    count,
    duplicate,
    equal_arrays,
    erase,
    fill,
    find,
    float_array,
    insert,
    int_array,
    joined,
    largest,
    range_array,
    ref_array,
    resize,
    row_of,
    size,
    sliced,
    smallest,
    sort,
    vector2_array,
    vector2i_array,
    vector3_array,
    vector3i_array,
    write_numbers,
)
from godojo.twin.gdscript.runtime.basis import (
    Basis,
    Quaternion,
    basis_from_axis_angle,
    basis_from_euler,
    basis_from_quaternion,
    basis_from_scale,
    basis_looking_at,
    basis_of,
    identity_basis,
    quaternion_from_axis_angle,
    quaternion_from_euler,
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
from godojo.twin.gdscript.runtime.maps import (
    assign_map,
    clear_map,
    erase_key,
    has_key,
    key_index,
    set_key,
    value_or,
)
from godojo.twin.gdscript.runtime.rects import Rect2
from godojo.twin.gdscript.runtime.rows import cell_index, clear_rows, insert_row, take_row
from godojo.twin.gdscript.runtime.scalars import *
from godojo.twin.gdscript.runtime.transforms import (
    Transform2D,
    Transform3D,
    identity_transform,
    identity_transform2d,
    transform2d_from_angle,
    transform2d_of,
)
from godojo.twin.gdscript.runtime.vector2 import Vector2, vector2_from_angle
from godojo.twin.gdscript.runtime.vector3 import Vector3
from godojo.twin.gdscript.runtime.vector_ints import (
    Vector2i,
    Vector3i,
    to_vector2,
    to_vector2i,
    to_vector3,
    to_vector3i,
)
