"""Recurrent memory of a policy: leaky cells, which train fast, or a gated recurrent unit.

A leaky cell moves towards a candidate by a gated amount: `h += gate * (candidate - h)`. Neither depends on the cell
itself (a minimal GRU, Feng et al. 2024), so matrix products are batched over all steps and only one line is sequential.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from godojo.kernels.compile import kernel, njit_nogil
from godojo.learn.kernels import frames
from godojo.learn.threads import orthogonal


def tanh(x: Tensor) -> Tensor:
    """Three times as fast as torch's own."""
    return 2.0 * torch.sigmoid(2.0 * x) - 1.0


class LeakyMemory(nn.Module):
    """`size` leaky cells, fed by `features`."""

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.linear = nn.Linear(features, 2 * size)
        orthogonal(self.linear.weight)
        # Gates start between nearly closed and half open: time constants range from long to short.
        with torch.no_grad():
            self.linear.bias[:size] = torch.linspace(-4.0, 0.0, size)
            self.linear.bias[size:] = 0.0

    def forward(self, seen: Tensor, memory: Tensor) -> Tensor:
        """One step."""
        gate, candidate = self.linear(seen).split(self.size, -1)
        return torch.lerp(memory, tanh(candidate), gate.sigmoid())

    def sequence(
        self, seen: Tensor, memory: Tensor, not_done: Tensor, ahead: Tensor | None, turning: np.ndarray
    ) -> Tensor:
        """T steps; the memory is reset before a step where `not_done` is 0.

        `turning` pairs are kept along the world's axes and returned relative to the heading (`ahead`).
        """
        assert ahead is not None or not len(turning)
        looks = seen.new_zeros(*seen.shape[:2], 0) if ahead is None else ahead
        remembered: Tensor = _Leak.apply(self.linear(seen), memory, not_done, looks, turning)  # type: ignore[no-untyped-call]
        return remembered


class GruMemory(nn.Module):
    """A gated recurrent unit."""

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.cell = nn.GRUCell(features, size)

    def forward(self, seen: Tensor, memory: Tensor) -> Tensor:
        following: Tensor = self.cell(seen, memory)
        return following

    def sequence(
        self, seen: Tensor, memory: Tensor, not_done: Tensor, _ahead: Tensor | None, turning: np.ndarray
    ) -> Tensor:
        assert not len(turning), "only leaky cells turn"
        remembered = []
        gates = functional.linear(seen, self.cell.weight_ih, self.cell.bias_ih)
        for gate, keep in zip(gates, not_done[..., None], strict=True):
            memory = self._next(gate, memory * keep)
            remembered.append(memory)
        return torch.stack(remembered)

    def _next(self, gate: Tensor, memory: Tensor) -> Tensor:
        """One step, with the input's matrix product already done."""
        own = functional.linear(memory, self.cell.weight_hh, self.cell.bias_hh)
        reset_in, update_in, new_in = gate.chunk(3, -1)
        reset_own, update_own, new_own = own.chunk(3, -1)
        new = torch.tanh(new_in + torch.sigmoid(reset_in + reset_own) * new_own)
        return torch.lerp(new, memory, torch.sigmoid(update_in + update_own))


MEMORIES: dict[str, type[LeakyMemory] | type[GruMemory]] = {"leaky": LeakyMemory, "gru": GruMemory}


class _Leak(torch.autograd.Function):
    """The leaky recurrence and its gradient, from the raw gates and candidates side by side."""

    @staticmethod
    def forward(ctx: Any, raw: Tensor, memory: Tensor, not_done: Tensor, ahead: Tensor, turning: np.ndarray) -> Tensor:
        size = raw.shape[-1] // 2
        squashed = torch.empty_like(raw)
        torch.sigmoid(raw[..., :size], out=squashed[..., :size])
        squashed[..., size:] = tanh(raw[..., size:])
        held, remembered = (torch.empty(*raw.shape[:-1], size, dtype=raw.dtype) for _ in range(2))
        given = (squashed.numpy(), memory.numpy(), not_done.numpy(), ahead.contiguous().numpy(), turning)
        _leak(*given, held.numpy(), remembered.numpy())
        ctx.save_for_backward(squashed, not_done, ahead, held)
        ctx.turning = turning
        return remembered

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        squashed, not_done, ahead, held = ctx.saved_tensors
        to_raw = torch.empty_like(squashed)
        given = (squashed.numpy(), not_done.numpy(), ahead.contiguous().numpy(), ctx.turning, held.numpy())
        _leak_back(*given, gradients[0].contiguous().numpy(), to_raw.numpy())
        return to_raw, None, None, None, None


