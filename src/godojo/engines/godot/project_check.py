"""What keeps somebody's Godot project from running here, found out before it is started."""

import re
from collections.abc import Iterator
from pathlib import Path

from godojo.engines.godot.find import Engine
from godojo.errors import GodojoError

_CONFIG_VERSION = re.compile(r"^config_version\s*=\s*(\d+)", re.MULTILINE)
_FEATURE = re.compile(r'^config/features\s*=\s*PackedStringArray\("(\d+)\.(\d+)"', re.MULTILINE)
_MAIN_SCENE = re.compile(r'^run/main_scene\s*=\s*"([^"]+)"', re.MULTILINE)
_GODOT_4 = 5
"""The format of project.godot since Godot 4."""
_NAMED = 3


def require_project(folder: Path) -> None:
    """Refuse a folder that holds no Godot project."""
    if not (folder / "project.godot").is_file():
        raise GodojoError(f"{folder} is no Godot project: it has no project.godot")


def check_project(engine: Engine, folder: Path, scene: str | None) -> None:
    """Refuse a project that this engine cannot play, or that has no such scene."""
    text = _text(folder / "project.godot")
    version = _CONFIG_VERSION.search(text)
    if version is not None and int(version[1]) < _GODOT_4:
        raise GodojoError(f"{folder} is a project of Godot 3: convert it with the project manager of Godot 4")
    if version is not None and int(version[1]) > _GODOT_4:
        raise GodojoError(f"{folder} was made with a newer Godot than {engine.version}: set GODOT_BIN to that one")
    main = _MAIN_SCENE.search(text)
    if scene is None and main is None:
        raise GodojoError(f"{folder} has no main scene: set one in its project settings, or name a scene to play")
    chosen = scene or (main[1] if main else "")
    place = folder / chosen.removeprefix("res://")
    if not chosen.startswith("uid://") and not place.is_file():
        scenes = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.tscn") if _is_own(path, folder))
        listed = ", ".join(f"res://{name}" for name in scenes[:8])
        raise GodojoError(f"{folder} has no scene {chosen}; it has: {listed or 'none'}")


def warnings_about(engine: Engine, folder: Path) -> Iterator[str]:
    """What may keep an imported project from running, in a line each."""
    feature = _FEATURE.search(_text(folder / "project.godot"))
    here = tuple(int(number) for number in re.findall(r"\d+", engine.version)[:2])
    if feature is not None and (int(feature[1]), int(feature[2])) > here:
        made = f"{feature[1]}.{feature[2]}"
        yield f"{folder} was made with Godot {made}, and this is {engine.version}; if it fails, set GODOT_BIN to {made}"
    missing = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*.blend"))
        if _is_own(path, folder) and not any((folder / ".godot/imported").glob(f"{path.name}-*"))
    ]
    if missing:
        names = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
        yield (
            f"{folder} needs Blender, since {names} cannot be imported without it: install it and set its path in"
            " Godot's editor settings, or use a project that was imported with it"
        )


def _is_own(path: Path, folder: Path) -> bool:
    return path.relative_to(folder).parts[0] not in (".godot", "addons")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None
