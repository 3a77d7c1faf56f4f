"""What scripts call: Godot's global functions, methods of vectors, arrays and generators, and how each is written."""

from __future__ import annotations

from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.nodes import Plan
from godojo.twin.gdscript.types import (
    BASIS,
    BOOL,
    FLOAT,
    FLOAT_VECTORS,
    INT,
    INT_VECTORS,
    NULL,
    NUMBER,
    NUMBERS,
    QUATERNION,
    RANDOM,
    RECT2,
    STRING,
    TRANSFORM2D,
    TRANSFORM3D,
    VALUES,
    VECTOR2,
    VECTOR2I,
    VECTOR3,
    VECTOR3I,
    VECTORS,
    ArrayType,
    Conflict,
    RefType,
    Type,
    join,
    packed,
)

_FLOATS = {
    1: "sin cos tan sinh cosh tanh asin acos atan exp log sqrt deg_to_rad rad_to_deg",
    2: "atan2 fmod fposmod angle_difference pingpong ease",
    3: "lerp_angle inverse_lerp smoothstep move_toward rotate_toward wrapf",
    5: "remap",
}
_FIXED: dict[str, Plan] = {
    name: Plan(f"{name}({', '.join(f'{{{i}}}' for i in range(count))})", [FLOAT] * count, FLOAT)
    for count, names in _FLOATS.items()
    for name in names.split()
}
_FIXED |= {
    "pow": Plan("float_pow({0}, {1})", [FLOAT, FLOAT], FLOAT),
    "lerpf": Plan("lerp({0}, {1}, {2})", [FLOAT] * 3, FLOAT),
    "absf": Plan("absolute({0})", [FLOAT], FLOAT),
    "absi": Plan("int_abs({0})", [INT], INT),
    "signf": Plan("sign({0})", [FLOAT], FLOAT),
    "signi": Plan("int_sign({0})", [INT], INT),
    "floorf": Plan("floor({0})", [FLOAT], FLOAT),
    "ceilf": Plan("ceil({0})", [FLOAT], FLOAT),
    "roundf": Plan("round_away({0})", [FLOAT], FLOAT),
    "floori": Plan("floori({0})", [FLOAT], INT),
    "ceili": Plan("ceili({0})", [FLOAT], INT),
    "roundi": Plan("roundi({0})", [FLOAT], INT),
    "maxf": Plan("maximum({0}, {1})", [FLOAT, FLOAT], FLOAT),
    "minf": Plan("minimum({0}, {1})", [FLOAT, FLOAT], FLOAT),
    "maxi": Plan("maximum({0}, {1})", [INT, INT], INT),
    "mini": Plan("minimum({0}, {1})", [INT, INT], INT),
    "clampf": Plan("clamp({0}, {1}, {2})", [FLOAT] * 3, FLOAT),
    "clampi": Plan("clamp({0}, {1}, {2})", [INT] * 3, INT),
    "wrapi": Plan("wrapi({0}, {1}, {2})", [INT] * 3, INT),
    "posmod": Plan("posmod({0}, {1})", [INT, INT], INT),
    "snappedf": Plan("snapped({0}, {1})", [FLOAT, FLOAT], FLOAT),
    "snappedi": Plan("snappedi({0}, {1})", [FLOAT, INT], INT),
    "is_equal_approx": Plan("is_equal_approx({0}, {1})", [FLOAT, FLOAT], BOOL),
    "is_zero_approx": Plan("is_zero_approx({0})", [FLOAT], BOOL),
    "is_nan": Plan("is_nan({0})", [FLOAT], BOOL),
    "is_inf": Plan("is_inf({0})", [FLOAT], BOOL),
    "is_finite": Plan("is_finite({0})", [FLOAT], BOOL),
    "randi": Plan("randi(self.random)", [], INT, pure=False),
    "randf": Plan("randf(self.random)", [], FLOAT, pure=False),
    "randf_range": Plan("randf_range(self.random, {0}, {1})", [FLOAT, FLOAT], FLOAT, pure=False),
    "randfn": Plan("randfn(self.random, {0}, {1})", [FLOAT, FLOAT], FLOAT, pure=False),
    "randi_range": Plan("randi_range(self.random, {0}, {1})", [INT, INT], INT, pure=False),
    "seed": Plan("seed(self.random, {0})", [INT], NULL, pure=False),
}
_ROUNDING = {"floor": "floor", "ceil": "ceil", "round": "round_away"}
CONSTANTS = {"PI": FLOAT, "TAU": FLOAT, "INF": FLOAT, "NAN": FLOAT}
_SIZED = {VECTOR2: 2, VECTOR3: 3, VECTOR2I: 2, VECTOR3I: 3}
_FIELDS: dict[Type, dict[str, Type]] = {
    VECTOR2: dict.fromkeys("xy", FLOAT),
    VECTOR3: dict.fromkeys("xyz", FLOAT),
    VECTOR2I: dict.fromkeys("xy", INT),
    VECTOR3I: dict.fromkeys("xyz", INT),
    QUATERNION: dict.fromkeys("xyzw", FLOAT),
    BASIS: dict.fromkeys("xyz", VECTOR3),
    TRANSFORM3D: {"basis": BASIS, "origin": VECTOR3},
    TRANSFORM2D: dict.fromkeys(("x", "y", "origin"), VECTOR2),
    RECT2: dict.fromkeys(("position", "size", "end"), VECTOR2),
}
_INDEXED = (*VECTORS, BASIS)
_OTHER = {VECTOR2: VECTOR2I, VECTOR3: VECTOR3I, VECTOR2I: VECTOR2, VECTOR3I: VECTOR3}
VECTOR_CONSTANTS: dict[str, dict[str, tuple[int, ...]]] = {
    "Vector2": {"ZERO": (0, 0), "ONE": (1, 1), "LEFT": (-1, 0), "RIGHT": (1, 0), "UP": (0, -1), "DOWN": (0, 1)},
    "Vector3": {
        "ZERO": (0, 0, 0),
        "ONE": (1, 1, 1),
        "LEFT": (-1, 0, 0),
        "RIGHT": (1, 0, 0),
        "UP": (0, 1, 0),
        "DOWN": (0, -1, 0),
        "FORWARD": (0, 0, -1),
        "BACK": (0, 0, 1),
    },
}
VECTOR_CONSTANTS["Vector2i"] = VECTOR_CONSTANTS["Vector2"]
VECTOR_CONSTANTS["Vector3i"] = VECTOR_CONSTANTS["Vector3"]

