"""Tag in the real Godot: the training scene and its options."""

from typing import Any

import msgspec

from godojo.games.tag.arenas import Arena, generate_arena
from godojo.games.tag.options import TagOptions, checked_options
from godojo.games.tag.settings import TagSettings

SCENE = "res://games/tag/training/training.tscn"
GENERATED_POOL = 64
"""Arenas generated here for Godot, which generates none itself; its rounds take one of them at random."""


class TagInGodot:
    """The game for the engine: the same options as `TagTwin`.

    Without `generated_arenas`, a `generated_share` of rounds is played in `GENERATED_POOL` arenas made from `seed`.
    """

    scene = SCENE

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        self.options = checked_options(**options)
        if self.options.generated_share and not self.options.generated_arenas:
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

    A round's arena is one of `generated_arenas` with probability `generated_share`, reported as -1; otherwise one of
    `arenas`, reported by its index.
    """
    return {
        "settings": msgspec.to_builtins(options.settings),
        "arenas": [msgspec.to_builtins(arena) for arena in options.arenas],
        "generated_arenas": [msgspec.to_builtins(arena) for arena in options.generated_arenas],
        "generated_share": options.generated_share,
        "truncate_after": options.truncate_after,
    }
