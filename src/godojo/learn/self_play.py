"""Self-play: every role learns at once, against the present others and against past selves.

In the first worlds one role is played by guests (a past self, scripted opponents), in the last ones the other, and
only the opponents of guests learn there; in all worlds in between everybody plays and learns.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import wait
from typing import Any

import msgspec
import numpy as np
import torch

from godojo.engines.base import RoleArrays, Worlds
from godojo.games.parts import Heading
from godojo.learn import ppo
from godojo.learn.algorithm import Iteration, OpponentAssignment, Task
from godojo.learn.kernels.layers import in_one_row
from godojo.learn.kernels.ppo import make_ppo_gradient
from godojo.learn.networks import Critic, Policy, PolicyShape
from godojo.learn.opponent_pool import OpponentPool
from godojo.learn.rollout import OpponentSlots, PrivilegedObservation, RolloutWorker, play
from godojo.learn.settings import PpoSettings
from godojo.learn.threads import single_threaded_pool
from godojo.learn.weight_backup import restore_on_error
from godojo.opponents import make_opponent


def shape_for(role: RoleArrays, settings: PpoSettings) -> PolicyShape:
    """The policy that these settings mean for a role."""
    return PolicyShape(
        observation_size=role.observation.shape[2],
        action_parts=role.action_parts,
        net_arch=settings.net_arch,
        memory=settings.memory,
        memory_size=settings.memory_size if settings.memory else 0,
        heading=heading_for(role, settings),
    )


def heading_for(role: RoleArrays, settings: PpoSettings) -> Heading | None:
    """The role's heading with what turns of what is remembered; of a smaller memory at most all of it."""
    if role.heading is None or not settings.egocentric:
        return None
    turning = min(settings.egocentric_memory_size, settings.memory_size // 2 * 2) if settings.memory == "leaky" else 0
    first = settings.memory_size - turning
    pairs = tuple((at, at + 1) for at in range(first, settings.memory_size, 2))
    return msgspec.structs.replace(role.heading, remembered=pairs if turning else ())


def guests_of(index: int, role: str, worlds: Worlds, settings: PpoSettings, seed: int) -> OpponentSlots:
    """Who sits in for the role, and where: two roles that play against each other have a block of worlds each."""
    if len(worlds.roles) != 2:
        return OpponentSlots(slice(0, 0), slice(0, 0))
    past = int(worlds.num_worlds * settings.past_opponent_fraction / 2)
    each = int(worlds.num_worlds * settings.scripted_opponent_fraction / 2 / max(len(settings.scripted_opponents), 1))
    block = past + each * len(settings.scripted_opponents)
    start = index * (worlds.num_worlds - block)
    scripted = [
        (make_opponent(name, role, seed), slice(start + past + place * each, start + past + (place + 1) * each))
        for place, name in enumerate(settings.scripted_opponents)
        if each
    ]
    return OpponentSlots(slice(start, start + block), slice(start, start + past), scripted)


class PpoSelfPlay:
    """Everything that learns: worlds, seats, optimisers and the league of past selves.

    The same seed gives the same weights, at any number of threads: every role has its own random numbers and is
    computed on one thread, and roles run side by side.
    """

    def __init__(
        self,
        worlds: Worlds,
        settings: PpoSettings,
        seed: int,
        policies: Mapping[str, Policy] | None = None,
        tasks: Mapping[str, Task] | None = None,
    ) -> None:
        self.worlds, self.settings = worlds, settings
        self.tasks: dict[str, Task] = dict.fromkeys(worlds.roles, "train")
        self.tasks.update(tasks or {})
        names = list(worlds.roles)
        self.league = (
            OpponentPool(names, settings.pool_size)
            if len(names) == 2 and settings.past_opponent_fraction > 0.0
            else None
        )
        self.guests = {name: guests_of(index, name, worlds, settings, seed) for index, name in enumerate(names)}
        self.seats: dict[str, RolloutWorker] = {}
        self.optimisers: dict[str, torch.optim.Adam] = {}
        self.teachers: dict[str, ppo.PpoGradient] = {}
        self._rng = np.random.default_rng(seed)
        for name, role in worlds.roles.items():
            torch.manual_seed(int(self._rng.integers(2**62)))
            given = (policies or {}).get(name)
            policy = given if given is not None else Policy(shape_for(role, settings))
            critic = Critic(
                role.observation.shape[2], PrivilegedObservation(worlds.roles, name).size, settings.net_arch
            )
            generator = torch.Generator().manual_seed(int(self._rng.integers(2**62)))
            self.seats[name] = RolloutWorker(
                worlds, name, policy, critic, settings.n_steps, self.guests[name], generator
            )
            weights = in_one_row([*policy.parameters(), *critic.parameters()])
            self.teachers[name] = make_ppo_gradient(policy, critic, weights, settings)
            self._compile(name)
            self.optimisers[name] = torch.optim.Adam([weights], lr=settings.learning_rate, eps=1e-5, fused=True)
        self.updates, self.agent_steps = 0, 0
        self._sitting: dict[str, int | None] = dict.fromkeys(names)
        self._sat_down_at = 0
        self._among_us = np.ones(worlds.num_worlds, np.bool_)
        """Of each world: no guest plays there."""
        for guests in self.guests.values():
            self._among_us[guests.all] = False
        self._free = dict.fromkeys(names, 0)
        """Rounds won by each role where no guest played."""
        self._with_past = {name: dict.fromkeys(names, 0) for name in names}
        """The same where a past self played this role."""
        self._threads = single_threaded_pool(len(names))

    def _compile(self, name: str) -> None:
        """Calls what learns for a track of nothing, so that compiling it does not count as training."""
        seat, settings = self.seats[name], self.settings
        seat.close_rollout(settings.gamma, settings.gae_lambda)
        self.teachers[name](seat.track, seat.track.advantage, seat.track.advantage, torch.zeros(1, dtype=torch.int64))

    @property
    def policies(self) -> dict[str, Policy]:
        return {name: seat.policy for name, seat in self.seats.items()}

    @property
    def sitting(self) -> list[OpponentAssignment]:
        """The guests at the table now."""
        found = []
        for name, guests in self.guests.items():
            index = self._sitting[name]
            if self.league is not None and index is not None:
                found.append(
                    OpponentAssignment(name, guests.past, f"step_{self.league.past[name][index].agent_steps:012d}")
                )
            for who, (_, where) in zip(self.settings.scripted_opponents, guests.scripted, strict=False):
                found.append(OpponentAssignment(name, where, who))
        return found

    def iterate(self, progress: float, watch: Callable[[Worlds], None] = lambda _: None) -> Iteration:
        """One rollout and what is learnt from it; `progress` through the budget is from 0 to 1.

        `watch` is shown the worlds after every decision.
        """
        settings = self.settings
        for name, task in self.tasks.items():
            self.seats[name].learns, self.seats[name].greedy = task == "train", task == "deterministic"
        self._seat_past_selves()
        rate = settings.learning_rate + (settings.final_learning_rate - settings.learning_rate) * progress
        learning = [name for name, task in self.tasks.items() if task == "train"]
        modules = [module for name in learning for module in (self.seats[name].policy, self.seats[name].critic)]
        with restore_on_error(modules, self.optimisers.values()):
            rounds = self._play(watch)
            lessons = {name: self._threads.submit(self._learn, name, rate) for name in learning}
            wait(lessons.values())  # all of them, also when one breaks down: nobody may still be learning afterwards
            figures = {name: lesson.result() for name, lesson in lessons.items()}
        self.updates += 1
        self.agent_steps += settings.n_steps * sum(role.action[..., 0].size for role in self.worlds.roles.values())
        if self.league is not None:
            self._rate(self.league)
        return Iteration(rounds, self._free, figures)

    def close(self) -> None:
        self._threads.shutdown()
        self.worlds.close()

    def _learn(self, name: str, rate: float) -> dict[str, float]:
        seat, optimiser = self.seats[name], self.optimisers[name]
        for group in optimiser.param_groups:
            group["lr"] = rate
        seat.close_rollout(self.settings.gamma, self.settings.gae_lambda)
        try:
            figures = ppo.update(seat, self.teachers[name], optimiser, self.settings)
        except ppo.NonFiniteLoss as error:
            raise ppo.broke_down(name, error, seat.track.reward) from None
        return figures | {"train/learning_rate": rate}

    def _side_by_side(self, work: Callable[[RolloutWorker], object]) -> None:
        """Does it for every seat at once; torch and the kernels let other threads run."""
        list(self._threads.map(work, self.seats.values()))

    def _seat_past_selves(self) -> None:
        """Past selves are drawn anew when rounds have had the time to be played out."""
        if self.league is None or self.updates % self.settings.opponent_resample_interval:
            return
        if self.updates % self.settings.snapshot_interval == 0:
            for name, seat in self.seats.items():
                self.league.join(name, seat.policy, self.agent_steps)
        one, other = self.seats
        for name, against in ((one, other), (other, one)):
            index = self.league.draw(name, against, self._rng)
            self._sitting[name] = index
            self.seats[name].sit_in(None if index is None else self.league.past[name][index].policy)
        self._sat_down_at = self.updates

    def _play(self, watch: Callable[[Worlds], None]) -> int:
        """A rollout. Counts who won; of rounds with a past self only those that began after it sat down."""
        steps, names, worlds = self.settings.n_steps, list(self.seats), self.worlds
        self._free = dict.fromkeys(names, 0)
        self._with_past = {name: dict.fromkeys(names, 0) for name in names}
        begun = (self.updates - self._sat_down_at) * steps
        played, rounds = 0, 0

        def after_step(worlds: Worlds) -> None:
            nonlocal played, rounds
            played += 1
            watch(worlds)
            if not worlds.ended.any():
                return
            among_us = worlds.played & self._among_us
            rounds += int(among_us.sum())
            whole = worlds.ended & (worlds.length_ticks <= (begun + played) * worlds.ticks_per_decision)
            for winner in names:
                if winner in worlds.winners:
                    won = worlds.winner == worlds.winners.index(winner)
                    self._free[winner] += int((among_us & won).sum())
                    for name, results in self._with_past.items():
                        past = self.guests[name].past
                        results[winner] += int((whole[past] & won[past]).sum())

        play(worlds, steps, self._side_by_side, after_step)
        return rounds

    def _rate(self, league: OpponentPool) -> None:
        league.drift()
        league.record(dict.fromkeys(self.seats), self._free)
        for name, results in self._with_past.items():
            if self._sitting[name] is not None:
                league.record(dict.fromkeys(self.seats) | {name: self._sitting[name]}, results)

    def state(self) -> dict[str, Any]:
        """All that decides how it goes on, for a checkpoint; with the embedded engine it goes on bit by bit."""
        return {
            "updates": self.updates,
            "agent_steps": self.agent_steps,
            "rng": self._rng.bit_generator.state,
            "assignments": dict(self._sitting),
            "assigned_at": self._sat_down_at,
            "opponent_pool": None if self.league is None else self.league.state(),
            "worlds": self.worlds.save_state(),
            "roles": {
                name: {
                    "policy": seat.policy.state_dict(),
                    "critic": seat.critic.state_dict(),
                    "optimiser": self.optimisers[name].state_dict(),
                    "generator": seat.generator.get_state(),
                    "memory": seat.memory.clone(),
                    "past_memory": seat.past_memory.clone(),
                    "scripted": [opponent.state() for opponent, _ in seat.scripted],
                }
                for name, seat in self.seats.items()
            },
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` gave."""
        self.updates, self.agent_steps = state["updates"], state["agent_steps"]
        self._rng.bit_generator.state = state["rng"]
        self._sat_down_at = state["assigned_at"]
        for name, seat in self.seats.items():
            saved = state["roles"][name]
            seat.policy.load_state_dict(saved["policy"])
            seat.critic.load_state_dict(saved["critic"])
            self.optimisers[name].load_state_dict(saved["optimiser"])
            seat.generator.set_state(saved["generator"])
        if self.league is not None:
            self.league.load_state(
                state["opponent_pool"], {name: seat.policy.shape for name, seat in self.seats.items()}
            )
            for name, index in state["assignments"].items():
                self._sitting[name] = index
                self.seats[name].sit_in(None if index is None else self.league.past[name][index].policy)
        if state["worlds"] is not None:
            self.worlds.load_state(state["worlds"])
            for name, seat in self.seats.items():
                seat.memory.copy_(state["roles"][name]["memory"])
                seat.past_memory.copy_(state["roles"][name]["past_memory"])
                for (opponent, _), remembered in zip(seat.scripted, state["roles"][name]["scripted"], strict=True):
                    opponent.load_state(remembered)
