"""Tag: two or more cubes with limited eyes, some of whom chase."""

from godojo.games.tag.arenas import Arena, generate_arena, hand_made_arenas, read_arena
from godojo.games.tag.settings import TagSettings

__all__ = ["Arena", "TagSettings", "generate_arena", "hand_made_arenas", "read_arena"]
