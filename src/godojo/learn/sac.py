"""Soft actor-critic (Haarnoja et al. 2018) with self-play: each role learns from its own replay buffer.

Current policies play all roles; there is no opponent pool. Policies squash their actions with tanh and have no memory.
Targets and the policy's loss take the minimum of two critics, which see the privileged observation. The entropy
coefficient is tuned automatically, as in the authors' second paper.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError, option
from godojo.learn.algorithm import Algorithm, Iteration
from godojo.learn.backend import backend_for
from godojo.learn.cnn import ImageInput, check_memory, image_inputs
from godojo.learn.networks import Critic, Policy, PolicyShape
from godojo.learn.ppo import NonFiniteLoss, divergence_error
from godojo.learn.privileged import PrivilegedObservation
from godojo.learn.replay_buffer import ReplayBuffer, Transitions
from godojo.learn.rollout import NORMALISER_STRIDE
from godojo.learn.settings import Activation, SacSettings, check_role_names
from godojo.learn.threads import orthogonal, single_threaded_pool
from godojo.learn.weight_backup import restore_on_error
from godojo.runs.role_map import Mode

SAVED_REPLAY_BYTES = 64 * 2**20
"""Replay buffers are saved in checkpoints up to this total size; beyond it, a resumed run refills them."""


def check_worlds(worlds: Worlds, _: SacSettings | None = None) -> None:
    """Reject games with discrete actions."""
    for name, role in worlds.roles.items():
        for part in role.action_parts:
            if part.kind == "discrete":
                raise GodojoError(
                    f"SAC learns continuous actions, and {part.name} of the {name} is discrete;"
                    f" train with {option('algorithm', 'ppo')}"
                )


def shape_for(role: RoleArrays, settings: SacSettings) -> PolicyShape:
    """The shape of the policy of a role."""
    return PolicyShape(
        observation_size=role.observation.shape[2],
        action_parts=role.action_parts,
        net_arch=settings.net_arch,
        heading=role.heading if settings.egocentric else None,
        images=image_inputs(role.observation_parts, settings.cnn_channels),
        squashed=True,
        activation=settings.activation_fn,
    )


class TwinCritics(nn.Module):
    """Two action-value functions."""

    def __init__(
        self,
        observation_size: int,
        privileged_size: int,
        action_size: int,
        net_arch: tuple[int, ...],
        activation: Activation = "relu",
        images: Sequence[ImageInput] = (),
    ) -> None:
        super().__init__()
        self.one = Critic(observation_size + action_size, privileged_size, net_arch, activation, images)
        self.other = Critic(observation_size + action_size, privileged_size, net_arch, activation, images)
        # Start near zero: random values would be far larger than the advantage of a single step.
        for critic in (self.one, self.other):
            orthogonal(critic.value.weight, 0.01)

    def forward(self, normalised: Tensor, privileged: Tensor, action: Tensor) -> Tensor:
        """The values of both critics, [2, rows]."""
        own = torch.cat((normalised, action), -1)
        return torch.stack((self.one(own, privileged), self.other(own, privileged)))


def targets(
    policy: Policy,
    critics: TwinCritics,
    batch: Transitions,
    ent_coef: float,
    gamma: float,
    generator: torch.Generator,
) -> Tensor:
    """The critics' targets: the reward plus the discounted soft value under the current policy."""
    features, _ = policy.features(batch.next_observation, policy.initial_memory(len(batch.reward)))
    sampled = policy.head.sample(features, generator=generator)
    q_value: Tensor = critics(batch.next_observation, batch.next_privileged, sampled.action).amin(0)
    return batch.reward + gamma * batch.not_done * (q_value - ent_coef * sampled.log_prob)


