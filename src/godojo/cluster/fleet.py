"""Keeps a number of workers playing: deadlines, losses and replacements, over any transport."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from godojo.cluster.messages import Assignment, Description, Order, Rollout, Weights
from godojo.errors import GodojoError

START_TIMEOUT_S = 600.0
"""A worker that is not ready after this time counts as lost; a new machine compiles kernels for some minutes."""
BEHIND_S = 15.0
"""Once a worker has delivered, the others may take this much longer than `BEHIND_FACTOR` times its time."""
BEHIND_FACTOR = 3.0
SILENT_S, SILENT_FACTOR = 60.0, 10.0
"""If no worker delivers within this time, and this multiple of the last rollout's, all count as lost."""
STATE_TIMEOUT_S = 60.0
CLOSE_TIMEOUT_S = 5.0
MAX_LOSSES = 5
"""Losses of one worker in a row, without a rollout between them, that end the training."""


class WorkerLost(Exception):
    """A worker is gone, or its code failed; the text is the reason, in one line."""


class Transport(Protocol):
    """Starts workers (`shard.Shard`) somewhere and carries calls to them; `ray_transport` has the one for Ray."""

    def start(self, place: int, generation: int) -> Any:
        """Start a worker and return at once; calls wait until it is there."""

    def call(self, worker: Any, method: str, *args: Any) -> Any:
        """Call a method of a worker; returns a future. Calls of one worker run in order."""

    def share(self, value: Any) -> Any:
        """Store an argument once for calls of many workers."""

    def wait(self, futures: Sequence[Any], timeout_s: float) -> list[Any]:
        """Wait until one future at least is done; returns those that are, none at the deadline."""

    def result(self, future: Any) -> Any:
        """The result of a future that is done; raises WorkerLost, or the worker's own GodojoError."""

    def kill(self, worker: Any) -> None:
        """End a worker at once, also one that hangs."""

    def close(self) -> None:
        """End everything that this transport started."""


class Limits(NamedTuple):
    """Seconds after which workers count as lost."""

    start_s: float = START_TIMEOUT_S
    behind_s: float = BEHIND_S
    silent_s: float = SILENT_S


class _Place:
    """One of the fleet's places and the worker that has it."""

    def __init__(self, number: int) -> None:
        self.number, self.generation, self.losses = number, 0, 0
        self.worker: Any = None
        self.starting: Any = None
        """The call that must return before the worker plays; None when it is ready."""
        self.started_at = 0.0


