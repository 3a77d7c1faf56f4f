"""References to records of a world: in plain Python, and as a Numba type of a pointer and an offset.

`Player(ref)` is the same record as a `Ref[Player]`, `Player()` is null. Attributes are the fields of the class: numbers
are 64-bit as in GDScript, vectors are values, references are kept as offsets into the world's row, and arrays have a
fixed capacity. One that overflows, and an index that does not exist, set the world's `error` instead of writing.
"""

# mypy: disable-error-code="no-untyped-call"
# Values of the runtime have no types: they are compiled.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from godojo.twin.gdscript import runtime
from godojo.twin.gdscript.runtime.vector2 import Vector2
from godojo.twin.gdscript.runtime.vector3 import Vector3
from godojo.twin.world.tables import ARRAY_HEADER, ClassTable, Field, array_parts, size_of

ERROR_AT = 16
"""Where a row keeps its `error`, an int32: behind the global generator of random numbers."""
OVERFLOW, OUT_OF_RANGE, NULL_REF, LATE_EXIT, CHILD_OUTSIDE, NOT_MADE, CONTACTS_FULL, TOO_FAST_BODY = range(1, 9)
STOPPED = 100
"""The first of a program's own errors, `Program.stops`."""
POOL_FULL = 100_000
"""The first of the errors of pools: one without a free instance, by its number."""
ERRORS = {
    OVERFLOW: "an array grew beyond the room that the twin has for it",
    OUT_OF_RANGE: "a script read an array behind its end",
    NULL_REF: "a script used a node that is null",
    CHILD_OUTSIDE: "a script added a child to a node outside the tree, or to one that was made in play",
    NOT_MADE: "a script added a child that was not made by instantiate() or new()",
    CONTACTS_FULL: "rigid bodies touch more others at once than the twin has room for",
    TOO_FAST_BODY: "a rigid body with continuous_cd moves so fast that the engine looks ahead, which the twin does not",
    LATE_EXIT: "an area was disabled while something was inside, and its exits are connected",
}
_NUMPY: dict[str, tuple[Any, Any]] = {
    "bool": (np.uint8, bool),
    "int": (np.int64, np.int64),
    "float": (np.float64, np.float64),
    "int32": (np.int32, np.int64),
    "uint32": (np.uint32, np.int64),
    "float32": (np.float32, np.float64),
    "uint8": (np.uint8, np.int64),
    "uint64": (np.uint64, np.uint64),
    "String": (np.int64, np.int64),
}


class RefClass:
    """A class of records: a global of generated code, where it casts references."""

    def __init__(self, table: ClassTable, name: str) -> None:
        self.table, self.name = table, name
        self.record = table[name]

    def __call__(self, ref: Any = None) -> Ref:
        if ref is None:
            return Ref(_NO_ROW, -1, self.table, self.record.name)
        return Ref(ref._row, ref._offset, self.table, self.record.name)

    def at(self, row: np.ndarray, offset: int) -> Ref:
        """The record at an offset of a row of bytes."""
        return Ref(row, int(offset), self.table, self.record.name)


_NO_ROW = np.zeros(0, np.uint8)


class Ref:
    """A reference in plain Python."""

    __slots__ = ("_cls", "_offset", "_row", "_table")
    _row: np.ndarray
    _offset: int
    _table: ClassTable
    _cls: str

    def __init__(self, row: np.ndarray, offset: int, table: ClassTable, cls: str) -> None:
        for name, value in (("_row", row), ("_offset", offset), ("_table", table), ("_cls", cls)):
            object.__setattr__(self, name, value)

    def _field(self, name: str) -> Field:
        field = self._table[self._cls].by_name.get(name)
        if field is None or self._offset < 0:
            raise AttributeError(f"{self._cls} has no field {name}" if self._offset >= 0 else ERRORS[NULL_REF])
        return field

    def __getattr__(self, name: str) -> Any:
        field = self._field(name)
        return read_value(self._row, self._offset + field.offset, field.type, self._table)

    def __setattr__(self, name: str, value: Any) -> None:
        field = self._field(name)
        write_value(self._row, self._offset + field.offset, field.type, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ref) and self._offset == other._offset

    def __hash__(self) -> int:
        return hash(self._offset)