@njit_nogil
def _leak(
    squashed: np.ndarray,
    memory: np.ndarray,
    not_done: np.ndarray,
    ahead: np.ndarray,
    turning: np.ndarray,
    held: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fill `out` with the memory after each step and `held` with the memory before it, relative to the heading."""
    steps, rows, _ = out.shape
    for row in range(rows):
        carried = memory[row].copy()
        for step in range(steps):
            leak_step(
                squashed[step, row],
                not_done[step, row],
                ahead[step, row],
                turning,
                carried,
                held[step, row],
                out[step, row],
            )


@kernel
def leak_step(
    squashed: np.ndarray,
    not_done: Any,
    ahead: np.ndarray,
    turning: np.ndarray,
    carried: np.ndarray,
    held: np.ndarray,
    out: np.ndarray,
) -> None:
    """One step of one agent; `carried` is along the world's axes, before and after."""
    size = len(out)
    for cell in range(size):
        held[cell] = carried[cell] * not_done
    for pair in range(len(turning)):
        x, z = held[turning[pair, 0]], held[turning[pair, 1]]
        held[turning[pair, 0]], held[turning[pair, 1]] = frames.in_frame(x, z, ahead[0], ahead[1])
    for cell in range(size):
        out[cell] = held[cell] + squashed[cell] * (squashed[size + cell] - held[cell])
        carried[cell] = out[cell]
    for pair in range(len(turning)):
        left, front = out[turning[pair, 0]], out[turning[pair, 1]]
        carried[turning[pair, 0]], carried[turning[pair, 1]] = frames.out_of_frame(left, front, ahead[0], ahead[1])


@kernel
def leak_step_back(
    squashed: np.ndarray,
    not_done: Any,
    ahead: np.ndarray,
    turning: np.ndarray,
    held: np.ndarray,
    gradient: np.ndarray,
    onward: np.ndarray,
    to_raw: np.ndarray,
) -> None:
    """Backward pass of `leak_step` and the activations; `onward` is the gradient of `carried`, updated in place."""
    size = len(held)
    one = held.dtype.type(1.0)
    for pair in range(len(turning)):  # turning is undone by turning the other way
        x, z = onward[turning[pair, 0]], onward[turning[pair, 1]]
        onward[turning[pair, 0]], onward[turning[pair, 1]] = frames.in_frame(x, z, ahead[0], ahead[1])
    for cell in range(size):
        grad, gate, candidate = onward[cell] + gradient[cell], squashed[cell], squashed[size + cell]
        to_raw[cell] = grad * (candidate - held[cell]) * gate * (one - gate)
        to_raw[size + cell] = grad * gate * (one - candidate * candidate)
        onward[cell] = grad * (one - gate)
    for pair in range(len(turning)):
        left, front = onward[turning[pair, 0]], onward[turning[pair, 1]]
        onward[turning[pair, 0]], onward[turning[pair, 1]] = frames.out_of_frame(left, front, ahead[0], ahead[1])
    for cell in range(size):
        onward[cell] *= not_done


@njit_nogil
def _leak_back(
    squashed: np.ndarray,
    not_done: np.ndarray,
    ahead: np.ndarray,
    turning: np.ndarray,
    held: np.ndarray,
    gradient: np.ndarray,
    to_raw: np.ndarray,
) -> None:
    steps, rows, size = gradient.shape
    onward = np.zeros(size, gradient.dtype)
    for row in range(rows):
        onward[:] = 0.0
        for step in range(steps - 1, -1, -1):
            leak_step_back(
                squashed[step, row],
                not_done[step, row],
                ahead[step, row],
                turning,
                held[step, row],
                gradient[step, row],
                onward,
                to_raw[step, row],
            )
