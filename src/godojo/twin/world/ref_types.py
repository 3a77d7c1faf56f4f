"""`Ref`, member arrays and classes as Numba types. Importing this module registers them."""

# mypy: ignore-errors
# Numba's extension points have no types.

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType as Counted
from numba.core.imputils import iternext_impl, lower_cast, lower_constant
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate, signature
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    overload,
    overload_method,
    register_model,
    typeof_impl,
    unbox,
)

from godojo.twin.gdscript import runtime
from godojo.twin.gdscript.runtime.maps import hash_of
from godojo.twin.gdscript.runtime.vector_types import VECTOR_TYPES
from godojo.twin.world import refs
from godojo.twin.world.refs import ERROR_AT, NULL_REF, OUT_OF_RANGE, OVERFLOW, STOPPED, RefClass, stop
from godojo.twin.world.tables import ARRAY_HEADER, NATIVE, ClassTable, array_parts, size_of

_SCALARS = {
    "bool": types.boolean,
    "int": types.int64,
    "float": types.float64,
    "int32": types.int64,
    "uint32": types.int64,
    "uint8": types.int64,
    "float32": types.float64,
    "uint64": types.uint64,
    "String": types.int64,
}
DEAD_AT = NATIVE["World"].size
"""Where a row has the record that null reads and writes: behind the world's own fields."""
_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_POINTER = _I8.as_pointer()


class RefType(types.Type):
    """A record of one class in a world's row: the row's address, and the record's offset."""

    def __init__(self, table: ClassTable, cls: str) -> None:
        name = table[cls].name
        if name not in table.members:
            table = NATIVE
        self.table, self.cls = table, name
        super().__init__(name=f"Ref[{name}]({table.digest})")

    @property
    def key(self):
        return (self.table, self.cls)

    def can_convert_to(self, typingctx, other):
        if isinstance(other, RefType) and other.cls in self.table.lineage(self.cls):
            return Conversion.safe
        return None

    def unify(self, typingctx, other):
        if isinstance(other, RefType):
            for name in self.table.lineage(self.cls):
                if name in other.table.lineage(other.cls):
                    return RefType(self.table, name)
        return None


class RefClassType(types.Callable):
    """A class as a global of generated code."""

    def __init__(self, table: ClassTable, cls: str) -> None:
        self.table, self.cls = table, cls
        super().__init__(name=f"class {cls}({table.digest})")

    @property
    def key(self):
        return (self.table, self.cls)

    def get_call_type(self, context, args, kws):
        is_cast = len(args) == 1 and isinstance(args[0], RefType)
        return signature(RefType(self.table, self.cls), *args) if not kws and (is_cast or not args) else None

    def get_call_signatures(self):
        return (), False

    def get_impl_key(self, sig):
        return RefClassType


class MemberArrayType(types.IterableType):
    """An array in a record: the row's address, and the offset of its length."""

    def __init__(self, table: ClassTable, text: str) -> None:
        self.table, self.text = table, text
        self.element, self.capacity = array_parts(text)
        super().__init__(name=f"{text}({table.digest})")

    @property
    def key(self):
        return (self.table, self.text)

    @property
    def item(self):
        return numba_type(self.table, self.element)

    @property
    def iterator_type(self):
        return MemberIteratorType(self)


class MemberIteratorType(types.SimpleIteratorType):
    """A walk over a member array."""

    def __init__(self, array: MemberArrayType) -> None:
        self.array = array
        super().__init__(f"iterator of {array.name}", array.item)


def numba_type(table: ClassTable, text: str):
    """The compiled type of a field."""
    if text.startswith("Array["):
        return MemberArrayType(table, text)
    if text.startswith("Ref["):
        return RefType(table, text[4:-1])
    return _SCALARS[text] if text in _SCALARS else VECTOR_TYPES[getattr(runtime, text)]


_FIELDS = [("base", types.voidptr), ("offset", types.int64)]
register_model(RefClassType)(models.OpaqueModel)


@register_model(RefType)
@register_model(MemberArrayType)
class _Model(models.StructModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, _FIELDS)


@register_model(MemberIteratorType)
class _IteratorModel(models.StructModel):
    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, [*_FIELDS, ("index", types.EphemeralPointer(types.int64))])


