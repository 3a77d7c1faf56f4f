"""The one error a user may see: what happened and how to fix it, in one line."""

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_LISTED_BESIDE_A_GUESS = 8


class GodojoError(Exception):
    """A mistake that the user can fix. The command line prints it as one line and exits with status 2."""


def user_path(name: str, text: str) -> Path:
    """The absolute path that a user gave in the variable or option `name`."""
    try:
        return Path(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111 - Path keeps `..`, these do not
    except (RuntimeError, ValueError, OSError) as error:
        raise GodojoError(f"{name}={text!r} is no path ({error})") from None


def known(name: str, names: Iterable[str]) -> str:
    """Ends a sentence about a name that does not exist: the nearest valid name, and all of them if they are few."""
    there = list(names)
    near = [one for one in there if name and one.startswith(name)] or difflib.get_close_matches(
        name, there, n=1, cutoff=0.5
    )
    if not there:
        return "there is none yet"
    if not near:
        return f"there is: {', '.join(there)}"
    rest = f" There is: {', '.join(there)}" if 1 < len(there) <= _LISTED_BESIDE_A_GUESS else ""
    return f"did you mean {near[0]}?{rest}"


def unknown(what: str, name: str, names: Iterable[str]) -> GodojoError:
    """The error for a name that does not exist: `there is no engine 'godo'; did you mean godot?`"""
    return GodojoError(f"there is no {what} {name!r}; {known(name, names)}")


def command(words: str) -> str:
    """A Godojo command as this user types it, ready to paste: `python3 dojo.py VERB` or `godojo VERB`."""
    return f"{os.environ.get('GODOJO_LAUNCHED_AS', 'godojo')} {words}"


_FLAGS = {
    "settings": "set",
    "opponents": "opponent",
    "stages": "stage",
    "deterministic": "sampled",
    "processes": "engines",
}
"""Flags with another name than the parameter."""
_names_flags = False


def option(parameter: str, value: object = None) -> str:
    """An argument as the caller writes it: `--engine sim` in a terminal, `engine='sim'` in Python.

    True stands for a switch: `--force` or `force=True`.
    """
    if not _names_flags:
        return parameter if value is None else f"{parameter}={value!r}"
    flag = f"--{_FLAGS.get(parameter, parameter).replace('_', '-')}"
    return flag if value is None or isinstance(value, bool) else f"{flag} {value}"


@contextmanager
def naming_flags() -> Iterator[None]:
    """Within the block, errors name arguments as command-line flags; elsewhere as Python parameters."""
    global _names_flags
    before, _names_flags = _names_flags, True
    try:
        yield
    finally:
        _names_flags = before
