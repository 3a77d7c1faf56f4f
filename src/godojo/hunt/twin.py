"""The detector of disagreements between the real engine and a game's embedded twin."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from godojo.bridge.codec import StepFrame
from godojo.errors import GodojoError
from godojo.evaluation.parity.oracle import Oracle
from godojo.games.base import GAMES
from godojo.hunt.events import Event, event


class TwinDetector:
    """Plays every round in the twin, too; reports where the two part."""

    def __init__(self, game: str, settings: Any) -> None:
        plan = GAMES[game].require("parity", "hunt")()
        if plan.oracle is None:
            raise GodojoError(f"the parity plan of {game} has no oracle")
        self._oracle = Oracle(plan.oracle(settings))

    def begin(self, frame: StepFrame) -> None:
        """The game was reset."""
        self._oracle.begin(np.concatenate([role.observation[0] for role in frame.roles]))

    def look(self, frame: StepFrame, actions: Sequence[np.ndarray]) -> Iterator[Event]:
        """`actions` as the wire has them, of each role."""
        ended = len(frame.ended) > 0
        if ended:
            observation = np.concatenate([role.final_observation for role in frame.roles])
        else:
            observation = np.concatenate([role.observation[0] for role in frame.roles])
        terms = np.concatenate([role.terms[0] for role in frame.roles])
        agents = sum(role.observation.shape[1] for role in frame.roles)
        if len(observation) == agents:
            winner = int(frame.ended[0][1]) if ended else None
            what, told = self._oracle.step(actions, observation, terms, winner)
            if what:
                yield event("twin", told, pattern=what)
        if ended:
            self.begin(frame)


def twin_of(game: str | None, options: dict[str, object]) -> TwinDetector | None:
    """The detector of a game that has a twin with an oracle, and is played by its own settings."""
    if game not in GAMES or game is None or options or GAMES[game].parity is None or GAMES[game].in_godot is None:
        return None
    if GAMES[game].require("parity", "hunt")().oracle is None:
        return None
    return TwinDetector(game, GAMES[game].settings.defaults())
