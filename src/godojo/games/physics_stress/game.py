"""physics_stress, as others know it: `godot/games/physics_stress` is all of it."""

from godojo.games.base import SceneGame

GAME = SceneGame(
    "physics_stress",
    "Spawn bodies, throw them and set off particles without leaving the frame budget of 90 Hz.",
    targets={"success": 0.9},
)
