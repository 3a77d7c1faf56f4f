"""Navigation in the real Godot: the training scene and its options."""

from typing import Any

import msgspec

from godojo.games.navigation.options import NavigationOptions, checked_options

SCENE = "res://games/navigation/training/training.tscn"


class NavigationInGodot:
    """The game for the engine: the same options as `NavigationTwin`."""

    scene = SCENE

    def __init__(self, *, seed: int = 0, **options: Any) -> None:  # noqa: ARG002 - a reset's seed draws the rounds
        self.options = checked_options(**options)
        self.settings = self.options.settings
        self.ticks_per_decision = self.settings.rules.ticks_per_decision
        self.configure_options = configure_options(self.options)


def configure_options(options: NavigationOptions) -> dict[str, Any]:
    """The `options` of the wire's `configure`, read by `godot/games/navigation/training`."""
    return {
        "settings": msgspec.to_builtins(options.settings),
        "courses": [msgspec.to_builtins(course) for course in options.courses],
        "truncate_after": options.truncate_after,
    }
