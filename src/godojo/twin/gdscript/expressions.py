"""Expressions of gdtoolkit's tree. A sign in front of a literal is part of it, as in Godot: `-2 ** 2` is 4."""

from __future__ import annotations

from typing import Any

from godojo.twin.gdscript.nodes import (
    ArrayLiteral,
    Attribute,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Name,
    Ternary,
    Unary,
    Unknown,
)

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_SPELLING = {"&&": "and", "||": "or", "!": "not"}
_REASONS = {
    "lambda": "functions inside functions are not compiled",
    "dict": "dictionaries are not compiled",
    "await_expr": "`await` is not compiled",
    "get_node": "nodes need the scene, which is not compiled yet",
    "unique_node_path": "nodes need the scene, which is not compiled yet",
    "node_path": "node paths are not compiled",
    "type_test": "type tests (`is`) are not compiled",
    "asless_type_test": "type tests (`is`) are not compiled",
}


def line_of(tree: Any) -> int:
    """The line of a tree or token; 1 where the grammar keeps none."""
    line = getattr(tree, "line", None)
    if line is None and hasattr(tree, "meta"):
        line = getattr(tree.meta, "line", None)
    return line or 1


def expression(tree: Any) -> Expr:
    """The intermediate form of an expression."""
    if not hasattr(tree, "data"):
        return _token(tree)
    kind, children, line = str(tree.data), tree.children, line_of(tree)
    plain = kind.removeprefix("asless_")
    if kind in ("expr", "par_expr", "par_pattern"):
        return expression(children[0])
    if kind in _REASONS:
        return Unknown(line, _REASONS[kind])
    if kind in ("string", "rstring", "string_name"):
        return Const(line, _string(tree))
    if plain in (
        "actual_not_test",
        "actual_neg_expr",
        "actual_bitw_not",
        "not_pattern",
        "neg_pattern",
        "bitw_not_pattern",
    ):
        op = _SPELLING.get(str(children[0]), str(children[0]))
        return Unary(line, op, expression(children[1]))
    if plain in ("test_expr", "test_pattern"):
        then, _, condition, _, other = children
        return Ternary(line, expression(condition), expression(then), expression(other))
    if plain == "actual_type_cast":
        value = expression(children[0])
        for one in children[2::2]:
            value = Cast(line, value, str(one))
        return value
    if len(children) >= 3 and plain.split("_")[0] in _BINARY:
        return _chain(children, line)
    if kind == "array":
        return ArrayLiteral(line, [expression(one) for one in children if getattr(one, "data", "") != "trailing_comma"])
    if kind == "subscr_expr":
        return Index(line, expression(children[0]), expression(children[1]))
    if kind in ("getattr", "attr_pattern"):
        return _attributes(children, line)
    if kind in ("standalone_call", "getattr_call"):
        return _call(kind, children, line)
    return Unknown(line, f"{kind.replace('_', ' ')} is not compiled")


_BINARY = {"or", "and", "content", "comparison", "comp", "bitw", "shift", "arith", "mdr", "pow"}


def pattern(tree: Any) -> Expr:
    """A constant of a `match`; arrays and dictionaries as patterns are not compiled."""
    if getattr(tree, "data", "") in ("array_pattern", "dict_pattern", "etc_pattern"):
        return Unknown(line_of(tree), "arrays and dictionaries as patterns are not compiled")
    return expression(tree)


def _token(token: Any) -> Expr:
    line, text = line_of(token), str(token)
    kind = getattr(token, "type", "")
    if kind in ("HEX", "BIN"):
        return Const(line, _wrapped(int(text.replace("_", ""), 0)))
    if kind == "NUMBER" or text[:1].isdigit() or (text[:1] in "+-." and len(text) > 1):
        digits = text.replace("_", "")
        if any(mark in digits for mark in ".eE"):
            return Const(line, float(digits))
        return Const(line, int(digits))
    if text in _WORDS:
        return Const(line, _WORDS[text])
    return Name(line, text)


def _wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _string(tree: Any) -> str:
    text = str(tree.children[0]) if not hasattr(tree.children[0], "data") else _string(tree.children[0])
    return text.strip("\"'&^r")


def _chain(children: list[Any], line: int) -> Expr:
    """`a - b + c`, from the left."""
    value = expression(children[0])
    for operator, right in zip(children[1::2], children[2::2], strict=True):
        op = "not in" if getattr(operator, "data", "") == "not_in_op" else str(operator)
        value = Binary(line, _SPELLING.get(op, op), value, expression(right))
    return value


def _attributes(children: list[Any], line: int) -> Expr:
    value = expression(children[0])
    for one in children[1:]:
        if str(one) != ".":
            value = Attribute(line, value, str(one))
    return value


def _call(kind: str, children: list[Any], line: int) -> Expr:
    args = [expression(one) for one in children[1:] if getattr(one, "data", "") != "trailing_comma"]
    if kind == "standalone_call":
        return Call(line, None, str(children[0]), args)
    function = expression(children[0])
    if not isinstance(function, Attribute):
        return Unknown(line, "a call of an expression is not compiled")
    return Call(line, function.value, function.name, args)
