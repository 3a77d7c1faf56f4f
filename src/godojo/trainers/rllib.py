"""RLlib's PPO (its new API stack) as an algorithm of the training loop.

Every role has a policy of its own, or one role learns and an opponent plays all others. Policies are also saved as
`policy_ROLE.pt`, and evaluated, watched and exported like any other.
"""

import dataclasses
import logging
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from godojo.cluster.ray_transport import RaySession
from godojo.engines.base import Worlds
from godojo.errors import GodojoError, unknown
from godojo.extras import missing
from godojo.learn.algorithm import Algorithm, Iteration, OpponentAssignment
from godojo.learn.networks import Policy
from godojo.opponents import shared_role
from godojo.runs.config import cores
from godojo.runs.role_map import Mode
from godojo.trainers.opponents import opponent_of
from godojo.trainers.rllib_module import PpoLearner, PpoModule, module_policy
from godojo.trainers.rllib_runner import WorldsEnvRunner, spaces_of
from godojo.trainers.rllib_worlds import RunnerWorlds

try:
    from ray.rllib.algorithms.ppo import PPO, PPOConfig
    from ray.rllib.core import COMPONENT_LEARNER, COMPONENT_RL_MODULE
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
except ImportError as error:
    raise missing("rllib") from error

MAX_EMPTY = 3
"""Updates in a row without a rollout of any worker, after which training ends."""
METRICS = {
    "policy_loss": "train/policy_gradient_loss",
    "vf_loss": "train/value_loss",
    "entropy": "train/entropy",
    "mean_kl_loss": "train/approx_kl",
    "vf_explained_var": "train/explained_variance",
    "total_loss": "train/loss",
    "default_optimizer_learning_rate": "train/learning_rate",
}
"""RLlib's metrics of a module, and the names that all trainers share."""


def check_worlds(worlds: Worlds, settings: Any) -> None:
    """Rejects a role that is not there."""
    if settings.role and settings.role not in worlds.roles:
        raise unknown("role", settings.role, worlds.roles)


class _Ppo(PPO):  # type: ignore[misc]  # Ray carries no types
    """PPO that leaves no folder in `~/ray_results`."""

    def _setup_logdir(self) -> None:
        self._logdir = tempfile.gettempdir()


