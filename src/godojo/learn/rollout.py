"""Playing: fills arrays with what every role's agents saw, did and got, without a Python loop over worlds."""

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
"""The normaliser learns from every so-manieth decision of a rollout; neighbours tell it nothing new."""
SMALL = 16
"""Parts of an observation with at most so many numbers are what an agent knows of itself; others' critics see them."""


def small_columns(role: RoleArrays) -> list[int]:
    """Where the small parts are."""
    columns: list[int] = []
    at = 0
    for part in role.observation_parts:
        if part.size <= SMALL:
            columns += range(at, at + part.size)
        at += part.size
    return columns


class PrivilegedObservation:
    """What a role's critic sees beyond the agent's own observation: what all other agents know of themselves.

    Where the game tells headings, it sees them from the agent's place and in its frame: how far ahead and to its left
    another one is, how fast it comes nearer, where it looks. An agent that plays alone has no others; a zero stands
    for them, since a network must be fed something.
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

    def _pairs_of(self, told: Heading | None, own: Heading | None, name: str) -> np.ndarray:
        """What `tell` turns of what an agent of this role knows of itself."""
        found: list[tuple[int, ...]] = []
        if told is not None and own is not None:
            columns = self._columns[name].tolist()
            pairs = [*zip(told.observed, own.observed, strict=False), (told.forward, (-1, -1))]
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
    """In which worlds somebody else than the present policy plays a role: the first ones, or the last ones."""

    all: slice
    past: slice
    """Worlds of a past self."""
    scripted: Sequence[tuple[Opponent, slice]] = ()


@dataclass
class RolloutBuffer:
    """T decisions of the C agents of one role that its policy plays (world by world, all agents of a world)."""

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
    cut_value: Tensor
    goes_on: Tensor
    """[T, C]: 0 where a new round began before the decision."""
    ahead: Tensor
    """[T, C, 2]: where each looked, if its memory turns with it; else of no size."""
    memory: Tensor
    """[C, M]: remembered before the first decision."""
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
            cut_value=torch.zeros(steps, columns),
            goes_on=torch.ones(steps, columns),
            ahead=torch.zeros(steps, columns, 2 if len(policy.turning) else 0),
            memory=torch.zeros(columns, policy.memory_size),
            value=torch.zeros(steps + 1, columns),
            advantage=torch.zeros(steps, columns),
        )


class RolloutWorker:
    """One role at the table: its policy plays in all worlds but those where a guest sits in for it.

    Guests are a past self, in the first of their worlds, and scripted opponents in the others.
    """

    def __init__(
        self,
        worlds: Worlds,
        name: str,
        policy: Policy,
        critic: Critic,
        steps: int,
        guests: OpponentSlots,
        generator: torch.Generator,
    ) -> None:
        self.arrays = worlds.roles[name]
        self.name, self.policy, self.critic = name, policy, critic
        self.others = PrivilegedObservation(worlds.roles, name)
        count, agents, _ = self.arrays.observation.shape
        self.generator, self.greedy = generator, False
        self.learns = True
        """If not, the policy stays as it is, and so does what it normalises with."""
        self.worlds = slice(0, guests.all.start) if guests.all.start else slice(guests.all.stop, count)
        """Those in which the policy plays."""
        self.columns = slice(self.worlds.start * agents, self.worlds.stop * agents)
        """Their agents among all of the role, world by world; likewise below."""
        self.past_columns = slice(guests.past.start * agents, guests.past.stop * agents)
        self.track = RolloutBuffer.make(
            steps, self.columns.stop - self.columns.start, self.arrays, self.others.size, policy
        )
        self.scripted = [(opponent, WorldsSubset(worlds, where)) for opponent, where in guests.scripted]
        for opponent, part in self.scripted:
            opponent.begin(part)
            opponent.act(part, part.roles[name].action)  # compiles, so that it does not count as training
            opponent.begin(part)
        self.memory = policy.begin(self.track.columns)
        self._player = make_policy_runner(policy, self.track.columns)
        self._observations = {name: role.observation[self.worlds] for name, role in worlds.roles.items()}
        everybody = torch.from_numpy(self.arrays.observation).view(count * agents, -1)
        self._raw, self._past_raw = everybody[self.columns], everybody[self.past_columns]
        actions = torch.from_numpy(self.arrays.action).view(count * agents, -1)
        self._action, self._past_action = actions[self.columns], actions[self.past_columns]
        self._results = [
            (getattr(self.track, name).numpy(), getattr(self.arrays, name).reshape(-1)[self.columns])
            for name in ("reward", "terminated", "truncated", "acted")
        ]
        """Of each result: where it is kept, and where the worlds write it."""
        self._to_normalise_by: tuple[Tensor, Tensor] | None = None
        """What was seen, by the agents and by their critic, until it is known which of the agents act by it."""
        self._past_seen = torch.empty_like(self._past_raw)
        self._past_decision = PolicyOutput(
            torch.empty_like(self._past_action), torch.empty(len(self._past_raw)), self._past_action
        )
        self.sit_in(None)
        self._compile(worlds)

    def _compile(self, worlds: Worlds) -> None:
        """Calls every kernel for no rows, so that compiling them does not count as training."""
        track, none = self.track, slice(0, 0)
        self.others.of({name: seen[none] for name, seen in self._observations.items()})
        seen = self.policy.look(self._raw[none])
        none_acted = np.zeros(1, np.bool_)
        moments(self._raw[:1].numpy(), none_acted, *np.zeros((2, seen.shape[1]), np.float32))
        situation = PolicyInput(seen, self._raw[none], self.memory[none])
        decision = PolicyOutput(track.action[0, none], track.log_probability[0, none], self._action[none])
        self._player.act(situation, decision, greedy=True, generator=self.generator)
        flags = (self.arrays.terminated, self.arrays.truncated, worlds.ended)
        forget(self.memory[none].numpy(), *flags, self.columns.start)

    def sit_in(self, past: Policy | None) -> None:
        """From now on `past` plays in this role's worlds of past selves; without one, the policy itself does."""
        self.past = past or self.policy
        self._past_player = make_policy_runner(self.past, len(self._past_raw))
        self.past_memory = self.past.begin(self.past_columns.stop - self.past_columns.start)

    @torch.no_grad()
    def decide(self, step: int, worlds: Worlds) -> None:
        """Looks at what the last decision led to, and writes what every agent does next, the guests too."""
        if step > 0:
            self.take_in(step - 1, worlds)
        track = self.track
        if step == 0:
            track.memory.copy_(self.memory)
            self._player.refresh()
            self._past_player.refresh()
        if track.ahead.shape[2]:
            track.ahead[step] = self.policy.ahead(self._raw)
        situation = PolicyInput(self.see(step), self._raw, self.memory)
        decision = PolicyOutput(track.action[step], track.log_probability[step], self._action)
        self._player.act(situation, decision, greedy=self.greedy, generator=self.generator)
        if len(self._past_raw):
            seen = self.past.look(self._past_raw, out=self._past_seen)
            situation = PolicyInput(seen, self._past_raw, self.past_memory)
            self._past_player.act(situation, self._past_decision, greedy=False, generator=self.generator)
        for opponent, part in self.scripted:
            opponent.act(part, part.roles[self.name].action)

    @torch.no_grad()
    def see(self, step: int) -> Tensor:
        """Keeps what the policy and the critic see now; returns the policy's part."""
        own = self.policy.to_egocentric(self._raw, out=self.track.observation[step])
        others = self.others.of(self._observations)
        if self.learns and step % NORMALISER_STEPS == 0 and step < len(self.track.action):
            self._to_normalise_by = own.clone(), others
        self.critic.normaliser(others, out=self.track.others[step])
        seen: Tensor = self.policy.normaliser(own, out=own)
        return seen

    @torch.no_grad()
    def take_in(self, step: int, worlds: Worlds) -> None:
        """Keeps what the decision led to."""
        track, arrays = self.track, self.arrays
        for rows, results in self._results:
            rows[step] = results
        if self._to_normalise_by is not None:
            own, others = self._to_normalise_by
            self.policy.normaliser.learn(own, track.acted[step])
            self.critic.normaliser.learn(others, track.acted[step])
            self._to_normalise_by = None
        flags = (arrays.terminated, arrays.truncated, worlds.ended)
        if arrays.truncated.any() and track.truncated[step].any():
            self._value_cuts(step, worlds)
        if step + 1 < len(track.goes_on):
            track.goes_on[step + 1] = 1.0
            forget(track.goes_on[step + 1, :, None].numpy(), *flags, self.columns.start)
        forget(self.memory.numpy(), *flags, self.columns.start)
        forget(self.past_memory.numpy(), *flags, self.past_columns.start)

    def close(self, steps: int, worlds: Worlds) -> None:
        """Looks at what the last decision of all led to."""
        self.take_in(steps - 1, worlds)
        self.see(steps)

    @torch.no_grad()
    def close_rollout(self, gamma: float, gae_lambda: float) -> None:
        """What every situation was worth, and how much better than expected every decision was."""
        track = self.track
        for step in range(len(track.value)):
            track.value[step] = self.critic(track.observation[step], track.others[step])
        advantages(
            track.reward.numpy(),
            track.value.numpy(),
            track.terminated.numpy(),
            track.truncated.numpy(),
            track.acted.numpy(),
            track.cut_value.numpy(),
            np.float32(gamma),
            np.float32(gae_lambda),
            track.advantage.numpy(),
        )

    def _value_cuts(self, step: int, worlds: Worlds) -> None:
        """A round that was cut short goes on in value: that of what its agents saw last."""
        cut = self.track.truncated[step]
        final = torch.from_numpy(self.arrays.final_observation[self.worlds]).flatten(0, 1)[cut]
        others = self.others.of({name: role.final_observation[self.worlds] for name, role in worlds.roles.items()})[cut]
        value = self.critic(self.policy.look(final), self.critic.normaliser(others))
        self.track.cut_value[step, cut] = value


def play(
    worlds: Worlds,
    steps: int,
    side_by_side: Callable[[Callable[[RolloutWorker], object]], None],
    after_step: Callable[[Worlds], None],
) -> None:
    """`steps` decisions in every world, by everybody's policy; `side_by_side` does something for every seat."""
    for step in range(steps):
        side_by_side(partial(RolloutWorker.decide, step=step, worlds=worlds))
        worlds.step()
        after_step(worlds)
    side_by_side(partial(RolloutWorker.close, steps=steps, worlds=worlds))
