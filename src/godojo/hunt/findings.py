"""Findings: proven events, one folder each; and `hunt.json`, which a hunt is resumed from and compared with."""

import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from godojo.documents import read_document, write_document
from godojo.errors import GodojoError
from godojo.files import atomic_write, make_folder
from godojo.formats import FINDING, HUNT
from godojo.games.parts import ActionPart
from godojo.hunt.contract import SEVERITIES
from godojo.hunt.events import Event, is_placed, is_same
from godojo.hunt.game import DetectorSettings, Seen, Target
from godojo.hunt.prove import Proof
from godojo.hunt.team import Share
from godojo.hunt.trace import Trace, read_trace, write_trace

FINDINGS, HUNT_FILE, FINDING_FILE = "findings", "hunt.json", "finding.json"
MINIMAL, ORIGINAL = "actions_minimal.json", "actions_original.json"
LOG, STATE = "log.txt", "state.json"
CLIP, PICTURE = "clip.mp4", "picture.png"
MOST_FINDINGS = 200
"""A game that fails everywhere fills no disk: further findings are only counted."""
_LOG_BYTES = 200_000
_LAST_DECISIONS = 50
_TRIES = 3
"""Traces of one signature that are replayed before it counts as unproven."""


class HuntSettings(msgspec.Struct, frozen=True):
    """How a hunt is played."""

    minutes: float = 10.0
    processes: int = 1
    """Games that are played at once."""
    explorers: tuple[str, ...] = ()
    """Names; empty for all that fit the game."""
    policies: tuple[str, ...] = ()
    """Trained policies that explore, too: runs or files."""
    seed: int = 0
    proofs: int = 5
    """Replays of each finding's minimal actions; the rate is part of the finding."""
    shrink_seconds: float | None = None
    """The most time that shrinking one finding takes; None for a tenth of the hunt, 10 to 60 seconds."""
    timeout_s: float = 10.0
    """A game that does not answer for so long is frozen."""
    reload_every: int | None = None
    """Start afresh after so many decisions, as a test of stability."""
    clips: bool = True


class Finding(msgspec.Struct, frozen=True):
    """Something that is wrong with the game, and how to make it happen."""

    number: int
    event: Event
    explorer: str
    seed: int
    found_after_s: float
    original_actions: int
    """Decisions in which something was done, since the game was opened or the last finding was proven."""
    minimal_actions: int
    """Decisions of the minimal trace in which something is done."""
    is_minimal: bool
    """Whether no step can be left out or shortened; otherwise shrinking ran out of time."""
    replays: int
    """Of the minimal actions, in a fresh process."""
    reproduced: int
    original_steps: int = 0
    """Inputs since then, each held for a while."""
    attempt_actions: int = 0
    """Decisions since the last reset: those of `actions_original.json`."""
    minimal_steps: int = 0
    minimal_waits: int = 0
    """Decisions in which nothing is done, and those of a standstill."""
    steps: tuple[str, ...] = ()
    """The minimal trace in words."""
    times_seen: int = 1
    status: Literal["new", "still there"] = "new"
    """Compared with the hunt of `--against`; without one, every finding is new."""
    target: dict[str, object] = {}
    detectors: DetectorSettings = DetectorSettings()
    timeout_s: float = 10.0
    level: tuple[float, ...] = ()
    """Where it happened, for the map."""

    @property
    def folder(self) -> str:
        return f"{FINDINGS}/{self.number:03d}"

    @property
    def rate(self) -> float:
        return self.reproduced / max(self.replays, 1)


class Unproven(msgspec.Struct, frozen=True):
    """An event that was seen and did not happen again."""

    event: Event
    times_seen: int


class Moment(msgspec.Struct, frozen=True, array_like=True):
    """The hunt so far."""

    seconds: float
    decisions: int
    cells: int


class HuntRecord(msgspec.Struct, frozen=True):
    """`hunt.json`."""

    target: dict[str, object]
    settings: HuntSettings
    detectors: DetectorSettings
    started: str
    seconds: float = 0.0
    decisions: int = 0
    attempts: int = 0
    launches: int = 0
    returns: int = 0
    """Ways of the archive that were replayed, and …"""
    arrivals: int = 0
    """… those that led where they did before: 100 % for a deterministic game."""
    shares: dict[str, Share] = {}
    timeline: tuple[Moment, ...] = ()
    unproven: tuple[Unproven, ...] = ()
    uncounted: int = 0
    """Findings beyond `MOST_FINDINGS`."""
    against: str | None = None
    fixed: tuple[Finding, ...] = ()
    """Findings of the hunt of `against` that do not happen any more."""
    is_finished: bool = False
    trouble: str = ""
    """Why it ended early, if it did."""

    @property
    def name(self) -> str:
        return target_of(self.target).name


def target_fields(target: Target) -> dict[str, object]:
    """As JSON has it; paths are absolute, so that `reproduce` works from anywhere."""
    fields = {
        "game": target.game,
        "project": None if target.project is None else str(target.project.absolute()),
        "binary": None if target.binary is None else str(target.binary.absolute()),
        "http": target.http,
        "scene": target.scene,
        "input_map": target.input_map,
        "options": dict(target.options),
        "invariants": list(target.invariants),
    }
    return {name: value for name, value in fields.items() if value not in (None, False, {}, [])}


def target_of(fields: dict[str, object]) -> Target:
    try:
        return msgspec.convert(fields, Target, dec_hook=lambda kind, value: kind(value))
    except msgspec.ValidationError as error:
        raise GodojoError(f"the target of this hunt cannot be read ({error}); hunt again") from None


