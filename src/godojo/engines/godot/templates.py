"""Export templates: where each Godot looks for them, and Debian's prepared so that exported games start here.

Debian's templates are linked against libraries that older systems lack. They are changed to use the loader and the
libraries of the installed engine, so a game exported with them starts on this machine as any program does. The path
leads through the link `current`, which survives a reinstallation of the engine.
"""

import mmap
import os
import re
import sys
from pathlib import Path

from godojo.engines.godot.debian import driver_env, loader_of
from godojo.engines.godot.find import Engine, parse_version
from godojo.engines.godot.paths import Installed, engine_folder, read_installed
from godojo.errors import GodojoError
from godojo.processes import finish

PREPARED = "templates"
"""The prepared templates, below the prefix."""
_MACHINES = {"x86_64-linux-gnu": "x86_64", "aarch64-linux-gnu": "arm64"}
_PATCH_TIMEOUT_S = 120.0
_VERSION_TIMEOUT_S = 30.0


def templates_folder(engine: Engine) -> Path:
    """Where this engine looks for its export templates."""
    installed = read_installed() if engine.source == "installed" else None
    if installed is not None and installed.origin == "debian":
        data = engine_folder() / "editor_data"  # self-contained mode, see `settle`
    elif sys.platform == "darwin":
        data = Path.home() / "Library/Application Support/Godot"
    elif sys.platform == "win32":
        data = Path(os.environ.get("APPDATA") or Path.home() / "AppData/Roaming") / "Godot"
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "godot"
    return data / "export_templates" / templates_version(engine.version)


def templates_version(version: str) -> str:
    """`4.6.3.stable.official.abc` gives `4.6.3.stable`, as Godot names the folder."""
    match = re.match(r"\d+(\.\d+)+\.[a-z]+\d*(\.mono)?", version)
    return match[0] if match else version


def has_templates(engine: Engine) -> bool:
    """Whether the engine can export for at least one platform."""
    return any(templates_folder(engine).glob("*_release*"))


def prepare_debian_templates(unpacked: Path, prefix: Path) -> str:
    """Makes `templates` in the folder of unpacked packages, for games that use the libraries of the installed engine.

    `prefix` holds the libraries right now. Returns the version that the templates report.
    """
    loader, libraries = loader_of(prefix)
    run_here: list[str | Path] = [loader, "--library-path", libraries]
    at_home = engine_folder() / "current" / loader.parent.relative_to(prefix)
    place = unpacked / PREPARED
    place.mkdir()
    versions = set()
    for kind in ("release", "debug"):
        template = place / f"linux_{kind}.{_MACHINES[loader.parent.name]}"
        (unpacked / f"usr/bin/godot-template-{kind}").replace(template)
        words: list[str | Path] = ["--set-interpreter", at_home / loader.name, "--force-rpath"]
        words += ["--set-rpath", f"{at_home}:{at_home / 'pulseaudio'}"]
        # libpulse looks for this one only in a folder of the system's.
        words += [word for path in (loader.parent / "pulseaudio").glob("*.so") for word in ("--add-needed", path.name)]
        done = finish([*run_here, unpacked / "usr/bin/patchelf", *words, template], timeout_s=_PATCH_TIMEOUT_S)
        if done.code:
            raise GodojoError(f"{template.name} cannot be prepared: {(done.output.strip() or 'no output')[-200:]}")
        done = finish([*run_here, template, "--headless", "--version"], timeout_s=_VERSION_TIMEOUT_S)
        version = next((line for line in done.output.splitlines() if parse_version(line)), None)
        if version is None:
            raise GodojoError(f"{template.name} does not run: {(done.output.strip() or 'no output')[-200:]}")
        versions.add(version)
    if len(versions) != 1:
        raise GodojoError(f"Debian's export templates differ in version: {', '.join(sorted(versions))}")
    return versions.pop()


def settle(installed: Installed) -> None:
    """Links Debian's engine to where its exported games, its editor's data and its templates are looked for.

    Godot runs in self-contained mode: its data is in `editor_data` beside the running program, which here is the
    loader. Another Godot of the user's thus never exports with these templates, which are not portable.
    """
    folder = engine_folder()
    if installed.origin != "debian":
        (folder / "current").unlink(missing_ok=True)
        return
    _link(folder / "current", Path(installed.folder))
    prefix = folder / installed.folder
    beside, _ = loader_of(prefix)
    (folder / "editor_data").mkdir(exist_ok=True)
    _link(beside.with_name("editor_data"), Path("../../../../editor_data"))
    beside.with_name("._sc_").touch()
    _link(beside.parent.with_name("lib"), Path(beside.parent.name))  # LLVM looks for its own libraries in ../lib
    places = folder / "editor_data/export_templates" / templates_version(installed.version)
    for template in (prefix / PREPARED).glob("*"):
        places.mkdir(parents=True, exist_ok=True)
        link = places / template.name
        if link.is_symlink() or not link.exists():  # a file was put there by the user
            _link(link, Path("../../../current") / PREPARED / template.name)


def drawing_env(game: Path) -> dict[str, str]:
    """The environment to render without a GPU for a game exported with Debian's templates."""
    current = engine_folder() / "current"
    if not current.is_dir() or game.stat().st_size == 0:
        return {}
    with game.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return driver_env(current) if content.find(bytes(current)) >= 0 else {}


def _link(link: Path, target: Path) -> None:
    """Points the link at the target, at once."""
    fresh = link.with_name(f"{link.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)
