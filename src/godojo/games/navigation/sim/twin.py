"""The embedded game of navigation: many worlds in arrays, stepped by kernels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from godojo.errors import GodojoError
from godojo.games.navigation.courses import Course
from godojo.games.navigation.options import checked_options
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.navigation.sim import state, step
from godojo.games.navigation.spec import OBSERVATION_SIZE, REWARD_TERMS, WINNERS, roles
from godojo.kernels.random import seed_streams
from godojo.kernels.results import new_results


class Privileged(NamedTuple):
    """The true state of N worlds. Views, not copies."""

    position_m: np.ndarray
    """float32 [N, 3]: the body's centre."""
    velocity_mps: np.ndarray
    yaw_rad: np.ndarray
    course: np.ndarray
    """int32 [N]: place in `arena_names`."""
    mark: np.ndarray
    """int32 [N]: which of its route's marks is in question."""


class NavigationTwin:
    """All memory of the game for `worlds` copies of it; nothing is allocated after this.

    `courses` are Course objects or names of those that come with the game; default: all of them.
    """

    reward_terms = REWARD_TERMS
    winners = WINNERS

    def __init__(
        self,
        worlds: int,
        *,
        settings: NavigationSettings | None = None,
        courses: Sequence[Course | str] | None = None,
        truncate_after: int = 0,
    ) -> None:
        if not isinstance(worlds, int) or worlds < 1:
            raise GodojoError(f"there must be a whole number of worlds, at least one world, not {worlds!r}")
        options = checked_options(settings=settings, courses=courses, truncate_after=truncate_after)
        self.settings, self.courses = options.settings, options.courses
        self.arena_names = options.arena_names
        self.num_worlds = worlds
        self.ticks_per_decision = self.settings.rules.ticks_per_decision
        self.roles = roles(self.settings)
        self._truncate_after = truncate_after
        self.numbers = state.numbers(self.settings, truncate_after)
        self.catalogue = state.catalogue(self.courses)
        self.walkers = np.zeros(worlds, state.WALKER)
        self.tables = state.tables(self.settings)
        self.actions = np.zeros((worlds, len(self.roles[0].action_parts)), np.float32)
        self.results = new_results(worlds, 1, OBSERVATION_SIZE, state.TERMS)

    def begin(self, seed: int) -> None:
        """Seeds every world's random numbers and starts a round in each."""
        seed_streams(self.walkers, seed)
        for array in (self.results.ended, self.results.terminated, self.results.truncated):
            array[:] = False
        step.begin_worlds(self.numbers, self.catalogue, self.walkers, self.tables, self.results.observation)

    def step(self) -> None:
        """One decision in every world, by `actions`."""
        step.step_worlds(self.numbers, self.actions, self.catalogue, self.walkers, self.tables, self.results)

    def change_settings(self, settings: NavigationSettings) -> None:
        """Plays by these from now on; a goal that is asked for otherwise, from the next round on."""
        settings.check()
        self.settings = settings
        self.numbers[:] = state.numbers(settings, self._truncate_after)
        self.tables = state.tables(settings)

    def privileged(self) -> Privileged:
        """The true state, of which the observation tells only a part."""
        walkers = self.walkers
        return Privileged(walkers["position"], walkers["velocity"], walkers["yaw"], walkers["course"], walkers["mark"])

    def state(self) -> dict[str, np.ndarray]:
        """Everything that a bit-exact copy of these worlds needs."""
        return {"walkers": self.walkers, "observation": self.results.observation}

    def observe(self) -> None:
        """Writes the observations of a state that was set from outside."""
        step.observe_worlds(self.numbers, self.catalogue, self.walkers, self.tables, self.results.observation)