V = Type("the same vector")
_VECTOR_METHODS: dict[str, tuple[list[Type], Type]] = {
    **dict.fromkeys(["length", "length_squared"], ([], FLOAT)),
    **dict.fromkeys(["normalized", "abs", "sign", "floor", "ceil", "round"], ([], V)),
    **dict.fromkeys(["dot", "distance_to", "distance_squared_to", "angle_to"], ([V], FLOAT)),
    **dict.fromkeys(["direction_to", "project", "slide", "bounce", "reflect", "snapped", "min", "max"], ([V], V)),
    **dict.fromkeys(["is_normalized", "is_zero_approx", "is_finite"], ([], BOOL)),
    "is_equal_approx": ([V], BOOL),
    "lerp": ([V, FLOAT], V),
    "move_toward": ([V, FLOAT], V),
    "limit_length": ([FLOAT], V),
    "clamp": ([V, V], V),
}
_INT_VECTOR_METHODS: dict[str, tuple[list[Type], Type]] = {
    "abs": ([], V),
    "length": ([], FLOAT),
    "length_squared": ([], INT),
    "distance_to": ([V], FLOAT),
    "distance_squared_to": ([V], INT),
}
_OWN_METHODS: dict[Type, dict[str, tuple[list[Type], Type]]] = {
    VECTOR2: {
        **_VECTOR_METHODS,
        "angle": ([], FLOAT),
        "angle_to_point": ([V], FLOAT),
        "rotated": ([FLOAT], V),
        "cross": ([V], FLOAT),
        "orthogonal": ([], V),
    },
    VECTOR3: {
        **_VECTOR_METHODS,
        "cross": ([V], V),
        "rotated": ([V, FLOAT], V),
        "signed_angle_to": ([V, V], FLOAT),
        "inverse": ([], V),
    },
    VECTOR2I: _INT_VECTOR_METHODS,
    VECTOR3I: _INT_VECTOR_METHODS,
    QUATERNION: {
        **dict.fromkeys(["normalized", "inverse"], ([], V)),
        **dict.fromkeys(["length", "length_squared", "get_angle"], ([], FLOAT)),
        "dot": ([V], FLOAT),
        "slerp": ([V, FLOAT], V),
        "is_normalized": ([], BOOL),
        "is_equal_approx": ([V], BOOL),
        "get_euler": ([], VECTOR3),
    },
    BASIS: {
        **dict.fromkeys(["inverse", "transposed", "orthonormalized"], ([], V)),
        **dict.fromkeys(["scaled", "scaled_local"], ([VECTOR3], V)),
        **dict.fromkeys(["get_euler", "get_scale"], ([], VECTOR3)),
        **dict.fromkeys(["get_quaternion", "get_rotation_quaternion"], ([], QUATERNION)),
        "rotated": ([VECTOR3, FLOAT], V),
        "slerp": ([V, FLOAT], V),
        "determinant": ([], FLOAT),
        "is_equal_approx": ([V], BOOL),
    },
    TRANSFORM3D: {
        **dict.fromkeys(["inverse", "affine_inverse", "orthonormalized"], ([], V)),
        **dict.fromkeys(["scaled", "scaled_local", "translated", "translated_local"], ([VECTOR3], V)),
        **dict.fromkeys(["rotated", "rotated_local"], ([VECTOR3, FLOAT], V)),
        "looking_at": ([VECTOR3, VECTOR3, BOOL], V),
        "interpolate_with": ([V, FLOAT], V),
        "is_equal_approx": ([V], BOOL),
    },
    TRANSFORM2D: {
        **dict.fromkeys(["inverse", "affine_inverse", "orthonormalized"], ([], V)),
        **dict.fromkeys(["translated", "translated_local", "scaled"], ([VECTOR2], V)),
        **dict.fromkeys(["rotated", "rotated_local"], ([FLOAT], V)),
        **dict.fromkeys(["get_rotation", "get_skew", "determinant"], ([], FLOAT)),
        **dict.fromkeys(["get_origin", "get_scale"], ([], VECTOR2)),
        "basis_xform": ([VECTOR2], VECTOR2),
        "basis_xform_inv": ([VECTOR2], VECTOR2),
    },
    RECT2: {
        **dict.fromkeys(["intersects", "encloses"], ([V], BOOL)),
        "has_point": ([VECTOR2], BOOL),
        "has_area": ([], BOOL),
        "get_area": ([], FLOAT),
        "get_center": ([], VECTOR2),
        "grow": ([FLOAT], V),
        "abs": ([], V),
    },
}
VALUE_METHODS = {name for methods in _OWN_METHODS.values() for name in methods}
"""Methods of vectors and matrices: none of them changes anything."""
_UP = "Vector3(0.0, 1.0, 0.0)"
_DEFAULTS = {"limit_length": ["1.0"], "looking_at": [_UP, "False"]}
"""The last arguments of methods, where they are optional."""
_IDENTITIES = {
    "Basis": "identity_basis()",
    "Transform3D": "identity_transform()",
    "Transform2D": "identity_transform2d()",
    "Quaternion": "Quaternion(0.0, 0.0, 0.0, 1.0)",
    "Rect2": "Rect2(Vector2(0.0, 0.0), Vector2(0.0, 0.0))",
}
_MAKERS_OF_VALUES: dict[str, list[tuple[list[Type], str]]] = {
    "Basis": [
        ([VECTOR3, FLOAT], "basis_from_axis_angle({0}, {1})"),
        ([VECTOR3, VECTOR3, VECTOR3], "basis_of({0}, {1}, {2})"),
        ([QUATERNION], "basis_from_quaternion({0})"),
    ],
    "Transform3D": [
        ([BASIS, VECTOR3], "Transform3D({0}, {1})"),
        ([VECTOR3] * 4, "Transform3D(basis_of({0}, {1}, {2}), {3})"),
    ],
    "Transform2D": [
        ([FLOAT, VECTOR2], "transform2d_from_angle({0}, {1})"),
        ([VECTOR2] * 3, "Transform2D({0}, {1}, {2})"),
    ],
    "Quaternion": [
        ([VECTOR3, FLOAT], "quaternion_from_axis_angle({0}, {1})"),
        ([FLOAT] * 4, "Quaternion({0}, {1}, {2}, {3})"),
        ([BASIS], "{0}.get_quaternion()"),
    ],
    "Rect2": [
        ([VECTOR2, VECTOR2], "Rect2({0}, {1})"),
        ([FLOAT] * 4, "Rect2(Vector2({0}, {1}), Vector2({2}, {3}))"),
    ],
}
_STATIC: dict[tuple[str, str], tuple[list[Type], Type, str, list[str]]] = {
    ("Vector2", "from_angle"): ([FLOAT], VECTOR2, "vector2_from_angle({0})", []),
    ("Basis", "from_euler"): ([VECTOR3], BASIS, "basis_from_euler({0})", []),
    ("Basis", "from_scale"): ([VECTOR3], BASIS, "basis_from_scale({0})", []),
    ("Basis", "looking_at"): ([VECTOR3, VECTOR3, BOOL], BASIS, "basis_looking_at({0}, {1}, {2})", [_UP, "False"]),
    ("Quaternion", "from_euler"): ([VECTOR3], QUATERNION, "quaternion_from_euler({0})", []),
}
_RANDOM_METHODS = {
    "randi": Plan("randi({r})", [], INT, pure=False),
    "randf": Plan("rng_randf({r})", [], FLOAT, pure=False),
    "randf_range": Plan("rng_randf_range({r}, {0}, {1})", [FLOAT, FLOAT], FLOAT, pure=False),
    "randi_range": Plan("randi_range({r}, {0}, {1})", [INT, INT], INT, pure=False),
}


