"""Compiles the kernels, before several test workers would do so at once."""

import contextlib
import os
import tempfile

from godojo.cli import main
from tests.learning_games import STEPS, WORDS

GAMES = (
    ("tag", "--judge", "2", *WORDS),
    ("navigation", "--eval", "2", *WORDS),
    ("landing", "--eval", "2", *WORDS),
)

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as runs:
        os.environ["GODOJO_RUNS"] = runs
        for number, words in enumerate(GAMES):
            with contextlib.suppress(SystemExit):
                main(["train", *words, "--steps", str(2 * STEPS), "--run-id", str(number)])
