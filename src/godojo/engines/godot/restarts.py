"""How often games may be started again, and what happened to those that were."""

import logging
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from godojo.errors import GodojoError

WINDOW_S = 600.0
IN_A_ROW = 3
"""Losses of a game without one good step between them, after which it is taken to be broken."""

_log = logging.getLogger("godojo.games")


@dataclass(frozen=True)
class Incident:
    """A game that was lost."""

    game: int
    """Which of the games that play together."""
    cause: str
    log: Path | None
    """What it had printed, if we started it."""
    at_s: float
    """When it was noticed, by `time.monotonic`."""


class GameLost(GodojoError):
    """A game is gone and no other takes its place. `cause` says what happened to it, as in "it ..."."""

    def __init__(self, sentence: str, cause: str) -> None:
        super().__init__(sentence)
        self.cause = cause


class Restarts:
    """Counts losses, and says when it is enough."""

    def __init__(self, most: int, *, window_s: float = WINDOW_S) -> None:
        self.most = most
        self.incidents: list[Incident] = []
        self._window_s = window_s
        self._in_a_row: Counter[int] = Counter()

    def good_step(self, game: int) -> None:
        if self._in_a_row[game]:
            del self._in_a_row[game]

    def note(self, game: int, cause: str, log: Path | None, last_words: str, remedy: str) -> None:
        """A game was lost. Raises GameLost when it has been too often, with the cause and its last words."""
        now = time.monotonic()
        self.incidents.append(Incident(game, cause, log, now))
        self._in_a_row[game] += 1
        recent = sum(now - incident.at_s <= self._window_s for incident in self.incidents)
        why = ""
        if self._in_a_row[game] >= IN_A_ROW:
            why = f"it is the {_ordinal(self._in_a_row[game])} loss in a row without one good step"
        elif recent > self.most:
            why = f"max_restarts={self.most} within {self._window_s / 60:g} min are used up"
        if why:
            raise GameLost(f"game {game} was lost: it {cause}; {why}; {last_words}", cause)
        _log.warning("game %d was lost: it %s; it is %s (%d of %d)", game, cause, remedy, recent, self.most)


def _ordinal(number: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(number, f"{number}th")
