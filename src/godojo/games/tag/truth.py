"""The true state of tag in the real Godot, for evaluation, written into the twin's records."""

import numpy as np

from godojo.games.parts import ObservationPart
from godojo.games.tag.options import TagOptions
from godojo.games.tag.sim import state
from godojo.games.tag.spec import Privileged

NUMBERS_PER_AGENT = 10
"""Position 3, velocity 3, heading, grounded, active, chases: `godot/games/tag/training/tag_truth.gd` writes them."""


class TagTruth:
    """True states of worlds; a world's arena is sent as its index among those of the options."""

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
        # The twin's own records, so that kernels that read them are compiled once for both.
        self._agents = np.zeros((num_worlds, self._settings.agent_count), state.AGENT)
        self._arenas = np.zeros(num_worlds, state.ARENA)
        return state.privileged(self._agents, self._arenas, self._settings)

    def write(self, worlds: slice, truth: np.ndarray) -> None:
        agents, numbers = self._agents[worlds], truth[:, :-1].reshape(len(truth), -1, NUMBERS_PER_AGENT)
        agents["position"], agents["velocity"] = numbers[..., :3], numbers[..., 3:6]
        agents["heading"] = numbers[..., 6]
        agents["grounded"], agents["active"], agents["chases"] = (numbers[..., place] > 0.5 for place in (7, 8, 9))
        places = np.clip(truth[:, -1], 0, len(self._catalogue) - 1).astype(np.int64)
        self._arenas[worlds] = self._catalogue[places]
