"""The addon in somebody's project: put there, brought up to date, switched on; and as a zip for the asset library.

`addons/godojo` is replaced as a whole: the new one is made beside it and takes its place. What somebody else put into
it moves along, and what somebody changed in our files is not written over unasked.
"""

import hashlib
import io
import re
import secrets
import shutil
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from godojo.engines.godot.project_check import require_project
from godojo.errors import GodojoError, option
from godojo.files import atomic_write
from godojo.resources import godot_sources

PLACE = Path("addons/godojo")
PLUGIN = "res://addons/godojo/plugin.cfg"
MANIFEST = ".installed.json"
"""In the addon's folder: what was put there, so that the next time it is known what was not."""
NEEDED = (4, 4)
"""The oldest Godot that plays it."""
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
"""The same for every file, so that the same addon is the same zip."""
_SECTION = re.compile(r"^\[(?P<name>[A-Za-z0-9_/.]+)\][ \t]*\r?$", re.MULTILINE)
_ENABLED = re.compile(r"^enabled[ \t]*=[ \t]*(?P<value>PackedStringArray\((?P<names>[^()]*)\))?", re.MULTILINE)


class _Manifest(msgspec.Struct, frozen=True):
    version: str
    files: dict[str, str]
    """By name: SHA-256."""


class Installed(NamedTuple):
    """What `install` did."""

    folder: Path
    version: str
    before: str | None
    """The version that was there; empty where it did not say."""
    kept: list[str]
    """Files of somebody else's in the addon's folder."""
    switched_on: bool
    """Whether the project had to be told of it."""
    notes: list[str]


def addon_folder() -> Path:
    return godot_sources() / PLACE


def addon_files() -> dict[str, bytes]:
    """Everything that belongs to the addon, by its name in the addon's folder."""
    folder = addon_folder()
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not path.is_symlink() and name != MANIFEST and "__pycache__" not in path.parts:
            found[name] = path.read_bytes()
    if "plugin.cfg" not in found:
        raise GodojoError(f"the addon is not in {folder}; install Godojo again")
    return found


def version_of(config: str) -> str | None:
    """The version in a `plugin.cfg` of ours; None if it is somebody else's, empty if it does not say."""
    if not re.search(r'^name="Godojo"\s*$', config, re.MULTILINE):
        return None
    found = re.search(r'^version="([^"\n]*)"\s*$', config, re.MULTILINE)
    return found.group(1) if found else ""


def install(project: Path, *, force: bool = False) -> Installed:
    """Puts the addon into the project in this folder, or brings it up to date, and switches it on."""
    require_project(project)
    settings = project / "project.godot"
    target = project / PLACE
    if target.is_symlink() or (project / "addons").is_symlink():
        raise GodojoError(f"{target} is a link to somewhere else; remove the link first")
    if target.exists() and target.samefile(addon_folder()):
        raise GodojoError(f"{project} is where the addon comes from")
    text, notes = _read_settings(settings)
    switched = switched_on(text)
    _recover(target)
    files = addon_files()
    before = _before(target)
    kept = _foreign(target, files, force=force)
    version = version_of(files["plugin.cfg"].decode()) or ""
    _replace(target, files, kept, version)
    if switched is None:
        notes.append(f"{settings} lists plugins in a way not known here: switch Godojo on in the editor")
    elif switched != text:
        atomic_write(settings, switched.encode())
    return Installed(target, version, before, kept, switched not in (None, text), notes)


def switched_on(settings: str) -> str | None:
    """The text of a `project.godot` with the addon switched on; None if that cannot be told safely."""
    end = "\r\n" if "\r\n" in settings else "\n"
    sections = list(_SECTION.finditer(settings))
    ours = [place for place, section in enumerate(sections) if section["name"] == "editor_plugins"]
    if not ours:
        gap = "" if settings.endswith(end) or not settings else end
        return f'{settings}{gap}{end}[editor_plugins]{end}{end}enabled=PackedStringArray("{PLUGIN}"){end}'
    if len(ours) > 1:
        return None
    begin = sections[ours[0]].end()
    stop = sections[ours[0] + 1].start() if ours[0] + 1 < len(sections) else len(settings)
    found = _ENABLED.search(settings, begin, stop)
    if found is None:
        return f'{settings[:begin]}{end}{end}enabled=PackedStringArray("{PLUGIN}"){settings[begin:]}'
    if found["value"] is None:
        return None
    names = found["names"].strip()
    if f'"{PLUGIN}"' in names:
        return settings
    with_ours = f'{names.rstrip(",")}, "{PLUGIN}"' if names else f'"{PLUGIN}"'
    return f"{settings[: found.start('names')]}{with_ours}{settings[found.end('names') :]}"