def fields(kind: Type) -> dict[str, Type]:
    """The parts of a value, by name."""
    return _FIELDS.get(kind, {})


def indexed(kind: Type) -> str:
    """The parts that `value[0]`, `value[1]`… name."""
    return "".join(_FIELDS[kind]) if kind in _INDEXED else ""


def constant_value(owner: str, name: str) -> Plan | None:
    """`Vector3.ZERO` and the like."""
    kind = next((one for one in VALUES if one.name == owner), None)
    if kind is None:
        return None
    if name == "INF" and owner in ("Vector2", "Vector3"):
        return Plan(f"{owner}({', '.join(['INF'] * _SIZED[kind])})", [], kind)
    if name == "IDENTITY" and owner in _IDENTITIES:
        return Plan(_IDENTITIES[owner], [], kind)
    numbers = VECTOR_CONSTANTS.get(owner, {}).get(name)
    if numbers is None:
        return None
    shown = numbers if owner.endswith("i") else map(float, numbers)
    return Plan(f"{owner}({', '.join(map(str, shown))})", [], kind)


def global_call(name: str, args: list[Type], line: int) -> Plan | None:
    """A function of `@GlobalScope` or a constructor; None where there is none of this name."""
    if name in _FIXED:
        plan = _FIXED[name]
        _expect(name, args, plan.params, line)
        return plan
    if name in ("int", "float", "bool") and len(args) == 1:
        target = {"int": INT, "float": FLOAT, "bool": BOOL}[name]
        if args[0] not in (BOOL, *NUMBERS):
            raise Refusal(line, f"{name}() of {args[0]} is not compiled")
        return Plan("{0}", [target], target)
    if name in ("Vector2", "Vector3", "Vector2i", "Vector3i"):
        return _constructor(name, args, line)
    if name in _MAKERS_OF_VALUES:
        return _value(name, args, line)
    if (array := packed(name)) is not None and not args:
        return Plan(f"{array_maker(array, line)}()", [], array)
    return _generic(name, args, line)


