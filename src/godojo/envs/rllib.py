"""Any game for RLlib's new API stack: every agent of one environment, or one agent in each of many.

Both classes are given to RLlib as they are, with their arguments as `env_config`:

    PPOConfig().environment(GameMultiAgentEnv, env_config={"game": "tag"})
    PPOConfig().environment(GameVectorEnv, env_config={"game": "navigation"}).env_runners(
        num_envs_per_env_runner=64, gym_env_vectorize_mode="vector_entry_point"
    )

When a game process is lost, `step` raises the error by which RLlib recreates the environment; set
`fault_tolerance(restart_failed_sub_environments=True)`.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from gymnasium.vector import AutoresetMode

from godojo.engines.base import Worlds
from godojo.engines.godot.restarts import IN_A_ROW, GameLost
from godojo.engines.make import open_game
from godojo.envs.gymnasium import WorldsVectorEnv
from godojo.envs.spaces import MAX_SEED, action_space, checked_actions, checked_seed, make_worlds, observation_space
from godojo.envs.spaces import unflattened as to_worlds
from godojo.envs.versus import RANDOM, Match
from godojo.errors import GodojoError
from godojo.extras import missing

try:
    from ray.rllib.env.env_errors import StepFailedRecreateEnvError
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    raise missing("rllib") from error

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
ALL = "__all__"
_lost: Counter[str] = Counter()
"""By game, empty for projects: losses in a row in this process, without a good step in between."""


class GameMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]  # Ray carries no types
    """All agents of a game, named by role: `seeker_0`, ..., `hider_0`, ...; map them to policies by `role_of`.

    An agent that terminates or is truncated leaves with its last observation and reward, and the others play on. When
    none is left the episode ends; in a project whose agents end apart, early ones wait for the others until then.

    `config` has `game` (and the arguments of `godojo.envs.pettingzoo.GameParallelEnv`), or `project` (and the
    arguments of `godojo.open_game`). Worlds that exist may be given in place of it.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(self, config: Mapping[str, Any] | Worlds) -> None:
        self.worlds = config if isinstance(config, Worlds) else _open(config)
        self._rows = {
            f"{name}_{row}": (arrays, row)
            for name, arrays in self.worlds.roles.items()
            for row in range(arrays.acted.size)
        }
        self.possible_agents = list(self._rows)
        self.agents = self.possible_agents[:]
        self.observation_spaces = {agent: observation_space(arrays) for agent, (arrays, _) in self._rows.items()}
        self.action_spaces = {agent: action_space(arrays, flatten=True) for agent, (arrays, _) in self._rows.items()}
        self._is_fresh = True
        super().__init__()

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 (Gymnasium's)
    ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """A new round in every world; the same seed gives the same rounds from here on. There are no `options`."""
        super().reset(seed=None if seed is None else checked_seed(seed))
        if seed is not None or not self._is_fresh:
            self.worlds.reset(int(self.np_random.integers(MAX_SEED)) if seed is None else int(seed))
        self.agents, self._is_fresh = self.possible_agents[:], False
        return {agent: self._observed(agent) for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        for agent, action in actions.items():
            arrays, row = self._rows[agent]
            space, flat = self.action_spaces[agent], _flat(arrays.action)
            if (space.shape or (1,)) == flat.shape[1:]:
                flat[row] = checked_actions(action, flat.shape[1:], space)
            else:
                flat[row] = to_worlds(checked_actions(action, space.shape or (), space)[None], arrays)[0]
        _step(self.worlds)
        ended = {agent: self._is_over(agent) for agent in self.agents}
        observations = {agent: self._observed(agent, last=any(ended[agent])) for agent in ended}
        rewards = {agent: float(_flat(self._rows[agent][0].reward)[self._rows[agent][1]]) for agent in ended}
        infos = {agent: self._final_info(agent) if any(over) else {} for agent, over in ended.items()}
        terminated = {agent: is_terminated for agent, (is_terminated, _) in ended.items()}
        truncated = {agent: is_truncated for agent, (_, is_truncated) in ended.items()}
        self.agents = [agent for agent, over in ended.items() if not any(over)]
        # `__all__` holds for every agent of the step: one that was truncated must not count as terminated.
        is_cut = not self.agents and any(truncated.values())
        truncated[ALL], terminated[ALL] = is_cut, not self.agents and not is_cut
        self._is_fresh = not self.agents and bool(self.worlds.ended.all())
        return observations, rewards, terminated, truncated, infos

    def _is_over(self, agent: str) -> tuple[bool, bool]:
        """Whether the agent is terminated, and whether it is truncated: one at most."""
        arrays, row = self._rows[agent]
        is_terminated = bool(_flat(arrays.terminated)[row])
        return is_terminated, bool(_flat(arrays.truncated)[row]) and not is_terminated

    def _observed(self, agent: str, *, last: bool = False) -> Array:
        (arrays, row), space = self._rows[agent], self.observation_spaces[agent]
        found = _flat(arrays.final_observation if last else arrays.observation)[row]
        return np.asarray(found.clip(space.low, space.high) if self.worlds.game else found.copy())

    def _final_info(self, agent: str) -> dict[str, Any]:
        """About a round that has ended as a whole; nothing if others play on."""
        arrays, row = self._rows[agent]
        world = row // arrays.acted.shape[1]
        if not self.worlds.ended[world]:
            return {}
        winner = {"winner": self.worlds.winners[self.worlds.winner[world]]} if self.worlds.winners else {}
        return {**winner, "score": float(_flat(arrays.final_score)[row])}

    def close(self) -> None:
        self.worlds.close()


class GameVectorEnv(WorldsVectorEnv):
    """One agent against `opponent` in each of `num_envs` worlds, which are stepped together, for RLlib's
    SingleAgentEnvRunner; `config` is as in `GameMultiAgentEnv`, with `role`, `opponent` and `num_envs`.

    RLlib's runner resets an environment in a step of its own (`AutoresetMode.NEXT_STEP`), and a world does not wait:
    the first decision of every round but the first is at rest, and not reported.
    """

    metadata: dict[str, Any] = {**WorldsVectorEnv.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.closed = True
        config = dict(config)
        role, opponent = config.pop("role", None), config.pop("opponent", None)
        worlds = _open(config)
        game = worlds.game
        super().__init__(
            Match(worlds, role, opponent or (None if game else RANDOM), game=game, every_agent=not game, flatten=True)
        )
        parts = worlds.roles[self.match.role].action_parts
        if self.match.action_space.shape:
            self._rest = np.concatenate([np.full(part.size, part.rest) for part in parts])
        self._over = np.zeros(self.num_envs, np.bool_)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        self._over[:] = False
        return super().reset(seed=seed, options=options)

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if not self._has_begun:
            raise GodojoError("there are no rounds to play: call reset() first")
        match, resting = self.match, self._over.copy()
        actions = np.array(actions)
        actions[resting] = self._rest if actions.ndim > 1 else 0
        match.start(actions)
        _step(match.worlds, is_started=True)
        match.check_episodes_end_with_rounds()
        self._over = match.over & ~resting
        observed = match.observed()
        observed[self._over] = match.observed_last(self._over)
        ended = np.flatnonzero(self._over)
        infos = self._spread(match.final_info(ended), ended) if len(ended) else {}
        reward = np.where(resting, 0.0, match.reward).astype(np.float32)
        return observed, reward, match.terminated & self._over, match.truncated & self._over, infos


def role_of(agent: str, *_: Any, **__: Any) -> str:
    """The role of an agent's name: as `policy_mapping_fn`, one policy for each role."""
    return agent.rpartition("_")[0]


def _open(config: Mapping[str, Any]) -> Worlds:
    """The worlds of an `env_config`; refuses a game that has been lost again and again."""
    options = dict(config)
    project, game = options.pop("project", None), options.pop("game", None)
    if (project is None) == (game is None):
        raise GodojoError("env_config needs either `game`, the name of one, or `project`, the path of one")
    name = str(game or project)
    losses = _lost[game or ""]
    if losses >= IN_A_ROW:
        raise GodojoError(f"{name} was lost {losses} times in a row without a good step; run it by itself")
    num_envs = options.pop("num_envs", 1)
    if project is not None:
        return open_game(project, num_worlds=num_envs, **options)
    shared = {"engine": "sim", "arenas": None, "settings": None}
    return make_worlds(str(game), num_envs, **{**shared, **options})


def _step(worlds: Worlds, *, is_started: bool = False) -> None:
    """A step, in which no game is lost."""
    name = worlds.game
    try:
        if not is_started:
            worlds.start()
        worlds.finish()
    except GameLost as error:
        _lost[name] += 1
        raise StepFailedRecreateEnvError(str(error)) from error
    for role in worlds.roles.values():
        if (role.truncated & ~role.acted & worlds.ended[:, None]).any() and not worlds.played[worlds.ended].all():
            _lost[name] += 1
            raise StepFailedRecreateEnvError("a game was lost, and its rounds with it")
    _lost[name] = 0


def _flat(array: Array) -> Array:
    """The agents of all worlds in one row."""
    return array.reshape(-1, *array.shape[2:])
