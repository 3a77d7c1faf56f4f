"""The one error a user may see: what happened and what to do about it, in a line."""

import os
from pathlib import Path


class GodojoError(Exception):
    """A mistake or a lack that the user can mend. The command line prints it as one line and exits with 2."""


def user_path(name: str, text: str) -> Path:
    """A path that a user gave by the variable `name`, in full."""
    try:
        return Path(os.path.abspath(os.path.expanduser(text)))  # noqa: PTH100, PTH111 - Path keeps `..`, these do not
    except (RuntimeError, ValueError, OSError) as error:
        raise GodojoError(f"{name}={text!r} is no path ({error})") from None


def command(words: str) -> str:
    """How this user types a Godojo command, for hints that can be pasted: `python3 dojo.py VERB` or `godojo VERB`."""
    return f"{os.environ.get('GODOJO_LAUNCHED_AS', 'godojo')} {words}"
