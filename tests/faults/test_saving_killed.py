"""Killed in the middle of saving: what is found is whole, and never older than a save that was over."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from tests.faults.saving_trainer import is_whole, state_of
from tests.nightly import repeats

KILLS = repeats(20, nightly=200)
LONGEST_S = 0.03
CONFIG = RunConfig("tag", "sim", ("seeker", "hider"), "ppo", {}, {}, seed=0, budget={})


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="the trainers are forked, since importing torch 200 times takes long"
)
def test_always_resumes_from_a_whole_checkpoint(tmp_path: Path) -> None:
    run = RunFolder.create(CONFIG, "killed", root=tmp_path)
    run.checkpoints().save(state_of(0), 0, 0, 0.0)
    chance = random.Random(0)
    saves = most_left = interrupted = 0
    words = [sys.executable, "-m", "tests.faults.saving_trainer", "nursery", str(run.path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        try:
            for _ in range(KILLS):
                nursery.stdin.write("go\n")
                nursery.stdin.flush()
                first = [
                    nursery.stdout.readline(),
                    nursery.stdout.readline(),
                ]  # its number, and that its first save is over
                trainer = next(int(line.split()[1]) for line in first if line.startswith("trainer"))
                time.sleep(chance.uniform(0, LONGEST_S))
                os.kill(trainer, signal.SIGKILL)
                finished = [line for line in first if not line.startswith("trainer")]
                while not (line := nursery.stdout.readline()).startswith("ended"):
                    assert line, "the trainers' parent has died"
                    finished.append(line)
                assert line == f"ended {-signal.SIGKILL}\n", "the trainer ended by itself: it did not resume"
                left = [path.name for path in (run.path / "checkpoints").iterdir()]
                interrupted += any(name.endswith(".part") for name in left)
                most_left = max(most_left, len(left))

                said: list[str] = []
                state, entry = run.checkpoints(said.append).newest()
                assert not said
                assert is_whole(state)
                assert entry.agent_steps == state["agent_steps"] >= int(finished[-1])
                saves += len(finished)
        finally:
            nursery.stdin.close()
            nursery.kill()
    assert interrupted > KILLS / 10, "hardly any kill fell into a save"
    assert most_left <= 6  # three, the index, and what one kill can leave
    print(f"{KILLS} kills, {interrupted} with a file half written, {saves} saves that ended, at most {most_left} files")  # noqa: T201
