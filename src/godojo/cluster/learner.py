"""PPO with self-play whose rollouts are played by workers; the update stays here."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
import numpy as np
import torch

from godojo.cluster.messages import Assignment, Order, Rollout, Weights, merge_normaliser, weights_of
from godojo.cluster.worlds import ClusterWorlds
from godojo.engines.base import Worlds
from godojo.learn.algorithm import Iteration
from godojo.learn.opponent_slots import OpponentSlots, opponent_slots
from godojo.learn.rollout import RolloutWorker
from godojo.learn.self_play import PpoSelfPlay
from godojo.opponents import Opponent

Columns = slice | np.ndarray


def _evenly_spaced(columns: np.ndarray) -> Columns:
    """The same columns as a slice if they are evenly spaced, which NumPy copies faster and without the GIL."""
    gaps = np.diff(columns)
    if len(gaps) and (gaps == gaps[0]).all():
        return slice(int(columns[0]), int(columns[-1]) + 1, int(gaps[0]))
    return columns


class RemoteOpponent(Opponent):
    """Stands for an opponent that plays in the workers' worlds."""

    keeps = ()

    def begin(self, worlds: Worlds) -> None:
        pass

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        pass


class ClusterPpo(PpoSelfPlay):
    """Sends the weights to all workers once per update and learns from the rollouts that come back in time.

    Synchronous on the twin: workers play with the newest weights, and wait while the learner learns. Asynchronous in
    the real engine, which cannot repeat a rollout anyway: workers have the next rollout queued and play it meanwhile,
    with weights that are one update older.

    The columns of a worker that is lost stay in the buffers as steps in which nobody acted.
    """

    worlds: ClusterWorlds

    def __init__(self, worlds: ClusterWorlds, *args: Any, **options: Any) -> None:
        super().__init__(worlds, *args, **options)
        self.asynchronous = bool(worlds.godot_version)
        self._columns = {key: self._columns_of(worker) for key, worker in self.learners.items()}
        self._arrived = worlds.fleet.size
        settings = msgspec.structs.replace(self.settings, num_worlds=worlds.shard.num_worlds)
        shapes = {name: policy.shape for name, policy in self.policies.items()}
        worlds.fleet.assign(Assignment(settings, shapes))

    def _columns_of(self, learner: RolloutWorker) -> list[Columns]:
        """For each worker, its columns in the learner's buffer."""
        count, agents, _ = learner.arrays.observation.shape
        owner = np.arange(count * agents)[learner.columns] // agents % self.worlds.fleet.size
        return [_evenly_spaced(np.flatnonzero(owner == worker)) for worker in range(self.worlds.fleet.size)]

    def _opponent_slots(self, index: int, role: str, seed: int) -> OpponentSlots:
        own = opponent_slots(index, role, self.worlds.shard, self.settings, seed)
        workers = self.worlds.fleet.size

        def of_all(part: slice) -> slice:
            return slice(part.start * workers, part.stop * workers)

        scripted = [(RemoteOpponent(role), of_all(where)) for _, where in own.scripted]
        return OpponentSlots(of_all(own.block), of_all(own.past), scripted, of_all(own.exploiter), own.agents)

    def _imitated_opponent(self, role: str, seed: int) -> Opponent:  # noqa: ARG002 - workers make the real one
        return RemoteOpponent(role)

    def iterate(self, progress: float, on_step: Callable[[Worlds], None] = lambda _: None) -> Iteration:
        self._progress, before = progress, self.agent_steps
        iteration = super().iterate(progress, on_step)
        played = self.agent_steps - before
        self.agent_steps = before + played * self._arrived // self.worlds.fleet.size
        return iteration

    def play(self, after_step: Callable[[Worlds], None]) -> None:
        fleet, order, rollouts = self.worlds.fleet, self._order(), dict[int, Rollout]()
        while not rollouts:  # again if all workers are lost
            while fleet.num_pending < (2 if self.asynchronous else 1):
                fleet.begin(order)
            sent, rollouts = fleet.finish()
        self._arrived = len(rollouts)
        self._tasks.run([partial(self._fill, key, one, sent, rollouts) for key, one in self.learners.items()])
        ended = {worker: rollout.ended for worker, rollout in rollouts.items()}
        for step in range(self.settings.n_steps):
            self.worlds.replay(step, ended)
            after_step(self.worlds)

    def _order(self) -> Order:
        return Order(
            progress=self._progress,
            modes=dict(self.modes),
            weights={key: (weights_of(one.policy), weights_of(one.critic)) for key, one in self.learners.items()},
            past=self._past_weights(),
            drawn_at=self._assigned_at,
            game_settings=self.worlds.changed_settings,
        )

    def _past_weights(self) -> dict[str, Weights | None]:
        return {
            name: None if worker.past is worker.policy else weights_of(worker.past)
            for name, worker in self.workers.items()
        }

    @torch.no_grad()
    def _fill(self, key: str, learner: RolloutWorker, sent: Order, rollouts: Mapping[int, Rollout]) -> None:
        """Write the workers' buffers into the learner's, and merge what their normalisers have seen."""
        buffer = learner.buffer
        for worker, columns in enumerate(self._columns[key]):
            if worker not in rollouts:
                buffer.acted[:, columns], buffer.truncated[:, columns] = False, True
                buffer.terminated[:, columns], buffer.reward[:, columns] = False, 0.0
                continue
            for name, array in rollouts[worker].buffers[key].items():
                whole = learner.sequence_memory if name == "sequence_memory" else getattr(buffer, name)
                # assigned through NumPy, which takes what the object store holds without a copy
                whole.numpy()[columns if name == "memory" else (slice(None), columns)] = array
        for module, weights, *after in zip(
            (learner.policy, learner.critic),
            sent.weights[key],
            *(rollouts[worker].normalisers[key] for worker in sorted(rollouts)),
            strict=True,
        ):
            before = {name: weights[f"normaliser.{name}"] for name in ("count", "mean", "variance")}
            merge_normaliser(module.normaliser, before, after)

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from the result of `state`; workers continue their rounds if there are as many as before."""
        workers = state["worlds"]
        can_continue = workers is not None and set(workers) == set(map(str, range(self.worlds.fleet.size)))
        can_continue = can_continue and all(known is not None for known in workers.values())
        super().load_state({**state, "worlds": None})
        if can_continue:
            for key, learner in self.learners.items():
                if learner.return_scale is not None:
                    learner.return_scale.load_state(state["roles"][key]["return_scale"], same_episodes=True)
            self.worlds.fleet.load_states(
                {int(worker): known for worker, known in workers.items()}, self._past_weights()
            )
