"""The probe in somebody's game: a shadow of the project that has one autoload more; the project stays as it is."""

import os
import re
import shutil
import zipfile
from pathlib import Path

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import prepared_project
from godojo.errors import GodojoError
from godojo.hunt.coverage import MOST, instrumented

ADDON = "addons/godojo"
PROBE = f'DojoProbe="*res://{ADDON}/hunt/dojo_probe.gd"'
_OVERRIDE = """[application]

run/flush_stdout_on_print=true

[autoload]

DojoProbe="*{boot}"

[debug]

settings/gdscript/always_track_call_stacks=true
"""
_COVERAGE = "dojo_coverage.gd"
_CLASSES = ".godot/global_script_class_cache.cfg"
_CLASS = re.compile(r"\{[^{}]*\}")
_CLASS_NAME = re.compile(r'"class": &"(\w+)"')
_AUTOLOADS = re.compile(r"^\[autoload\]\s*$", re.MULTILINE)
_AUTOLOAD = re.compile(r"^\[autoload\]\s*$(.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL)


def shadow(project: Path, place: Path, engine: Engine, *, counts_branches: bool = True) -> None:
    """Fills the folder `place` with links to an imported project, the addon, and a project.godot with the probe.

    `counts_branches`: scripts outside of `addons` are copies that count which of their branches run.
    """
    own = prepared_project(engine)
    place.mkdir(parents=True)
    theirs = project / ADDON / "hunt"
    branches = Branches() if counts_branches and (not theirs.is_dir() or (theirs / _COVERAGE).is_file()) else None
    for path in sorted(project.iterdir()):
        if path.name not in ("project.godot", ".godot", "addons"):
            _mirror(path, place / path.name, branches)
    (place / "addons").mkdir()
    for path in (project / "addons").iterdir() if (project / "addons").is_dir() else ():
        if path.name != "godojo":
            _link(path, place / "addons" / path.name)
    _link_addon(project / ADDON, own / ADDON, place / ADDON)
    (place / ".godot").mkdir()
    for path in (project / ".godot").iterdir():
        if path.name != Path(_CLASSES).name:
            _link(path, place / ".godot" / path.name)
    (place / _CLASSES).write_text(merged_classes(_read(project / _CLASSES), _read(own / _CLASSES)), encoding="utf-8")
    (place / "project.godot").write_text(with_probe(_read(project / "project.godot")), encoding="utf-8")


def beside_binary(binary: Path, place: Path, engine: Engine) -> tuple[Path, dict[str, str]]:
    """A copy of an exported game with an override.cfg beside it; the program, and its environment.

    The addon is in a pack that the first script mounts, so that a game without it knows its classes.
    """
    own = prepared_project(engine)
    place.mkdir(parents=True)
    program = place / binary.name
    try:
        try:
            os.link(binary, program)  # no symbolic link: the engine looks beside the file itself
        except OSError:
            shutil.copy2(binary, program)
        for path in binary.parent.iterdir():
            if path != binary and (path.stem == binary.stem or path.suffix in (".pck", ".so", ".dll", ".dylib")):
                _link(path, place / path.name)
        boot, pack = place / "dojo_probe_boot.gd", place / "godojo_hunt.zip"
        shutil.copy2(own / ADDON / "hunt" / boot.name, boot)
        with zipfile.ZipFile(pack, "w") as archive:
            for path in sorted((own / ADDON).rglob("*.gd")):
                archive.write(path, path.relative_to(own).as_posix())
            archive.writestr(_CLASSES, merged_classes("", _read(own / _CLASSES)))
        override = _OVERRIDE.format(boot=boot.as_posix())
        (place / "override.cfg").write_text(override, encoding="utf-8")
    except OSError as error:
        raise GodojoError(f"{binary} cannot be copied to {place} ({error.strerror})") from None
    return program, {"GODOJO_HUNT_PACK": str(pack)}


def with_probe(project: str) -> str:
    """The text of a project.godot with the probe as its first autoload."""
    if _AUTOLOADS.search(project):
        return _AUTOLOADS.sub(f"[autoload]\n\n{PROBE}", project, count=1)
    return f"{project}\n[autoload]\n\n{PROBE}\n"


def has_autoloads(project: str) -> bool:
    """Whether the text of a project.godot has autoloads, whose state outlives a scene."""
    section = _AUTOLOAD.search(project)
    return section is not None and "=" in section[1]


def merged_classes(theirs: str, ours: str) -> str:
    """The engine's list of class names with those of the addon, where the project has none of that name."""
    entries = _CLASS.findall(theirs)
    names = {match[1] for match in map(_CLASS_NAME.search, entries) if match}
    for entry in _CLASS.findall(ours):
        name = _CLASS_NAME.search(entry)
        if f"res://{ADDON}/" in entry and name is not None and name[1] not in names:
            entries.append(entry)
    return f"list=[{', '.join(entries)}]\n"


def _link_addon(theirs: Path, ours: Path, place: Path) -> None:
    """The project's own addon, completed by what a hunt needs; or ours where it has none."""
    if not theirs.is_dir():
        _link(ours, place)
    elif (theirs / "hunt").is_dir():
        _link(theirs, place)
    else:
        place.mkdir()
        for path in theirs.iterdir():
            _link(path, place / path.name)
        _link(ours / "hunt", place / "hunt")


class Branches:
    """Numbers the branches of all scripts of a project."""

    def __init__(self) -> None:
        self.count = 0

    def copy(self, source: Path, place: Path) -> bool:
        """Writes a script that counts its branches; false if it should be a link."""
        try:
            text, lines = instrumented(source.read_text(encoding="utf-8"), self.count)
        except (OSError, UnicodeError):
            return False
        if not lines or self.count + len(lines) > MOST:
            return False
        self.count += len(lines)
        place.write_text(text, encoding="utf-8", newline="\n")
        return True


def _mirror(source: Path, place: Path, branches: Branches | None) -> None:
    """A link; of a folder with scripts, a folder with copies of them and links to the rest."""
    if branches is None or source.is_symlink():
        _link(source, place)
    elif source.is_dir() and next(source.rglob("*.gd"), None) is not None:
        place.mkdir()
        for path in sorted(source.iterdir()):
            _mirror(path, place / path.name, branches)
    elif source.suffix != ".gd" or not branches.copy(source, place):
        _link(source, place)


def _link(source: Path, link: Path) -> None:
    try:
        link.symlink_to(source, target_is_directory=source.is_dir())
    except OSError:  # Windows lets few users make links
        try:
            shutil.copytree(source, link) if source.is_dir() else shutil.copy2(source, link)
        except OSError as error:
            raise GodojoError(f"cannot copy {source} to {os.fspath(link.parent)} ({error.strerror})") from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise GodojoError(f"{path} cannot be read ({error})") from None