@typeof_impl.register(RefClass)
def _typeof_class(value, context):
    return RefClassType(value.table, value.name)


@unbox(RefClassType)
def _unbox_class(typ, value, c):
    return NativeValue(c.context.get_dummy_value())


@lower_constant(RefClassType)
def _constant_class(context, builder, typ, value):
    return context.get_dummy_value()


# Loading and storing


def _load(context, builder, table, text, base, offset):
    """The value of a field: `base` is the row, `offset` an i64."""
    if text.startswith(("Array[", "Ref[")):
        struct = cgutils.create_struct_proxy(numba_type(table, text))(context, builder)
        struct.base = base
        if text.startswith("Ref["):
            where = builder.bitcast(builder.gep(base, [offset]), _I32.as_pointer())
            offset = builder.sext(builder.load(where), _I64)
        struct.offset = offset
        return struct._getvalue()
    where, typ = builder.gep(base, [offset]), numba_type(table, text)
    if text == "bool":
        return builder.icmp_unsigned("!=", builder.load(where), _I8(0))
    if text in ("int32", "uint32"):
        number = builder.load(builder.bitcast(where, _I32.as_pointer()))
        return builder.sext(number, _I64) if text == "int32" else builder.zext(number, _I64)
    if text == "uint8":
        return builder.zext(builder.load(where), _I64)
    if text == "float32":
        number = builder.load(builder.bitcast(where, ir.FloatType().as_pointer()))
        return builder.fpext(number, ir.DoubleType())
    model = context.data_model_manager[typ]
    where = builder.bitcast(where, model.get_data_type().as_pointer())
    return model.from_data(builder, builder.load(where, align=size_of(text)[1]))


def _store(context, builder, table, text, base, offset, value):
    where = builder.gep(base, [offset])
    if text.startswith("Ref["):
        struct = cgutils.create_struct_proxy(numba_type(table, text))(context, builder, value=value)
        builder.store(builder.trunc(struct.offset, _I32), builder.bitcast(where, _I32.as_pointer()))
    elif text == "bool":
        builder.store(builder.zext(value, _I8), where)
    elif text in ("int32", "uint32"):
        builder.store(builder.trunc(value, _I32), builder.bitcast(where, _I32.as_pointer()))
    elif text == "uint8":
        builder.store(builder.trunc(value, _I8), where)
    elif text == "float32":
        builder.store(builder.fptrunc(value, ir.FloatType()), builder.bitcast(where, ir.FloatType().as_pointer()))
    else:
        model = context.data_model_manager[numba_type(table, text)]
        where = builder.bitcast(where, model.get_data_type().as_pointer())
        builder.store(model.as_data(builder, value), where, align=size_of(text)[1])


@infer_getattr
class _Attributes(AttributeTemplate):
    key = RefType

    def generic_resolve(self, ref, attr):
        field = ref.table[ref.cls].by_name.get(attr)
        return numba_type(ref.table, field.type) if field is not None and not field.type.startswith("bytes:") else None


def _safe_offset(builder, ref):
    """The record's offset; for null that of a record that nobody uses, and the world notes an error."""
    is_null = builder.icmp_signed("<", ref.offset, _I64(0))
    with builder.if_then(is_null, likely=False):
        where = builder.bitcast(builder.gep(ref.base, [_I64(ERROR_AT)]), _I32.as_pointer())
        builder.store(_I32(NULL_REF), where)
    return builder.select(is_null, _I64(DEAD_AT), ref.offset)


@lower_getattr_generic(RefType)
def _get_attribute(context, builder, typ, value, attr):
    field = typ.table[typ.cls].by_name[attr]
    ref = cgutils.create_struct_proxy(typ)(context, builder, value=value)
    offset = builder.add(_safe_offset(builder, ref), _I64(field.offset))
    return _load(context, builder, typ.table, field.type, ref.base, offset)


@lower_setattr_generic(RefType)
def _set_attribute(context, builder, sig, args, attr):
    typ = sig.args[0]
    field = typ.table[typ.cls].by_name[attr]
    ref = cgutils.create_struct_proxy(typ)(context, builder, value=args[0])
    offset = builder.add(_safe_offset(builder, ref), _I64(field.offset))
    _store(context, builder, typ.table, field.type, ref.base, offset, args[1])


