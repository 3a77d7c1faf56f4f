"""Tag's options on both engines: settings, arenas, and when rounds are truncated."""

from collections.abc import Sequence

import msgspec

from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena, check_arena, hand_made_arenas
from godojo.games.tag.settings import TagSettings


class TagOptions(msgspec.Struct, frozen=True):
    """Options of both engines, checked."""

    settings: TagSettings
    arenas: tuple[Arena, ...]
    generated_share: float
    """Fraction of rounds played in a generated arena instead of one of `arenas`."""
    generated_arenas: tuple[Arena, ...]
    """The generated arenas to choose from; default: a new one for each round."""
    truncate_after: int
    """Decisions after which a round is truncated; 0: never."""

    @property
    def arena_names(self) -> tuple[str, ...]:
        return tuple(arena.name for arena in self.arenas)


def checked_options(
    *,
    settings: TagSettings | None = None,
    arenas: Sequence[Arena] | None = None,
    generated_share: float = 0.0,
    generated_arenas: Sequence[Arena] = (),
    truncate_after: int = 0,
) -> TagOptions:
    """With defaults filled in; GodojoError names what cannot be played."""
    if settings is not None and not isinstance(settings, TagSettings):
        raise GodojoError(f"settings must be a TagSettings, not {type(settings).__name__}")
    if not 0.0 <= generated_share <= 1.0:
        raise GodojoError(f"generated_share must be from 0 to 1, not {generated_share}")
    if truncate_after < 0:
        raise GodojoError(f"truncate_after must be 0 (never) or more, not {truncate_after}")
    settings = settings or TagSettings.defaults()
    chosen = tuple(hand_made_arenas(settings).values() if arenas is None else arenas)
    if not chosen and generated_share < 1.0:
        raise GodojoError("there must be at least one arena, or generated_share=1")
    pool = tuple(generated_arenas)
    if pool and not generated_share:
        raise GodojoError("generated_arenas are for a generated_share above 0")
    for arena in (*chosen, *pool):
        check_arena(arena, settings, getattr(arena, "name", "arena"))
    return TagOptions(settings, chosen, float(generated_share), pool, int(truncate_after))
