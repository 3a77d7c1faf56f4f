"""Computing on one torch thread: how a sum or a decomposition rounds depends on how many threads share the work."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it, torch computes on the calling thread alone."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def single_threaded_pool(workers: int) -> ThreadPoolExecutor:
    """Threads that run side by side, each of which computes alone."""
    return ThreadPoolExecutor(workers, initializer=_compute_alone)


def _compute_alone() -> None:
    torch.set_num_threads(1)
    torch.get_num_threads()  # settles it: else the thread's first computation takes the number that anybody set last


def orthogonal(weight: Tensor, gain: float = 1.0) -> None:
    """Initialises a layer's weights, with the same bits at any number of threads."""
    with one_thread():
        nn.init.orthogonal_(weight, gain)
