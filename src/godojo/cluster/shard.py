"""A worker: some of a training's worlds, played by copies of the policies."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from godojo import __version__
from godojo.cluster.messages import (
    Assignment,
    Description,
    EpisodeRecorder,
    Order,
    Rollout,
    buffer_arrays,
    load_weights,
    weights_of,
)
from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.games.base import HELD_OUT_SEED
from godojo.learn.networks import Policy
from godojo.learn.rollout import RolloutWorker, Task
from godojo.learn.self_play import PpoSelfPlay, load_players_state, players_state
from godojo.learn.threads import use_one_thread
from godojo.runs.config import RunConfig

MakeWorlds = Callable[[RunConfig], Worlds]


class ShardPlayer(PpoSelfPlay):
    """Plays all roles on the calling thread: a worker has one core, and threads would only pass it to and fro."""

    def _in_parallel(self, tasks: Sequence[Task], beside: Task) -> None:
        for task in (beside, *tasks):
            task()

    def _prepare_to_learn(self, key: str, worker: RolloutWorker) -> None:
        """Nothing: the learner learns. torch's optimisers alone take longer to import than the rest of a start."""


class Shard:
    """Makes its worlds from a run's configuration, then plays one rollout per order. Runs in a process of its own."""

    def __init__(self, config: RunConfig, make_worlds: MakeWorlds, place: int, generation: int, version: str) -> None:
        """`generation` counts the workers that had the place before; each plays rounds of its own."""
        sequence = np.random.SeedSequence([config.seed, place, generation])
        self._seed = int(sequence.generate_state(1, np.uint64)[0]) % HELD_OUT_SEED
        self._config, self._make_worlds, self._version = config, make_worlds, version
        self._made: Worlds | None = None
        self._player: PpoSelfPlay | None = None
        self._drawn_at: int | None = None
        self._game_settings: Any = None

    def open(self, assignment: Assignment | None = None) -> Description:
        """Make the worlds, and prepare to play for a learner if there is one already."""
        if self._version != __version__:
            raise GodojoError(
                f"the worker has Godojo {__version__}, the learner {self._version}; install the same on every node"
            )
        config = msgspec.structs.replace(self._config, seed=self._seed)
        self._made = self._make_worlds(config)
        if assignment is not None:
            self.assign(assignment)
        return Description.of(self._worlds)

    def assign(self, assignment: Assignment) -> None:
        """Prepare to play for a learner; compiles what must be compiled."""
        policies = {name: Policy(shape) for name, shape in assignment.shapes.items()}
        use_one_thread()
        self._player = ShardPlayer(self._worlds, assignment.settings, self._seed, policies)

    @property
    def _worlds(self) -> Worlds:
        assert self._made is not None, "open comes first"
        return self._made

    def collect(self, order: Order) -> Rollout:
        """Play one rollout with the weights of the order."""
        player = self._get_player()
        self._follow(player, order)
        record = EpisodeRecorder()
        player.play(record)
        buffers, normalisers = {}, {}
        for key, worker in player.learners.items():
            buffers[key] = buffer_arrays(worker.buffer, imitates=worker.imitation is not None)
            buffers[key]["sequence_memory"] = worker.sequence_memory.numpy()
            normalisers[key] = weights_of(worker.policy.normaliser), weights_of(worker.critic.normaliser)
        return Rollout(buffers, normalisers, record.result())

    def _follow(self, player: PpoSelfPlay, order: Order) -> None:
        if order.game_settings is not None and order.game_settings != self._game_settings:
            self._worlds.change_settings(order.game_settings)
            self._game_settings = order.game_settings
        for key, (policy, critic) in order.weights.items():
            load_weights(player.learners[key].policy, policy)
            load_weights(player.learners[key].critic, critic)
        player.modes.update(order.modes)  # type: ignore[arg-type]  # the learner's modes, as texts
        player.apply_modes(order.progress)
        if order.drawn_at != self._drawn_at:
            self._drawn_at = order.drawn_at
            for role, weights in order.past.items():
                player.workers[role].set_past_opponent(past_policy(player.workers[role].policy, weights))

    def state(self) -> dict[str, Any] | None:
        """Everything that a checkpoint keeps of this worker; None if its engine cannot continue rounds."""
        player = self._get_player()
        worlds = self._worlds.save_state()
        if worlds is None:
            return None
        roles = {key: players_state(worker) for key, worker in player.learners.items()}
        return {"worlds": worlds, "drawn_at": self._drawn_at, "roles": roles}

    def load_state(self, state: Mapping[str, Any], past: Mapping[str, Any]) -> None:
        """Continue from what `state` returned; `past` are the past checkpoints that play."""
        player = self._get_player()
        for role, weights in past.items():
            player.workers[role].set_past_opponent(past_policy(player.workers[role].policy, weights))
        self._drawn_at = state["drawn_at"]
        self._worlds.load_state(state["worlds"])
        for key, worker in player.learners.items():
            load_players_state(worker, state["roles"][key], same_episodes=True)

    def close(self) -> None:
        """Release the worlds; the games of a real engine end."""
        if self._player is not None:
            self._player.close()
        elif self._made is not None:
            self._made.close()

    def _get_player(self) -> PpoSelfPlay:
        assert self._player is not None, "assign comes first"
        return self._player


def past_policy(like: Policy, weights: Mapping[str, np.ndarray] | None) -> Policy | None:
    """A frozen policy of the same shape with other weights."""
    if weights is None:
        return None
    past = copy.deepcopy(like).requires_grad_(False).eval()
    load_weights(past, dict(weights))
    return past
