"""The replay keeps the newest transitions, whole rows, and only those of agents that acted."""

from collections import deque

import numpy as np
import pytest
import torch

from godojo.learn.replay_buffer import ReplayBuffer, Transitions

CAPACITY = 10


def batch_of(numbers: list[int]) -> Transitions:
    """Rows of which every array says which one it is."""
    row = torch.tensor(numbers, dtype=torch.float32)
    return Transitions(
        observation=row[:, None].repeat(1, 3),
        privileged=row[:, None] + 0.25,
        action=row[:, None].repeat(1, 2) + 0.5,
        reward=row + 0.75,
        not_done=row % 2,
        next_observation=row[:, None].repeat(1, 3) + 1.0,
        next_privileged=row[:, None] + 1.25,
    )


def kept(replay: ReplayBuffer) -> set[int]:
    """Which rows can be drawn; each must have stayed whole."""
    drawn = replay.sample(40 * CAPACITY, torch.Generator().manual_seed(1))
    numbers = [int(number) for number in drawn.observation[:, 0]]
    for mine, given in zip(drawn, batch_of(numbers), strict=True):
        torch.testing.assert_close(mine, given, rtol=0.0, atol=0.0)
    return set(numbers)


def made() -> ReplayBuffer:
    return ReplayBuffer(CAPACITY, observation_size=3, privileged_size=1, action_size=2)


def test_the_newest_are_kept_whatever_the_batches_are_like() -> None:
    rng = np.random.default_rng(1)
    replay, wanted, number = made(), deque[int](maxlen=CAPACITY), 0
    for _ in range(60):
        numbers = list(range(number, number + int(rng.integers(1, 25))))
        number = numbers[-1] + 1
        keep = rng.random(len(numbers)) < 0.7
        replay.add(batch_of(numbers), torch.from_numpy(keep))
        wanted.extend(one for one, is_kept in zip(numbers, keep, strict=True) if is_kept)
        assert len(replay) == len(wanted)
        if wanted:
            assert kept(replay) == set(wanted)


def test_a_batch_of_which_nobody_acted_changes_nothing() -> None:
    replay = made()
    replay.add(batch_of([1, 2]), torch.tensor([True, True]))
    replay.add(batch_of([3, 4]), torch.tensor([False, False]))
    assert kept(replay) == {1, 2}


@pytest.mark.parametrize("count", [4, 10, 13])
def test_a_saved_replay_resumes_in_the_same_place(count: int) -> None:
    replay, other = made(), made()
    replay.add(batch_of(list(range(count))), torch.ones(count, dtype=torch.bool))
    other.load_state(replay.state())
    for one in (replay, other):
        one.add(batch_of([100, 101, 102]), torch.ones(3, dtype=torch.bool))
    draws = [one.sample(50, torch.Generator().manual_seed(2)) for one in (replay, other)]
    for mine, given in zip(*draws, strict=True):
        assert torch.equal(mine, given)


def test_the_same_lots_draw_the_same_rows() -> None:
    replay = made()
    replay.add(batch_of(list(range(9))), torch.ones(9, dtype=torch.bool))
    one, same, another = (replay.sample(30, torch.Generator().manual_seed(seed)).reward for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, another)
