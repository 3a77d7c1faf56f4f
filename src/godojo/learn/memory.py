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
        return torch.lerp(memory, told.tanh(), gate.sigmoid())

    def sequence(self, seen: Tensor, memory: Tensor, goes_on: Tensor) -> Tensor:
        """T decisions in a row; where `goes_on` is 0, everything is forgotten first."""
        gate, told = self.linear(seen).split(self.size, -1)
        remembered: Tensor = _Leak.apply(gate.sigmoid(), told.tanh(), memory, goes_on)  # type: ignore[no-untyped-call]
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
    """The leaky cells' line, and its gradient."""

    @staticmethod
    def forward(ctx: Any, gate: Tensor, told: Tensor, memory: Tensor, goes_on: Tensor) -> Tensor:
        gate, told = gate.contiguous(), told.contiguous()
        remembered = torch.empty_like(gate)
        _leak(gate.numpy(), told.numpy(), memory.numpy(), goes_on.numpy(), remembered.numpy())
        ctx.save_for_backward(gate, told, memory, goes_on, remembered)
        return remembered

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None, None]:
        gate, told, memory, goes_on, remembered = ctx.saved_tensors
        to_gate, to_told = torch.empty_like(gate), torch.empty_like(told)
        _leak_back(
            gate.numpy(),
            told.numpy(),
            memory.numpy(),
            goes_on.numpy(),
            remembered.numpy(),
            gradients[0].contiguous().numpy(),
            to_gate.numpy(),
            to_told.numpy(),
        )
        return to_gate, to_told, None, None


@alone
def _leak(gate: np.ndarray, told: np.ndarray, memory: np.ndarray, goes_on: np.ndarray, out: np.ndarray) -> None:
    steps, rows, size = gate.shape
    for row in range(rows):
        for step in range(steps):
            for cell in range(size):
                held = memory[row, cell] if step == 0 else out[step - 1, row, cell]
                held *= goes_on[step, row]
                out[step, row, cell] = held + gate[step, row, cell] * (told[step, row, cell] - held)


@alone
def _leak_back(
    gate: np.ndarray,
    told: np.ndarray,
    memory: np.ndarray,
    goes_on: np.ndarray,
    remembered: np.ndarray,
    gradient: np.ndarray,
    to_gate: np.ndarray,
    to_told: np.ndarray,
) -> None:
    steps, rows, size = gate.shape
    for row in range(rows):
        onward = np.zeros(size, np.float32)
        for back in range(steps):
            step = steps - 1 - back
            for cell in range(size):
                onward[cell] += gradient[step, row, cell]
                held = memory[row, cell] if step == 0 else remembered[step - 1, row, cell]
                held *= goes_on[step, row]
                opened = gate[step, row, cell]
                to_gate[step, row, cell] = onward[cell] * (told[step, row, cell] - held)
                to_told[step, row, cell] = onward[cell] * opened
                onward[cell] *= (np.float32(1.0) - opened) * goes_on[step, row]
