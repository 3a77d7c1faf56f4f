"""menu, as others know it: `godot/games/menu` is all of it."""

from godojo.games.base import SceneGame

GAME = SceneGame(
    "menu",
    "Test a VR settings menu with a pointer: every screen, every element, and settings that are kept.",
    targets={"success": 1.0, "coverage": 1.0, "settings_kept": 1.0},
)
