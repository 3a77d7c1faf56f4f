"""Adam's step as a kernel: torch's own takes longer in Python than in its sums. The state is the same as torch's."""

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from godojo.kernels.compile import njit_fastmath
from godojo.learn.backend import ADAM_EPS


class KernelAdam(torch.optim.Adam):
    """Adam (Kingma & Ba 2015) for one flat parameter whose gradient is set."""

    def __init__(self, weights: nn.Parameter, learning_rate: float) -> None:
        super().__init__([weights], lr=learning_rate, eps=ADAM_EPS)
        nothing = np.empty(0, np.float32)
        _step(*[nothing] * 4, *[np.float32(1.0)] * 5)  # compile before training time counts

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # closures are for other optimisers
        assert closure is None
        (group,) = self.param_groups
        (weights,) = group["params"]
        state = self.state[weights]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weights), torch.zeros_like(weights)
        state["step"] += 1.0
        steps, (beta, beta_sq) = state["step"].item(), group["betas"]
        rate, root = group["lr"] / (1.0 - beta**steps), math.sqrt(1.0 - beta_sq**steps)
        numbers = (np.float32(each) for each in (rate, root, beta, beta_sq, group["eps"]))
        arrays = (each.numpy() for each in (weights, weights.grad, state["exp_avg"], state["exp_avg_sq"]))
        _step(*arrays, *numbers)


@njit_fastmath
def _step(
    weights: np.ndarray, gradient: np.ndarray, mean: np.ndarray, square: np.ndarray, rate: Any, root: Any, beta: Any,
    beta_sq: Any, eps: Any,
) -> None:  # fmt: skip
    one = np.float32(1.0)
    for place in range(len(weights)):
        grad = gradient[place]
        mean[place] += (one - beta) * (grad - mean[place])
        square[place] = beta_sq * square[place] + (one - beta_sq) * grad * grad
        weights[place] -= rate * mean[place] / (np.sqrt(square[place]) / root + eps)
