"""Explains typing mistakes on the command line."""

import re
from typing import Any

from typer.exceptions import TyperException

from godojo.errors import command, known, unknown

_TYPES = {"float": "a number", "int": "a whole number", "bool": "true or false"}


def explain(error: TyperException) -> str:
    """One sentence about the mistake, with the help to read."""
    context: Any = getattr(error, "ctx", None)
    words = context.command_path.partition(command("").strip())[2] if context is not None else ""
    return f"{_sentence(error)} (see: {command(f'{words} --help'.strip())})"


def _sentence(error: Any) -> str:
    verb = re.match(r"No such command '(.*?)'", str(error))
    if verb:
        return str(unknown("command", verb[1], error.ctx.command.commands))
    option = getattr(error, "option_name", None)
    if option is not None and hasattr(error, "possibilities"):
        options = [name for param in error.ctx.command.get_params(error.ctx) for name in param.opts]
        return f"there is no option {option}; {known(option, [name for name in options if name.startswith('--')])}"
    reason = getattr(error.__cause__, "errors", None)
    if reason is None or error.param is None:
        return str(error.format_message()).removesuffix(".")
    (first, *_) = reason()
    name = max(error.param.opts, key=len) if error.param.opts[0].startswith("-") else error.param.name.upper()
    return f"{name} must be {_wanted(first)}, not {first['input']!r}"


def _wanted(reason: dict[str, Any]) -> str:
    limits = reason.get("ctx", {})
    if reason["type"] == "greater_than_equal":
        return f"{limits['ge']:g} or more"
    if reason["type"] == "less_than_equal":
        return f"{limits['le']:g} or less"
    return _TYPES.get(reason["type"].partition("_")[0], "something else")
