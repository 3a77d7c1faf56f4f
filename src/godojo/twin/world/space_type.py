"""A world's physics as a Numba type: the address of the row alone.

`Space` has many arrays. As arguments they are a hundred words, which every call copies. Kernels only read the
attributes of a space, so they take this type as well, whose arrays are made of the world's header where they are used.
"""

# mypy: ignore-errors
# Numba's extension points have no types.

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import make_array, populate_array

from godojo.twin.physics.space import PAIR, ROSTER, SHAPE, space_dtype
from godojo.twin.physics_2d import space as flat
from godojo.twin.world.tables import NATIVE

SHARED = ("shapes", "vertices", "pairs", "roster")
_I64 = ir.IntType(64)


def space_arrays(is_flat=False):
    """The type of the items of each array of a space, 2D or 3D, and its first extents."""
    shape = flat.SHAPE if is_flat else SHAPE
    found = {"shapes": (shape, ()), "vertices": (np.dtype(np.float32), ()), "pairs": (PAIR, ()), "roster": (ROSTER, ())}
    own = flat.space_dtype(1, 1, 1) if is_flat else space_dtype(1, 1)
    for name, (kind, *_) in own.fields.items():
        base, shape = kind.subdtype or (kind, (1,))
        found[name] = (base, shape[:-1])
    return found


class SpaceType(types.Type):
    """Of Jolt; also where it does not matter which engine it is."""

    is_flat, is_godot = False, False

    def __init__(self):
        self.arrays = space_arrays(self.is_flat)
        super().__init__(type(self).__name__)


class GodotSpaceType(SpaceType):
    """Of GodotPhysics3D (see `godojo.twin.physics.engines`)."""

    is_godot = True


class FlatSpaceType(SpaceType):
    """Of GodotPhysics2D."""

    is_flat = True


SPACE, GODOT_SPACE, FLAT_SPACE = SpaceType(), GodotSpaceType(), FlatSpaceType()


@register_model(SpaceType)
@register_model(GodotSpaceType)
@register_model(FlatSpaceType)
class _SpaceModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("base", types.voidptr)])


@infer_getattr
class _SpaceAttributes(AttributeTemplate):
    key = SpaceType

    def generic_resolve(self, space, name):
        if name in space.arrays:
            dtype, extents = space.arrays[name]
            return types.Array(numba.from_dtype(dtype), len(extents) + 1 + (name == "vertices"), "C")
        return None


def _header(builder, base, name):
    """A number of the world's header. None of those changes while kernels run, so loops need not load them again."""
    field = NATIVE["World"].by_name[name]
    kind = {"int": _I64, "int32": ir.IntType(32)}[field.type]
    place = builder.gep(base, [_I64(field.offset)])
    value = builder.load(builder.bitcast(place, kind.as_pointer()))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value if kind is _I64 else builder.sext(value, _I64)


@lower_getattr_generic(SpaceType)
def _get_array(context, builder, typ, value, name):
    base = cgutils.create_struct_proxy(typ)(context, builder, value=value).base
    dtype, extents = typ.arrays[name]
    shape = [*map(_I64, extents), _header(builder, base, f"{name}_count"), *([_I64(3)] if name == "vertices" else [])]
    at = _header(builder, base, f"{name}_at")
    kind = _SpaceAttributes(context.typing_context).generic_resolve(typ, name)
    array = make_array(kind)(context, builder)
    data = builder.inttoptr(at, array.data.type) if name in SHARED else builder.gep(base, [at])
    strides, stride = [], _I64(dtype.itemsize)
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, extent)
    populate_array(
        array,
        data=builder.bitcast(data, array.data.type),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=_I64(dtype.itemsize),
        meminfo=None,
    )
    return array._getvalue()


def _cast(kind):
    """What makes a space of an address."""

    def make(context, builder, sig, args):
        space = cgutils.create_struct_proxy(kind)(context, builder)
        space.base = args[0]
        return space._getvalue()

    return kind(types.voidptr), make


@intrinsic
def space_at(typingctx, base):
    """The physics of the world in the row at an address."""
    return _cast(SPACE)


@intrinsic
def godot_space_at(typingctx, base):
    """As `space_at`, of GodotPhysics3D."""
    return _cast(GODOT_SPACE)


@intrinsic
def space_2d_at(typingctx, base):
    """As `space_at`, of GodotPhysics2D."""
    return _cast(FLAT_SPACE)
