"""GDScript's operators: the type of the result, and how it is written in Python."""

from godojo.twin.gdscript.errors import Refusal
from godojo.twin.gdscript.nodes import Plan
from godojo.twin.gdscript.types import (
    BASIS,
    BOOL,
    FLOAT,
    FLOAT_VECTORS,
    INT,
    INT_VECTORS,
    NUMBER,
    NUMBERS,
    QUATERNION,
    TRANSFORM2D,
    TRANSFORM3D,
    VALUES,
    VECTOR2,
    VECTOR2I,
    VECTOR3,
    VECTORS,
    ArrayType,
    Type,
)

LEVELS = {"or": 2, "and": 3, "not": 4, "==": 5, "|": 6, "^": 7, "&": 8, "<<": 9, "+": 10, "*": 11, "-x": 12}
LEVELS |= dict.fromkeys(("!=", "<", ">", "<=", ">="), 5) | {">>": 9, "-": 10, "/": 11}
ATOM = 15
_COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
_BITS = ("&", "|", "^", "<<", ">>")
_INT_FUNCTIONS = {"/": "int_div({0}, {1})", "%": "int_mod({0}, {1})", "**": "int_pow({0}, {1})"}


def binary(op: str, left: Type, right: Type, line: int) -> Plan:
    """Any operator but `and` and `or`."""
    if op in ("in", "not in"):
        return _content(op, left, right, line)
    if left in NUMBERS and right in NUMBERS:
        return _numbers(op, left, right, line)
    if left in VALUES or right in VALUES:
        plan = _vectors(op, left, right) or _transforms(op, left, right)
        if plan is not None:
            return plan
    if left is BOOL and right is BOOL and op in ("==", "!="):
        return _written(op, [BOOL, BOOL], BOOL)
    arrays = isinstance(left, ArrayType) and isinstance(right, ArrayType) and left.element is right.element
    if arrays and op in ("==", "!="):
        text = "equal_arrays({0}, {1})"
        return Plan(text, [None, None], BOOL) if op == "==" else Plan(f"not {text}", [None, None], BOOL, level=4)
    raise Refusal(line, f"{left} {op} {right} is not compiled")


def _numbers(op: str, left: Type, right: Type, line: int) -> Plan:
    both_int = left is INT and right is INT
    common = INT if both_int else FLOAT if FLOAT in (left, right) else NUMBER
    if op in _COMPARISONS:
        return _written(op, [common, common], BOOL)
    if op in ("+", "-", "*"):
        return _written(op, [common, common], common)
    if op in _BITS and both_int:
        return _written(op, [INT, INT], INT)
    if common is NUMBER:
        which = "dividend" if left is NUMBER else "divisor"
        raise Refusal(
            line, f"`{op}` with a {which} that is an integer or a float by turns; write float(…) or declare its type"
        )
    if both_int and op in _INT_FUNCTIONS:
        return Plan(_INT_FUNCTIONS[op], [INT, INT], INT)
    if op == "/":
        return _written("/", [FLOAT, FLOAT], FLOAT)
    if op == "**":
        return Plan("float_pow({0}, {1})", [FLOAT, FLOAT], FLOAT)
    if op == "%":
        raise Refusal(line, "`%` of floats is an error in GDScript; use fmod()")
    raise Refusal(line, f"{left} {op} {right} is not compiled")


def _vectors(op: str, left: Type, right: Type) -> Plan | None:
    if left is right:
        if op in ("==", "!="):
            return _written(op, [left, left], BOOL)
        if left not in VECTORS:
            return None
        if op in ("+", "-", "*") or (op == "/" and left in FLOAT_VECTORS):
            return _written(op, [left, left], left)
    if left in INT_VECTORS and (right is left or right is INT) and op in ("/", "%"):
        return Plan(f"{{0}}.{'divided' if op == '/' else 'remainder'}({{1}})", [left, right], left)
    if left in INT_VECTORS and right is FLOAT and op in ("*", "/"):
        wide = VECTOR2 if left is VECTOR2I else VECTOR3
        return Plan(f"to_{str(wide).lower()}({{0}}) {op} {{1}}", [left, FLOAT], wide, level=LEVELS[op])
    if left in FLOAT_VECTORS and right in NUMBERS and op in ("*", "/"):
        return _written(op, [left, FLOAT], left)
    if right in FLOAT_VECTORS and left in NUMBERS and op == "*":
        return _written(op, [FLOAT, right], right)
    if left in INT_VECTORS and right is INT and op == "*":
        return _written(op, [left, INT], left)
    if right in INT_VECTORS and left is INT and op == "*":
        return _written(op, [INT, right], right)
    return None


_TURNS = {
    (TRANSFORM3D, VECTOR3): VECTOR3,
    (BASIS, VECTOR3): VECTOR3,
    (QUATERNION, VECTOR3): VECTOR3,
    (TRANSFORM2D, VECTOR2): VECTOR2,
}


def _transforms(op: str, left: Type, right: Type) -> Plan | None:
    if op != "*":
        return None
    if left is right:
        return Plan("{0}.times({1})", [left, left], left)
    if (left, right) in _TURNS:
        return Plan("{0}.xform({1})", [left, right], right)
    if (right, left) in _TURNS:
        return Plan("{1}.xform_inv({0})", [left, right], left)
    if left in (BASIS, QUATERNION) and right in NUMBERS:
        return Plan("{0}.times_number({1})", [left, FLOAT], left)
    return None


def _content(op: str, left: Type, right: Type, line: int) -> Plan:
    if not isinstance(right, ArrayType):
        raise Refusal(line, f"`{op}` {right} is not compiled")
    if right.element is not left:
        raise Refusal(line, f"{left} {op} {right}: the types must be the same")
    if op == "in":
        return Plan("contains({1}, {0})", [left, None], BOOL)
    return Plan("not contains({1}, {0})", [left, None], BOOL, level=LEVELS["not"])


def _written(op: str, params: list[Type | None], result: Type) -> Plan:
    return Plan(f"{{0}} {op} {{1}}", params, result, level=LEVELS[op])


def unary(op: str, kind: Type, line: int) -> Plan:
    """`-`, `+` and `~`."""
    if op == "~" and kind is INT:
        return Plan("~{0}", [INT], INT, level=LEVELS["-x"])
    if op == "-" and (kind in NUMBERS or kind in VECTORS):
        return Plan("-{0}", [kind], kind, level=LEVELS["-x"])
    if op == "+" and kind in NUMBERS:
        return Plan("{0}", [kind], kind)
    raise Refusal(line, f"{op}{kind} is not compiled")
