"""Worlds to judge in: arenas that no policy was trained in, unless a user says otherwise."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from godojo.engines.base import Worlds
from godojo.engines.make import GAMES, make_vec
from godojo.errors import GodojoError
from godojo.games.tag.arenas import hand_made_arenas, read_arenas
from godojo.games.tag.godot import generated_pool
from godojo.games.tag.settings import TagSettings

HELD_OUT_SEED = 2**40
"""Training's seeds are below, those of judging begin here, so that generated arenas are others, too."""
PROBE_SEED = 2**41
"""Here begin those of whoever is trained to probe a policy."""
MAX_SEED = HELD_OUT_SEED - 1
MOST_WORLDS = {"sim": 1024, "godot": 64}
"""More of them at once are no quicker."""
MOST_PROCESSES = 8
BOTH, HAND_MADE, GENERATED = "held-out", "hand-made", "generated"


def game_settings(game: str, values: Mapping[str, Any]) -> TagSettings:
    """A game's settings as a policy file or a run holds them; none are the defaults."""
    if game != "tag":
        raise GodojoError(f"there is no game {game!r} to judge in; there is: {', '.join(GAMES)}")
    return TagSettings.from_json(msgspec.json.encode(values)) if values else TagSettings.defaults()


def judging_worlds(
    game: str,
    settings: TagSettings,
    *,
    arenas: str = BOTH,
    rounds: int = 500,
    engine: str = "sim",
    seed: int = 0,
    from_pool: bool = False,
) -> Worlds:
    """Worlds for so many rounds, in which oracles can play, too.

    `arenas`: `held-out` (every other round, about, in a hand-made arena, the others in one made for the round),
    `hand-made`, `generated`, or a folder of a user's own. The real Godot makes no arenas: it takes one of a few that
    are made beforehand. With `from_pool` the embedded game takes one of the same, so that the two can be compared.
    """
    options: dict[str, Any] = {"settings": settings}
    if arenas == GENERATED:
        options["generated_share"] = 1.0
    elif arenas in (BOTH, HAND_MADE):
        options["arenas"] = list(hand_made_arenas(settings).values())
        options["generated_share"] = 0.5 if arenas == BOTH else 0.0
    else:
        options["arenas"] = list(read_arenas(_folder(arenas), settings).values())
    worlds = max(1, min(rounds, MOST_WORLDS.get(engine, 64)))
    if engine == "godot":
        options["num_processes"] = min(_cores(), MOST_PROCESSES, worlds)
        options["truth"] = True
    elif from_pool and options.get("generated_share"):
        options["generated_arenas"] = generated_pool(judging_seed(seed), settings)
    return make_vec(game, engine=engine, num_worlds=worlds, seed=judging_seed(seed), **options)


def judging_seed(seed: int) -> int:
    """Where the worlds of a judgement with this seed begin."""
    if not 0 <= seed <= MAX_SEED:
        raise GodojoError(f"a seed to judge with is from 0 to {MAX_SEED}, not {seed}")
    return HELD_OUT_SEED + seed


def _cores() -> int:
    """Those we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _folder(text: str) -> Path:
    folder = Path(text).expanduser()
    if not folder.is_dir():
        raise GodojoError(f"{text} is neither a folder of arenas nor one of: {BOTH}, {HAND_MADE}, {GENERATED}")
    return folder
