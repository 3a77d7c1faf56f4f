"""locomotion, as others know it: `godot/games/locomotion` is all of it."""

from godojo.games.base import SceneGame

GAME = SceneGame(
    "locomotion",
    "Walk to a waypoint in a VR room, with snap turns and teleports, without a collision or a comfort vignette.",
    targets={"success": 0.95},
)
