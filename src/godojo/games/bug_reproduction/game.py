"""bug_reproduction, as others know it: `godot/games/bug_reproduction` is all of it."""

from godojo.games.base import SceneGame

GAME = SceneGame("bug_reproduction", "A hunter makes a named failure happen, and saves state and steps.")
