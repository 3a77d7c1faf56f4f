"""Trains tag and judges both roles against every kind of scripted opponent, by members that training never meets.

python3 dojo.py run benchmarks/robustness.py --run RUN                  # judge a run
python3 dojo.py run benchmarks/robustness.py --minutes 5 --seeds 1,2,3  # train and judge
"""

import argparse
import json
import os
import sys
import tempfile
import time
from typing import Any

import numpy as np

from godojo.evaluation.evaluation import judge
from godojo.evaluation.held_out import game_settings, judging_seed, judging_worlds
from godojo.evaluation.players import players_of
from godojo.training.args import TrainArgs
from godojo.training.setup import prepared

BY_SIGHT = {
    "seeker": ("sighted", "circler:1", "juker:1", "doubler:1", "hopper:1", "camper:1", "cutoff:1", "still"),
    "hider": ("sighted", "cutoff:1", "leaper:1", "ambusher:1", "searcher:1"),
}
ALL_KNOWING = {
    "seeker": ("oracle", "oracle-circler:1", "oracle-juker:1", "oracle-camper:1", "oracle-cutoff:1", "oracle-leaper:1"),
    "hider": ("oracle", "oracle-cutoff:1", "oracle-leaper:1"),
}
"""By judged role."""


def report(run: str, rounds: int, seed: int) -> dict[str, Any]:
    """Win rates in per cent by role and opponent, a motionless hider by arena, and how the pair moves."""
    found: dict[str, Any] = {}
    for role in ("seeker", "hider"):
        opponents = [*BY_SIGHT[role], *ALL_KNOWING[role], *(["itself"] if role == "seeker" else [])]
        verdicts = judge(run, opponents, role=role, rounds=rounds, seed=seed).verdicts
        found[role] = {each.opponent: round(100 * each.wins.rate, 1) for each in verdicts if each.wins is not None}
    still = judge(run, ["still"], role="seeker", arenas="hand-made", rounds=rounds, seed=seed).verdicts[0]
    found["still"] = {name: round(100 * wins.rate, 1) for name, wins in still.by_arena.items()}
    found["motion"] = motion(run, seed)
    return found


def motion(run: str, seed: int, decisions: int = 300) -> dict[str, dict[str, float]]:
    """By role: the share of time in the air in per cent, and the mean speed, in rounds of the run against itself."""
    players = players_of(run, seed=seed, deterministic=True)
    card = next(iter(players.values())).card
    with judging_worlds("tag", game_settings("tag", card.settings), rounds=256, seed=seed) as worlds:
        worlds.reset(judging_seed(seed))
        for player in players.values():
            player.begin(worlds)
        air, speed = [], []
        for _ in range(decisions):
            for role, player in players.items():
                player.act(worlds, worlds.roles[role].action)
            worlds.step()
            state = worlds.privileged()
            air.append((state.grounded == 0).mean(axis=0))
            speed.append(np.hypot(state.velocity_mps[..., 0], state.velocity_mps[..., 2]).mean(axis=0))
    return {
        role: {
            "air": round(100 * float(np.mean(air, axis=0)[at]), 1),
            "speed": round(float(np.mean(speed, axis=0)[at]), 2),
        }
        for at, role in enumerate(("seeker", "hider"))
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", help="judge this run instead of training")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--preset")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--set", action="append", default=[], dest="values")
    parser.add_argument("--keep", help="a folder to keep the trained runs in")
    asked = parser.parse_args()
    if asked.run:
        write(report(asked.run, asked.rounds, 0))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = asked.keep or folder
        for seed in map(int, asked.seeds.split(",")):
            args = TrainArgs(
                game="tag",
                minutes=asked.minutes,
                steps=asked.steps,
                preset=asked.preset,
                values=tuple(asked.values),
                seed=seed,
            )
            with prepared(args, lambda _: None) as training:
                begun = time.monotonic()
                training.train(lambda _: None)
                seconds, steps, path = time.monotonic() - begun, training.agent_steps, str(training.run.path)
            about = {"seed": seed, "agent_steps": steps, "seconds": round(seconds), "set": asked.values}
            write(about | report(path, asked.rounds, 0))
    return 0


def write(found: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
