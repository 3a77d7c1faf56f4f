"""What a policy remembers from decision to decision: leaky cells, quick to learn with, or a gated recurrent unit.

A leaky cell moves by a gate's share towards what it is told: `h += gate * (told - h)`. Neither depends on the cell
itself (a minimal GRU, Feng et al. 2024), so matrix products are done for all decisions at once, and what is left to do
in sequence is a line.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from godojo.kernels.compile import alone


def tanh(x: Tensor) -> Tensor:
    """torch's own takes three times as long as this."""
    return 2.0 * torch.sigmoid(2.0 * x) - 1.0


class LeakyMemory(nn.Module):
    """`size` leaky cells, fed by `features`."""

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.linear = nn.Linear(features, 2 * size)
        nn.init.orthogonal_(self.linear.weight)
        # Gates begin between nearly shut and half open: some cells remember long, some short.
        with torch.no_grad():
            self.linear.bias[:size] = torch.linspace(-4.0, 0.0, size)
            self.linear.bias[size:] = 0.0

    def forward(self, seen: Tensor, memory: Tensor) -> Tensor:
        """One decision."""
        gate, told = self.linear(seen).split(self.size, -1)
        return torch.lerp(memory, tanh(told), gate.sigmoid())

    def sequence(self, seen: Tensor, memory: Tensor, goes_on: Tensor) -> Tensor:
        """T decisions in a row; where `goes_on` is 0, everything is forgotten first."""
        remembered: Tensor = _Leak.apply(self.linear(seen), memory, goes_on)  # type: ignore[no-untyped-call]
        return remembered


class GatedMemory(nn.Module):
    """A gated recurrent unit."""

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.cell = nn.GRUCell(features, size)

    def forward(self, seen: Tensor, memory: Tensor) -> Tensor:
        following: Tensor = self.cell(seen, memory)
        return following

    def sequence(self, seen: Tensor, memory: Tensor, goes_on: Tensor) -> Tensor:
        remembered = []
        gates = functional.linear(seen, self.cell.weight_ih, self.cell.bias_ih)
        for gate, keep in zip(gates, goes_on[..., None], strict=True):
            memory = self._next(gate, memory * keep)
            remembered.append(memory)
        return torch.stack(remembered)

    def _next(self, gate: Tensor, memory: Tensor) -> Tensor:
        """The cell with its input's share done already."""
        own = functional.linear(memory, self.cell.weight_hh, self.cell.bias_hh)
        reset_in, update_in, new_in = gate.chunk(3, -1)
        reset_own, update_own, new_own = own.chunk(3, -1)
        new = torch.tanh(new_in + torch.sigmoid(reset_in + reset_own) * new_own)
        return torch.lerp(new, memory, torch.sigmoid(update_in + update_own))


MEMORIES: dict[str, type[LeakyMemory] | type[GatedMemory]] = {"leaky": LeakyMemory, "gru": GatedMemory}


class _Leak(torch.autograd.Function):
    """The leaky cells' line, and its gradient; gates and what is told come side by side, before they are squashed."""

    @staticmethod
    def forward(ctx: Any, raw: Tensor, memory: Tensor, goes_on: Tensor) -> Tensor:
        size = raw.shape[-1] // 2
        squashed = torch.empty_like(raw)
        torch.sigmoid(raw[..., :size], out=squashed[..., :size])
        squashed[..., size:] = tanh(raw[..., size:])
        remembered = torch.empty(*raw.shape[:-1], size, dtype=raw.dtype)
        _leak(squashed.numpy(), memory.numpy(), goes_on.numpy(), remembered.numpy())
        ctx.save_for_backward(squashed, memory, goes_on, remembered)
        return remembered

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        squashed, memory, goes_on, remembered = ctx.saved_tensors
        to_raw = torch.empty_like(squashed)
        _leak_back(
            squashed.numpy(),
            memory.numpy(),
            goes_on.numpy(),
            remembered.numpy(),
            gradients[0].contiguous().numpy(),
            to_raw.numpy(),
        )
        return to_raw, None, None


@alone
def _leak(squashed: np.ndarray, memory: np.ndarray, goes_on: np.ndarray, out: np.ndarray) -> None:
    steps, rows, size = out.shape
    for row in range(rows):
        held = memory[row]
        for step in range(steps):
            gate, told, now = squashed[step, row, :size], squashed[step, row, size:], out[step, row]
            keep = goes_on[step, row]
            for cell in range(size):
                before = held[cell] * keep
                now[cell] = before + gate[cell] * (told[cell] - before)
            held = now


@alone
def _leak_back(
    squashed: np.ndarray,
    memory: np.ndarray,
    goes_on: np.ndarray,
    remembered: np.ndarray,
    gradient: np.ndarray,
    to_raw: np.ndarray,
) -> None:
    steps, rows, size = gradient.shape
    one = gradient.dtype.type(1.0)
    onward = np.zeros(size, gradient.dtype)
    for row in range(rows):
        onward[:] = 0.0
        for step in range(steps - 1, -1, -1):
            gate, told, here = squashed[step, row, :size], squashed[step, row, size:], gradient[step, row]
            to_gate, to_told = to_raw[step, row, :size], to_raw[step, row, size:]
            held = remembered[step - 1, row] if step > 0 else memory[row]
            keep = goes_on[step, row]
            for cell in range(size):
                slope = onward[cell] + here[cell]
                opened, heard = gate[cell], told[cell]
                to_gate[cell] = slope * (heard - held[cell] * keep) * opened * (one - opened)
                to_told[cell] = slope * opened * (one - heard * heard)
                onward[cell] = slope * (one - opened) * keep
