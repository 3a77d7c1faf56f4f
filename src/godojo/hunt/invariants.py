"""Users' own rules about a game: `file.py:function`, called with the state after every decision."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from godojo.errors import GodojoError
from godojo.hunt.events import Event, event
from godojo.plugins import load_function, told


class Invariant:
    """A function of the user's that gets the state as a dict and returns True, False or what is wrong."""

    def __init__(self, text: str) -> None:
        path, colon, name = text.rpartition(":")
        if not colon or not path.endswith(".py"):
            raise GodojoError(f"{text!r} is no invariant; write it as file.py:function")
        self._path, self._name = Path(path).expanduser(), name
        self._function: Callable[[dict[str, Any]], object] = load_function(self._path, name)

    def check(self, state: dict[str, Any]) -> Iterator[Event]:
        """An event where it does not hold. A mistake in the function is the user's to fix."""
        try:
            found = self._function(state)
        except Exception as error:
            raise GodojoError(f"{self._path}:{self._name} failed: {told(error, self._path)}") from error
        if isinstance(found, str) and found:
            yield event("invariant", found, place=f"{self._path.name}:{self._name}")
        elif not found and not isinstance(found, str):
            yield event("invariant", f"{self._name} does not hold", place=f"{self._path.name}:{self._name}")
