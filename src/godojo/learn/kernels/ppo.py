"""PPO's losses and gradients as a single kernel, for policies with continuous actions.

It computes what `ppo.losses` and torch's autograd compute for any policy (a test compares them), in half the time and
without holding the interpreter lock. Each agent's sequence goes forward and backward in one pass and stays in cache.
"""

from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from godojo.kernels.compile import njit_fastmath
from godojo.learn.kernels.critic import critic_forward, critic_linears
from godojo.learn.kernels.layers import (
    ACTIVATIONS,
    EIGHT,
    INPUTS,
    OUTPUTS,
    activate,
    activate_backward,
    aligned,
    back_to_given,
    back_to_weights,
    clear,
    exponential,
    forward,
    squash,
    table,
    transpose,
)
from godojo.learn.kernels.memory import leaky_step, leaky_step_backward
from godojo.learn.kernels.policy import linears, log_std_of, pairs_of
from godojo.learn.networks import LOG_SQRT_2PI, Critic, Policy, flat_offsets
from godojo.learn.ppo import METRICS
from godojo.learn.rollout_buffer import RolloutBuffer
from godojo.learn.settings import PpoSettings

HALF, ONE, TWO, ZERO = np.float32(0.5), np.float32(1.0), np.float32(2.0), np.float32(0.0)
LOG_SQRT = np.float32(LOG_SQRT_2PI)
ENTROPY = np.float32(0.5 + LOG_SQRT_2PI)


class Network(NamedTuple):
    """Layers and weights of policy and critic; see `layers.py`."""

    policy_layers: np.ndarray
    encoder_layers: int
    critic_layers: np.ndarray
    rotated: np.ndarray
    log_std_at: int
    row: np.ndarray
    transposed: np.ndarray
    activation: int


class Rollout(NamedTuple):
    """The arrays of a `RolloutBuffer` that are trained on."""

    observation: np.ndarray
    privileged: np.ndarray
    action: np.ndarray
    log_prob: np.ndarray
    advantage: np.ndarray
    returns: np.ndarray
    acted: np.ndarray
    not_done: np.ndarray
    heading: np.ndarray
    memory: np.ndarray
    imitated: np.ndarray
    imitation_weight: np.ndarray


class Coefficients(NamedTuple):
    """Of the loss (`PpoSettings`)."""

    clip: Any
    value: Any
    entropy: Any
    max_grad_norm: float


class Scratch(NamedTuple):
    """Arrays for one agent's sequence, forward and backward; reused for the next agent."""

    activations: np.ndarray
    """[layer, step, unit]: the observation and the activations of encoder and trunk."""
    critic_activations: np.ndarray
    privileged: np.ndarray
    memory_input: np.ndarray
    """The memory's gates and candidates."""
    memory_input_grad: np.ndarray
    held: np.ndarray
    """The memory before each step."""
    carried: np.ndarray
    """The memory between two steps, or its gradient."""
    mean: np.ndarray
    mean_grad: np.ndarray
    value: np.ndarray
    value_grad: np.ndarray
    grad: np.ndarray
    other_grad: np.ndarray


