"""Who walks, what it observes and does: the same in every engine.

The walker acts with three numbers in [-1, 1]: `strafe` (to the right), `forward` and `rotate` (to the right). It
observes 48 numbers in metres, seconds and radians; docs/games/navigation.md says how each is reckoned:

| part | numbers | what |
|---|---|---|
| camera_position | 3 | in the world |
| camera_rotation | 4 | quaternion x, y, z, w, in the world |
| camera_velocity | 3 | in the rig's frame, as all below: to the right, up, backwards |
| camera_angular_velocity | 3 | pitch, yaw, roll |
| rays | 16 | distances, the range where nothing is met |
| left_position, right_position | 3 + 3 | the controllers |
| left_velocity, right_velocity | 3 + 3 | |
| goal_position | 3 | from the feet to the mark in question |
| goal_distance | 1 | |
| goal_direction | 3 | |
"""

import numpy as np

from godojo.games.navigation.settings import RAYS, NavigationSettings
from godojo.games.parts import ActionPart, ObservationPart, Role

WALKER = "walker"
ACTION_PARTS = tuple(ActionPart(name, "continuous", 1) for name in ("strafe", "forward", "rotate"))
ACTION_SIZE = 3
OBSERVATION_SIZE = 48
REWARD_TERMS = ("goal", "progress", "smooth", "comfort", "collision", "fall", "timeout", "teleport")
WINNERS = ("nobody", "walker", "gap", "clock")


def observation_parts(settings: NavigationSettings) -> tuple[ObservationPart, ...]:
    """The table above, with bounds."""
    sizes: tuple[tuple[str, int, float, float], ...] = (
        ("camera_position", 3, -100.0, 100.0),
        ("camera_rotation", 4, -1.0, 1.0),
        ("camera_velocity", 3, -20.0, 20.0),
        ("camera_angular_velocity", 3, -20.0, 20.0),
        ("rays", RAYS, 0.0, settings.sight.range_m),
        ("left_position", 3, -5.0, 5.0),
        ("right_position", 3, -5.0, 5.0),
        ("left_velocity", 3, -20.0, 20.0),
        ("right_velocity", 3, -20.0, 20.0),
        ("goal_position", 3, -100.0, 100.0),
        ("goal_distance", 1, 0.0, 200.0),
        ("goal_direction", 3, -1.0, 1.0),
    )
    return tuple(ObservationPart(name, (size,), low=low, high=high) for name, size, low, high in sizes)


def roles(settings: NavigationSettings) -> tuple[Role, ...]:
    return (Role(WALKER, 0, 1, observation_parts(settings), ACTION_PARTS),)


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
