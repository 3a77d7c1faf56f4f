"""Single-threaded torch, for reproducible bits: how a sum rounds depends on the number of threads that share it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch
from torch import Tensor, nn


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


def use_one_thread() -> None:
    """Run torch on the calling thread alone, from now on."""
    torch.set_num_threads(1)
    torch.get_num_threads()  # else the thread's first computation takes the number that any thread set last


def orthogonal(weight: Tensor, gain: float = 1.0) -> None:
    """Orthogonal initialisation, with the same bits at any number of threads."""
    with one_thread():
        nn.init.orthogonal_(weight, gain)
