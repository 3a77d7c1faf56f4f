"""What a process takes of the machine, where the system tells (Linux)."""

import math
import mmap
import os
import time
from contextlib import suppress
from pathlib import Path

_LOOP, _LOOP_MS = 20_000, 0.6
"""Rounds of a loop, and what they take on a machine that budgets were set for."""


def waited_ms(pid: int) -> float:
    """How long all threads together have waited for a processor that others used; 0 where the system does not tell."""
    waited_ns = 0
    with suppress(OSError, ValueError, IndexError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            waited_ns += int((thread / "schedstat").read_bytes().split()[1])
    return waited_ns * 1e-6


def resident_mb(pid: int) -> float:
    """Memory in use; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * mmap.PAGESIZE / 2**20
    except (OSError, ValueError, IndexError):
        return 0.0


def machine_mb() -> float:
    """Memory of the machine; endless where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (AttributeError, OSError, ValueError):
        return math.inf


def slowness() -> float:
    """How many times as long this machine takes now as one that budgets were set for: at least 1."""
    taken_s = []
    for _ in range(3):
        began_s, number = time.thread_time(), 0
        for index in range(_LOOP):
            number = (number * 31 + index) % 65_521
        taken_s.append(time.thread_time() - began_s)
    return max(1.0, 1e3 * min(taken_s) / _LOOP_MS)
