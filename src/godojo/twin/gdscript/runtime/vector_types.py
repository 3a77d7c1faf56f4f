"""The vectors' compiled form: Numba learns their layout here and compiles the very methods of the Python classes."""

import operator
from types import FunctionType

from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_constant
from numba.extending import (
    NativeValue,
    box,
    lower_builtin,
    make_attribute_wrapper,
    models,
    overload,
    overload_attribute,
    overload_method,
    register_model,
    type_callable,
    typeof_impl,
    unbox,
)

from godojo.twin.gdscript.runtime import components
from godojo.twin.gdscript.runtime.basis import Basis, Quaternion
from godojo.twin.gdscript.runtime.rects import Rect2
from godojo.twin.gdscript.runtime.transforms import Transform2D, Transform3D
from godojo.twin.gdscript.runtime.vector2 import Vector2
from godojo.twin.gdscript.runtime.vector3 import Vector3
from godojo.twin.gdscript.runtime.vector_ints import Vector2i, Vector3i


class ValueType(types.Type):
    """A struct: numbers of one type, or other values."""

    cls: type
    fields: dict[str, types.Type]

    def __init__(self) -> None:
        super().__init__(name=self.cls.__name__)


class VectorType(ValueType):
    """A struct of two or three numbers of the same type."""


class Vector2Type(VectorType):
    """Compiled `Vector2`."""

    cls, fields = Vector2, dict.fromkeys(("x", "y"), types.float32)


class Vector3Type(VectorType):
    """Compiled `Vector3`."""

    cls, fields = Vector3, dict.fromkeys(("x", "y", "z"), types.float32)


class Vector2iType(VectorType):
    """Compiled `Vector2i`."""

    cls, fields = Vector2i, dict.fromkeys(("x", "y"), types.int32)


class Vector3iType(VectorType):
    """Compiled `Vector3i`."""

    cls, fields = Vector3i, dict.fromkeys(("x", "y", "z"), types.int32)


class QuaternionType(ValueType):
    """Compiled `Quaternion`."""

    cls, fields = Quaternion, dict.fromkeys(("x", "y", "z", "w"), types.float32)


_vector2, _vector3 = Vector2Type(), Vector3Type()


class BasisType(ValueType):
    """Compiled `Basis`."""

    cls, fields = Basis, dict.fromkeys(("r0", "r1", "r2"), _vector3)


_basis = BasisType()


class Transform3DType(ValueType):
    """Compiled `Transform3D`."""

    cls, fields = Transform3D, {"basis": _basis, "origin": _vector3}


class Transform2DType(ValueType):
    """Compiled `Transform2D`."""

    cls, fields = Transform2D, dict.fromkeys(("columnx", "columny", "origin"), _vector2)


class Rect2Type(ValueType):
    """Compiled `Rect2`."""

    cls, fields = Rect2, dict.fromkeys(("position", "size"), _vector2)


_VALUES: list[ValueType] = [
    _vector2,
    _vector3,
    Vector2iType(),
    Vector3iType(),
    QuaternionType(),
    _basis,
    Transform3DType(),
    Transform2DType(),
    Rect2Type(),
]
VECTOR_TYPES = {kind.cls: kind for kind in _VALUES}
"""The compiled type of each value of GDScript that is a struct."""
_WIDE = {types.float32: types.float64, types.int32: types.int64}
_BINARY = {"__add__": operator.add, "__sub__": operator.sub, "__mul__": operator.mul, "__truediv__": operator.truediv}
_COMPARED = {"__eq__": operator.eq, "__ne__": operator.ne}


