"""One agent of every world for a learner, all others for an opponent: what the single-agent environments share."""

from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.envs.render import Camera
from godojo.envs.spaces import (
    MAX_SEED,
    ArenasLike,
    SettingsLike,
    action_space,
    checked_actions,
    make_worlds,
    observation_space,
    unflattened,
)
from godojo.errors import GodojoError
from godojo.games.settings import TICK_S
from godojo.opponents import Opponent, is_scripted, make_opponent, scripted_opponents

RANDOM = "random"
"""An opponent of every game: random actions where the game has none of that name."""


class Match:
    """Worlds in which the first agent of `role` is the learner's, and `opponent` plays all others of all roles.

    Its arrays have one row a world, and are views of the engine's: the next step overwrites them. With `every_agent`
    all agents of the role are the learner's, one row each, and their episodes may end apart. With `flatten`, continuous
    and discrete actions together are a Box (`spaces.action_space`).
    """

    def __init__(
        self,
        worlds: Worlds,
        role: str | None = None,
        opponent: str | None = None,
        *,
        game: str = "",
        every_agent: bool = False,
        flatten: bool = False,
    ) -> None:
        role = role or next(iter(worlds.roles))
        if role not in worlds.roles:
            worlds.close()
            raise GodojoError(f"there is no role {role!r}; there is: {', '.join(worlds.roles)}")
        self.worlds, self.role, self.game = worlds, role, game
        self.opponent = opponent or next(iter(scripted_opponents(game)), "")
        self.every_agent = every_agent
        own = worlds.roles[role].action.shape[1] if every_agent else 1
        self.others = [name for name, each in worlds.roles.items() if each.action.shape[1] > own * (name == role)]
        if self.others and not self.opponent:
            worlds.close()
            raise GodojoError(
                f"{game or 'this game'} has several agents and no scripted opponents: give one as "
                "opponent='file.py:Class', or use godojo.envs.pettingzoo"
            )
        self._opponents: list[Opponent] = []
        self.num_worlds, self.num_rows = worlds.num_worlds, worlds.num_worlds * own
        arrays = worlds.roles[role]
        self.observation_space = observation_space(arrays)
        self.action_space = action_space(arrays, flatten=flatten)
        self._is_flat = flatten and len({part.kind for part in arrays.action_parts}) > 1
        self.action = self._rows(arrays.action)
        self.observation = self._rows(arrays.observation)
        self.reward = self._rows(arrays.reward)
        self.terminated = self._rows(arrays.terminated)
        self.truncated = self._rows(arrays.truncated)
        self.final_observation = self._rows(arrays.final_observation)
        self.chance = np.random.default_rng()

    def _rows(self, array: np.ndarray) -> np.ndarray:
        """The learner's part of a role's array, as a view."""
        return array.reshape(-1, *array.shape[2:]) if self.every_agent else array[:, 0]

    @property
    def over(self) -> np.ndarray:
        """bool [rows]: the row's episode ended in the last step, and another started."""
        return self.terminated | self.truncated if self.every_agent else self.worlds.ended

    @classmethod
    def make(
        cls,
        game: str,
        num_worlds: object,
        role: str | None,
        opponent: str | None,
        *,
        engine: str = "sim",
        arenas: ArenasLike = None,
        settings: SettingsLike = None,
        **options: Any,
    ) -> "Match":
        """In new worlds; options are those of `make_vec`."""
        if opponent is not None and not isinstance(opponent, str):
            raise GodojoError(f"an opponent is given by its name, or as file.py:Class, not as {opponent!r}")
        if opponent is not None:
            make_opponent(opponent, role or "", game=game)  # fails now rather than in reset
        worlds = make_worlds(game, num_worlds, engine=engine, arenas=arenas, settings=settings, **options)
        return cls(worlds, role, opponent, game=game)

    @property
    def decisions_per_s(self) -> int:
        return max(round(1.0 / (TICK_S * self.worlds.ticks_per_decision)), 1)

    def camera(self) -> Camera:
        return Camera(self.worlds, self.game)

    def reset(self, seed: int | None = None) -> None:
        """New rounds everywhere; the same seed gives the same rounds and the same opponents."""
        seed = int(self.chance.integers(MAX_SEED)) if seed is None else int(seed)
        self.worlds.reset(seed)
        self._opponents = [self._player(name, seed) for name in self.others]
        for player in self._opponents:
            player.begin(self.worlds)

    def _player(self, role: str, seed: int) -> Opponent:
        if is_scripted(self.opponent, self.game) or ".py" in self.opponent:
            return make_opponent(self.opponent, role, seed, game=self.game)
        if self.opponent == RANDOM:
            from godojo.evaluation.external import RandomPlayer  # these load torch

            return RandomPlayer(role, seed)
        from godojo.evaluation.players import players_of
        from godojo.export.players import SHIPPED

        found = players_of(self.opponent, seed=seed, deterministic=False, files=SHIPPED)
        if role not in found:
            raise GodojoError(f"{self.opponent} plays the {' and the '.join(found)}, not the {role}")
        return found[role]

    def observed(self, rows: Any = slice(None)) -> np.ndarray:
        """A copy of the observations, within the space."""
        return self._within(self.observation[rows])

    def observed_last(self, rows: Any) -> np.ndarray:
        """The same of the last observations of rounds that ended."""
        return self._within(self.final_observation[rows])

    def _within(self, observation: np.ndarray) -> np.ndarray:
        """A crowd may push an agent beyond the bounds that its game declares; bounds of other projects are a guess."""
        if not self.game:
            return observation.copy()
        return np.asarray(observation.clip(self.observation_space.low, self.observation_space.high))

    def step(self, actions: object) -> None:
        """One decision in every world, by the learner's actions, [N, size]."""
        self.start(actions)
        self.finish()

    def start(self, actions: object) -> None:
        """The first half of `step`: sends the actions and returns."""
        shape = (len(self.action), *(self.action_space.shape or ())) if self._is_flat else self.action.shape
        checked = checked_actions(actions, shape, self.action_space)
        for player in self._opponents:
            player.act(self.worlds, self.worlds.roles[player.role].action)
        self.action[:] = unflattened(checked, self.worlds.roles[self.role]) if self._is_flat else checked
        self.worlds.start()

    def finish(self) -> None:
        """The second half: waits until the arrays are the new ones."""
        self.worlds.finish()

    def check_episodes_end_with_rounds(self) -> None:
        """A batch resets itself with its rounds, so it cannot hold a learner that has left an unfinished one."""
        if self.every_agent:
            waits = ~self._rows(self.worlds.roles[self.role].acted) & ~self.over
            if waits.any():
                raise GodojoError(
                    f"agents of the {self.role} wait for the others at the end of a round, and here every agent must"
                    " act at every step; train with the built-in trainer"
                )
            return
        left = (self.terminated | self.truncated) & ~self.worlds.ended
        if left.any():
            raise GodojoError(
                f"this {self.role} is out before its round has ended, and a batch cannot wait: have one agent "
                "in the role, or use gym.make or godojo.envs.pettingzoo"
            )

    def final_info(self, ended: np.ndarray) -> dict[str, Any]:
        """About rounds that ended in the rows of these indices: arrays of one entry each."""
        worlds, arrays = self.worlds, self.worlds.roles[self.role]
        if self.every_agent:
            return self._final_info_of_agents(ended)
        scores = arrays.final_score[ended]
        names = np.array([*worlds.arena_names, "generated"], dtype=object)  # -1 is the last
        winner = np.array(worlds.winners, dtype=object)[worlds.winner[ended]]
        won = winner == self.role
        if self.role not in worlds.winners and scores.shape[1] > 1:  # the best score wins, a shared one is a draw
            won = (scores[:, 0] > scores[:, 1:].max(axis=1)) & arrays.terminated[ended, 0]
        terms = enumerate(worlds.reward_terms)
        return {
            "is_success": won.astype(np.bool_),
            "winner": winner,
            "score": scores[:, 0].astype(np.float64),
            "length_ticks": worlds.length_ticks[ended].astype(np.int64),
            "arena": names[worlds.arena[ended]],
            "terms": {term: arrays.final_terms[ended, 0, place].astype(np.float64) for place, term in terms},
        }

    def _final_info_of_agents(self, ended: np.ndarray) -> dict[str, Any]:
        arrays = self.worlds.roles[self.role]
        terms = self._rows(arrays.final_terms)[ended].astype(np.float64)
        found: dict[str, Any] = {
            "score": self._rows(arrays.final_score)[ended].astype(np.float64),
            "terms": {term: terms[:, place] for place, term in enumerate(self.worlds.reward_terms)},
        }
        if arrays.final_measures is not None:
            for place, measure in enumerate(arrays.measures):
                values = self._rows(arrays.final_measures)[ended, place]
                if np.isfinite(values).all():
                    name = "is_success" if measure.name == "success" else measure.name
                    found[name] = values > 0.5 if measure.kind == "bool" else values.astype(np.float64)
        return found

    def close(self) -> None:
        self.worlds.close()
