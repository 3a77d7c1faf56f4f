"""Settings of unchecked types made into typed ones; what does not fit is said in plain words."""

import re
import types
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from godojo.errors import GodojoError, known

T = TypeVar("T")
_WORDS: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def converted(tree: Any, kind: type[T]) -> T:
    """The tree as a `kind`; GodojoError names the setting, what it must be, and what it is."""
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise GodojoError(_explained(str(error), tree, kind)) from None


def _explained(message: str, tree: Any, kind: Any) -> str:
    reason, _, place = message.partition(" - at `$")
    path = re.findall(r"[^.\[\]`]+", place.partition("[")[0])
    value = tree
    for name in path:
        kind = _field(kind, name)
        value = value.get(name) if isinstance(value, dict) else value
    name = ".".join(path)
    unknown = re.search(r"unknown field `(.*?)`", reason)
    if unknown:
        fields = [field.name for field in msgspec.structs.fields(kind)]
        return f"there is no setting {'.'.join([*path, unknown[1]])!r}; {known(unknown[1], fields)}"
    wanted = _described(kind)
    if wanted is None or not name or "missing" in reason:
        return f"{name}: {reason}" if name else reason
    return f"{name} must be {wanted}, not {value!r}"


def _field(kind: Any, name: str) -> Any:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return next((field.type for field in msgspec.structs.fields(kind) if field.name == name), None)
    return get_args(kind)[-1] if get_origin(kind) is dict else None


def _described(kind: Any) -> str | None:
    """What a setting of a type must be."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return f"one of {', '.join(str(one) or repr(one) for one in arguments)}"
    if origin in (Union, types.UnionType):
        return " or ".join(filter(None, (_described(one) for one in arguments if one is not type(None)))) or None
    if origin in (tuple, list) and arguments:
        one = _WORDS.get(arguments[0])
        return f"a list of {one.removeprefix('a ')}s such as {_EXAMPLES[arguments[0]]}" if one else "a list"
    if origin is dict or (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return "a section with settings of its own"
    return _WORDS.get(kind)


_EXAMPLES: dict[Any, str] = {int: "[64,64]", float: "[0.5,1]", bool: "[true,false]", str: '["a","b"]'}
