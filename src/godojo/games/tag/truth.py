"""The true state of tag as the real Godot tells it to judges: written into the records that the twin has."""

import numpy as np

from godojo.games.parts import ObservationPart
from godojo.games.tag.options import TagOptions
from godojo.games.tag.sim import state
from godojo.games.tag.spec import Privileged

NUMBERS_PER_AGENT = 10
"""Position 3, velocity 3, heading, grounded, active, chases: `godot/games/tag/training/tag_truth.gd` writes them."""


class TagTruth:
    """What no eyes see; a world's arena is told by its place among those that were sent along."""

    def __init__(self, options: TagOptions) -> None:
        self._settings = options.settings
        self._catalogue = state.catalogue(
            (*options.arenas, *options.generated_arenas), options.settings, len(options.arenas)
        )
        self.parts = (
            ObservationPart("agents", (options.settings.agent_count, NUMBERS_PER_AGENT), low=-1e4, high=1e4),
            ObservationPart("arena", (1,), low=0.0, high=1e4),
        )

    def make(self, num_worlds: int) -> Privileged:
        # The same records as the twin's, so that whoever reads them is compiled once for both.
        self._agents = np.zeros((num_worlds, self._settings.agent_count), state.AGENT)
        self._arenas = np.zeros(num_worlds, state.ARENA)
        return state.privileged(self._agents, self._arenas, self._settings)

    def write(self, worlds: slice, told: np.ndarray) -> None:
        agents, numbers = self._agents[worlds], told[:, :-1].reshape(len(told), -1, NUMBERS_PER_AGENT)
        agents["position"], agents["velocity"] = numbers[..., :3], numbers[..., 3:6]
        agents["heading"] = numbers[..., 6]
        agents["grounded"], agents["active"], agents["chases"] = (numbers[..., place] > 0.5 for place in (7, 8, 9))
        places = np.clip(told[:, -1], 0, len(self._catalogue) - 1).astype(np.int64)
        self._arenas[worlds] = self._catalogue[places]
