"""A ring buffer of one role's transitions."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Transitions(NamedTuple):
    """One transition per row. Observations are egocentric and not normalised."""

    observation: Tensor
    privileged: Tensor
    """The privileged observation, for the critics."""
    action: Tensor
    reward: Tensor
    not_done: Tensor
    """0 where the episode terminated, else 1."""
    next_observation: Tensor
    """The final observation where the episode terminated or was truncated."""
    next_privileged: Tensor


class ReplayBuffer:
    """Keeps the latest `capacity` transitions."""

    def __init__(self, capacity: int, observation_size: int, privileged_size: int, action_size: int) -> None:
        self.capacity, self.size, self._at = capacity, 0, 0
        self._rows = Transitions(
            observation=torch.zeros(capacity, observation_size),
            privileged=torch.zeros(capacity, privileged_size),
            action=torch.zeros(capacity, action_size),
            reward=torch.zeros(capacity),
            not_done=torch.zeros(capacity),
            next_observation=torch.zeros(capacity, observation_size),
            next_privileged=torch.zeros(capacity, privileged_size),
        )

    def __len__(self) -> int:
        return self.size

    @property
    def nbytes(self) -> int:
        return sum(rows.nbytes for rows in self._rows)

    @property
    def rewards(self) -> Tensor:
        return self._rows.reward[: self.size]

    def add(self, batch: Transitions, keep: Tensor) -> None:
        """Add the rows of a batch where `keep` is true."""
        chosen = keep.nonzero()[-self.capacity :, 0]
        count = len(chosen)
        fitting = min(count, self.capacity - self._at)  # the others wrap around
        for stored, rows in zip(self._rows, batch, strict=True):
            torch.index_select(rows, 0, chosen[:fitting], out=stored[self._at : self._at + fitting])
            torch.index_select(rows, 0, chosen[fitting:], out=stored[: count - fitting])
        self._at = (self._at + count) % self.capacity
        self.size = min(self.size + count, self.capacity)

    def sample(self, count: int, generator: torch.Generator) -> Transitions:
        """Sample rows uniformly, with replacement."""
        chosen = torch.randint(self.size, (count,), generator=generator)
        return Transitions(*(rows.index_select(0, chosen) for rows in self._rows))

    def state(self) -> dict[str, Any]:
        """The stored transitions, for a checkpoint."""
        rows = {name: rows[: self.size].clone() for name, rows in self._rows._asdict().items()}
        return {"at": self._at, "rows": rows}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._at, self.size = state["at"], len(state["rows"]["reward"])
        for name, rows in self._rows._asdict().items():
            rows[: self.size] = state["rows"][name]
