"""Rollout collection: fills a buffer per role, without a Python loop over worlds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from godojo.engines.base import RoleArrays, Worlds
from godojo.engines.subset import WorldsSubset
from godojo.games.parts import Heading
from godojo.learn.gae import advantages
from godojo.learn.kernels.frames import forget, moments, tell
from godojo.learn.kernels.policy import PolicyInput, PolicyOutput, make_policy_runner
from godojo.learn.networks import Critic, Policy
from godojo.opponents.base import Opponent

NORMALISER_STEPS = 8
"""The normaliser is updated every `NORMALISER_STEPS` steps; neighbouring steps are nearly the same."""
SMALL = 16
"""Observation parts up to this size describe the agent itself; the critics of other agents see them."""


def small_columns(role: RoleArrays) -> list[int]:
    """Columns of the parts that describe the agent itself."""
    columns: list[int] = []
    at = 0
    for part in role.observation_parts:
        if part.size <= SMALL:
            columns += range(at, at + part.size)
        at += part.size
    return columns


class PrivilegedObservation:
    """What a role's critic sees beyond the agent's own observation: the own state of all other agents.

    Where the game declares headings, positions, velocities and directions are relative to the agent. An agent that
    plays alone gets a single zero instead.
    """

    def __init__(self, roles: Mapping[str, RoleArrays], role: str) -> None:
        everybody = [(name, agent) for name, arrays in roles.items() for agent in range(arrays.observation.shape[1])]
        own = [agent for name, agent in everybody if name == role]
        self._others = [[who for who in everybody if who != (role, agent)] for agent in own]
        self._columns = {name: np.array(small_columns(arrays), np.int64) for name, arrays in roles.items()}
        self.size = max(sum(len(self._columns[name]) for name, _ in self._others[0]), 1)
        self._role, heading = role, roles[role].heading
        self._forward = np.array(heading.forward if heading else (), np.int64)
        self._pairs = {name: self._pairs_of(arrays.heading, heading, name) for name, arrays in roles.items()}

    def _pairs_of(self, other: Heading | None, own: Heading | None, name: str) -> np.ndarray:
        """The `pairs` argument of `tell` for an agent of this role."""
        found: list[tuple[int, ...]] = []
        if other is not None and own is not None:
            columns = self._columns[name].tolist()
            pairs = [*zip(other.observed, own.observed, strict=False), (other.forward, (-1, -1))]
            found = [(columns.index(x), columns.index(z), x, z, *mine) for (x, z), mine in pairs]
        return np.array(found, np.int64).reshape(-1, 6)

    def of(self, observations: Mapping[str, np.ndarray]) -> Tensor:
        """[N * n, size] from every role's observations [N, n, D]."""
        count = len(next(iter(observations.values())))
        seen = np.zeros((count, len(self._others), self.size), np.float32)
        for agent, others in enumerate(self._others):
            own, at = observations[self._role][:, agent], 0
            for name, other in others:
                columns = self._columns[name]
                out = seen[:, agent, at : at + len(columns)]
                tell(own, observations[name][:, other], self._forward, self._pairs[name], columns, out)
                at += len(columns)
        return torch.from_numpy(seen.reshape(-1, self.size))


class OpponentSlots(NamedTuple):
    """The worlds, at the start or at the end, in which opponents play a role in place of the current policy."""

    all: slice
    past: slice
    """Worlds of a past checkpoint."""
    scripted: Sequence[tuple[Opponent, slice]] = ()


@dataclass
class RolloutBuffer:
    """T steps of the C agents that a role's current policy plays, in world order."""

    observation: Tensor
    """[T + 1, C, D], normalised."""
    others: Tensor
    """[T + 1, C, O]."""
    action: Tensor
    log_probability: Tensor
    reward: Tensor
    terminated: Tensor
    truncated: Tensor
    acted: Tensor
    bootstrap_value: Tensor
    not_done: Tensor
    """[T, C]: 0 where a new episode began before the step."""
    ahead: Tensor
    """[T, C, 2]: the heading, if the memory rotates with it; else empty."""
    memory: Tensor
    """[C, M]: the memory before the first step."""
    value: Tensor
    advantage: Tensor

    @property
    def columns(self) -> int:
        return self.action.shape[1]

    @classmethod
    def make(cls, steps: int, columns: int, role: RoleArrays, others: int, policy: Policy) -> "RolloutBuffer":
        size, actions = role.observation.shape[2], role.action.shape[2]
        flags = [torch.zeros(steps, columns, dtype=torch.bool) for _ in range(3)]
        return cls(
            observation=torch.zeros(steps + 1, columns, size),
            others=torch.zeros(steps + 1, columns, others),
            action=torch.zeros(steps, columns, actions),
            log_probability=torch.zeros(steps, columns),
            reward=torch.zeros(steps, columns),
            terminated=flags[0],
            truncated=flags[1],
            acted=flags[2],
            bootstrap_value=torch.zeros(steps, columns),
            not_done=torch.ones(steps, columns),
            ahead=torch.zeros(steps, columns, 2 if len(policy.turning) else 0),
            memory=torch.zeros(columns, policy.memory_size),
            value=torch.zeros(steps + 1, columns),
            advantage=torch.zeros(steps, columns),
        )


