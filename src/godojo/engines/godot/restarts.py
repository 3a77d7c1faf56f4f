"""The restart quota of games, and the record of losses."""

import logging
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from godojo.errors import GodojoError

WINDOW_S = 600.0
IN_A_ROW = 3
"""Losses of a game without a good step in between, after which it counts as broken."""

_log = logging.getLogger("godojo.games")


@dataclass(frozen=True)
class Incident:
    """A game that was lost."""

    game: int
    """Its number."""
    cause: str
    log: Path | None
    """Its log, if we started it."""
    at_s: float
    """When it was noticed, by `time.monotonic`."""


class GameLost(GodojoError):
    """A game is gone and not replaced. `cause` says what happened, as in "it ..."."""

    def __init__(self, sentence: str, cause: str) -> None:
        super().__init__(sentence)
        self.cause = cause


class Restarts:
    """Counts losses; raises when there are too many."""

    def __init__(self, most: int, *, window_s: float = WINDOW_S) -> None:
        self.most = most
        self.incidents: list[Incident] = []
        self._window_s = window_s
        self._in_a_row: Counter[int] = Counter()
        self._same: Counter[str] = Counter()

    def good_step(self, game: int) -> None:
        if self._in_a_row[game]:
            del self._in_a_row[game]

    def note(
        self, game: int, cause: str, log: Path | None, last_words: str, remedy: str, *, by_its_messages: bool = False
    ) -> None:
        """Records a loss; raises GameLost, with the cause and the last output, if there are too many.

        A game that is lost `by_its_messages` would send the same again: it is not restarted for ever.
        """
        now = time.monotonic()
        self.incidents.append(Incident(game, cause, log, now))
        self._in_a_row[game] += 1
        recent = sum(now - incident.at_s <= self._window_s for incident in self.incidents)
        why = ""
        self._same[cause] += by_its_messages
        if self._same[cause] >= IN_A_ROW:
            why = f"it happened {self._same[cause]} times"
        elif self._in_a_row[game] >= IN_A_ROW:
            why = f"it is the {_ordinal(self._in_a_row[game])} loss in a row without a good step"
        elif recent > self.most:
            why = f"max_restarts={self.most} within {self._window_s / 60:g} min are used up"
        if why:
            raise GameLost(f"game {game} was lost: it {cause}; {why}; {last_words}", cause)
        _log.warning("game %d was lost: it %s; it is %s (%d of %d)", game, cause, remedy, recent, self.most)


def _ordinal(number: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(number, f"{number}th")
