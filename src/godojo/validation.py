"""Converts settings to typed structures; errors are plain sentences."""

import dataclasses
import re
import types
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from godojo.errors import GodojoError, known

T = TypeVar("T")
_WORDS: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def converted(tree: Any, kind: type[T]) -> T:
    """The tree as a `kind`; GodojoError names the setting, the expected type and the value."""
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise GodojoError(_explained(str(error), tree, kind)) from None


def _explained(message: str, tree: Any, kind: Any) -> str:
    reason, _, place = message.partition(" - at `$")
    name, value = "", tree
    for part in re.findall(r"[^.\[\]`]+|\[\d+\]", place):
        if part.startswith("[") and not _is_section(get_args(kind)[0]):
            break  # a list of plain values is described as one
        if part.startswith("["):
            kind, value, name = get_args(kind)[0], value[int(part[1:-1])], name + part
        else:
            kind, value = _field(kind, part), value.get(part) if isinstance(value, dict) else value
            name = f"{name}.{part}" if name else part
    unknown = re.search(r"unknown field `(.*?)`", reason)
    if unknown and _is_section(kind):
        path = f"{name}.{unknown[1]}" if name else unknown[1]
        return f"there is no setting {path!r}; {known(unknown[1], field_types(kind))}"
    wanted = _described(kind)
    if wanted is None or not name or "missing" in reason:
        return f"{name or 'settings'}: {reason}"
    return f"{name} must be {wanted}, not {value!r}"


def field_types(kind: Any) -> dict[str, Any]:
    """The fields of a struct or dataclass."""
    if dataclasses.is_dataclass(kind):
        return get_type_hints(kind, include_extras=True)
    return {field.name: field.type for field in msgspec.structs.fields(kind)}


def _field(kind: Any, name: str) -> Any:
    if _is_section(kind):
        return field_types(kind).get(name)
    return get_args(kind)[-1] if get_origin(kind) is dict else None


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and (issubclass(kind, msgspec.Struct) or dataclasses.is_dataclass(kind))


def _described(kind: Any) -> str | None:
    """A type in words."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        limits = _limits(arguments[1])
        return f"{_described(arguments[0])}, {limits}" if limits else None
    if origin is Literal:
        return f"{'one of ' * (len(arguments) > 1)}{', '.join(str(one) or repr(one) for one in arguments)}"
    if origin in (Union, types.UnionType):
        return " or ".join(filter(None, (_described(one) for one in arguments if one is not type(None)))) or None
    if origin in (tuple, list) and arguments:
        one = _WORDS.get(arguments[0])
        return f"a list of {one.removeprefix('a ')}s such as {_EXAMPLES[arguments[0]]}" if one else "a list"
    if origin is dict and arguments[1] in _WORDS:
        return f"a section of {_WORDS[arguments[1]].removeprefix('a ')}s"
    if origin is dict or _is_section(kind):
        return "a section with settings of its own"
    return _WORDS.get(kind)


def _limits(meta: msgspec.Meta) -> str:
    words = {"gt": "above {}", "ge": "{} or more", "lt": "below {}", "le": "at most {}"}
    return ", ".join(
        text.format(getattr(meta, name)) for name, text in words.items() if getattr(meta, name) is not None
    )


_EXAMPLES: dict[Any, str] = {int: "[64,64]", float: "[0.5,1]", bool: "[true,false]", str: '["a","b"]'}
