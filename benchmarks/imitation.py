"""A task where exploration is hard, learnt with and without demonstrations: navigation with a reward at the goal only.

    python3 dojo.py run benchmarks/imitation.py                       three seeds, 1.5 million agent-steps each
    python3 dojo.py run benchmarks/imitation.py --seeds 5 --steps 3000000 --rounds 30

A walker gets a reward for reaching the goal, tens of metres and several turns away, and for nothing else. `Walker`,
which heads for the next mark, plays the rounds that are imitated. Success is that of `godojo eval`: the goal in time.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

SPARSE = {
    **dict.fromkeys(
        ("rewards.progress_per_m", "rewards.smooth", "rewards.comfort", "rewards.collision", "rewards.fall"), 0.0
    ),
    "rewards.timeout": 0.0,
    "rewards.teleport": 0.0,
}
LEARNER = {"gamma": 0.995, "imitation_end": 0.5}
WAYS: dict[str, dict[str, Any] | None] = {
    "without demonstrations": None,
    "cloning only": {"imitation_end": 0.0},
    "term of the loss only": {"imitation_epochs": 0},
    "both (the default)": {},
}


class Walker:
    """Turns to the next mark and walks, by the observation alone; an opponent for `godojo play --policy`."""

    def __init__(self, role: str, _seed: int) -> None:
        self.role = role

    def begin(self, worlds: Any) -> None:
        at = 0
        for part in worlds.roles[self.role].observation_parts:
            if part.name == "goal_position":
                self._goal = at
            at += part.size

    def act(self, worlds: Any, out: np.ndarray) -> None:
        observation = worlds.roles[self.role].observation
        x, z = observation[..., self._goal], observation[..., self._goal + 2]
        off_rad = np.arctan2(x, -z)
        out[..., 0] = 0.0
        out[..., 1] = np.where(np.abs(off_rad) < 0.35, 0.75, 0.0)
        out[..., 2] = np.clip(2.0 * off_rad, -0.6, 0.6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1_500_000)
    parser.add_argument("--rounds", type=int, default=30, help="demonstrated rounds")
    parser.add_argument("--ways", nargs="+", choices=tuple(WAYS), default=tuple(WAYS))
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = str(Path(folder) / "runs")
        demos = Path(folder) / "walker.jsonl"
        import godojo

        found = godojo.record_demos(demos, "navigation", policy=f"{__file__}:Walker", rounds=wanted.rounds)
        ended = sum(episode.end == "terminated" for episode in found.episodes)
        say(f"demonstrations: {len(found.episodes)} rounds, {found.steps:,} steps, {ended} ended before the clock\n")
        say("| | " + " | ".join(f"seed {seed}" for seed in range(1, wanted.seeds + 1)) + " | seconds |")
        say("|---" * (wanted.seeds + 2) + "|")
        for way in wanted.ways:
            row, begun = [], time.monotonic()
            for seed in range(1, wanted.seeds + 1):
                row.append(success(demos, WAYS[way], wanted.steps, seed))
            say(f"| {way} | " + " | ".join(row) + f" | {(time.monotonic() - begun) / wanted.seeds:.0f} |")


def success(demos: Path, settings: dict[str, Any] | None, steps: int, seed: int) -> str:
    """The share of held-out rounds in which the goal is reached in time, after training."""
    import godojo

    run = godojo.train(
        "navigation",
        steps=steps,
        seed=seed,
        settings={**SPARSE, **LEARNER, **(settings or {})},
        demos=() if settings is None else demos,
    )
    judged: Any = godojo.evaluate(run, episodes=200)
    return f"{judged.measures['success'].rate:.0%}"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
