"""A role's observation and action as Gymnasium's spaces, and the arguments that all environments share."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from godojo.engines.base import RoleArrays, Worlds
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.games.base import game_named
from godojo.games.settings import GameSettings

SettingsLike = GameSettings | Mapping[str, object] | None
"""The game's settings, or some values by path (`{"rules.hiders": 3}`), or None for the defaults."""
ArenasLike = Any
"""The game's arenas, or names of hand-made ones, files or folders; one or several; None for every hand-made one."""
ActionSpace: TypeAlias = "Box | Discrete[Any] | MultiDiscrete"

MAX_SEED = 2**63 - 1
CHOICE_LIMIT = 10.0
"""Bounds of the numbers of a choice in a flattened space: so wide that clipping makes no two of them equal."""


def observation_space(role: RoleArrays) -> Box:
    """With the bounds that the game declares."""
    low = np.concatenate([np.full(part.size, part.low, np.float32) for part in role.observation_parts])
    high = np.concatenate([np.full(part.size, part.high, np.float32) for part in role.observation_parts])
    return Box(low, high, dtype=np.float32)


def action_space(role: RoleArrays, *, flatten: bool = False) -> ActionSpace:
    """Continuous parts are a Box, one choice is Discrete, several are MultiDiscrete.

    With `flatten`, continuous and discrete parts together are a Box with a number for each choice, the largest of which
    is taken (`unflattened`); otherwise no space holds them.
    """
    sizes = [part.size for part in role.action_parts if part.kind == "discrete"]
    if not sizes:
        return Box(-1.0, 1.0, (role.action.shape[2],), np.float32)
    if len(sizes) == len(role.action_parts):
        return Discrete(sizes[0]) if len(sizes) == 1 else MultiDiscrete(sizes)
    if not flatten:
        raise GodojoError(f"the {role.name} has continuous and discrete actions at once, which no single space holds")
    limits = [1.0 if part.kind == "continuous" else CHOICE_LIMIT for part in role.action_parts]
    high = np.repeat(np.array(limits, np.float32), [part.size for part in role.action_parts])
    return Box(-high, high, dtype=np.float32)


def unflattened(actions: np.ndarray, role: RoleArrays) -> np.ndarray:
    """Actions [N, A] of the game from those of a flattened space."""
    columns, at = [], 0
    for part in role.action_parts:
        numbers = actions[:, at : at + part.size]
        columns.append(numbers if part.kind == "continuous" else numbers.argmax(axis=1, keepdims=True))
        at += part.size
    return np.concatenate(columns, axis=1, dtype=np.float32)


def make_worlds(
    game: str, num_worlds: object, *, engine: str, arenas: ArenasLike, settings: SettingsLike, **options: Any
) -> Worlds:
    """`make_vec` with settings by path and arenas by name; GodojoError where an argument makes no sense."""
    if isinstance(num_worlds, bool) or not isinstance(num_worlds, int | np.integer) or num_worlds < 1:
        raise GodojoError(f"there must be at least one environment, not {num_worlds!r}")
    played = game_named(game)
    known = settings_from(game, settings)
    if played.places is not None:
        places = played.places(known)
        found = _arenas(options.pop(places.option, arenas), places.find)
        if found is not None:
            options[places.option] = found
    elif arenas is not None:
        played.require("places", "arenas=")
    return make_vec(game, engine=engine, num_worlds=int(num_worlds), settings=known, **options)


def settings_from(game: str, given: SettingsLike) -> GameSettings:
    kind = game_named(game).settings
    if given is None:
        return kind.defaults()
    if isinstance(given, kind):
        given.check()
        return given
    if isinstance(given, Mapping):
        return kind.defaults().override(**given)
    raise GodojoError(f"settings must be {kind.__name__} or values by path ({{'rules.round_s': 5}}), not {given!r}")


def _arenas(given: ArenasLike, find: Any) -> list[Any] | None:
    if given is None:
        return None
    one = isinstance(given, str | Path) or not isinstance(given, Iterable)
    found: list[Any] = []
    for item in [given] if one else given:
        found += find(str(item)) if isinstance(item, str | Path) else [item]
    return found


def checked_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= MAX_SEED:
        raise GodojoError(f"a seed is a whole number from 0 to {MAX_SEED}, not {seed!r}")
    return int(seed)


def checked_actions(given: object, shape: tuple[int, ...], space: ActionSpace) -> np.ndarray:
    """As float32 of this shape; the engine checks that they are finite, and names the agent."""
    try:
        with np.errstate(over="ignore"):  # too large numbers become infinite, and are refused as such
            actions = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        raise GodojoError(f"actions must be numbers of the shape {shape}, not {given!r}") from None
    if isinstance(space, Discrete) and actions.shape == shape[:-1]:
        actions = actions[..., None]
    if actions.shape != shape:
        raise GodojoError(f"actions must have the shape {shape}, not {actions.shape}")
    return actions


def checked_render_mode(render_mode: str | None, engine: str) -> str | None:
    if render_mode not in (None, "rgb_array"):
        raise GodojoError(f"there is no render_mode {render_mode!r}; there is: rgb_array")
    if render_mode and engine == "godot":
        raise GodojoError('only engine="sim" knows where everything is, which pictures need')
    return render_mode
