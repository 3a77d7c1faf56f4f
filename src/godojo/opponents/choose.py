"""`make_opponent`: a game's scripted opponent by name, or a user's own class as `file.py:Class`."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.errors import GodojoError, known
from godojo.games.base import GAMES
from godojo.opponents.base import Opponent, check_role
from godojo.plugins import load_class, told

MAX_DIGITS = 9


def scripted_opponents(game: str) -> Mapping[str, type[Opponent]]:
    """The game's scripted opponents by name; none for a game that has none or that Godojo does not know."""
    offered = GAMES[game].opponents if game in GAMES else None
    return offered() if offered is not None else {}


def make_opponent(name_or_file: str, role: str, seed: int = 0, *, game: str) -> Opponent:
    """One of the game's opponents by its name, or the class `Class` of `file.py`, given as `file.py:Class`.

    Of an opponent with numbered members, `NAME:7` is the seventh.
    """
    path, colon, name = name_or_file.rpartition(":")
    if colon and path.endswith(".py"):
        return CustomOpponent(load_class(Path(path).expanduser(), name), name_or_file, role, seed)
    if name_or_file.endswith(".py"):
        raise GodojoError(f"which class of {name_or_file}? Write it as {name_or_file}:Class")
    there = scripted_opponents(game)
    if not there:
        who = game or "this game"
        raise GodojoError(f"{who} has no scripted opponents, so no {name_or_file!r}; name your own as file.py:Class")
    name, colon, number = name_or_file.partition(":")
    if name not in there:
        hint = known(name, there)
        raise GodojoError(f"there is no opponent {name_or_file!r}; {hint}, or your own as file.py:Class")
    kind: Any = there[name]
    if not colon:
        return kind(role, seed)  # type: ignore[no-any-return]
    if not kind.is_numbered:
        raise GodojoError(f"{name} has no numbered members, so no {name_or_file!r}")
    if not number.isascii() or not number.isdecimal() or len(number) > MAX_DIGITS:
        raise GodojoError(f"there is no opponent {name_or_file!r}; a member is a whole number, as in {name}:7")
    return kind(role, seed, variant=int(number))  # type: ignore[no-any-return]


def is_scripted(name: str, game: str) -> bool:
    """Whether a name, with or without a number, is that of a scripted opponent of the game."""
    return name.partition(":")[0] in scripted_opponents(game)


def yardstick(game: str) -> str:
    """The strongest scripted opponent that plays by its observations alone; empty if there is none."""
    fair = [name for name, kind in scripted_opponents(game).items() if not kind.needs_privileged_state]
    return fair[-1] if fair else ""


def may_need_privileged_state(name_or_file: str, game: str) -> bool:
    """Whether the engine should send the true state to this opponent; a user's own class may read it."""
    there, name = scripted_opponents(game), name_or_file.partition(":")[0]
    return name not in there or there[name].needs_privileged_state


class CustomOpponent(Opponent):
    """A class of a user's own: `__init__(role, seed)`, `begin(worlds)` and `act(worlds, out)`, every answer checked.

    `act` fills `out` or returns an array of the same shape.
    """

    def __init__(self, kind: type, source: str, role: str, seed: int) -> None:
        super().__init__(role, seed)
        self.source = source
        path, _, self._name = source.rpartition(":")
        self._path = Path(path).expanduser()
        for method, given in (("begin", (None,)), ("act", (None, None))):
            self._check_call(getattr(kind, method, None), method, (None, *given))
        self._check_call(kind, "__init__", (role, seed))
        try:
            self._own: Any = kind(role, seed)
        except Exception as error:
            raise GodojoError(f"{source} could not be made: {told(error, self._path)}") from error

    def _check_call(self, function: Any, method: str, given: tuple[object, ...]) -> None:
        wanted = {"__init__": "__init__(self, role, seed)", "begin": "begin(self, worlds)"}
        shown = wanted.get(method, "act(self, worlds, out)")
        if not callable(function):
            raise GodojoError(f"{self.source} has no method {method}; an opponent has {shown}")
        try:
            inspect.signature(function).bind(*given)
        except TypeError as error:
            raise GodojoError(f"{self.source}: {method} must be callable as {shown}: {error}") from None

    def begin(self, worlds: Worlds) -> None:
        check_role(worlds, self.role)
        try:
            self._own.begin(worlds)
        except GodojoError:
            raise
        except Exception as error:
            raise GodojoError(f"{self.source}: begin failed: {told(error, self._path)}") from error

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        try:
            given = self._own.act(worlds, out)
        except GodojoError:
            raise
        except Exception as error:
            raise GodojoError(f"{self.source}: act failed: {told(error, self._path)}") from error
        if given is not None and given is not out:
            self._take(given, out)
        if not np.isfinite(out).all():
            world, agent, number = np.argwhere(~np.isfinite(out))[0]
            value = out[world, agent, number]
            raise GodojoError(
                f"{self.source}: action {number} of {self.role} {agent} in world {world} is {value}, not a number"
            )

    def _take(self, given: Any, out: np.ndarray) -> None:
        if np.shape(given) != out.shape:
            raise GodojoError(f"{self.source}: act returned the shape {np.shape(given)}, not {out.shape}")
        try:
            np.copyto(out, np.asarray(given), casting="same_kind")
        except (TypeError, ValueError):
            kind = np.asarray(given).dtype
            raise GodojoError(f"{self.source}: act returned {kind}, not {out.dtype}") from None