class Book:
    """The findings of a hunt, in its folder. Threads claim a signature before they prove it."""

    def __init__(self, folder: Path, known: Sequence[Finding] = ()) -> None:
        self.folder = make_folder(folder)
        self.findings = {one.event.signature: one for one in known}
        self.unproven: dict[str, Unproven] = {}
        self.uncounted = 0
        self._claimed: dict[str, int] = {}
        self._polished: set[str] = set()
        self._next = max((one.number for one in known), default=0) + 1
        self._lock = threading.Lock()

    def claim(self, event: Event) -> bool:
        """Whether the caller is to prove this event; counts it otherwise."""
        name = event.signature
        with self._lock:
            if not is_placed(name):
                name = next((known for known in self.findings if is_same(known, name)), name)
            if name in self.findings:
                known = self.findings[name]
                self.findings[name] = msgspec.structs.replace(known, times_seen=known.times_seen + 1)
                return False
            if len(self.findings) >= MOST_FINDINGS:
                self.uncounted += 1
                return False
            if name in self.unproven:
                known_event = self.unproven[name]
                self.unproven[name] = Unproven(event, known_event.times_seen + 1)
            elif name in self._claimed:
                return False  # somebody is at it
            if self._claimed.get(name, 0) >= _TRIES:
                return False
            self._claimed[name] = self._claimed.get(name, 0) + 1
            return True

    def give_up(self, event: Event) -> None:
        """The event did not happen again."""
        with self._lock:
            self.unproven.setdefault(event.signature, Unproven(event, 1))

    def release(self, event: Event) -> None:
        """The event was not proven for lack of time; it may be claimed again."""
        with self._lock:
            self._claimed.pop(event.signature, None)

    def number(self) -> int:
        with self._lock:
            self._next += 1
            return self._next - 1

    def add(
        self,
        finding: Finding,
        minimal: Trace,
        original: Trace,
        parts: Sequence[ActionPart],
        log: Sequence[str],
        path: Sequence[Seen],
    ) -> None:
        """Writes the folder of a finding; `finding.json` last, so that a folder with one is whole."""
        folder = make_folder(self.folder / finding.folder)
        write_trace(folder / MINIMAL, minimal, parts)
        write_trace(folder / ORIGINAL, original, parts)
        atomic_write(folder / LOG, "\n".join([*log, ""]).encode()[-_LOG_BYTES:])
        atomic_write(folder / STATE, _state(path))
        write_document(folder / FINDING_FILE, FINDING, finding)
        with self._lock:
            self.findings[finding.event.signature] = finding
            self.unproven.pop(finding.event.signature, None)

    def claim_unfinished(self) -> Finding | None:
        """A finding that can be shrunk further; each is given away once."""
        with self._lock:
            for name, finding in self.findings.items():
                if not finding.is_minimal and name not in self._polished:
                    self._polished.add(name)
                    return finding
        return None

    def count_unfinished(self) -> int:
        with self._lock:
            return sum(not one.is_minimal and name not in self._polished for name, one in self.findings.items())

    def improve(self, finding: Finding, proof: Proof, steps: tuple[str, ...], parts: Sequence[ActionPart]) -> None:
        """Replaces the minimal trace of a finding with a shorter one."""
        write_trace(self.folder / finding.folder / MINIMAL, proof.minimal, parts)
        with self._lock:
            self.findings[finding.event.signature] = msgspec.structs.replace(
                self.findings[finding.event.signature],
                minimal_actions=proof.effort.actions,
                minimal_steps=proof.effort.steps,
                minimal_waits=proof.effort.waits,
                steps=steps,
                is_minimal=proof.is_minimal,
                replays=proof.replays,
                reproduced=proof.reproduced,
            )

    def update(self) -> None:
        """Writes counts that have changed since the findings were added."""
        for finding in self.sorted():
            write_document(self.folder / finding.folder / FINDING_FILE, FINDING, finding)

    def sorted(self) -> list[Finding]:
        """The worst first, then in the order of discovery."""
        with self._lock:
            return by_severity(self.findings.values())


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda one: (SEVERITIES.index(one.event.severity), one.number))


def _state(path: Sequence[Seen]) -> bytes:
    last = path[-1]
    told = {
        "decisions": [
            {"position": seen.position.tolist(), "reward": seen.reward, "ended": seen.ended}
            for seen in path[-_LAST_DECISIONS:]
        ],
        "state": last.state.tolist(),
        "ui": list(last.ui),
    }
    return msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n"


def read_finding(folder: Path) -> Finding:
    try:
        return read_document(folder / FINDING_FILE, FINDING, Finding, "hunt again")
    except FileNotFoundError:
        raise GodojoError(
            f"{folder} holds no {FINDING_FILE}; name the folder of a finding, such as findings/001"
        ) from None


def read_findings(folder: Path) -> list[Finding]:
    """All findings of a hunt."""
    return [read_finding(file.parent) for file in sorted((folder / FINDINGS).glob(f"*/{FINDING_FILE}"))]


def minimal_trace(folder: Path) -> tuple[Trace, tuple[ActionPart, ...]]:
    return read_trace(folder / MINIMAL)


def read_hunt(folder: Path) -> HuntRecord:
    try:
        return read_document(folder / HUNT_FILE, HUNT, HuntRecord, "hunt again into another folder")
    except FileNotFoundError:
        raise GodojoError(f"{folder} holds no {HUNT_FILE}; name the folder of a hunt") from None


def write_hunt(folder: Path, record: HuntRecord) -> None:
    write_document(folder / HUNT_FILE, HUNT, record)


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
