"""Checkpoints: complete training states, read back complete or not at all.

Every file ends in a hash of its content, so it can be verified without the index. A state is written to a temporary
file, synced and renamed; then the index, which holds its hash, is replaced in the same way; then old files are deleted.
A kill at any moment leaves an index whose files all exist. The newest three are kept: two to fall back on if one is
damaged.
"""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from godojo.documents import DamagedDocument, read_document, write_document
from godojo.errors import GodojoError, option
from godojo.files import TRAILER, Damaged, atomic_writer, file_hash, make_folder, sweep
from godojo.formats import CHECKPOINT, CHECKPOINTS
from godojo.runs.names import checked_name
from godojo.runs.states import read_state, write_state

KEPT = 3
INDEX = "index.json"
_FILE = re.compile(r"step_\d{12,}(-\d+)?\.pt")


class CheckpointEntry(msgspec.Struct, frozen=True):
    """A line of the index."""

    name: str
    """Of the file, without `.pt`."""
    agent_steps: int
    update: int
    seconds: float
    """Time spent training."""
    sha256: str
    """Of the file's content; empty if the index was lost and rebuilt."""


class _When(msgspec.Struct, frozen=True):
    """The fields of a checkpoint that the index repeats."""

    agent_steps: int
    update: int
    seconds: float


class _Index(msgspec.Struct, frozen=True):
    checkpoints: list[CheckpointEntry]
    """The newest is the last."""


