"""`get_info` of an agent: what a trainer reads of it, kept in two members of the agent."""

from __future__ import annotations

import copy

from godojo.twin.gdscript.nodes import (
    Assign,
    Const,
    DictLiteral,
    For,
    Function,
    If,
    Match,
    Name,
    Return,
    Stmt,
    While,
)

KEYS = {"is_success": "_info_success", "TimeLimit.truncated": "_info_cut"}
"""What a trainer reads, and the hidden member that keeps it: NaN if the game does not say."""


def reporting(function: Function) -> Function | None:
    """A function that keeps what `get_info` returns; None where it returns anything but dictionaries in braces."""
    made = copy.deepcopy(function)
    made.returns = "void"
    return made if _block(made.body) else None


def says_nothing(function: Function) -> bool:
    """Whether it always returns an empty dictionary."""
    body = function.body
    return len(body) == 1 and isinstance(body[0], Return) and _pairs(body[0]) == []


def _pairs(statement: Return) -> list[tuple[str, Stmt]] | None:
    value = statement.value
    if not isinstance(value, DictLiteral) or not all(isinstance(one, Const) for one in value.keys):
        return None
    pairs = [(str(one.value), two) for one, two in zip(value.keys, value.values, strict=True) if isinstance(one, Const)]
    line = statement.line
    return [(key, Assign(line, Name(line, KEYS[key]), "", value)) for key, value in pairs if key in KEYS]


def _block(body: list[Stmt]) -> bool:
    for i, statement in enumerate(body):
        match statement:
            case Return():
                pairs = _pairs(statement)
                if pairs is None:
                    return False
                body[i:] = [*(one for _, one in pairs), Return(statement.line, None)]
                return True
            case If(branches=branches, otherwise=otherwise):
                inner = [*(one for _, one in branches), otherwise]
            case While(body=one) | For(body=one):
                inner = [one]
            case Match(branches=parts):
                inner = [one.body for one in parts]
            case _:
                continue
        if not all(_block(one) for one in inner):
            return False
    return True
