"""The one error a user may see: what happened and what to do about it, in a line."""

import os


class GodojoError(Exception):
    """A mistake or a lack that the user can mend. The command line prints it as one line and exits with 2."""


def command(words: str) -> str:
    """How this user types a Godojo command, for hints that can be pasted: `python3 dojo.py VERB` or `godojo VERB`."""
    return f"{os.environ.get('GODOJO_LAUNCHED_AS', 'godojo')} {words}"
