"""A worker of a hunt: one game, played by all explorers in turn; what happens is proven at once."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from godojo.errors import GodojoError
from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Steps
from godojo.hunt.contract import Playable
from godojo.hunt.events import Event
from godojo.hunt.explorers import POLICY, SEEDS, Explorer
from godojo.hunt.findings import Finding, minimal_trace
from godojo.hunt.game import HuntedGame, Seen
from godojo.hunt.prove import Prover, first_position
from godojo.hunt.steps import described
from godojo.hunt.team import EXPLORERS
from godojo.hunt.trace import Effort, Interrupted, Trace, effort_of, fits, replay, without_lines

if TYPE_CHECKING:
    from godojo.hunt.hunter import Hunt

SHORTEST, LONGEST = 32, 2048
"""Decisions of an attempt."""
STOPS_AT_END = 0.7
"""Attempts that stop with their episode; the others go on into the next ones."""
_SLOW_RESET_S, _PER_RESET = 0.15, 3.0
"""A game that takes longer to start afresh is played on after an episode; and every attempt takes so many times as long
as its reset, at least."""
_MOST_LOSSES = 5
"""Games in a row that could not be started."""
_SHRINK_SHARE, _LEAST_SHRINK_S, _MOST_SHRINK_S = 0.1, 10.0, 60.0
"""Of all time, for one finding, and the least and the most that it gets."""
_LAST_SHARE = 0.2
"""Of all time, at the end: findings whose shrinking ran out of time are shrunk further."""
_LEAST_LEFT_S = 0.2
_MOST_EARLIER = 10_000
"""Decisions of earlier episodes that are remembered."""
_SURE = 0.05
"""A finding counts as fixed if so few unfixed ones would not have happened again by then."""
_MOST_COMPARED = 10


class Worker:
    """Plays until the hunt is over."""

    def __init__(self, hunt: "Hunt", number: int) -> None:
        self._hunt, self._number = hunt, number
        self._rng = np.random.default_rng([hunt.settings.seed, number, hunt.record.attempts])
        self._game: Playable | None = None
        self._reset_s, self._decision_s = 0.0, 2e-3
        self._prover = Prover(
            self.reopened,
            proofs=hunt.settings.proofs,
            archive=hunt.archive,
            is_over=hunt.is_over,
            is_late=self._is_late,
        )

    def close(self) -> None:
        if self._game is not None:
            self._game.close()
            self._game = None

    def reopened(self) -> Playable:
        """The game in a fresh process."""
        self.close()
        self._hunt.count(launches=1)
        self._game = self._hunt.opened()
        self._game.is_quick = True
        self._forget()
        return self._game

    def _forget(self) -> None:
        assert self._game is not None
        self._starts = self._game.starts
        self._earlier: list[Steps] = []
        """What was played in this process since it was opened, or since the last proof."""
        self._before = Effort(0, 0, 0)
        """What was played since then, also in processes that are gone."""

    def run(self) -> None:
        hunt = self._hunt
        self._space = ActionSpace(self.reopened().action_parts)
        seen = self._first_sight()
        assert self._game is not None
        explorers = self._explorers(self._game, seen)
        team = hunt.team([one.name for one in explorers])
        if self._number == 0 and hunt.old:
            self._compare()
        losses = 0
        while not hunt.is_over() and time.monotonic() < hunt.deadline:
            if self._shrink_on():
                continue
            explorer = team.choose(explorers)
            started, cells = time.monotonic(), hunt.archive.discovered
            found, steps = 0, Steps(0)
            try:
                found, steps = self._attempt(explorer)
                losses = 0
            except GodojoError:
                losses += 1
                if losses >= _MOST_LOSSES:
                    raise
                self.reopened()
            hunt.count(attempts=1)
            team.played(
                explorer.name,
                seconds=time.monotonic() - started,
                decisions=len(steps.actions),
                new_cells=hunt.archive.discovered - cells,
                findings=found,
            )

    def _first_sight(self) -> Seen:
        """Of the first game that does not crash or freeze at its start; if one does, that is proven first."""
        for _ in range(_MOST_LOSSES):
            game, seed = self._game or self.reopened(), int(self._rng.integers(SEEDS))
            seen = game.reset(seed)
            if not game.is_lost:
                return seen
            for event in seen.events:
                if self._hunt.book.claim(event):
                    self._prove(Steps(seed), event)
        raise GodojoError(f"the game cannot be played: {seen.events[0].message}")

    def _explorers(self, game: Playable, seen: Seen) -> list[Explorer]:
        hunt, wanted = self._hunt, self._hunt.settings.explorers
        given = (self._space, hunt.archive, self._rng)
        made = [kind(*given) for name, kind in EXPLORERS.items() if name in wanted or not wanted]
        found = [one for one in made if one.fits(seen)]
        if (POLICY in wanted or not wanted) and isinstance(game, HuntedGame):
            from godojo.hunt.policies import explorers_of  # loads torch

            found += explorers_of(hunt.target, hunt.settings.policies, game, *given)
        return found or [Explorer(*given)]

    def _attempt(self, explorer: Explorer) -> tuple[int, Steps]:
        """Plays one attempt; returns the number of findings and what was played."""
        hunt, game, rng = self._hunt, self._game, self._rng
        assert game is not None
        start = explorer.begin(game)
        steps = Steps(start.seed, explorer.name)
        is_slow = self._reset_s > _SLOW_RESET_S
        longest = int(np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST))))
        longest = max(longest, explorer.shortest, int(_PER_RESET * self._reset_s / max(self._decision_s, 1e-5)))
        stops_at_end = not is_slow and rng.random() < STOPS_AT_END
        most = len(start) + longest
        if hunt.settings.reload_every is not None:
            most, stops_at_end = hunt.settings.reload_every, False
        began = time.monotonic()
        seen = game.reset(start.seed)
        began, self._reset_s = time.monotonic(), 0.8 * self._reset_s + 0.2 * (time.monotonic() - began)
        if game.starts != self._starts:
            self._starts, self._earlier = game.starts, []
        target = explorer.returns_to
        while True:
            claimed = next((event for event in seen.events if hunt.book.claim(event)), None)
            if claimed is not None:
                return self._prove(steps, claimed), steps
            if game.is_lost:
                explorer.lost()
                break
            cell, novelty = hunt.archive.visit(seen, steps)
            played = len(steps.actions)
            if played == len(start) and target is not None:
                hunt.count(returns=1, arrivals=int(cell == target))
            if played > len(start):
                explorer.learn(cell, novelty)
            is_end = played > len(start) and ((stops_at_end and seen.ended) or explorer.is_done)
            if played >= most or is_end or hunt.is_over() or time.monotonic() > hunt.deadline:
                break
            action = start.actions[played] if played < len(start) else explorer.choose(seen)
            steps.actions.append(np.array(action, np.float32))
            seen = game.step(steps.actions[-1])
            hunt.count(decisions=1)
        if len(steps.actions):
            self._decision_s = 0.8 * self._decision_s + 0.2 * (time.monotonic() - began) / len(steps.actions)
        self._remember(steps)
        return self._restarted(steps), steps

    def _restarted(self, steps: Steps) -> int:
        """Starts the game again if settings were changed that were never tested so, and looks whether they are kept;
        returns the number of findings."""
        hunt, game = self._hunt, self._game
        assert game is not None
        if game.is_lost or hunt.settings.reload_every is not None or not hunt.archive.tests_anew(game.settings_left):
            return 0
        seen, again = game.restart(steps.seed), Steps(steps.seed, steps.explorer)
        for action in (*steps.actions, None):
            claimed = next((event for event in seen.events if hunt.book.claim(event)), None)
            if claimed is not None:
                return self._prove(again, claimed, before=(steps,))
            if action is None or game.is_lost or hunt.is_over() or time.monotonic() > hunt.deadline:
                return 0
            again.actions.append(action)
            seen = game.step(action)
            hunt.count(decisions=1)
        return 0

    def _remember(self, steps: Steps) -> None:
        """For events that outlive a reset, and for what an event took since the game was opened."""
        self._before = self._before.plus(effort_of(self._trace(steps), self._space.neutral)).plus(Effort(1, 0, 0))
        self._earlier.append(steps)
        while sum(len(each.actions) for each in self._earlier) > _MOST_EARLIER:
            del self._earlier[0]

    def _trace(self, steps: Steps) -> Trace:
        none = np.zeros((0, self._space.size), np.float32)
        return steps.trace() if steps.actions else Trace(steps.seed, none, steps.explorer)

    def _prove(self, steps: Steps, event: Event, whole: Effort | None = None, before: tuple[Steps, ...] = ()) -> int:
        """Returns the number of findings; `whole` is what was played before the event, if this was no attempt; and
        `before`, what was played before the game was started again."""
        hunt, original = self._hunt, self._trace(steps)
        if before:
            original = replace(original, earlier=tuple(self._trace(each) for each in before), restarts=True)
        took = self._before.plus(effort_of(original, self._space.neutral))
        found_after_s = hunt.seconds
        try:
            proof = self._prover.prove(
                original,
                event,
                shrink_seconds=self._shrink_seconds(),
                earlier=() if before else tuple(self._trace(each) for each in self._earlier),
            )
        except Interrupted:
            hunt.book.release(event)
            raise
        except GodojoError:
            hunt.book.give_up(event)
            raise
        if proof is None:
            hunt.book.give_up(event)
            self._forget()
            return 0
        assert self._game is not None
        finding = Finding(
            hunt.book.number(),
            proof.event,
            original.explorer,
            original.seed,
            round(found_after_s, 1),
            (whole or took).actions,
            proof.effort.actions,
            proof.is_minimal,
            proof.replays,
            proof.reproduced,
            original_steps=(whole or took).steps,
            attempt_actions=len(proof.original),
            minimal_steps=proof.effort.steps,
            minimal_waits=proof.effort.waits,
            steps=described(proof.minimal, self._game.action_parts, proof.tail),
            status="still there" if self._is_old(event) else "new",
            target=hunt.record.target,
            detectors=hunt.detectors,
            timeout_s=hunt.settings.timeout_s,
            level=first_position(proof.path),
        )
        hunt.book.add(finding, proof.minimal, proof.original, self._game.action_parts, proof.log, proof.path)
        self._forget()
        return 1

    def _is_late(self) -> bool:
        return time.monotonic() > self._hunt.deadline

    def _shrink_seconds(self) -> float:
        hunt = self._hunt
        if hunt.settings.shrink_seconds is not None:
            return hunt.settings.shrink_seconds
        share_s = min(max(_SHRINK_SHARE * 60.0 * hunt.settings.minutes, _LEAST_SHRINK_S), _MOST_SHRINK_S)
        return max(min(share_s, hunt.deadline - time.monotonic()), 0.0)

    def _shrink_on(self) -> bool:
        """Near the end, shrinks a finding for which there was too little time; false if there is none."""
        hunt = self._hunt
        left_s = hunt.deadline - time.monotonic()
        if left_s > _LAST_SHARE * 60.0 * hunt.settings.minutes or left_s < _LEAST_LEFT_S:
            return False
        finding = hunt.book.claim_unfinished()
        if finding is None:
            return False
        trace, parts = minimal_trace(hunt.folder / finding.folder)
        seconds = left_s / (1 + hunt.book.count_unfinished() / hunt.settings.processes)
        try:
            proof = self._prover.shrink_on(trace, finding.event, seconds=seconds)
        except (Interrupted, GodojoError):
            proof = None
        if proof is not None and proof.reproduced * finding.replays >= finding.reproduced * proof.replays:
            hunt.book.improve(finding, proof, described(proof.minimal, parts, proof.tail), parts)
        self._forget()
        return True

    def _is_old(self, event: Event) -> bool:
        return any(without_lines(one.event.signature) == without_lines(event.signature) for one in self._hunt.old)

    def _compare(self) -> None:
        """Replays the findings of an earlier hunt: those that happen again are still there, the others are fixed."""
        hunt = self._hunt
        assert hunt.against is not None
        for old in hunt.old:
            trace, parts = minimal_trace(hunt.against / old.folder)
            game = self.reopened()
            if not fits(game, parts):
                continue
            tries = int(np.ceil(np.log(_SURE) / np.log(max(1.0 - old.rate, 1e-9)))) if old.rate else _MOST_COMPARED
            for _ in range(min(max(tries, 2), _MOST_COMPARED)):
                found = replay(game, trace, old.event.signature, lines_moved=True, is_over=hunt.is_over)
                if found.event is not None:
                    if hunt.book.claim(found.event):
                        steps = Steps(trace.seed, trace.explorer)
                        steps.actions = list(trace.actions)
                        self._earlier = [_steps(each) for each in trace.earlier]
                        self._prove(steps, found.event, Effort(old.original_steps, old.original_actions, 0))
                    break
            else:
                hunt.fixed.append(old)


def _steps(trace: Trace) -> Steps:
    steps = Steps(trace.seed, trace.explorer)
    steps.actions = list(trace.actions)
    return steps