class PlainArray:
    """A member array in plain Python."""

    def __init__(self, row: np.ndarray, offset: int, text: str, table: ClassTable) -> None:
        self._row, self._offset, self._table = row, offset, table
        self._element, self._capacity = array_parts(text)
        self._stride = size_of(self._element)[0]

    def __len__(self) -> int:
        return int(self._row[self._offset : self._offset + 4].view(np.int32)[0])

    def _resize(self, length: int) -> None:
        self._row[self._offset : self._offset + 4].view(np.int32)[0] = length

    def _place(self, index: Any) -> int:
        at = int(index) + (len(self) if index < 0 else 0)
        if not 0 <= at < len(self):
            self._row[ERROR_AT : ERROR_AT + 4].view(np.int32)[0] = OUT_OF_RANGE
            return -1
        return self._offset + ARRAY_HEADER + at * self._stride

    def __getitem__(self, index: Any) -> Any:
        at = self._place(index)
        if at < 0:
            return read_value(np.zeros(64, np.uint8), 0, self._element, self._table)
        return read_value(self._row, at, self._element, self._table)

    def __setitem__(self, index: Any, value: Any) -> None:
        if (at := self._place(index)) >= 0:
            write_value(self._row, at, self._element, value)

    def __iter__(self) -> Iterator[Any]:
        index = 0
        while index < len(self):
            yield self[index]
            index += 1

    def append(self, value: Any) -> None:
        length = len(self)
        if length >= self._capacity:
            self._row[ERROR_AT : ERROR_AT + 4].view(np.int32)[0] = OVERFLOW
            return
        self._resize(length + 1)
        self[length] = value

    def pop(self, index: Any = -1) -> Any:
        value, at = self[index], int(index) + (len(self) if index < 0 else 0)
        if 0 <= at < len(self):
            for i in range(at, len(self) - 1):
                self[i] = self[i + 1]
            self._resize(len(self) - 1)
        return value

    def insert(self, index: Any, value: Any) -> None:
        length = len(self)
        self.append(value)
        if len(self) > length:
            for i in range(length, int(index), -1):
                self[i] = self[i - 1]
            self[index] = value

    def clear(self) -> None:
        self._resize(0)


def read_value(row: np.ndarray, at: int, text: str, table: ClassTable) -> Any:
    """The value of this type at an offset of a row."""
    if text.startswith("Array["):
        return PlainArray(row, at, text, table)
    size = size_of(text)[0]
    if text.startswith("Ref["):
        return Ref(row, int(row[at : at + 4].view(np.int32)[0]), table, text[4:-1])
    if text in _NUMPY:
        stored, wide = _NUMPY[text]
        return wide(row[at : at + size].view(stored)[0])
    numbers = row[at : at + size].view(np.int32 if text.endswith("i") else np.float32)
    return from_numbers(text, numbers)


def from_numbers(text: str, numbers: np.ndarray) -> Any:
    """A vector or matrix from its components, as rows keep them."""
    cls: Any = getattr(runtime, text)
    if text == "Basis":
        return cls(*(Vector3(*numbers[i : i + 3]) for i in (0, 3, 6)))
    if text == "Transform3D":
        return cls(from_numbers("Basis", numbers[:9]), Vector3(*numbers[9:]))
    if text == "Transform2D":
        return cls(*(Vector2(*numbers[i : i + 2]) for i in (0, 2, 4)))
    return cls(*numbers)


def to_numbers(value: Any) -> list[Any]:
    """The components of a vector or matrix, in the order in which rows keep them."""
    if isinstance(value, np.generic | int | float):
        return [value]
    slots = ("_x", "_y", "_z", "_w") if type(value).__name__ == "Quaternion" else type(value).__slots__
    return [number for slot in slots for number in to_numbers(getattr(value, slot))]


def write_value(row: np.ndarray, at: int, text: str, value: Any) -> None:
    """Writes a value of this type at an offset of a row."""
    if text.startswith("Array["):
        raise TypeError("member arrays are written item by item")
    size = size_of(text)[0]
    if text.startswith("Ref["):
        row[at : at + 4].view(np.int32)[0] = value._offset
    elif text in _NUMPY:
        row[at : at + size].view(_NUMPY[text][0])[0] = value
    else:
        row[at : at + size].view(np.int32 if text.endswith("i") else np.float32)[:] = to_numbers(value)


def stop(ref: Any, number: int) -> None:
    """Notes that a script does what no twin can: entry `number` of `Program.stops`."""
    error = ref._row[ERROR_AT : ERROR_AT + 4].view(np.int32)
    error[0] = error[0] or STOPPED + number


def is_null(ref: Any) -> bool:
    """Whether a reference is null."""
    return bool(ref._offset < 0)


def world_random(ref: Any) -> Any:
    """The global generator of random numbers of the reference's world: the start of its row."""
    return Ref(ref._row, 0, ref._table, "RandomNumberGenerator")


def record_at(ref: Any, offset: Any, cls: Any) -> Any:
    """The record of a class at an offset of the reference's row."""
    return cls.at(ref._row, offset)


def offset_of(ref: Any) -> Any:
    """Where the record stands in its row; -1 is null."""
    return np.int64(ref._offset)
