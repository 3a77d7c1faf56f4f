"""Writing files so that nobody ever finds half of one, and sealing them with a hash so that damage is noticed."""

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
"""How the name of a file ends that is still being written; a kill may leave one behind."""
_CHUNK = 2**20


class Damaged(Exception):
    """A file is not what was written; the text says in what way."""


class Seal(NamedTuple):
    """A SHA-256 of all bytes above it, in hex, as the last bytes of a file."""

    before: bytes
    """What stands between the content and the digits."""
    after: bytes = b""

    @property
    def size(self) -> int:
        return len(self.before) + 64 + len(self.after)

    def tail(self, digest: str) -> bytes:
        """What follows the content."""
        return self.before + digest.encode() + self.after

    def close(self, content: bytes) -> bytes:
        """The content with its seal."""
        return content + self.tail(hashlib.sha256(content).hexdigest())

    def check(self, file: BinaryIO | bytes) -> str | None:
        """The hash, where the content fits it; None where there is no seal. Reads in small pieces and unpacks nothing.

        Only a reader who knows from the format that there must be a seal can tell an old file from a spoilt seal.
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
"""For files in which other programs do not mind some bytes at the end: what torch saves."""


def file_hash(path: Path) -> str:
    """The SHA-256 of a whole file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def atomic_write(path: Path, content: bytes) -> None:
    """Replaces the file at once, on disk before its name is; what was there stays when this fails."""
    with atomic_writer(path) as file:
        file.write(content)


@contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """The same for what comes piece by piece: the file takes its place when the block is left without an error."""
    # Not `tempfile`: its files are for nobody but their owner, and keep that when they are renamed.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}{PART}"
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise GodojoError(f"{path} could not be written ({error.strerror}); what was there before is intact") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def sweep(folder: Path) -> None:
    """Removes what killed writers left in a folder; only for whoever is its one writer."""
    for left in folder.glob(f".*{PART}"):
        with suppress(OSError):
            left.unlink()
