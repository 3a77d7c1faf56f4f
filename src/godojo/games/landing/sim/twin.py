"""The embedded game as a whole: `LandingTwin`."""

from typing import NamedTuple

import numpy as np

from godojo.errors import GodojoError
from godojo.games.landing.options import checked_options
from godojo.games.landing.settings import LandingSettings
from godojo.games.landing.sim import state, step
from godojo.games.landing.spec import REWARD_TERMS, WINNERS, roles
from godojo.games.landing.terrain import read_terrain
from godojo.games.parts import observation_size
from godojo.kernels.random import seed_streams
from godojo.kernels.results import new_results


class Privileged(NamedTuple):
    """The true state of N worlds. Views, not copies."""

    position_m: np.ndarray
    """float32 [N, 3]: of the centre of mass."""
    velocity_mps: np.ndarray
    rotation: np.ndarray
    """float32 [N, 4]: a quaternion, x y z w."""
    angular_velocity_radps: np.ndarray
    fuel_s: np.ndarray


class LandingTwin:
    """All memory of the game for `worlds` copies of it; nothing is allocated after this."""

    reward_terms, winners, arena_names = REWARD_TERMS, WINNERS, ("valley",)

    def __init__(self, worlds: int, *, settings: LandingSettings | None = None, truncate_after: int = 0) -> None:
        if not isinstance(worlds, int) or worlds < 1:
            raise GodojoError(f"there must be a whole number of worlds, at least one world, not {worlds!r}")
        self.settings, self._truncate_after = checked_options(settings, truncate_after)
        self.num_worlds = worlds
        self.ticks_per_decision = self.settings.rules.ticks_per_decision
        self.roles = roles(self.settings)
        self.terrain = read_terrain()
        self.numbers = state.numbers(self.settings, self.terrain, truncate_after)
        self.crafts = np.zeros(worlds, state.CRAFT)
        self.actions = np.zeros((worlds, len(self.roles[0].action_parts)), np.float32)
        size = observation_size(self.roles[0].observation_parts)
        self.results = new_results(worlds, 1, size, state.TERMS)

    def begin(self, seed: int) -> None:
        """Seeds every world's random numbers and starts a round in each."""
        seed_streams(self.crafts, seed)
        for array in (self.results.ended, self.results.terminated, self.results.truncated):
            array[:] = False
        step.begin_worlds(self.numbers, self.terrain.height_m, self.crafts, self.results.observation)

    def step(self) -> None:
        """One decision in every world, by `actions`."""
        step.step_worlds(self.numbers, self.terrain.height_m, self.actions, self.crafts, self.results)

    def change_settings(self, settings: LandingSettings) -> None:
        """Plays by these from now on."""
        settings.check()
        self.settings = settings
        self.numbers[:] = state.numbers(settings, self.terrain, self._truncate_after)

    def privileged(self) -> Privileged:
        crafts = self.crafts
        return Privileged(crafts["position"], crafts["velocity"], crafts["rotation"], crafts["spin"], crafts["fuel_s"])

    def state(self) -> dict[str, np.ndarray]:
        """Everything that a bit-exact copy of these worlds needs."""
        return {"crafts": self.crafts, "observation": self.results.observation}

    def observe(self) -> None:
        """Writes the observations of a state that was set from outside."""
        step.observe_worlds(self.numbers, self.terrain.height_m, self.crafts, self.results.observation)
