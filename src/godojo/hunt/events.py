"""What detectors report: an event with a signature that is the same in every run."""

import re
from typing import Literal

import msgspec

from godojo.engines.godot.complaints import Complaint

Severity = Literal["critical", "major", "minor"]
_SEVERITIES: dict[str, Severity] = {
    "crash": "critical",
    "freeze": "critical",
    "warning": "minor",
    "frame_budget": "minor",
    "orphans": "minor",
    "dead_ui": "minor",
    "dropped_signal": "minor",
    "text": "minor",
}
"""Of detectors whose events are not `major`."""
TIMED = frozenset({"frame_budget"})
"""Detectors of events that a busy machine may cause: most replays must have them."""
FREEZE, HANGS = "freeze", "no answer"
_LONGEST = 200

_OBJECT = re.compile(r"<(\w+)#-?\d+>")
_INSTANCE = re.compile(r"@(\w*)@\d+")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_COUNTER = re.compile(r"\d+(?=/|$)")


class Event(msgspec.Struct, frozen=True):
    """Something that should not have happened."""

    detector: str
    signature: str
    """The same in every run: the detector, where it was, and its message without numbers."""
    severity: Severity
    message: str
    """One line for people."""
    node: str = ""
    position: tuple[float, ...] = ()


def event(
    detector: str,
    message: str,
    *,
    place: str = "",
    pattern: str | None = None,
    node: str = "",
    position: tuple[float, ...] = (),
) -> Event:
    """An event; `place` is a script and line or a node, `pattern` what its signature has in place of the message."""
    line = " ".join(message.split())[:_LONGEST]
    where = place or node_pattern(node)
    what = text_pattern(line if pattern is None else pattern)
    signature = "|".join(part for part in (detector, where, what) if part)
    return Event(detector, signature, _SEVERITIES.get(detector, "major"), line, node, position)


def is_same(signature: str, other: str) -> bool:
    """Whether these are signatures of the same event. Not every game that hangs can tell where."""
    if signature == other:
        return True
    are_freezes = signature.startswith(FREEZE) and other.startswith(FREEZE)
    return are_freezes and not (is_placed(signature) and is_placed(other))


def is_placed(signature: str) -> bool:
    """Whether it says where; a freeze may not."""
    return signature != f"{FREEZE}|{HANGS}"


def of_complaint(complaint: Complaint) -> Event:
    """The event of an error or a warning in the game's log."""
    if not complaint.is_error:
        return event("warning", str(complaint), place=_script_place(complaint), pattern=complaint.message)
    detector = "script_error" if complaint.is_of_script else "engine_error"
    return event(detector, str(complaint), place=_script_place(complaint), pattern=complaint.message)


def text_pattern(text: str) -> str:
    """A message without what differs between runs: numbers, addresses, ids of objects."""
    text = _INSTANCE.sub(r"@\1@", _OBJECT.sub(r"<\1>", text))
    return _NUMBER.sub("#", _ADDRESS.sub("#", text))


def node_pattern(path: str) -> str:
    """The path of a node without the counters that the engine or a spawner adds to names."""
    return _COUNTER.sub("", _INSTANCE.sub(r"@\1@", path))


def _script_place(complaint: Complaint) -> str:
    """A place in the game's scripts, as it is; in the engine's sources, without the line."""
    if complaint.place.startswith("res://"):
        return complaint.place
    return re.sub(r":\d+\)?$", "", complaint.place)