def _register(kind: ValueType) -> None:
    cls, typ = kind.cls, type(kind)
    names = list(kind.fields)

    @register_model(typ)
    class Model(models.StructModel):
        def __init__(self, manager, fe_type):
            super().__init__(manager, fe_type, list(fe_type.fields.items()))

    @typeof_impl.register(cls)
    def typeof(value, context):
        return kind

    @type_callable(cls)
    def construct(context):
        def two(x, y):
            return kind

        def three(x, y, z):
            return kind

        def four(x, y, z, w):
            return kind

        return {2: two, 3: three, 4: four}[len(names)]

    @lower_builtin(cls, types.VarArg(types.Any))
    def lower(context, builder, sig, args):
        struct = cgutils.create_struct_proxy(kind)(context, builder)
        for i, name in enumerate(names):
            setattr(struct, name, context.cast(builder, args[i], sig.args[i], kind.fields[name]))
        return struct._getvalue()

    @box(typ)
    def to_python(typ, value, c):
        struct = cgutils.create_struct_proxy(typ)(c.context, c.builder, value=value)
        numbers = []
        for name in names:
            field = typ.fields[name]
            wide = _WIDE.get(field, field)
            number = c.context.cast(c.builder, getattr(struct, name), field, wide)
            numbers.append(c.pyapi.from_native_value(wide, number))
        made = c.pyapi.unserialize(c.pyapi.serialize_object(cls))
        result = c.pyapi.call_function_objargs(made, numbers)
        for one in (made, *numbers):
            c.pyapi.decref(one)
        return result

    @unbox(typ)
    def from_python(typ, value, c):
        struct = cgutils.create_struct_proxy(typ)(c.context, c.builder)
        for name in names:
            field = typ.fields[name]
            wide = _WIDE.get(field, field)
            number = c.pyapi.object_getattr_string(value, f"_{name}")
            native = c.pyapi.to_native_value(wide, number).value
            setattr(struct, name, c.context.cast(c.builder, native, wide, field))
            c.pyapi.decref(number)
        return NativeValue(struct._getvalue(), is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))

    @lower_constant(typ)
    def constant(context, builder, typ, value):
        struct = cgutils.create_struct_proxy(typ)(context, builder)
        for name in names:
            part = getattr(value, f"_{name}")
            setattr(struct, name, context.get_constant_generic(builder, typ.fields[name], part))
        return struct._getvalue()

    for name in names:
        make_attribute_wrapper(typ, name, f"_{name}")
    for name, function in vars(cls).items():
        if isinstance(function, property):
            overload_attribute(typ, name, strict=False)(_always(function.fget))  # type: ignore[call-arg]
        elif isinstance(function, FunctionType) and not name.startswith("__"):
            overload_method(typ, name, strict=False)(_always(function))  # type: ignore[call-arg]
    _register_operators(kind)


def _always(function):
    """What Numba asks for a method's function: with as many parameters as the method has."""
    by_count = {1: lambda v: function, 2: lambda v, a: function, 3: lambda v, a, b: function}
    by_count[4] = lambda v, a, b, c: function
    return by_count[function.__code__.co_argcount]


def _register_operators(kind):
    cls = kind.cls
    for name, op in (_BINARY | _COMPARED).items():
        if name in vars(cls):
            chosen = _chosen(kind, vars(cls)[name], name in ("__mul__", "__truediv__"))
            overload(op, strict=False)(chosen)
            if name in _BINARY:
                overload(getattr(operator, name.replace("__", "__i", 1)), strict=False)(chosen)
    if "__neg__" not in vars(cls):
        return
    negate = vars(cls)["__neg__"]
    overload(operator.neg, strict=False)(lambda vector: negate if vector == kind else None)

    @overload(operator.mul)
    def from_the_left(left, right):
        if isinstance(left, types.Number) and right == kind:
            return lambda left, right: right * left
        return None


def _chosen(kind, function, takes_numbers):
    """The operator's function, if its left side is such a vector and its right side fits."""

    def choose(left, right):
        fits = right == kind or (takes_numbers and isinstance(right, types.Number))
        return function if left == kind and fits else None

    return choose


def _register_component(name: str, attribute: str, narrow: type) -> None:
    def of(other):
        if isinstance(other, VectorType):
            if attribute == "_x":
                return lambda other: other._x
            return (lambda other: other._y) if attribute == "_y" else (lambda other: other._z)
        return lambda other: narrow(other)

    overload(getattr(components, name))(of)


for _kind in VECTOR_TYPES.values():
    _register(_kind)
for _axis in "xyz":
    _register_component(f"{_axis}_of", f"_{_axis}", components.f32)
    _register_component(f"{_axis}i_of", f"_{_axis}", components.i32)
