"""Single-threaded torch, for reproducible bits: how a sum rounds depends on the number of threads that share it."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor, nn

T = TypeVar("T")


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on the calling thread alone."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def single_threaded_pool(workers: int) -> ThreadPoolExecutor:
    """Threads that run in parallel, each with single-threaded torch."""
    return ThreadPoolExecutor(workers, initializer=use_one_thread)


class TaskPool:
    """Runs tasks on the calling thread and on others beside it, each with single-threaded torch.

    Whichever thread is free takes the next task, so that none waits while there is work: give the longest ones first.
    """

    def __init__(self, threads: int) -> None:
        self._helpers = max(threads - 1, 0)
        self._pool = single_threaded_pool(max(self._helpers, 1))

    def run(self, tasks: Sequence[Callable[[], T]], first: Callable[[], object] = lambda: None) -> list[T]:
        """The results of all tasks, which have all ended then; the calling thread begins with `first`.

        Raises the error of the first task that failed.
        """
        results: dict[int, T] = {}
        errors: dict[int, Exception] = {}
        waiting = iter(range(len(tasks)))

        def work() -> None:
            for index in waiting:
                try:
                    results[index] = tasks[index]()
                except Exception as error:  # raised below, when no task is running any more
                    errors[index] = error

        started = [self._pool.submit(work) for _ in range(min(self._helpers, len(tasks)))]
        try:
            with one_thread():
                first()
                work()
        finally:
            list(waiting)  # where the calling thread was interrupted, nothing new begins
            wait(started)
        if errors:
            raise errors[min(errors)]
        return [results[index] for index in range(len(tasks))]

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def use_one_thread() -> None:
    """Run torch on the calling thread alone, from now on."""
    torch.set_num_threads(1)
    torch.get_num_threads()  # else the thread's first computation takes the number that any thread set last


def orthogonal(weight: Tensor, gain: float = 1.0) -> None:
    """Orthogonal initialisation, with the same bits at any number of threads."""
    with one_thread():
        nn.init.orthogonal_(weight, gain)
