"""Policy inference as a single kernel, so that threads do not contend for the interpreter.

Tests compare it with the torch implementation, which handles any policy. `kernels/ppo.py` has the gradients.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from godojo.kernels.compile import njit_fastmath
from godojo.learn.kernels.frames import Acting, draw, turn_back
from godojo.learn.kernels.layers import INPUTS, ONE, OUTPUTS, aligned, forward, places, relu, squash, table, transpose
from godojo.learn.memory import LeakyMemory, leak_step
from godojo.learn.networks import LOG_SQRT_2PI, ActionHead, Policy

BLOCK = 32
"""Rows, whole eights of them, that go through all layers together: what is between the layers stays in the cache."""
LOG_ROOT = np.float32(LOG_SQRT_2PI)


class Weights(NamedTuple):
    """A policy's layers and weights in the form that kernels take; see `layers.py`."""

    layers: np.ndarray
    """Encoder, memory (if any), trunk, head."""
    encoder_layers: int
    row: np.ndarray
    transposed: np.ndarray
    log_std: np.ndarray
    turning: np.ndarray


def has_kernels(policy: Policy) -> bool:
    """Whether the kernels support this policy: leaky memory or none, and continuous actions."""
    is_known = policy.memory is None or isinstance(policy.memory, LeakyMemory)
    return is_known and isinstance(policy.head, ActionHead) and not policy.head.choices


def linears(policy: Policy) -> list[nn.Linear]:
    """All linear layers, in the order of `Weights`."""
    memory = [policy.memory.linear] if isinstance(policy.memory, LeakyMemory) else []
    found = [*policy.encoder, *memory, *policy.trunk, policy.head.linear]
    return [layer for layer in found if isinstance(layer, nn.Linear)]


def log_std_of(policy: Policy) -> nn.Parameter:
    assert isinstance(policy.head, ActionHead)
    return policy.head.log_std


class PolicyInput(NamedTuple):
    """The inputs of a policy, one row per agent."""

    seen: Tensor
    """The egocentric, normalised form of `raw`."""
    raw: Tensor
    memory: Tensor
    """Updated in place."""


class PolicyOutput(NamedTuple):
    """The arrays that a policy writes: its action, the log-probability, and the action in the game's frame."""

    action: Tensor
    log_probability: Tensor
    for_game: Tensor


class KernelPolicyRunner:
    """Runs a policy for many agents at once, with the weights as of the last `refresh`."""

    def __init__(self, policy: Policy, rows: int) -> None:
        self._policy, self._log_std = policy, log_std_of(policy)
        self._from = [weights for layer in linears(policy) for weights in (layer.weight, layer.bias)]
        self._places, size = places(self._from)
        row, transposed = aligned(2, size)
        layers, encoder_layers, numbers = (
            table(linears(policy), self._from),
            len(policy.encoder) // 2,
            len(self._log_std),
        )
        self._weights = Weights(layers, encoder_layers, row, transposed, np.zeros(numbers, np.float32), policy.turning)
        width = int(layers[:, [INPUTS, OUTPUTS]].max()) + policy.memory_size
        self._room, self._said = aligned(2, BLOCK, width), aligned(-(-rows // BLOCK) * BLOCK, numbers)
        self._noise = torch.zeros(rows, numbers)
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Copy the policy's current weights."""
        weights = self._weights
        for each in self._from:
            at = self._places[id(each)]
            weights.row[at : at + each.numel()] = each.numpy().reshape(-1)
        transpose(weights.layers, weights.row, weights.transposed)
        weights.log_std[:] = self._log_std.numpy()

    def act(
        self, situation: PolicyInput, out: PolicyOutput, *, deterministic: bool, generator: torch.Generator
    ) -> None:
        """Write actions and log-probabilities, and update the memory."""
        if deterministic:
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
    """The torch implementation, for any policy."""

    def __init__(self, policy: Policy, _rows: int) -> None:
        self._policy = policy

    def refresh(self) -> None:
        """Nothing to do: torch uses the current weights."""

    @torch.no_grad()
    def act(
        self, situation: PolicyInput, out: PolicyOutput, *, deterministic: bool, generator: torch.Generator
    ) -> None:
        """Write actions and log-probabilities, and update the memory."""
        features, remembered = self._policy.features(
            situation.seen, situation.memory, self._policy.ahead(situation.raw)
        )
        situation.memory.copy_(remembered)
        choice = self._policy.head.sample(features, deterministic=deterministic, generator=generator)
        out.action.copy_(choice.action)
        out.log_probability.copy_(choice.log_probability)
        self._policy.for_game(out.action, situation.raw, out=out.for_game)


PolicyRunner = KernelPolicyRunner | TorchPolicyRunner


def make_policy_runner(policy: Policy, rows: int) -> PolicyRunner:
    """The kernels where they support the policy, else torch."""
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
    """Run rows of `seen` through the layers; memory cells are appended to the encoder's output."""
    layers, row, transposed = weights.layers, weights.row, weights.transposed
    held, look = np.zeros(memory.shape[1], np.float32), np.zeros(2, np.float32)
    rows, cells = memory.shape
    last = len(layers) - 1
    for start in range(0, rows, BLOCK):
        count = min(BLOCK, rows - start)
        for each in range(count):
            here[each, : seen.shape[1]] = seen[start + each]
        for number in range(last):
            layer = layers[number]
            forward(here, layer, row, transposed, count, there)
            if cells > 0 and number == weights.encoder_layers:
                for each in range(count):
                    memory_input, beside = there[each, : 2 * cells], here[each, layer[INPUTS] : layer[INPUTS] + cells]
                    squash(memory_input)
                    if len(weights.turning):
                        look[0], look[1] = raw[start + each, acting.forward[0]], raw[start + each, acting.forward[1]]
                    leak_step(memory_input, ONE, look, weights.turning, memory[start + each], held, beside)
            else:
                relu(there, count, layer[OUTPUTS])
                here, there = there, here
        forward(here, layers[last], row, transposed, count, said[start : start + BLOCK])
    draw(said[:rows], noise, weights.log_std, LOG_ROOT, action, log_probability)
    turn_back(action, raw, acting, for_game)
