"""first_agent, as others know it: `godot/games/first_agent` is all of it."""

from godojo.games.base import SceneGame

GAME = SceneGame("first_agent", "Roll a ball to the gem without falling off the island.")
