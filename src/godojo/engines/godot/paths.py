"""The user's data folder, and the note about the installed engine."""

import os
from pathlib import Path
from typing import Literal

import msgspec
import platformdirs

from godojo.errors import GodojoError, command, user_path


class Installed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The note beside an installed engine. An engine without a note is not installed."""

    folder: str
    """Folder of this installation, below the engine folder."""
    program: str
    """The program, below the installation's folder."""
    version: str
    """As printed by the program."""
    origin: Literal["official", "debian"]
    rendering: bool
    """Whether software drivers are included."""


def data_folder() -> Path:
    """The per-user folder; GODOJO_HOME overrides it."""
    chosen = os.environ.get("GODOJO_HOME")
    if chosen:
        return user_path("GODOJO_HOME", chosen)
    return platformdirs.user_data_path("godojo", appauthor=False)


def engine_folder() -> Path:
    return data_folder() / "engine"


def read_installed() -> Installed | None:
    """The note; None if nothing is installed."""
    note = engine_folder() / "installed.json"
    try:
        installed = msgspec.json.decode(note.read_bytes(), type=Installed)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise GodojoError(
            f"{note} cannot be read ({error}); repair it with: {command('engine install --force')}"
        ) from None
    inside = Path(os.path.normpath(engine_folder() / installed.folder))
    program = Path(os.path.normpath(program_of(installed)))
    if inside.parent != engine_folder() or inside not in program.parents:
        raise GodojoError(f"{note} points outside its folder; repair it with: {command('engine install --force')}")
    return installed


def write_installed(installed: Installed) -> None:
    note = engine_folder() / "installed.json"
    fresh = note.with_suffix(".new")
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(installed)) + b"\n")
    fresh.replace(note)


def program_of(installed: Installed) -> Path:
    return engine_folder() / installed.folder / installed.program
