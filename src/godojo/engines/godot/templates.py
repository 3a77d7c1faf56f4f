"""Exported games: the template they are made of, and how one is started where the engine lives in a private prefix."""

import os
import shutil
import sys
from pathlib import Path

from godojo.engines.godot.debian import TEMPLATE, loader_of
from godojo.engines.godot.find import Engine, parse_version
from godojo.engines.godot.home import engine_folder, read_installed
from godojo.errors import GodojoError, command
from godojo.processes import finish

_VERSION_TIMEOUT_S = 30.0


def release_template(engine: Engine) -> Path:
    """The release template that fits the engine; GodojoError says how to get it."""
    if sys.platform != "linux":
        raise GodojoError("games are exported by Godojo's tests on Linux only")
    prefix = _prefix(engine)
    if prefix is not None:
        template = prefix / TEMPLATE
    else:
        version = engine.version.split(".stable")[0] + ".stable"
        shared = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
        template = shared / "godot/export_templates" / version / f"linux_release.{os.uname().machine}"
    if not template.is_file():
        raise GodojoError(f"there is no export template for this Godot; try: {command('engine install --templates')}")
    return template


def exported_words(engine: Engine, game: Path) -> list[str]:
    """What starts an exported game, to be followed by its options.

    In a prefix the loader starts it. Games look for their pack beside the program that the kernel started, so it is a
    copy of the loader, with the game's name.
    """
    prefix = _prefix(engine)
    if prefix is None:
        return [str(game)]
    loader, libraries = loader_of(prefix)
    beside = game.with_suffix("")
    if beside == game:
        raise GodojoError(f"{game}: give the exported game a name with a suffix, such as {game.name}.x86_64")
    shutil.copy2(loader, beside)
    return [str(beside), "--library-path", libraries, str(game)]


def template_version(program: Path, prefix: Path) -> str:
    """What a template says its version is, started with the prefix's libraries."""
    loader, libraries = loader_of(prefix)
    done = finish(
        [loader, "--library-path", libraries, program, "--headless", "--version"], timeout_s=_VERSION_TIMEOUT_S
    )
    version = next((line for line in done.output.splitlines() if parse_version(line)), None)
    if version is None:
        raise GodojoError(f"{program.name} does not run: {(done.output.strip() or 'it said nothing')[-200:]}")
    return version


def _prefix(engine: Engine) -> Path | None:
    """The folder of an engine that Godojo took from Debian."""
    installed = read_installed() if engine.source == "installed" else None
    return engine_folder() / installed.folder if installed is not None and installed.origin == "debian" else None
