"""Rollout collection: fills a buffer per role, without a Python loop over worlds."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from godojo.engines.base import Worlds
from godojo.engines.subset import WorldsSubset
from godojo.learn.imitation import Demonstrations, Imitation
from godojo.learn.networks import Critic, Policy
from godojo.learn.opponent_slots import OpponentSlots, Rows
from godojo.learn.policy_runner import PolicyInput, PolicyOutput
from godojo.learn.privileged import PrivilegedObservation
from godojo.learn.return_scale import ReturnScale
from godojo.learn.rollout_buffer import RolloutBuffer
from godojo.learn.step_results import Ends, Results
from godojo.opponents.base import Opponent

if TYPE_CHECKING:
    from godojo.learn.backend import Backend

NORMALISER_STRIDE = 8
"""Normalisers are updated every `NORMALISER_STRIDE` steps; neighbouring steps are nearly the same."""


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
        self._critic_runner = backend.critic_runner(policy, critic)
        self._observations = {name: role.observation[self.world_slice] for name, role in worlds.roles.items()}
        self._see_privileged = self.privileged.view_of(self._observations)
        observations = torch.from_numpy(self.arrays.observation).view(count * agents, -1)
        actions = torch.from_numpy(self.arrays.action).view(count * agents, -1)
        self._inputs = [RowSelection(observations, rows) for rows in (self.columns, self.past_columns)]
        self._outputs = [RowSelection(actions, rows) for rows in (self.columns, self.past_columns)]
        self._observation, self._past_observation = (selection.part for selection in self._inputs)
        self._action, self._past_action = (selection.part for selection in self._outputs)
        arrays, buffer = self.arrays, self.buffer
        self._ends = Ends(agents, arrays.terminated.reshape(-1), arrays.truncated.reshape(-1), worlds.ended)
        self._results = Results(arrays.reward.reshape(-1), arrays.acted.reshape(-1))
        self._stored_results = [
            each.numpy() for each in (buffer.reward, buffer.terminated, buffer.truncated, buffer.acted)
        ]
        self._rows, self._past_rows = (np.arange(count * agents)[rows] for rows in (self.columns, self.past_columns))
        self._not_done = [*self.buffer.not_done.numpy(), np.empty(num_columns, np.float32)]
        """Of each step, and of the one after the rollout, which is not used."""
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
        runner.from_env_action(self._action[:0], empty, buffer.imitated[0, :0])
        runner.update_normaliser(self.policy.normaliser, empty, buffer.acted[0, :0])
        nobody, memory = self._rows[:0], self.memory.numpy()
        self._backend.reset_memory(nobody, self._ends, memory)
        stored = [destination[0] for destination in self._stored_results]
        self._backend.store_results(nobody, self._results, self._ends, self._not_done[0], memory, *stored)
        outputs = PolicyOutput(buffer.action[0, :0], buffer.log_prob[0, :0], self._action[:0])
        runner.act(PolicyInput(empty, empty, self.memory[:0]), outputs, deterministic=True, generator=self.generator)

    def set_past_opponent(self, past: Policy | None) -> None:
        """Let `past` play in the worlds of a past checkpoint; None for the current policy."""
        self.past = past or self.policy
        self._past_runner = self._backend.policy_runner(self.past, len(self._past_observation))
        self.past_memory = self.past.initial_memory(len(self._past_observation))

    @torch.no_grad()
    def decide(self, step: int, worlds: Worlds) -> None:
        """Store the results of the last step, and write the next actions of the policy and of a past checkpoint."""
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

    def play_scripted(self) -> None:
        """Write the next actions of scripted opponents; may run beside `decide`."""
        for opponent, part in self.scripted:
            self._act_scripted(opponent, part)

    @torch.no_grad()
    def ask_imitated(self, step: int) -> None:
        """Store what the imitated opponent would do; may run beside `decide`."""
        assert self.imitation is not None
        self.imitation.ask(step, self._runner, self._observation, self.buffer)

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
        buffer, memory = self.buffer, self.memory.numpy()
        stored = [destination[step] for destination in self._stored_results]
        following = self._not_done[step + 1]
        is_truncated = self._backend.store_results(self._rows, self._results, self._ends, following, memory, *stored)
        if self._normaliser_rows is not None:
            own, privileged = self._normaliser_rows
            self._runner.update_normaliser(self.policy.normaliser, own, buffer.acted[step])
            self._runner.update_normaliser(self.critic.normaliser, privileged, buffer.acted[step])
            self._normaliser_rows = None
        if is_truncated:
            self._bootstrap_truncated(step, worlds)
        self._backend.reset_memory(self._past_rows, self._ends, self.past_memory.numpy())

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
        self._critic_runner.values(buffer.observation, buffer.privileged, buffer.value)
        buffer.advantage = self._backend.advantages(
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
        tasks += [worker.play_scripted for worker in workers if worker.scripted]
        in_parallel(tasks, report if step else lambda: None)
        worlds.step()
    in_parallel([partial(worker.finish, steps, worlds) for worker in workers], report)
