"""What a process takes of the machine, where the system tells (Linux)."""

import mmap
from pathlib import Path


def cpu_ms(pid: int) -> float | None:
    """Processor time of the main thread so far; unlike the clock, it does not depend on what else runs."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[0]) * 1e-6
    except (OSError, ValueError, IndexError):
        return None


def resident_mb(pid: int) -> float:
    """Memory in use; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * mmap.PAGESIZE / 2**20
    except (OSError, ValueError, IndexError):
        return 0.0
