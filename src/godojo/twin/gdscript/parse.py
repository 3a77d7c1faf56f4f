"""From gdtoolkit's tree of a script to the intermediate form."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from godojo import extras
from godojo.errors import GodojoError
from godojo.twin.gdscript import nodes
from godojo.twin.gdscript.errors import ScriptRefused
from godojo.twin.gdscript.expressions import expression, line_of, pattern, text_of

if TYPE_CHECKING:
    from lark import Token, Tree

_WORDS = {"break_stmt": "break", "continue_stmt": "continue", "pass_stmt": "pass", "breakpoint_stmt": "pass"}
_DOCUMENTATION = {"docstr_stmt", "pass_stmt", "classname_stmt", "annotation"}


def read_script(path: Path, shown: str | None = None) -> nodes.Script:
    """Reads a script; `shown` is its path in messages."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GodojoError(f"{shown or path} cannot be read ({error})") from None
    return parse(text, shown or str(path))


def parse(text: str, path: str) -> nodes.Script:
    """The intermediate form of a script's text."""
    from lark.exceptions import LarkError

    try:
        tree = _parser().parse(text, gather_metadata=True)
    except LarkError as error:
        line = getattr(error, "line", None) or 1
        raise ScriptRefused(path, [(max(line, 1), _syntax_error(error))]) from None
    script = nodes.Script(path, text.splitlines())
    _Reader(script).read(tree)
    return script


@functools.cache
def _parser() -> Any:
    if not extras.is_installed("twin"):
        raise extras.missing("twin")
    from gdtoolkit.parser import parser

    return parser


def _syntax_error(error: Exception) -> str:
    token = getattr(error, "token", None)
    found = f" at {str(token).strip()!r}" if token is not None and str(token).strip() else ""
    return f"gdtoolkit's parser does not understand this{found}"


class _Reader:
    def __init__(self, script: nodes.Script) -> None:
        self.script = script
        self.annotations: list[str] = []

    def read(self, tree: Tree[Token]) -> None:
        for child in tree.children:
            assert not isinstance(child, str)
            if child.data == "annotation":
                self.annotations.append(str(child.children[0]))
                continue
            try:
                self._class_statement(child)
            except _Outside as outside:
                self.script.refusals.append((outside.line, outside.reason))
            self.annotations = []

    def _class_statement(self, tree: Tree[Token]) -> None:
        kind, line = str(tree.data), line_of(tree)
        if kind in ("extends_stmt", "classname_extends_stmt"):
            words = [
                text_of(one) if hasattr(one, "data") else str(one)
                for one in tree.children
                if str(one) not in ("class_name", "extends", ".")
            ]
            if kind == "classname_extends_stmt":
                self.script.class_name, *words = words
            self.script.extends = ".".join(words)
        elif kind == "classname_stmt":
            self.script.class_name = str(tree.children[0])
        elif kind == "enum_stmt":
            self._enum(tree.children[0])
        elif kind == "signal_stmt":
            self.script.signals.append(str(tree.children[0]))
        elif kind == "const_stmt":
            declared = _declaration(tree.children[0])
            declared.is_constant = True
            self.script.constants.append(declared)
        elif kind == "class_var_stmt":
            inner: Any = tree.children[0]
            one = _declaration(inner)
            member = nodes.Member(one.name, line, one.declared, one.value, self.annotations)
            self.script.members.append(member)
            for part in inner.children:
                if getattr(part, "data", "") == "inline_property_body":
                    _property(member, part)
        elif kind in ("func_def", "static_func_def"):
            function = _function(tree)
            self.script.functions[function.name] = function
        elif kind == "property_body_def":
            _property(self.script.members[-1], tree)
        elif kind == "static_class_var_stmt":
            raise _Outside(line, "static variables are not compiled: worlds would share them")
        elif kind == "class_def":
            raise _Outside(line, f"the inner class {tree.children[0]} is not compiled")
        elif kind not in _DOCUMENTATION:
            raise _Outside(line, f"{kind.replace('_', ' ')} is not compiled")

    def _enum(self, tree: Any) -> None:
        name = str(tree.children[0]) if tree.data == "enum_named" else ""
        values = self.script.enums.setdefault(name, {})
        following = 0
        for element in tree.children[-1].children:
            if element.data != "enum_element":
                continue
            if len(element.children) > 1:
                value = _constant_int(expression(element.children[1]), values)
                if value is None:
                    raise _Outside(line_of(element), f"the value of {element.children[0]} is no plain integer")
                following = value
            values[str(element.children[0])] = following
            following += 1


def _property(member: nodes.Member, tree: Any) -> None:
    """The `get` and `set` of a member."""
    for part in tree.children:
        kind, line, children = str(part.data), line_of(part), part.children
        if kind.startswith("property_delegate"):
            member.delegates[str(children[0])] = str(children[-1])
        elif kind == "property_custom_getter":
            member.getter = nodes.Function(f"get_{member.name}", line, [], member.declared, block(children[1:]), False)
        elif kind == "property_custom_setter":
            value = nodes.Param(str(children[1]), line, member.declared, None)
            body = block(children[2:])
            member.setter = nodes.Function(f"set_{member.name}", line, [value], "void", body, False)


