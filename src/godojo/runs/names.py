"""Names of runs, checkpoints and snapshots, and the folder of runs."""

import os
import re
from pathlib import Path

from godojo.errors import GodojoError, user_path

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


def checked_name(what: str, name: str) -> str:
    """The name, if it is safe as that of a file: it cannot lead out of its folder."""
    if not _NAME.fullmatch(name):
        raise GodojoError(
            f"{name!r} is no name for a {what}: use up to 64 of A-Z, a-z, 0-9, '.', '_' and '-', and no leading dot"
        )
    return name


def runs_root() -> Path:
    """The folder of runs: `$GODOJO_RUNS`, or `runs` in the current directory."""
    named = os.environ.get("GODOJO_RUNS", "")
    return user_path("GODOJO_RUNS", named) if named else Path("runs")


def split_reference(text: str) -> tuple[str, str | None]:
    """Splits `RUN@SNAPSHOT`; the snapshot is None for `RUN`, the newest policies."""
    run, at, snapshot = text.rpartition("@")
    if not at:
        return text, None
    return run, checked_name("snapshot", snapshot)
