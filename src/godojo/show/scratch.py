"""Folders for frames on their way into a film: gone afterwards, and swept up later where their process was killed."""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import filelock

from godojo.errors import GodojoError

PREFIX = ".frames."
_LOCK = ".lock"


@contextmanager
def scratch(beside: Path) -> Iterator[Path]:
    """A folder that is gone afterwards. Its lock, held meanwhile, lies beside it and is there before it is."""
    folder = beside / f"{PREFIX}{secrets.token_hex(4)}"
    with ExitStack() as stack:
        try:
            beside.mkdir(parents=True, exist_ok=True)
            sweep_scratch(beside)
            stack.enter_context(_locked(folder))
            folder.mkdir()
        except OSError as error:
            why = f"{beside} cannot be written to ({error.strerror}); name another place with --out"
            raise GodojoError(why) from None
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder


def sweep_scratch(beside: Path) -> None:
    """Removes folders whose process is gone. The system drops a lock with its process, however that ends."""
    for folder in beside.glob(f"{PREFIX}*"):
        if folder.is_dir():
            with suppress(OSError), _locked(folder):  # a lock that is held is an OSError as well
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    path = folder.with_name(folder.name + _LOCK)
    with filelock.FileLock(path, timeout=0):
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no open file; there `filelock` does so itself
                path.unlink()
