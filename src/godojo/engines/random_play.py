"""Random actions for any game."""

import numpy as np

from godojo.engines.base import RoleArrays


def play_randomly(role: RoleArrays, chance: np.random.Generator) -> None:
    """Writes a random `action` for every agent of the role."""
    first = 0
    for part in role.action_parts:
        numbers = role.action[:, :, first : first + part.width]
        if part.kind == "continuous":
            numbers[:] = chance.uniform(-1.0, 1.0, numbers.shape)
        else:
            numbers[:] = chance.integers(part.size, size=numbers.shape)
        first += part.width