class Rllib(Algorithm):
    """RLlib's PPO; one call of `iterate` is one `Algorithm.train`."""

    def __init__(
        self,
        worlds: Worlds,
        settings: Any,
        seed: int,
        policies: Mapping[str, Policy] | None = None,
        modes: Mapping[str, Mode] | None = None,
    ) -> None:
        assert not policies, "AlgorithmEntry.can_continue is False"
        check_worlds(worlds, settings)
        self.worlds, self.settings = worlds, settings
        self.roles = [settings.role] if settings.role else list(worlds.roles)
        self.modes: dict[str, Mode] = {**dict.fromkeys(self.roles, "train"), **(modes or {})}
        self.updates = self.agent_steps = self._empty = 0
        self._opponent = opponent_of(worlds.game, settings)
        self._session = RaySession(None, max(settings.num_env_runners + 1, cores()))
        logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # it announces its new API stack otherwise
        try:
            self.algorithm: Any = self._config(seed).build_algo()
        except BaseException:
            self.close()
            raise
        if not settings.num_env_runners:
            self.algorithm.env_runner.attach(worlds, seed)

    def _config(self, seed: int) -> Any:
        settings, worlds = self.settings, self.worlds
        specs, spaces = {}, {role: spaces_of(worlds.roles[role]) for role in self.roles}
        for role, (observed, acted) in spaces.items():
            model = DefaultModelConfig(
                fcnet_hiddens=list(settings.net_arch),
                fcnet_activation=settings.activation_fn,
                fcnet_kernel_initializer="orthogonal_",
                fcnet_kernel_initializer_kwargs={"gain": float(np.sqrt(2.0))},
                fcnet_bias_initializer="zeros_",
                vf_share_layers=False,
                free_log_std=acted.__class__.__name__ == "Box",
            )
            specs[role] = RLModuleSpec(
                module_class=PpoModule,
                observation_space=observed,
                action_space=acted,
                model_config={**dataclasses.asdict(model), "norm_obs": settings.norm_obs},
            )
        make_worlds = getattr(worlds, "make_worlds", None)
        has_gpu = settings.device != "cpu" and torch.cuda.is_available()
        return (
            PPOConfig(_Ppo)
            .environment(env_config={"settings": settings, "spaces": spaces, "make_worlds": make_worlds})
            .env_runners(
                env_runner_cls=WorldsEnvRunner,
                num_env_runners=settings.num_env_runners,
                rollout_fragment_length=settings.n_steps,
                sample_timeout_s=None,
            )
            .learners(num_gpus_per_learner=int(has_gpu))
            .multi_agent(policies=set(self.roles), policy_mapping_fn=lambda agent, *_, **__: agent.rpartition("_")[0])
            .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=specs))
            .training(
                learner_class=PpoLearner,
                lr=settings.learning_rate,
                gamma=settings.gamma,
                lambda_=settings.gae_lambda,
                train_batch_size_per_learner=settings.batch_size,  # a rollout is larger: one is sampled
                minibatch_size=settings.batch_size,
                num_epochs=settings.n_epochs,
                clip_param=settings.clip_range,
                entropy_coeff=settings.ent_coef,
                vf_loss_coeff=settings.vf_coef,
                vf_clip_param=settings.vf_clip_param,
                use_kl_loss=True,  # with a weight of 0 it is a metric alone
                kl_coeff=settings.kl_coeff,
                kl_target=settings.kl_target,
                grad_clip=settings.max_grad_norm,
                grad_clip_by="global_norm",
            )
            .fault_tolerance(restart_failed_env_runners=True)
            .debugging(seed=seed, log_level="ERROR")
            .reporting(min_time_s_per_iteration=None)
        )

    @property
    def policies(self) -> dict[str, Policy]:
        """The actors of the modules, converted to our `Policy`."""
        state = self._learner_state()[COMPONENT_RL_MODULE]
        parts = {role: self.worlds.roles[role].action_parts for role in self.roles}
        return {role: module_policy(state[role], parts[role], self.settings.activation_fn) for role in self.roles}

    @property
    def assignments(self) -> list[OpponentAssignment]:
        everywhere = slice(0, self.worlds.num_worlds)
        return [
            OpponentAssignment(name, everywhere, self._opponent) for name in self.worlds.roles if name not in self.roles
        ]

    def iterate(self, progress: float, on_step: Callable[[Worlds], None] = lambda _: None) -> Iteration:  # noqa: ARG002
        counter = _Counter(self.worlds, self.roles, on_step)
        result = self._train(counter)
        self.updates += 1
        self.agent_steps += counter.agent_steps
        metrics = {role: _metrics(result.get("learners", {}).get(role, {})) for role in self.roles}
        return Iteration(counter.rounds, counter.wins, metrics)

    def _train(self, counter: "_Counter") -> Mapping[str, Any]:
        if not isinstance(self.worlds, RunnerWorlds):
            self.algorithm.env_runner.on_step = counter
            return self.algorithm.train()  # type: ignore[no-any-return]
        if (changed := self.worlds.changed_settings) is not None:
            self._of_runners(lambda runner: runner.change_settings(changed))
        result = self.algorithm.train()
        played = [each for each in self._of_runners(lambda runner: runner.played()) if each is not None]
        ended = {each.worker: each.ended for each in played}
        self._empty = 0 if ended else self._empty + 1
        if self._empty >= MAX_EMPTY:
            raise GodojoError(f"no worker of RLlib has delivered a rollout in {MAX_EMPTY} updates")
        for step in range(self.settings.n_steps):
            self.worlds.replay(step, ended)
            counter(self.worlds)
        counter.agent_steps = sum(each.agent_steps for each in played)
        return result  # type: ignore[no-any-return]

    def _of_runners(self, call: Callable[[Any], Any]) -> list[Any]:
        """What those that play answer."""
        found: list[Any] = self.algorithm.env_runner_group.foreach_env_runner(
            call, local_env_runner=not self.settings.num_env_runners
        )
        return found

    def state(self) -> dict[str, Any]:
        return {
            "learner": self._learner_state(),
            "scales": next(iter(self._of_runners(lambda runner: runner.scales())), {}),
            "agent_steps": self.agent_steps,
            "updates": self.updates,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.algorithm.learner_group.set_state({COMPONENT_LEARNER: state["learner"]})
        self.algorithm.env_runner_group.sync_weights(from_worker_or_learner_group=self.algorithm.learner_group)
        scales = state["scales"]
        self._of_runners(lambda runner: runner.load_scales(scales))
        self.agent_steps, self.updates = int(state["agent_steps"]), int(state["updates"])

    def _learner_state(self) -> dict[str, Any]:
        state: dict[str, Any] = self.algorithm.learner_group.get_state(components=COMPONENT_LEARNER)[COMPONENT_LEARNER]
        return state

    def close(self) -> None:
        if hasattr(self, "algorithm"):
            self.algorithm.stop()
        self._session.close()


class _Counter:
    """Counts the rounds of one iteration, and who won them."""

    def __init__(self, worlds: Worlds, roles: list[str], on_step: Callable[[Worlds], None]) -> None:
        self._after_step, self._shared, self._roles = on_step, shared_role(worlds), roles
        self.rounds = self.agent_steps = 0
        self.wins: dict[str, int] = dict.fromkeys(worlds.roles, 0)

    def __call__(self, worlds: Worlds) -> None:
        self._after_step(worlds)
        self.agent_steps += sum(int(np.count_nonzero(worlds.roles[name].acted)) for name in self._roles)
        played = worlds.played
        if not played.any():
            return
        self.rounds += int(np.count_nonzero(played))
        for name in self.wins:
            if self._shared is not None:
                self.wins[name] += int(np.count_nonzero(self._shared.ahead(worlds)[played] > 0.0))
            elif name in worlds.winners:
                self.wins[name] += int(np.count_nonzero(worlds.winner[played] == worlds.winners.index(name)))


def _metrics(found: Mapping[str, Any]) -> dict[str, float]:
    return {ours: float(found[name]) for name, ours in METRICS.items() if name in found}