# Casts


def _null_row(builder, table):
    """Memory of its own for null: reading it gives zeros, and writing it changes no world."""
    name = f"godojo.null.{table.digest}"
    module = builder.module
    if name not in module.globals:
        kind = ir.ArrayType(_I8, DEAD_AT + table.largest)
        row = ir.GlobalVariable(module, kind, name)
        row.initializer, row.linkage, row.align = ir.Constant(kind, None), "internal", 64
    return builder.bitcast(module.globals[name], _POINTER)


@lower_cast(RefType, RefType)
def _cast(context, builder, from_type, to_type, value):
    return value


@intrinsic
def _reference(typingctx, base, offset, cls):
    """A reference to the record of a class."""
    result = RefType(cls.table, cls.cls)

    def make(context, builder, sig, args):
        struct = cgutils.create_struct_proxy(result)(context, builder)
        struct.base, struct.offset = args[0], args[1]
        return struct._getvalue()

    return result(types.voidptr, types.int64, cls), make


@intrinsic
def base_of(typingctx, ref):
    """The address of the row of a reference or member array."""

    def get(context, builder, sig, args):
        return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).base

    return types.voidptr(ref), get


@intrinsic
def _offset(typingctx, ref):
    def get(context, builder, sig, args):
        return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).offset

    return types.int64(ref), get


@overload(hash_of)
def _hash_of(key):
    return (lambda key: _offset(key)) if isinstance(key, RefType) else None


@intrinsic
def address(typingctx, base, offset):
    """The address of a place in a row."""

    def add(context, builder, sig, args):
        return builder.gep(args[0], [args[1]])

    return types.voidptr(base, types.int64), add


@intrinsic
def pointer(typingctx, number):
    """A number that is an address, as a pointer."""

    def turn(context, builder, sig, args):
        return builder.inttoptr(args[0], _POINTER)

    return types.voidptr(types.int64), turn


@lower_builtin(RefClassType, types.VarArg(types.Any))
def _call_class(context, builder, sig, args):
    if args:
        return args[0]
    struct = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    struct.base, struct.offset = _null_row(builder, sig.return_type.table), _I64(-1)
    return struct._getvalue()


@overload(refs.offset_of)
def _offset_of(ref):
    return lambda ref: _offset(ref)


@overload(refs.is_null)
def _is_null(ref):
    return lambda ref: _offset(ref) < 0


@overload(refs.record_at)
def _record_at(ref, offset, cls):
    return lambda ref, offset, cls: _reference(base_of(ref), offset, cls)


RANDOM = RefClass(NATIVE, "RandomNumberGenerator")


@overload(refs.world_random)
def _world_random(ref):
    return lambda ref: _reference(base_of(ref), 0, RANDOM)


@overload(operator.eq)
def _equal(a, b):
    if isinstance(a, RefType) and isinstance(b, RefType):
        return lambda a, b: _offset(a) == _offset(b)
    return None


@overload(operator.ne)
def _unequal(a, b):
    if isinstance(a, RefType) and isinstance(b, RefType):
        return lambda a, b: _offset(a) != _offset(b)
    return None


# Member arrays


@intrinsic
def _length(typingctx, array):
    def get(context, builder, sig, args):
        struct = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        where = builder.bitcast(builder.gep(struct.base, [struct.offset]), _I32.as_pointer())
        return builder.sext(builder.load(where), _I64)

    return types.int64(array), get


@intrinsic
def _set_length(typingctx, array, length):
    def put(context, builder, sig, args):
        struct = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        where = builder.bitcast(builder.gep(struct.base, [struct.offset]), _I32.as_pointer())
        builder.store(builder.trunc(args[1], _I32), where)
        return context.get_dummy_value()

    return types.void(array, types.int64), put


@intrinsic
def set_error(typingctx, ref, number):
    """Notes in the world's row what went wrong first."""

    def put(context, builder, sig, args):
        struct = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
        where = builder.bitcast(builder.gep(struct.base, [_I64(ERROR_AT)]), _I32.as_pointer())
        before = builder.load(where)
        is_first = builder.icmp_unsigned("==", before, _I32(0))
        builder.store(builder.select(is_first, builder.trunc(args[1], _I32), before), where)
        return context.get_dummy_value()

    return types.void(ref, types.int64), put


