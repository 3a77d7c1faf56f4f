"""A stand-in for a trainer that does nothing but save: started by tests that kill it or take its disk away.

`saving_trainer.py nursery RUN`: for every line read, forks a trainer that resumes and saves until it is killed; writes
its process number, then one line for every save that has come to its end.
`saving_trainer.py once RUN STEPS MIB`: one save of a state of that size; exits with 2 and a line when it cannot.
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from godojo.errors import GodojoError
from godojo.runs.folder import RunFolder

FLOATS = 100_000


def state_of(agent_steps: int, floats: int = FLOATS) -> dict[str, Any]:
    """A state whose every number tells which save it belongs to."""
    return {
        "weights": torch.full((floats,), float(agent_steps)),
        "worlds": np.full(1000, agent_steps, np.int64),
        "agent_steps": agent_steps,
    }


def is_whole(state: dict[str, Any]) -> bool:
    steps = state["agent_steps"]
    return bool((state["weights"] == float(steps)).all() and (state["worlds"] == steps).all())


def train(path: Path) -> None:
    run = RunFolder.open(path)
    with run.lock():
        store = run.checkpoints(lambda line: sys.exit(f"passed over: {line}"))
        state, entry = store.newest()
        if not is_whole(state) or entry.agent_steps != state["agent_steps"]:
            sys.exit("not whole")
        steps = entry.agent_steps
        while True:
            steps += 1
            run.save_policy("seeker", bytes(10_000))
            store.save(state_of(steps), steps, steps, 0.0)
            os.write(1, f"{steps}\n".encode())


def nursery(path: Path) -> None:
    for _ in sys.stdin:
        process = os.fork()
        if process == 0:
            train(path)
        os.write(1, f"trainer {process}\n".encode())
        _, status = os.waitpid(process, 0)
        os.write(1, f"ended {os.waitstatus_to_exitcode(status)}\n".encode())


def once(path: Path, steps: int, mebibytes: int) -> None:
    try:
        RunFolder.open(path).checkpoints().save(state_of(steps, mebibytes * 2**18), steps, steps, 0.0)
    except GodojoError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


if __name__ == "__main__":
    if sys.argv[1] == "nursery":
        nursery(Path(sys.argv[2]))
    else:
        once(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
