"""Policy inference as a single kernel, so that threads do not contend for the interpreter.

`rollout.PolicyRunner` computes the same for any policy; tests compare them. `kernels/ppo.py` has the gradients.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from godojo.kernels.compile import njit_fastmath
from godojo.learn.kernels import frames
from godojo.learn.kernels.frames import ActionFrame
from godojo.learn.kernels.layers import (
    ACTIVATIONS,
    INPUTS,
    ONE,
    OUTPUTS,
    activate,
    aligned,
    forward,
    squash,
    table,
    transpose,
)
from godojo.learn.kernels.memory import leaky_step
from godojo.learn.memory import LeakyMemory
from godojo.learn.networks import (
    LOG_SQRT_2PI,
    NORMALISED_LIMIT,
    VARIANCE_FLOOR,
    ActionHead,
    Normaliser,
    Policy,
    continuous_columns,
    flat_offsets,
)
from godojo.learn.policy_runner import PolicyInput, PolicyOutput, PolicyRunner

BLOCK = 32
"""Rows, a multiple of eight, that go through all layers together, so that activations stay in the cache."""
LOG_ROOT = np.float32(LOG_SQRT_2PI)
FLOOR, LIMIT = np.float32(VARIANCE_FLOOR), np.float32(NORMALISED_LIMIT)


class Weights(NamedTuple):
    """A policy's layers and weights in the form that kernels take; see `layers.py`."""

    layers: np.ndarray
    """Encoder, memory (if any), trunk, head."""
    encoder_layers: int
    row: np.ndarray
    transposed: np.ndarray
    log_std: np.ndarray
    std: np.ndarray
    rotated: np.ndarray
    activation: int


class Scratch(NamedTuple):
    """Arrays for a block of rows; reused for the next one."""

    layers: np.ndarray
    """[2, row, unit]: a layer's input and output."""
    held: np.ndarray
    """An agent's memory before the step."""
    heading: np.ndarray


def has_kernels(policy: Policy) -> bool:
    """Whether the kernels support a policy: no images, ReLU or tanh, leaky memory or none, continuous actions."""
    is_known = policy.cnn is None and policy.shape.activation in ACTIVATIONS
    is_known = is_known and isinstance(policy.memory, LeakyMemory | None)
    return is_known and isinstance(policy.head, ActionHead) and not policy.head.discrete_sizes


def linears(policy: Policy) -> list[nn.Linear]:
    """All linear layers, in the order of `Weights`."""
    memory = [policy.memory.linear] if isinstance(policy.memory, LeakyMemory) else []
    found = [*policy.encoder, *memory, *policy.trunk, policy.head.linear]
    return [layer for layer in found if isinstance(layer, nn.Linear)]


def log_std_of(policy: Policy) -> nn.Parameter:
    assert isinstance(policy.head, ActionHead)
    return policy.head.log_std


def pairs_of(pairs: object) -> np.ndarray:
    return np.array(pairs, np.int64).reshape(-1, 2)


class KernelPreprocessing(PolicyRunner):
    """Observations by kernels, inference by torch: for policies that the kernels do not support."""

    def __init__(self, policy: Policy, rows: int) -> None:
        super().__init__(policy, rows)
        heading = policy.shape.heading
        self._observed = pairs_of(heading.observed if heading else ())
        self._frame = ActionFrame(
            np.array(heading.forward if heading else (), np.int64),
            pairs_of(heading.acted if heading else ()),
            np.array(list(continuous_columns(policy.shape.action_parts)), np.int64),
        )

    def to_egocentric(self, observation: Tensor, out: Tensor) -> None:
        frames.rotate(observation.numpy(), self._frame.forward, self._observed, out.numpy())

    def normalise(self, normaliser: Normaliser, rows: Tensor, out: Tensor) -> None:
        mean, variance = normaliser.mean.numpy(), normaliser.variance.numpy()
        scratch = np.empty((2, len(mean)), np.float32)
        frames.normalise(rows.numpy(), mean, variance, FLOOR, LIMIT, scratch, out.numpy())

    def from_env_action(self, action: Tensor, observation: Tensor, out: Tensor) -> None:
        frames.from_env_action(action.numpy(), observation.numpy(), self._frame, out.numpy())

    def update_normaliser(self, normaliser: Normaliser, rows: Tensor, acted: Tensor) -> None:
        mean, variance = torch.empty_like(normaliser.mean), torch.empty_like(normaliser.mean)
        if count := frames.moments(rows.numpy(), acted.numpy(), mean.numpy(), variance.numpy()):
            normaliser.merge(float(count), mean, variance)


