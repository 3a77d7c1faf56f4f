"""Runs to be shown: policies that play, and tables as a training leaves them."""

from pathlib import Path

import numpy as np

from godojo.runs.folder import RunFolder
from tests.judged_runs import make_run

ROUNDS = 4000
WIN_FROM, WIN_TO = 0.1, 0.8
"""How often the seeker wins, at the start and at the end."""
HEADER = (
    "episode,agent_steps,seconds,arena,length_s,winner,seeker_reward,seeker_distance,seeker_time,seeker_tag,"
    "seeker_survival,seeker_score,seeker_against,hider_reward,hider_distance,hider_time,hider_tag,hider_survival,"
    "hider_score,hider_against"
)


def shown_run(root: Path, run_id: str = "shown", rounds: int = ROUNDS) -> RunFolder:
    """A training in which the seeker gets better and better."""
    run = make_run(root, run_id)
    rng = np.random.default_rng(4)
    rows = [HEADER]
    for number in range(1, rounds + 1):
        done = number / rounds
        won = rng.random() < WIN_FROM + (WIN_TO - WIN_FROM) * done
        length = rng.uniform(2, 9) if won else 10.0
        tag, time = (1.0 if won else 0.0), -length * 0.075
        past = "step_000000000000" if number % 2 else "now"
        seeker = f"{tag + time:.4f},0,{time:.4f},{tag},0,{tag},{past}"
        hider = f"{-tag - time:.4f},0,{-time:.4f},{-tag},0,{length:.4f},now"
        winner = "seeker" if won else "hider"
        rows.append(f"{number},{number * 500},{number / 100:.4f},open,{length:.4f},{winner},{seeker},{hider}")
    run.metrics.write_text("\n".join(rows) + "\n4001,20")  # the last row was cut off
    updates = [
        "update,agent_steps,seconds,seeker/rollout/rating,hider/rollout/rating,seeker/rollout/win_rate,"
        "hider/rollout/win_rate,time/fps"
    ]
    updates += [f"{n},{n * 20000},{n * 0.4},{20 + n * 0.1},{25 - n * 0.05},0.5,0.5,50000" for n in range(1, 101)]
    run.updates.write_text("\n".join(updates) + "\n")
    return run
