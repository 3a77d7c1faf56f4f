"""PPO's losses and gradients as a single kernel, for policies with continuous actions.

It computes what `ppo.losses` and torch's autograd compute for any policy (a test compares them), in half the time and
without holding the interpreter lock. Each agent's sequence goes forward and backward in one pass and stays in cache.
"""

from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from godojo.kernels.compile import njit_fastmath
from godojo.learn.kernels.layers import (
    EIGHT,
    INPUTS,
    OUTPUTS,
    WEIGHTS,
    add_product,
    aligned,
    back_to_given,
    back_to_weights,
    exponential,
    forward,
    places,
    relu,
    relu_backward,
    squash,
    table,
    transpose,
)
from godojo.learn.kernels.policy import has_kernels, linears, log_std_of
from godojo.learn.memory import leak_step, leak_step_back
from godojo.learn.networks import LOG_SQRT_2PI, Critic, Policy
from godojo.learn.ppo import FIGURES, PpoGradient, TorchPpoGradient
from godojo.learn.rollout import RolloutBuffer
from godojo.learn.settings import PpoSettings

HALF, ONE, TWO, ZERO = np.float32(0.5), np.float32(1.0), np.float32(2.0), np.float32(0.0)
LOG_SQRT = np.float32(LOG_SQRT_2PI)
ENTROPY = np.float32(0.5 + LOG_SQRT_2PI)


class Room(NamedTuple):
    """Scratch arrays for one agent's sequence, forward and backward; reused for the next agent."""

    thoughts: np.ndarray
    """[layer, step, unit]: the observation and the activations of encoder and trunk."""
    worths: np.ndarray
    """The same for the critic's layers, from 1 on."""
    company: np.ndarray
    memory_input: np.ndarray
    """The memory's gates and candidates."""
    to_memory_input: np.ndarray
    held: np.ndarray
    """The memory before each step."""
    mean: np.ndarray
    to_mean: np.ndarray
    worth: np.ndarray
    to_worth: np.ndarray
    grad: np.ndarray
    other_grad: np.ndarray


