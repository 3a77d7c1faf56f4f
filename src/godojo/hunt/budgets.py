"""Detectors of what a game takes since its reset: time, memory, nodes."""

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from godojo.hunt.detectors import DetectorSettings
from godojo.hunt.events import Event, event
from godojo.hunt.usage import slowness

_WARM_UP = 30
"""Decisions after a reset in which a game may still be loading."""
_USUAL = 200
"""Decisions from which the usual time of one is taken."""
_SLOW = 6
_WINDOW = 100
_ROUNDS = 8
"""Rounds in a row that must leave something behind."""
_STAYS = 10
"""Decisions for which nodes must have been outside of the tree."""
_LEVEL = 50
"""Nodes that come at once with a level."""
_LOADED, _LOADS, _LOADING = 10, 10, 10
"""More nodes that come or go in a decision are loaded; for so many decisions; and so many budgets are allowed then."""
_STREAMED_OBJECTS, _STREAMED_MB = 8, 0.03
"""More objects or memory that come or go in a decision, or any node: something is streamed, a little at a time."""
_LOOKS_EVERY = 10
"""Decisions after which it is asked how long the game has waited, which takes a moment."""


class BudgetDetector:
    """All budgets of one game."""

    def __init__(self, settings: DetectorSettings, slowness: Callable[[], float] = slowness) -> None:
        self._settings, self._slowness = settings, slowness
        self.begin()

    def begin(self) -> None:
        """The game begins anew."""
        self._decisions = 0
        self._usual: list[float] = []
        self._slow: deque[bool] = deque(maxlen=10)
        self._first: Mapping[str, float] = {}
        self._last: Mapping[str, float] = {}
        self._nodes: deque[float] = deque(maxlen=_WINDOW)
        self._orphans: deque[float] = deque(maxlen=_WINDOW)
        self._least: deque[float] = deque(maxlen=_WINDOW)
        self._first_nodes: tuple[float, float] | None = None
        self._least_orphans: list[float] = []
        self._rounds: deque[float] = deque(maxlen=_ROUNDS)
        self._waited_ms = 0.0
        self._loads_until = 0
        self._is_streaming = False

    def look(
        self, metrics: Mapping[str, float], taken_ms: float, waited_ms: Callable[[], float] = float
    ) -> Iterator[Event]:
        """`metrics` are the probe's, with `nodes`, and `scene` and `ended` where they are known; `taken_ms` is the time
        of the decision, and `waited_ms` how long the game has waited for a processor so far."""
        self._decisions += 1
        before, self._last = self._last, metrics
        was_streaming, self._is_streaming = self._is_streaming, _is_streamed(before, metrics)
        is_loading = self._is_loading(before, metrics)
        if self._decisions < _WARM_UP:
            return
        if self._decisions == _WARM_UP:
            self._first = metrics
        late_ms, is_streaming = self._late_ms(taken_ms, waited_ms), was_streaming or self._is_streaming
        yield from self._look_at_time(late_ms, is_loading=is_loading, is_streaming=is_streaming)
        grown = {name: metrics[name] - self._first[name] for name in metrics}
        if self._settings.memory_budget_mb and grown["memory_mb"] > self._settings.memory_budget_mb:
            yield event("memory_budget", f"memory has grown by {grown['memory_mb']:.0f} MB since the start")
        self._note_level(before, metrics)
        yield from self._look_at_nodes(metrics["nodes"], metrics.get("old_nodes", metrics["nodes"]))
        if metrics.get("ended"):
            yield from self._look_at_round(metrics["nodes"], metrics.get("old_nodes", 0.0))
        yield from self._look_at_orphans(metrics["orphans"], grown["orphans"])

    def _note_level(self, before: Mapping[str, float], now: Mapping[str, float]) -> None:
        """Another scene, or as many nodes at once as one has, is a new start."""
        more = now["nodes"] - before.get("nodes", now["nodes"])
        if before.get("scene") != now.get("scene") or more > max(_LEVEL, before.get("nodes", 0.0) / 4):
            self._nodes.clear()
            self._least.clear()
            self._first_nodes = None

    def _look_at_nodes(self, nodes: float, old: float) -> Iterator[Event]:
        """A game that makes nodes and frees them returns to few now and then, or its nodes are young, or there are no
        more in the end; one that leaks does none of this."""
        self._nodes.append(nodes)
        if len(self._nodes) < _WINDOW:
            return
        least, budget = min(self._nodes), self._settings.node_budget
        if self._first_nodes is None:
            self._first_nodes = least, old
        first, first_old = self._first_nodes
        most = max(budget, first / 2)
        self._least.append(least)
        still_grows = least - self._least[0] > most / 10
        if budget and still_grows and least - first > most and old - first_old > most / 2:
            yield event("node_leak", f"{least - first:.0f} more nodes than at the start")

    def _look_at_round(self, nodes: float, old: float) -> Iterator[Event]:
        """A round that leaves nothing behind ends with as many nodes as the one before."""
        self._rounds.append(nodes)
        counts = list(self._rounds)
        grows = all(after > before for before, after in pairwise(counts))
        if self._settings.node_budget and len(counts) == _ROUNDS and grows and old >= _ROUNDS / 2:
            yield event(
                "node_leak", f"each of {_ROUNDS} rounds leaves nodes behind", pattern="rounds leave nodes behind"
            )

    def _look_at_orphans(self, orphans: float, grown: float) -> Iterator[Event]:
        """Many at once, or fewer that only become more."""
        budget = self._settings.orphan_budget
        self._orphans.append(orphans)
        if self._decisions % _WINDOW == 0:
            self._least_orphans.append(min(self._orphans))
        steps = [after - before for before, after in pairwise(self._least_orphans)]
        only_grows = sum(step > 0 for step in steps) >= 3 and min(steps) >= 0
        # A scene that is about to come, or has just gone, is in no tree for a moment.
        stays = grown - orphans + min(list(self._orphans)[-_STAYS:]) if len(self._orphans) >= _STAYS else 0.0
        if budget and (stays > budget or (only_grows and sum(steps) > budget / 2)):
            yield event("orphans", f"{grown:.0f} more nodes outside of the tree than at the start")

    def _is_loading(self, before: Mapping[str, float], now: Mapping[str, float]) -> bool:
        """Whether a scene, a round or many nodes have come lately, or nodes have gone."""
        is_same = bool(before) and before.get("scene") == now.get("scene") and not now.get("ended")
        if not is_same or abs(now["nodes"] - before["nodes"]) > _LOADED:
            self._loads_until = self._decisions + _LOADS
        return self._decisions < self._loads_until

    def _late_ms(self, taken_ms: float, waited_ms: Callable[[], float]) -> float:
        """What a decision takes beyond the usual, without the time in which other programs had the processor."""
        if len(self._usual) < _USUAL:
            insort(self._usual, taken_ms)
        late_ms = taken_ms - self._usual[len(self._usual) // 2]
        if late_ms > self._settings.frame_budget_ms / 3 or self._decisions % _LOOKS_EVERY == 0:
            waited, self._waited_ms = self._waited_ms, waited_ms()
            late_ms -= self._waited_ms - waited
        return late_ms

    def _look_at_time(self, late_ms: float, *, is_loading: bool, is_streaming: bool) -> Iterator[Event]:
        """As if what a decision takes beyond the usual were one of its ticks; a slow machine has more time."""
        budget_ms, hitch_ms = self._settings.frame_budget_ms, self._settings.hitch_ms
        times = self._slowness() if late_ms > budget_ms / 3 else 1.0
        late_ms /= times
        self._slow.append(late_ms > budget_ms / 3)
        if not budget_ms or self._decisions <= 2 * _WARM_UP:
            return
        usual_ms = self._usual[len(self._usual) // 2] / times
        most_ms = budget_ms * (_LOADING if is_loading else 1)
        if late_ms > most_ms:
            yield event("frame_budget", f"a frame is {late_ms:.0f} ms late, and {most_ms:g} are allowed")
        elif sum(self._slow) >= _SLOW:
            yield event("frame_budget", f"{_SLOW} of 10 decisions are more than {budget_ms / 3:.0f} ms late")
        elif hitch_ms and late_ms > max(hitch_ms, 5 * usual_ms) and not is_loading and not is_streaming:
            yield event("frame_budget", f"a frame is {late_ms:.0f} ms late, and {hitch_ms:g} are allowed")


def _is_streamed(before: Mapping[str, float], now: Mapping[str, float]) -> bool:
    """Whether a part of the world has come or gone, as near a player who moves through a large one."""
    if not before or before["nodes"] != now["nodes"]:
        return True
    objects = abs(now.get("objects", 0.0) - before.get("objects", 0.0))
    return objects > _STREAMED_OBJECTS or abs(now["memory_mb"] - before["memory_mb"]) > _STREAMED_MB
