"""Tag in the real Godot: which scene trains, and what it is told before the first round."""

from collections.abc import Sequence
from typing import Any

import msgspec

from godojo.games.tag.arenas import Arena, generate_arena
from godojo.games.tag.options import TagOptions, checked_options
from godojo.games.tag.settings import TagSettings

SCENE = "res://games/tag/training/training.tscn"
GENERATED_POOL = 64
"""Godot does not make arenas itself: so many are made here and sent along. Its rounds take one of them at random."""


class TagInGodot:
    """What the engine needs to know of the game: the same options as `TagTwin`.

    With `generated_share` above 0, so many of all rounds are played in one of `GENERATED_POOL` arenas that are made
    from `seed` and sent along; the others in `arenas`.
    """

    scene = SCENE

    def __init__(
        self,
        *,
        seed: int = 0,
        settings: TagSettings | None = None,
        arenas: Sequence[Arena] | None = None,
        generated_share: float = 0.0,
        truncate_after: int = 0,
    ) -> None:
        self.options = checked_options(
            settings=settings, arenas=arenas, generated_share=generated_share, truncate_after=truncate_after
        )
        self.settings = self.options.settings
        self.ticks_per_decision = self.settings.rules.ticks_per_decision
        self.configure_options = configure_options(self.options, seed)


def configure_options(options: TagOptions, seed: int = 0) -> dict[str, Any]:
    """The `options` of the wire's `configure`, read by `godot/games/tag/training/tag_worlds.gd`.

    A round's arena is one of `generated_arenas` with the chance `generated_share`, and is then told as -1; otherwise
    one of `arenas`, told by its place in the list.
    """
    pool: list[Arena] = []
    if options.generated_share > 0.0:
        first = seed * GENERATED_POOL
        pool = [generate_arena((first + place) % 2**63, options.settings) for place in range(GENERATED_POOL)]
    return {
        "settings": msgspec.to_builtins(options.settings),
        "arenas": [msgspec.to_builtins(arena) for arena in options.arenas],
        "generated_arenas": [msgspec.to_builtins(arena) for arena in pool],
        "generated_share": options.generated_share,
        "truncate_after": options.truncate_after,
    }
