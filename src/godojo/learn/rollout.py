"""Rollout collection: fills a buffer per role, without a Python loop over worlds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from godojo.engines.base import RoleArrays, Worlds
from godojo.engines.subset import WorldsSubset
from godojo.games.parts import Heading
from godojo.learn.gae import advantages
from godojo.learn.imitation import Demonstrations, Imitation
from godojo.learn.networks import Critic, Normaliser, Policy
from godojo.learn.return_scale import ReturnScale
from godojo.learn.rotation import relative_state
from godojo.opponents.base import Opponent

if TYPE_CHECKING:
    from godojo.learn.backend import Backend

NORMALISER_STRIDE = 8
"""Normalisers are updated every `NORMALISER_STRIDE` steps; neighbouring steps are nearly the same."""
VALUES_AT_ONCE = 1024
"""Rows that the critic takes at once: few agents are grouped over several steps."""
MAX_OWN_PART_SIZE = 16
"""Observation parts up to this size count as the agent's own state, which other agents' critics see; larger ones are
sensors such as rays."""


def own_state_columns(role: RoleArrays) -> list[int]:
    """The columns of an observation that hold the agent's own state."""
    columns: list[int] = []
    at = 0
    for part in role.observation_parts:
        if part.size <= MAX_OWN_PART_SIZE:
            columns += range(at, at + part.size)
        at += part.size
    return columns


class PolicyInput(NamedTuple):
    """Inputs of a policy, one row per agent."""

    normalised: Tensor
    """The egocentric, normalised form of `observation`."""
    observation: Tensor
    memory: Tensor
    """Updated in place."""


class PolicyOutput(NamedTuple):
    """Tensors that a policy writes to, one row per agent."""

    action: Tensor
    """As sampled, relative to the heading where the game declares one."""
    log_prob: Tensor
    env_action: Tensor
    """As the game takes it; see `Policy.to_env_action`."""


class PolicyRunner:
    """Runs a policy for many agents at once and writes the results to given tensors.

    This implementation runs any policy on any device. `kernels/policy.py` has a faster one for the CPU.
    """

    def __init__(self, policy: Policy, _rows: int) -> None:
        self._policy = policy

    def refresh(self) -> None:
        """Call after the weights changed; kernels copy them, torch needs nothing."""

    def to_egocentric(self, observation: Tensor, out: Tensor) -> None:
        out.copy_(self._policy.to_egocentric(observation))

    def normalise(self, normaliser: Normaliser, rows: Tensor, out: Tensor) -> None:
        out.copy_(normaliser(rows))

    def update_normaliser(self, normaliser: Normaliser, rows: Tensor, acted: Tensor) -> None:
        normaliser.update(rows, acted)

    @torch.no_grad()
    def act(self, inputs: PolicyInput, out: PolicyOutput, *, deterministic: bool, generator: torch.Generator) -> None:
        """Write actions and log-probabilities, and update the memory."""
        policy, heading = self._policy, self._policy.heading_of(inputs.observation)
        features, memory = policy.features(inputs.normalised, inputs.memory, heading)
        sampled = policy.head.sample(features, deterministic=deterministic, generator=generator)
        inputs.memory.copy_(memory)
        out.action.copy_(sampled.action)
        out.log_prob.copy_(sampled.log_prob)
        out.env_action.copy_(policy.to_env_action(sampled.action, inputs.observation))


RelativeState = Callable[[Tensor, Tensor, np.ndarray, np.ndarray, np.ndarray, Tensor], None]
"""An implementation of `rotation.relative_state`."""


