"""Worlds to evaluate in: arenas that no policy was trained in, unless the user chooses others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from godojo.engines.base import Worlds
from godojo.engines.make import GAMES, make_vec
from godojo.engines.multi_task import TASK, MultiTaskWorlds
from godojo.errors import GodojoError
from godojo.games.base import HELD_OUT_SEED
from godojo.learn.policy_file import PolicyCard
from godojo.runs.config import cores
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference

PROBE_SEED = 2**41
"""Seeds of best responses start here."""
MAX_SEED = HELD_OUT_SEED - 1
MOST_WORLDS = {"sim": 1024, "godot": 64}
"""More of them at once are no quicker."""
MOST_PROCESSES = 8
BOTH = "held-out"
"""The arenas of a game that no policy was trained in."""


def game_settings(game: str, values: Mapping[str, Any], source: object = "") -> Any:
    """A game's settings as a policy file or a run (`source`) holds them; those it does not name have their defaults."""
    if game not in GAMES:
        raise GodojoError(f"there is no game {game!r} to judge in; there is: {', '.join(GAMES)}")
    return GAMES[game].settings.from_values(dict(values), source)


def judging_worlds(
    game: str,
    settings: Any,
    *,
    arenas: str = BOTH,
    rounds: int = 500,
    engine: str = "sim",
    seed: int = 0,
    from_pool: bool = False,
) -> Worlds:
    """Worlds for this many rounds, with privileged state for oracles.

    The game defines what `arenas` may be (`judging_options` in its `game.py`). The real Godot generates no arenas: it
    takes one of a pool. With `from_pool` the twin takes one of the same pool, so the two can be compared.
    """
    asked = GAMES[game].judging_options(settings, arenas)
    options: dict[str, Any] = {"settings": settings, **asked}
    worlds = max(1, min(rounds, MOST_WORLDS.get(engine, 64)))
    if engine == "godot":
        options["num_processes"] = min(cores(), MOST_PROCESSES, worlds)
        options["truth"] = True
    elif from_pool:
        options |= GAMES[game].pool_options(settings, asked, judging_seed(seed))
    return make_vec(game, engine=engine, num_worlds=worlds, seed=judging_seed(seed), **options)


def worlds_for(policy: str, card: PolicyCard, *, arenas: str = BOTH, rounds: int = 500, **how: Any) -> Worlds:
    """Worlds to judge a policy in (see `judging_worlds`); one that observes its task plays all its tasks."""
    settings, tasks = game_settings(card.game, card.settings), _tasks_of(policy, card)
    if not tasks:
        return judging_worlds(card.game, settings, arenas=arenas, rounds=rounds, **how)
    each = -(-rounds // len(tasks))
    return MultiTaskWorlds(
        {task: judging_worlds(card.game, settings, arenas=task, rounds=each, **how) for task in tasks}
    )


def _tasks_of(policy: str, card: PolicyCard) -> list[str]:
    """The tasks that a policy which observes its task was trained for, in order; others have none."""
    if not any(part.name == TASK for part in card.observation_parts):
        return []
    if Path(policy).expanduser().is_file():
        raise GodojoError(f"{policy} is told its task, and only its run knows which: give the run instead of the file")
    tasks: list[str] = RunFolder.open(split_reference(policy)[0]).config.more["tasks"]
    return tasks


def judging_seed(seed: int) -> int:
    """The seed of the worlds of an evaluation with this seed."""
    if not 0 <= seed <= MAX_SEED:
        raise GodojoError(f"a seed to judge with is from 0 to {MAX_SEED}, not {seed}")
    return HELD_OUT_SEED + seed