class Fleet:
    """A fixed number of places for workers. A worker that dies, hangs or falls behind loses its place to a new one.

    The new one starts while the others play on, and joins when it is ready.
    """

    def __init__(
        self, transport: Transport, size: int, say: Callable[[str], None] = lambda _: None, limits: Limits | None = None
    ) -> None:
        self.size, self.losses = size, 0
        self._transport, self._say, self._limits = transport, say, limits or Limits()
        self._places = [_Place(number) for number in range(size)]
        self._assignment: Any = None
        self._last_s = 0.0
        """How long the first of the last rollouts was waited for."""
        self._pending: deque[tuple[Order, dict[Any, _Place]]] = deque()
        """Orders that are being played or wait their turn, each with its calls."""
        for place in self._places:
            self._start(place)

    def open(self) -> Description:
        """Wait for all workers' worlds; returns the description of one. An error in one of them is raised."""
        found = self._all({place.starting: place for place in self._places})
        for place in self._places:
            place.starting = None
        description: Description = found[0]
        return description

    def assign(self, assignment: Assignment) -> None:
        """Let all workers prepare to play for a learner; workers that start later do the same."""
        self._assignment = self._transport.share(assignment)
        self._all({self._transport.call(place.worker, "assign", self._assignment): place for place in self._places})

    @property
    def num_pending(self) -> int:
        """Orders of `begin` that `finish` has not answered."""
        return len(self._pending)

    def begin(self, order: Order) -> None:
        """Queue a rollout for every worker that is ready; without any, wait for the first."""
        shared = self._transport.share(order)
        self._await_ready()
        calls = {self._transport.call(place.worker, "collect", shared): place for place in self._ready}
        self._pending.append((order, calls))

    def finish(self) -> tuple[Order, dict[int, Rollout]]:
        """The oldest order, and the rollouts by place of all workers that deliver in time: none if all are lost."""
        order, calls = self._pending.popleft()
        began, rollouts = time.monotonic(), dict[int, Rollout]()

        def take(place: _Place, rollout: Rollout) -> None:
            if not rollouts:
                self._last_s = time.monotonic() - began
            rollouts[place.number] = rollout
            place.losses = 0

        self._gather(calls, max(self._limits.silent_s, SILENT_FACTOR * self._last_s), take)
        return order, dict(sorted(rollouts.items()))

    def states(self) -> dict[int, Any]:
        """The state of each worker; None of one that is lost or starting, or whose engine cannot continue."""
        states: dict[int, Any] = dict.fromkeys(range(self.size))
        running = {self._transport.call(place.worker, "state"): place for place in self._ready}
        self._gather(running, STATE_TIMEOUT_S, lambda place, state: states.update({place.number: state}))
        return states

    def load_states(self, states: Mapping[int, Any], past: Mapping[str, Weights | None]) -> None:
        """Let workers continue from `states`, against the past checkpoints that played."""
        running = {
            self._transport.call(place.worker, "load_state", states[place.number], past): place for place in self._ready
        }
        self._gather(running, self._limits.start_s, lambda *_: None)

    def close(self) -> None:
        """End all workers, and what the transport started."""
        workers = [place.worker for place in self._places if place.worker is not None]
        if not workers:
            return
        closing = [self._transport.call(place.worker, "close") for place in self._ready]
        deadline = time.monotonic() + CLOSE_TIMEOUT_S
        while closing and (left := deadline - time.monotonic()) > 0.0:
            done = self._transport.wait(closing, left)
            closing = [future for future in closing if future not in done]
        for place in self._places:
            self._transport.kill(place.worker)
            place.worker = None
        self._transport.close()

    @property
    def _ready(self) -> list[_Place]:
        return [place for place in self._places if place.starting is None and place.worker is not None]

    def _start(self, place: _Place) -> None:
        place.worker = self._transport.start(place.number, place.generation)
        place.starting = self._transport.call(place.worker, "open", self._assignment)
        place.started_at = time.monotonic()

    def _all(self, futures: dict[Any, _Place]) -> dict[int, Any]:
        """The results of a call to every worker, before training: a loss is an error."""
        results: dict[int, Any] = {}
        timeout_s = self._limits.start_s
        deadline = time.monotonic() + timeout_s
        while futures:
            done = self._transport.wait(list(futures), max(deadline - time.monotonic(), 0.0))
            if not done:
                raise GodojoError(
                    f"{len(futures)} of {self.size} workers did not start within {timeout_s:.0f} s; "
                    "is there a free CPU for each of them?"
                )
            for future in done:
                place = futures.pop(future)
                try:
                    results[place.number] = self._transport.result(future)
                except WorkerLost as error:
                    raise GodojoError(f"worker {place.number} could not start: {error}") from None
        return results

    def _await_ready(self) -> None:
        """Admit workers that have started, restart those that hang; without any that is ready, wait for the first."""
        deadline = time.monotonic() + self._limits.start_s
        while starting := {place.starting: place for place in self._places if place.starting is not None}:
            timeout_s = 0.0 if self._ready else max(deadline - time.monotonic(), 0.0)
            done = self._transport.wait(list(starting), timeout_s)
            for future in done:
                place = starting[future]
                try:
                    self._transport.result(future)
                    place.starting = None
                except (WorkerLost, GodojoError) as error:
                    self._replace(place, str(error))
            if not done and not self._ready:
                raise GodojoError(f"no worker started again within {self._limits.start_s:.0f} s; the run is saved")
            if not done:
                break
        for place in self._places:
            if place.starting is not None and time.monotonic() - place.started_at > self._limits.start_s:
                # no loss: there may be no free CPU for it, perhaps for hours
                self._say(f"worker {place.number} has not started within {self._limits.start_s:.0f} s; again")
                self._restart(place)

    def _gather(self, running: dict[Any, _Place], timeout_s: float, take: Callable[[_Place, Any], None]) -> None:
        """Hand over results as they come; workers that fail or miss the deadline are replaced.

        The first result shortens the deadline: the others should take about as long.
        """
        began = time.monotonic()
        deadline, is_first = began + timeout_s, True
        while running:
            done = self._transport.wait(list(running), max(deadline - time.monotonic(), 0.0))
            for future in done:
                place = running.pop(future)
                try:
                    take(place, self._transport.result(future))
                except (WorkerLost, GodojoError) as error:
                    self._replace(place, str(error))
                    continue
                if is_first:
                    is_first, took_s = False, time.monotonic() - began
                    # longer for one that was lost before it delivered: on busy machines that may be why
                    times = 1 + max((late.losses for late in running.values()), default=0)
                    deadline = min(deadline, began + BEHIND_FACTOR * took_s + times * self._limits.behind_s)
            if not done:
                for place in running.values():
                    self._replace(place, f"no answer within {time.monotonic() - began:.0f} s")
                return

    def _replace(self, place: _Place, reason: str) -> None:
        place.losses += 1
        self.losses += 1
        if place.losses > MAX_LOSSES:
            raise GodojoError(f"worker {place.number} was lost {place.losses} times in a row: {reason}")
        self._say(f"worker {place.number} is lost ({reason}); another one starts")
        self._restart(place)

    def _restart(self, place: _Place) -> None:
        self._transport.kill(place.worker)
        for _, calls in self._pending:
            for future in [future for future, of in calls.items() if of is place]:
                del calls[future]
        place.generation += 1
        self._start(place)
