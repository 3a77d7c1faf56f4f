"""`metrics.csv`: one row per episode, of a world, or of an agent where agents end on their own."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np

from godojo.engines.agent_episodes import AgentEpisodes, FinishedEpisodes
from godojo.engines.base import Worlds
from godojo.runs.tables import Column, Words, append, csv_rows, open_table, sync

NOW = "now"
"""The opponent is the current policy, not a past checkpoint."""
GENERATED = "generated"
"""The arena was generated for the round."""
REWARD, SCORE, AGAINST = "reward", "score", "against"
"""Columns of every role besides the terms of its reward and the measures that its agents report."""
_WORLD = ""
"""In place of a role: episodes of whole worlds."""


class EpisodeLog:
    """Collects finished rounds and writes them in batches.

    Rewards, their terms and the score are sums over the round, and means over the role's agents: over `agents` of them
    where opponents play the others. The row of an agent has values of its own role only.
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
        self._measures = {name: [m.name for m in role.measures] for name, role in worlds.roles.items()}
        self._terms = term_columns(worlds.reward_terms, {name for names in self._measures.values() for name in names})
        self._ticks_per_s = worlds.ticks_per_second
        self._winners = worlds.winners
        self._arenas = worlds.arena_names
        self._opponents = [NOW]
        self._all_now = np.zeros(worlds.num_worlds, np.int64)
        self._by_agent = AgentEpisodes(worlds) if worlds.agent_episodes else None
        self._waiting: dict[str, list[tuple[int, float, list[np.ndarray]]]] = {}
        """Agent-steps, seconds and arrays of episodes that are not written yet, by role."""
        self.episodes = episodes or 0
        """Rounds written so far."""
        self._file = open_table(path, self.header(), episodes, say)

    def header(self) -> list[str]:
        names = ["episode", "agent_steps", "seconds", "arena", "length_s", "winner"]
        for role in self._roles:
            names += [f"{role}_{part}" for part in self._role_parts(role)]
        return names

    def _role_parts(self, role: str) -> list[str]:
        return [REWARD, *self._terms, SCORE, *self._measures[role], AGAINST]

    def opponent(self, name: str) -> int:
        """The number of an opponent in `against`; 0 is the current policy."""
        if name not in self._opponents:
            self._opponents.append(name)
        return self._opponents.index(name)

    def collect(
        self, worlds: Worlds, agent_steps: int, seconds: float, against: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Adds the episodes that ended in the last step, except those lost with a game.

        `against`: the opponent's number by role and world.
        """
        if self._by_agent is not None:
            for name, finished in self._by_agent.finished(worlds).items():
                self._waiting.setdefault(name, []).append((agent_steps, seconds, list(finished)))
            return
        if not worlds.ended.any():
            return
        ended = np.flatnonzero(worlds.played)
        if not len(ended):
            return
        # Nothing is computed here: this runs at every step, and a batch is faster.
        arrays = [worlds.arena, worlds.length_ticks, worlds.winner]
        for name in self._roles:
            role, agents = worlds.roles[name], self._agents[name]
            measures = role.final_terms[..., :0] if role.final_measures is None else role.final_measures
            arrays += [role.final_terms[:, agents], role.final_score[:, agents], measures[:, agents]]
            arrays.append((against or {}).get(name, self._all_now))
        taken = [array.take(ended, axis=0) for array in arrays]
        self._waiting.setdefault(_WORLD, []).append((agent_steps, seconds, taken))

    def write(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for role, batches in waiting.items():
            steps, seconds, parts = zip(*batches, strict=True)
            counts = [len(arrays[0]) for arrays in parts]
            arrays = [np.concatenate(each) for each in zip(*parts, strict=True)]
            rows = sum(counts)
            columns: list[Column] = [
                np.arange(self.episodes + 1, self.episodes + rows + 1),
                np.repeat(steps, counts),
                np.repeat(seconds, counts),
                *(self._of_worlds(arrays) if role == _WORLD else self._of_agents(role, FinishedEpisodes(*arrays))),
            ]
            append(self._file, self._path, csv_rows(columns))
            self.episodes += rows

    def _of_worlds(self, arrays: list[np.ndarray]) -> list[Column]:
        arena, ticks, winner, *of_roles = arrays
        columns: list[Column] = [
            Words(np.where(arena < 0, len(self._arenas), arena), (*self._arenas, GENERATED)),
            ticks / self._ticks_per_s,
            Words(winner, self._winners),
        ]
        for terms, score, measures, opponent in zip(*(of_roles[part::4] for part in range(4)), strict=True):
            mean, scores = terms.mean(axis=1, dtype=np.float64), score.mean(axis=1, dtype=np.float64)
            columns += self._of_role(mean, scores, mean_of_agents(measures), opponent)
        return columns

    def _of_agents(self, role: str, found: FinishedEpisodes) -> list[Column]:
        rows = len(found.score)
        nothing = Words(np.full(rows, -1), ())
        columns: list[Column] = [nothing, found.length_ticks / self._ticks_per_s, nothing]
        for name in self._roles:
            if name == role:
                columns += self._of_role(found.terms, found.score, found.measures, np.zeros(rows, np.int64))
            else:
                columns += [nothing] * len(self._role_parts(name))
        return columns

    def _of_role(
        self, terms: np.ndarray, score: np.ndarray, measures: np.ndarray, opponent: np.ndarray
    ) -> list[Column]:
        columns: list[Column] = [terms.sum(axis=1), *(terms.T if self._terms else ()), score]
        columns += [_known(values) for values in measures.T]
        return [*columns, Words(opponent, self._opponents)]

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


def mean_of_agents(measures: np.ndarray) -> np.ndarray:
    """[K, n, M] to [K, M]: over the agents that report one, NaN where none does."""
    known = np.isfinite(measures)
    with np.errstate(invalid="ignore"):
        mean: np.ndarray = np.where(known, measures, 0.0).sum(axis=1) / known.sum(axis=1)
    return mean


def _known(values: np.ndarray) -> Column:
    """A column of numbers, empty where one is NaN."""
    is_known = np.isfinite(values)
    if is_known.all():
        return values
    return Words(np.where(is_known, np.arange(len(values)), -1), [f"{value:.6g}" for value in values])


def term_columns(terms: tuple[str, ...], measures: Collection[str] = ()) -> list[str]:
    """The columns of a reward's terms; none of a single one that is called `reward`, which would be there twice."""
    if terms == (REWARD,):
        return []
    return [f"{term}_term" if term in (REWARD, SCORE, AGAINST, *measures) else term for term in terms]
