"""cat_and_mouse, as others know it: `godot/games/cat_and_mouse` is all of it."""

from godojo.games.base import SceneGame

GAME = SceneGame("cat_and_mouse", "A cat chases a mouse: two policies that learn against each other.")
