"""A trace: the seed and the actions that lead to an event. Replaying it is the proof of a finding."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from godojo.documents import read_document, write_document
from godojo.errors import GodojoError
from godojo.formats import ACTIONS
from godojo.games.parts import ActionPart
from godojo.hunt.actions import ActionSpace
from godojo.hunt.contract import Playable
from godojo.hunt.events import Event
from godojo.hunt.game import Seen

_LINE = re.compile(r":\d+")
LATE = 3
"""Decisions that a replay waits after its last action: the line of an error may arrive late."""


@dataclass(frozen=True)
class Trace:
    """What was played since a reset."""

    seed: int
    actions: np.ndarray
    """float32 [n, size]."""
    explorer: str = ""

    def __len__(self) -> int:
        return len(self.actions)

    def with_actions(self, actions: np.ndarray) -> "Trace":
        return replace(self, actions=actions)


class Replay(NamedTuple):
    """How a trace was replayed."""

    event: Event | None
    """With the wanted signature; None if it did not happen."""
    at: int
    """Actions that were played when it was seen."""
    path: list[Seen]
    """What was seen after the reset and after each action."""


class Interrupted(Exception):
    """The hunt stops; what is known so far is kept."""


def replay(
    game: Playable,
    trace: Trace,
    signature: str,
    *,
    lines_moved: bool = False,
    is_over: Callable[[], bool] = lambda: False,
) -> Replay:
    """Plays a trace until the event is seen again, and a few decisions more if it was not.

    `lines_moved`: in another build, the lines of a script may have other numbers.
    """
    wanted = without_lines(signature) if lines_moved else signature
    waiting = np.repeat(ActionSpace(game.action_parts).neutral[None], LATE, 0)
    seen = game.reset(trace.seed)
    path = [seen]
    for action in (None, *trace.actions, *waiting):
        if action is not None:
            if is_over():
                raise Interrupted
            seen = game.step(action)
            path.append(seen)
        for event in seen.events:
            if wanted == (without_lines(event.signature) if lines_moved else event.signature):
                return Replay(event, len(path) - 1, path)
        if game.is_lost:
            break  # by something else
    return Replay(None, len(trace), path)


def without_lines(signature: str) -> str:
    """A signature without the numbers of lines, which change from build to build."""
    return _LINE.sub("", signature)


class _Held(msgspec.Struct, frozen=True, array_like=True):
    action: tuple[float, ...]
    times: int


class ActionFile(msgspec.Struct, frozen=True):
    """`actions_*.json`: a trace as a file. Equal actions in a row are one entry with a count."""

    seed: int
    explorer: str
    parts: tuple[ActionPart, ...]
    actions: tuple[_Held, ...]


MOST_ACTIONS = 1_000_000


def write_trace(path: Path, trace: Trace, parts: Sequence[ActionPart]) -> None:
    held: list[_Held] = []
    for action in trace.actions.tolist():
        row = tuple(action)
        times = held.pop().times if held and held[-1].action == row else 0
        held.append(_Held(row, times + 1))
    write_document(path, ACTIONS, ActionFile(trace.seed, trace.explorer, tuple(parts), tuple(held)))


def read_trace(path: Path) -> tuple[Trace, tuple[ActionPart, ...]]:
    """A trace and the action parts that it was played with."""
    try:
        found = read_document(path, ACTIONS, ActionFile, "hunt again")
    except FileNotFoundError:
        raise GodojoError(f"{path}: no such file; name the folder of a finding") from None
    size, total = ActionSpace(found.parts).size, sum(max(held.times, 0) for held in found.actions)
    if total > MOST_ACTIONS or any(len(held.action) != size or held.times < 1 for held in found.actions):
        raise GodojoError(f"{path} is damaged (its actions do not fit its parts); hunt again")
    rows = np.array([held.action for held in found.actions], np.float32).reshape(-1, size)
    actions = np.repeat(rows, [held.times for held in found.actions], 0)
    if not np.isfinite(actions).all():
        raise GodojoError(f"{path} is damaged (an action is not finite); hunt again")
    return Trace(found.seed, actions, found.explorer), found.parts


def fits(game: Playable, parts: Sequence[ActionPart]) -> bool:
    """Whether a game takes the actions of a trace."""
    return [(part.name, part.kind, part.size) for part in game.action_parts] == [
        (part.name, part.kind, part.size) for part in parts
    ]
