"""Long tests have two lengths: a short one that gates every change, and the full one of `dojo.py test --nightly`."""

import os

VARIABLE = "GODOJO_NIGHTLY"
NIGHTLY = os.environ.get(VARIABLE) == "1"


def repeats(gate: int, *, nightly: int) -> int:
    """How many kills, inputs or rounds a test takes in this run."""
    return nightly if NIGHTLY else gate
