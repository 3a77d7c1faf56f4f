"""Colours of arenas and agents, in the browser, in reports and in pictures."""

INK, EYES, BACKDROP = "#171a26", "#fff8ec", "#20263a"
FLOOR, FLOOR_OTHER, WALL = "#d9cdb4", "#d1c4a9", "#8d8078"
TALL, LOW, PLATFORM = "#5d5a74", "#93b09c", "#b2948a"
BLOCKS = {"tall": TALL, "low": LOW, "platform": PLATFORM, "floor": FLOOR, "wall": WALL, "bridge": PLATFORM, "step": LOW}
"""By kind; others look like `tall`."""
MARKS = {"goal": "#2fae5f", "waypoint": "#3d9cc9"}
"""By kind; others look like `waypoint`."""

GOOD, FAIR, BAD = "#1f9d5c", "#e0a021", "#d6303f"
"""Of ratings: nothing to wish for, something, and below the limit."""


def rgb(colour: str) -> tuple[int, int, int]:
    """From `#rrggbb`."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
