"""Soft actor-critic (Haarnoja et al. 2018) with self-play: every role learns at once from a replay of its own.

Everybody is played by the present policies; there are no past selves. A policy squashes its actions with tanh and has
no memory. Two critics see what the agent sees and what the others know of themselves; the lower of their opinions
counts. The temperature, which says what entropy is worth, is adjusted as in the same authors' second paper.
"""

import copy
import math
from collections.abc import Callable, Mapping
from concurrent.futures import wait
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError
from godojo.learn.algorithm import Iteration, OpponentAssignment, Task
from godojo.learn.networks import Critic, Policy, PolicyShape
from godojo.learn.opponent_pool import OpponentPool
from godojo.learn.ppo import NonFiniteLoss, broke_down
from godojo.learn.replay_buffer import ReplayBuffer, Transitions
from godojo.learn.rollout import NORMALISER_STEPS, PrivilegedObservation
from godojo.learn.settings import SacSettings
from godojo.learn.threads import orthogonal, single_threaded_pool
from godojo.learn.weight_backup import restore_on_error

SAVED_REPLAY_BYTES = 64 * 2**20
"""Replays are part of a checkpoint if all together are at most this large; else a resumed run fills them anew."""


def check_actions(roles: Mapping[str, RoleArrays]) -> None:
    """Refuses a game with choices: SAC learns numbers."""
    for name, role in roles.items():
        for part in role.action_parts:
            if part.kind == "discrete":
                raise GodojoError(
                    f"SAC learns actions that are numbers, and {part.name} of the {name} is a choice;"
                    " train with --algorithm ppo"
                )


def shape_for(role: RoleArrays, settings: SacSettings) -> PolicyShape:
    """The policy that these settings mean for a role."""
    return PolicyShape(
        observation_size=role.observation.shape[2],
        action_parts=role.action_parts,
        net_arch=settings.net_arch,
        heading=role.heading if settings.egocentric else None,
        squashed=True,
    )


class TwinCritics(nn.Module):
    """Two opinions on what an action is worth in a situation."""

    def __init__(self, observation: int, others: int, actions: int, net_arch: tuple[int, ...]) -> None:
        super().__init__()
        self.one = Critic(observation + actions, others, net_arch)
        self.other = Critic(observation + actions, others, net_arch)
        # Without an opinion at first: one made of chance would be far louder than what a single decision is worth.
        for critic in (self.one, self.other):
            orthogonal(critic.value.weight, 0.01)

    def forward(self, normalised: Tensor, others: Tensor, action: Tensor) -> Tensor:
        """[2, rows]."""
        own = torch.cat((normalised, action), -1)
        return torch.stack((self.one(own, others), self.other(own, others)))


def targets(
    policy: Policy,
    critics: TwinCritics,
    batch: Transitions,
    temperature: float,
    gamma: float,
    generator: torch.Generator,
) -> Tensor:
    """What the critics should have said: the reward, and what follows by the policy of now, its entropy included."""
    features, _ = policy.features(batch.next_observation, policy.begin(len(batch.reward)))
    choice = policy.head.sample(features, generator=generator)
    worth: Tensor = critics(batch.next_observation, batch.next_privileged, choice.action).amin(0)
    return batch.reward + gamma * batch.not_done * (worth - temperature * choice.log_probability)


