"""One agent of every world for a learner, everybody else for an opponent: what the single-agent environments share."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.envs.spaces import (
    ArenasLike,
    SettingsLike,
    arenas_from,
    checked_actions,
    checked_engine_options,
    settings_from,
)
from godojo.errors import GodojoError
from godojo.games.tag.spec import ACTION_SIZE, roles
from godojo.opponents import Opponent, make_opponent


class Match:
    """Worlds in which the first agent of `role` is the learner's, and `opponent` plays all others of both roles.

    Its arrays have one row a world, and are views of the engine's: the next step writes over them.
    """

    def __init__(
        self,
        num_worlds: int,
        *,
        role: str = "seeker",
        opponent: str = "random",
        engine: str = "sim",
        arenas: ArenasLike = None,
        settings: SettingsLike = None,
        generated_share: float = 0.0,
        truncate_after: int = 0,
        engine_options: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(num_worlds, bool) or not isinstance(num_worlds, int | np.integer) or num_worlds < 1:
            raise GodojoError(f"there must be at least one environment, not {num_worlds!r}")
        self.settings = settings_from(settings)
        known = [each.name for each in roles(self.settings)]
        if role not in known:
            mode = self.settings.rules.mode
            raise GodojoError(f"there is no role {role!r} with rules.mode={mode}; there is: {', '.join(known)}")
        if not isinstance(opponent, str):
            raise GodojoError(f"an opponent is given by its name, or as file.py:Class, not as {opponent!r}")
        self.role = role
        self.opponent = opponent
        self._opponents: list[Opponent] = [make_opponent(opponent, role, game="tag")]  # fails now rather than in reset
        self.worlds: Worlds = make_vec(
            "tag",
            engine=engine,
            num_worlds=int(num_worlds),
            settings=self.settings,
            arenas=arenas_from(arenas, self.settings),
            generated_share=generated_share,
            truncate_after=truncate_after,
            **checked_engine_options(engine_options),
        )
        self.num_worlds = self.worlds.num_worlds
        arrays = self.worlds.roles[role]
        self.observation = arrays.observation[:, 0]
        self.reward = arrays.reward[:, 0]
        self.terminated = arrays.terminated[:, 0]
        self.truncated = arrays.truncated[:, 0]
        self.final_observation = arrays.final_observation[:, 0]

    @property
    def may_leave_early(self) -> bool:
        """Whether the learner can be out while the round goes on: as one of several hiders."""
        return self.role == "hider" and self.settings.rules.hiders > 1

    def reset(self, seed: int) -> None:
        """New rounds everywhere; the same seed gives the same rounds and the same opponents."""
        self.worlds.reset(seed)
        self._opponents = [
            make_opponent(self.opponent, name, seed, game="tag")
            for name, arrays in self.worlds.roles.items()
            if arrays.action.shape[1] > (name == self.role)
        ]
        for player in self._opponents:
            player.begin(self.worlds)

    def step(self, actions: object) -> None:
        """One decision in every world: [N, 3] for the learner."""
        self.start(actions)
        self.finish()

    def start(self, actions: object) -> None:
        """The first half of `step`: hands the actions over and returns."""
        checked = checked_actions(actions, (self.num_worlds, ACTION_SIZE))
        for player in self._opponents:
            player.act(self.worlds, self.worlds.roles[player.role].action)
        self.worlds.roles[self.role].action[:, 0] = checked
        self.worlds.start()

    def finish(self) -> None:
        """The second half: waits until the arrays are the new ones."""
        self.worlds.finish()

    def final_info(self, ended: np.ndarray) -> dict[str, Any]:
        """What there is to say of rounds that ended, for the worlds of these indices: arrays of one entry each."""
        worlds, arrays = self.worlds, self.worlds.roles[self.role]
        scores = arrays.final_score[ended]
        names = np.array([*worlds.arena_names, "generated"], dtype=object)  # -1 is the last
        winner = np.array(worlds.winners, dtype=object)[worlds.winner[ended]]
        won = winner == self.role
        if self.settings.rules.mode == "classic":  # the best score wins, a shared one is a draw
            won = (scores[:, 0] > scores[:, 1:].max(axis=1)) & arrays.terminated[ended, 0]
        return {
            "is_success": won.astype(np.bool_),
            "winner": winner,
            "score": scores[:, 0].astype(np.float64),
            "length_ticks": worlds.length_ticks[ended].astype(np.int64),
            "arena": names[worlds.arena[ended]],
            "terms": {
                term: arrays.final_terms[ended, 0, place].astype(np.float64)
                for place, term in enumerate(worlds.reward_terms)
            },
        }

    def close(self) -> None:
        self.worlds.close()