class PrivilegedObservation:
    """The privileged input of a role's critic: the own state of all other agents in its world.

    Where the game declares headings, positions, velocities and directions are relative to the observing agent. Without
    other agents, and where agents are independent of each other, it is a single zero.
    """

    def __init__(self, worlds: Worlds, role: str, relative_state: RelativeState = relative_state) -> None:
        self._relative_state, roles = relative_state, worlds.roles
        agents = [(name, index) for name, arrays in roles.items() for index in range(arrays.observation.shape[1])]
        others = [] if worlds.independent_agents else agents
        self._others = [[other for other in others if other != agent] for agent in agents if agent[0] == role]
        """For each agent of the role, all other agents as (role, index)."""
        self._columns = {name: np.array(own_state_columns(arrays), np.int64) for name, arrays in roles.items()}
        self.size = max(sum(len(self._columns[name]) for name, _ in self._others[0]), 1)
        self._role, heading = role, roles[role].heading
        self._forward = np.array(heading.forward if heading else (), np.int64)
        self._pairs = {name: self._pairs_of(arrays.heading, heading, name) for name, arrays in roles.items()}

    def _pairs_of(self, other: Heading | None, own: Heading | None, name: str) -> np.ndarray:
        """The `pairs` argument of `relative_state` for an agent of this role."""
        rows: list[tuple[int, ...]] = []
        if other is not None and own is not None:
            columns = self._columns[name].tolist()
            pairs = [*zip(other.observed, own.observed, strict=False), (other.forward, (-1, -1))]
            rows = [(columns.index(x), columns.index(z), x, z, *own_pair) for (x, z), own_pair in pairs]
        return np.array(rows, np.int64).reshape(-1, 6)

    def of(self, observations: Mapping[str, np.ndarray]) -> Tensor:
        """[N * n, size] from every role's observations [N, n, D]."""
        return self.view_of(observations)()

    def view_of(self, observations: Mapping[str, np.ndarray]) -> Callable[[], Tensor]:
        """A function that computes `of` anew from the same arrays, into the same tensor."""
        rows = {name: torch.from_numpy(arrays) for name, arrays in observations.items()}
        privileged = torch.zeros(len(rows[self._role]), len(self._others), self.size)
        calls = []
        for agent, others in enumerate(self._others):
            own, at = rows[self._role][:, agent], 0
            for name, other in others:
                columns = self._columns[name]
                out = privileged[:, agent, at : at + len(columns)]
                calls.append((own, rows[name][:, other], self._forward, self._pairs[name], columns, out))
                at += len(columns)

        def compute() -> Tensor:
            for call in calls:
                self._relative_state(*call)
            return privileged.view(-1, self.size)

        return compute


class OpponentSlots(NamedTuple):
    """The worlds in which opponents play a role in place of its current policy: a block at the start or at the end.

    Where agents of one role play against each other, opponents play only some of them.
    """

    block: slice
    """All of them."""
    past: slice
    """Those of a past checkpoint."""
    scripted: Sequence[tuple[Opponent, slice]] = ()
    """Scripted opponents with the worlds of each."""
    exploiter: slice = slice(0, 0)
    """Those of the role's exploiter, at the outer end of the block."""
    agents: slice = slice(None)
    """The agents of the role that they play there."""

    @property
    def has_all_agents(self) -> bool:
        return self.agents == slice(None)

    def rows(self, worlds: int, agents: int) -> "tuple[Rows, Rows]":
        """The rows, in world order, of the current policy and of the past checkpoint."""
        of_policy, of_past = np.ones((worlds, agents), np.bool_), np.zeros((worlds, agents), np.bool_)
        of_policy[self.block, self.agents] = False
        of_past[self.past, self.agents] = True
        return _rows(of_policy), _rows(of_past)


Rows = slice | np.ndarray
"""Rows of agents: a slice where they are contiguous, so that selecting them copies nothing; else their indices."""


def _rows(chosen: np.ndarray) -> Rows:
    indices = np.flatnonzero(chosen)
    first, count = int(indices[0]) if len(indices) else 0, len(indices)
    return slice(first, first + count) if not count or indices[-1] - first == count - 1 else indices


class RowSelection:
    """Some rows of a tensor: a view where they are contiguous; else a copy, refreshed by `read`, kept by `write`."""

    def __init__(self, whole: Tensor, rows: Rows) -> None:
        self._whole, self.part = whole, whole[rows]
        self._indices = None if isinstance(rows, slice) else torch.from_numpy(rows)

    def read(self) -> None:
        if self._indices is not None:
            torch.index_select(self._whole, 0, self._indices, out=self.part)

    def write(self) -> None:
        if self._indices is not None:
            self._whole[self._indices] = self.part