class KernelPolicyRunner(KernelPreprocessing):
    """Observations and inference by kernels, with the weights as of the last `refresh`."""

    def __init__(self, policy: Policy, rows: int) -> None:
        super().__init__(policy, rows)
        self._log_std = log_std_of(policy)
        self._from = [weights for layer in linears(policy) for weights in (layer.weight, layer.bias)]
        self._offsets, size = flat_offsets(self._from)
        row, transposed = aligned(2, size)
        layers, numbers = table(linears(policy), self._from), len(self._log_std)
        (log_std, std), rotated = np.zeros((2, numbers), np.float32), pairs_of(policy.rotated_cells)
        activation = ACTIVATIONS[policy.shape.activation]
        self._weights = Weights(layers, len(policy.encoder) // 2, row, transposed, log_std, std, rotated, activation)
        width = int(layers[:, [INPUTS, OUTPUTS]].max()) + policy.memory_size
        self._scratch = Scratch(aligned(2, BLOCK, width), aligned(policy.memory_size), np.zeros(2, np.float32))
        self._mean = aligned(-(-rows // BLOCK) * BLOCK, numbers)
        self._noise = torch.zeros(rows, numbers)
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        weights = self._weights
        for tensor in self._from:
            at = self._offsets[id(tensor)]
            weights.row[at : at + tensor.numel()] = tensor.numpy().reshape(-1)
        transpose(weights.layers, weights.row, weights.transposed)
        weights.log_std[:] = self._log_std.numpy()
        weights.std[:] = np.exp(weights.log_std)

    def act(self, inputs: PolicyInput, out: PolicyOutput, *, deterministic: bool, generator: torch.Generator) -> None:
        if deterministic:
            self._noise.zero_()
        else:
            self._noise.normal_(generator=generator)
        given = (*inputs, self._noise, *out)
        _act(self._weights, self._frame, self._scratch, self._mean, *(each.numpy() for each in given))


@njit_fastmath
def _act(
    weights: Weights, frame: ActionFrame, scratch: Scratch, mean: np.ndarray, normalised: np.ndarray,
    observation: np.ndarray, memory: np.ndarray, noise: np.ndarray, action: np.ndarray, log_prob: np.ndarray,
    env_action: np.ndarray,
) -> None:  # fmt: skip
    """Run rows of `normalised` through the layers; memory cells are appended to the encoder's output."""
    layers, row, transposed = weights.layers, weights.row, weights.transposed
    here, there, heading = scratch.layers[0], scratch.layers[1], scratch.heading
    rows, cells = memory.shape
    held = scratch.held[:cells]
    last = len(layers) - 1
    for start in range(0, rows, BLOCK):
        count = min(BLOCK, rows - start)
        for each in range(count):
            for place in range(normalised.shape[1]):
                here[each, place] = normalised[start + each, place]
        for number in range(last):
            layer = layers[number]
            forward(here, layer, row, transposed, count, there)
            if cells > 0 and number == weights.encoder_layers:
                for each in range(count):
                    memory_input, out = there[each, : 2 * cells], here[each, layer[INPUTS] : layer[INPUTS] + cells]
                    squash(memory_input)
                    if len(weights.rotated):
                        heading[0] = observation[start + each, frame.forward[0]]
                        heading[1] = observation[start + each, frame.forward[1]]
                    leaky_step(memory_input, ONE, heading, weights.rotated, memory[start + each], held, out)
            else:
                activate(there, count, layer[OUTPUTS], weights.activation)
                here, there = there, here
        forward(here, layers[last], row, transposed, count, mean[start : start + BLOCK])
    frames.sample_gaussian(mean[:rows], noise, weights.log_std, weights.std, LOG_ROOT, action, log_prob)
    frames.to_env_action(action, observation, frame, env_action)