def is_pure_function(name: str) -> bool:
    """Whether it is a global function or constructor that changes nothing and draws no random number."""
    if name in _FIXED:
        return _FIXED[name].pure
    generic = {"abs", "sign", "min", "max", "clamp", "wrap", "snapped", "lerp", *_ROUNDING, "int", "float", "bool"}
    return name in generic or any(one.name == name for one in VALUES) or name in ("range", "len", "Color")


def _constructor(name: str, args: list[Type], line: int) -> Plan:
    kind = {"Vector2": VECTOR2, "Vector3": VECTOR3, "Vector2i": VECTOR2I, "Vector3i": VECTOR3I}[name]
    if not args:
        return Plan(zero(kind, line), [], kind)
    if len(args) == 1 and args[0] is kind:
        return Plan("{0}", [kind], kind)
    if len(args) == 1 and args[0] is _OTHER[kind]:
        return Plan(f"to_{name.lower()}({{0}})", [args[0]], kind)
    if len(args) != _SIZED[kind] or any(one not in NUMBERS for one in args):
        raise Refusal(line, f"{name}({', '.join(map(str, args))}) is not compiled")
    places = ", ".join(f"{{{i}}}" for i in range(len(args)))
    return Plan(f"{name}({places})", list(_FIELDS[kind].values()), kind)


