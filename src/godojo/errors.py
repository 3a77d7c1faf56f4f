"""The one error a user may see: what happened and what to do about it, in a line."""

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

_LISTED_BESIDE_A_GUESS = 8


class GodojoError(Exception):
    """A mistake or a lack that the user can mend. The command line prints it as one line and exits with 2."""


def user_path(name: str, text: str) -> Path:
    """A path that a user gave by the variable `name`, in full."""
    try:
        return Path(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111 - Path keeps `..`, these do not
    except (RuntimeError, ValueError, OSError) as error:
        raise GodojoError(f"{name}={text!r} is no path ({error})") from None


def known(name: str, names: Iterable[str]) -> str:
    """The end of a sentence about a name that does not exist: the nearest valid one, and all if they are few."""
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


def command(words: str) -> str:
    """How this user types a Godojo command, for hints that can be pasted: `python3 dojo.py VERB` or `godojo VERB`."""
    return f"{os.environ.get('GODOJO_LAUNCHED_AS', 'godojo')} {words}"