class RolloutWorker:
    """Collects the rollouts of one role. Its policy plays in all worlds except those of its opponent slots.

    The first of those belong to a past checkpoint, the others to scripted opponents.
    """

    def __init__(
        self,
        worlds: Worlds,
        name: str,
        policy: Policy,
        critic: Critic,
        steps: int,
        slots: OpponentSlots,
        generator: torch.Generator,
    ) -> None:
        self.arrays = worlds.roles[name]
        self.name, self.policy, self.critic = name, policy, critic
        self.others = PrivilegedObservation(worlds.roles, name)
        count, agents, _ = self.arrays.observation.shape
        self.generator, self.deterministic = generator, False
        self.learns = True
        """If false, policy and normalisers stay fixed."""
        self.worlds = slice(0, slots.all.start) if slots.all.start else slice(slots.all.stop, count)
        """Worlds in which the policy plays."""
        self.columns = slice(self.worlds.start * agents, self.worlds.stop * agents)
        """Their agents among all of the role, in world order."""
        self.past_columns = slice(slots.past.start * agents, slots.past.stop * agents)
        self.buffer = RolloutBuffer.make(
            steps, self.columns.stop - self.columns.start, self.arrays, self.others.size, policy
        )
        self.scripted = [(opponent, WorldsSubset(worlds, where)) for opponent, where in slots.scripted]
        for opponent, part in self.scripted:
            opponent.begin(part)
            opponent.act(part, part.roles[name].action)  # compile before training time counts
            opponent.begin(part)
        self.memory = policy.begin(self.buffer.columns)
        self._player = make_policy_runner(policy, self.buffer.columns)
        self._observations = {name: role.observation[self.worlds] for name, role in worlds.roles.items()}
        everybody = torch.from_numpy(self.arrays.observation).view(count * agents, -1)
        self._raw, self._past_raw = everybody[self.columns], everybody[self.past_columns]
        actions = torch.from_numpy(self.arrays.action).view(count * agents, -1)
        self._action, self._past_action = actions[self.columns], actions[self.past_columns]
        self._results = [
            (getattr(self.buffer, name).numpy(), getattr(self.arrays, name).reshape(-1)[self.columns])
            for name in ("reward", "terminated", "truncated", "acted")
        ]
        """Pairs of destination in the buffer and source in the worlds."""
        self._to_normalise_by: tuple[Tensor, Tensor] | None = None
        """Observations of policy and critic, until it is known which agents act on them."""
        self._past_seen = torch.empty_like(self._past_raw)
        self._past_decision = PolicyOutput(
            torch.empty_like(self._past_action), torch.empty(len(self._past_raw)), self._past_action
        )
        self.set_past_opponent(None)
        self._compile(worlds)

    def _compile(self, worlds: Worlds) -> None:
        """Compile every kernel on empty input, so that compilation does not count as training time."""
        buffer, none = self.buffer, slice(0, 0)
        self.others.of({name: seen[none] for name, seen in self._observations.items()})
        seen = self.policy.look(self._raw[none])
        none_acted = np.zeros(1, np.bool_)
        moments(self._raw[:1].numpy(), none_acted, *np.zeros((2, seen.shape[1]), np.float32))
        situation = PolicyInput(seen, self._raw[none], self.memory[none])
        decision = PolicyOutput(buffer.action[0, none], buffer.log_probability[0, none], self._action[none])
        self._player.act(situation, decision, deterministic=True, generator=self.generator)
        flags = (self.arrays.terminated, self.arrays.truncated, worlds.ended)
        forget(self.memory[none].numpy(), *flags, self.columns.start)

    def set_past_opponent(self, past: Policy | None) -> None:
        """Let `past` play in the worlds of past checkpoints; None stands for the current policy."""
        self.past = past or self.policy
        self._past_player = make_policy_runner(self.past, len(self._past_raw))
        self.past_memory = self.past.begin(self.past_columns.stop - self.past_columns.start)

    @torch.no_grad()
    def decide(self, step: int, worlds: Worlds) -> None:
        """Store the results of the last step, and write the next action of every agent, opponents included."""
        if step > 0:
            self.observe_result(step - 1, worlds)
        buffer = self.buffer
        if step == 0:
            buffer.memory.copy_(self.memory)
            self._player.refresh()
            self._past_player.refresh()
        if buffer.ahead.shape[2]:
            buffer.ahead[step] = self.policy.ahead(self._raw)
        situation = PolicyInput(self.see(step), self._raw, self.memory)
        decision = PolicyOutput(buffer.action[step], buffer.log_probability[step], self._action)
        self._player.act(situation, decision, deterministic=self.deterministic, generator=self.generator)
        if len(self._past_raw):
            seen = self.past.look(self._past_raw, out=self._past_seen)
            situation = PolicyInput(seen, self._past_raw, self.past_memory)
            self._past_player.act(situation, self._past_decision, deterministic=False, generator=self.generator)
        for opponent, part in self.scripted:
            opponent.act(part, part.roles[self.name].action)

    @torch.no_grad()
    def see(self, step: int) -> Tensor:
        """Store what policy and critic observe now; return the policy's part."""
        own = self.policy.to_egocentric(self._raw, out=self.buffer.observation[step])
        others = self.others.of(self._observations)
        if self.learns and step % NORMALISER_STEPS == 0 and step < len(self.buffer.action):
            self._to_normalise_by = own.clone(), others
        self.critic.normaliser(others, out=self.buffer.others[step])
        seen: Tensor = self.policy.normaliser(own, out=own)
        return seen

    @torch.no_grad()
    def observe_result(self, step: int, worlds: Worlds) -> None:
        """Store the results of a step."""
        buffer, arrays = self.buffer, self.arrays
        for rows, results in self._results:
            rows[step] = results
        if self._to_normalise_by is not None:
            own, others = self._to_normalise_by
            self.policy.normaliser.learn(own, buffer.acted[step])
            self.critic.normaliser.learn(others, buffer.acted[step])
            self._to_normalise_by = None
        flags = (arrays.terminated, arrays.truncated, worlds.ended)
        if arrays.truncated.any() and buffer.truncated[step].any():
            self._bootstrap_truncated(step, worlds)
        if step + 1 < len(buffer.not_done):
            buffer.not_done[step + 1] = 1.0
            forget(buffer.not_done[step + 1, :, None].numpy(), *flags, self.columns.start)
        forget(self.memory.numpy(), *flags, self.columns.start)
        forget(self.past_memory.numpy(), *flags, self.past_columns.start)

    def close(self, steps: int, worlds: Worlds) -> None:
        """Store the results of the last step and the observation after it."""
        self.observe_result(steps - 1, worlds)
        self.see(steps)

    @torch.no_grad()
    def close_rollout(self, gamma: float, gae_lambda: float) -> None:
        """Compute values and advantages."""
        buffer = self.buffer
        for step in range(len(buffer.value)):
            buffer.value[step] = self.critic(buffer.observation[step], buffer.others[step])
        advantages(
            buffer.reward.numpy(),
            buffer.value.numpy(),
            buffer.terminated.numpy(),
            buffer.truncated.numpy(),
            buffer.acted.numpy(),
            buffer.bootstrap_value.numpy(),
            np.float32(gamma),
            np.float32(gae_lambda),
            buffer.advantage.numpy(),
        )

    def _bootstrap_truncated(self, step: int, worlds: Worlds) -> None:
        """Truncated episodes bootstrap from the value of their final observation."""
        cut = self.buffer.truncated[step]
        final = torch.from_numpy(self.arrays.final_observation[self.worlds]).flatten(0, 1)[cut]
        others = self.others.of({name: role.final_observation[self.worlds] for name, role in worlds.roles.items()})[cut]
        value = self.critic(self.policy.look(final), self.critic.normaliser(others))
        self.buffer.bootstrap_value[step, cut] = value


def play(
    worlds: Worlds,
    steps: int,
    side_by_side: Callable[[Callable[[RolloutWorker], object]], None],
    after_step: Callable[[Worlds], None],
) -> None:
    """Play `steps` steps in every world; `side_by_side` runs a function for every worker."""
    for step in range(steps):
        side_by_side(partial(RolloutWorker.decide, step=step, worlds=worlds))
        worlds.step()
        after_step(worlds)
    side_by_side(partial(RolloutWorker.close, steps=steps, worlds=worlds))
