"""The team of explorers: who plays next."""

import threading

import msgspec

from godojo.hunt.drill import Drill
from godojo.hunt.explorers import Explorer, Novelty, Returning, Starts, Sticky, UiCrawler
from godojo.hunt.seeker import Seeker

EXPLORERS: dict[str, type[Explorer]] = {
    one.name: one for one in (Drill, Explorer, Sticky, Returning, Novelty, Seeker, UiCrawler, Starts)
}
"""By name, in the order in which they play first; trained policies are added where there are any (`policies.py`)."""
FLOOR = 0.6
"""The part of all time that is shared evenly; the rest goes to those who find something."""
FINDING_WORTH = 40.0
"""A finding counts as much as this many new cells."""
_FORGET = 0.98
"""Per attempt: what an explorer found long ago counts less."""


class Share(msgspec.Struct):
    """What one explorer did."""

    seconds: float = 0.0
    attempts: int = 0
    decisions: int = 0
    new_cells: int = 0
    findings: int = 0
    recent_worth: float = 0.0
    recent_seconds: float = 0.0

    @property
    def rate(self) -> float:
        """What it found lately, per second; an explorer that has not played yet is promising."""
        return (self.recent_worth + 1.0) / (self.recent_seconds + 1.0)


class Team:
    """Gives every explorer time by what it found lately, and nobody too little."""

    def __init__(self, names: list[str], shares: dict[str, Share] | None = None) -> None:
        self.shares = {name: (shares or {}).get(name) or Share() for name in names}
        self._playing: dict[str, int] = dict.fromkeys(names, 0)
        self._lock = threading.Lock()

    def choose(self, explorers: list[Explorer]) -> Explorer:
        """The one whose time so far is furthest below its share."""
        with self._lock:
            rates = {one.name: self.shares[one.name].rate for one in explorers}
            total, used = sum(rates.values()), sum(self.shares[one.name].seconds for one in explorers)

            def debt(one: Explorer) -> float:
                wanted = FLOOR / len(explorers) + (1.0 - FLOOR) * rates[one.name] / total
                busy = self._playing[one.name]
                return wanted * (used + 1.0) - self.shares[one.name].seconds - busy

            chosen = max(explorers, key=debt)
            self._playing[chosen.name] += 1
            return chosen

    def played(self, name: str, *, seconds: float, decisions: int, new_cells: int, findings: int) -> None:
        with self._lock:
            share = self.shares[name]
            self._playing[name] -= 1
            share.attempts += 1
            share.seconds += seconds
            share.decisions += decisions
            share.new_cells += new_cells
            share.findings += findings
            share.recent_worth = _FORGET * share.recent_worth + new_cells + FINDING_WORTH * findings
            share.recent_seconds = _FORGET * share.recent_seconds + seconds
