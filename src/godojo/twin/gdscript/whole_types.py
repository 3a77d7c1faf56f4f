"""What the members and constants of a whole program hold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from godojo.twin.gdscript.class_inference import ClassInference
from godojo.twin.gdscript.live import LiveClass, LiveTree
from godojo.twin.gdscript.names import python_name
from godojo.twin.gdscript.nodes import (
    Declare,
    Function,
    Script,
    Variable,
)
from godojo.twin.gdscript.types import (
    BOOL,
    FLOAT,
    INT,
    NIL,
    NUMBER,
    RANDOM,
    STRING,
    VALUES,
    ArrayType,
    Conflict,
    DictType,
    KnownObject,
    MapType,
    ObjectType,
    RefType,
    Type,
    join,
    named,
    object_type,
    packed,
    ref,
)

if TYPE_CHECKING:
    from godojo.twin.gdscript.class_names import ClassNames
    from godojo.twin.scene.snapshot import Snapshot


class WholeTypes:
    """What a program knows of its members and constants."""

    def __init__(self, snapshot: Snapshot, read_source: Callable[[str], str]) -> None:
        self.snapshot = snapshot
        self.tree = LiveTree(snapshot, read_source)
        self.declared = {
            name
            for cls in self.tree.classes
            if cls.source is not None
            for name in (*cls.source.functions, *(one.name for one in cls.source.members))
        }
        """The names of all functions and members of live scripts."""
        self.inferences: dict[LiveClass, ClassInference] = {}
        self.reached: dict[int, tuple[LiveClass, Function]] = {}
        self.news = self.last = False
        self.initial: dict[int, dict[str, Any]] = {}
        self.left_out: set[tuple[str, int, str]] = set()
        self.refusals: set[tuple[str, int, str]] = set()
        self.strings: dict[str, int] = {}
        self.known: dict[Any, KnownObject] = {}
        self.numbers: dict[str, str] = {}
        """Module constants of the generated code, by name."""
        self.used: dict[int, Variable] = {}
        """Members that reachable code reads or writes."""
        self.constants: dict[int, tuple[ClassNames, Variable]] = {}
        self.dispatches: dict[Any, tuple[str, Any]] = {}
        self._declared: dict[tuple[str, str], Variable] = {}
        self._typed: set[int] = set()
        self._effects: dict[tuple[str, str, str], bool] = {}
        self._asking: list[tuple[str, str, str]] = []
        self._circular = False
        self._actions: dict[str, DictType] = {}
        self._layouts: dict[int, list[tuple[str, int, int, bool]]] = {}
        self.kept: set[LiveClass] = set()
        """Classes of the engine that only draw, from whose nodes a script reads all the same."""
        self.touched: set[LiveClass] = set()
        """Classes whose nodes other scripts read, write or call."""
        self.handlers: set[str] = set()
        """Functions that the engine's signals call, with nodes of a wider class than they expect."""

    # --- types ------------------------------------------------------------------------------------------------------

    def type_of(self, text: str) -> Type | None:
        """The type that the engine's tables write."""
        if text.startswith("Ref["):
            name = text[4:-1]
            classes = self.tree.named(name)
            if name == "CollisionObject2D" and classes is not None:  # tiles collide as well
                classes += self.tree.named("TileMapLayer") or []
            return ref(classes) if classes is not None else ref([self.tree.native(name)])
        if text.startswith("Array["):
            element = self.type_of(text[6:-1])
            return ArrayType(element, fixed=True)
        if text == "String":
            return STRING
        return named(text, {}) or object_type(text)

    def named(self, name: str, cls: LiveClass) -> Type | None:
        """The type that a hint in a script names; None where it is not compiled."""
        name = name.replace(" ", "")
        if name in ("String", "StringName", "NodePath"):
            return STRING
        for link in cls.links():
            assert link.source is not None
            if name in link.source.enums:
                return INT
        owner, _, inner = name.partition(".")
        if inner and owner in self.tree.by_class_name:
            return INT if inner in self.tree.script(self.tree.by_class_name[owner]).enums else None
        if name.startswith("Array["):
            element = self.named(name[6:-1], cls)
            if isinstance(element, RefType) or element is None:
                return ArrayType()
            return ArrayType(element, fixed=True) if not isinstance(element, ArrayType) else None
        plain = named(name, {})
        if plain is not None:
            return plain
        classes = self.tree.named(name)
        return ref(classes) if classes is not None else None

    def live_type(self, value: Any) -> Type | None:
        """The type of a live value."""
        kind = value[0]
        if kind == "null":
            return NIL
        if kind in ("bool", "int", "float"):
            return {"bool": BOOL, "int": INT, "float": FLOAT}[kind]
        if kind == "String":
            return STRING
        if kind == "node":
            return ref([self.tree.class_of[value[1]]])
        if kind == "Array":
            array = ArrayType()
            for one in value[1]:
                array.put(self.live_type(one))
            return array
        if kind == "Dictionary":
            map_ = MapType()
            for key, one in value[1]:
                map_.keys.put(self.live_type(key))
                map_.values.put(self.live_type(one))
            return map_
        if kind == "resource":
            name = self.snapshot.resources[value[1]].class_name
            return RANDOM if name == "RandomNumberGenerator" else object_type(name)
        return packed(kind) or named(kind, {}) or object_type(value[1] if kind == "object" else kind)

    def type_member(self, variable: Variable) -> None:
        """Gives a member its declared type, or that of its live values."""
        self.used.setdefault(id(variable), variable)
        if id(variable) in self._typed or variable.owner is None or variable.declaration is None:
            return
        self._typed.add(id(variable))
        declared = variable.declaration.declared
        owner = variable.owner
        if declared not in (None, ":="):
            kind = self.named(str(declared), owner)
            learned = isinstance(kind, RefType) or (isinstance(kind, ArrayType) and not kind.fixed)
            if kind is not None and not learned:
                variable.type, variable.fixed = kind, True
                return
        try:
            for cls in self.tree.derived(owner):
                for value in self.tree.values(cls, variable.name):
                    variable.type = join(variable.type, self.live_type(value))
                    variable.nullable |= value[0] == "null"
        except Conflict:
            variable.type = None
        if declared == ":=" and variable.type is not None:
            variable.fixed = not isinstance(variable.type, RefType | ArrayType | ObjectType | MapType)

    def mark_assigned(self, variable: Variable) -> None:
        self.type_member(variable)
        if not variable.assigned:
            variable.assigned = self.news = True

    def constant_value(self, variable: Variable) -> Any:
        """The live value of a member that nothing assigns and that is the same in all nodes; None otherwise."""
        if variable.assigned or variable.owner is None or variable.declaration is None:
            return None
        values = [value for cls in self.tree.derived(variable.owner) for value in self.tree.values(cls, variable.name)]
        if not values or any(one != values[0] for one in values):
            return None
        return values[0]

    def constant_text(self, variable: Variable) -> str:
        """How a constant member is written; empty where it is kept as a member."""
        value = self.constant_value(variable)
        if not self.last or value is None or variable.owner is None:
            return ""
        kind: str = value[0]
        held: Any = value[1] if len(value) > 1 else None
        if kind in ("bool", "int", "float"):
            wide = kind == "float" or (kind == "int" and variable.type in (FLOAT, NUMBER))
            text = repr(float(held)) if wide else repr(held)
            if "inf" in text or "nan" in text:
                return ""
            return self.number(f"{variable.owner.name}_{variable.name}", text)
        if kind == "String":
            return str(self.string(held))
        if named(kind, {}) in VALUES[:4] and all(map(math.isfinite, held)):
            shown = held if kind.endswith("i") else map(float, held)
            return f"{kind}({', '.join(map(repr, shown))})"
        if kind == "Rect2":
            return "Rect2(Vector2({!r}, {!r}), Vector2({!r}, {!r}))".format(*map(float, held))
        return ""

    def string(self, text: str) -> int:
        """The number that stands for a string."""
        return self.strings.setdefault(text, len(self.strings))

    def string_constant(self, text: str) -> str:
        """The name of a string's number in the generated code."""
        name = re.sub(r"\W+", "_", text).strip("_") or "empty"
        return self.number(f"TEXT_{name[:30]}", str(self.string(text)))

    def number(self, name: str, text: str) -> str:
        """A constant of the generated module."""
        plain, count = python_name(re.sub(r"\W+", "_", name)), 2
        name = plain
        while self.numbers.get(name, text) != text:
            name, count = f"{plain}_{count}", count + 1
        self.numbers[name] = text
        return name

    def use_number(self, name: str, number: int) -> str:
        return self.number(name, str(number)) if self.last else name

    # --- constants of scripts ---------------------------------------------------------------------------------------

    def constant_variable(self, link: LiveClass, constant: Declare) -> Variable:
        assert link.source is not None
        return self.script_constant(link.source, constant)

    def script_constant(self, script: Script, constant: Declare) -> Variable:
        key = script.path, constant.name
        if key not in self._declared:
            variable = Variable(constant.name, constant.line, None, constant=constant.value)
            plain = python_name(constant.name)
            taken = {one.python for one in self._declared.values()}
            stem = re.sub(r"\W", "_", script.path.rpartition("/")[2].removesuffix(".gd"))
            variable.python = plain if plain not in taken else f"{stem}_{constant.name}"
            self._declared[key] = variable
            constant.variable = variable
            variable.declared = constant.declared  # type: ignore[attr-defined]
        return self._declared[key]

    def use_constant(self, inference: ClassNames, variable: Variable) -> None:
        """Types a constant where it is used."""
        if id(variable) in self.constants and not self.last:
            return
        assert variable.constant is not None
        outer, function = inference.scope, inference.function
        inference.scope, inference.function = inference.globals, None
        try:
            variable.assigned = True
            inference._initialise(variable, getattr(variable, "declared", None), variable.constant, variable.line)
        finally:
            inference.scope, inference.function = outer, function
        self.constants[id(variable)] = (inference, variable)
