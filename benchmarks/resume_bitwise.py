"""Trains without a break, and with a stop, a kill and two resumes on the way: are weights and tables the same bits?

    python3 dojo.py run benchmarks/resume_bitwise.py            100 small updates; stopped after 50, killed later
    python3 dojo.py run benchmarks/resume_bitwise.py --default  the default preset: 6.5 M decisions, twice

On the embedded game. What was written after the last checkpoint is dropped on resume, and learnt once more.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from godojo.learn.settings import PpoSettings
from godojo.runs.folder import RunFolder
from tests.learning_games import STEPS
from tests.resumed_runs import TRAIN, check_same, stop_after, table

LATER = 5
"""Updates from the resume to the kill."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--default", action="store_true")
    wanted = parser.parse_args()
    words, steps = list(TRAIN), STEPS
    if wanted.default:
        usual = PpoSettings()
        words, steps = ["train", "tag", "--judge", "0", "--seed", "5"], 2 * usual.num_worlds * usual.n_steps
    budget = ["--steps", str(wanted.updates * steps)]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        runs = {"GODOJO_RUNS": folder}
        whole, killed = Path(folder, "whole"), Path(folder, "killed")
        godojo([*words, *budget, "--run-id", "whole"], runs)
        stop_after(wanted.updates // 2, [*words, *budget, "--run-id", "killed"], killed, signal.SIGTERM, runs, 0.1)
        _, stopped = RunFolder.open(killed).checkpoints().newest()
        resume = ["train", "tag", "--resume", "killed"]
        stop_after(stopped.update + LATER, resume, killed, signal.SIGKILL, runs, 0.1)
        dropped = len(table(killed / "updates.csv")) - stopped.update
        godojo([*resume, "--judge", "0"], runs)
        check_same(whole, killed)
        updates, rounds = (len(table(killed / name)) for name in ("updates.csv", "metrics.csv"))
    sys.stdout.write(
        f"{updates} updates of {steps} decisions, {rounds} rounds; stopped after {stopped.update}, killed "
        f"{dropped} later, resumed twice: weights, tables and ratings are the same bits "
        f"({time.monotonic() - begun:.0f} s)\n"
    )
    return 0


def godojo(words: list[str], runs: dict[str, str]) -> None:
    program = [sys.executable, "-m", "godojo", *words]
    subprocess.run(program, env={**os.environ, **runs}, check=True, capture_output=True, timeout=1200)


if __name__ == "__main__":
    sys.exit(main())
