"""The pool that the tasks of a rollout step and of an update run on."""

import threading
from collections.abc import Iterator
from functools import partial

import pytest
import torch

from godojo.learn.threads import TaskPool


@pytest.fixture
def pool() -> Iterator[TaskPool]:
    made = TaskPool(2)
    yield made
    made.close()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(threads: int) -> None:
    pool = TaskPool(threads)
    try:
        for count in (0, 1, 7):
            assert pool.run([partial(pow, number, 2) for number in range(count)]) == [n**2 for n in range(count)]
    finally:
        pool.close()


def test_other_threads_begin_while_the_calling_one_is_busy(pool: TaskPool) -> None:
    begun = threading.Event()
    pool.run([begun.set], first=lambda: begun.wait(30.0) or pytest.fail("the task waited for the calling thread"))


def test_all_tasks_end_before_the_first_error_is_raised(pool: TaskPool) -> None:
    ended: list[int] = []

    def work(number: int) -> None:
        if number % 2 == 0:
            raise ValueError(str(number))
        ended.append(number)

    with pytest.raises(ValueError, match="0"):
        pool.run([partial(work, number) for number in range(4)])
    assert sorted(ended) == [1, 3]


def test_tasks_have_single_threaded_torch(pool: TaskPool) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert set(pool.run([torch.get_num_threads] * 8)) == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
