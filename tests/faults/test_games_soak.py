"""Many games, many steps: no frame lost, doubled or out of order. The long form is `benchmarks/bridge_soak.py`."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.nightly import repeats

SOAK = [sys.executable, str(ROOT / "benchmarks/bridge_soak.py")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("--steps", str(repeats(2000, nightly=16000)), "--games", "8"),
        pytest.param(("--steps", str(repeats(400, nightly=2000)), "--games", "2", "--godot"), marks=pytest.mark.engine),
    ],
    ids=["pretend", "tag"],
)
def test_a_short_soak(request: pytest.FixtureRequest, words: tuple[str, ...]) -> None:
    if "--godot" in words:
        request.getfixturevalue("engine")
    done = subprocess.run([*SOAK, *words], capture_output=True, text=True, timeout=110)
    assert "mixed up: 0; games lost: 0" in done.stdout, done.stdout + done.stderr
    assert "processes left behind: 0" in done.stdout
