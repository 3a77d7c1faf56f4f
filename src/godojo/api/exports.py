"""Policies as files for games, with a model card if wanted."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from godojo.api.references import reference
from godojo.errors import GodojoError
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
    """Write trained policies as files for games, one for each role.

    Args:
        source: A run (a `godojo.Run`, an id, a path, `"latest"` or `RUN@SNAPSHOT`), or a policy file (`.pt`, `.dojo`).
        role: Export this role only.
        format: `"godot"` (`.dojo`, played in pure GDScript) or `"onnx"`.
        out: The folder to write to; `export` in the run's folder by default.
        levels: Snapshots by level, such as `{"easy": "10s", "hard": "final"}`: one file for each level and role.
        int8: Also write an ONNX model with 8-bit weights, and measure what it costs in win rate.
        card: Also write a model card, `CARD.md`.
        episodes: Episodes of each match, for `int8` and `card`.
        progress: Called with the step in progress and the fraction of it that is done.
    """
    kinds = {name: name for name in FORMATS}
    if format not in kinds:
        raise GodojoError(f"there is no format {format!r}; there is: {', '.join(FORMATS)}")
    text = reference(source)
    policies = trained_in(text, role, levels)
    folder = default_folder(text) if out is None else Path(out).expanduser()
    files = write_files(policies, folder, kinds[format], int8=int8, rounds=episodes, progress=progress)
    if not card:
        return Exported(files, None)
    from godojo.export.card import write_card  # loads matplotlib

    return Exported(files, write_card(text, policies, files, folder, rounds=episodes, progress=progress))
