"""Any game for Gymnasium: one agent against a chosen opponent, one round (`GameEnv`) or many (`GameVectorEnv`)."""

from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from godojo.engines.base import Worlds
from godojo.envs.render import NO_PICTURES
from godojo.envs.spaces import checked_render_mode, checked_seed
from godojo.envs.versus import RANDOM, Match
from godojo.errors import GodojoError

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class GameEnv(gymnasium.Env[Array, Array]):
    """One round of a game an episode; the learner is the first agent of `role`, `opponent` plays all others.

    An episode terminates when the rules end it for the learner, and is truncated only by `truncate_after` decisions
    (0: never) or by a wrapper. Its last `info` has `is_success`, `winner`, `score`, `length_ticks`, `arena` and the
    reward's `terms`, if the whole round has ended.

    Args:
        game: The game's name.
        role: One of its roles; the first by default.
        opponent: A scripted opponent's name or `file.py:Class`; the game's first by default, none if it has one agent.
        engine: `"sim"` (the embedded twin) or `"godot"` (the real engine, which draws no pictures here).
        arenas: Arenas or courses, their names, files or folders; one or several.
        settings: The game's settings, or some values by path.
        render_mode: `"rgb_array"` for pictures from above.
        options: Further options of `godojo.make_vec`, such as `truncate_after`. Should a game process be lost, its
            round is truncated and the next one begins.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        game: str,
        role: str | None = None,
        opponent: str | None = None,
        *,
        engine: str = "sim",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.render_mode = checked_render_mode(render_mode, engine)
        self.match = Match.make(game, 1, role, opponent, engine=engine, **options)
        self.metadata = {**type(self).metadata, "render_fps": self.match.decisions_per_s}
        self.observation_space = self.match.observation_space
        self.action_space: Any = self.match.action_space
        self._camera = self.match.camera() if self.render_mode else None
        self._is_over = True
        self._is_fresh = False

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (Gymnasium's)
    ) -> tuple[Array, dict[str, Any]]:
        """With a seed, all random streams restart; without, the next round begins. There are no `options`."""
        super().reset(seed=None if seed is None else checked_seed(seed))
        self.match.chance = self.np_random
        if seed is not None or not self._is_fresh:
            self.match.reset(seed)
        if self._camera:
            self._camera.reset()
        self._is_over, self._is_fresh = False, True
        return self.match.observed(0), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        if self._is_over:
            raise GodojoError("there is no round to play: call reset() first")
        match = self.match
        if self._camera:
            self._camera.remember()
        match.step(np.asarray(action)[None])
        if self._camera:
            self._camera.advance()
        terminated, truncated = bool(match.terminated[0]), bool(match.truncated[0])
        self._is_over = terminated or truncated
        self._is_fresh = bool(match.worlds.ended[0])
        info = _first(match.final_info(np.zeros(1, np.intp))) if self._is_fresh else {}
        observation = match.observed_last(0) if self._is_fresh else match.observed(0)
        return observation, float(match.reward[0]), terminated, truncated, info

    def render(self) -> Array | None:  # type: ignore[override]
        """The round from above. At the end of an episode, how it ended."""
        if self._camera is None:
            raise GodojoError(NO_PICTURES)
        return self._camera.picture(at_the_end=self._is_over and self._is_fresh)

    def close(self) -> None:
        self.match.close()


class WorldsVectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """A vector environment over worlds that exist: `WorldsVectorEnv(godojo.open_game("my_project"))`.

    In an external game every agent of the first role is an environment, and others act at random.

    A round that ends restarts within the same step (`AutoresetMode.SAME_STEP`): the observation is already the next
    round's, and `infos` holds `final_obs` and `final_info` for the worlds that ended, as Gymnasium has it. One seed
    seeds all worlds, each of which has its own random stream. `max_episode_steps` is Gymnasium's word for
    `truncate_after`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium declares it)
        "render_modes": ["rgb_array"],
        "render_fps": 15,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(self, worlds: Worlds | Match, render_mode: str | None = None) -> None:
        self.closed = True  # there is nothing to close until everything is made
        self.render_mode = render_mode
        if isinstance(worlds, Match):
            self.match = worlds
        else:
            self.match = Match(worlds, opponent=RANDOM, game=worlds.game, every_agent=not worlds.game)
        self.num_envs = self.match.num_rows
        self.single_observation_space = self.match.observation_space
        self.single_action_space = self.match.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._camera = self.match.camera() if self.render_mode else None
        self._has_begun = False
        self.closed = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """New rounds in all worlds. There are no `options`."""
        if options and "reset_mask" in options:
            raise GodojoError("single worlds cannot be reset: they begin their next round by themselves")
        super().reset(seed=None if seed is None else checked_seed(seed))
        self.match.chance = self.np_random
        self.match.reset(seed)
        if self._camera:
            self._camera.reset()
        self._has_begun = True
        return self.match.observed(), {}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if not self._has_begun:
            raise GodojoError("there are no rounds to play: call reset() first")
        match = self.match
        match.step(actions)
        match.check_episodes_end_with_rounds()
        if self._camera:
            self._camera.advance()
        infos: dict[str, Any] = {}
        if match.over.any():
            infos = self._final_infos(np.flatnonzero(match.over))
        return match.observed(), match.reward.copy(), match.terminated.copy(), match.truncated.copy(), infos

    def _final_infos(self, ended: Array) -> dict[str, Any]:
        """As SyncVectorEnv has them: an entry for every world, and a mask of those that have one."""
        final_obs = np.full(self.num_envs, None, dtype=object)
        for world, observation in zip(ended, self.match.observed_last(ended), strict=True):
            final_obs[world] = observation
        final_info = self._spread(self.match.final_info(ended), ended)
        mask = self._mask(ended)
        return {"final_obs": final_obs, "_final_obs": mask, "final_info": final_info, "_final_info": mask.copy()}

    def _spread(self, values: dict[str, Any], ended: Array) -> dict[str, Any]:
        """From one entry for each world that ended to one for every world."""
        spread: dict[str, Any] = {}
        for key, value in values.items():
            if isinstance(value, dict):
                spread[key] = self._spread(value, ended)
            else:
                spread[key] = np.full(self.num_envs, None if value.dtype == object else 0, dtype=value.dtype)
                spread[key][ended] = value
            spread[f"_{key}"] = self._mask(ended)
        return spread

    def _mask(self, ended: Array) -> Array:
        mask = np.zeros(self.num_envs, np.bool_)
        mask[ended] = True
        return mask

    def render(self) -> tuple[Array, ...]:  # type: ignore[override]
        """Every world from above."""
        if self._camera is None:
            raise GodojoError(NO_PICTURES)
        return tuple(self._camera.picture(world) for world in range(self.num_envs))

    def close_extras(self, **_: Any) -> None:
        self.match.close()


class GameVectorEnv(WorldsVectorEnv):
    """Many rounds at once, each like a `GameEnv`, stepped by one call of the engine; see `WorldsVectorEnv`."""

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        role: str | None = None,
        opponent: str | None = None,
        *,
        engine: str = "sim",
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        **options: Any,
    ) -> None:
        self.closed = True
        mode = checked_render_mode(render_mode, engine)
        if max_episode_steps:
            options["truncate_after"] = max_episode_steps
        super().__init__(Match.make(game, num_envs, role, opponent, engine=engine, **options), mode)


def _first(values: dict[str, Any]) -> dict[str, Any]:
    """From arrays of one entry to that entry, as plain Python values."""
    return {
        key: _first(value) if isinstance(value, dict) else value[0] if value.dtype == object else value[0].item()
        for key, value in values.items()
    }