@dataclass
class RolloutBuffer:
    """T steps of the C agents that a role's current policy plays: a row per step, a column per agent, in world order.

    Tensors are [T, C], or [T, C, size], unless noted otherwise.
    """

    observation: Tensor
    """[T + 1, C, D], normalised."""
    privileged: Tensor
    """[T + 1, C, P], normalised."""
    action: Tensor
    log_prob: Tensor
    reward: Tensor
    terminated: Tensor
    truncated: Tensor
    acted: Tensor
    """Whether the agent took part in the step; if not, there is nothing to learn from it."""
    bootstrap_value: Tensor
    """Value of the final observation, where `truncated`."""
    not_done: Tensor
    """0 where a new episode began before the step, else 1."""
    heading: Tensor
    """[T, C, 2] if the memory rotates with it; else empty."""
    memory: Tensor
    """[C, M]: the memory before the first step."""
    imitated: Tensor
    """Actions to imitate, where `imitation_weight` is above 0."""
    imitation_weight: Tensor
    value: Tensor
    """[T + 1, C]."""
    advantage: Tensor
    returns: Tensor

    @property
    def num_columns(self) -> int:
        return self.action.shape[1]

    def select(self, columns: Tensor) -> "RolloutBuffer":
        """A copy with some of the agents and all their steps."""
        names = [field.name for field in fields(self)]
        selected = (getattr(self, name).index_select(0 if name == "memory" else 1, columns) for name in names)
        return RolloutBuffer(*selected)

    def split(self, memory: Tensor) -> "RolloutBuffer":
        """Shorter sequences, each as a column of its own: [T / S, S * C] in place of [T, C].

        `memory` is [S, C, M]: before the first step of each.
        """
        steps = len(self.action)
        length = steps // len(memory)

        def columns(whole: Tensor) -> Tensor:
            more = len(whole) - steps  # 1 where there is a value after the last step
            return torch.cat([whole[first : first + length + more] for first in range(0, steps, length)], dim=1)

        names = [field.name for field in fields(self) if field.name != "memory"]
        return RolloutBuffer(memory=memory.flatten(0, 1), **{name: columns(getattr(self, name)) for name in names})

    @classmethod
    def empty(cls, steps: int, columns: int, role: RoleArrays, privileged_size: int, policy: Policy) -> "RolloutBuffer":
        shapes = {
            "observation": (steps + 1, columns, role.observation.shape[2]),
            "privileged": (steps + 1, columns, privileged_size),
            "action": (steps, columns, role.action.shape[2]),
            "imitated": (steps, columns, role.action.shape[2]),
            "heading": (steps, columns, 2 if policy.rotated_cells else 0),
            "memory": (columns, policy.memory_size),
            "value": (steps + 1, columns),
        }
        flags = {"terminated": torch.bool, "truncated": torch.bool, "acted": torch.bool}
        names = [field.name for field in fields(cls)]
        buffer = cls(*(torch.zeros(shapes.get(name, (steps, columns)), dtype=flags.get(name)) for name in names))
        buffer.not_done.fill_(1.0)
        return buffer