def _value(name: str, args: list[Type], line: int) -> Plan:
    kind = next(one for one in VALUES if one.name == name)
    if not args:
        return Plan(_IDENTITIES[name], [], kind)
    if args == [kind]:
        return Plan("{0}", [kind], kind)
    for params, text in _MAKERS_OF_VALUES[name]:
        if len(params) == len(args) and all(map(converts, args, params)):
            return Plan(text, list(params), kind)
    raise Refusal(line, f"{name}({', '.join(map(str, args))}) is not compiled")


def _generic(name: str, args: list[Type], line: int) -> Plan | None:
    """Functions whose result has the type of their arguments."""
    if name in ("abs", "sign", *_ROUNDING) and len(args) == 1:
        return _same_kind(name, args[0], line)
    if name in ("min", "max", "clamp"):
        if len(args) < 2 or (name == "clamp" and len(args) != 3) or any(one not in NUMBERS for one in args):
            raise Refusal(line, f"{name}({', '.join(map(str, args))}) is not compiled")
        kind = args[0] if len(set(args)) == 1 else NUMBER
        if name == "clamp":
            return Plan("clamp({0}, {1}, {2})", [kind] * 3, kind)
        word, text = {"min": "minimum", "max": "maximum"}[name], "{0}"
        for i in range(1, len(args)):
            text = f"{word}({text}, {{{i}}})"
        return Plan(text, [kind] * len(args), kind)
    if name == "wrap" and len(args) == 3 and all(one in (INT, FLOAT) for one in args):
        kind = INT if all(one is INT for one in args) else FLOAT
        return Plan(("wrapi" if kind is INT else "wrapf") + "({0}, {1}, {2})", [kind] * 3, kind)
    if name == "snapped" and len(args) == 2:
        if args[0] in (INT, FLOAT) and args[1] in (INT, FLOAT):
            return Plan("snappedi({0}, {1})", [FLOAT, INT], INT) if args[1] is INT else _FIXED["snappedf"]
        if args[0] is args[1] and args[0] in FLOAT_VECTORS:
            return Plan("{0}.snapped({1})", [args[0], args[0]], args[0])
        raise Refusal(line, f"snapped({args[0]}, {args[1]}) is not compiled")
    if name == "lerp" and len(args) == 3:
        if args[0] is args[1] and args[0] in (INT, FLOAT):
            return Plan("lerp({0}, {1}, {2})", [FLOAT] * 3, FLOAT)
        if args[0] is args[1] and args[0] in FLOAT_VECTORS:
            return Plan("{0}.lerp({1}, {2})", [args[0], args[0], FLOAT], args[0])
        raise Refusal(line, f"lerp({args[0]}, {args[1]}, …) is an error in Godot: both must have the same type")
    return None


def _same_kind(name: str, kind: Type, line: int) -> Plan:
    if kind in FLOAT_VECTORS or (kind in INT_VECTORS and name == "abs"):
        return Plan(f"{{0}}.{name}()", [kind], kind)
    if kind is INT:
        return Plan({"abs": "int_abs({0})", "sign": "int_sign({0})"}.get(name, "{0}"), [INT], INT)
    if kind in (FLOAT, NUMBER):
        return Plan({"abs": "absolute", "sign": "sign", **_ROUNDING}[name] + "({0})", [kind], kind)
    raise Refusal(line, f"{name}({kind}) is not compiled")


