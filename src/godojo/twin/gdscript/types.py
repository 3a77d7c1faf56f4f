"""The types of the intermediate form, and how two of them join."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from godojo.twin.gdscript.live import LiveClass


class Conflict(Exception):
    """Two types that no variable can hold together."""


@dataclass(eq=False)
class Type:
    """A type that is what it is: numbers, vectors, strings."""

    name: str

    def __str__(self) -> str:
        return self.name


class ArrayType(Type):
    """An array: a reference, whose element type is inferred from everything that is put in.

    Arrays that may be the same one share their `root`.
    """

    def __init__(self, element: Type | None = None, fixed: bool = False, narrow: str = "", name: str = "Array") -> None:
        super().__init__(name)
        self._element, self.fixed, self.narrow = element, fixed, narrow
        self._same: ArrayType | None = None
        self.frozen = False
        """Whether it is a row of an array of arrays, which is a copy: nothing may change it."""

    @property
    def root(self) -> ArrayType:
        at = self
        while at._same is not None:
            at = at._same
        return at

    @property
    def element(self) -> Type | None:
        return self.root._element

    def put(self, element: Type | None) -> bool:
        """Notes that an element is put in; returns whether that is news."""
        root = self.root
        if element is None or root.fixed:
            return False
        joined = join(root._element, element)
        news = joined is not root._element
        root._element = joined
        return news

    def merge(self, other: ArrayType) -> bool:
        """Notes that both may be the same array; returns whether that is news."""
        mine, theirs = self.root, other.root
        if mine is theirs:
            return False
        if mine.fixed and theirs.fixed:
            if mine._element is not theirs._element or mine.narrow != theirs.narrow:
                raise Conflict(f"{mine} and {theirs}")
            return False
        if theirs.fixed:
            mine, theirs = theirs, mine
        if not mine.fixed:
            mine._element = join(mine._element, theirs._element)
        theirs._same = mine
        mine.frozen |= theirs.frozen
        return True

    def __str__(self) -> str:
        root = self.root
        return root.name if root.narrow or root._element is None else f"Array[{root._element}]"


class RefType(Type):
    """A reference to a node of one of these classes, or null. Make one with `ref`: equal ones are the same."""

    def __init__(self, classes: frozenset[LiveClass]) -> None:
        super().__init__(" or ".join(sorted(one.name for one in classes)) if classes else "null")
        self.classes = classes


_REFS: dict[frozenset[LiveClass], RefType] = {}


def ref(classes: Iterable[LiveClass]) -> RefType:
    """The type of a reference to any of these classes."""
    key = frozenset(classes)
    return _REFS.setdefault(key, RefType(key))


NIL = ref(())
"""The type of `null`."""


class DictType(Type):
    """A dictionary whose keys are known; `action` where it is what an agent shall do."""

    def __init__(self, fields: dict[str, Type | None], action: bool = False) -> None:
        super().__init__("Dictionary")
        self.fields, self.action = fields, action


class MapType(Type):
    """A dictionary that is kept: an array of its keys and one of its values."""

    def __init__(self) -> None:
        super().__init__("Dictionary")
        self.keys, self.values = ArrayType(), ArrayType()

    def merge(self, other: MapType) -> bool:
        """Notes that both may be the same dictionary; returns whether that is news."""
        return self.keys.merge(other.keys) | self.values.merge(other.values)


class ObjectType(Type):
    """A helper object of the engine, such as a ray query, or a resource. Make one with `object_type`."""


class KnownObject(ObjectType):
    """A resource of a node, or a node that is only seen, of which nothing changes: its properties are those of the
    snapshot, by the index of the node that leads to it. In Python it is that node."""

    def __init__(self, name: str, properties: dict[int, dict[str, Any]]) -> None:
        super().__init__(name)
        self.properties = properties


def known_object(made: dict[Any, KnownObject], name: str, properties: dict[int, dict[str, Any]]) -> KnownObject:
    """The type of such objects; equal ones are the same."""
    return made.setdefault((name, *properties), KnownObject(name, properties))


_OBJECTS: dict[str, ObjectType] = {}


def object_type(name: str) -> ObjectType:
    """The type of such objects; equal ones are the same."""
    return _OBJECTS.setdefault(name, ObjectType(name))


TEXT = object_type("text")
"""A string that is made while the game runs: it can only be shown, so whatever uses it is left out."""
SEEN = object_type("what is only seen")
"""A material, a colour, a tween: see `seen.py`."""
BOOL, INT, FLOAT, STRING = Type("bool"), Type("int"), Type("float"), Type("String")
NUMBER = Type("int or float")
"""An untyped variable that holds integers and floats by turns. It is kept as a float; where the two would behave
differently (`/` of integers, `%`), the script is refused."""
NULL = Type("null")
VECTOR2, VECTOR3, VECTOR2I, VECTOR3I = Type("Vector2"), Type("Vector3"), Type("Vector2i"), Type("Vector3i")
RANDOM = Type("RandomNumberGenerator")
BASIS, TRANSFORM3D, QUATERNION = Type("Basis"), Type("Transform3D"), Type("Quaternion")
TRANSFORM2D, RECT2 = Type("Transform2D"), Type("Rect2")

FLOAT_VECTORS, INT_VECTORS = (VECTOR2, VECTOR3), (VECTOR2I, VECTOR3I)
VECTORS = (*FLOAT_VECTORS, *INT_VECTORS)
VALUES = (*VECTORS, BASIS, TRANSFORM3D, QUATERNION, TRANSFORM2D, RECT2)
"""Structs that are copied on assignment."""
NUMBERS = (INT, FLOAT, NUMBER)
_PLAIN = {t.name: t for t in (BOOL, INT, FLOAT, *VALUES, RANDOM)}
_PACKED = {
    "PackedFloat32Array": (FLOAT, "float32"),
    "PackedFloat64Array": (FLOAT, ""),
    "PackedInt32Array": (INT, "int32"),
    "PackedInt64Array": (INT, ""),
    "PackedByteArray": (INT, "uint8"),
    "PackedVector2Array": (VECTOR2, ""),
    "PackedVector3Array": (VECTOR3, ""),
}


def packed(name: str) -> ArrayType | None:
    if name not in _PACKED:
        return None
    element, narrow = _PACKED[name]
    return ArrayType(element, fixed=True, narrow=narrow, name=name)


def named(name: str, enums: dict[str, dict[str, int]]) -> Type | None:
    """The type that a hint in a script names; None where it is not compiled."""
    name = name.replace(" ", "")
    if name in _PLAIN:
        return _PLAIN[name]
    if name in enums:
        return INT
    if name == "Array":
        return ArrayType()
    if name.startswith("Array["):
        element = named(name[6:-1], enums)
        return ArrayType(element, fixed=True) if element is not None and not isinstance(element, ArrayType) else None
    return packed(name)


def join(a: Type | None, b: Type | None) -> Type | None:
    """The type of a variable that holds values of both."""
    if a is None or a is b:
        return b
    if b is None:
        return a
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        a.merge(b)
        return a
    if isinstance(a, MapType) and isinstance(b, MapType):
        a.merge(b)
        return a
    if a in (BOOL, *NUMBERS) and b in (BOOL, *NUMBERS):
        return NUMBER
    if isinstance(a, RefType) and isinstance(b, RefType):
        return ref(a.classes | b.classes)
    if NIL in (a, b):
        return b if a is NIL else a
    if isinstance(a, DictType) and isinstance(b, DictType) and a.fields.keys() == b.fields.keys():
        for key in a.fields:
            a.fields[key] = join(a.fields[key], b.fields[key])
        return a
    raise Conflict(f"{a} and {b}")
