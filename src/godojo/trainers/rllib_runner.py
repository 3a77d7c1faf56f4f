"""An RLlib EnvRunner that plays all worlds of a `Worlds` at once, and all its roles."""

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

import numba
import numpy as np
import torch

from godojo.cluster.messages import EndedEpisodes, EpisodeRecorder
from godojo.engines.base import RoleArrays, Worlds
from godojo.envs.spaces import ActionSpace, action_space, observation_space, unflattened
from godojo.envs.versus import Match
from godojo.extras import missing
from godojo.games.base import HELD_OUT_SEED
from godojo.learn.return_scale import ReturnScale
from godojo.learn.threads import one_thread
from godojo.runs.config import cores

try:
    import ray
    from gymnasium.spaces import Box, Dict
    from ray.rllib.core import COMPONENT_RL_MODULE
    from ray.rllib.core.columns import Columns
    from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
    from ray.rllib.env.env_runner import EnvRunner
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode
    from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer
    from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED, NUM_ENV_STEPS_SAMPLED_LIFETIME
except ImportError as error:
    raise missing("rllib") from error

WEIGHTS_TIMEOUT_S = 60.0


def spaces_of(role: RoleArrays) -> tuple[Box, ActionSpace]:
    """The spaces of a role's module; continuous and discrete actions together are a Box."""
    return observation_space(role), action_space(role, flatten=True)


