"""crowd, as others know it: `godot/games/crowd` is all of it."""

from godojo.games.base import SceneGame

GAME = SceneGame(
    "crowd", "Several walkers with one policy, who gather (cooperative) or avoid each other (adversarial)."
)
