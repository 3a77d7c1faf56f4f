"""What agents of tag see and do, as Gymnasium's spaces, and the arguments that all environments share."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena, hand_made_arenas, read_arena
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.spec import ACTION_SIZE, NUMBERS_PER_RAY, OWN_NUMBERS, observation_size

SettingsLike = TagSettings | Mapping[str, object] | None
"""The settings, or some of their values by path (`{"rules.hiders": 3}`), or the defaults."""
ArenasLike = str | Path | Arena | Iterable[str | Path | Arena] | None
"""Arenas, names of hand-made ones, files or folders of them; one or several; or every hand-made one."""

MOST_SEED = 2**63 - 1


def action_space() -> Box:
    return Box(-1.0, 1.0, (ACTION_SIZE,), np.float32)


def observation_space(settings: TagSettings) -> Box:
    """Bounds that hold for every arena, however agents jostle; `godojo.games.tag.spec` says what each number is."""
    motion, others = settings.motion, settings.agent_count - 1
    top_mps = max(motion.seeker_speed_mps, motion.hider_speed_mps)
    # Whoever is pushed gains at most what pushing across a whole body gives; who pushes may have been pushed itself.
    push_mps = others * math.sqrt(2.0 * motion.push_acceleration_mps2 * others * settings.body.size_m)
    along = (top_mps + push_mps) / min(motion.seeker_speed_mps, motion.hider_speed_mps)
    jump_mps = max(motion.jump_speed_mps, 1.0)
    low = np.zeros(observation_size(settings), np.float32)
    high = np.ones_like(low)
    low[:8] = (-1.0, 0.0, -1.0, -along, -motion.fall_speed_mps / jump_mps, -along, -1.0, -1.0)
    low[OWN_NUMBERS + 1 :: NUMBERS_PER_RAY] = -1.0
    high[:8] = (1.0, settings.arena.collider_height_m / settings.arena.wall_height_m, 1.0, along, 1.0, along, 1.0, 1.0)
    return Box(low, high, dtype=np.float32)


def settings_from(given: SettingsLike) -> TagSettings:
    if given is None:
        return TagSettings.defaults()
    if isinstance(given, TagSettings):
        given.check()
        return given
    if isinstance(given, Mapping):
        return TagSettings.defaults().override(**given)
    raise GodojoError(f"settings must be TagSettings or values by path, such as {{'rules.hiders': 3}}, not {given!r}")


def arenas_from(given: ArenasLike, settings: TagSettings) -> list[Arena] | None:
    if given is None:
        return None
    items = [given] if isinstance(given, str | Path | Arena) else list(given)
    found: list[Arena] = []
    for item in items:
        if isinstance(item, Arena):
            found.append(item)
        elif isinstance(item, str | Path):
            found += _read(item, settings)
        else:
            raise GodojoError(f"an arena is an Arena, a name, a file or a folder, not {item!r}")
    return found


def _read(item: str | Path, settings: TagSettings) -> list[Arena]:
    hand_made = hand_made_arenas(settings)
    if item in hand_made:
        return [hand_made[str(item)]]
    path = Path(item)
    if path.is_dir():
        return [read_arena(file, settings) for file in sorted(path.glob("*.json"))]
    if path.is_file():
        return [read_arena(path, settings)]
    raise GodojoError(
        f"there is no arena {str(item)!r}; there is: {', '.join(hand_made)}, or a file or folder of arenas"
    )


def checked_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= MOST_SEED:
        raise GodojoError(f"a seed is a whole number from 0 to {MOST_SEED}, not {seed!r}")
    return int(seed)


def checked_actions(given: object, shape: tuple[int, ...]) -> np.ndarray:
    """As float32 of this shape; that all of them are numbers is checked by the engine, which can say whose are not."""
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as such
            actions = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        raise GodojoError(f"actions must be numbers of the shape {shape}, not {given!r}") from None
    if actions.shape != shape:
        raise GodojoError(f"actions must have the shape {shape}, not {actions.shape}")
    return actions


def checked_render_mode(render_mode: str | None, engine: str) -> str | None:
    if render_mode not in (None, "rgb_array"):
        raise GodojoError(f"there is no render_mode {render_mode!r}; there is: rgb_array")
    if render_mode and engine == "godot":
        raise GodojoError('only engine="sim" tells where things are, which pictures need')
    return render_mode


def checked_engine_options(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """What `make_vec` takes for the engine alone; the rest are arguments of the environments themselves."""
    options = dict(given or {})
    for name in ("engine", "num_worlds", "seed", "settings", "arenas", "generated_share", "truncate_after"):
        if name in options:
            raise GodojoError(f"{name!r} is no engine option: it is an argument of its own")
    return options
