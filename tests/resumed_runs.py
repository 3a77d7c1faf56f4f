"""Trainings that are stopped or killed and resumed: what tests and benchmarks of that share."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from godojo.learn.policy_file import load_policy
from tests.learning_games import SLOWLY, WORDS, fingerprint

TRAIN = ("train", "tag", "--judge", "0", "--seed", "5", *WORDS, "--set", "rules.round_s=2.0")


def weights_of(run: Path) -> dict[str, str]:
    """All bits of the newest policies."""
    return {path.name: fingerprint(load_policy(path)[0]) for path in sorted(run.glob("policy_*.pt"))}


def table(path: Path) -> list[dict[str, str]]:
    """A table without what tells the time."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    return [{name: text for name, text in row.items() if "seconds" not in name and name != "time/fps"} for row in rows]


def check_same(one: Path, other: Path) -> None:
    assert weights_of(one) == weights_of(other)
    for name in ("metrics.csv", "updates.csv"):
        assert table(one / name) == table(other / name), name
    assert (one / "ratings.json").read_bytes() == (other / "ratings.json").read_bytes()


def stop_after(
    update: int, words: list[str], run: Path, number: signal.Signals, runs: dict[str, str], update_s: float = 0.5
) -> None:
    """Starts a training and signals it once so many updates are in its table. Updates are held up, so that it lands."""
    program = [sys.executable, "-c", SLOWLY.format(seconds=update_s)]
    process = subprocess.Popen([*program, *words], env={**os.environ, **runs}, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 100.0
    try:
        while not (run / "updates.csv").exists() or len((run / "updates.csv").read_text().splitlines()) <= update:
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    if number is signal.SIGTERM:
        assert process.returncode == 130, said
        assert "--resume killed" in said
