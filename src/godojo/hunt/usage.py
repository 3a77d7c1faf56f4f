"""What a process takes of the machine, where the system tells (Linux)."""

import math
import mmap
import os
from contextlib import suppress
from pathlib import Path


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
