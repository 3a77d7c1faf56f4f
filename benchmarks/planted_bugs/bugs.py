"""Planted bugs: each is a TOML file with edits, applied to a copy of the Godot project."""

import os
import shutil
import tomllib
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
PROJECT = HERE.parent.parent / "godot"
GAMES_FILE = "games.toml"


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Replaces a text that occurs once in a file of the project; an empty one makes a new file."""

    file: str
    old: str
    new: str


class Bug(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A file of this folder."""

    name: str
    game: str
    kind: str
    description: str
    reproduce: str
    """How a tester would make it happen."""
    detectors: list[str]
    """Any of them finds it."""
    edits: list[Edit]
    hard: bool = False
    """Needs a rare state or a sequence."""
    batch: int = 1
    """2: written when all detectors were there, and none was changed for it afterwards."""
    project: str = ""
    """A project of its own in place of ours, from the root of the repository; played by its input map."""

    @property
    def source(self) -> Path:
        return HERE.parent.parent / self.project if self.project else PROJECT


def read_bugs() -> list[Bug]:
    """All of them, by name."""
    paths = sorted(path for path in HERE.glob("*.toml") if path.name != GAMES_FILE)
    return [
        msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")) | {"name": path.stem}, Bug) for path in paths
    ]


def clean_edits(game: str) -> list[Edit]:
    """What a clean build of a game has in place of what we ship."""
    tree = tomllib.loads((HERE / GAMES_FILE).read_text(encoding="utf-8"))
    return msgspec.convert(tree.get(game, []), list[Edit])


def patched_copy(folder: Path, source: Path, edits: list[Edit], *, imported: bool = False) -> Path:
    """A copy of a project with these edits. Files that are not edited are hard links where that is possible; with
    `imported`, it has what the engine has imported of the source so far."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(".godot"), copy_function=_link)
    if imported and (source / ".godot").is_dir():
        shutil.copytree(source / ".godot", folder / ".godot", ignore=shutil.ignore_patterns("godojo_*", "editor"))
    for edit in edits:
        apply(edit, folder)
    return folder


def apply(edit: Edit, project: Path) -> None:
    path = project / edit.file
    if not edit.old:
        path.write_text(edit.new, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    if text.count(edit.old) != 1:
        raise ValueError(f"{edit.file} has {text.count(edit.old)} times, not once: {edit.old.strip()!r}")
    path.unlink()  # rather than writing through the link
    path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)
