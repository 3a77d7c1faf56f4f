"""`make_vec`: a game on an engine, by name."""

import inspect
from typing import Any

from godojo.engines.base import Worlds
from godojo.engines.sim import SimWorlds
from godojo.errors import GodojoError
from godojo.games.tag.sim.twin import TagTwin

GAMES = {"tag": TagTwin}
ENGINES = ("sim",)


def make_vec(game: str, *, engine: str = "sim", num_worlds: int = 1, seed: int = 0, **options: Any) -> Worlds:
    """Many copies of a game, ready for their first step.

    Options are the game's own; for tag: `settings` (TagSettings), `arenas` (a list of Arena), `generated_share` and
    `truncate_after`; see `godojo.games.tag.sim.twin.TagTwin`.
    """
    if game not in GAMES:
        raise GodojoError(f"there is no game {game!r}; there is: {', '.join(GAMES)}")
    if engine not in ENGINES:
        raise GodojoError(f"there is no engine {engine!r}; there is: {', '.join(ENGINES)}")
    known = [name for name in inspect.signature(GAMES[game]).parameters if name != "worlds"]
    for name in options:
        if name not in known:
            raise GodojoError(f"{game} has no option {name!r}; it has: {', '.join(known)}")
    worlds = SimWorlds(GAMES[game](num_worlds, **options))
    worlds.reset(seed)
    return worlds
