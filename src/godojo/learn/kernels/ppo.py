"""PPO's losses and their gradients as one kernel, for policies whose actions are numbers.

The same as `ppo.losses` and torch's gradient of it, which say it in fewer words and go for any policy; a test compares
them. It takes half their time, and no thread has to wait for another.

One agent's decisions go through everything at once, forth and back, so that all of it stays in the cache.
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
    cut,
    cut_back,
    exponential,
    forward,
    places,
    squash,
    table,
    turn_weights,
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
    """Where one agent's decisions are on their way through the networks and back; used again for the next agent's."""

    thoughts: np.ndarray
    """[layer, decision, number]: what it saw, what each layer of its encoder_layers and its trunk made of it."""
    worths: np.ndarray
    """The same of the critic's layers, from 1 on."""
    company: np.ndarray
    told: np.ndarray
    """The memory's gates, and what they let in."""
    to_told: np.ndarray
    held: np.ndarray
    """What was remembered before each decision."""
    mean: np.ndarray
    to_mean: np.ndarray
    worth: np.ndarray
    to_worth: np.ndarray
    slope: np.ndarray
    other_slope: np.ndarray


class KernelPpoGradient:
    """Gradients of one role's losses, into the row that its policy and its critic lie in (`in_one_row`)."""

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
        self._turned, self._turning = aligned(len(self._row)), policy.turning
        numbers = len(log_std_of(policy))
        widest = int(
            max(self._policy_layers[:, [INPUTS, OUTPUTS]].max(), self._critic_layers[:, [INPUTS, OUTPUTS]].max())
        )
        rows = -(-settings.n_steps // EIGHT) * EIGHT
        self._room = Room(
            thoughts=aligned(self._encoder_layers + 2, rows, widest + policy.memory_size),
            worths=aligned(len(self._critic_layers), rows, widest),
            company=aligned(rows, critic.privileged.in_features),
            told=aligned(rows, 2 * policy.memory_size),
            to_told=aligned(rows, 2 * policy.memory_size),
            held=aligned(rows, policy.memory_size),
            mean=aligned(rows, numbers),
            to_mean=aligned(rows, numbers),
            worth=aligned(rows, 1),
            to_worth=aligned(rows, 1),
            slope=aligned(rows, widest + policy.memory_size),
            other_slope=aligned(rows, widest + policy.memory_size),
        )

    def __call__(self, track: RolloutBuffer, advantage: Tensor, target: Tensor, chosen: Tensor) -> list[float]:
        figures, settings = np.zeros(len(FIGURES)), self._settings
        turn_weights(self._policy_layers, self._row, self._turned)
        turn_weights(self._critic_layers, self._row, self._turned)
        self._gradient[:] = 0.0
        _learn(
            chosen.numpy(),
            track.observation.numpy(),
            track.others.numpy(),
            track.action.numpy(),
            track.log_probability.numpy(),
            advantage.numpy(),
            target.numpy(),
            track.acted.numpy(),
            track.goes_on.numpy(),
            track.ahead.numpy(),
            self._turning,
            track.memory.numpy(),
            self._policy_layers,
            self._encoder_layers,
            self._critic_layers,
            self._log_std_at,
            self._row,
            self._turned,
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
    """The quickest that knows this kind of policy."""
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
    goes_on: np.ndarray,
    ahead: np.ndarray,
    turning: np.ndarray,
    memory: np.ndarray,
    policy_layers: np.ndarray,
    encoder_layers: int,
    critic_layers: np.ndarray,
    log_std_at: int,
    row: np.ndarray,
    turned: np.ndarray,
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
    thoughts, worths, company, told, to_told, held, mean, to_mean, worth, to_worth, slope, other_slope = room
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
            thoughts, told, held, goes_on, ahead, turning, memory, column, policy_layers, encoder_layers, row, turned,
            steps,
        )  # fmt: skip
        forward(thoughts[encoder_layers + 1], policy_layers[len(policy_layers) - 1], row, turned, rows, mean)
        _value(thoughts[0], company, critic_layers, row, turned, worths, worth)
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
        _value_back(thoughts[0], company, critic_layers, row, worths, to_worth, slope, other_slope, gradient)
        _follow_back(
            thoughts, told, held, goes_on, ahead, turning, column, policy_layers, encoder_layers, row, steps, to_mean,
            to_told, slope, other_slope, gradient,
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
    """One decision's clipped surrogate, and its slopes by the means and by the logarithms of the deviations."""
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
    thoughts: np.ndarray, told: np.ndarray, held: np.ndarray, goes_on: np.ndarray, ahead: np.ndarray,
    turning: np.ndarray, memory: np.ndarray, column: int, layers: np.ndarray, encoder_layers: int, row: np.ndarray,
    turned: np.ndarray, steps: int,
) -> None:  # fmt: skip
    """One agent's decisions from what it saw to what its head is fed with; `told` and `held` keep the memory's part."""
    rows, cells = thoughts.shape[1], memory.shape[1]
    for layer in range(encoder_layers):
        forward(thoughts[layer], layers[layer], row, turned, rows, thoughts[layer + 1])
        cut(thoughts[layer + 1], rows, layers[layer, OUTPUTS])
    sight = thoughts[encoder_layers]
    if cells > 0:
        beside = layers[encoder_layers, INPUTS]
        forward(sight, layers[encoder_layers], row, turned, rows, told)
        carried = memory[column].copy()
        for step in range(steps):
            now = told[step, : 2 * cells]
            squash(now)
            out = sight[step, beside : beside + cells]
            leak_step(now, goes_on[step, column], ahead[step, column], turning, carried, held[step, :cells], out)
    trunk = layers[len(layers) - 2]
    forward(sight, trunk, row, turned, rows, thoughts[encoder_layers + 1])
    cut(thoughts[encoder_layers + 1], rows, trunk[OUTPUTS])


@njit_fastmath
def _follow_back(
    thoughts: np.ndarray, told: np.ndarray, held: np.ndarray, goes_on: np.ndarray, ahead: np.ndarray,
    turning: np.ndarray, column: int, layers: np.ndarray, encoder_layers: int, row: np.ndarray, steps: int,
    to_mean: np.ndarray, to_told: np.ndarray, slope: np.ndarray, other_slope: np.ndarray, gradient: np.ndarray,
) -> None:  # fmt: skip
    """The way back through `_follow` and the head."""
    rows = thoughts.shape[1]
    cells = layers[encoder_layers, OUTPUTS] // 2 if len(layers) == encoder_layers + 3 else 0
    head, trunk, sight = layers[len(layers) - 1], layers[len(layers) - 2], thoughts[encoder_layers]
    back_to_weights(to_mean, thoughts[encoder_layers + 1], head, rows, gradient)
    other_slope[:] = ZERO
    back_to_given(to_mean, head, row, rows, other_slope)
    cut_back(thoughts[encoder_layers + 1], rows, trunk[OUTPUTS], other_slope)
    back_to_weights(other_slope, sight, trunk, rows, gradient)
    slope[:] = ZERO
    back_to_given(other_slope, trunk, row, rows, slope)
    if cells > 0:
        beside = layers[encoder_layers, INPUTS]
        onward = np.zeros(cells, np.float32)
        for step in range(steps - 1, -1, -1):
            here, out = slope[step, beside : beside + cells], to_told[step, : 2 * cells]
            now, at = told[step, : 2 * cells], goes_on[step, column]
            leak_step_back(now, at, ahead[step, column], turning, held[step, :cells], here, onward, out)
        back_to_weights(to_told, sight, layers[encoder_layers], rows, gradient)
        back_to_given(to_told, layers[encoder_layers], row, rows, slope)
    for layer in range(encoder_layers - 1, -1, -1):
        cut_back(thoughts[layer + 1], rows, layers[layer, OUTPUTS], slope)
        back_to_weights(slope, thoughts[layer], layers[layer], rows, gradient)
        if layer > 0:
            other_slope[:] = ZERO
            back_to_given(slope, layers[layer], row, rows, other_slope)
            slope, other_slope = other_slope, slope


@njit_fastmath
def _value(
    seen: np.ndarray, company: np.ndarray, layers: np.ndarray, row: np.ndarray, turned: np.ndarray,
    worths: np.ndarray, worth: np.ndarray,
) -> None:  # fmt: skip
    """The critic, from what an agent and the others know; its first two layers are one, cut in two."""
    rows, others = len(seen), layers[1]
    weights = turned[others[WEIGHTS] : others[WEIGHTS] + others[INPUTS] * others[OUTPUTS]]
    forward(seen, layers[0], row, turned, rows, worths[1])
    add_product(company, weights, others[INPUTS], others[OUTPUTS], rows, worths[1])
    cut(worths[1], rows, others[OUTPUTS])
    for layer in range(2, len(layers) - 1):
        forward(worths[layer - 1], layers[layer], row, turned, rows, worths[layer])
        cut(worths[layer], rows, layers[layer, OUTPUTS])
    forward(worths[len(layers) - 2], layers[len(layers) - 1], row, turned, rows, worth)


@njit_fastmath
def _value_back(
    seen: np.ndarray, company: np.ndarray, layers: np.ndarray, row: np.ndarray, worths: np.ndarray,
    to_worth: np.ndarray, slope: np.ndarray, other_slope: np.ndarray, gradient: np.ndarray,
) -> None:  # fmt: skip
    """The way back through `_value`."""
    rows, last = len(seen), len(layers) - 1
    back_to_weights(to_worth, worths[last - 1], layers[last], rows, gradient)
    slope[:] = ZERO
    back_to_given(to_worth, layers[last], row, rows, slope)
    for layer in range(last - 1, 1, -1):
        cut_back(worths[layer], rows, layers[layer, OUTPUTS], slope)
        back_to_weights(slope, worths[layer - 1], layers[layer], rows, gradient)
        other_slope[:] = ZERO
        back_to_given(slope, layers[layer], row, rows, other_slope)
        slope, other_slope = other_slope, slope
    cut_back(worths[1], rows, layers[1, OUTPUTS], slope)
    back_to_weights(slope, seen, layers[0], rows, gradient)
    back_to_weights(slope, company, layers[1], rows, gradient)
