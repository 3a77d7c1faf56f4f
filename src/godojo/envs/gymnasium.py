"""Tag for Gymnasium: one agent against a chosen opponent, alone (`TagEnv`) or many at once (`TagVectorEnv`)."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from godojo.envs.render import SceneRecorder, draw, scene_of
from godojo.envs.spaces import (
    MOST_SEED,
    ArenasLike,
    SettingsLike,
    action_space,
    checked_actions,
    checked_render_mode,
    checked_seed,
    observation_space,
)
from godojo.envs.versus import Match
from godojo.errors import GodojoError
from godojo.games.tag.settings import TICK_S, TagSettings

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class TagEnv(gymnasium.Env[Array, Array]):
    """One round of tag an episode; the learner is the first agent of `role`, everybody else is played by `opponent`.

    `role` is "seeker" or "hider", or "player" in classic tag. `opponent` is a name (`godojo.opponents.OPPONENTS`) or
    `file.py:Class`. Observations and actions are those of `godojo.games.tag.spec`.

    An episode terminates when the rules end it for the learner (caught, everybody caught, the clock) and is truncated
    only by `truncate_after` decisions (0: never) or by a wrapper. Its last `info` tells `is_success`, `winner`,
    `score`, `length_ticks`, `arena` and the reward's `terms`, if the whole round has ended.

    `engine` is "sim" (the embedded twin) or "godot" (the real one, which draws no pictures here); `engine_options` are
    the latter's, see `godojo.make_vec`. Should a game be lost, its round is truncated and the next one begins.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        role: str = "seeker",
        opponent: str = "random",
        *,
        engine: str = "sim",
        arenas: ArenasLike = None,
        settings: SettingsLike = None,
        generated_share: float = 0.0,
        truncate_after: int = 0,
        render_mode: str | None = None,
        engine_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.render_mode = checked_render_mode(render_mode, engine)
        self.match = Match(
            1,
            role=role,
            opponent=opponent,
            engine=engine,
            arenas=arenas,
            settings=settings,
            generated_share=generated_share,
            truncate_after=truncate_after,
            engine_options=engine_options,
        )
        self.metadata = {**type(self).metadata, "render_fps": _decisions_per_s(self.match.settings)}
        self.observation_space = observation_space(self.match.settings)
        self.action_space = action_space()
        self._eyewitness = SceneRecorder(self.match.worlds, 0) if self.render_mode else None
        self._is_over = True
        self._is_fresh = False

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (Gymnasium's)
    ) -> tuple[Array, dict[str, Any]]:
        """With a seed, everything begins anew; without, the next round begins. There are no `options`."""
        super().reset(seed=None if seed is None else checked_seed(seed))
        if seed is not None or not self._is_fresh:
            self.match.reset(int(self.np_random.integers(MOST_SEED)) if seed is None else int(seed))
        self._is_over, self._is_fresh = False, True
        return self.match.observation[0].copy(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        if self._is_over:
            raise GodojoError("there is no round to play: call reset() first")
        match = self.match
        checked = checked_actions(action, (match.worlds.roles[match.role].action.shape[2],))
        if self._eyewitness:
            self._eyewitness.remember()
        match.step(checked[None])
        terminated, truncated = bool(match.terminated[0]), bool(match.truncated[0])
        self._is_over = terminated or truncated
        self._is_fresh = bool(match.worlds.ended[0])
        info: dict[str, Any] = {}
        told = match.observation
        if self._is_fresh:
            told = match.final_observation
            info = _first(match.final_info(np.zeros(1, np.intp)))
        return told[0].copy(), float(match.reward[0]), terminated, truncated, info

    def render(self) -> Array | None:
        """The round from above. At the end of an episode, how it ended."""
        if self._eyewitness is None:
            raise GodojoError('to see pictures, make the environment with render_mode="rgb_array"')
        shows_end = self._is_over and self._is_fresh
        return draw(self._eyewitness.at_the_end() if shows_end else self._eyewitness.now())

    def close(self) -> None:
        self.match.close()


class TagVectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """Many rounds of tag at once, each like a `TagEnv`, stepped by one call of the engine.

    A round that ends begins anew within the same step (`AutoresetMode.SAME_STEP`): the observation is already the next
    round's, and `infos` holds `final_obs` and `final_info` for the worlds that ended, as Gymnasium has it. One seed
    seeds all worlds, each of which has a random stream of its own.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium declares it)
        "render_modes": ["rgb_array"],
        "render_fps": 15,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        role: str = "seeker",
        opponent: str = "random",
        *,
        engine: str = "sim",
        arenas: ArenasLike = None,
        settings: SettingsLike = None,
        generated_share: float = 0.0,
        truncate_after: int = 0,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        engine_options: Mapping[str, Any] | None = None,
    ) -> None:
        """`max_episode_steps` is Gymnasium's word for `truncate_after`."""
        self.closed = True  # there is nothing to close before the end of this
        self.render_mode = checked_render_mode(render_mode, engine)
        self.match = Match(
            num_envs,
            role=role,
            opponent=opponent,
            engine=engine,
            arenas=arenas,
            settings=settings,
            generated_share=generated_share,
            truncate_after=max_episode_steps or truncate_after,
            engine_options=engine_options,
        )
        check_rounds_end_together(self.match)
        self.num_envs = self.match.num_worlds
        self.single_observation_space = observation_space(self.match.settings)
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._has_begun = False
        self.closed = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """New rounds in all worlds. There are no `options`."""
        if options and "reset_mask" in options:
            raise GodojoError("single worlds cannot be reset: they begin their next round by themselves")
        super().reset(seed=None if seed is None else checked_seed(seed))
        self.match.reset(int(self.np_random.integers(MOST_SEED)) if seed is None else int(seed))
        self._has_begun = True
        return self.match.observation.copy(), {}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if not self._has_begun:
            raise GodojoError("there are no rounds to play: call reset() first")
        match = self.match
        match.step(actions)
        infos: dict[str, Any] = {}
        if match.worlds.ended.any():
            infos = self._infos_of_the_end(np.flatnonzero(match.worlds.ended))
        return match.observation.copy(), match.reward.copy(), match.terminated.copy(), match.truncated.copy(), infos

    def _infos_of_the_end(self, ended: Array) -> dict[str, Any]:
        """As SyncVectorEnv would put them: an entry for every world, and a mask of those that have one."""
        final_obs = np.full(self.num_envs, None, dtype=object)
        for world, told in zip(ended, self.match.final_observation[ended], strict=True):
            final_obs[world] = told
        final_info = self._spread(self.match.final_info(ended), ended)
        return {
            "final_obs": final_obs,
            "_final_obs": self._mask(ended),
            "final_info": final_info,
            "_final_info": self._mask(ended),
        }

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

    def render(self) -> tuple[Array, ...]:
        """Every world from above."""
        if self.render_mode is None:
            raise GodojoError('to see pictures, make the environment with render_mode="rgb_array"')
        return tuple(draw(scene_of(self.match.worlds, world)) for world in range(self.num_envs))

    def close_extras(self, **_: Any) -> None:
        self.match.close()


def check_rounds_end_together(match: Match) -> None:
    """An environment that resets itself needs the learner's episode to end with the round."""
    if match.may_leave_early:
        match.close()
        raise GodojoError(
            "one of several hiders may be caught long before its round ends, and a batch cannot wait for it: "
            'take rules.hiders=1, gym.make("godojo/Tag-v0") or godojo.envs.pettingzoo'
        )


def _first(values: dict[str, Any]) -> dict[str, Any]:
    """From arrays of one entry to that entry, as plain Python values."""
    return {
        key: _first(value) if isinstance(value, dict) else value[0] if value.dtype == object else value[0].item()
        for key, value in values.items()
    }


def _decisions_per_s(settings: TagSettings) -> int:
    return max(round(1.0 / (TICK_S * settings.rules.ticks_per_decision)), 1)
