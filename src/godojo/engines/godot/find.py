"""Finds Godot: GODOT_BIN, then the one Godojo installed, then the PATH."""

import os
import re
import shutil
from pathlib import Path
from typing import Literal

import msgspec

from godojo.engines.godot.paths import program_of, read_installed
from godojo.errors import GodojoError, command, user_path
from godojo.processes import finish

OLDEST = (4, 4)
_VERSION_TIMEOUT_S = 30.0

Source = Literal["GODOT_BIN", "installed", "PATH"]


class Engine(msgspec.Struct, frozen=True):
    """A Godot that answered with its version."""

    program: Path
    version: str
    source: Source


class EngineMissing(GodojoError):
    """There is no Godot at all (a broken or unsuitable one is a plain GodojoError)."""


def find() -> Engine:
    """The first Godot in that order. One that does not run is an error, never skipped."""
    chosen = os.environ.get("GODOT_BIN")
    if chosen:
        on_path = shutil.which(chosen) if Path(chosen).name == chosen else None
        program = Path(on_path) if on_path else user_path("GODOT_BIN", chosen)
        return _tried(program, "GODOT_BIN", "GODOT_BIN", "set it to a Godot 4.4 or newer, or unset it")
    installed = read_installed()
    if installed:
        cure = f"repair it with: {command('engine install --force')}"
        return _tried(program_of(installed), "installed", "the engine that Godojo installed", cure)
    for name in ("godot4", "godot"):
        found = shutil.which(name)
        if found:
            cure = f"install a newer one with: {command('engine install')}"
            return _tried(Path(found), "PATH", f"{name} on the PATH", cure)
    raise EngineMissing(f"no Godot found; install it with: {command('engine install')} (or set GODOT_BIN to yours)")


def ask_version(program: Path) -> str:
    """The program's version; GodojoError if it does not print one."""
    try:
        if not program.is_file():
            raise GodojoError(f"{program} is not a file" if program.exists() else f"{program} does not exist")
        done = finish([program, "--headless", "--version"], timeout_s=_VERSION_TIMEOUT_S)
    except OSError as error:
        raise GodojoError(f"{program} is not a program that runs here ({error.strerror})") from None
    if done.timed_out:
        raise GodojoError(f"{program} did not print its version within {_VERSION_TIMEOUT_S:.0f} s")
    lines = done.output.strip().splitlines() or ["nothing"]
    version = next((line for line in reversed(lines) if parse_version(line)), None)
    if version is None:
        raise GodojoError(f"{program} is not Godot: asked for its version it printed {lines[-1][:80]!r}")
    return version


def parse_version(text: str) -> tuple[int, int] | None:
    """`4.6.3.stable.official.abc` gives (4, 6); anything that is not a Godot version gives None."""
    match = re.match(r"^(\d+)\.(\d+)\.[\w.+-]*$", text.strip())
    return (int(match[1]), int(match[2])) if match else None


def _tried(program: Path, source: Source, name: str, cure: str) -> Engine:
    try:
        version = ask_version(program)
    except GodojoError as error:
        raise GodojoError(f"{name}: {error}; {cure}") from None
    if (parse_version(version) or (0, 0)) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise GodojoError(f"{name}: {program} is Godot {version}, and {needed} or newer is needed; {cure}")
    return Engine(program, version, source)
