"""Installs Godot for this user: the official build, or Debian's if that cannot be reached.

Everything is created in a staging folder, tested, moved into place, and only then noted as installed. A kill leaves
nothing that looks installed, and the next installation cleans up.
"""

import errno
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import filelock

from godojo.engines.godot import paths
from godojo.engines.godot.debian import fetch_debian, fetch_debian_templates
from godojo.engines.godot.display import has_screen, has_virtual_screen
from godojo.engines.godot.find import Engine, ask_version
from godojo.engines.godot.official import VERSION, Unreachable, fetch_official, fetch_official_templates
from godojo.engines.godot.report import Report, Silent
from godojo.engines.godot.templates import (
    PREPARED,
    has_templates,
    prepare_debian_templates,
    settle,
    templates_folder,
)
from godojo.errors import GodojoError, command
from godojo.processes import finish

_LOCK_TIMEOUT_S = 1800.0
_SYSTEM_DRAWING_PACKAGES = ("libvulkan1", "mesa-vulkan-drivers", "libgl1")


def install(
    *, rendering: bool = False, templates: bool = False, force: bool = False, report: Report | None = None
) -> paths.Installed:
    """Installs the engine and the requested add-ons, unless they are installed.

    `rendering` adds drivers and a virtual display, `templates` export templates. Earlier add-ons stay, also when
    everything is reinstalled (`force`, or because an add-on comes with another build).
    """
    report = report or Silent()
    folder = paths.engine_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder, report):
            installed = None if force else paths.read_installed()
            if installed is None or not _can_add(installed, rendering=rendering, templates=templates):
                # Read from the folders, since the note may be damaged.
                rendering |= any(folder.glob("godot-*/rendering"))
                templates |= any(folder.glob(f"godot-*/{PREPARED}"))
                installed = _install(folder, rendering, templates, report)
            if templates:
                installed = _add_templates(folder, installed, report)
            settle(installed)
            _sweep(folder, keep={installed.folder, "editor_data"})  # also after one killed when it had just been noted
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise GodojoError(
                f"the disk is full: {folder} needs about 1 GB while installing; free some, try again"
            ) from None
        raise GodojoError(
            f"cannot write to {folder} ({error.strerror}); set GODOJO_HOME to a folder that you own"
        ) from None
    if rendering:
        _install_screen(installed, report)
    return installed


def uninstall() -> bool:
    """Removes what `install` created; False if there was nothing."""
    folder = paths.engine_folder()
    if not folder.exists():
        return False
    try:
        with _lock(folder, Silent()):
            there_was = (folder / "installed.json").exists()
            (folder / "installed.json").unlink(missing_ok=True)
            (folder / "current").unlink(missing_ok=True)
            _sweep(folder, keep=set())
    except OSError as error:
        raise GodojoError(f"cannot remove {folder} ({error.strerror})") from None
    left = [path.name for path in folder.iterdir() if path.is_dir()]
    if left:
        raise GodojoError(f"{folder / left[0]} cannot be removed: end the Godot that runs from it, then try again")
    return there_was


def _can_add(installed: paths.Installed, *, rendering: bool, templates: bool) -> bool:
    """Whether add-ons can be added without reinstalling."""
    if installed.origin == "official":
        return not templates or installed.version.startswith(f"{VERSION}.")
    return installed.rendering or not rendering


def _install(folder: Path, rendering: bool, templates: bool, report: Report) -> paths.Installed:
    _sweep(folder, keep={"downloads", "editor_data", _noted_folder()})
    staging = Path(tempfile.mkdtemp(prefix="staging-", dir=folder))
    try:
        program, origin, drivers = _fetch(staging, folder / "downloads", rendering, templates, report)
        report.step("testing it")
        version = ask_version(staging / program)
        if templates and origin == "debian" and prepare_debian_templates(staging, staging) != version:
            raise GodojoError(f"Debian's export templates do not fit its Godot {version}; try again in some hours")
        final = folder / f"godot-{version.split('.stable')[0]}-{origin}-{secrets.token_hex(3)}"
        staging.chmod(0o755)
        staging.replace(final)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    installed = paths.Installed(final.name, program, version, origin, drivers)
    paths.write_installed(installed)
    return installed


