"""Advantages, against the definition written out: ends, cuts, and rows that are no transitions."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from godojo.learn.gae import advantages
from godojo.learn.kernels import gae

GAMMA, LAMBDA = 0.97, 0.9


class Case:
    """T decisions of C agents, by chance; about a third of all rows are something special."""

    def __init__(self, steps: int, columns: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.reward = rng.normal(size=(steps, columns)).astype(np.float32)
        self.value = rng.normal(size=(steps + 1, columns)).astype(np.float32)
        self.bootstrap_value = rng.normal(size=(steps, columns)).astype(np.float32)
        kind = rng.integers(0, 9, (steps, columns))
        self.terminated, self.truncated = kind == 0, kind == 1
        self.acted = kind != 2
        lost = kind == 3  # a game that was lost: cut short, and nobody acted
        self.truncated |= lost
        self.acted &= ~lost

    def found(self) -> np.ndarray:
        """By torch; the kernel has the same bits."""
        flags = self.terminated, self.truncated, self.acted
        arrays = (self.reward, self.value, *flags, self.bootstrap_value)
        reward, value, terminated, truncated, acted, bootstrap = (torch.from_numpy(rows) for rows in arrays)
        tensors = reward, value, terminated, truncated, acted, bootstrap
        by_torch, by_kernel = (each(*tensors, GAMMA, LAMBDA).numpy() for each in (advantages, gae.advantages))
        assert np.array_equal(by_torch, by_kernel)
        return by_torch

    def expected(self) -> np.ndarray:
        """Of every decision: the sum of all errors of the same round that follow, each worth less by its distance."""
        steps, columns = self.reward.shape
        out = np.zeros((steps, columns))
        for column in range(columns):
            for step in range(steps):
                if not self.acted[step, column]:
                    continue
                for later in range(step, steps):
                    if not self.acted[later, column]:
                        break
                    out[step, column] += (GAMMA * LAMBDA) ** (later - step) * self._error(later, column)
                    if self.terminated[later, column] or self.truncated[later, column]:
                        break
        return out

    def _error(self, step: int, column: int) -> float:
        """How much better a decision turned out than foreseen."""
        following = self.value[step + 1, column]
        if self.truncated[step, column]:
            following = self.bootstrap_value[step, column]
        if self.terminated[step, column]:
            following = np.float32(0.0)
        return float(self.reward[step, column] + GAMMA * following - self.value[step, column])


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 24), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_equals_the_definition(steps: int, columns: int, seed: int) -> None:
    case = Case(steps, columns, seed)
    assert np.allclose(case.found(), case.expected(), atol=1e-5)


def test_a_round_that_ended_knows_nothing_of_the_next() -> None:
    case = Case(6, 1, 0)
    case.terminated[:], case.truncated[:], case.acted[:] = False, False, True
    case.terminated[2] = True
    before = case.found()[:3].copy()
    case.reward[3:] = 1e6
    case.value[3:] = 1e6
    case.bootstrap_value[:] = 1e6
    assert np.array_equal(case.found()[:3], before)


def test_a_round_that_was_cut_short_goes_on_in_value() -> None:
    case = Case(4, 1, 0)
    case.terminated[:], case.truncated[:], case.acted[:] = False, False, True
    case.truncated[1] = True
    case.bootstrap_value[1] = 5.0
    case.value[2:] = 1e6  # of the next round
    wanted = case.reward[1] + GAMMA * 5.0 - case.value[1]
    assert case.found()[1] == pytest.approx(wanted, rel=1e-5)


def test_a_row_without_a_decision_has_no_advantage_and_the_one_before_looks_at_what_was_told_last() -> None:
    """As when a game is lost: the observation before the row is the last one there was, and has a value."""
    case = Case(4, 1, 0)
    case.terminated[:], case.truncated[:], case.acted[:] = False, False, True
    case.acted[2], case.truncated[2] = False, True
    case.reward[2:], case.bootstrap_value[2] = 1e6, 1e6
    case.value[3:] = 1e6
    found = case.found()
    assert found[2] == 0.0
    assert found[1] == pytest.approx(case.reward[1] + GAMMA * case.value[2] - case.value[1], rel=1e-5)


def test_the_last_decision_looks_at_the_value_after_it() -> None:
    case = Case(3, 1, 0)
    case.terminated[:], case.truncated[:], case.acted[:] = False, False, True
    wanted = case.reward[2] + GAMMA * case.value[3] - case.value[2]
    assert case.found()[2] == pytest.approx(wanted, rel=1e-5)
