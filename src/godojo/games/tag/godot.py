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

    With `generated_share` above 0, so many of all rounds are played in one of `generated_arenas`, without any in one of
    `GENERATED_POOL` that are made from `seed` and sent along; the others in `arenas`.
    """

    scene = SCENE

    def __init__(
        self,
        *,
        seed: int = 0,
        settings: TagSettings | None = None,
        arenas: Sequence[Arena] | None = None,
        generated_share: float = 0.0,
        generated_arenas: Sequence[Arena] = (),
        truncate_after: int = 0,
    ) -> None:
        self.options = checked_options(
            settings=settings,
            arenas=arenas,
            generated_share=generated_share,
            generated_arenas=generated_arenas,
            truncate_after=truncate_after,
        )
        if generated_share and not generated_arenas:
            pool = tuple(generated_pool(seed, self.options.settings))
            self.options = msgspec.structs.replace(self.options, generated_arenas=pool)
        self.settings = self.options.settings
        self.ticks_per_decision = self.settings.rules.ticks_per_decision
        self.configure_options = configure_options(self.options)


def generated_pool(seed: int, settings: TagSettings | None = None, count: int = GENERATED_POOL) -> list[Arena]:
    """Arenas for rounds that are not played in hand-made ones; the same seed makes the same."""
    return [generate_arena((seed * count + place) % 2**63, settings) for place in range(count)]


def configure_options(options: TagOptions) -> dict[str, Any]:
    """The `options` of the wire's `configure`, read by `godot/games/tag/training/tag_worlds.gd`.

    A round's arena is one of `generated_arenas` with the chance `generated_share`, and is then told as -1; otherwise
    one of `arenas`, told by its place in the list.
    """
    return {
        "settings": msgspec.to_builtins(options.settings),
        "arenas": [msgspec.to_builtins(arena) for arena in options.arenas],
        "generated_arenas": [msgspec.to_builtins(arena) for arena in options.generated_arenas],
        "generated_share": options.generated_share,
        "truncate_after": options.truncate_after,
    }
