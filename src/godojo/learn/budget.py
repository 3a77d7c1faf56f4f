"""The training budget."""

from typing import NamedTuple

GRACE_S = 2.0
"""A rollout that exceeds the time budget by more than this is dropped, for example when games keep crashing."""


class Budget(NamedTuple):
    """Either training time, or decision steps summed over all agents."""

    minutes: float | None = None
    agent_steps: int | None = None

    def progress(self, seconds: float, agent_steps: int) -> float:
        """The fraction of the budget that is spent."""
        if self.agent_steps is not None:
            return min(agent_steps / self.agent_steps, 1.0)
        assert self.minutes is not None
        return min(seconds / (self.minutes * 60.0), 1.0)

    def is_overdrawn(self, seconds: float) -> bool:
        """Whether the grace period after the time budget is over."""
        return self.agent_steps is None and seconds > (self.minutes or 0.0) * 60.0 + GRACE_S

    def as_config(self) -> dict[str, float]:
        return {"agent_steps": self.agent_steps} if self.agent_steps is not None else {"minutes": self.minutes or 0.0}
