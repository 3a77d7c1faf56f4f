"""Linear layers and activations as kernels; in torch, small networks spend most of their time between operations.

Arrays are padded to whole blocks of eight rows, and the padding is ignored. Weights are given twice, as torch has them
([outputs, inputs]) and transposed ([inputs, outputs]), so that memory is read in order.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from torch import Tensor, nn

from godojo.kernels.compile import device_kernel, njit_fastmath
from godojo.learn.kernels.matrix import add_matrix_product
from godojo.learn.networks import CACHE_LINE, flat_offsets

EIGHT, FEW = 8, 8
ITEM = np.dtype(np.float32).itemsize
INPUTS, OUTPUTS, WEIGHTS, BIASES = range(4)
RELU, TANH = range(2)
ACTIVATIONS = {"relu": RELU, "tanh": TANH}
"""Those that have kernels, whose derivative follows from their output."""
LOG2_E = np.float32(1.0 / math.log(2.0))
# 2 to the power of -0.5 to 0.5, by its Taylor series.
P1, P2, P3, P4, P5, P6 = (np.float32(math.log(2.0) ** n / math.factorial(n)) for n in range(1, 7))
EXPONENT_LIMIT, ONE, TWO = np.float32(100.0), np.float32(1.0), np.float32(2.0)


def aligned(*shape: int) -> np.ndarray:
    """Zeros whose rows are aligned to cache lines, which is 50 % faster."""
    *outer, width = shape
    padded = (*outer, -(-width // CACHE_LINE) * CACHE_LINE)
    room = np.zeros(math.prod(padded) + CACHE_LINE, np.float32)
    start = -room.ctypes.data // room.itemsize % CACHE_LINE
    return room[start : start + math.prod(padded)].reshape(padded)


def table(layers: Sequence[nn.Linear], in_row: Iterable[Tensor]) -> np.ndarray:
    """Per layer: inputs, outputs, and the offsets of weights and biases in the flat row."""
    at, _ = flat_offsets(in_row)
    found = [(each.in_features, each.out_features, at[id(each.weight)], at.get(id(each.bias), -1)) for each in layers]
    return np.array(found, np.int64).reshape(-1, 4)


@njit_fastmath
def transpose(layers: np.ndarray, row: np.ndarray, transposed: np.ndarray) -> None:
    """Write every layer's weights as [inputs, outputs], at the offsets they have as [outputs, inputs]."""
    for layer in range(len(layers)):
        inputs, outputs, at = layers[layer, INPUTS], layers[layer, OUTPUTS], layers[layer, WEIGHTS]
        for n in range(outputs):
            for k in range(inputs):
                transposed[at + k * outputs + n] = row[at + n * inputs + k]


@njit_fastmath
def add_product(given: np.ndarray, weights: np.ndarray, inputs: int, outputs: int, rows: int, out: np.ndarray) -> None:
    """`out += given @ weights`; either may be wider than what is used of it."""
    given_row, out_row = given.strides[0] // ITEM, out.strides[0] // ITEM
    add_matrix_product(given, 0, given_row, 1, weights, 0, outputs, out, 0, out_row, rows, inputs, outputs)


@njit_fastmath
def clear(numbers: np.ndarray) -> None:
    """Fill with zeros; unlike an assignment to a slice, the loop is done with whole registers."""
    for row in range(numbers.shape[0]):
        for n in range(numbers.shape[1]):
            numbers[row, n] = np.float32(0.0)


@njit_fastmath
def forward(
    given: np.ndarray, layer: np.ndarray, row: np.ndarray, transposed: np.ndarray, rows: int, out: np.ndarray
) -> None:
    """`out = given @ weights + biases`."""
    inputs, outputs, at, biases = layer[INPUTS], layer[OUTPUTS], layer[WEIGHTS], layer[BIASES]
    if outputs < FEW:  # too few to do many at once: along the inputs instead
        for each in range(rows):
            for n in range(outputs):
                total = row[biases + n]
                weights = row[at + n * inputs : at + (n + 1) * inputs]
                for k in range(inputs):
                    total += given[each, k] * weights[k]
                out[each, n] = total
        return
    for each in range(rows):
        for n in range(outputs):
            out[each, n] = row[biases + n]
    add_product(given, transposed[at : at + inputs * outputs], inputs, outputs, rows, out)


@njit_fastmath
def back_to_weights(grad: np.ndarray, given: np.ndarray, layer: np.ndarray, rows: int, gradient: np.ndarray) -> None:
    """Accumulate the gradients of weights and biases."""
    inputs, outputs, at, biases = layer[INPUTS], layer[OUTPUTS], layer[WEIGHTS], layer[BIASES]
    grad_row, given_row = grad.strides[0] // ITEM, given.strides[0] // ITEM
    add_matrix_product(grad, 0, 1, grad_row, given, 0, given_row, gradient, at, inputs, outputs, rows, inputs)
    if biases >= 0:
        for row in range(rows):
            for n in range(outputs):
                gradient[biases + n] += grad[row, n]


@njit_fastmath
def back_to_given(grad: np.ndarray, layer: np.ndarray, row: np.ndarray, rows: int, out: np.ndarray) -> None:
    """Accumulate the gradients of the layer's input."""
    inputs, outputs, at = layer[INPUTS], layer[OUTPUTS], layer[WEIGHTS]
    add_product(grad, row[at : at + inputs * outputs], outputs, inputs, rows, out)


@device_kernel
def exponential(x: Any) -> Any:
    """exp(x) without a library call, so that it vectorises."""
    power = min(max(x * LOG2_E, -EXPONENT_LIMIT), EXPONENT_LIMIT)
    whole = np.floor(power + np.float32(0.5))
    f = power - whole
    part = ONE + f * (P1 + f * (P2 + f * (P3 + f * (P4 + f * (P5 + f * P6)))))
    return part * np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)


@device_kernel
def sigmoid(x: Any) -> Any:
    return ONE / (ONE + exponential(-x))


@device_kernel
def tanh(x: Any) -> Any:
    return TWO * sigmoid(TWO * x) - ONE


@njit_fastmath
def activate(numbers: np.ndarray, rows: int, width: int, activation: int) -> None:
    """Apply an activation in place."""
    if activation == RELU:
        for row in range(rows):
            for n in range(width):
                numbers[row, n] = max(numbers[row, n], np.float32(0.0))
    else:
        for row in range(rows):
            for n in range(width):
                numbers[row, n] = tanh(numbers[row, n])


@njit_fastmath
def activate_backward(numbers: np.ndarray, rows: int, width: int, activation: int, grad: np.ndarray) -> None:
    """Backpropagate `grad` through `activate`, given its output."""
    if activation == RELU:
        for row in range(rows):
            for n in range(width):
                grad[row, n] = grad[row, n] if numbers[row, n] > np.float32(0.0) else np.float32(0.0)
    else:
        for row in range(rows):
            for n in range(width):
                grad[row, n] *= ONE - numbers[row, n] * numbers[row, n]


@njit_fastmath
def squash(numbers: np.ndarray) -> None:
    """Sigmoid of the first half (the gates), tanh of the second (the candidates)."""
    half = len(numbers) // 2
    for number in range(half):
        numbers[number] = sigmoid(numbers[number])
        numbers[half + number] = tanh(numbers[half + number])
