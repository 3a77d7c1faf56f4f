"""Navigation in the real Godot: which scene trains, and what it is told before the first round."""

from collections.abc import Sequence
from typing import Any

import msgspec

from godojo.games.navigation.courses import Course
from godojo.games.navigation.options import NavigationOptions, checked_options
from godojo.games.navigation.settings import NavigationSettings

SCENE = "res://games/navigation/training/training.tscn"


class NavigationInGodot:
    """What the engine needs to know of the game: the same options as `NavigationTwin`."""

    scene = SCENE

    def __init__(
        self,
        *,
        seed: int = 0,  # noqa: ARG002 - rounds are drawn in Godot, by the seed of a reset
        settings: NavigationSettings | None = None,
        courses: Sequence[Course | str] | None = None,
        truncate_after: int = 0,
    ) -> None:
        self.options = checked_options(settings=settings, courses=courses, truncate_after=truncate_after)
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
