"""Random actions for any game: numbers from -1 to 1, and choices by their index."""

import numpy as np

from godojo.engines.base import RoleArrays


def play_randomly(role: RoleArrays, chance: np.random.Generator) -> None:
    """Writes what every agent of the role does next into its `action`."""
    first = 0
    for part in role.action_parts:
        numbers = role.action[:, :, first : first + part.width]
        if part.kind == "continuous":
            numbers[:] = chance.uniform(-1.0, 1.0, numbers.shape)
        else:
            numbers[:] = chance.integers(part.size, size=numbers.shape)
        first += part.width