class WorldsEnvRunner(EnvRunner):  # type: ignore[misc]  # Ray carries no types
    """Plays `n_steps` decisions in every world per call of `sample`.

    RLlib's own runners step one environment after the other, and cannot hold agents whose rounds restart within a step
    or that wait for others. Here an episode is a stretch of one agent's transitions: steps in which it did not act
    (`RoleArrays.acted`) are left out, and no transition spans the loss of a game.

    In the trainer's own process `attach` gives it the worlds; a Ray worker makes its own.
    """

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        super().__init__(config=config, **kwargs)
        self.settings = config.env_config["settings"]
        self._make_worlds: Callable[[int], Worlds] | None = config.env_config.get("make_worlds")
        self._spaces: dict[str, tuple[Box, ActionSpace]] = config.env_config["spaces"]
        spec = self.config.get_multi_rl_module_spec(spaces=self.get_spaces(), inference_only=True)
        self.module = spec.build()
        self.on_step: Callable[[Worlds], None] = lambda _: None
        self.worlds: Worlds | None = None
        self.rollouts: dict[str, RoleRollout] = {}
        self._match: Match | None = None
        self._recorder: EpisodeRecorder | None = None
        if self._make_worlds is not None and self.worker_index:
            numba.set_num_threads(max(cores() // self.num_workers, 1))
            generation = time.time_ns() if kwargs.get("recreated_worker") else 0
            sequence = np.random.SeedSequence([self._seed or 0, generation])
            seed = int(sequence.generate_state(1, np.uint64)[0]) % HELD_OUT_SEED
            self.attach(self._make_worlds(seed), seed)

    def attach(self, worlds: Worlds, seed: int) -> None:
        """Play in these worlds."""
        self.worlds = worlds
        settings = self.settings
        self.rollouts = {
            name: RoleRollout(worlds.roles[name], settings, f"{self.worker_index or 0}") for name in self._spaces
        }
        others = set(worlds.roles) - set(self.rollouts)
        if others:
            self._match = Match(worlds, settings.role, settings.opponent, game=worlds.game, every_agent=True)
            self._match.reset(seed)
        else:
            worlds.reset(seed)

    def sample(self, **_: Any) -> list[Any]:
        worlds = self.worlds
        assert worlds is not None, "attach comes first"
        if self.worker_index:
            self.on_step = self._recorder = EpisodeRecorder()
        with one_thread(), torch.no_grad():  # batches are too small for more threads
            for step in range(self.settings.n_steps):
                for name, rollout in self.rollouts.items():
                    rollout.act(step, self.module[name])
                if self._match is not None:
                    self._match.others_act()
                worlds.step()
                for rollout in self.rollouts.values():
                    rollout.add(step)
                self.on_step(worlds)
            episodes = [episode for rollout in self.rollouts.values() for episode in rollout.episodes()]
        steps = self.settings.n_steps * worlds.num_worlds
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED, steps, reduce="sum")
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED_LIFETIME, steps, reduce="lifetime_sum")
        return episodes

    def played(self) -> "Played | None":
        """The results of a Ray worker's last rollout; None if there was none."""
        if self._recorder is None:
            return None
        transitions = sum(rollout.transitions for rollout in self.rollouts.values())
        return Played(self.worker_index - 1, self._recorder.result(), transitions)

    def change_settings(self, settings: Any) -> None:
        """Play by these from now on."""
        if self.worlds is not None and self.worlds.settings != settings:
            self.worlds.change_settings(settings)

    def scales(self) -> dict[str, Any]:
        """The states of the reward scales, by role."""
        return {name: each.scale.state() for name, each in self.rollouts.items() if each.scale is not None}

    def load_scales(self, states: Mapping[str, Any]) -> None:
        for name, state in states.items():
            scale = self.rollouts[name].scale
            if scale is not None:
                scale.load_state(state, same_episodes=False)

    def get_metrics(self) -> Any:
        return self.metrics.reduce()

    def get_spaces(self) -> dict[str, Any]:
        observed, acted = (Dict({role: pair[i] for role, pair in self._spaces.items()}) for i in range(2))
        return {INPUT_ENV_SPACES: (observed, acted), INPUT_ENV_SINGLE_SPACES: (observed, acted), **self._spaces}

    def get_state(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {COMPONENT_RL_MODULE: self.module.get_state()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        found = state.get(COMPONENT_RL_MODULE)
        if isinstance(found, ray.ObjectRef):
            found = ray.get(found, timeout=WEIGHTS_TIMEOUT_S)
        if found is not None:
            self.module.set_state(found)

    def assert_healthy(self) -> None:
        assert self.module is not None

    def stop(self) -> None:
        if self._make_worlds is not None and self.worlds is not None:
            self.worlds.close()


class Played(NamedTuple):
    """What a worker's rollout brought, besides transitions."""

    worker: int
    ended: EndedEpisodes
    agent_steps: int


class RoleRollout:
    """The transitions of all agents of a role, [T, rows], and the episodes that they make up."""

    _numbers = count()

    def __init__(self, role: RoleArrays, settings: Any, worker: str) -> None:
        self._role, self._worker, steps = role, worker, settings.n_steps
        self._space = spaces_of(role)[1]
        rows = role.acted.size
        self.scale = ReturnScale(rows, settings.gamma) if settings.norm_reward else None
        self._observation = np.zeros((steps + 1, rows, role.observation.shape[2]), np.float32)
        self._final = np.zeros((steps, rows, role.observation.shape[2]), np.float32)
        self._action = np.zeros((steps, rows, *(self._space.shape or ())), self._space.dtype)
        self._reward = np.zeros((steps, rows), np.float32)
        self._outputs: dict[str, np.ndarray] = {}
        """Further outputs of the module, [T, rows, ...]."""
        self._acted, self._terminated, self._truncated = (np.zeros((steps, rows), np.bool_) for _ in range(3))

    @property
    def transitions(self) -> int:
        return int(np.count_nonzero(self._acted))

    def _rows(self, array: np.ndarray) -> np.ndarray:
        return array.reshape(-1, *array.shape[2:])

    def act(self, step: int, module: Any) -> None:
        """Write the module's actions into the worlds."""
        self._observation[step] = self._rows(self._role.observation)
        output = module.forward_exploration({Columns.OBS: torch.from_numpy(self._observation[step])})
        inputs = output[Columns.ACTION_DIST_INPUTS]
        distribution = module.get_exploration_action_dist_cls().from_logits(inputs)
        action = distribution.sample()
        self._keep(step, Columns.ACTION_DIST_INPUTS, inputs.numpy())
        self._keep(step, Columns.ACTION_LOGP, distribution.logp(action).numpy())
        self._action[step] = action.numpy()
        self._rows(self._role.action)[:] = self._to_worlds(self._action[step])

    def _to_worlds(self, action: np.ndarray) -> np.ndarray:
        if not isinstance(self._space, Box):
            return action.reshape(len(action), -1)
        clipped = action.clip(self._space.low, self._space.high)
        is_mixed = len({part.kind for part in self._role.action_parts}) > 1
        return unflattened(clipped, self._role) if is_mixed else clipped

    def _keep(self, step: int, name: str, values: np.ndarray) -> None:
        if name not in self._outputs:
            self._outputs[name] = np.zeros((len(self._action), *values.shape), values.dtype)
        self._outputs[name][step] = values

    def add(self, step: int) -> None:
        """Take over the results of a step of the worlds."""
        role = self._role
        self._reward[step] = self._rows(role.reward)
        self._acted[step] = self._rows(role.acted)
        self._terminated[step] = self._rows(role.terminated)
        self._truncated[step] = self._rows(role.truncated)
        over = self._terminated[step] | self._truncated[step]
        self._final[step, over] = self._rows(role.final_observation)[over]

    def episodes(self) -> Iterator[Any]:
        """The rollout in RLlib's form."""
        self._observation[-1] = self._rows(self._role.observation)
        over = self._terminated | self._truncated
        reward = self._reward
        if self.scale is not None:
            reward = self.scale.scaled(torch.from_numpy(reward), torch.from_numpy(over)).numpy()
        breaks = over | ~self._acted
        breaks[-1] = True
        for row in range(reward.shape[1]):
            begin = 0
            for step in np.flatnonzero(breaks[:, row]).tolist():
                end = step + 1 if self._acted[step, row] else step
                if end > begin:
                    yield self._episode(row, begin, end, reward, is_over=bool(over[end - 1, row]))
                begin = step + 1

    def _episode(self, row: int, begin: int, end: int, reward: np.ndarray, *, is_over: bool) -> Any:
        observed = self._observation[begin : end + 1, row].copy()
        if is_over:
            observed[-1] = self._final[end - 1, row]
        terminated = bool(self._terminated[end - 1, row])
        number = next(self._numbers)
        return SingleAgentEpisode(
            observations=InfiniteLookbackBuffer(observed),
            actions=InfiniteLookbackBuffer(self._action[begin:end, row].copy()),
            rewards=InfiniteLookbackBuffer(reward[begin:end, row].copy()),
            extra_model_outputs={
                name: InfiniteLookbackBuffer(values[begin:end, row].copy()) for name, values in self._outputs.items()
            },
            terminated=terminated,
            truncated=is_over and not terminated,
            len_lookback_buffer=0,
            agent_id=f"{self._role.name}_{row}",
            module_id=self._role.name,
            multi_agent_episode_id=f"{self._worker}-{number}",
        )