def _fetch(
    staging: Path, downloads: Path, rendering: bool, templates: bool, report: Report
) -> tuple[str, Literal["official", "debian"], bool]:
    """Returns the program, its origin, and whether drivers are included."""
    report.step("looking for the official build")
    try:
        return fetch_official(staging, report), "official", False
    except Unreachable as error:
        report.say(f"{error}; trying Debian's own package instead")
        try:
            program = fetch_debian(staging, downloads, rendering=rendering, templates=templates, report=report)
            return program, "debian", rendering
        except GodojoError as other:
            raise GodojoError(
                f"{error}, and neither can Debian's package: {other}."
                " Download Godot 4.4 or newer by hand and set GODOT_BIN to it"
            ) from None


def _add_templates(folder: Path, installed: paths.Installed, report: Report) -> paths.Installed:
    if installed.origin == "official":
        _add_official_templates(installed, report)
        return installed
    place = folder / installed.folder / PREPARED
    if place.is_dir():
        return installed
    staging = Path(tempfile.mkdtemp(prefix="staging-", dir=folder))
    try:
        fetch_debian_templates(staging, folder / "downloads", report=report)
        report.step("testing them")
        version = prepare_debian_templates(staging, prefix=folder / installed.folder)
        if version == installed.version:
            (staging / PREPARED).replace(place)
            return installed
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    report.say(f"Debian's export templates are for Godot {version}, which is installed with them")
    return _install(folder, installed.rendering, templates=True, report=report)


def _add_official_templates(installed: paths.Installed, report: Report) -> None:
    """Adds them to the folder that all official builds of this version share; other files there are the user's."""
    engine = Engine(paths.program_of(installed), installed.version, "installed")
    if has_templates(engine):
        return
    place = templates_folder(engine)
    place.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix="staging-", dir=place.parent))
    try:
        for file in fetch_official_templates(staging, report).iterdir():
            file.replace(place / file.name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _install_screen(installed: paths.Installed, report: Report) -> None:
    """Installs Xvfb if there is no display, and drivers for an official build; prints the command if root is needed."""
    if sys.platform != "linux":
        return
    packages = [] if has_screen() or has_virtual_screen() else ["xvfb"]
    if installed.origin == "official" and not has_screen():
        packages += [package for package in _SYSTEM_DRAWING_PACKAGES if not _is_on_system(package)]
    if not packages:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        report.say(f"to render without a display, run: sudo apt install {' '.join(packages)}")
        return
    report.say(f"installing {', '.join(packages)} on this system (you are root)")
    _apt_get(["update"], report)
    failure = _apt_get(["install", "--yes", "--no-install-recommends", *packages], report)
    if failure:
        raise GodojoError(f"apt-get could not install {' '.join(packages)}: {failure}")


def _is_on_system(package: str) -> bool:
    if shutil.which("dpkg-query") is None:
        return False
    return "ok installed" in finish(["dpkg-query", "-W", "-f", "${Status}", package], timeout_s=60).output


def _apt_get(words: list[str], report: Report) -> str:
    """Runs the system's apt; returns its last line if it fails.

    In its own session, to the end even if we are killed: an interrupted dpkg leaves the system half-configured.
    """
    report.step(f"apt-get {' '.join(words)}")
    done = subprocess.run(
        ["apt-get", "--quiet", "-o", "DPkg::Lock::Timeout=120", *words],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    lines = (done.stdout + done.stderr).strip().splitlines() or ["no output"]
    return lines[-1] if done.returncode else ""


@contextmanager
def _lock(folder: Path, report: Report) -> Iterator[None]:
    lock = filelock.FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        report.say("another installation is running; waiting for it")
        try:
            lock.acquire(timeout=_LOCK_TIMEOUT_S)
        except filelock.Timeout:
            again = command("engine install")
            raise GodojoError(f"another installation does not end; end it and run: {again}") from None
    try:
        yield
    finally:
        lock.release()


def _noted_folder() -> str:
    """The folder of the current installation, which stays until a new one replaces it."""
    try:
        installed = paths.read_installed()
    except GodojoError:
        return ""
    return installed.folder if installed else ""


def _sweep(folder: Path, keep: set[str]) -> None:
    """Removes the remains of interrupted installations."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink() and path.name not in keep:
            shutil.rmtree(path, ignore_errors=True)