def static_call(owner: str, name: str, args: list[Type]) -> Plan | None:
    """A static method of a built-in type, or `new`."""
    if owner == "RandomNumberGenerator" and name == "new" and not args:
        return Plan("new_random()", [], RANDOM, pure=False)
    if (owner, name) in _STATIC:
        params, result, text, defaults = _STATIC[owner, name]
        missing = len(params) - len(args)
        if 0 <= missing <= len(defaults):
            places = [f"{{{i}}}" for i in range(len(args))] + (defaults[-missing:] if missing else [])
            return Plan(text.format(*places), list(params[: len(args)]), result)
    return None


def method_call(kind: Type, name: str, args: list[Type], line: int) -> Plan | None:
    """A method of a value; None where its type has none of this name that is compiled."""
    if kind in VALUES and name in _OWN_METHODS[kind]:
        params, result = _OWN_METHODS[kind][name]
        wanted: list[Type | None] = [kind if one is V else one for one in params]
        missing, defaults = len(wanted) - len(args), _DEFAULTS.get(name, [])
        filled = defaults[-missing:] if 0 < missing <= len(defaults) else []
        wanted = wanted[: len(wanted) - len(filled)]
        _expect(name, args, wanted, line)
        places = ", ".join([*(f"{{{i}}}" for i in range(len(args))), *filled])
        return Plan(f"{{r}}.{name}({places})", wanted, kind if result is V else result)
    if kind is RANDOM and name in _RANDOM_METHODS:
        plan = _RANDOM_METHODS[name]
        _expect(name, args, plan.params, line)
        return plan
    if isinstance(kind, ArrayType):
        return _array_method(kind, name, args, line)
    return None


_ARRAY_METHODS: dict[str, tuple[str, int]] = {
    # how it is written, and how many elements it takes as arguments
    "append": ("append({r}, {0})", 1),
    "push_back": ("append({r}, {0})", 1),
    "push_front": ("insert({r}, 0, {0})", 1),
    "erase": ("erase({r}, {0})", 1),
    "fill": ("fill({r}, {0})", 1),
    "clear": ("clear({r})", 0),
    "reverse": ("{r}.reverse()", 0),
    "sort": ("sort({r})", 0),
    "shuffle": ("shuffle(self.random, {r})", 0),
}
_ARRAY_ELEMENTS = {
    "back": "{r}[-1]",
    "front": "{r}[0]",
    "pop_back": "{r}.pop()",
    "pop_front": "{r}.pop(0)",
    "pick_random": "pick_random(self.random, {r})",
    "max": "largest({r})",
    "min": "smallest({r})",
}


def _array_method(kind: ArrayType, name: str, args: list[Type], line: int) -> Plan | None:
    element = kind.element
    if name in _ARRAY_METHODS and len(args) == _ARRAY_METHODS[name][1]:
        if name == "sort" and element not in (INT, FLOAT, None):
            raise Refusal(line, f"sort() of {kind} is not compiled")
        refs = isinstance(element, RefType) and isinstance(args[0] if args else None, RefType)
        if name == "erase" and args[0] is not element and not refs:
            raise Refusal(line, f"erase({args[0]}) in {kind} is not compiled")
        return Plan(_ARRAY_METHODS[name][0], [element] * len(args), NULL, pure=False)
    if name in _ARRAY_ELEMENTS and not args:
        if name in ("max", "min") and element not in (INT, FLOAT, None):
            raise Refusal(line, f"{name}() of {kind} is not compiled")
        return Plan(_ARRAY_ELEMENTS[name], [], element, pure=not name.startswith("p"))
    if name == "pop_at" and args == [INT]:
        return Plan("{r}.pop({0})", [INT], element, pure=False)
    if name == "remove_at" and args == [INT]:
        return Plan("{r}.pop({0})", [INT], NULL, pure=False)
    if name == "insert" and len(args) == 2 and args[0] is INT:
        return Plan("insert({r}, {0}, {1})", [INT, element], NULL, pure=False)
    if name in ("append_array",) and len(args) == 1 and isinstance(args[0], ArrayType):
        added = args[0].element
        numbers = element in (FLOAT, NUMBER) and added in (BOOL, *NUMBERS)
        refs = isinstance(element, RefType) and isinstance(added, RefType)
        if element is not None and added not in (element, None) and not numbers and not refs:
            raise Refusal(line, f"append_array({args[0]}) to {kind} is not compiled")
        return Plan("append_array({r}, {0})", [None], NULL, pure=False)
    if name == "resize" and len(args) == 1 and (kind.root.fixed or element is None):
        if element is None:
            raise Refusal(line, "resize() of an untyped array fills it with null")
        return Plan(f"resize({{r}}, {{0}}, {zero(element, line)})", [INT], NULL, pure=False)
    if name == "size" and not args:
        return Plan("size({r})", [], INT)
    if name == "is_empty" and not args:
        return Plan("size({r}) == 0", [], BOOL, level=5)
    if name in ("has", "find", "count") and len(args) == 1:
        refs = isinstance(element, RefType) and isinstance(args[0], RefType)
        if element is not None and args[0] is not element and not refs:
            raise Refusal(line, f"{name}({args[0]}) in {kind}: the types must be the same")
        word = {"has": "contains"}.get(name, name)
        return Plan(f"{word}({{r}}, {{0}})", [element], BOOL if name == "has" else INT)
    if name == "slice" and args in ([INT], [INT, INT]):
        part = ArrayType(element, kind.root.fixed, kind.root.narrow, kind.root.name)
        end = "{1}" if len(args) == 2 else "size({r})"
        return Plan(f"sliced({array_maker(kind, line)}(), {{r}}, {{0}}, {end})", [INT] * len(args), part)
    if name == "duplicate" and not args:
        copy = ArrayType(element, kind.root.fixed, kind.root.narrow, kind.root.name)
        return Plan("duplicate({r})", [], copy)
    return None


