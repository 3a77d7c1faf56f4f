"""What a process takes of the machine, where the system tells (Linux)."""

import mmap
from pathlib import Path


def waited_ms(pid: int) -> float:
    """How long the main thread has waited for a processor that others used; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[1]) * 1e-6
    except (OSError, ValueError, IndexError):
        return 0.0


def resident_mb(pid: int) -> float:
    """Memory in use; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * mmap.PAGESIZE / 2**20
    except (OSError, ValueError, IndexError):
        return 0.0
