"""What docs/experiments.md compares: trains tag in several variants for the same number of steps, and judges each.

python3 dojo.py run benchmarks/variants.py --steps 10000000 --rounds 500 --only "no memory,world frame" --seeds 1,2
python3 dojo.py run benchmarks/variants.py --ray auto        one training per CPU of a Ray cluster (docs/cluster.md)
"""

import argparse
import os
import sys
import tempfile
import time
from functools import partial

from godojo.cluster.tasks import run_tasks
from godojo.evaluation.evaluation import judge
from godojo.training.args import TrainArgs
from godojo.training.setup import prepared

NARROW = (
    "sight.fov_deg=120",
    'sight.rows=[{"elevation_deg":0,"columns":20},{"elevation_deg":15,"columns":6},{"elevation_deg":-15,"columns":6}]',
)
EVEN = ("motion.seeker_speed_mps=6.5", "motion.seeker_acceleration_mps2=40", "rules.round_s=10")
DISTANCE = (
    "rewards.seeker.distance_per_m=-0.1",
    "rewards.hider.distance_per_m=0.1",
    "rewards.hider.time_per_decision=0.005",
)
VARIANTS: dict[str, tuple[str, ...]] = {
    "default": (),
    "no sparring": ("scripted_opponent_fraction=0", "past_opponent_fraction=0.5"),
    "no past selves": ("past_opponent_fraction=0",),
    "guests in all worlds": ("scripted_opponent_fraction=0.8", "past_opponent_fraction=0.2"),
    "narrow eyes (120 degrees)": NARROW,
    "240 degrees": ("sight.fov_deg=240",),
    "paid for distance": DISTANCE,
    "no distance reward": ("rewards.seeker.distance_per_m=0", "rewards.hider.distance_per_m=0"),
    "even-footed": EVEN,
    "heavier (3 m/s2)": ("motion.seeker_acceleration_mps2=3",),
    "lighter (8 m/s2)": ("motion.seeker_acceleration_mps2=8",),
    "rounds of 10 s": ("rules.round_s=10",),
    "faster hider (7 m/s)": ("motion.hider_speed_mps=7",),
    "no memory": ('memory=""',),
    "gru memory": ("memory=gru",),
    "larger memory, longer rollouts": ("memory_size=64", "n_steps=64", "num_worlds=512"),
    "wider net": ("net_arch=[128,128]",),
    "two epochs": ("n_epochs=2", "n_minibatches=16"),
    "16 minibatches": ("n_minibatches=16",),
    "half the entropy": ("ent_coef=0.005",),
    "quick learning": ("learning_rate=0.003",),
    "world frame": ("egocentric=false",),
    "gamma 0.99": ("gamma=0.99",),
}
MATCHES = (("seeker", "sighted"), ("seeker", "oracle"), ("hider", "sighted"), ("hider", "oracle"), ("seeker", "itself"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--only", default=",".join(VARIANTS))
    parser.add_argument("--ray", metavar="ADDRESS", help="Train the variants in a Ray cluster: auto, local, HOST:PORT.")
    wanted = parser.parse_args()
    write(f"| variant | seed | k agent-steps/s | {' | '.join(f'{role} against {rival}' for role, rival in MATCHES)} |")
    write("|---" * (3 + len(MATCHES)) + "|")
    variants = [(name, int(seed)) for name in wanted.only.split(",") for seed in wanted.seeds.split(",")]
    if wanted.ray is None:
        for name, seed in variants:
            write(row(name, seed, wanted.steps, wanted.rounds))
        return 0
    calls = [partial(row, name, seed, wanted.steps, wanted.rounds) for name, seed in variants]
    for line in run_tasks(calls, wanted.ray, done=lambda count: say(f"{count} of {len(calls)} variants trained")):
        write(line)
    return 0


def row(name: str, seed: int, steps: int, rounds: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        args = TrainArgs(game="tag", steps=steps, values=VARIANTS[name], seed=seed)
        with prepared(args, lambda _: None) as training:
            begun = time.monotonic()
            training.train(lambda _: None)
            speed = training.agent_steps / (time.monotonic() - begun)
            path = str(training.run.path)
        found = judge(path, ["sighted", "oracle", "itself"], rounds=rounds)
    cells = []
    for role, rival in MATCHES:
        wins = found.verdict(role, rival).wins
        assert wins is not None
        cells.append(f"{100 * wins.rate:.0f} ({100 * wins.low:.0f} to {100 * wins.high:.0f})")
    return f"| {name} | {seed} | {speed / 1e3:.0f} | {' | '.join(cells)} |"


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
