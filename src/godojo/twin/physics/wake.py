"""Waking rigid bodies. What has woken last comes first in a step of GodotPhysics."""

from typing import Any

from godojo.twin.physics.jit import inline
from godojo.twin.physics.space import ASLEEP, WAKES, Space


@inline
def wake(space: Space, record: Any) -> None:
    """Wakes a body that sleeps."""
    if record.traits & ASLEEP:
        record.traits &= ~ASLEEP
        come_first(space, record)


@inline
def come_first(space: Space, record: Any) -> None:
    """Notes that a body has begun to move."""
    space.counts[WAKES] += 1
    record.woken = space.counts[WAKES]
