"""voxel_stress, as others know it: `godot/games/voxel_stress` is all of it."""

from godojo.games.base import SceneGame

GAME = SceneGame("voxel_stress", "A pilot finds the movements that break the budgets of a voxel terrain.")