class CheckpointStore:
    """The checkpoints of one run. One process at a time may save; any may load."""

    def __init__(self, folder: Path, say: Callable[[str], None] = lambda _: None) -> None:
        """`say` gets a line about each damaged checkpoint that is skipped."""
        self._folder = folder
        self._say = say
        self._spoilt: set[str] = set()

    def save(self, state: Mapping[str, Any], agent_steps: int, update: int, seconds: float) -> CheckpointEntry:
        """Saves a state as the newest; on failure raises GodojoError and leaves the older ones untouched."""
        make_folder(self._folder)
        entries = [entry for entry in self.entries() if entry.name not in self._spoilt]
        name = self._free_name(agent_steps)
        content = {
            "format": CHECKPOINT.tag,
            "agent_steps": agent_steps,
            "update": update,
            "seconds": float(seconds),
            "state": state,
        }
        path = self._path(name)
        with atomic_writer(path) as file:
            writer = _HashingWriter(file)
            write_state(content, writer)  # type: ignore[arg-type]  # torch needs nothing but `write`
            writer.finish()
            file.write(TRAILER.tail(writer.hash.hexdigest()))
        entry = CheckpointEntry(name, agent_steps, update, float(seconds), writer.hash.hexdigest())
        kept = [*entries, entry][-KEPT:]
        try:
            write_document(self._folder / INDEX, CHECKPOINTS, _Index(kept))
        except GodojoError:
            with suppress(OSError):
                path.unlink()  # on a full disk, room for the next try
            raise
        self._prune({each.name for each in kept})
        return entry

    def newest(self) -> tuple[Any, CheckpointEntry]:
        """The newest undamaged state; GodojoError if there is none."""
        entries = self.entries()
        if not entries:
            raise GodojoError(f"{self._folder} has no checkpoint to resume; start over with {option('force', True)}")
        damage = ""
        for entry in reversed(entries):
            try:
                state = self._load(entry)
            except Damaged as error:
                self._spoilt.add(entry.name)
                damage = damage or f"{entry.name}: {error}"
                self._say(f"checkpoint {entry.name} is damaged ({error}); trying the previous one")
            else:
                return state, entry
        raise GodojoError(
            f"all checkpoints in {self._folder} are damaged ({damage}); start over with "
            f"{option('force', True)}, or start a new run with its policies ({option('init_from')})"
        )

    def entries(self) -> list[CheckpointEntry]:
        """All checkpoints, the newest last."""
        path = self._folder / INDEX
        try:
            entries = read_document(path, CHECKPOINTS, _Index, "delete it to rebuild it").checkpoints
        except FileNotFoundError:
            why = "is missing"
        except DamagedDocument:
            why = "is damaged"
        else:
            for entry in entries:
                checked_name("checkpoint", entry.name)
            return entries
        return self._entries_of_files(why)

    def _entries_of_files(self, why: str) -> list[CheckpointEntry]:
        """Rebuilds a missing index, as after a kill during the first save, from the files."""
        found = []
        damage = ""
        for path in self._files():
            try:
                content = _read(path, "")
                when = msgspec.convert(content, _When)
            except (Damaged, OSError, msgspec.ValidationError) as error:
                damage = f"{path.name}: {error}"
                continue
            found.append(CheckpointEntry(path.stem, when.agent_steps, when.update, when.seconds, sha256=""))
        if damage and not found:
            raise GodojoError(f"{self._folder / INDEX} {why}, and all checkpoints are damaged ({damage})")
        if why == "is damaged" and not found:
            raise GodojoError(
                f"{self._folder / INDEX} {why}, and there are no checkpoints; start over with {option('force', True)}"
            )
        if found:
            self._say(f"{self._folder / INDEX} {why}; using the checkpoints in the folder")
        return sorted(found, key=lambda entry: (entry.update, entry.agent_steps, len(entry.name), entry.name))

    def _load(self, entry: CheckpointEntry) -> Any:
        path = self._path(entry.name)
        try:
            content = _read(path, entry.sha256)
        except FileNotFoundError:
            raise Damaged("its file is missing") from None
        except OSError as error:
            raise Damaged(f"it cannot be read: {error.strerror}") from None
        return content["state"]

    @contextmanager
    def fitting(self, entry: CheckpointEntry) -> Iterator[None]:
        """Wraps errors of code that restores a state: a state that does not fit raises GodojoError with its file."""
        try:
            yield
        except (GodojoError, LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            why = " ".join((str(error) if isinstance(error, GodojoError) else repr(error)).split())[:160]
            raise GodojoError(
                f"{self._path(entry.name)} does not fit this Godojo ({why}): resume with the version that wrote it, or "
                f"start a new run with its policies ({option('init_from')})"
            ) from None

    def _free_name(self, agent_steps: int) -> str:
        """A name that no listed file has: those are needed until the new one is listed."""
        name = base = f"step_{agent_steps:012d}"
        taken = {entry.name for entry in self.entries()}
        number = 2
        while name in taken:
            name, number = f"{base}-{number}", number + 1
        return name

    def _prune(self, kept: set[str]) -> None:
        for path in self._files():
            if path.stem not in kept:
                with suppress(OSError):  # the next save tries again
                    path.unlink()
        sweep(self._folder)

    def _files(self) -> list[Path]:
        return [path for path in self._folder.glob("step_*.pt") if _FILE.fullmatch(path.name)]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.pt"


class _HashingWriter:
    """Hashes what is written to a file. Keeps an error until torch is done: its C++ code cannot handle one."""

    def __init__(self, file: BinaryIO) -> None:
        self.hash = hashlib.sha256()
        self._file = file
        self._error: OSError | None = None

    def write(self, piece: bytes) -> int:
        if self._error is None:
            try:
                self._file.write(piece)
            except OSError as error:
                self._error = error
        self.hash.update(piece)
        return len(piece)

    def flush(self) -> None:
        """`atomic_writer` does it."""

    def finish(self) -> None:
        if self._error is not None:
            raise self._error


def _read(path: Path, sha256: str) -> dict[str, Any]:
    """The content of an undamaged file: by its own hash, by the index's, or, in old files, by the zip's checksums."""
    with path.open("rb") as file:
        found = TRAILER.check(file)
        if sha256 and sha256 != (found or file_hash(path)):
            raise Damaged("its content is not what was saved")
        try:
            if found is None and not sha256:
                with zipfile.ZipFile(file) as archive:  # torch does not look at the checksums
                    if (spoilt := archive.testzip()) is not None:
                        raise Damaged(f"{spoilt} is not what was saved")
            file.seek(0)
            content = read_state(file)
        except (Damaged, OSError):
            raise
        except Exception as error:  # zip and pickle raise nearly anything on what is damaged
            raise Damaged(" ".join(str(error).split())[:160]) from None
    if not isinstance(content, dict) or "state" not in content:
        raise Damaged("it has no training state")
    version = CHECKPOINT.version_of(content.get("format"), path)
    if CHECKPOINT.is_hashed(version) and found is None:
        raise Damaged("its hash is missing")
    return CHECKPOINT.migrate(content, version)
