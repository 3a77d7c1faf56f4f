"""What a training asks of a learner, whichever algorithm it learns by."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from godojo.engines.base import Worlds
from godojo.learn.networks import Policy
from godojo.learn.opponent_pool import OpponentPool

Task = Literal["train", "frozen", "deterministic"]
"""What becomes of a role: it learns; it plays as it is; it plays as it is and without chance."""


class Iteration(NamedTuple):
    """What came out of one rollout and the update that followed."""

    rounds: int
    """How many were played to their end by the present policies alone."""
    wins: dict[str, int]
    """How many of those each role won."""
    figures: dict[str, dict[str, float]]
    """Of each role that learnt: losses and the like by name."""


class OpponentAssignment(NamedTuple):
    """Somebody else than the present policy plays a role in some worlds."""

    role: str
    worlds: slice
    who: str
    """A past self or a scripted opponent, by its name."""


class Algorithm(Protocol):
    """Every role's policy, and how it gets better."""

    tasks: dict[str, Task]
    """May be changed between two iterations."""
    league: OpponentPool | None
    """Past selves and ratings, where there are any."""
    updates: int
    agent_steps: int

    @property
    def policies(self) -> dict[str, Policy]:
        """The present ones, by role."""

    @property
    def sitting(self) -> list[OpponentAssignment]:
        """The guests at the table now."""

    def iterate(self, progress: float, watch: Callable[[Worlds], None] = ...) -> Iteration:
        """Plays for a while and learns from it; `progress` through the budget is from 0 to 1.

        `watch` is shown the worlds after every decision.
        """

    def state(self) -> dict[str, Any]:
        """What is needed to go on, for a checkpoint."""

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` gave."""

    def close(self) -> None:
        """Lets go of worlds and threads."""
