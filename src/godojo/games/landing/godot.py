"""Landing in the real Godot: the training scene and its options."""

from typing import Any

import msgspec

from godojo.games.landing.options import checked_options
from godojo.games.landing.settings import LandingSettings


class LandingInGodot:
    """The game for the engine: the same options as `LandingTwin`."""

    scene = "res://games/landing/training/training.tscn"

    def __init__(self, *, seed: int = 0, settings: LandingSettings | None = None, truncate_after: int = 0) -> None:
        del seed  # a reset's seed draws the rounds
        self.settings, truncate_after = checked_options(settings, truncate_after)
        self.ticks_per_decision = self.settings.rules.ticks_per_decision
        self.configure_options: dict[str, Any] = {
            "settings": msgspec.to_builtins(self.settings),
            "truncate_after": truncate_after,
        }