def policy_loss(
    policy: Policy, critics: TwinCritics, batch: Transitions, ent_coef: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The policy's loss, and its entropy."""
    features, _ = policy.features(batch.observation, policy.initial_memory(len(batch.reward)))
    sampled = policy.head.sample(features, generator=generator)
    q_value = critics(batch.observation, batch.privileged, sampled.action).amin(0)
    return (ent_coef * sampled.log_prob - q_value).mean(), -sampled.log_prob.detach().mean()


class SacAgent:
    """One role: policy, critics, entropy coefficient and replay buffer."""

    def __init__(
        self, worlds: Worlds, name: str, policy: Policy, settings: SacSettings, generator: torch.Generator
    ) -> None:
        self.name, self.policy, self.settings, self.generator = name, policy, settings, generator
        backend = backend_for("cpu")
        self.arrays = worlds.roles[name]
        self._privileged = PrivilegedObservation(worlds, name, backend.relative_state)
        self.mode: Mode = "train"
        count, agents, size = self.arrays.observation.shape
        actions = self.arrays.action.shape[2]
        self.num_agents = count * agents
        self._runner = backend.policy_runner(policy, self.num_agents)
        shape = policy.shape
        self.critics = TwinCritics(
            size, self._privileged.size, actions, settings.net_arch, shape.activation, shape.images
        )
        self.target_critics = copy.deepcopy(self.critics).requires_grad_(False)
        self.privileged_normaliser = self.critics.one.normaliser
        self.log_ent_coef = torch.tensor(math.log(settings.ent_coef), requires_grad=True)
        self.target_entropy = settings.target_entropy * actions
        self.optimisers = {
            "policy": torch.optim.Adam(policy.parameters(), lr=settings.learning_rate),
            "value": torch.optim.Adam(self.critics.parameters(), lr=settings.learning_rate),
            "ent_coef": torch.optim.Adam([self.log_ent_coef], lr=settings.learning_rate),
        }
        check_memory("the replay buffer", shape.images, 2 * settings.buffer_size, size, "set a smaller buffer_size")
        self.replay_buffer = ReplayBuffer(settings.buffer_size, size, self._privileged.size, actions)
        self._observation = torch.from_numpy(self.arrays.observation).view(self.num_agents, -1)
        self._action = torch.from_numpy(self.arrays.action).view(self.num_agents, -1)

    @torch.no_grad()
    def decide(self, worlds: Worlds) -> None:
        """Write the next action of every agent."""
        policy = self.policy
        observation = self._observation.clone()
        own = policy.to_egocentric(observation)
        privileged = self._privileged.of({name: role.observation for name, role in worlds.roles.items()})
        features, _ = policy.features(policy.normaliser(own), policy.initial_memory(self.num_agents))
        sampled = policy.head.sample(features, deterministic=self.mode == "deterministic", generator=self.generator)
        self._action.copy_(policy.to_env_action(sampled.action, observation))
        self._own, self._privileged_rows, self._last_action = own, privileged, sampled.action

    @torch.no_grad()
    def store_results(self, step: int, worlds: Worlds) -> None:
        """Add the transitions of all agents that acted to the replay buffer."""
        if self.mode != "train":
            return
        arrays = self.arrays
        acted = torch.from_numpy(arrays.acted).view(-1)
        if step % NORMALISER_STRIDE == 0:
            self._runner.update_normaliser(self.policy.normaliser, self._own, acted)
            self._runner.update_normaliser(self.privileged_normaliser, self._privileged_rows, acted)
        after = {name: _next_observation(role, worlds) for name, role in worlds.roles.items()}
        batch = Transitions(
            observation=self._own,
            privileged=self._privileged_rows,
            action=self._last_action,
            reward=torch.from_numpy(arrays.reward).view(-1),
            not_done=torch.from_numpy(~arrays.terminated).view(-1).float(),
            next_observation=self.policy.to_egocentric(torch.from_numpy(after[self.name]).view(self.num_agents, -1)),
            next_privileged=self._privileged.of(after),
        )
        self.replay_buffer.add(batch, acted)

    def update(self, progress: float) -> dict[str, float]:
        """One update; returns its metrics, or none before `learning_starts`."""
        settings = self.settings
        if len(self.replay_buffer) < settings.learning_starts:
            return {}
        rate = settings.learning_rate + (settings.final_learning_rate - settings.learning_rate) * progress
        for optimiser in self.optimisers.values():
            for group in optimiser.param_groups:
                group["lr"] = rate
        steps = settings.train_steps.get(self.name, settings.gradient_steps)
        history = [self._gradient_step() for _ in range(steps)]
        means = {name: sum(values[name] for values in history) / len(history) for name in history[0]}
        return means | {"train/learning_rate": rate}

    def _gradient_step(self) -> dict[str, float]:
        settings, policy, critics = self.settings, self.policy, self.critics
        batch = self._normalised(self.replay_buffer.sample(settings.batch_size, self.generator))
        ent_coef = self.log_ent_coef.exp().item()
        with torch.no_grad():
            target = targets(policy, self.target_critics, batch, ent_coef, settings.gamma, self.generator)
        q_values = critics(batch.observation, batch.privileged, batch.action)
        critic_loss = (q_values - target).square().mean(1).sum()
        self._optimiser_step("value", critic_loss, list(critics.parameters()))
        actor_loss, entropy = policy_loss(policy, critics, batch, ent_coef, self.generator)
        self._optimiser_step("policy", actor_loss, list(policy.parameters()))
        self._optimiser_step("ent_coef", self.log_ent_coef * (entropy - self.target_entropy), [self.log_ent_coef])
        with torch.no_grad():
            for target_weights, weights in zip(self.target_critics.parameters(), critics.parameters(), strict=True):
                target_weights.lerp_(weights, settings.tau)
        return {
            "train/actor_loss": actor_loss.item(),
            "train/critic_loss": critic_loss.item(),
            "train/entropy": entropy.item(),
            "train/ent_coef": ent_coef,
            "train/q_value": q_values.mean().item(),
        }

    def _optimiser_step(self, name: str, loss: Tensor, parameters: list[Tensor]) -> None:
        """One optimiser step; raises NonFiniteLoss before it if the loss or its gradient is not finite."""
        optimiser = self.optimisers[name]
        optimiser.zero_grad(set_to_none=True)
        loss.backward(inputs=parameters)  # type: ignore[no-untyped-call]
        grad_norm = nn.utils.clip_grad_norm_(parameters, self.settings.max_grad_norm)
        for term, value in ((name, loss.item()), (f"{name} gradient", grad_norm.item())):
            if not math.isfinite(value):
                raise NonFiniteLoss(f"the {term} term is {value}")
        optimiser.step()

    @torch.no_grad()
    def _normalised(self, batch: Transitions) -> Transitions:
        own, privileged = self.policy.normaliser, self.privileged_normaliser
        return batch._replace(
            observation=own(batch.observation),
            privileged=privileged(batch.privileged),
            next_observation=own(batch.next_observation),
            next_privileged=privileged(batch.next_privileged),
        )

    def state(self, *, with_buffer: bool) -> dict[str, Any]:
        return {
            "policy": self.policy.state_dict(),
            "critics": self.critics.state_dict(),
            "target_critics": self.target_critics.state_dict(),
            "log_ent_coef": self.log_ent_coef.item(),
            "optimisers": {name: optimiser.state_dict() for name, optimiser in self.optimisers.items()},
            "generator": self.generator.get_state(),
            "replay_buffer": self.replay_buffer.state() if with_buffer else None,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.policy.load_state_dict(state["policy"])
        self.critics.load_state_dict(state["critics"])
        self.target_critics.load_state_dict(state["target_critics"])
        with torch.no_grad():
            self.log_ent_coef.fill_(state["log_ent_coef"])
        for name, optimiser in self.optimisers.items():
            optimiser.load_state_dict(state["optimisers"][name])
        self.generator.set_state(state["generator"])
        if state["replay_buffer"] is not None:
            self.replay_buffer.load_state(state["replay_buffer"])


def _next_observation(role: RoleArrays, worlds: Worlds) -> np.ndarray:
    """[N, n, D]: the observation after the step, or the final one where the episode ended."""
    ended = role.terminated | role.truncated | worlds.ended[:, None]
    return np.where(ended[:, :, None], role.final_observation, role.observation)


class SacSelfPlay(Algorithm):
    """SAC for all roles.

    A seed determines the weights at any number of threads: each role has its own generator and runs on one thread.
    """

    def __init__(
        self,
        worlds: Worlds,
        settings: SacSettings,
        seed: int,
        policies: Mapping[str, Policy] | None = None,
        modes: Mapping[str, Mode] | None = None,
    ) -> None:
        check_worlds(worlds)
        check_role_names(settings, list(worlds.roles))
        self.worlds, self.settings = worlds, settings
        self.checkpoint_steps, self.copy_interval = settings.checkpoint_steps or None, settings.copy_interval
        self.modes: dict[str, Mode] = dict.fromkeys(worlds.roles, "train")
        self.modes.update(modes or {})
        self.agents: dict[str, SacAgent] = {}
        rng = np.random.default_rng(seed)
        for name, role in worlds.roles.items():
            torch.manual_seed(int(rng.integers(2**62)))
            given = (policies or {}).get(name)
            own = settings.for_role(name)
            policy = given if given is not None else Policy(shape_for(role, own))
            generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
            self.agents[name] = SacAgent(worlds, name, policy, own, generator)
        self.updates, self.agent_steps = 0, 0
        self._threads = single_threaded_pool(len(self.agents))

    @property
    def policies(self) -> dict[str, Policy]:
        return {name: agent.policy for name, agent in self.agents.items()}

    def iterate(self, progress: float, on_step: Callable[[Worlds], None] = lambda _: None) -> Iteration:
        settings = self.settings
        for name, mode in self.modes.items():
            self.agents[name].mode = mode
        learning = [name for name, mode in self.modes.items() if mode == "train"]
        agents = [self.agents[name] for name in learning]
        modules = [module for agent in agents for module in (agent.policy, agent.critics, agent.target_critics)]
        optimisers = [optimiser for agent in agents for optimiser in agent.optimisers.values()]
        with restore_on_error(modules, optimisers, [agent.log_ent_coef for agent in agents]):
            rounds, wins = self._play(on_step)  # the transitions are in the replay buffers, too
            self.on_phase("submitting")
            self.on_phase("training")
            updates = {name: self._threads.submit(self._update, name, progress) for name in learning}
            wait(updates.values())  # even if one fails: no update may still be running afterwards
            metrics = {name: update.result() for name, update in updates.items()}
        self.updates += 1
        self.agent_steps += settings.n_steps * sum(agent.num_agents for agent in self.agents.values())
        return Iteration(rounds, wins, metrics)

    def close(self) -> None:
        self._threads.shutdown()
        self.worlds.close()

    def _play(self, on_step: Callable[[Worlds], None]) -> tuple[int, dict[str, int]]:
        """Play `n_steps` in every world; returns the number of finished rounds and the wins of each role."""
        worlds, rounds, wins = self.worlds, 0, dict.fromkeys(self.agents, 0)
        for step in range(self.settings.n_steps):
            list(self._threads.map(partial(SacAgent.decide, worlds=worlds), self.agents.values()))
            worlds.step()
            list(self._threads.map(partial(SacAgent.store_results, step=step, worlds=worlds), self.agents.values()))
            on_step(worlds)
            played = worlds.played
            rounds += int(played.sum())
            for name in wins:
                if name in worlds.winners:
                    wins[name] += int((played & (worlds.winner == worlds.winners.index(name))).sum())
        return rounds, wins

    def _update(self, name: str, progress: float) -> dict[str, float]:
        try:
            return self.agents[name].update(progress)
        except NonFiniteLoss as error:
            raise divergence_error(name, error, self.agents[name].replay_buffer.rewards) from None

    def state(self) -> dict[str, Any]:
        """Everything needed to resume; with the embedded engine and a saved buffer, training resumes bit-exactly."""
        is_small = sum(agent.replay_buffer.nbytes for agent in self.agents.values()) <= SAVED_REPLAY_BYTES
        return {
            "updates": self.updates,
            "agent_steps": self.agent_steps,
            "worlds": self.worlds.save_state(),
            "roles": {name: agent.state(with_buffer=is_small) for name, agent in self.agents.items()},
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from the result of `state`; without a saved buffer, learning waits until it is refilled."""
        self.updates, self.agent_steps = state["updates"], state["agent_steps"]
        for name, agent in self.agents.items():
            agent.load_state(state["roles"][name])
        if state["worlds"] is not None:
            self.worlds.load_state(state["worlds"])
