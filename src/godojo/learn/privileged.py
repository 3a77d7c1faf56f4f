"""The privileged input of a role's critic: what the other agents of its world know about themselves."""

from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import Tensor

from godojo.engines.base import RoleArrays, Worlds
from godojo.games.parts import Heading
from godojo.learn.rotation import relative_state

MAX_OWN_PART_SIZE = 16
"""Observation parts up to this size count as the agent's own state, which other agents' critics see; larger ones are
sensors such as rays."""


def own_state_columns(role: RoleArrays) -> list[int]:
    """The columns of an observation that hold the agent's own state."""
    columns: list[int] = []
    at = 0
    for part in role.observation_parts:
        if part.size <= MAX_OWN_PART_SIZE:
            columns += range(at, at + part.size)
        at += part.size
    return columns


RelativeState = Callable[[Tensor, Tensor, np.ndarray, np.ndarray, np.ndarray, Tensor], None]
"""An implementation of `rotation.relative_state`."""


class PrivilegedObservation:
    """The privileged input of a role's critic: the own state of all other agents in its world.

    Where the game declares headings, positions, velocities and directions are relative to the observing agent. Without
    other agents, and where agents are independent of each other, it is a single zero.
    """

    def __init__(self, worlds: Worlds, role: str, relative_state: RelativeState = relative_state) -> None:
        self._relative_state, roles = relative_state, worlds.roles
        agents = [(name, index) for name, arrays in roles.items() for index in range(arrays.observation.shape[1])]
        others = [] if worlds.independent_agents else agents
        self._others = [[other for other in others if other != agent] for agent in agents if agent[0] == role]
        """For each agent of the role, all other agents as (role, index)."""
        self._columns = {name: np.array(own_state_columns(arrays), np.int64) for name, arrays in roles.items()}
        self.size = max(sum(len(self._columns[name]) for name, _ in self._others[0]), 1)
        self._role, heading = role, roles[role].heading
        self._forward = np.array(heading.forward if heading else (), np.int64)
        self._pairs = {name: self._pairs_of(arrays.heading, heading, name) for name, arrays in roles.items()}

    def _pairs_of(self, other: Heading | None, own: Heading | None, name: str) -> np.ndarray:
        """The `pairs` argument of `relative_state` for an agent of this role."""
        rows: list[tuple[int, ...]] = []
        if other is not None and own is not None:
            columns = self._columns[name].tolist()
            pairs = [*zip(other.observed, own.observed, strict=False), (other.forward, (-1, -1))]
            rows = [(columns.index(x), columns.index(z), x, z, *own_pair) for (x, z), own_pair in pairs]
        return np.array(rows, np.int64).reshape(-1, 6)

    def of(self, observations: Mapping[str, np.ndarray]) -> Tensor:
        """[N * n, size] from every role's observations [N, n, D]."""
        return self.view_of(observations)()

    def view_of(self, observations: Mapping[str, np.ndarray]) -> Callable[[], Tensor]:
        """A function that computes `of` anew from the same arrays, into the same tensor."""
        rows = {name: torch.from_numpy(arrays) for name, arrays in observations.items()}
        privileged = torch.zeros(len(rows[self._role]), len(self._others), self.size)
        calls = []
        for agent, others in enumerate(self._others):
            own, at = rows[self._role][:, agent], 0
            for name, other in others:
                columns = self._columns[name]
                out = privileged[:, agent, at : at + len(columns)]
                calls.append((own, rows[name][:, other], self._forward, self._pairs[name], columns, out))
                at += len(columns)

        def compute() -> Tensor:
            for call in calls:
                self._relative_state(*call)
            return privileged.view(-1, self.size)

        return compute
