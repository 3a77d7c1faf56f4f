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
from godojo.hunt.events import Event, is_same
from godojo.hunt.game import Seen

STANDSTILLS = ("softlock", "stuck")
"""Detectors of what does not happen any more."""
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
    earlier: tuple["Trace", ...] = ()
    """Episodes of the same process before it: for what outlives a reset. Empty for almost all events."""
    restarts: bool = False
    """Whether it begins with a new process that finds the data of the episodes before."""

    def __len__(self) -> int:
        return len(self.actions)

    def with_actions(self, actions: np.ndarray) -> "Trace":
        return replace(self, actions=actions)

    def after(self, earlier: tuple["Trace", ...]) -> "Trace":
        return replace(self, earlier=earlier)


class Effort(NamedTuple):
    """What a trace takes to play."""

    steps: int
    """Inputs, each held for a while: the runs of equal actions in which something is done."""
    actions: int
    """Decisions in which something is done."""
    waits: int
    """The others, and a standstill at the end, whatever was tried in it."""

    def plus(self, other: "Effort") -> "Effort":
        return Effort(*(one + more for one, more in zip(self, other, strict=True)))


def effort_of(trace: Trace, neutral: np.ndarray, tail: int = 0) -> Effort:
    """`tail` is the number of decisions at the end that are a standstill."""
    actions = trace.actions[: max(len(trace) - tail, 0)]
    is_idle = (actions == neutral).all(1) if len(actions) else np.zeros(0, bool)
    steps = sum(not is_idle[start] for start, _ in runs_of(actions))
    effort = Effort(steps, int((~is_idle).sum()), int(is_idle.sum()) + len(trace) - len(actions))
    for episode in trace.earlier:
        effort = effort.plus(effort_of(episode, neutral)).plus(Effort(1, 0, 0))  # the reset is a step
    return effort


def runs_of(actions: np.ndarray) -> list[tuple[int, int]]:
    """Where runs of equal actions start and stop."""
    if not len(actions):
        return []
    changes = np.flatnonzero((actions[1:] != actions[:-1]).any(1)) + 1
    return list(zip([0, *changes.tolist()], [*changes.tolist(), len(actions)], strict=True))


def still_tail(event: Event, path: Sequence["Seen"]) -> int:
    """Decisions at the end of a path that are the event itself: a standstill, in which anything was tried."""
    if event.detector not in STANDSTILLS:
        return 0
    ended = int(len(path) > 1 and path[-1].ended)  # what is seen then is the next round
    last, count = path[-1 - ended], ended
    for seen in path[-2 - ended :: -1]:
        is_same = np.abs(seen.position - last.position).max() <= 1e-3
        if event.detector == "softlock":
            is_same = seen.ui == last.ui and np.array_equal(seen.state, last.state)
        if not is_same:
            break
        count += 1
    return count


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
    for episode in trace.earlier:
        game.reset(episode.seed)
        for action in episode.actions:
            if is_over():
                raise Interrupted
            if not game.is_lost:
                game.step(action)
    seen = game.restart(trace.seed) if trace.restarts else game.reset(trace.seed)
    path = [seen]
    for action in (None, *trace.actions, *waiting):
        if action is not None:
            if is_over():
                raise Interrupted
            seen = game.step(action)
            path.append(seen)
        for event in seen.events:
            if is_same(wanted, without_lines(event.signature) if lines_moved else event.signature):
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


class _Episode(msgspec.Struct, frozen=True):
    seed: int
    actions: tuple[_Held, ...]


class ActionFile(msgspec.Struct, frozen=True):
    """`actions_*.json`: a trace as a file. Equal actions in a row are one entry with a count."""

    seed: int
    explorer: str
    parts: tuple[ActionPart, ...]
    actions: tuple[_Held, ...]
    earlier: tuple[_Episode, ...] = ()
    """What has to be played in the same process before."""
    restarts: bool = False
    """Whether the game is then started again, with the data that it has left."""


MOST_ACTIONS = 1_000_000


def write_trace(path: Path, trace: Trace, parts: Sequence[ActionPart]) -> None:
    earlier = tuple(_Episode(each.seed, _held(each.actions)) for each in trace.earlier)
    write_document(
        path,
        ACTIONS,
        ActionFile(trace.seed, trace.explorer, tuple(parts), _held(trace.actions), earlier, trace.restarts),
    )


def _held(actions: np.ndarray) -> tuple[_Held, ...]:
    return tuple(_Held(tuple(actions[start].tolist()), stop - start) for start, stop in runs_of(actions))


def read_trace(path: Path) -> tuple[Trace, tuple[ActionPart, ...]]:
    """A trace and the action parts that it was played with."""
    try:
        found = read_document(path, ACTIONS, ActionFile, "hunt again")
    except FileNotFoundError:
        raise GodojoError(f"{path}: no such file; name the folder of a finding") from None
    size = ActionSpace(found.parts).size
    earlier = tuple(Trace(each.seed, _unheld(path, each.actions, size), found.explorer) for each in found.earlier)
    actions = _unheld(path, found.actions, size)
    return Trace(found.seed, actions, found.explorer, earlier, found.restarts), found.parts


def _unheld(path: Path, held: tuple[_Held, ...], size: int) -> np.ndarray:
    total = sum(max(each.times, 0) for each in held)
    if total > MOST_ACTIONS or any(len(each.action) != size or each.times < 1 for each in held):
        raise GodojoError(f"{path} is damaged (its actions do not fit its parts); hunt again")
    rows = np.array([each.action for each in held], np.float32).reshape(-1, size)
    actions = np.repeat(rows, [each.times for each in held], 0)
    if not np.isfinite(actions).all():
        raise GodojoError(f"{path} is damaged (an action is not finite); hunt again")
    return actions


def fits(game: Playable, parts: Sequence[ActionPart]) -> bool:
    """Whether a game takes the actions of a trace."""
    return [(part.name, part.kind, part.size) for part in game.action_parts] == [
        (part.name, part.kind, part.size) for part in parts
    ]
