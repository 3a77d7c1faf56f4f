"""Exports policies as files for games, optionally with a model card."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from godojo.api.references import reference
from godojo.errors import unknown
from godojo.export.ship import FORMATS, Shipped, default_folder, trained_in
from godojo.export.ship import export as write_files


class Exported(NamedTuple):
    """The files that were written."""

    files: list[Shipped]
    card: Path | None
    """`CARD.md`, if it was asked for."""


def export(
    source: Any,
    *,
    role: str | None = None,
    format: str = "godot",  # noqa: A002 - as the option of `godojo export`
    out: str | Path | None = None,
    levels: Mapping[str, str] | None = None,
    int8: bool = False,
    card: bool = False,
    episodes: int = 500,
    progress: Callable[[str, float | None], None] | None = None,
) -> Exported:
    """See `Run.export`. `source` may also be a policy file (`.pt`, `.dojo`)."""
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    text = reference(source)
    policies = trained_in(text, role, levels)
    folder = default_folder(text) if out is None else Path(out).expanduser()
    files = write_files(policies, folder, format, int8=int8, rounds=episodes, progress=progress)
    if not card:
        return Exported(files, None)
    from godojo.export.card import write_card  # loads matplotlib

    return Exported(files, write_card(text, policies, files, folder, rounds=episodes, progress=progress))
