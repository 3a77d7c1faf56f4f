"""The list of contacts that a query finds, in `Space.scratch`.

A hit: depth, axis from the body to the other (3), point on the other (3), the other body, its shape, the own shape,
number of contact points.
"""

from typing import Any

from godojo.twin.physics.jit import inline

HITS = 32
HIT_SIZE = 12
MAX_HITS = 16


@inline
def keep_hit(room: Any, count: int, limit: int, by_depth: bool, hit: Any) -> int:
    """Puts a hit into the list, deepest first or in the order of the calls, and drops what exceeds the limit."""
    depth, axis, point, other, place, local, points = hit
    at = count
    while by_depth and at > 0 and room[HITS + (at - 1) * HIT_SIZE] < depth:
        at -= 1
    if at >= limit:
        return count
    count = min(count + 1, limit)
    for index in range(count - 1, at, -1):
        for part in range(HIT_SIZE):
            room[HITS + index * HIT_SIZE + part] = room[HITS + (index - 1) * HIT_SIZE + part]
    start = HITS + at * HIT_SIZE
    room[start] = depth
    for part in range(3):
        room[start + 1 + part] = axis[part]
        room[start + 4 + part] = point[part]
    room[start + 7] = other
    room[start + 8] = place
    room[start + 9] = local
    room[start + 10] = points
    return count