class KernelPpoGradient:
    """Writes the gradient of one role's loss into the flat parameter of policy and critic (`flatten_parameters`)."""

    def __init__(self, policy: Policy, critic: Critic, weights: nn.Parameter, settings: PpoSettings) -> None:
        assert weights.grad is not None
        self._gradient = weights.grad.numpy()
        in_row, row = [*policy.parameters(), *critic.parameters()], weights.detach().numpy()
        self._network = Network(
            policy_layers=table(linears(policy), in_row),
            encoder_layers=len(policy.encoder) // 2,
            critic_layers=table(critic_linears(critic), in_row),
            rotated=pairs_of(policy.rotated_cells),
            log_std_at=flat_offsets(in_row)[0][id(log_std_of(policy))],
            row=row,
            transposed=aligned(len(row)),
            activation=ACTIVATIONS[policy.shape.activation],
        )
        self._coefficients = Coefficients(
            clip=np.float32(settings.clip_range),
            value=np.float32(settings.vf_coef),
            entropy=np.float32(settings.ent_coef),
            max_grad_norm=settings.max_grad_norm,
        )
        layers = np.concatenate((self._network.policy_layers, self._network.critic_layers))
        self._widest, self._cells = int(layers[:, [INPUTS, OUTPUTS]].max()), policy.memory_size
        self._privileged_size, self._numbers = critic.privileged.in_features, len(log_std_of(policy))
        self._scratches: dict[int, Scratch] = {}
        """By the number of rows: sequences of a rollout are shorter than the whole."""

    def _scratch(self, steps: int) -> Scratch:
        rows, cells, widest = -(-steps // EIGHT) * EIGHT, self._cells, self._widest
        if rows not in self._scratches:
            self._scratches[rows] = Scratch(
                activations=aligned(self._network.encoder_layers + 2, rows, widest + cells),
                critic_activations=aligned(len(self._network.critic_layers), rows, widest),
                privileged=aligned(rows, self._privileged_size),
                memory_input=aligned(rows, 2 * cells),
                memory_input_grad=aligned(rows, 2 * cells),
                held=aligned(rows, cells),
                carried=aligned(cells),
                mean=aligned(rows, self._numbers),
                mean_grad=aligned(rows, self._numbers),
                value=aligned(rows, 1),
                value_grad=aligned(rows, 1),
                grad=aligned(rows, widest + cells),
                other_grad=aligned(rows, widest + cells),
            )
        return self._scratches[rows]

    def __call__(self, buffer: RolloutBuffer, columns: Tensor) -> list[float]:
        network, metrics = self._network, np.zeros(len(METRICS))
        rollout = Rollout(*(getattr(buffer, name).numpy() for name in Rollout._fields))
        transpose(network.policy_layers, network.row, network.transposed)
        transpose(network.critic_layers, network.row, network.transposed)
        self._gradient[:] = 0.0
        scratch = self._scratch(len(rollout.action))
        _ppo_gradient(network, rollout, columns.numpy(), self._coefficients, scratch, self._gradient, metrics)
        found: list[float] = metrics.tolist()
        return found


@njit_fastmath
def _ppo_gradient(
    net: Network, rollout: Rollout, chosen: np.ndarray, coefficients: Coefficients, s: Scratch, gradient: np.ndarray,
    metrics: np.ndarray,
) -> None:  # fmt: skip
    steps, _, numbers = rollout.action.shape
    observation_width, privileged_width = rollout.observation.shape[2], rollout.privileged.shape[2]
    rows, head = s.activations.shape[1], net.policy_layers[len(net.policy_layers) - 1]
    total = ZERO
    for column in chosen:
        for step in range(steps):
            total += ONE if rollout.acted[step, column] else ZERO
    share = ONE / max(total, ONE)
    for column in chosen:
        for step in range(steps):
            for place in range(observation_width):
                s.activations[0, step, place] = rollout.observation[step, column, place]
            for place in range(privileged_width):
                s.privileged[step, place] = rollout.privileged[step, column, place]
        _forward_sequence(net, rollout, column, s)
        forward(s.activations[net.encoder_layers + 1], head, net.row, net.transposed, rows, s.mean)
        critic_forward(
            net.critic_layers, net.row, net.transposed, net.activation, s.activations[0], s.privileged, rows,
            s.critic_activations, s.value,
        )  # fmt: skip
        clear(s.mean_grad)
        clear(s.value_grad)
        for step in range(steps):
            if rollout.acted[step, column]:
                _surrogate(net, rollout, step, column, coefficients.clip, share, s, gradient, metrics)
                _imitation(rollout, step, column, share, s, metrics)
                error = s.value[step, 0] - rollout.returns[step, column]
                metrics[1] += error * error * share
                s.value_grad[step, 0] = coefficients.value * TWO * error * share
        _critic_backward(net, s, gradient)
        _backward_sequence(net, rollout, column, s, gradient)
    for number in range(numbers):
        metrics[2] += (net.row[net.log_std_at + number] + ENTROPY) * total * share
        gradient[net.log_std_at + number] -= coefficients.entropy * total * share
    squares = 0.0
    for number in range(len(gradient)):
        squares += float(gradient[number]) * float(gradient[number])
    grad_norm = np.sqrt(squares)
    metrics[6] = grad_norm
    scale = np.float32(min(coefficients.max_grad_norm / (grad_norm + 1e-6), 1.0))
    for number in range(len(gradient)):
        gradient[number] *= scale


@njit_fastmath
def _surrogate(
    net: Network, rollout: Rollout, step: int, column: int, clip: Any, share: Any, s: Scratch, gradient: np.ndarray,
    metrics: np.ndarray,
) -> None:  # fmt: skip
    """The clipped surrogate of one step, and its gradients with respect to mean and log_std."""
    action, mean, log_stds = rollout.action[step, column], s.mean[step], net.row[net.log_std_at :]
    log_ratio = -rollout.log_prob[step, column]
    for number in range(len(action)):
        log_std = log_stds[number]
        distance = (action[number] - mean[number]) * exponential(-log_std)
        log_ratio -= HALF * distance * distance + log_std + LOG_SQRT
    ratio, advantage = exponential(log_ratio), rollout.advantage[step, column]
    clipped = min(max(ratio, ONE - clip), ONE + clip)
    metrics[0] -= min(ratio * advantage, clipped * advantage) * share
    metrics[3] += ((ratio - ONE) - log_ratio) * share
    if clipped != ratio:
        metrics[4] += share
    if clipped == ratio or ratio * advantage < clipped * advantage:
        log_prob_grad = -advantage * ratio * share
        for number in range(len(action)):
            inverse_std = exponential(-log_stds[number])
            distance = (action[number] - mean[number]) * inverse_std
            s.mean_grad[step, number] = log_prob_grad * distance * inverse_std
            gradient[net.log_std_at + number] += log_prob_grad * (distance * distance - ONE)


@njit_fastmath
def _imitation(rollout: Rollout, step: int, column: int, share: Any, s: Scratch, metrics: np.ndarray) -> None:
    """The imitation loss of one step, and its gradient with respect to the mean."""
    weight = rollout.imitation_weight[step, column]
    if weight > ZERO:
        for number in range(rollout.imitated.shape[2]):
            off = s.mean[step, number] - rollout.imitated[step, column, number]
            metrics[5] += weight * off * off * share
            s.mean_grad[step, number] += TWO * weight * off * share


@njit_fastmath
def _forward_sequence(net: Network, rollout: Rollout, column: int, s: Scratch) -> None:
    """Forward pass of one agent's sequence up to the head's input."""
    layers, encoder_layers, activations = net.policy_layers, net.encoder_layers, s.activations
    rows, cells, steps = activations.shape[1], rollout.memory.shape[1], rollout.action.shape[0]
    for layer in range(encoder_layers):
        forward(activations[layer], layers[layer], net.row, net.transposed, rows, activations[layer + 1])
        activate(activations[layer + 1], rows, layers[layer, OUTPUTS], net.activation)
    encoded = activations[encoder_layers]
    if cells > 0:
        cells_at = layers[encoder_layers, INPUTS]
        forward(encoded, layers[encoder_layers], net.row, net.transposed, rows, s.memory_input)
        carried = s.carried[:cells]
        for cell in range(cells):
            carried[cell] = rollout.memory[column, cell]
        for step in range(steps):
            now, held = s.memory_input[step, : 2 * cells], s.held[step, :cells]
            squash(now)
            not_done, heading = rollout.not_done[step, column], rollout.heading[step, column]
            leaky_step(now, not_done, heading, net.rotated, carried, held, encoded[step, cells_at : cells_at + cells])
    trunk = layers[len(layers) - 2]
    forward(encoded, trunk, net.row, net.transposed, rows, activations[encoder_layers + 1])
    activate(activations[encoder_layers + 1], rows, trunk[OUTPUTS], net.activation)


@njit_fastmath
def _backward_sequence(net: Network, rollout: Rollout, column: int, s: Scratch, gradient: np.ndarray) -> None:
    """Backward pass through the head and `_forward_sequence`."""
    layers, encoder_layers, activations, row = net.policy_layers, net.encoder_layers, s.activations, net.row
    rows, cells, steps = activations.shape[1], rollout.memory.shape[1], rollout.action.shape[0]
    head, trunk, encoded = layers[len(layers) - 1], layers[len(layers) - 2], activations[encoder_layers]
    grad, other_grad = s.grad, s.other_grad
    back_to_weights(s.mean_grad, activations[encoder_layers + 1], head, rows, gradient)
    clear(other_grad)
    back_to_given(s.mean_grad, head, row, rows, other_grad)
    activate_backward(activations[encoder_layers + 1], rows, trunk[OUTPUTS], net.activation, other_grad)
    back_to_weights(other_grad, encoded, trunk, rows, gradient)
    clear(grad)
    back_to_given(other_grad, trunk, row, rows, grad)
    if cells > 0:
        cells_at = layers[encoder_layers, INPUTS]
        carried_grad = s.carried[:cells]
        for cell in range(cells):
            carried_grad[cell] = ZERO
        for step in range(steps - 1, -1, -1):
            here, out = grad[step, cells_at : cells_at + cells], s.memory_input_grad[step, : 2 * cells]
            now, held = s.memory_input[step, : 2 * cells], s.held[step, :cells]
            not_done, heading = rollout.not_done[step, column], rollout.heading[step, column]
            leaky_step_backward(now, not_done, heading, net.rotated, held, here, carried_grad, out)
        back_to_weights(s.memory_input_grad, encoded, layers[encoder_layers], rows, gradient)
        back_to_given(s.memory_input_grad, layers[encoder_layers], row, rows, grad)
    for layer in range(encoder_layers - 1, -1, -1):
        activate_backward(activations[layer + 1], rows, layers[layer, OUTPUTS], net.activation, grad)
        back_to_weights(grad, activations[layer], layers[layer], rows, gradient)
        if layer > 0:
            clear(other_grad)
            back_to_given(grad, layers[layer], row, rows, other_grad)
            grad, other_grad = other_grad, grad


@njit_fastmath
def _critic_backward(net: Network, s: Scratch, gradient: np.ndarray) -> None:
    """Backward pass through `critic_forward`."""
    layers, row, activations, grad, other_grad = net.critic_layers, net.row, s.critic_activations, s.grad, s.other_grad
    rows, last = activations.shape[1], len(layers) - 1
    back_to_weights(s.value_grad, activations[last - 1], layers[last], rows, gradient)
    clear(grad)
    back_to_given(s.value_grad, layers[last], row, rows, grad)
    for layer in range(last - 1, 1, -1):
        activate_backward(activations[layer], rows, layers[layer, OUTPUTS], net.activation, grad)
        back_to_weights(grad, activations[layer - 1], layers[layer], rows, gradient)
        clear(other_grad)
        back_to_given(grad, layers[layer], row, rows, other_grad)
        grad, other_grad = other_grad, grad
    activate_backward(activations[1], rows, layers[1, OUTPUTS], net.activation, grad)
    back_to_weights(grad, s.activations[0], layers[0], rows, gradient)
    back_to_weights(grad, s.privileged, layers[1], rows, gradient)
