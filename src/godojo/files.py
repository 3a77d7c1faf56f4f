"""Writing files so that nobody ever finds half of one."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from godojo.errors import GodojoError

PART = ".part"
"""How the name of a file ends that is still being written; a kill may leave one behind."""


def write_whole(path: Path, content: bytes) -> None:
    """Replaces the file at once, on disk before its name is; what was there stays when this fails."""
    with writing_whole(path) as file:
        file.write(content)


@contextmanager
def writing_whole(path: Path) -> Iterator[BinaryIO]:
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
