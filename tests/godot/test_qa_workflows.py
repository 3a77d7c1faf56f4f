"""The workflows of docs/qa.md: their `run` lines, typed here, on the real engine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

SHORTER = {"--steps 1000000": "--steps 1000", "--episodes 100": "--episodes 4", "--seconds 600": "--seconds 60"}
SHORTER |= {"--preset shaped": "--preset ci"}
"""The nightly training in short."""
DEADLINE_S = 280


def lines(workflow: str, job: str) -> list[str]:
    tree = yaml.safe_load((ROOT / f".github/workflows/{workflow}.yml").read_text(encoding="utf-8"))
    found = [step["run"] for step in tree["jobs"][job]["steps"] if "run" in step]
    for long, short in SHORTER.items():
        found = [line.replace(long, short) for line in found]
    return [line for line in found if "engine install" not in line]


def run(line: str, folder: Path) -> None:
    python = f"{sys.executable} -m godojo"
    env = os.environ | {"GODOJO_RUNS": str(folder / "runs"), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    env |= {"PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run(
        ["bash", "-ec", line.replace("python3 dojo.py", python)],
        cwd=folder, env=env, capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, f"{line}\n{ended.stdout}{ended.stderr}"


@pytest.mark.parametrize(
    ("workflow", "job"),
    [
        ("smoke", "smoke"),
        pytest.param("regression", "regression", marks=pytest.mark.nightly),
        pytest.param("nightly", "qa", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("engine")
def test_the_lines_of_a_workflow_run(workflow: str, job: str, tmp_path: Path) -> None:
    (tmp_path / "baselines").mkdir()
    for path in (ROOT / "baselines").glob("*.json"):
        (tmp_path / "baselines" / path.name).write_bytes(path.read_bytes())
    for line in lines(workflow, job):
        run(line, tmp_path)
    if workflow != "smoke":
        assert "# " in (tmp_path / "summary.md").read_text(encoding="utf-8")
    if workflow == "nightly":
        assert (tmp_path / "baselines/locomotion-nightly.json").is_file()
