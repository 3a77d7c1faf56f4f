"""Games of one role whose agents play against each other, such as classic tag: which agents opponents play."""

from typing import NamedTuple

import numpy as np

from godojo.engines.base import Worlds
from godojo.games.base import GAMES


class SharedRole(NamedTuple):
    """The only role of a game, whose agents are each other's opponents, and who plays them against an opponent."""

    name: str
    own: slice
    """Agents that the policy keeps."""
    others: slice
    """Agents that opponents play: the latter half, rounded up."""

    def ahead(self, worlds: Worlds) -> np.ndarray:
        """float32 [N]: by how much the mean score of its own agents exceeds the others', in worlds that ended."""
        score = worlds.roles[self.name].final_score
        found: np.ndarray = score[:, self.own].mean(axis=1) - score[:, self.others].mean(axis=1)
        return found


def shared_role(worlds: Worlds) -> SharedRole | None:
    """None for games of several roles, of one agent, or whose agents do not compete (`Game.shared_score`)."""
    if len(worlds.roles) != 1 or worlds.game not in GAMES or not GAMES[worlds.game].shared_score:
        return None
    ((name, role),) = worlds.roles.items()
    agents = role.action.shape[1]
    if agents < 2:
        return None
    return SharedRole(name, slice(0, agents // 2), slice(agents // 2, agents))
