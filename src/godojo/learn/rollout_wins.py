"""Who won the rounds that a rollout ended, for metrics and for the ratings of the opponent pool."""

from collections.abc import Iterable, Mapping

import numpy as np

from godojo.engines.base import Worlds
from godojo.learn.opponent_pool import OpponentPool
from godojo.learn.opponent_slots import OpponentSlots
from godojo.opponents import SharedRole


class RolloutWins:
    """Counts the wins of one rollout; call `count` after every step.

    Rounds that began before the past opponents were drawn do not count for them. A role that plays against itself wins
    as often as it loses, so its rounds are those against opponents.
    """

    def __init__(
        self,
        slots: Mapping[str, OpponentSlots],
        exploiters: Iterable[str],
        shared: SharedRole | None,
        num_worlds: int,
        steps_since_draw: int,
    ) -> None:
        """`steps_since_draw` is that before the rollout."""
        self._slots, self._shared, self._steps_since_draw = slots, shared, steps_since_draw
        self._only_current = np.ones(num_worlds, np.bool_)
        """Worlds in which only current policies play."""
        for slot in slots.values():
            self._only_current[slot.block] = False
        self.rounds = 0
        """Rounds between current policies that ended."""
        self.wins = dict.fromkeys(slots, 0)
        """By role, in these rounds."""
        self._with_past = {name: dict.fromkeys(slots, 0) for name in slots}
        """The same in rounds in which a past checkpoint played the role of the outer key."""
        self._against_past = [0, 0]
        """Wins and losses of a role that plays against itself, in rounds against a past checkpoint."""
        self._exploiters = dict.fromkeys(exploiters, (0, 0))
        """By role: rounds that its exploiter won and played."""

    def count(self, worlds: Worlds) -> None:
        """Count the rounds that the last step ended."""
        self._steps_since_draw += 1
        if not worlds.ended.any():
            return
        began_since_draw = worlds.length_ticks <= self._steps_since_draw * worlds.ticks_per_decision
        if self._shared is not None:
            self._count_shared(worlds, self._shared, began_since_draw)
            return
        between_current = worlds.played & self._only_current
        self.rounds += int(between_current.sum())
        for name, (won, finished) in self._exploiters.items():
            played = worlds.played[self._slots[name].exploiter]
            wins = played & (worlds.winner[self._slots[name].exploiter] == worlds.winners.index(name))
            self._exploiters[name] = won + int(wins.sum()), finished + int(played.sum())
        for winner in self.wins:
            if winner in worlds.winners:
                has_won = worlds.winner == worlds.winners.index(winner)
                self.wins[winner] += int((between_current & has_won).sum())
                for name, of_past in self._with_past.items():
                    of_past[winner] += int((worlds.ended & began_since_draw & has_won)[self._slots[name].past].sum())

    def _count_shared(self, worlds: Worlds, shared: SharedRole, began_since_draw: np.ndarray) -> None:
        ahead, past = shared.ahead(worlds), self._slots[shared.name].past
        counted, began = worlds.played & ~self._only_current, worlds.played & began_since_draw
        self.rounds += int(counted.sum())
        self.wins[shared.name] += int((counted & (ahead > 0.0)).sum())
        self._against_past[0] += int((began & (ahead > 0.0))[past].sum())
        self._against_past[1] += int((began & (ahead < 0.0))[past].sum())

    def exploiter_metrics(self, role: str) -> dict[str, float]:
        """How often a role's exploiter won."""
        won, rounds = self._exploiters[role]
        return {"exploiter/win_rate": won / rounds} if rounds else {}

    def rate(self, opponent_pool: OpponentPool, assignments: Mapping[str, int | None]) -> None:
        """Rate the current policies and the past opponents that played."""
        opponent_pool.drift()
        if self._shared is not None:
            index = assignments[self._shared.name]
            if index is not None:
                opponent_pool.record_past(self._shared.name, index, *self._against_past)
            return
        current: dict[str, int | None] = dict.fromkeys(self.wins)
        opponent_pool.record(current, self.wins)
        for name, wins in self._with_past.items():
            if assignments[name] is not None:
                opponent_pool.record(current | {name: assignments[name]}, wins)
