"""Expressions of gdtoolkit's tree. A sign in front of a literal is part of it, as in Godot: `-2 ** 2` is 4."""

from __future__ import annotations

from typing import Any

from godojo.twin.gdscript.nodes import (
    ArrayLiteral,
    Attribute,
    Await,
    Binary,
    Call,
    Cast,
    Const,
    DictLiteral,
    Expr,
    Index,
    Lambda,
    Name,
    NodeAt,
    Ternary,
    TypeTest,
    Unary,
    Unknown,
)

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_SPELLING = {"&&": "and", "||": "or", "!": "not"}
_REASONS = {
    "node_path": "node paths are not compiled",
}
_SCENE = "nodes need the scene, which `twin compile` does not have"


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
    if kind == "lambda":
        return _lambda(children, line)
    if kind in _REASONS:
        return Unknown(line, _REASONS[kind])
    if kind in ("string", "rstring", "string_name"):
        return Const(line, text_of(tree))
    if kind in ("get_node", "unique_node_path"):
        return NodeAt(line, _SCENE, ("%" if kind == "unique_node_path" else "") + _path(children[-1]))
    if kind == "dict":
        return _dictionary(children, line)
    if kind == "await_expr":
        return Await(line, "`await` is not compiled", expression(children[-1]))
    if plain == "type_test":
        to, negated = str(children[2]), str(children[1]) != "is"
        return TypeTest(line, "type tests (`is`) are not compiled", expression(children[0]), to, negated)
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


def text_of(tree: Any) -> str:
    """What a string literal holds."""
    text = str(tree.children[0]) if not hasattr(tree.children[0], "data") else text_of(tree.children[0])
    return text.lstrip("&^r").strip("\"'")


def _path(tree: Any) -> str:
    """The path behind `$` or `%`."""
    if not hasattr(tree, "data"):
        return str(tree)
    return text_of(tree) if tree.data == "string" else "".join(_path(one) for one in tree.children)


def _dictionary(children: list[Any], line: int) -> Expr:
    made = DictLiteral(line, "dictionaries are not compiled", [], [])
    for one in children:
        if getattr(one, "data", "") == "trailing_comma":
            continue
        key, value = one.children[0], one.children[-1]
        lua = one.data == "eq_dict_element"
        made.keys.append(Const(line_of(one), str(key)) if lua and not hasattr(key, "data") else expression(key))
        made.values.append(expression(value))
    return made


def _lambda(children: list[Any], line: int) -> Expr:
    from godojo.twin.gdscript.parse import block

    args = next(one for one in children[0].children if getattr(one, "data", "") == "func_args")
    params = [str(one.children[0]) for one in args.children if getattr(one, "data", "") != "trailing_comma"]
    return Lambda(
        line, "functions inside functions are compiled for methods of arrays only", params, block(children[1:])
    )


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
