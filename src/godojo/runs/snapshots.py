"""Snapshots: named policies of all roles from moments of the training, for evaluation, films and opponents."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from godojo.documents import read_document, write_document
from godojo.errors import GodojoError, known, unknown
from godojo.files import atomic_write, make_folder, sweep
from godojo.formats import SNAPSHOTS
from godojo.runs.names import checked_name

INDEX = "snapshots.json"
SHARED = "player"
"""The role of a game whose players share one policy."""


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
        """`say` gets a line about what a resumed run has lost."""
        self._folder, self._say = folder, say

    def save(
        self,
        name: str,
        policies: Mapping[str, bytes],
        agent_steps: int,
        seconds: float,
        ratings: Mapping[str, Any] | None = None,
    ) -> Snapshot:
        """Saves policy files by role; replaces a snapshot of the same name."""
        folder = self._folder / checked_name("snapshot", name)
        for role in policies:
            checked_name("role", role)
        others = [entry for entry in self.entries() if entry.name != name]
        sweep(make_folder(folder))
        for role, content in policies.items():
            atomic_write(folder / policy_file(role), content)
        snapshot = Snapshot(name, agent_steps, float(seconds), dict(ratings or {}))
        self._write([*others, snapshot])
        return snapshot

    def entries(self) -> list[Snapshot]:
        """All of them, in the order of training."""
        path = self._folder / INDEX
        try:
            entries = read_document(path, SNAPSHOTS, _Index, "delete it to continue without snapshots").snapshots
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
        raise unknown("snapshot", name, [entry.name for entry in entries])

    def policy(self, name: str, role: str) -> Path:
        """The file of a role's policy."""
        self.find(name)
        path = find_policy(self._folder / name, checked_name("role", role))
        if not path.is_file():
            there = policies_in(path.parent)
            raise GodojoError(f"snapshot {name} has no policy of {role!r}; {known(role, there)}")
        return path

    def cut_back(self, agent_steps: int) -> None:
        """Deletes those taken later: the resumed training takes them again."""
        entries = self.entries()
        if not entries:
            self._say(f"{self._folder} lists no snapshots any more; continuing without the earlier ones")
        gone = [entry.name for entry in entries if not policies_in(self._folder / entry.name)]
        if gone:
            self._say(f"{self._folder}: the policies of {', '.join(gone)} are missing; continuing without them")
        kept = [entry for entry in entries if entry.agent_steps <= agent_steps]
        if len(kept) == len(entries):
            return
        self._write(kept)
        for entry in entries:
            if entry in kept:
                continue
            folder = self._folder / entry.name
            with suppress(OSError):  # files that stay are not listed
                for file in policies_in(folder).values():
                    file.unlink()
                folder.rmdir()

    def _write(self, entries: list[Snapshot]) -> None:
        ordered = sorted(entries, key=lambda entry: entry.agent_steps)
        write_document(self._folder / INDEX, SNAPSHOTS, _Index(ordered))


def policy_file(role: str) -> str:
    """`policy_ROLE.pt`; that of players who share one policy is `policy.pt`."""
    return "policy.pt" if role == SHARED else f"policy_{role}.pt"


def find_policy(folder: Path, role: str) -> Path:
    """The file of a role's policy, if there is one; older runs name a shared one like any other."""
    path, older = folder / policy_file(role), folder / f"policy_{role}.pt"
    return older if older.is_file() and not path.is_file() else path


def policies_in(folder: Path) -> dict[str, Path]:
    """All policy files of a folder, by role."""
    return {file.stem.removeprefix("policy").removeprefix("_") or SHARED: file for file in folder.glob("policy*.pt")}
