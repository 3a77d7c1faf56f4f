"""Role, observation, action and reward terms of navigation: the same in every engine.

The walker acts with three numbers in [-1, 1]: `strafe` (to the right), `forward` and `rotate` (to the right), and with
`teleport` (fires above 0.5) if `motion.teleport_m` is above 0. It
observes 48 numbers in metres, seconds and radians: `godot/games/navigation/observation.json` declares them and
docs/games/navigation.md explains each part.
"""

import numpy as np

from godojo.games.navigation.settings import LAYOUT, NavigationSettings
from godojo.games.parts import ActionPart, ObservationPart, Role

WALKER = "walker"
OBSERVATION_SIZE = LAYOUT.slice(LAYOUT.names[-1]).stop
REWARD_TERMS = ("goal", "progress", "smooth", "comfort", "collision", "fall", "timeout", "teleport")
WINNERS = ("nobody", "walker", "gap", "clock")


def observation_parts(settings: NavigationSettings) -> tuple[ObservationPart, ...]:
    return LAYOUT.parts(settings)


def action_parts(settings: NavigationSettings) -> tuple[ActionPart, ...]:
    names = ("strafe", "forward", "rotate", *(("teleport",) if settings.motion.teleport_m > 0.0 else ()))
    return tuple(ActionPart(name, "continuous", 1) for name in names)


def roles(settings: NavigationSettings) -> tuple[Role, ...]:
    return (Role(WALKER, 0, 1, observation_parts(settings), action_parts(settings)),)


def ray_directions(settings: NavigationSettings) -> np.ndarray:
    """Unit vectors as rows x, y, z, in the rig's frame: -z ahead, +x to the right, +y up."""
    found = []
    for row in settings.sight.rows:
        up, fov = np.radians(row.elevation_deg), np.radians(row.fov_deg)
        for column in range(row.columns):
            share = 0.5 if row.columns == 1 else column / (row.columns - 1)
            left = fov * (0.5 - share)
            found.append((-np.sin(left) * np.cos(up), np.sin(up), -np.cos(left) * np.cos(up)))
    return np.ascontiguousarray(np.array(found, dtype=np.float32).T)