_MAKERS = {
    BOOL: "bool_array",
    INT: "int_array",
    STRING: "int_array",
    FLOAT: "float_array",
    NUMBER: "float_array",
    VECTOR2: "vector2_array",
    VECTOR3: "vector3_array",
    VECTOR2I: "vector2i_array",
    VECTOR3I: "vector3i_array",
}


def new_array(kind: ArrayType, items: list[str], line: int) -> str:
    """An array of these items."""
    if isinstance(kind.element, RefType):
        from godojo.twin.gdscript.live import common

        null = common(list(kind.element.classes)) if kind.element.classes else "Node"
        return f"ref_array({', '.join([f'{null}()', *items])})"
    return f"{array_maker(kind, line)}({', '.join(items)})"


def array_maker(kind: ArrayType, line: int) -> str:
    """The function that makes such an array."""
    element = kind.element
    if element not in _MAKERS:
        raise Refusal(line, f"an array of {element or 'nothing that is known'} is not compiled")
    return _MAKERS[element]


def zero(kind: Type, line: int) -> str:
    """What a variable of this type holds before anything is assigned."""
    if isinstance(kind, ArrayType):
        return new_array(kind, [], line)
    if kind.name in _IDENTITIES:
        return _IDENTITIES[kind.name]
    if kind in VECTORS:
        return f"{kind}({', '.join(['0.0' if kind in FLOAT_VECTORS else '0'] * _SIZED[kind])})"
    if kind is RANDOM:
        raise Refusal(line, "a RandomNumberGenerator that is null is not compiled; add `= RandomNumberGenerator.new()`")
    return {BOOL: "False", INT: "0", FLOAT: "0.0", NUMBER: "0.0"}[kind]


def _expect(name: str, args: list[Type], params: list[Type | None], line: int) -> None:
    if len(args) != len(params):
        raise Refusal(line, f"{name}() takes {len(params)} arguments here, not {len(args)}")
    for got, wanted in zip(args, params, strict=True):
        if wanted is not None and not converts(got, wanted):
            raise Refusal(line, f"{name}() of {got} is not compiled; it takes {wanted}")


def converts(got: Type, wanted: Type) -> bool:
    """Whether Godot turns a value of one type into the other where the script declares it."""
    if got is wanted or (got in (BOOL, *NUMBERS) and wanted in (BOOL, *NUMBERS)) or _OTHER.get(got) is wanted:
        return True
    if isinstance(got, RefType) and isinstance(wanted, RefType):
        return True
    if isinstance(got, ArrayType) and isinstance(wanted, ArrayType):
        try:
            join(wanted, got)
        except Conflict:
            return False
        return True
    return False
