"""`metrics.csv`: one row per episode."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from godojo.engines.base import Worlds
from godojo.runs.tables import Column, Words, append, csv_rows, open_table, sync

NOW = "now"
"""The opponent is the current policy, not a past checkpoint."""
GENERATED = "generated"
"""The arena was generated for the round."""
_TICKS_PER_S = 60


class EpisodeLog:
    """Collects finished rounds and writes them in batches.

    Rewards, their terms and the score are sums over the round, and means over the role's agents: over `agents` of them
    where opponents play the others.
    """

    def __init__(
        self,
        path: Path,
        worlds: Worlds,
        episodes: int | None = None,
        say: Callable[[str], None] = lambda _: None,
        agents: Mapping[str, slice] | None = None,
    ) -> None:
        """Starts a new file, or continues one after `episodes` rows and drops the rows behind them."""
        self._agents = {role: (agents or {}).get(role, slice(None)) for role in worlds.roles}
        self._path = path
        self._roles = tuple(worlds.roles)
        self._terms = worlds.reward_terms
        self._winners = worlds.winners
        self._arenas = worlds.arena_names
        self._opponents = [NOW]
        self._all_now = np.zeros(worlds.num_worlds, np.int64)
        self._when: list[tuple[int, int, float]] = []
        self._waiting: list[list[np.ndarray]] = []
        self.episodes = episodes or 0
        """Rounds written so far."""
        self._file = open_table(path, self.header(), episodes, say)

    def header(self) -> list[str]:
        names = ["episode", "agent_steps", "seconds", "arena", "length_s", "winner"]
        for role in self._roles:
            names += [f"{role}_{part}" for part in ("reward", *self._terms, "score", "against")]
        return names

    def opponent(self, name: str) -> int:
        """The number of an opponent in `against`; 0 is the current policy."""
        if name not in self._opponents:
            self._opponents.append(name)
        return self._opponents.index(name)

    def collect(
        self, worlds: Worlds, agent_steps: int, seconds: float, against: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Adds the rounds that ended in the last step, except those lost with a game.

        `against`: the opponent's number by role and world.
        """
        if not worlds.ended.any():
            return
        ended = np.flatnonzero(worlds.played)
        if not len(ended):
            return
        # Nothing is computed here: this runs at every step, and a batch is faster.
        self._when.append((len(ended), agent_steps, seconds))
        arrays = [worlds.arena, worlds.length_ticks, worlds.winner]
        for name in self._roles:
            role, agents = worlds.roles[name], self._agents[name]
            arrays += [
                role.final_terms[:, agents],
                role.final_score[:, agents],
                (against or {}).get(name, self._all_now),
            ]
        self._waiting.append([array.take(ended, axis=0) for array in arrays])

    def write(self) -> None:
        if not self._waiting:
            return
        counts, steps, seconds = (np.array(column) for column in zip(*self._when, strict=True))
        arena, ticks, winner, *of_roles = [np.concatenate(parts) for parts in zip(*self._waiting, strict=True)]
        self._when.clear()
        self._waiting.clear()
        rows = len(arena)
        columns: list[Column] = [
            np.arange(self.episodes + 1, self.episodes + rows + 1),
            steps.repeat(counts),
            seconds.repeat(counts),
            Words(np.where(arena < 0, len(self._arenas), arena), (*self._arenas, GENERATED)),
            ticks / _TICKS_PER_S,
            Words(winner, self._winners),
        ]
        for terms, score, opponent in zip(*(of_roles[part::3] for part in range(3)), strict=True):
            mean = terms.mean(axis=1, dtype=np.float64)
            columns += [mean.sum(axis=1), *mean.T, score.mean(axis=1, dtype=np.float64)]
            columns.append(Words(opponent, self._opponents))
        append(self._file, self._path, csv_rows(columns))
        self.episodes += rows

    def sync(self) -> int:
        """Writes everything to disk; returns the number of rounds, which the checkpoint keeps."""
        self.write()
        sync(self._file, self._path)
        return self.episodes

    def close(self) -> None:
        try:
            self.write()
        finally:
            self._file.close()