class KernelPpoGradient:
    """Writes the gradient of one role's loss into the flat parameter of its policy and critic (`in_one_row`)."""

    def __init__(self, policy: Policy, critic: Critic, weights: nn.Parameter, settings: PpoSettings) -> None:
        self._settings = settings
        in_row = [*policy.parameters(), *critic.parameters()]
        self._encoder_layers = len(policy.encoder) // 2
        self._policy_layers = table(linears(policy), in_row)
        trunk = [layer for layer in critic.trunk if isinstance(layer, nn.Linear)]
        self._critic_layers = table([critic.own, critic.privileged, *trunk, critic.value], in_row)
        self._log_std_at = places(in_row)[0][id(log_std_of(policy))]
        assert weights.grad is not None
        self._row, self._gradient = weights.detach().numpy(), weights.grad.numpy()
        self._transposed, self._turning = aligned(len(self._row)), policy.turning
        numbers = len(log_std_of(policy))
        widest = int(
            max(self._policy_layers[:, [INPUTS, OUTPUTS]].max(), self._critic_layers[:, [INPUTS, OUTPUTS]].max())
        )
        rows = -(-settings.n_steps // EIGHT) * EIGHT
        self._room = Room(
            thoughts=aligned(self._encoder_layers + 2, rows, widest + policy.memory_size),
            worths=aligned(len(self._critic_layers), rows, widest),
            company=aligned(rows, critic.privileged.in_features),
            memory_input=aligned(rows, 2 * policy.memory_size),
            to_memory_input=aligned(rows, 2 * policy.memory_size),
            held=aligned(rows, policy.memory_size),
            mean=aligned(rows, numbers),
            to_mean=aligned(rows, numbers),
            worth=aligned(rows, 1),
            to_worth=aligned(rows, 1),
            grad=aligned(rows, widest + policy.memory_size),
            other_grad=aligned(rows, widest + policy.memory_size),
        )

    def __call__(self, buffer: RolloutBuffer, advantage: Tensor, target: Tensor, chosen: Tensor) -> list[float]:
        figures, settings = np.zeros(len(FIGURES)), self._settings
        transpose(self._policy_layers, self._row, self._transposed)
        transpose(self._critic_layers, self._row, self._transposed)
        self._gradient[:] = 0.0
        _learn(
            chosen.numpy(),
            buffer.observation.numpy(),
            buffer.others.numpy(),
            buffer.action.numpy(),
            buffer.log_probability.numpy(),
            advantage.numpy(),
            target.numpy(),
            buffer.acted.numpy(),
            buffer.not_done.numpy(),
            buffer.ahead.numpy(),
            self._turning,
            buffer.memory.numpy(),
            self._policy_layers,
            self._encoder_layers,
            self._critic_layers,
            self._log_std_at,
            self._row,
            self._transposed,
            self._room,
            np.float32(settings.clip_range),
            np.float32(settings.vf_coef),
            np.float32(settings.ent_coef),
            settings.max_grad_norm,
            self._gradient,
            figures,
        )
        told_of: list[float] = figures.tolist()
        return told_of


def make_ppo_gradient(policy: Policy, critic: Critic, weights: nn.Parameter, settings: PpoSettings) -> PpoGradient:
    """The kernels where they support the policy, else torch."""
    kind = KernelPpoGradient if has_kernels(policy) else TorchPpoGradient
    return kind(policy, critic, weights, settings)


@njit_fastmath
def _learn(
    chosen: np.ndarray,
    observation: np.ndarray,
    others: np.ndarray,
    action: np.ndarray,
    log_probability: np.ndarray,
    advantage: np.ndarray,
    target: np.ndarray,
    acted: np.ndarray,
    not_done: np.ndarray,
    ahead: np.ndarray,
    turning: np.ndarray,
    memory: np.ndarray,
    policy_layers: np.ndarray,
    encoder_layers: int,
    critic_layers: np.ndarray,
    log_std_at: int,
    row: np.ndarray,
    transposed: np.ndarray,
    room: Room,
    clip: Any,
    vf_coef: Any,
    ent_coef: Any,
    max_grad_norm: float,
    gradient: np.ndarray,
    figures: np.ndarray,
) -> None:
    steps, _, numbers = action.shape
    seen_width, others_width = observation.shape[2], others.shape[2]
    thoughts, worths, company, memory_input, to_memory_input, held, mean, to_mean, worth, to_worth, grad, other_grad = (
        room
    )
    rows = thoughts.shape[1]
    total = ZERO
    for column in chosen:
        for step in range(steps):
            total += ONE if acted[step, column] else ZERO
    share = ONE / max(total, ONE)
    for column in chosen:
        for step in range(steps):
            thoughts[0, step, :seen_width] = observation[step, column]
            company[step, :others_width] = others[step, column]
        _follow(
            thoughts, memory_input, held, not_done, ahead, turning, memory, column, policy_layers, encoder_layers, row,
            transposed, steps,
        )  # fmt: skip
        forward(thoughts[encoder_layers + 1], policy_layers[len(policy_layers) - 1], row, transposed, rows, mean)
        _value(thoughts[0], company, critic_layers, row, transposed, worths, worth)
        for step in range(steps):
            to_mean[step] = ZERO
            to_worth[step] = ZERO
            if acted[step, column]:
                _judge(
                    step, column, mean, action, log_probability, advantage, row, log_std_at, clip, share, to_mean,
                    gradient, figures,
                )  # fmt: skip
                error = worth[step, 0] - target[step, column]
                figures[1] += error * error * share
                to_worth[step, 0] = vf_coef * TWO * error * share
        _value_back(thoughts[0], company, critic_layers, row, worths, to_worth, grad, other_grad, gradient)
        _follow_back(
            thoughts, memory_input, held, not_done, ahead, turning, column, policy_layers, encoder_layers, row, steps,
            to_mean, to_memory_input, grad, other_grad, gradient,
        )  # fmt: skip
    for number in range(numbers):
        figures[2] += (row[log_std_at + number] + ENTROPY) * total * share
        gradient[log_std_at + number] -= ent_coef * total * share
    length = np.sqrt(np.sum(gradient.astype(np.float64) ** 2))
    figures[5] = length
    gradient *= np.float32(min(max_grad_norm / (length + 1e-6), 1.0))


@njit_fastmath
def _judge(
    step: int, column: int, mean: np.ndarray, action: np.ndarray, log_probability: np.ndarray, advantage: np.ndarray,
    row: np.ndarray, log_std_at: int, clip: Any, share: Any, to_mean: np.ndarray, gradient: np.ndarray,
    figures: np.ndarray,
) -> None:  # fmt: skip
    """The clipped surrogate of one step, and its gradients with respect to mean and log_std."""
    numbers = action.shape[2]
    log_ratio = -log_probability[step, column]
    for number in range(numbers):
        log_std = row[log_std_at + number]
        distance = (action[step, column, number] - mean[step, number]) * exponential(-log_std)
        log_ratio -= HALF * distance * distance + log_std + LOG_SQRT
    ratio, gain = exponential(log_ratio), advantage[step, column]
    clipped = min(max(ratio, ONE - clip), ONE + clip)
    figures[0] -= min(ratio * gain, clipped * gain) * share
    figures[3] += ((ratio - ONE) - log_ratio) * share
    if clipped != ratio:
        figures[4] += share
    if clipped == ratio or ratio * gain < clipped * gain:
        by_logarithm = -gain * ratio * share
        for number in range(numbers):
            shrunk = exponential(-row[log_std_at + number])
            distance = (action[step, column, number] - mean[step, number]) * shrunk
            to_mean[step, number] = by_logarithm * distance * shrunk
            gradient[log_std_at + number] += by_logarithm * (distance * distance - ONE)


@njit_fastmath
def _follow(
    thoughts: np.ndarray, memory_input: np.ndarray, held: np.ndarray, not_done: np.ndarray, ahead: np.ndarray,
    turning: np.ndarray, memory: np.ndarray, column: int, layers: np.ndarray, encoder_layers: int, row: np.ndarray,
    transposed: np.ndarray, steps: int,
) -> None:  # fmt: skip
    """Forward pass of one agent's sequence up to the head's input; `memory_input` and `held` keep the memory's part."""
    rows, cells = thoughts.shape[1], memory.shape[1]
    for layer in range(encoder_layers):
        forward(thoughts[layer], layers[layer], row, transposed, rows, thoughts[layer + 1])
        relu(thoughts[layer + 1], rows, layers[layer, OUTPUTS])
    sight = thoughts[encoder_layers]
    if cells > 0:
        beside = layers[encoder_layers, INPUTS]
        forward(sight, layers[encoder_layers], row, transposed, rows, memory_input)
        carried = memory[column].copy()
        for step in range(steps):
            now = memory_input[step, : 2 * cells]
            squash(now)
            out = sight[step, beside : beside + cells]
            leak_step(now, not_done[step, column], ahead[step, column], turning, carried, held[step, :cells], out)
    trunk = layers[len(layers) - 2]
    forward(sight, trunk, row, transposed, rows, thoughts[encoder_layers + 1])
    relu(thoughts[encoder_layers + 1], rows, trunk[OUTPUTS])


@njit_fastmath
def _follow_back(
    thoughts: np.ndarray, memory_input: np.ndarray, held: np.ndarray, not_done: np.ndarray, ahead: np.ndarray,
    turning: np.ndarray, column: int, layers: np.ndarray, encoder_layers: int, row: np.ndarray, steps: int,
    to_mean: np.ndarray, to_memory_input: np.ndarray, grad: np.ndarray, other_grad: np.ndarray, gradient: np.ndarray,
) -> None:  # fmt: skip
    """Backward pass through the head and `_follow`."""
    rows = thoughts.shape[1]
    cells = layers[encoder_layers, OUTPUTS] // 2 if len(layers) == encoder_layers + 3 else 0
    head, trunk, sight = layers[len(layers) - 1], layers[len(layers) - 2], thoughts[encoder_layers]
    back_to_weights(to_mean, thoughts[encoder_layers + 1], head, rows, gradient)
    other_grad[:] = ZERO
    back_to_given(to_mean, head, row, rows, other_grad)
    relu_backward(thoughts[encoder_layers + 1], rows, trunk[OUTPUTS], other_grad)
    back_to_weights(other_grad, sight, trunk, rows, gradient)
    grad[:] = ZERO
    back_to_given(other_grad, trunk, row, rows, grad)
    if cells > 0:
        beside = layers[encoder_layers, INPUTS]
        onward = np.zeros(cells, np.float32)
        for step in range(steps - 1, -1, -1):
            here, out = grad[step, beside : beside + cells], to_memory_input[step, : 2 * cells]
            now, at = memory_input[step, : 2 * cells], not_done[step, column]
            leak_step_back(now, at, ahead[step, column], turning, held[step, :cells], here, onward, out)
        back_to_weights(to_memory_input, sight, layers[encoder_layers], rows, gradient)
        back_to_given(to_memory_input, layers[encoder_layers], row, rows, grad)
    for layer in range(encoder_layers - 1, -1, -1):
        relu_backward(thoughts[layer + 1], rows, layers[layer, OUTPUTS], grad)
        back_to_weights(grad, thoughts[layer], layers[layer], rows, gradient)
        if layer > 0:
            other_grad[:] = ZERO
            back_to_given(grad, layers[layer], row, rows, other_grad)
            grad, other_grad = other_grad, grad


@njit_fastmath
def _value(
    seen: np.ndarray, company: np.ndarray, layers: np.ndarray, row: np.ndarray, transposed: np.ndarray,
    worths: np.ndarray, worth: np.ndarray,
) -> None:  # fmt: skip
    """The critic; its first layer is split into own and privileged observation."""
    rows, others = len(seen), layers[1]
    weights = transposed[others[WEIGHTS] : others[WEIGHTS] + others[INPUTS] * others[OUTPUTS]]
    forward(seen, layers[0], row, transposed, rows, worths[1])
    add_product(company, weights, others[INPUTS], others[OUTPUTS], rows, worths[1])
    relu(worths[1], rows, others[OUTPUTS])
    for layer in range(2, len(layers) - 1):
        forward(worths[layer - 1], layers[layer], row, transposed, rows, worths[layer])
        relu(worths[layer], rows, layers[layer, OUTPUTS])
    forward(worths[len(layers) - 2], layers[len(layers) - 1], row, transposed, rows, worth)


@njit_fastmath
def _value_back(
    seen: np.ndarray, company: np.ndarray, layers: np.ndarray, row: np.ndarray, worths: np.ndarray,
    to_worth: np.ndarray, grad: np.ndarray, other_grad: np.ndarray, gradient: np.ndarray,
) -> None:  # fmt: skip
    """Backward pass through `_value`."""
    rows, last = len(seen), len(layers) - 1
    back_to_weights(to_worth, worths[last - 1], layers[last], rows, gradient)
    grad[:] = ZERO
    back_to_given(to_worth, layers[last], row, rows, grad)
    for layer in range(last - 1, 1, -1):
        relu_backward(worths[layer], rows, layers[layer, OUTPUTS], grad)
        back_to_weights(grad, worths[layer - 1], layers[layer], rows, gradient)
        other_grad[:] = ZERO
        back_to_given(grad, layers[layer], row, rows, other_grad)
        grad, other_grad = other_grad, grad
    relu_backward(worths[1], rows, layers[1, OUTPUTS], grad)
    back_to_weights(grad, seen, layers[0], rows, gradient)
    back_to_weights(grad, company, layers[1], rows, gradient)
