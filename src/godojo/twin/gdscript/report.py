"""How much of a project's scripts is understood, and why the rest is not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from godojo.errors import GodojoError
from godojo.twin.gdscript.compiled import analyse, left_out
from godojo.twin.gdscript.errors import ScriptRefused
from godojo.twin.gdscript.parse import read_script

_MOST_FILES = 5000


@dataclass
class ScriptReport:
    """One script."""

    path: str
    lines: int
    """Lines of code: neither empty nor comments."""
    refused: list[tuple[int, str]] = field(default_factory=list)
    left_out: list[tuple[int, str]] = field(default_factory=list)
    whole: bool = False
    """Whether nothing of it could be read."""

    @property
    def understood(self) -> int:
        return 0 if self.whole else self.lines - len({line for line, _ in self.refused})


def report(folder: Path) -> list[ScriptReport]:
    """All scripts of a project, outside its addons."""
    if not folder.is_dir():
        raise GodojoError(f"{folder} is no folder")
    paths = [
        path
        for path in sorted(folder.rglob("*.gd"))
        if not {"addons", ".godot"} & set(path.relative_to(folder).parts[:-1])
    ]
    if not paths:
        raise GodojoError(f"{folder} holds no scripts (*.gd)")
    if len(paths) > _MOST_FILES:
        raise GodojoError(f"{folder} holds {len(paths)} scripts; the most is {_MOST_FILES}")
    return [_of(path, str(path.relative_to(folder))) for path in paths]


def _of(path: Path, shown: str) -> ScriptReport:
    try:
        script = read_script(path, shown)
    except ScriptRefused as refused:
        return ScriptReport(shown, _code(path.read_text(encoding="utf-8").splitlines()), refused.refusals, whole=True)
    refusals, _ = analyse(script)
    return ScriptReport(shown, _code(script.lines), refusals, left_out(script))


def _code(lines: Iterable[str]) -> int:
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in lines)