class RolloutWorker:
    """Collects the rollouts of one role. Its policy plays in all worlds except those of its opponent slots."""

    def __init__(
        self,
        worlds: Worlds,
        name: str,
        policy: Policy,
        critic: Critic,
        steps: int,
        slots: OpponentSlots,
        generator: torch.Generator,
        backend: "Backend",
        sequence_length: int = 0,
    ) -> None:
        self.arrays = worlds.roles[name]
        self.name, self.policy, self.critic = name, policy, critic
        self.privileged = PrivilegedObservation(worlds, name, backend.relative_state)
        count, agents, _ = self.arrays.observation.shape
        self.generator, self.deterministic = generator, False
        self.learns = True
        """If false, policy and normalisers stay fixed."""
        self.world_slice = slice(0, slots.block.start) if slots.block.start else slice(slots.block.stop, count)
        """Worlds in which the policy plays."""
        if not slots.has_all_agents:
            self.world_slice = slice(0, count)
        self.columns, self.past_columns = slots.rows(count, agents)
        """Agents that the policy, and a past checkpoint, play, where all agents of the role are in world order."""
        self._of_worlds = slice(None) if isinstance(self.columns, slice) else self.columns
        """The policy's agents among those of `world_slice`."""
        num_columns = len(self.arrays.action.reshape(count * agents, -1)[self.columns])
        self.buffer = RolloutBuffer.empty(steps, num_columns, self.arrays, self.privileged.size, policy)
        self.scripted = [(opponent, WorldsSubset(worlds, where)) for opponent, where in slots.scripted]
        self._opponent_agents = None if slots.has_all_agents else slots.agents
        for opponent, part in self.scripted:
            opponent.begin(part)
            self._act_scripted(opponent, part)  # compile before training time counts
            opponent.begin(part)
        self.memory = policy.initial_memory(self.buffer.num_columns)
        self._sequence_length = sequence_length or steps
        self.sequence_memory = torch.zeros(steps // self._sequence_length, *self.memory.shape)
        """[S, C, M]: the memory before each sequence of the rollout."""
        self.return_scale: ReturnScale | None = None
        """Scales rewards if it is set."""
        self._backend, self._runner = backend, backend.policy_runner(policy, self.buffer.num_columns)
        self._observations = {name: role.observation[self.world_slice] for name, role in worlds.roles.items()}
        self._see_privileged = self.privileged.view_of(self._observations)
        observations = torch.from_numpy(self.arrays.observation).view(count * agents, -1)
        actions = torch.from_numpy(self.arrays.action).view(count * agents, -1)
        self._inputs = [RowSelection(observations, rows) for rows in (self.columns, self.past_columns)]
        self._outputs = [RowSelection(actions, rows) for rows in (self.columns, self.past_columns)]
        self._observation, self._past_observation = (selection.part for selection in self._inputs)
        self._action, self._past_action = (selection.part for selection in self._outputs)
        self._results = [
            (getattr(self.buffer, name).numpy(), getattr(self.arrays, name).reshape(-1))
            for name in ("reward", "terminated", "truncated", "acted")
        ]
        """Pairs of destination in the buffer and source in the worlds, of all agents."""
        self._step_tensors = [
            tensors.unbind()
            for tensors in (self.buffer.observation, self.buffer.privileged, self.buffer.action, self.buffer.log_prob)
        ]
        """The buffer's tensors of each step: slicing them anew in each takes longer than inference for few agents."""
        heading = policy.shape.heading
        self._heading_columns = list(heading.forward) if heading else []
        self._normaliser_rows: tuple[Tensor, Tensor] | None = None
        """Observations of policy and critic for the normalisers, until it is known which agents acted on them."""
        self._past_normalised = torch.empty_like(self._past_observation)
        self._past_output = PolicyOutput(
            torch.empty_like(self._past_action), torch.empty(len(self._past_observation)), self._past_action
        )
        self.set_past_opponent(None)
        self._warm_up()
        self.imitation: Imitation | None = None
        self.demonstrations: Demonstrations | None = None

    def _warm_up(self) -> None:
        """Run every kernel once on empty input, so that compilation does not count as training time."""
        buffer, runner, empty = self.buffer, self._runner, self._observation[:0]
        self.privileged.of({name: rows[:0] for name, rows in self._observations.items()})
        runner.to_egocentric(empty, empty)
        runner.normalise(self.policy.normaliser, empty, empty)
        runner.update_normaliser(self.policy.normaliser, empty, buffer.acted[0, :0])
        outputs = PolicyOutput(buffer.action[0, :0], buffer.log_prob[0, :0], self._action[:0])
        runner.act(PolicyInput(empty, empty, self.memory[:0]), outputs, deterministic=True, generator=self.generator)

    def set_past_opponent(self, past: Policy | None) -> None:
        """Let `past` play in the worlds of a past checkpoint; None for the current policy."""
        self.past = past or self.policy
        self._past_runner = self._backend.policy_runner(self.past, len(self._past_observation))
        self.past_memory = self.past.initial_memory(len(self._past_observation))

    @torch.no_grad()
    def decide(self, step: int, worlds: Worlds) -> None:
        """Store the results of the last step, and write the next action of every agent, opponents included."""
        if step > 0:
            self.store_results(step - 1, worlds)
        buffer = self.buffer
        for selection in self._inputs:
            selection.read()
        if step % self._sequence_length == 0:
            self.sequence_memory[step // self._sequence_length] = self.memory
        if step == 0:
            buffer.memory.copy_(self.memory)
            self._runner.refresh()
            self._past_runner.refresh()
        if self.policy.rotated_cells:
            buffer.heading.numpy()[step] = self._observation.numpy()[:, self._heading_columns]
        self.store_observation(step)
        seen, _, actions, log_probs = self._step_tensors
        inputs = PolicyInput(seen[step], self._observation, self.memory)
        outputs = PolicyOutput(actions[step], log_probs[step], self._action)
        self._runner.act(inputs, outputs, deterministic=self.deterministic, generator=self.generator)
        if len(self._past_observation):
            runner, normalised = self._past_runner, self._past_normalised
            runner.to_egocentric(self._past_observation, normalised)
            runner.normalise(self.past.normaliser, normalised, normalised)
            inputs = PolicyInput(normalised, self._past_observation, self.past_memory)
            runner.act(inputs, self._past_output, deterministic=False, generator=self.generator)
        for selection in self._outputs:
            selection.write()
        for opponent, part in self.scripted:
            self._act_scripted(opponent, part)

    @torch.no_grad()
    def ask_imitated(self, step: int) -> None:
        """Store what the imitated opponent would do; may run beside `decide`."""
        assert self.imitation is not None
        self.imitation.ask(step, self.policy, self._observation, self.buffer)

    def _act_scripted(self, opponent: Opponent, part: WorldsSubset) -> None:
        action = part.roles[self.name].action
        if self._opponent_agents is None:
            opponent.act(part, action)
            return
        everybody = np.empty_like(action)
        opponent.act(part, everybody)
        action[:, self._opponent_agents] = everybody[:, self._opponent_agents]

    def store_observation(self, step: int) -> None:
        """Store the current observations of policy and critic, normalised."""
        runner, own, others = self._runner, self._step_tensors[0][step], self._step_tensors[1][step]
        runner.to_egocentric(self._observation, own)
        privileged = self._see_privileged()[self._of_worlds]
        if self.learns and step % NORMALISER_STRIDE == 0 and step < len(self.buffer.action):
            self._normaliser_rows = own.clone(), privileged.clone()
        runner.normalise(self.critic.normaliser, privileged, others)
        runner.normalise(self.policy.normaliser, own, own)

    def store_results(self, step: int, worlds: Worlds) -> None:
        """Store the results of a step; reset the memory of agents whose episode ended."""
        buffer, arrays = self.buffer, self.arrays
        for destination, source in self._results:
            destination[step] = source[self.columns]
        if self._normaliser_rows is not None:
            own, privileged = self._normaliser_rows
            self._runner.update_normaliser(self.policy.normaliser, own, buffer.acted[step])
            self._runner.update_normaliser(self.critic.normaliser, privileged, buffer.acted[step])
            self._normaliser_rows = None
        if arrays.truncated.any() and buffer.truncated[step].any():
            self._bootstrap_truncated(step, worlds)
        done = (arrays.terminated | arrays.truncated | worlds.ended[:, None]).reshape(-1)
        if step + 1 < len(buffer.not_done):
            buffer.not_done.numpy()[step + 1] = ~done[self.columns]
        if done.any():
            over = torch.from_numpy(done).view(-1, 1)
            self.memory.masked_fill_(over[self.columns], 0.0)
            self.past_memory.masked_fill_(over[self.past_columns], 0.0)

    @torch.no_grad()
    def finish(self, steps: int, worlds: Worlds) -> None:
        """Store the results of the last step and the observation after it."""
        self.store_results(steps - 1, worlds)
        self._inputs[0].read()
        self.store_observation(steps)

    @torch.no_grad()
    def compute_returns_and_advantage(self, gamma: float, gae_lambda: float) -> None:
        """Compute values, advantages and returns."""
        buffer = self.buffer
        if self.return_scale is not None:
            buffer.reward.copy_(self.return_scale.scaled(buffer.reward, buffer.terminated | buffer.truncated))
        together = max(VALUES_AT_ONCE // max(buffer.num_columns, 1), 1) if self.policy.cnn is None else 1
        for first in range(0, len(buffer.value), together):
            steps = slice(first, first + together)
            seen, others = self.policy.see(buffer.observation[steps]), buffer.privileged[steps]
            buffer.value[steps] = self.critic(seen, others)
        buffer.advantage = advantages(
            buffer.reward,
            buffer.value,
            buffer.terminated,
            buffer.truncated,
            buffer.acted,
            buffer.bootstrap_value,
            gamma,
            gae_lambda,
        )
        buffer.returns = buffer.advantage + buffer.value[:-1]

    def _bootstrap_truncated(self, step: int, worlds: Worlds) -> None:
        """Store the value of the final observation of truncated episodes."""
        truncated = self.buffer.truncated[step]
        final = torch.from_numpy(self.arrays.final_observation[self.world_slice]).flatten(0, 1)
        final = final[self._of_worlds][truncated]
        finals = {name: role.final_observation[self.world_slice] for name, role in worlds.roles.items()}
        privileged = self.critic.normaliser(self.privileged.of(finals)[self._of_worlds][truncated])
        seen = self.policy.see(self.policy.preprocess(final))
        self.buffer.bootstrap_value[step, truncated] = self.critic(seen, privileged)


Task = Callable[[], object]
InParallel = Callable[[Sequence[Task], Task], None]
"""Runs some tasks in parallel and another one beside them; returns when all have ended."""


def collect_rollout(
    worlds: Worlds,
    steps: int,
    workers: Sequence[RolloutWorker],
    in_parallel: InParallel,
    after_step: Callable[[Worlds], None],
) -> None:
    """Play `steps` steps in every world.

    `after_step` runs beside the decisions that follow the step: both read the results of the worlds.
    """

    def report() -> None:
        after_step(worlds)

    for step in range(steps):
        tasks: list[Task] = [partial(worker.ask_imitated, step) for worker in workers if worker.imitation is not None]
        tasks += [partial(worker.decide, step, worlds) for worker in workers]
        in_parallel(tasks, report if step else lambda: None)
        worlds.step()
    in_parallel([partial(worker.finish, steps, worlds) for worker in workers], report)
