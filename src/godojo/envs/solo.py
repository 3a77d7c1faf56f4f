"""Any game with a single agent for Gymnasium, over a world on whatever engine: `gym.make("godojo/Navigation-v0")`."""

from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from godojo.engines.base import RoleArrays, Worlds
from godojo.engines.make import make_vec
from godojo.envs.spaces import MOST_SEED, checked_actions, checked_seed
from godojo.errors import GodojoError

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def only_agent(worlds: Worlds) -> RoleArrays:
    """The one role, of one agent whose actions are numbers; others are refused."""
    (role, *others) = worlds.roles.values()
    if others or role.action.shape[1] != 1 or any(part.kind != "continuous" for part in role.action_parts):
        raise GodojoError("this game is not played by one agent alone with continuous actions")
    return role


def spaces_of(role: RoleArrays) -> tuple[Box, Box]:
    """What is observed and what is done."""
    low = np.concatenate([np.full(part.size, part.low, np.float32) for part in role.observation_parts])
    high = np.concatenate([np.full(part.size, part.high, np.float32) for part in role.observation_parts])
    return Box(low, high, dtype=np.float32), Box(-1.0, 1.0, (role.action.shape[2],), np.float32)


def end_of(worlds: Worlds, role: RoleArrays, world: int) -> dict[str, Any]:
    """What there is to say of a round that ended."""
    names = (*worlds.arena_names, "generated")  # -1 is the last
    winner = worlds.winners[worlds.winner[world]]
    terms = zip(worlds.reward_terms, role.final_terms[world, 0].tolist(), strict=True)
    return {
        "is_success": winner == role.name,
        "winner": winner,
        "score": float(role.final_score[world, 0]),
        "length_ticks": int(worlds.length_ticks[world]),
        "arena": names[worlds.arena[world]],
        **{f"terms/{name}": value for name, value in terms},
    }


class SoloEnv(gymnasium.Env[Array, Array]):
    """One round an episode. `options` are those of `godojo.make_vec` (`settings`, `engine`, ...)."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(self, game: str = "navigation", *, worlds: Worlds | None = None, **options: Any) -> None:
        """`worlds`, one of them, instead of a game by name."""
        self.worlds = make_vec(game, num_worlds=1, **options) if worlds is None else worlds
        self.role = only_agent(self.worlds)
        if self.worlds.num_worlds != 1:
            raise GodojoError(f"one environment plays in one world, not in {self.worlds.num_worlds}")
        self.observation_space, self.action_space = spaces_of(self.role)
        self._is_over, self._is_fresh = True, False

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (Gymnasium's)
    ) -> tuple[Array, dict[str, Any]]:
        """With a seed, everything begins anew; without, the next round begins. There are no `options`."""
        super().reset(seed=None if seed is None else checked_seed(seed))
        if seed is not None or not self._is_fresh:
            self.worlds.reset(int(self.np_random.integers(MOST_SEED)) if seed is None else int(seed))
        self._is_over, self._is_fresh = False, True
        return self.role.observation[0, 0].copy(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        if self._is_over:
            raise GodojoError("there is no round to play: call reset() first")
        role = self.role
        role.action[0, 0] = checked_actions(action, role.action.shape[2:])
        self.worlds.step()
        terminated, truncated = bool(role.terminated[0, 0]), bool(role.truncated[0, 0])
        self._is_over = self._is_fresh = terminated or truncated
        told = role.final_observation if self._is_over else role.observation
        info = end_of(self.worlds, role, 0) if self._is_over else {}
        return told[0, 0].copy(), float(role.reward[0, 0]), terminated, truncated, info

    def close(self) -> None:
        self.worlds.close()