class _Outside(Exception):
    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


def _constant_int(value: nodes.Expr, known: dict[str, int]) -> int | None:
    match value:
        case nodes.Const(value=int(number)) if not isinstance(number, bool):
            return number
        case nodes.Name(name=name):
            return known.get(name)
        case nodes.Unary(op="-", value=inner):
            number_ = _constant_int(inner, known)
            return None if number_ is None else -number_
        case nodes.Binary(op=("<<" | "|" | "+" | "-" | "*") as op, left=left, right=right):
            a, b = _constant_int(left, known), _constant_int(right, known)
            if a is None or b is None:
                return None
            return {"<<": a << b if b >= 0 else 0, "|": a | b, "+": a + b, "-": a - b, "*": a * b}[op]
    return None


def _declaration(tree: Any) -> nodes.Declare:
    """A `var` or `const`, of a class or of a function."""
    kind, children = (
        str(tree.data),
        [one for one in tree.children if getattr(one, "data", "") != "inline_property_body"],
    )
    declared: str | None = None
    if kind.endswith(("_typed", "_typed_assgnd", "_typed_assigned")):
        declared = str(children[1])
    elif kind.endswith("_inf"):
        declared = ":="
    value = expression(children[-1]) if kind.endswith(("_assigned", "_assgnd", "_inf")) else None
    return nodes.Declare(line_of(tree), str(children[0]), declared, value)


def _function(tree: Any) -> nodes.Function:
    static = tree.data == "static_func_def"
    inner = tree.children[0] if static else tree
    header, body = inner.children[0], inner.children[1:]
    name, args = str(header.children[0]), header.children[1]
    returns = str(header.children[2]) if len(header.children) > 2 else None
    params = [_param(one) for one in args.children if getattr(one, "data", "") != "trailing_comma"]
    return nodes.Function(name, line_of(tree), params, returns, block(body), static)


def _param(tree: Any) -> nodes.Param:
    kind = str(tree.data)
    if kind == "func_arg_variadic":
        return nodes.Param(str(tree.children[-1]), line_of(tree), "...", None)
    declared = ":=" if kind == "func_arg_inf" else str(tree.children[1]) if kind == "func_arg_typed" else None
    has_default = hasattr(tree.children[-1], "data")
    return nodes.Param(
        str(tree.children[0]), line_of(tree), declared, expression(tree.children[-1]) if has_default else None
    )


def block(trees: list[Any]) -> list[nodes.Stmt]:
    return [_statement(one) for one in trees if getattr(one, "data", "") != "annotation"]


def _statement(tree: Any) -> nodes.Stmt:
    kind, line, children = str(tree.data), line_of(tree), tree.children
    if kind in ("func_var_stmt", "const_stmt"):
        declared = _declaration(children[0])
        declared.is_constant = kind == "const_stmt"
        return declared
    if kind == "expr_stmt":
        inner = children[0].children[0]
        if getattr(inner, "data", "") == "assnmnt_expr":
            target, op, value = inner.children
            return nodes.Assign(line, expression(target), str(op)[:-1], expression(value))
        return nodes.Do(line, expression(inner))
    if kind == "return_stmt":
        return nodes.Return(line, expression(children[0]) if children else None)
    if kind == "if_stmt":
        branches = [(expression(one.children[0]), block(one.children[1:])) for one in children
                    if one.data in ("if_branch", "elif_branch")]  # fmt: skip
        last = children[-1]
        return nodes.If(line, branches, block(last.children) if last.data == "else_branch" else [])
    if kind == "while_stmt":
        return nodes.While(line, expression(children[0]), block(children[1:]))
    if kind == "for_stmt":
        return nodes.For(line, str(children[0]), None, expression(children[1]), block(children[2:]))
    if kind == "for_stmt_typed":
        return nodes.For(line, str(children[0]), str(children[1]), expression(children[2]), block(children[3:]))
    if kind == "match_stmt":
        return nodes.Match(line, expression(children[0]), [_branch(one) for one in children[1:]])
    if kind in _WORDS:
        return nodes.Jump(line, _WORDS[kind])
    return nodes.Unsupported(line, f"{re.sub('_stmt$', '', kind).replace('_', ' ')} is not compiled")


def _branch(tree: Any) -> nodes.Branch:
    patterns = tree.children[0].children
    if len(patterns) == 1 and getattr(patterns[0], "data", "") == "list_pattern":
        patterns = patterns[0].children
    guarded = tree.data == "guarded_match_branch"
    branch = nodes.Branch(line_of(tree), [], False, None, None, block(tree.children[2 if guarded else 1 :]))
    if guarded:
        branch.guard = expression(tree.children[1])
    for one in patterns:
        kind = getattr(one, "data", "")
        if kind == "wildcard_pattern" or str(one) == "_":
            branch.wildcard = True
        elif kind == "var_capture_pattern":
            branch.wildcard, branch.binds = True, str(one.children[0])
        else:
            branch.patterns.append(pattern(one))
    return branch
