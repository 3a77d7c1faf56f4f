"""The critic's values as a kernel; `networks.Critic` computes the same in torch."""

import numpy as np
import torch
from torch import Tensor, nn

from godojo.kernels.compile import njit_fastmath
from godojo.learn.critic_runner import CriticRunner
from godojo.learn.kernels.layers import (
    ACTIVATIONS,
    INPUTS,
    OUTPUTS,
    WEIGHTS,
    activate,
    add_product,
    aligned,
    forward,
    table,
    transpose,
)
from godojo.learn.networks import Critic, Policy, flat_offsets

BLOCK = 32
"""Rows that go through all layers together, so that activations stay in the cache."""


def critic_linears(critic: Critic) -> list[nn.Linear]:
    """All linear layers; the first one is split into own and privileged observation."""
    trunk = [layer for layer in critic.trunk if isinstance(layer, nn.Linear)]
    return [critic.own, critic.privileged, *trunk, critic.value]


class KernelCriticRunner(CriticRunner):
    """Values by a kernel, with the weights as they are at each call."""

    def __init__(self, policy: Policy, critic: Critic) -> None:
        super().__init__(policy, critic)
        self._from = list(critic.parameters())
        self._offsets, size = flat_offsets(self._from)
        self._row, self._transposed = aligned(2, size)
        self._layers = table(critic_linears(critic), self._from)
        self._activation = ACTIVATIONS[policy.shape.activation]
        widest = int(self._layers[:, [INPUTS, OUTPUTS]].max())
        self._activations, self._value = aligned(len(self._layers), BLOCK, widest), aligned(BLOCK, 1)

    @torch.no_grad()
    def values(self, observation: Tensor, privileged: Tensor, out: Tensor) -> None:
        for tensor in self._from:
            at = self._offsets[id(tensor)]
            self._row[at : at + tensor.numel()] = tensor.numpy().reshape(-1)
        transpose(self._layers, self._row, self._transposed)
        own, others = observation.flatten(0, 1).numpy(), privileged.flatten(0, 1).numpy()
        network = self._layers, self._row, self._transposed, self._activation
        _values(*network, own, others, self._activations, self._value, out.view(-1).numpy())


@njit_fastmath
def _values(
    layers: np.ndarray, row: np.ndarray, transposed: np.ndarray, activation: int, own: np.ndarray,
    privileged: np.ndarray, activations: np.ndarray, value: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    for start in range(0, len(out), BLOCK):
        count = min(BLOCK, len(out) - start)
        seen, others = own[start : start + count], privileged[start : start + count]
        critic_forward(layers, row, transposed, activation, seen, others, count, activations, value)
        for each in range(count):
            out[start + each] = value[each, 0]


@njit_fastmath
def critic_forward(
    layers: np.ndarray, row: np.ndarray, transposed: np.ndarray, activation: int, own: np.ndarray,
    privileged: np.ndarray, rows: int, activations: np.ndarray, value: np.ndarray,
) -> None:  # fmt: skip
    """Values of some rows; keeps the activations of every layer."""
    split = layers[1]
    weights = transposed[split[WEIGHTS] : split[WEIGHTS] + split[INPUTS] * split[OUTPUTS]]
    forward(own, layers[0], row, transposed, rows, activations[1])
    add_product(privileged, weights, split[INPUTS], split[OUTPUTS], rows, activations[1])
    activate(activations[1], rows, split[OUTPUTS], activation)
    for layer in range(2, len(layers) - 1):
        forward(activations[layer - 1], layers[layer], row, transposed, rows, activations[layer])
        activate(activations[layer], rows, layers[layer, OUTPUTS], activation)
    forward(activations[len(layers) - 2], layers[len(layers) - 1], row, transposed, rows, value)
