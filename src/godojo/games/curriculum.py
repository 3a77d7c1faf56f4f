"""A curriculum: stages of a training, each with its own settings of the game and the conditions that end it.

In a preset, in order; the last stage lasts until the budget is spent:

    [[curriculum]]
    name = "near"
    agent_steps = 500_000
    success = 0.9
    game = { "rules.goal_distance_m" = 10 }
"""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from godojo.errors import GodojoError

RECENT_ROUNDS = 400
"""Rounds of a stage over which success is measured."""


class Stage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One stage. It ends when one of its conditions holds; without any it does not."""

    name: str
    game: dict[str, Any] = {}
    """Values of the game's settings that differ from those of the run, by path."""
    agent_steps: Annotated[int, msgspec.Meta(gt=0)] | None = None
    """Ends after this many decisions in this stage."""
    success: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None
    """Ends when this fraction of the last rounds was won."""


class Curriculum:
    """The stages of a training, and the current one."""

    def __init__(self, stages: Sequence[Stage], settings: Any) -> None:
        """`settings` are the run's; every stage's are built and checked now."""
        self.stages = tuple(stages)
        self.settings = [settings.override(**stage.game) for stage in stages]
        for stage in self.stages[:-1]:
            if stage.agent_steps is None and stage.success is None:
                raise GodojoError(f"curriculum: stage {stage.name!r} never ends: give it agent_steps or success")
        self.at = 0
        self._begun_at = 0
        self._rounds: list[tuple[int, int]] = []

    @property
    def stage(self) -> Stage:
        return self.stages[self.at]

    @property
    def success(self) -> float | None:
        """Of the stage's last rounds; None while there are too few."""
        rounds = sum(count for count, _ in self._rounds)
        return sum(won for _, won in self._rounds) / rounds if rounds >= RECENT_ROUNDS else None

    def begin(self, agent_steps: int) -> None:
        """The first stage starts; a model that is continued has played `agent_steps` before."""
        self._begun_at = agent_steps

    def after(self, agent_steps: int, rounds: int, won: int) -> bool:
        """Counts the rounds of an update; returns whether the next stage starts."""
        self._rounds.append((rounds, won))
        while sum(count for count, _ in self._rounds[1:]) >= RECENT_ROUNDS:
            self._rounds.pop(0)
        if self.at + 1 == len(self.stages):
            return False
        is_long_enough = self.stage.agent_steps is not None and agent_steps - self._begun_at >= self.stage.agent_steps
        success = self.success
        is_good_enough = self.stage.success is not None and success is not None and success >= self.stage.success
        if not (is_long_enough or is_good_enough):
            return False
        self.at += 1
        self._begun_at = agent_steps
        self._rounds = []
        return True

    def state(self) -> dict[str, Any]:
        return {"at": self.at, "begun_at": self._begun_at, "rounds": [list(pair) for pair in self._rounds]}

    def load_state(self, state: dict[str, Any]) -> None:
        self.at = min(int(state["at"]), len(self.stages) - 1)
        self._begun_at = int(state["begun_at"])
        self._rounds = [(int(rounds), int(won)) for rounds, won in state["rounds"]]
