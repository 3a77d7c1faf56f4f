"""A replay: what one role's agents saw, did and got lately, in arrays made once; the oldest is overwritten."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Transitions(NamedTuple):
    """Decisions and what they led to, one a row. Observations are in the agent's own frame and not normalised."""

    observation: Tensor
    privileged: Tensor
    """What the other agents knew of themselves, for the critics."""
    action: Tensor
    reward: Tensor
    not_done: Tensor
    """1 where the future has a value; 0 where the round came to its end by the rules."""
    next_observation: Tensor
    """What was seen after the decision; where the round ended or was cut short, what was seen last."""
    next_privileged: Tensor


class ReplayBuffer:
    """The newest `capacity` transitions."""

    def __init__(self, capacity: int, observation: int, privileged: int, actions: int) -> None:
        self.capacity, self.size, self._at = capacity, 0, 0
        self._rows = Transitions(
            observation=torch.zeros(capacity, observation),
            privileged=torch.zeros(capacity, privileged),
            action=torch.zeros(capacity, actions),
            reward=torch.zeros(capacity),
            not_done=torch.zeros(capacity),
            next_observation=torch.zeros(capacity, observation),
            next_privileged=torch.zeros(capacity, privileged),
        )

    def __len__(self) -> int:
        return self.size

    @property
    def nbytes(self) -> int:
        return sum(rows.nbytes for rows in self._rows)

    @property
    def rewards(self) -> Tensor:
        return self._rows.reward[: self.size]

    def submit(self, batch: Transitions, keep: Tensor) -> None:
        """Takes in the rows of a whole batch where `keep` is true: one write, or two where the arrays' end is met."""
        chosen = keep.nonzero()[-self.capacity :, 0]
        count = len(chosen)
        head = min(count, self.capacity - self._at)
        for mine, given in zip(self._rows, batch, strict=True):
            torch.index_select(given, 0, chosen[:head], out=mine[self._at : self._at + head])
            torch.index_select(given, 0, chosen[head:], out=mine[: count - head])
        self._at = (self._at + count) % self.capacity
        self.size = min(self.size + count, self.capacity)

    def sample(self, count: int, generator: torch.Generator) -> Transitions:
        """So many rows by lot; the same one may come twice."""
        chosen = torch.randint(self.size, (count,), generator=generator)
        return Transitions(*(rows.index_select(0, chosen) for rows in self._rows))

    def state(self) -> dict[str, Any]:
        """What has been taken in, for a checkpoint."""
        rows = {name: rows[: self.size].clone() for name, rows in self._rows._asdict().items()}
        return {"at": self._at, "rows": rows}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._at, self.size = state["at"], len(state["rows"]["reward"])
        for name, rows in self._rows._asdict().items():
            rows[: self.size] = state["rows"][name]
