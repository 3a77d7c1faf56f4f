"""lookout, as others know it: `godot/games/lookout` is all of it."""

from godojo.games.base import SceneGame

GAME = SceneGame("lookout", "Find the red ball by a camera's picture.", window=True)
