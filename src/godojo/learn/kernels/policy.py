"""Playing by a policy as one kernel: threads that play side by side wait for each other at every step of Python's.

Learning's arithmetic is in `lesson.py`; tests compare both with the plain way, which goes for any policy.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from godojo.kernels.compile import njit_fastmath
from godojo.learn.kernels.frames import Acting, draw, turn_back
from godojo.learn.kernels.layers import INPUTS, ONE, OUTPUTS, aligned, cut, forward, places, squash, table, turn_weights
from godojo.learn.memory import LeakyMemory, leak_step
from godojo.learn.networks import LOG_SQRT_2PI, ActionHead, Policy

BLOCK = 32
"""Rows, whole eights of them, that go through all layers together: what is between the layers stays in the cache."""
LOG_ROOT = np.float32(LOG_SQRT_2PI)


class Weights(NamedTuple):
    """A policy's layers and their weights, for kernels; see `layers.py`."""

    layers: np.ndarray
    """Those of the eyes, the memory's where there is one, the mind's, the head's."""
    encoder_layers: int
    row: np.ndarray
    turned: np.ndarray
    log_std: np.ndarray
    turning: np.ndarray


def has_kernels(policy: Policy) -> bool:
    """Whether kernels know this kind of policy: leaky cells or none, and actions that are normal numbers."""
    is_known = policy.memory is None or isinstance(policy.memory, LeakyMemory)
    return is_known and isinstance(policy.head, ActionHead) and not policy.head.choices


def linears(policy: Policy) -> list[nn.Linear]:
    """All layers, in the order of `Weights`."""
    memory = [policy.memory.linear] if isinstance(policy.memory, LeakyMemory) else []
    found = [*policy.encoder, *memory, *policy.trunk, policy.head.linear]
    return [layer for layer in found if isinstance(layer, nn.Linear)]


def log_std_of(policy: Policy) -> nn.Parameter:
    assert isinstance(policy.head, ActionHead)
    return policy.head.log_std


class PolicyInput(NamedTuple):
    """What a policy decides by, in many rows at once."""

    seen: Tensor
    """How it sees what is `raw`."""
    raw: Tensor
    memory: Tensor
    """Becomes what is remembered from now on."""


class PolicyOutput(NamedTuple):
    """Where is written what it does, how probable that was, and how the game is told."""

    action: Tensor
    log_probability: Tensor
    for_game: Tensor


class KernelPolicyRunner:
    """Plays by a policy in many rows at once. The weights are those of the last `refresh`."""

    def __init__(self, policy: Policy, rows: int) -> None:
        self._policy, self._log_std = policy, log_std_of(policy)
        self._from = [weights for layer in linears(policy) for weights in (layer.weight, layer.bias)]
        self._places, size = places(self._from)
        row, turned = aligned(2, size)
        layers, encoder_layers, numbers = (
            table(linears(policy), self._from),
            len(policy.encoder) // 2,
            len(self._log_std),
        )
        self._weights = Weights(layers, encoder_layers, row, turned, np.zeros(numbers, np.float32), policy.turning)
        width = int(layers[:, [INPUTS, OUTPUTS]].max()) + policy.memory_size
        self._room, self._said = aligned(2, BLOCK, width), aligned(-(-rows // BLOCK) * BLOCK, numbers)
        self._noise = torch.zeros(rows, numbers)
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Takes the policy's weights as they are now."""
        weights = self._weights
        for each in self._from:
            at = self._places[id(each)]
            weights.row[at : at + each.numel()] = each.numpy().reshape(-1)
        turn_weights(weights.layers, weights.row, weights.turned)
        weights.log_std[:] = self._log_std.numpy()

    def act(self, situation: PolicyInput, out: PolicyOutput, *, greedy: bool, generator: torch.Generator) -> None:
        """Writes what the policy does, and what it remembers of it."""
        if greedy:
            self._noise.zero_()
        else:
            self._noise.normal_(generator=generator)
        _act(
            self._weights,
            self._policy.acting,
            situation.seen.numpy(),
            situation.raw.numpy(),
            situation.memory.numpy(),
            self._noise.numpy(),
            self._room[0],
            self._room[1],
            self._said,
            out.action.numpy(),
            out.log_probability.numpy(),
            out.for_game.numpy(),
        )


class TorchPolicyRunner:
    """The same by torch, for any policy."""

    def __init__(self, policy: Policy, _rows: int) -> None:
        self._policy = policy

    def refresh(self) -> None:
        """Has the weights as they are at any time."""

    @torch.no_grad()
    def act(self, situation: PolicyInput, out: PolicyOutput, *, greedy: bool, generator: torch.Generator) -> None:
        """Writes what the policy does, and what it remembers of it."""
        features, remembered = self._policy.features(
            situation.seen, situation.memory, self._policy.ahead(situation.raw)
        )
        situation.memory.copy_(remembered)
        choice = self._policy.head.sample(features, greedy=greedy, generator=generator)
        out.action.copy_(choice.action)
        out.log_probability.copy_(choice.log_probability)
        self._policy.for_game(out.action, situation.raw, out=out.for_game)


PolicyRunner = KernelPolicyRunner | TorchPolicyRunner


def make_policy_runner(policy: Policy, rows: int) -> PolicyRunner:
    """The quickest that knows this kind of policy."""
    return KernelPolicyRunner(policy, rows) if has_kernels(policy) else TorchPolicyRunner(policy, rows)


@njit_fastmath
def _act(
    weights: Weights,
    acting: Acting,
    seen: np.ndarray,
    raw: np.ndarray,
    memory: np.ndarray,
    noise: np.ndarray,
    here: np.ndarray,
    there: np.ndarray,
    said: np.ndarray,
    action: np.ndarray,
    log_probability: np.ndarray,
    for_game: np.ndarray,
) -> None:
    """Rows of `seen` through the layers; what is remembered goes beside what the eyes make of it."""
    layers, row, turned = weights.layers, weights.row, weights.turned
    held, look = np.zeros(memory.shape[1], np.float32), np.zeros(2, np.float32)
    rows, cells = memory.shape
    last = len(layers) - 1
    for start in range(0, rows, BLOCK):
        count = min(BLOCK, rows - start)
        for each in range(count):
            here[each, : seen.shape[1]] = seen[start + each]
        for number in range(last):
            layer = layers[number]
            forward(here, layer, row, turned, count, there)
            if cells > 0 and number == weights.encoder_layers:
                for each in range(count):
                    told, beside = there[each, : 2 * cells], here[each, layer[INPUTS] : layer[INPUTS] + cells]
                    squash(told)
                    if len(weights.turning):
                        look[0], look[1] = raw[start + each, acting.forward[0]], raw[start + each, acting.forward[1]]
                    leak_step(told, ONE, look, weights.turning, memory[start + each], held, beside)
            else:
                cut(there, count, layer[OUTPUTS])
                here, there = there, here
        forward(here, layers[last], row, turned, count, said[start : start + BLOCK])
    draw(said[:rows], noise, weights.log_std, LOG_ROOT, action, log_probability)
    turn_back(action, raw, acting, for_game)
