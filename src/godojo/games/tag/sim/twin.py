"""The embedded game of tag: many worlds in arrays, stepped by kernels."""

from collections.abc import Sequence

import numpy as np

from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena
from godojo.games.tag.options import checked_options
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.sim import state, step
from godojo.games.tag.sim.rounds import PROVEN_STREAM, find_places
from godojo.games.tag.spec import REWARD_TERMS, WINNERS, Privileged, roles
from godojo.kernels.random import seed_streams


class TagTwin:
    """All memory of the game for `worlds` copies of it; nothing is allocated after this.

    A fraction `generated_share` of rounds is played in a generated arena, or in one of `generated_arenas` if there
    are any; the others in `arenas`.
    """

    reward_terms = REWARD_TERMS
    winners = WINNERS

    def __init__(
        self,
        worlds: int,
        *,
        settings: TagSettings | None = None,
        arenas: Sequence[Arena] | None = None,
        generated_share: float = 0.0,
        generated_arenas: Sequence[Arena] = (),
        truncate_after: int = 0,
    ) -> None:
        if not isinstance(worlds, int) or worlds < 1:
            raise GodojoError(f"there must be a whole number of worlds, at least one world, not {worlds!r}")
        options = checked_options(
            settings=settings,
            arenas=arenas,
            generated_share=generated_share,
            generated_arenas=generated_arenas,
            truncate_after=truncate_after,
        )
        self.settings = options.settings
        self.arenas = options.arenas
        self.arena_names = options.arena_names
        self.num_worlds = worlds
        self.ticks_per_decision = self.settings.rules.ticks_per_decision
        self.roles = roles(self.settings)
        counts = len(self.arenas), len(options.generated_arenas)
        self._asked = worlds, generated_share, truncate_after, *counts
        self.numbers = state.numbers(self.settings, *self._asked)
        everywhere = (*self.arenas, *options.generated_arenas)
        self.catalogue = state.catalogue(everywhere, self.settings, len(self.arenas))
        for arena, record in zip(everywhere, self.catalogue, strict=False):
            one_world = np.zeros(1, state.WORLD)
            one_world["stream"] = PROVEN_STREAM
            if not find_places(self.numbers[0], record, one_world[0], np.zeros((self.settings.agent_count, 2, 3))):
                count = self.settings.agent_count
                raise GodojoError(f"{arena.name}: spawns: no room for {count} bodies to start apart")
        self.arena_slots = np.zeros(worlds, state.ARENA)
        self.worlds = np.zeros(worlds, state.WORLD)
        self.agents = np.zeros((worlds, self.settings.agent_count), state.AGENT)
        self.tables = state.tables(self.settings, worlds)
        self.actions = state.actions(self.settings, worlds)
        self.results = state.results(self.settings, worlds)

    def begin(self, seed: int) -> None:
        """Seeds every world's random numbers and starts a round in each."""
        seed_streams(self.worlds, seed)
        for array in (self.results.ended, self.results.terminated, self.results.truncated):
            array[:] = False
        step.begin_worlds(
            self.numbers,
            self.catalogue,
            self.arena_slots,
            self.worlds,
            self.agents,
            self.tables,
            self.results.observation,
        )

    def step(self) -> None:
        """One decision in every world, by `actions`."""
        step.step_worlds(
            self.numbers,
            self.actions,
            self.catalogue,
            self.arena_slots,
            self.worlds,
            self.agents,
            self.tables,
            self.results,
        )

    def change_settings(self, settings: TagSettings) -> None:
        """Plays by these from now on; who plays and what they see must stay as it is."""
        settings.check()
        before, now = ([(role.name, role.agents) for role in each] for each in (self.roles, roles(settings)))
        if before != now or settings.sight != self.settings.sight:
            raise GodojoError("rules.mode, the number of agents and their eyes cannot change while tag is played")
        self.settings = settings
        self.numbers[:] = state.numbers(settings, *self._asked)

    def privileged(self) -> Privileged:
        """The true state, which eyes do not see."""
        return state.privileged(self.agents, self.arena_slots, self.settings)

    def state(self) -> dict[str, np.ndarray]:
        """Everything that a bit-exact copy of these worlds needs."""
        return {
            "worlds": self.worlds,
            "agents": self.agents,
            "arenas": self.arena_slots,
            "observation": self.results.observation,
        }

    def observe(self) -> None:
        """Writes the observations of a state that was set from outside."""
        step.observe_worlds(
            self.numbers, self.arena_slots, self.worlds, self.agents, self.tables, self.results.observation
        )
