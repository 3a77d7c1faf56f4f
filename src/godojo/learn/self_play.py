"""PPO with self-play: all roles learn at once, against each other's current policies and an opponent pool.

In the first worlds one role is played by opponents (a past checkpoint, scripted opponents, an exploiter), in the last
worlds the other role is; of the current policies, only the one that faces them learns there. In the worlds between,
current policies play and learn.

Where agents of one role play against each other, opponents play half of them in a block at the start; such a role has
no exploiters.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np
import torch
from torch import nn

from godojo.demos.file import DemoEpisode
from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError, known
from godojo.games.parts import Heading
from godojo.learn import ppo
from godojo.learn.algorithm import Algorithm, Iteration, OpponentAssignment
from godojo.learn.backend import Backend, backend_for
from godojo.learn.cnn import check_memory, encoded_size, image_inputs
from godojo.learn.defaults import SEQUENCE
from godojo.learn.imitation import Cloning, Demonstrations, Imitation
from godojo.learn.networks import ActionHead, Critic, Policy, PolicyShape, flatten_parameters
from godojo.learn.opponent_pool import OpponentPool
from godojo.learn.opponent_slots import OpponentSlots, opponent_slots
from godojo.learn.privileged import PrivilegedObservation
from godojo.learn.return_scale import ReturnScale
from godojo.learn.rollout import RolloutWorker, Task, collect_rollout
from godojo.learn.rollout_wins import RolloutWins
from godojo.learn.settings import PpoSettings, check_role_names
from godojo.learn.threads import TaskPool, one_thread
from godojo.learn.weight_backup import restore_on_error
from godojo.opponents import Opponent, make_opponent, shared_role
from godojo.runs.config import cores
from godojo.runs.role_map import Mode

FEW_AGENTS = 256
"""Up to this number, all roles decide on one thread."""


def shape_for(role: RoleArrays, settings: PpoSettings) -> PolicyShape:
    """The shape of the policy of a role."""
    return PolicyShape(
        observation_size=role.observation.shape[2],
        action_parts=role.action_parts,
        net_arch=settings.net_arch,
        memory=settings.memory,
        memory_size=settings.memory_size if settings.memory else 0,
        heading=heading_for(role, settings),
        activation=settings.activation_fn,
        images=image_inputs(role.observation_parts, settings.cnn_channels),
    )


def new_policy(role: RoleArrays, settings: PpoSettings) -> Policy:
    """An untrained policy of a role."""
    policy = Policy(shape_for(role, settings))
    assert isinstance(policy.head, ActionHead)
    nn.init.constant_(policy.head.log_std, settings.log_std_init)
    return policy


def heading_for(role: RoleArrays, settings: PpoSettings) -> Heading | None:
    """The role's heading, with the memory cells that rotate with it: the last ones, or all of a smaller memory."""
    if role.heading is None or not settings.egocentric:
        return None
    rotated = min(settings.egocentric_memory_size, settings.memory_size // 2 * 2) if settings.memory == "leaky" else 0
    first = settings.memory_size - rotated
    pairs = tuple((at, at + 1) for at in range(first, settings.memory_size, 2))
    return msgspec.structs.replace(role.heading, remembered=pairs if rotated else ())


def players_state(worker: RolloutWorker) -> dict[str, Any]:
    """What the players of a role remember, for a checkpoint; the weights are not part of it."""
    return {
        "generator": worker.generator.get_state(),
        "memory": worker.memory.clone(),
        "past_memory": worker.past_memory.clone(),
        "scripted": [opponent.state() for opponent, _ in worker.scripted],
        "imitated": None if worker.imitation is None else worker.imitation.opponent.state(),
    }


def load_players_state(worker: RolloutWorker, state: Mapping[str, Any], *, same_episodes: bool) -> None:
    """Continue from the result of `players_state`, after `set_past_opponent`; a new episode remembers nothing."""
    worker.generator.set_state(state["generator"])
    if not same_episodes:
        return
    worker.memory.copy_(state["memory"])
    worker.past_memory.copy_(state["past_memory"])
    for (opponent, _), remembered in zip(worker.scripted, state["scripted"], strict=True):
        opponent.load_state(remembered)
    if worker.imitation is not None:
        worker.imitation.opponent.load_state(state["imitated"])


def exploiter_key(role: str) -> str:
    """The key of a role's exploiter among the learners."""
    return f"{role} exploiter"


class PpoSelfPlay(Algorithm):
    """PPO for all roles: worlds, rollout workers, optimisers and the opponent pool.

    A seed determines the weights at any number of threads: each role has its own generator and runs on one thread.
    """

    def __init__(
        self,
        worlds: Worlds,
        settings: PpoSettings,
        seed: int,
        policies: Mapping[str, Policy] | None = None,
        modes: Mapping[str, Mode] | None = None,
        backend: Backend | None = None,
    ) -> None:
        self.worlds, self.settings, backend = worlds, settings, backend or backend_for("cpu")
        self._backend = backend
        self.checkpoint_steps, self.copy_interval = settings.checkpoint_steps or None, settings.copy_interval
        self.modes: dict[str, Mode] = dict.fromkeys(worlds.roles, "train")
        self.modes.update(modes or {})
        names = list(worlds.roles)
        for name in settings.imitated_opponents:
            if name not in names:
                raise GodojoError(f"imitated_opponents: there is no role {name!r}; {known(name, names)}")
        check_role_names(settings, names)
        self._role_settings = {name: settings.for_role(name) for name in names}
        self._shared = shared_role(worlds)
        self.opponent_pool = (
            OpponentPool(names, settings.pool_size)
            if (len(names) == 2 or self._shared is not None)
            and not worlds.independent_agents
            and settings.past_opponent_fraction > 0.0
            else None
        )
        self.slots = {name: self._opponent_slots(index, name, seed) for index, name in enumerate(names)}
        self.workers: dict[str, RolloutWorker] = {}
        self.exploiters: dict[str, RolloutWorker] = {}
        """By role: a policy that learns to beat the current policy of the other role."""
        self.optimisers: dict[str, torch.optim.Adam] = {}
        self.gradients: dict[str, ppo.PpoGradient] = {}
        self._rng = np.random.default_rng(seed)
        for name, role in worlds.roles.items():
            torch.manual_seed(int(self._rng.integers(2**62)))
            given = (policies or {}).get(name)
            policy = given if given is not None else new_policy(role, self._role_settings[name])
            worker = self.workers[name] = self._make_learner(name, name, policy, self.slots[name], backend)
            if name in settings.imitated_opponents and self._shared is None:
                imitated = self._imitated_opponent(name, seed)
                count = int(worlds.num_worlds * settings.imitation_fraction)
                worker.imitation = Imitation(worlds, name, imitated, worker.world_slice, count)
        for name, slots in self.slots.items():
            if slots.exploiter.stop > slots.exploiter.start:
                first = slots.exploiter.start == 0
                elsewhere = slice(slots.exploiter.stop, worlds.num_worlds) if first else slice(0, slots.exploiter.start)
                policy = copy.deepcopy(self.workers[name].policy)
                self.exploiters[name] = self._make_learner(
                    exploiter_key(name), name, policy, OpponentSlots(elsewhere, slice(0, 0)), backend
                )
        self.updates, self.agent_steps = 0, 0
        self._assignments: dict[str, int | None] = dict.fromkeys(names)
        self._assigned_at = 0
        self._tasks = TaskPool(cores())

    def _opponent_slots(self, index: int, role: str, seed: int) -> OpponentSlots:
        return opponent_slots(index, role, self.worlds, self.settings, seed)

    def _imitated_opponent(self, role: str, seed: int) -> Opponent:
        return make_opponent(self.settings.imitated_opponents[role], role, seed, game=self.worlds.game)

    def _make_learner(
        self, key: str, role: str, policy: Policy, slots: OpponentSlots, backend: Backend
    ) -> RolloutWorker:
        """A rollout worker with a new critic, prepared to learn."""
        worlds, settings, shape = self.worlds, self._role_settings[role], policy.shape
        samples = (settings.n_steps + 1) * worlds.roles[role].acted.size
        size = worlds.roles[role].observation.shape[2]
        check_memory("a rollout", shape.images, samples, size, "set a smaller n_steps or play fewer worlds")
        privileged_size = PrivilegedObservation(worlds, role).size
        critic = Critic(encoded_size(shape.images, size), privileged_size, settings.net_arch, shape.activation)
        generator = torch.Generator().manual_seed(int(self._rng.integers(2**62)))
        worker = RolloutWorker(
            worlds, role, policy, critic, settings.n_steps, slots, generator, backend, settings.sequence_length
        )
        self._prepare_to_learn(key, worker)
        return worker

    def _prepare_to_learn(self, key: str, worker: RolloutWorker) -> None:
        """Make the gradient and the optimiser of a worker's policy and critic."""
        settings = self._role_settings[worker.name]
        weights = flatten_parameters([*worker.policy.parameters(), *worker.critic.parameters()])
        self.gradients[key] = self._backend.ppo_gradient(worker.policy, worker.critic, weights, settings)
        # Run the kernels once on an empty buffer, so that compilation does not count as training time.
        worker.compute_returns_and_advantage(settings.gamma, settings.gae_lambda)
        self.gradients[key](worker.buffer, torch.zeros(1, dtype=torch.int64))
        if settings.normalize_reward:
            worker.return_scale = ReturnScale(worker.buffer.num_columns, settings.gamma)
        self.optimisers[key] = self._backend.adam(weights, settings.learning_rate)

    @property
    def learners(self) -> dict[str, RolloutWorker]:
        """The workers of all roles and of all exploiters."""
        return self.workers | {exploiter_key(role): worker for role, worker in self.exploiters.items()}

    @property
    def policies(self) -> dict[str, Policy]:
        return {name: worker.policy for name, worker in self.workers.items()}

    @property
    def assignments(self) -> list[OpponentAssignment]:
        assignments = []
        for name, slots in self.slots.items():
            index = self._assignments[name]
            if self.opponent_pool is not None and index is not None:
                past = self.opponent_pool.past[name][index]
                assignments.append(OpponentAssignment(name, slots.past, past.name))
            if name in self.exploiters:
                assignments.append(OpponentAssignment(name, slots.exploiter, "exploiter"))
            for who, (_, where) in zip(self.settings.scripted_opponents, slots.scripted, strict=False):
                assignments.append(OpponentAssignment(name, where, who))
        return assignments

    def iterate(self, progress: float, on_step: Callable[[Worlds], None] = lambda _: None) -> Iteration:
        settings = self.settings
        self.apply_modes(progress)
        self._resample_past_opponents()
        learning = [name for name, mode in self.modes.items() if mode == "train"]
        learning += map(exploiter_key, self.exploiters)
        learners = self.learners
        modules = [module for key in learning for module in (learners[key].policy, learners[key].critic)]
        with restore_on_error(modules, self.optimisers.values()):
            wins = self._collect_rollout(on_step)
            self.on_phase("submitting")
            self.on_phase("training")
            updates = self._tasks.run([partial(self._update, name, progress) for name in learning])
            metrics = dict(zip(learning, updates, strict=True))
        for role in self.exploiters:
            del metrics[exploiter_key(role)]
            metrics.setdefault(role, {}).update(wins.exploiter_metrics(role))
        self.updates += 1
        self.agent_steps += settings.n_steps * sum(role.action[..., 0].size for role in self.worlds.roles.values())
        if self.opponent_pool is not None:
            wins.rate(self.opponent_pool, self._assignments)
        return Iteration(wins.rounds, wins.wins, metrics)

    def imitate(self, demonstrations: Mapping[str, Sequence[DemoEpisode]], *, clone: bool) -> dict[str, Cloning]:
        """Imitate episodes of some roles from now on; with `clone`, also before anything is played."""
        cloning: dict[str, Callable[[], Cloning]] = {}
        for name, episodes in demonstrations.items():
            worker, settings = self.workers[name], self._role_settings[name]
            length = min(settings.sequence_length or settings.n_steps, SEQUENCE)
            self._backend.prepare(worker.policy)
            worker.demonstrations = Demonstrations(episodes, worker.policy, length)
            if clone and self.modes[name] == "train":
                arguments = worker.policy, settings.imitation_epochs, settings.learning_rate, worker.generator
                cloning[name] = partial(worker.demonstrations.clone, *arguments)
        return dict(zip(cloning, self._tasks.run(list(cloning.values())), strict=True))

    def apply_modes(self, progress: float) -> None:
        """Tell the workers what their roles do in the next rollout: learn, imitate, or only play."""
        for name, mode in self.modes.items():
            self.workers[name].learns, self.workers[name].deterministic = mode == "train", mode == "deterministic"
            for imitation in (self.workers[name].imitation, self.workers[name].demonstrations):
                if imitation is not None:
                    imitation.weight = self.settings.imitation_weight(progress) if mode == "train" else 0.0

    def play(self, after_step: Callable[[Worlds], None]) -> None:
        """Fill the buffers of all workers; `after_step` is called with the worlds after every step."""
        workers = list(self.learners.values())
        collect_rollout(self.worlds, self.settings.n_steps, workers, self._in_parallel, after_step)

    def close(self) -> None:
        self._tasks.close()
        self.worlds.close()

    def _update(self, name: str, progress: float) -> dict[str, float]:
        worker, optimiser = self.learners[name], self.optimisers[name]
        settings = self._role_settings[worker.name]
        worker.compute_returns_and_advantage(settings.gamma, settings.gae_lambda)
        rate = settings.learning_rate + (settings.final_learning_rate - settings.learning_rate) * progress
        for group in optimiser.param_groups:
            group["lr"] = rate
        try:
            metrics = ppo.update(worker, self.gradients[name], optimiser, settings)
        except ppo.NonFiniteLoss as error:
            raise ppo.divergence_error(name, error, worker.buffer.reward) from None
        return metrics | {"train/learning_rate": rate}

    def _in_parallel(self, tasks: Sequence[Task], beside: Task) -> None:
        """Run tasks on all threads, and one on the calling thread; torch and the kernels release the GIL.

        For few agents, handing tasks to threads takes longer than the tasks.
        """
        if sum(worker.buffer.num_columns for worker in self.learners.values()) <= FEW_AGENTS:
            with one_thread():
                for task in (beside, *tasks):
                    task()
            return
        self._tasks.run(tasks, beside)

    def _resample_past_opponents(self) -> None:
        """Add the current policies to the pool and draw new past opponents, each at its interval."""
        if self.opponent_pool is None or self.updates % self.settings.opponent_resample_interval:
            return
        if self.updates % self.settings.snapshot_interval == 0:
            for name, worker in self.workers.items():
                self.opponent_pool.add(name, worker.policy, self.agent_steps)
        if self.updates and self.updates % self.settings.exploiter_interval == 0:
            for name in self.exploiters:
                self._restart_exploiter(name)
        for name, against in zip(self.workers, reversed(self.workers), strict=True):
            index = self.opponent_pool.sample(name, against, self._rng)
            self._assignments[name] = index
            self.workers[name].set_past_opponent(None if index is None else self.opponent_pool.past[name][index].policy)
        self._assigned_at = self.updates

    def _restart_exploiter(self, role: str) -> None:
        """Add a role's exploiter to the pool; the next one begins as a copy of the current policy."""
        assert self.opponent_pool is not None
        exploiter, main = self.exploiters[role], self.workers[role]
        self.opponent_pool.add(role, exploiter.policy, self.agent_steps, is_exploiter=True)
        exploiter.policy.load_state_dict(main.policy.state_dict())
        exploiter.critic.load_state_dict(main.critic.state_dict())
        self.optimisers[exploiter_key(role)].state.clear()

    def _collect_rollout(self, on_step: Callable[[Worlds], None]) -> RolloutWins:
        """Collect a rollout and count its wins."""
        steps_since_draw = (self.updates - self._assigned_at) * self.settings.n_steps
        wins = RolloutWins(self.slots, self.exploiters, self._shared, self.worlds.num_worlds, steps_since_draw)

        def after_step(worlds: Worlds) -> None:
            on_step(worlds)
            wins.count(worlds)

        self.play(after_step)
        return wins

    def state(self) -> dict[str, Any]:
        """Everything needed to resume; with the embedded engine, training resumes bit-exactly."""
        return {
            "updates": self.updates,
            "agent_steps": self.agent_steps,
            "rng": self._rng.bit_generator.state,
            "assignments": dict(self._assignments),
            "assigned_at": self._assigned_at,
            "opponent_pool": None if self.opponent_pool is None else self.opponent_pool.state(),
            "worlds": self.worlds.save_state(),
            "roles": {
                name: {
                    "policy": worker.policy.state_dict(),
                    "critic": worker.critic.state_dict(),
                    "optimiser": self.optimisers[name].state_dict(),
                    "return_scale": None if worker.return_scale is None else worker.return_scale.state(),
                    **players_state(worker),
                }
                for name, worker in self.learners.items()
            },
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Resume from the result of `state`."""
        self.updates, self.agent_steps = state["updates"], state["agent_steps"]
        self._rng.bit_generator.state = state["rng"]
        self._assigned_at = state["assigned_at"]
        for name, worker in self.learners.items():
            saved = state["roles"][name]
            worker.policy.load_state_dict(saved["policy"])
            worker.critic.load_state_dict(saved["critic"])
            self.optimisers[name].load_state_dict(saved["optimiser"])
            if worker.return_scale is not None:
                worker.return_scale.load_state(saved["return_scale"], same_episodes=state["worlds"] is not None)
        if self.opponent_pool is not None:
            self.opponent_pool.load_state(
                state["opponent_pool"], {name: worker.policy.shape for name, worker in self.workers.items()}
            )
            for name, index in state["assignments"].items():
                self._assignments[name] = index
                past = None if index is None else self.opponent_pool.past[name][index]
                self.workers[name].set_past_opponent(past and past.policy)
        if state["worlds"] is not None:
            self.worlds.load_state(state["worlds"])
        for name, worker in self.learners.items():
            load_players_state(worker, state["roles"][name], same_episodes=state["worlds"] is not None)
