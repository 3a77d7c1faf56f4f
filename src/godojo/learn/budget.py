"""How long to train."""

from typing import NamedTuple


class Budget(NamedTuple):
    """How long to train: by the clock or by decisions of all agents together."""

    minutes: float | None = None
    agent_steps: int | None = None

    def progress(self, seconds: float, agent_steps: int) -> float:
        """From 0 to 1, which is the end."""
        if self.agent_steps is not None:
            return min(agent_steps / self.agent_steps, 1.0)
        assert self.minutes is not None
        return min(seconds / (self.minutes * 60.0), 1.0)

    def as_config(self) -> dict[str, float]:
        return {"agent_steps": self.agent_steps} if self.agent_steps is not None else {"minutes": self.minutes or 0.0}
