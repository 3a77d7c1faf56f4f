"""Where each field of each class stands in a record: prefix inheritance, as in C++."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from godojo.errors import GodojoError
from godojo.twin.world.classes import BASES, FIELDS, OVERLAYS

_SIZES = {  # bytes, and the bytes of one component
    "bool": (1, 1),
    "int": (8, 8),
    "float": (8, 8),
    "int32": (4, 4),
    "uint32": (4, 4),
    "float32": (4, 4),
    "uint8": (1, 1),
    "uint64": (8, 8),
    "String": (8, 8),
    "Vector2": (8, 4),
    "Vector2i": (8, 4),
    "Vector3": (12, 4),
    "Vector3i": (12, 4),
    "Quaternion": (16, 4),
    "Basis": (36, 4),
    "Transform2D": (24, 4),
    "Rect2": (16, 4),
    "Transform3D": (48, 4),
}
ARRAY_HEADER = 8
"""Bytes in front of an array's items: their number, as int32, and four that are free."""


def size_of(text: str) -> tuple[int, int]:
    """The bytes of a field of this type, and its alignment."""
    if text.startswith("Array["):
        element, capacity = array_parts(text)
        size = size_of(element)[0]
        return ARRAY_HEADER + -(-size * capacity // 8) * 8, 8
    if text.startswith("Ref["):
        return 4, 4
    if text.startswith("bytes:"):
        return int(text[6:]), 8
    if text not in _SIZES:
        raise GodojoError(f"a twin's nodes cannot hold a {text}")
    return _SIZES[text]


def array_parts(text: str) -> tuple[str, int]:
    """The element type and the capacity of `Array[float]:16`."""
    kind, _, capacity = text.rpartition(":")
    return kind[6:-1], int(capacity)


@dataclass(frozen=True)
class Field:
    """A field of a record."""

    name: str
    type: str
    offset: int


@dataclass(frozen=True)
class RecordClass:
    """A class: what it inherits, and all its fields."""

    name: str
    base: str
    fields: tuple[Field, ...]
    size: int

    @cached_property
    def by_name(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields}


class ClassTable:
    """The classes of a game, or Godot's alone."""

    def __init__(self, members: Mapping[str, tuple[str, Mapping[str, str]]]) -> None:
        """`members`: for each class of the game its base and the members that it adds, with their types."""
        self.members = {name: (base, dict(fields)) for name, (base, fields) in members.items()}
        text = repr(sorted(self.members.items())) + repr((FIELDS, OVERLAYS))
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        bases = {**BASES, **{name: base for name, (base, _) in self.members.items()}}
        used = {**dict.fromkeys([*FIELDS, *BASES]), **self.members}
        self.classes: dict[str, RecordClass] = {}
        for name in used:
            self._add(name, bases, ())

    def _add(self, name: str, bases: dict[str, str], heirs: tuple[str, ...]) -> RecordClass:
        if name in self.classes:
            return self.classes[name]
        if name in heirs:
            raise GodojoError(f"the classes {', '.join(heirs)} inherit each other")
        base = self._add(bases[name], bases, (*heirs, name)) if name in bases else None
        own = self.members[name][1] if name in self.members else FIELDS.get(name, {})
        fields, at = list(base.fields) if base else [], base.size if base else 0
        for field, text in own.items():
            size, alignment = size_of(text)
            at = -(-at // alignment) * alignment
            fields.append(Field(field, text, at))
            at += size
        for field, (text, within, offset) in OVERLAYS.get(name, {}).items():
            start = next(one.offset for one in fields if one.name == within)
            fields.append(Field(field, text, start + offset))
        record = self.classes[name] = RecordClass(name, base.name if base else "", tuple(fields), -(-at // 8) * 8)
        return record

    def __getitem__(self, name: str) -> RecordClass:
        """The class; one that is not known has the fields of the nearest that is."""
        while name not in self.classes:
            name = BASES.get(name, "Node")
        return self.classes[name]

    @cached_property
    def largest(self) -> int:
        """The bytes of the largest record."""
        return max(one.size for one in self.classes.values())

    def lineage(self, name: str) -> list[str]:
        """The class and all that it inherits, nearest first."""
        found = [name]
        while base := self.classes[found[-1]].base:
            found.append(base)
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassTable) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[type[ClassTable], tuple[dict[str, tuple[str, dict[str, str]]]]]:
        return ClassTable, (self.members,)


NATIVE = ClassTable({})
"""Godot's classes alone: their records are prefixes of every game's."""
