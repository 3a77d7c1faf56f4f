"""Any game for Stable-Baselines3: a VecEnv over a batch of worlds, one agent in each against a chosen opponent."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.envs.spaces import checked_render_mode, checked_seed
from godojo.envs.versus import Match
from godojo.errors import GodojoError
from godojo.extras import missing

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise missing("sb3") from error

Indices = int | Iterable[int] | None


class WorldsVecEnv(VecEnv):
    """A VecEnv over worlds that exist: `WorldsVecEnv(godojo.open_game("my_project", ...))`.

    In the step in which a world's round ends, its `info` holds `terminal_observation`, `TimeLimit.truncated` and
    `is_success`, `winner`, `score`, `length_ticks`, `arena`, `terms/...`. Returned arrays are never written to again.
    The worlds are one batch: they share their attributes, and have no methods of their own.
    """

    def __init__(self, worlds: Worlds | Match, seed: int | None = None, render_mode: str | None = None) -> None:
        """`seed` holds for the first `reset`, like a call of `seed()`."""
        self.match = worlds if isinstance(worlds, Match) else Match(worlds)
        self.render_mode = render_mode
        super().__init__(self.match.num_rows, self.match.observation_space, self.match.action_space)
        self._camera = self.match.camera() if render_mode else None
        self._has_begun = False
        if seed is not None:
            self.seed(seed)

    def reset(self) -> np.ndarray:
        seed = self._seeds[0]
        if seed is not None:
            self.match.chance = np.random.default_rng(seed)
        self.match.reset(seed)
        if self._camera:
            self._camera.reset()
        self._reset_seeds()
        self._reset_options()
        self._has_begun = True
        return self.match.observed()

    def step_async(self, actions: np.ndarray) -> None:
        if not self._has_begun:
            raise GodojoError("there are no rounds to play: call reset() first")
        self.match.start(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        match = self.match
        match.finish()
        match.check_episodes_end_with_rounds()
        if self._camera:
            self._camera.advance()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]  # Stable-Baselines3 wants one each, to keep
        if match.over.any():
            ended = np.flatnonzero(match.over)
            rounds = match.final_info(ended)
            terms = rounds.pop("terms")
            columns = {**rounds, **{f"terms/{name}": values for name, values in terms.items()}}
            columns["TimeLimit.truncated"] = match.truncated[ended] & ~match.terminated[ended]
            last = match.observed_last(ended)
            for place, world in enumerate(ended):
                infos[world] = {name: _plain(values[place]) for name, values in columns.items()}
                infos[world]["terminal_observation"] = last[place].copy()
        return match.observed(), match.reward.copy(), match.terminated | match.truncated, infos

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """One seed for all worlds, each of which has its own random stream; used by the next `reset`."""
        return super().seed(None if seed is None else checked_seed(seed))

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """All worlds share one set of attributes: those of this object."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        if indices is not None:
            raise GodojoError("all worlds share their attributes: omit indices to set one for all")
        setattr(self, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *_: Any,
        indices: Indices = None,  # noqa: ARG002 (Stable-Baselines3's)
        **__: Any,
    ) -> list[Any]:
        raise GodojoError(f"the worlds of a batch have no methods of their own, so there is no {method_name!r} to call")

    def env_is_wrapped(
        self,
        wrapper_class: type[Any],  # noqa: ARG002 (Stable-Baselines3's)
        indices: Indices = None,
    ) -> list[bool]:
        """Never: wrap the whole, as in VecMonitor(env)."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        assert self._camera is not None
        return [self._camera.picture(world) for world in range(self.num_envs)]

    def close(self) -> None:
        self.match.close()


class GameVecEnv(WorldsVecEnv):
    """Like `godojo.envs.gymnasium.GameVectorEnv`, in the words of Stable-Baselines3."""

    def __init__(
        self,
        game: str,
        num_envs: int,
        role: str | None = None,
        opponent: str | None = None,
        *,
        engine: str = "sim",
        seed: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        mode = checked_render_mode(render_mode, engine)
        super().__init__(Match.make(game, num_envs, role, opponent, engine=engine, **options), seed, mode)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
