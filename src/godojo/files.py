"""Atomic writes, and hashes that detect damage."""

import hashlib
import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from godojo.errors import GodojoError

PART = ".part"
"""Suffix of a file that is being written; a kill may leave one behind."""
_CHUNK = 2**20


class Damaged(Exception):
    """A file is damaged; the text says how."""


class Seal(NamedTuple):
    """A SHA-256 of all bytes before it, in hex, at the end of a file."""

    before: bytes
    """Between the content and the digits."""
    after: bytes = b""

    @property
    def size(self) -> int:
        return len(self.before) + 64 + len(self.after)

    def tail(self, digest: str) -> bytes:
        return self.before + digest.encode() + self.after

    def close(self, content: bytes) -> bytes:
        """The content with its seal."""
        return content + self.tail(hashlib.sha256(content).hexdigest())

    def check(self, file: BinaryIO | bytes) -> str | None:
        """The hash if the content matches it; None without a seal. Reads in small pieces.

        Only the format says whether a file must have a seal.
        """
        if isinstance(file, bytes):
            file = io.BytesIO(file)
        left = max(file.seek(0, os.SEEK_END) - self.size, 0)
        file.seek(left)
        tail = file.read(self.size)
        if len(tail) < self.size or not (tail.startswith(self.before) and tail.endswith(self.after)):
            return None
        file.seek(0)
        digest = hashlib.sha256()
        while left and (piece := file.read(min(left, _CHUNK))):
            digest.update(piece)
            left -= len(piece)
        if tail != self.tail(digest.hexdigest()):
            raise Damaged("its content does not match its SHA-256")
        return digest.hexdigest()


TRAILER = Seal(b"\nsha256:")
"""For torch's files, which may have extra bytes at the end."""


def file_hash(path: Path) -> str:
    """The SHA-256 of a whole file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def atomic_write(path: Path, content: bytes) -> None:
    """Replaces a file atomically; a failure leaves the old one."""
    with atomic_writer(path) as file:
        file.write(content)


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """The same for content that comes in pieces: the file is replaced when the block ends without an error."""
    # Not `tempfile`: its files are readable by their owner only, and stay so when they are renamed.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}{PART}"
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise GodojoError(f"{path} cannot be written ({error.strerror}); the old file is intact") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def make_folder(folder: Path) -> Path:
    """Creates a folder and its parents, unless it exists."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GodojoError(f"{folder} cannot be created ({error.strerror})") from None
    return folder


def sweep(folder: Path) -> None:
    """Removes files that killed writers left in a folder; for its only writer."""
    for left in folder.glob(f".*{PART}"):
        with suppress(OSError):
            left.unlink()
