"""How often the scripted pilot of landing succeeds, on the twin or in Godot.

python3 dojo.py run benchmarks/landing_autopilot.py --engine godot --rounds 200
"""

import argparse
import sys

import numpy as np

from godojo.engines.make import make_vec
from godojo.engines.measures import measured
from godojo.evaluation.intervals import wilson
from godojo.games.landing.autopilot import steered
from godojo.games.landing.spec import PILOT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="sim", choices=["sim", "godot"])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    found: dict[str, list[float]] = {}
    with make_vec("landing", engine=args.engine, num_worlds=args.rounds, seed=args.seed) as worlds:
        role, flying = worlds.roles[PILOT], np.ones(args.rounds, np.bool_)
        while flying.any():
            role.action[:] = steered(worlds.settings, role.observation)
            worlds.step()
            for name, values in measured(worlds, worlds.ended & flying).items():
                found.setdefault(name, []).extend(values.tolist())
            flying &= ~worlds.ended
    for name, rounds in found.items():
        text = f"{name}: {np.mean(rounds):.3f}"
        if isinstance(rounds[0], bool):
            low, high = wilson(sum(map(bool, rounds)), len(rounds))
            text += f" ({low:.3f} to {high:.3f})"
        sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()
