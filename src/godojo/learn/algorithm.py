"""The interface between the training loop and an algorithm."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from godojo.engines.base import Worlds
from godojo.learn.networks import Policy
from godojo.learn.opponent_pool import OpponentPool
from godojo.runs.folder import RunFolder
from godojo.runs.role_map import Mode

Phase = Literal["playing", "submitting", "training", "done training"]
"""What a trainer does: `playing` collects a rollout, `submitting` hands it to the learner, `training` updates."""


class Iteration(NamedTuple):
    """The result of one rollout and its update."""

    rounds: int
    """Rounds finished between current policies, or against opponents where a role plays against itself."""
    wins: dict[str, int]
    """How many of them each role won."""
    metrics: dict[str, dict[str, float]]
    """Metrics by tag, for each role that was updated."""


class OpponentAssignment(NamedTuple):
    """An opponent that plays a role in some worlds, in place of the current policy."""

    role: str
    worlds: slice
    who: str
    """Name of a past checkpoint or of a scripted opponent."""


class Algorithm(Protocol):
    """Trains the policies of all roles; `learn/training.py` is the loop around it."""

    modes: dict[str, Mode]
    """Whether each role learns; may change between two iterations."""
    opponent_pool: OpponentPool | None = None
    """Past checkpoints and ratings; None for algorithms without them."""
    updates: int
    """Iterations so far."""
    agent_steps: int
    """Decision steps so far, summed over all agents."""
    checkpoint_steps: int | None = None
    """Agent-steps between two checkpoints; None for checkpoints by the clock."""
    copy_interval: int = 1000
    """Updates between two numbered copies of each policy; 0: none."""
    on_phase: Callable[[Phase], None] = staticmethod(lambda _: None)
    """Called when another phase of an iteration begins, for people who watch."""

    @property
    @abstractmethod
    def policies(self) -> dict[str, Policy]:
        """The current policies, by role."""

    @property
    def assignments(self) -> list[OpponentAssignment]:
        """The opponents that currently play."""
        return []

    @abstractmethod
    def iterate(self, progress: float, on_step: Callable[[Worlds], None] = ...) -> Iteration:
        """Collect a rollout and update.

        `progress` is the fraction of the budget that is spent. `on_step` is called with the worlds after every step; it
        reads their results, not their actions, which may already be those of the next step.
        """

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Everything needed to resume, for a checkpoint."""

    @abstractmethod
    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from the result of `state`."""

    def on_start(self, run: RunFolder) -> None:  # noqa: ARG002 - those that override it use it
        """Called before the first iteration, for algorithms that write files of their own while they play."""
        return  # optional, not abstract

    def on_end(self, run: RunFolder) -> None:  # noqa: ARG002 - those that override it use it
        """Called after the last checkpoint of a training that ended or was stopped."""
        return

    def on_checkpoint(self, run: RunFolder, seconds: float) -> None:  # noqa: ARG002 - those that override it use them
        """Write the algorithm's own files after a checkpoint; `seconds` is the training time."""
        return  # optional, not abstract

    @abstractmethod
    def close(self) -> None:
        """Release worlds and threads."""