def addon_zip() -> tuple[str, bytes]:
    """A name with the version, and the zip in the form the asset library expects: `addons/godojo/…` at its root."""
    files = addon_files()
    for needed in ("LICENSE", "README.md", "plugin.cfg"):
        if needed not in files:
            raise GodojoError(f"the addon has no {needed}; install Godojo again")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(f"{PLACE.as_posix()}/{name}", _ZIP_TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return f"godojo-addon-{version_of(files['plugin.cfg'].decode())}.zip", buffer.getvalue()


def _read_settings(settings: Path) -> tuple[str, list[str]]:
    try:
        text = settings.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise GodojoError(f"{settings} cannot be read ({error})") from None
    found = re.search(r"^config_version=(\d+)", text, re.MULTILINE)
    if found is None or int(found.group(1)) < 5:
        raise GodojoError(f"{settings} is not one of Godot 4; the addon needs Godot {'.'.join(map(str, NEEDED))}")
    features = re.search(r'^config/features=PackedStringArray\("(\d+)\.(\d+)', text, re.MULTILINE)
    if features is not None and (int(features.group(1)), int(features.group(2))) < NEEDED:
        made_with = f"{features.group(1)}.{features.group(2)}"
        return text, [
            f"the project was made with Godot {made_with}; the addon needs {'.'.join(map(str, NEEDED))} or newer"
        ]
    return text, []


def _before(target: Path) -> str | None:
    """The version that is there; GodojoError if what is there is not ours."""
    if not target.exists():
        return None
    if target.is_dir() and not any(target.iterdir()):
        return None
    try:
        found = version_of((target / "plugin.cfg").read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        found = None
    if found is None:
        raise GodojoError(f"{target} holds something that is not Godojo's addon; move it away first")
    return found


def _foreign(target: Path, files: dict[str, bytes], *, force: bool) -> list[str]:
    """What is there and not ours, by its name; GodojoError where our files would go over somebody's work."""
    there = {path.relative_to(target).as_posix(): path for path in _everything(target)}
    there.pop(MANIFEST, None)
    try:
        known = msgspec.json.decode((target / MANIFEST).read_bytes(), type=_Manifest).files
    except (OSError, msgspec.DecodeError):
        # Copied by hand: what has a name of ours is ours, everything else is somebody's.
        return [name for name in there if name not in files]
    changed = [
        name
        for name, path in there.items()
        if (name in known or name in files)
        and not name.endswith(".import")  # which the engine rewrites
        and _digest(path) not in (known.get(name), hashlib.sha256(files.get(name, b"")).hexdigest())
    ]
    if changed and not force:
        listed = ", ".join(changed[:5]) + (" and more" if len(changed) > 5 else "")
        raise GodojoError(f"{target} has changed files: {listed}; {option('force', True)} replaces them")
    return [name for name in there if name not in known and name not in files]


def _everything(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def _digest(path: Path) -> str:
    return "" if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()


def _replace(target: Path, files: dict[str, bytes], kept: list[str], version: str) -> None:
    """Makes the new folder beside the old one and lets it take its place."""
    mark = secrets.token_hex(4)
    fresh, old = (target.parent / f".{target.name}.{mark}.{state}" for state in ("new", "old"))
    manifest = _Manifest(version, {name: hashlib.sha256(content).hexdigest() for name, content in files.items()})
    try:
        fresh.mkdir(parents=True)
        for name, content in files.items():
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            (fresh / name).write_bytes(content)
        (fresh / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        for name in kept:
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(target / name, fresh / name, follow_symlinks=False)
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    except OSError as error:
        if old.exists() and not target.exists():
            old.rename(target)
        raise GodojoError(
            f"{target} could not be written ({error.strerror}); what was there before is intact"
        ) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)


def _recover(target: Path) -> None:
    """After a kill between two renames the old one is still there, under another name; it goes back."""
    with suppress(OSError):
        for left in sorted(target.parent.glob(f".{target.name}.*.old")):
            if not target.exists():
                left.rename(target)
        for left in target.parent.glob(f".{target.name}.*.new"):
            shutil.rmtree(left, ignore_errors=True)
