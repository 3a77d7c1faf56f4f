"""The reference set of a game: frozen trained policies of several styles that every policy can be compared with."""

from pathlib import Path

from godojo.errors import GodojoError, known
from godojo.games.base import GAMES

REFERENCE = "reference"
"""All of them, as an opponent; one of them is `reference:STYLE`."""
PREFIX = f"{REFERENCE}:"
SUFFIX = ".dojo"


def reference_set(game: str) -> dict[str, dict[str, Path]]:
    """The policy files of each style by role; empty for a game without a reference set."""
    folder = GAMES[game].references if game in GAMES else None
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(folder.glob(f"*_*{SUFFIX}")) if folder is not None else ():
        style, _, role = path.stem.rpartition("_")
        found.setdefault(style, {})[role] = path
    return found


def reference_names(game: str, role: str | None = None) -> list[str]:
    """The references as opponents are named, of all roles or of those that play one."""
    return [f"{PREFIX}{style}" for style, files in reference_set(game).items() if role is None or role in files]


def is_reference(text: str) -> bool:
    return text == REFERENCE or text.startswith(PREFIX)


def check_reference(text: str, game: str) -> None:
    """GodojoError with the styles there are, if `reference` or `reference:STYLE` names none of them."""
    style, there = text.removeprefix(PREFIX), reference_set(game)
    if not there:
        raise GodojoError(f"{game} has no reference set, so no {text!r}")
    if text != REFERENCE and style not in there:
        raise GodojoError(f"there is no reference {style!r}; {known(style, there)}")


def reference_file(text: str, role: str, game: str) -> Path:
    """The policy file of `reference:STYLE` that plays a role."""
    check_reference(text, game)
    files = reference_set(game)[text.removeprefix(PREFIX)]
    if role not in files:
        raise GodojoError(f"{text} plays the {' and the '.join(files)}, not the {role}")
    return files[role]
