"""A shadow of somebody's project: a folder of links with one autoload more; the project stays as it is."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from godojo.errors import GodojoError

CLASSES = ".godot/global_script_class_cache.cfg"
_AUTOLOADS = re.compile(r"^\[autoload\]\s*$", re.MULTILINE)


def shadow_project(
    project: Path, place: Path, autoload: str, links: Mapping[str, Path], classes: str | None = None
) -> None:
    """Fills the folder `place` with links to an imported project and to `links`, by their path in the project.

    `autoload` is a line of project.godot, which comes first. `classes` replaces the engine's list of class names.
    """
    skipped = {Path(inside) for inside in links} | {Path("project.godot")}
    if classes is not None:
        skipped.add(Path(CLASSES))
    _fill(project, place, Path(), skipped | {Path(".godot")})
    # The engine may write into its folder: what it adds stays here.
    _fill(project / ".godot", place / ".godot", Path(".godot"), skipped)
    for inside, source in links.items():
        (place / inside).parent.mkdir(parents=True, exist_ok=True)
        link(source, place / inside)
    if classes is not None:
        (place / CLASSES).write_text(classes, encoding="utf-8")
    text = with_autoload(read_text(project / "project.godot"), autoload)
    (place / "project.godot").write_text(text, encoding="utf-8")


def with_autoload(project: str, line: str) -> str:
    """The text of a project.godot with this line as its first autoload."""
    if _AUTOLOADS.search(project):
        return _AUTOLOADS.sub(lambda _: f"[autoload]\n\n{line}", project, count=1)
    return f"{project}\n[autoload]\n\n{line}\n"


def link(source: Path, place: Path) -> None:
    """A link, or a copy where the system lets few users make links."""
    try:
        place.symlink_to(source, target_is_directory=source.is_dir())
    except OSError:
        try:
            shutil.copytree(source, place) if source.is_dir() else shutil.copy2(source, place)
        except OSError as error:
            raise GodojoError(f"cannot copy {source} to {os.fspath(place.parent)} ({error.strerror})") from None


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise GodojoError(f"{path} cannot be read ({error})") from None


def _fill(folder: Path, place: Path, inside: Path, skipped: set[Path]) -> None:
    """Links all that is in a folder; folders that have something to skip are made and filled."""
    place.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        own = inside / path.name
        if own in skipped:
            continue
        if any(own in other.parents for other in skipped):
            _fill(path, place / path.name, own, skipped)
        else:
            link(path, place / path.name)