@overload(stop)
def _stop(ref, number):
    return lambda ref, number: set_error(ref, STOPPED + number)


def _item_offset(builder, typ, struct, index):
    stride = _I64(size_of(typ.element)[0])
    return builder.add(builder.add(struct.offset, _I64(ARRAY_HEADER)), builder.mul(index, stride))


@intrinsic
def _read_item(typingctx, array, index):
    def get(context, builder, sig, args):
        typ = sig.args[0]
        struct = cgutils.create_struct_proxy(typ)(context, builder, value=args[0])
        return _load(context, builder, typ.table, typ.element, struct.base, _item_offset(builder, typ, struct, args[1]))

    return array.item(array, types.int64), get


@intrinsic
def _write_item(typingctx, array, index, value):
    def put(context, builder, sig, args):
        typ = sig.args[0]
        struct = cgutils.create_struct_proxy(typ)(context, builder, value=args[0])
        offset = _item_offset(builder, typ, struct, args[1])
        _store(context, builder, typ.table, typ.element, struct.base, offset, args[2])
        return context.get_dummy_value()

    return types.void(array, types.int64, array.item), put


@overload(len)
def _len(array):
    return (lambda array: _length(array)) if isinstance(array, MemberArrayType) else None


@overload(operator.getitem)
def _getitem(array, index):
    if not isinstance(array, MemberArrayType) or not isinstance(index, types.Integer):
        return None

    def get(array, index):
        at = index if index >= 0 else index + _length(array)
        if at < 0 or at >= _length(array):
            set_error(array, OUT_OF_RANGE)
            at = 0
        return _read_item(array, at)

    return get


@overload(operator.setitem)
def _setitem(array, index, value):
    if not isinstance(array, MemberArrayType) or not isinstance(index, types.Integer):
        return None

    def put(array, index, value):
        at = index if index >= 0 else index + _length(array)
        if at < 0 or at >= _length(array):
            set_error(array, OUT_OF_RANGE)
        else:
            _write_item(array, at, value)

    return put


@overload_method(MemberArrayType, "append")
def _append(array, value):
    capacity = array.capacity

    def append(array, value):
        length = _length(array)
        if length >= capacity:
            set_error(array, OVERFLOW)
        else:
            _write_item(array, length, value)
            _set_length(array, length + 1)

    return append


@overload_method(MemberArrayType, "pop")
def _pop(array, index=-1):
    def pop(array, index=-1):
        value, length = array[index], _length(array)
        at = index if index >= 0 else index + length
        if 0 <= at < length:
            for i in range(at, length - 1):
                _write_item(array, i, _read_item(array, i + 1))
            _set_length(array, length - 1)
        return value

    return pop


@overload_method(MemberArrayType, "insert")
def _insert(array, index, value):
    def insert(array, index, value):
        length = _length(array)
        array.append(value)
        if _length(array) > length:
            for i in range(length, index, -1):
                _write_item(array, i, _read_item(array, i - 1))
            array[index] = value

    return insert


@overload_method(MemberArrayType, "clear")
def _clear(array):
    return lambda array: _set_length(array, 0)


@lower_builtin("getiter", MemberArrayType)
def _getiter(context, builder, sig, args):
    array = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    walk = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    walk.base, walk.offset = array.base, array.offset
    walk.index = cgutils.alloca_once_value(builder, _I64(0))
    return walk._getvalue()


@lower_builtin("iternext", MemberIteratorType)
@iternext_impl(Counted.BORROWED)
def _iternext(context, builder, sig, args, result):
    typ = sig.args[0].array
    walk = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    where = builder.bitcast(builder.gep(walk.base, [walk.offset]), _I32.as_pointer())
    length, index = builder.sext(builder.load(where), _I64), builder.load(walk.index)
    is_valid = builder.icmp_signed("<", index, length)
    result.set_valid(is_valid)
    with builder.if_then(is_valid):
        offset = _item_offset(builder, typ, walk, index)
        result.yield_(_load(context, builder, typ.table, typ.element, walk.base, offset))
        builder.store(builder.add(index, _I64(1)), walk.index)
