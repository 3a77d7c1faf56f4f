"""What the learner and its workers send each other: plain NumPy arrays, which Ray's object store does not copy."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from godojo.engines.base import RoleArrays, Worlds
from godojo.learn.networks import Normaliser, PolicyShape
from godojo.learn.rollout_buffer import RolloutBuffer

Weights = dict[str, np.ndarray]
"""A module's `state_dict`."""
COMPUTED = ("value", "advantage", "returns")
"""Fields of a `RolloutBuffer` that the learner computes itself."""
IMITATION = ("imitated", "imitation_weight")
"""Fields that are sent only by roles that imitate."""
OF_WORLDS = ("ended", "winner", "length_ticks", "arena")
OF_ROLES = ("acted", "terminated", "truncated", "final_terms", "final_score", "final_measures")
"""Results of a step that the training's logs read, in worlds in which an episode ended."""


class Description(NamedTuple):
    """A worker's worlds, so that the learner can have arrays like theirs without an engine of its own."""

    game: str
    settings: Any
    ticks_per_decision: int
    independent_agents: bool
    agent_episodes: bool
    num_worlds: int
    reward_terms: tuple[str, ...]
    winners: tuple[str, ...]
    arena_names: tuple[str, ...]
    roles: dict[str, RoleArrays]
    godot_version: str

    @classmethod
    def of(cls, worlds: Worlds) -> "Description":
        named = {name: getattr(worlds, name) for name in cls._fields if name != "roles"}
        return cls(**named, roles=dict(worlds.roles))


class Assignment(NamedTuple):
    """What a worker needs to play for a learner, once."""

    settings: Any
    """`PpoSettings`, with the worker's own number of worlds."""
    shapes: dict[str, PolicyShape]


class Order(NamedTuple):
    """What a worker needs for one rollout."""

    progress: float
    modes: dict[str, str]
    weights: dict[str, tuple[Weights, Weights]]
    """Policy and critic of every learner (roles and exploiters), normalisers included."""
    past: dict[str, Weights | None]
    """By role: the past checkpoint that plays it; None for the current policy."""
    drawn_at: int
    """The update before which past checkpoints were drawn; workers keep theirs until it changes."""
    game_settings: Any
    """Settings of a curriculum's stage; None for the run's own."""


class EndedEpisodes(NamedTuple):
    """Results of the worlds in which an episode ended, K rows in the order of steps."""

    step: np.ndarray
    world: np.ndarray
    arrays: dict[str, np.ndarray]
    """`NAME` of the worlds or `ROLE/NAME`: [K, ...]."""

    def rows(self, step: int) -> slice:
        first, last = np.searchsorted(self.step, (step, step + 1))
        return slice(int(first), int(last))


class Rollout(NamedTuple):
    """A worker's answer to an `Order`."""

    buffers: dict[str, dict[str, np.ndarray]]
    """Fields of every learner's `RolloutBuffer`, and `sequence_memory`."""
    normalisers: dict[str, tuple[Weights, Weights]]
    """Of policy and critic, after the rollout."""
    ended: EndedEpisodes


class EpisodeRecorder:
    """Collects `EndedEpisodes`; called after every step of a rollout."""

    def __init__(self) -> None:
        self._at = 0
        self._found: list[tuple[int, np.ndarray, dict[str, np.ndarray]]] = []

    def __call__(self, worlds: Worlds) -> None:
        over = worlds.ended.copy()
        for role in worlds.roles.values():
            over |= (role.terminated | role.truncated).any(axis=1)
        where = np.flatnonzero(over)
        if len(where) or not self._found:  # the first step is always there, for the arrays' shapes
            arrays = {name: getattr(worlds, name)[where] for name in OF_WORLDS}
            for name, role in worlds.roles.items():
                found = {each: getattr(role, each) for each in OF_ROLES}
                arrays |= {f"{name}/{each}": array[where] for each, array in found.items() if array is not None}
            self._found.append((self._at, where, arrays))
        self._at += 1

    def result(self) -> EndedEpisodes:
        steps, worlds, arrays = zip(*self._found, strict=True)
        return EndedEpisodes(
            np.repeat(steps, [len(each) for each in worlds]),
            np.concatenate(worlds),
            {name: np.concatenate([each[name] for each in arrays]) for name in arrays[0]},
        )


def weights_of(module: nn.Module) -> Weights:
    """A copy of a module's weights."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}


def load_weights(module: nn.Module, weights: Weights) -> None:
    # copied: what comes out of the object store is read-only, and torch warns of it
    module.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in weights.items()})


def buffer_arrays(buffer: RolloutBuffer, *, imitates: bool) -> dict[str, np.ndarray]:
    """The fields of a buffer that travel, without a copy: they are sent before the next rollout overwrites them."""
    left_out = COMPUTED if imitates else (*COMPUTED, *IMITATION)
    return {field.name: getattr(buffer, field.name).numpy() for field in fields(buffer) if field.name not in left_out}


@torch.no_grad()
def merge_normaliser(own: Normaliser, sent: Weights, after: list[Weights]) -> None:
    """Merge what each worker's copy of a normaliser has seen since it was sent out.

    The sums are taken around the mean that was sent, so that the many rows of before do not cost the new ones digits.
    """
    before, total = float(sent["count"]), float(own.count)
    mean, variance = (torch.from_numpy(np.array(sent[name], np.float64)) for name in ("mean", "variance"))
    moved = own.mean.double() - mean
    first, second = total * moved, total * (own.variance.double() + moved.square())
    known = total
    for weights in after:
        count = float(weights["count"])
        if count == before:
            continue
        shift = torch.from_numpy(np.array(weights["mean"], np.float64)) - mean
        spread = torch.from_numpy(np.array(weights["variance"], np.float64)) + shift.square()
        total += count - before
        first += count * shift
        second += count * spread - before * variance
    if total == known:
        return
    moved = first / total
    own.variance.copy_((second / total - moved.square()).clamp(min=0.0))
    own.mean.copy_(mean + moved)
    own.count.fill_(total)


def size_bytes(message: Any) -> int:
    """The bytes of all arrays in a message; the rest of it is small."""
    if isinstance(message, np.ndarray):
        return message.nbytes
    if isinstance(message, Mapping):
        return sum(map(size_bytes, message.values()))
    return sum(map(size_bytes, message)) if isinstance(message, (tuple, list)) else 0
