"""What runs, checkpoints and snapshots may be called, and where runs lie."""

import os
import re
from pathlib import Path

from godojo.errors import GodojoError, user_path

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


def checked_name(what: str, name: str) -> str:
    """The name, if it can be nothing but that of a file in its own folder."""
    if not _NAME.fullmatch(name):
        raise GodojoError(
            f"{name!r} is no name for a {what}: take up to 64 of A-Z, a-z, 0-9, '.', '_' and '-', and no dot first"
        )
    return name


def runs_root() -> Path:
    """Where runs lie: what GODOJO_RUNS names, or `runs` in the current directory."""
    named = os.environ.get("GODOJO_RUNS", "")
    return user_path("GODOJO_RUNS", named) if named else Path("runs")


def split_reference(text: str) -> tuple[str, str | None]:
    """`RUN@SNAPSHOT` in two; the snapshot is None for `RUN`, which means its newest policies."""
    run, at, snapshot = text.rpartition("@")
    if not at:
        return text, None
    return run, checked_name("snapshot", snapshot)
