"""Worlds to judge in: arenas that no policy was trained in, unless a user says otherwise."""

import os
from collections.abc import Mapping
from typing import Any

from godojo.engines.base import Worlds
from godojo.engines.make import GAMES, make_vec
from godojo.errors import GodojoError

HELD_OUT_SEED = 2**40
"""Training's seeds are below, those of judging begin here, so that generated arenas are others, too."""
PROBE_SEED = 2**41
"""Here begin those of whoever is trained to probe a policy."""
MAX_SEED = HELD_OUT_SEED - 1
MOST_WORLDS = {"sim": 1024, "godot": 64}
"""More of them at once are no quicker."""
MOST_PROCESSES = 8
BOTH = "held-out"
"""What a game has that no policy was trained in."""


def game_settings(game: str, values: Mapping[str, Any]) -> Any:
    """A game's settings as a policy file or a run holds them; none are the defaults."""
    if game not in GAMES:
        raise GodojoError(f"there is no game {game!r} to judge in; there is: {', '.join(GAMES)}")
    return GAMES[game].settings.from_values(dict(values))


def judging_worlds(
    game: str, settings: Any, *, arenas: str = BOTH, rounds: int = 500, engine: str = "sim", seed: int = 0
) -> Worlds:
    """Worlds for so many rounds; what `arenas` may be, the game says (`judging_options` in its `game.py`)."""
    options = {"settings": settings, **GAMES[game].judging_options(settings, arenas)}
    worlds = max(1, min(rounds, MOST_WORLDS.get(engine, 64)))
    if engine == "godot":
        options["num_processes"] = min(_cores(), MOST_PROCESSES, worlds)
    return make_vec(game, engine=engine, num_worlds=worlds, seed=judging_seed(seed), **options)


def judging_seed(seed: int) -> int:
    """Where the worlds of a judgement with this seed begin."""
    if not 0 <= seed <= MAX_SEED:
        raise GodojoError(f"a seed to judge with is from 0 to {MAX_SEED}, not {seed}")
    return HELD_OUT_SEED + seed


def _cores() -> int:
    """Those we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
