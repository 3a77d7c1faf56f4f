"""Snapshots: the policies of all roles at moments of training, by name, for judging, for films and as past selves."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from godojo.documents import read_document, write_document
from godojo.errors import GodojoError, known
from godojo.files import atomic_write, sweep
from godojo.formats import SNAPSHOTS
from godojo.runs.names import checked_name

INDEX = "snapshots.json"


class Snapshot(msgspec.Struct, frozen=True):
    """A line of the index."""

    name: str
    """`start`, `10s`, `1m`, `step_000012345678`, `final` and the like."""
    agent_steps: int
    seconds: float
    """Time spent training."""
    ratings: dict[str, Any] = {}
    """By role, as they were then."""


class _Index(msgspec.Struct, frozen=True):
    snapshots: list[Snapshot]


class SnapshotStore:
    """The snapshots of one run. The index is written last, so what it lists is there."""

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
        """`say` is told, in a line, what a resumed run has lost."""
        self._folder, self._say = folder, say

    def save(
        self,
        name: str,
        policies: Mapping[str, bytes],
        agent_steps: int,
        seconds: float,
        ratings: Mapping[str, Any] | None = None,
    ) -> Snapshot:
        """Keeps the policy files of these roles under a name; one that was there under it is replaced."""
        folder = self._folder / checked_name("snapshot", name)
        for role in policies:
            checked_name("role", role)
        others = [entry for entry in self.entries() if entry.name != name]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GodojoError(f"{folder} cannot be made ({error.strerror})") from None
        sweep(folder)
        for role, content in policies.items():
            atomic_write(folder / policy_file(role), content)
        snapshot = Snapshot(name, agent_steps, float(seconds), dict(ratings or {}))
        self._write([*others, snapshot])
        return snapshot

    def entries(self) -> list[Snapshot]:
        """All of them, in the order of training."""
        path = self._folder / INDEX
        try:
            entries = read_document(path, SNAPSHOTS, _Index, "delete it to go on without snapshots").snapshots
        except FileNotFoundError:
            return []
        for entry in entries:
            checked_name("snapshot", entry.name)
        return entries

    def find(self, name: str) -> Snapshot:
        entries = self.entries()
        for entry in entries:
            if entry.name == name:
                return entry
        raise GodojoError(f"there is no snapshot {name!r}; {known(name, [entry.name for entry in entries])}")

    def policy(self, name: str, role: str) -> Path:
        """Where the role's policy of a snapshot lies."""
        self.find(name)
        path = self._folder / name / policy_file(checked_name("role", role))
        if not path.is_file():
            there = [file.stem.removeprefix("policy_") for file in path.parent.glob("policy_*.pt")]
            raise GodojoError(f"snapshot {name} has no policy of {role!r}; {known(role, there)}")
        return path

    def cut_back(self, agent_steps: int) -> None:
        """Forgets those that were taken later: training goes on from there and will take them again."""
        entries = self.entries()
        if not entries:
            self._say(f"{self._folder} lists no snapshots any more; going on without those taken so far")
        gone = [entry.name for entry in entries if not any((self._folder / entry.name).glob("policy_*.pt"))]
        if gone:
            self._say(f"{self._folder}: the policies of {', '.join(gone)} are missing; going on without them")
        kept = [entry for entry in entries if entry.agent_steps <= agent_steps]
        if len(kept) == len(entries):
            return
        self._write(kept)
        for entry in entries:
            if entry in kept:
                continue
            folder = self._folder / entry.name
            with suppress(OSError):  # what stays is not listed
                for file in folder.glob("policy_*.pt"):
                    file.unlink()
                folder.rmdir()

    def _write(self, entries: list[Snapshot]) -> None:
        ordered = sorted(entries, key=lambda entry: entry.agent_steps)
        write_document(self._folder / INDEX, SNAPSHOTS, _Index(ordered))


def policy_file(role: str) -> str:
    """What the file of a role's policy is called."""
    return f"policy_{role}.pt"