def policy_loss(
    policy: Policy, critics: TwinCritics, batch: Transitions, temperature: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """What the policy minimises (it wants actions that are worth much, and entropy), and its entropy."""
    features, _ = policy.features(batch.observation, policy.begin(len(batch.reward)))
    choice = policy.head.sample(features, generator=generator)
    worth = critics(batch.observation, batch.privileged, choice.action).amin(0)
    return (temperature * choice.log_probability - worth).mean(), -choice.log_probability.detach().mean()


class SacAgent:
    """One role: its policy, its critics, its temperature, and the replay they learn from."""

    def __init__(
        self, worlds: Worlds, name: str, policy: Policy, settings: SacSettings, generator: torch.Generator
    ) -> None:
        self.name, self.policy, self.settings, self.generator = name, policy, settings, generator
        self.arrays, self._others = worlds.roles[name], PrivilegedObservation(worlds.roles, name)
        self.task: Task = "train"
        count, agents, size = self.arrays.observation.shape
        actions = self.arrays.action.shape[2]
        self.columns = count * agents
        self.critics = TwinCritics(size, self._others.size, actions, settings.net_arch)
        self.target_critics = copy.deepcopy(self.critics).requires_grad_(False)
        self.others_normaliser = self.critics.one.normaliser
        self.log_ent_coef = torch.tensor(math.log(settings.ent_coef), requires_grad=True)
        self.target_entropy = settings.target_entropy * actions
        self.optimisers = {
            "policy": torch.optim.Adam(policy.parameters(), lr=settings.learning_rate),
            "value": torch.optim.Adam(self.critics.parameters(), lr=settings.learning_rate),
            "ent_coef": torch.optim.Adam([self.log_ent_coef], lr=settings.learning_rate),
        }
        self.replay_buffer = ReplayBuffer(settings.buffer_size, size, self._others.size, actions)
        self._raw = torch.from_numpy(self.arrays.observation).view(self.columns, -1)
        self._action = torch.from_numpy(self.arrays.action).view(self.columns, -1)

    @torch.no_grad()
    def decide(self, worlds: Worlds) -> None:
        """Looks, and writes what every agent does next."""
        policy = self.policy
        raw = self._raw.clone()
        own = policy.to_egocentric(raw)
        others = self._others.of({name: role.observation for name, role in worlds.roles.items()})
        features, _ = policy.features(policy.normaliser(own), policy.begin(self.columns))
        choice = policy.head.sample(features, greedy=self.task == "deterministic", generator=self.generator)
        self._action.copy_(policy.for_game(choice.action, raw))
        self._seen, self._seen_of_others, self._did = own, others, choice.action

    @torch.no_grad()
    def take_in(self, step: int, worlds: Worlds) -> None:
        """Submits what the decision led to, of all agents that took part in it."""
        if self.task != "train":
            return
        arrays = self.arrays
        acted = torch.from_numpy(arrays.acted).view(-1)
        if step % NORMALISER_STEPS == 0:
            self.policy.normaliser.learn(self._seen, acted)
            self.others_normaliser.learn(self._seen_of_others, acted)
        seen = {name: _seen_after(role, worlds) for name, role in worlds.roles.items()}
        batch = Transitions(
            observation=self._seen,
            privileged=self._seen_of_others,
            action=self._did,
            reward=torch.from_numpy(arrays.reward).view(-1),
            not_done=torch.from_numpy(~arrays.terminated).view(-1).float(),
            next_observation=self.policy.to_egocentric(torch.from_numpy(seen[self.name]).view(self.columns, -1)),
            next_privileged=self._others.of(seen),
        )
        self.replay_buffer.submit(batch, acted)

    def learn(self, rate: float) -> dict[str, float]:
        """An update; says how it went, or nothing while the replay is still too empty to learn from."""
        if len(self.replay_buffer) < self.settings.learning_starts:
            return {}
        for optimiser in self.optimisers.values():
            for group in optimiser.param_groups:
                group["lr"] = rate
        history = [self._gradient_step() for _ in range(self.settings.gradient_steps)]
        means = {name: sum(values[name] for values in history) / len(history) for name in history[0]}
        return means | {"train/learning_rate": rate}

    def _gradient_step(self) -> dict[str, float]:
        settings, policy, critics = self.settings, self.policy, self.critics
        batch = self._normalised(self.replay_buffer.sample(settings.batch_size, self.generator))
        temperature = self.log_ent_coef.exp().item()
        with torch.no_grad():
            target = targets(policy, self.target_critics, batch, temperature, settings.gamma, self.generator)
        said = critics(batch.observation, batch.privileged, batch.action)
        value = (said - target).square().mean(1).sum()
        self._descend("value", value, list(critics.parameters()))
        loss, entropy = policy_loss(policy, critics, batch, temperature, self.generator)
        self._descend("policy", loss, list(policy.parameters()))
        self._descend("ent_coef", self.log_ent_coef * (entropy - self.target_entropy), [self.log_ent_coef])
        with torch.no_grad():
            for slow, quick in zip(self.target_critics.parameters(), critics.parameters(), strict=True):
                slow.lerp_(quick, settings.tau)
        return {
            "train/actor_loss": loss.item(),
            "train/critic_loss": value.item(),
            "train/entropy": entropy.item(),
            "train/ent_coef": temperature,
            "train/q_value": said.mean().item(),
        }

    def _descend(self, name: str, loss: Tensor, parameters: list[Tensor]) -> None:
        """One step of one optimiser; none where the loss or its gradient is no number."""
        optimiser = self.optimisers[name]
        optimiser.zero_grad(set_to_none=True)
        loss.backward(inputs=parameters)  # type: ignore[no-untyped-call]
        length = nn.utils.clip_grad_norm_(parameters, self.settings.max_grad_norm)
        for what, number in ((name, loss.item()), (f"{name} gradient", length.item())):
            if not math.isfinite(number):
                raise NonFiniteLoss(f"the {what} term is {number}")
        optimiser.step()

    @torch.no_grad()
    def _normalised(self, batch: Transitions) -> Transitions:
        own, others = self.policy.normaliser, self.others_normaliser
        return batch._replace(
            observation=own(batch.observation),
            privileged=others(batch.privileged),
            next_observation=own(batch.next_observation),
            next_privileged=others(batch.next_privileged),
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


def _seen_after(role: RoleArrays, worlds: Worlds) -> np.ndarray:
    """[N, n, D]: what every agent saw after the decision, in the round in which it decided."""
    ended = role.terminated | role.truncated | worlds.ended[:, None]
    return np.where(ended[:, :, None], role.final_observation, role.observation)


class SacSelfPlay:
    """Everything that learns: worlds and pupils.

    The same seed gives the same weights, at any number of threads: every role has its own random numbers and is
    computed on one thread, and roles run side by side.
    """

    def __init__(
        self,
        worlds: Worlds,
        settings: SacSettings,
        seed: int,
        policies: Mapping[str, Policy] | None = None,
        tasks: Mapping[str, Task] | None = None,
    ) -> None:
        check_actions(worlds.roles)
        self.worlds, self.settings = worlds, settings
        self.tasks: dict[str, Task] = dict.fromkeys(worlds.roles, "train")
        self.tasks.update(tasks or {})
        self.league: OpponentPool | None = None
        self.pupils: dict[str, SacAgent] = {}
        rng = np.random.default_rng(seed)
        for name, role in worlds.roles.items():
            torch.manual_seed(int(rng.integers(2**62)))
            given = (policies or {}).get(name)
            policy = given if given is not None else Policy(shape_for(role, settings))
            generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
            self.pupils[name] = SacAgent(worlds, name, policy, settings, generator)
        self.updates, self.agent_steps = 0, 0
        self._threads = single_threaded_pool(len(self.pupils))

    @property
    def policies(self) -> dict[str, Policy]:
        return {name: pupil.policy for name, pupil in self.pupils.items()}

    @property
    def sitting(self) -> list[OpponentAssignment]:
        """Nobody else sits anywhere."""
        return []

    def iterate(self, progress: float, watch: Callable[[Worlds], None] = lambda _: None) -> Iteration:
        """Plays `steps` decisions in every world, and learns; `progress` through the budget is from 0 to 1."""
        settings = self.settings
        for name, task in self.tasks.items():
            self.pupils[name].task = task
        rate = settings.learning_rate + (settings.final_learning_rate - settings.learning_rate) * progress
        learning = [name for name, task in self.tasks.items() if task == "train"]
        pupils = [self.pupils[name] for name in learning]
        modules = [module for pupil in pupils for module in (pupil.policy, pupil.critics, pupil.target_critics)]
        optimisers = [optimiser for pupil in pupils for optimiser in pupil.optimisers.values()]
        with restore_on_error(modules, optimisers, [pupil.log_ent_coef for pupil in pupils]):
            rounds, wins = self._play(watch)
            lessons = {name: self._threads.submit(self._learn, name, rate) for name in learning}
            wait(lessons.values())  # also when one breaks down: nobody may still be learning afterwards
            figures = {name: lesson.result() for name, lesson in lessons.items()}
        self.updates += 1
        self.agent_steps += settings.n_steps * sum(pupil.columns for pupil in self.pupils.values())
        return Iteration(rounds, wins, figures)

    def close(self) -> None:
        self._threads.shutdown()
        self.worlds.close()

    def _play(self, watch: Callable[[Worlds], None]) -> tuple[int, dict[str, int]]:
        """Some decisions in every world; how many rounds were played to their end, and how many each role won."""
        worlds, rounds, wins = self.worlds, 0, dict.fromkeys(self.pupils, 0)
        for step in range(self.settings.n_steps):
            list(self._threads.map(partial(SacAgent.decide, worlds=worlds), self.pupils.values()))
            worlds.step()
            list(self._threads.map(partial(SacAgent.take_in, step=step, worlds=worlds), self.pupils.values()))
            watch(worlds)
            played = worlds.played
            rounds += int(played.sum())
            for name in wins:
                if name in worlds.winners:
                    wins[name] += int((played & (worlds.winner == worlds.winners.index(name))).sum())
        return rounds, wins

    def _learn(self, name: str, rate: float) -> dict[str, float]:
        try:
            return self.pupils[name].learn(rate)
        except NonFiniteLoss as error:
            raise broke_down(name, error, self.pupils[name].replay_buffer.rewards) from None

    def state(self) -> dict[str, Any]:
        """For a checkpoint. With the embedded engine and a replay that is small it goes on bit by bit."""
        is_small = sum(pupil.replay_buffer.nbytes for pupil in self.pupils.values()) <= SAVED_REPLAY_BYTES
        return {
            "updates": self.updates,
            "agent_steps": self.agent_steps,
            "worlds": self.worlds.save_state(),
            "roles": {name: pupil.state(with_buffer=is_small) for name, pupil in self.pupils.items()},
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` gave; where the replay was too large to be saved, learning waits until it fills."""
        self.updates, self.agent_steps = state["updates"], state["agent_steps"]
        for name, pupil in self.pupils.items():
            pupil.load_state(state["roles"][name])
        if state["worlds"] is not None:
            self.worlds.load_state(state["worlds"])
