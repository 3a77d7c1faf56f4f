"""The leaky recurrence and its gradient as kernels: `learn/memory.py` has the same in torch."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from godojo.kernels.compile import device_kernel, njit_nogil
from godojo.learn.kernels.frames import to_heading, to_world
from godojo.learn.memory import tanh
from godojo.learn.rotation import Pairs


def leaky_scan(raw: Tensor, memory: Tensor, not_done: Tensor, heading: Tensor, rotated: Pairs) -> Tensor:
    """As `memory.leaky_scan`; no gradient flows to `memory`."""
    pairs = np.array(rotated, np.int64).reshape(-1, 2)
    cells: Tensor = _LeakyScan.apply(raw, memory, not_done, heading, pairs)  # type: ignore[no-untyped-call]
    return cells


class _LeakyScan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: Tensor, memory: Tensor, not_done: Tensor, heading: Tensor, pairs: np.ndarray) -> Tensor:
        size = raw.shape[-1] // 2
        squashed = torch.empty_like(raw)
        torch.sigmoid(raw[..., :size], out=squashed[..., :size])
        squashed[..., size:] = tanh(raw[..., size:])
        held, cells = (torch.empty(*raw.shape[:-1], size, dtype=raw.dtype) for _ in range(2))
        given = (squashed.numpy(), memory.numpy(), not_done.numpy(), heading.contiguous().numpy(), pairs)
        _scan(*given, raw.new_empty(size).numpy(), held.numpy(), cells.numpy())
        ctx.save_for_backward(squashed, not_done, heading, held)
        ctx.pairs = pairs
        return cells

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        squashed, not_done, heading, held = ctx.saved_tensors
        raw_grad = torch.empty_like(squashed)
        given = (squashed.numpy(), not_done.numpy(), heading.contiguous().numpy(), ctx.pairs, held.numpy())
        gradient = gradients[0].contiguous()
        _scan_backward(*given, gradient.numpy(), gradient.new_empty(gradient.shape[-1]).numpy(), raw_grad.numpy())
        return raw_grad, None, None, None, None


@njit_nogil
def _scan(
    squashed: np.ndarray, memory: np.ndarray, not_done: np.ndarray, heading: np.ndarray, pairs: np.ndarray,
    carried: np.ndarray, held: np.ndarray, out: np.ndarray,
) -> None:  # fmt: skip
    """Fill `out` with the memory after each step and `held` with the memory before it, relative to the heading."""
    steps, rows, _ = out.shape
    for row in range(rows):
        for cell in range(len(carried)):
            carried[cell] = memory[row, cell]
        for step in range(steps):
            leaky_step(
                squashed[step, row], not_done[step, row], heading[step, row], pairs, carried, held[step, row],
                out[step, row],
            )  # fmt: skip


@device_kernel
def leaky_step(
    squashed: np.ndarray, not_done: Any, heading: np.ndarray, pairs: np.ndarray, carried: np.ndarray, held: np.ndarray,
    out: np.ndarray,
) -> None:  # fmt: skip
    """One step of one agent; `carried` is along the world's axes, before and after."""
    size = len(out)
    for cell in range(size):
        held[cell] = carried[cell] * not_done
    for pair in range(len(pairs)):
        x, z = held[pairs[pair, 0]], held[pairs[pair, 1]]
        held[pairs[pair, 0]], held[pairs[pair, 1]] = to_heading(x, z, heading[0], heading[1])
    for cell in range(size):
        out[cell] = held[cell] + squashed[cell] * (squashed[size + cell] - held[cell])
        carried[cell] = out[cell]
    for pair in range(len(pairs)):
        left, front = out[pairs[pair, 0]], out[pairs[pair, 1]]
        carried[pairs[pair, 0]], carried[pairs[pair, 1]] = to_world(left, front, heading[0], heading[1])


@device_kernel
def leaky_step_backward(
    squashed: np.ndarray, not_done: Any, heading: np.ndarray, pairs: np.ndarray, held: np.ndarray,
    gradient: np.ndarray, carried_grad: np.ndarray, raw_grad: np.ndarray,
) -> None:  # fmt: skip
    """Backward pass of `leaky_step` and the activations; `carried_grad` is updated in place."""
    size = len(held)
    one = held.dtype.type(1.0)
    for pair in range(len(pairs)):  # the gradient of a rotation is the inverse rotation
        x, z = carried_grad[pairs[pair, 0]], carried_grad[pairs[pair, 1]]
        carried_grad[pairs[pair, 0]], carried_grad[pairs[pair, 1]] = to_heading(x, z, heading[0], heading[1])
    for cell in range(size):
        grad, gate, candidate = carried_grad[cell] + gradient[cell], squashed[cell], squashed[size + cell]
        raw_grad[cell] = grad * (candidate - held[cell]) * gate * (one - gate)
        raw_grad[size + cell] = grad * gate * (one - candidate * candidate)
        carried_grad[cell] = grad * (one - gate)
    for pair in range(len(pairs)):
        left, front = carried_grad[pairs[pair, 0]], carried_grad[pairs[pair, 1]]
        carried_grad[pairs[pair, 0]], carried_grad[pairs[pair, 1]] = to_world(left, front, heading[0], heading[1])
    for cell in range(size):
        carried_grad[cell] *= not_done


@njit_nogil
def _scan_backward(
    squashed: np.ndarray, not_done: np.ndarray, heading: np.ndarray, pairs: np.ndarray, held: np.ndarray,
    gradient: np.ndarray, carried_grad: np.ndarray, raw_grad: np.ndarray,
) -> None:  # fmt: skip
    steps, rows, size = gradient.shape
    for row in range(rows):
        for cell in range(size):
            carried_grad[cell] = 0.0
        for step in range(steps - 1, -1, -1):
            leaky_step_backward(
                squashed[step, row], not_done[step, row], heading[step, row], pairs, held[step, row],
                gradient[step, row], carried_grad, raw_grad[step, row],
            )  # fmt: skip
