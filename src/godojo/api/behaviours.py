"""Behaviours: what the policies of a run do in their rounds, counted and filmed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from godojo.api.references import is_file, reference, resolved
from godojo.engines.godot.display import check_screen
from godojo.engines.godot.find import find
from godojo.errors import GodojoError, option
from godojo.games.base import game_named
from godojo.runs.external import refuse_external
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference
from godojo.show.shots import preset as format_of

if TYPE_CHECKING:
    from godojo.show.behaviours import Behaviours
    from godojo.show.replay import Replay


def behaviours(
    source: Any,
    *,
    episodes: int = 100,
    players: Mapping[str, str | None] | None = None,
    arena: str | None = None,
    engine: str = "sim",
    seed: int = 0,
    deterministic: bool = True,
    clips: Path | None = None,
    preset: str = "720p30",
    fine: bool = False,
    progress: Callable[..., None],
) -> "Behaviours":
    """See `Run.behaviours`. The source may also be a replay's file or folder."""
    if episodes < 1:
        raise GodojoError(f"{option('episodes')} must be 1 or more, not {episodes}")
    text, film = resolved(reference(source)), format_of(preset)
    if not is_file(text):
        run = RunFolder.open(split_reference(text)[0])
        refuse_external("behaviours", run)
        game_named(run.config.game).require("behaviours", "behaviours")
    if clips is not None:
        check_screen()
        find()
    from godojo.show import behaviours as showing  # loads torch and the kernels

    if is_file(text):
        replays = _read(Path(text).expanduser())
    else:
        from godojo.show.policies_to_show import PoliciesToShow

        lineup = PoliciesToShow.of(text, players, seed=seed, deterministic=deterministic, verb="behaviours")
        replays = lineup.record(
            episodes,
            arenas=lineup.arenas(arena),
            seed=seed,
            engine=engine,
            progress=lambda share: progress("playing", share),
        )
    found = showing.found_in(replays)
    best, made = showing.best_of(found), {}
    if clips is not None and best:
        made = showing.write_clips(best, clips, film, fine=fine, progress=progress)
    return showing.described(replays, found, made)


def _read(path: Path) -> "list[Replay]":
    from godojo.show.replay_file import read_any

    replays = read_any(path)
    if not replays:
        raise GodojoError(f"{path} holds no replays; record some with: replay")
    return replays
