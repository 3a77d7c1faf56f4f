"""Kills games while they are learnt from, and measures whether training recovers and gets as far as undisturbed.

    python3 dojo.py run benchmarks/training_losses.py            tag in the real Godot killed 100 times; then pretend
                                                              games: undisturbed, killed 100 times, 0.5 % a step
    python3 dojo.py run benchmarks/training_losses.py --kills 0  the pretend games only

Every loss is checked: nobody acted in its worlds, and nothing is learnt across it. The pretend game pays for its
actions, so that how far learning got is a number: the mean reward of a decision, 3 at most, about 0 untrained.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.killed_games import CRASH_CHANCE, RECOVERED_WITHIN_S, SETTINGS, Killer, reward_reached, tag_killed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="Of tag in the real Godot.")
    parser.add_argument("--updates", type=int, default=60, help="Of each training with pretend games.")
    wanted = parser.parse_args()
    failures = 0
    if wanted.kills:
        begun = time.monotonic()
        killer = tag_killed(wanted.kills)
        failures += killer.slowest_s > RECOVERED_WITHIN_S
        say(f"tag in the real Godot: {killer.steps} decisions in {time.monotonic() - begun:.0f} s; {told(killer)}")
    untrained, _ = reward_reached(0.0, updates=1)
    clean, _ = reward_reached(0.0, wanted.updates)
    say(f"pretend games, {wanted.updates} updates: reward {untrained:.2f} untrained, {clean:.2f} undisturbed")
    often = 130 / (wanted.updates * SETTINGS.n_steps)
    for name, chance in (("often", often), (f"{CRASH_CHANCE:.1%} a step", CRASH_CHANCE)):
        reached, killer = reward_reached(chance, wanted.updates)
        share = (reached - untrained) / (clean - untrained)
        failures += share < 0.8 or killer.slowest_s > RECOVERED_WITHIN_S or not killer.kills
        say(f"killed {name}: reward {reached:.2f}, {share:.0%} of what was learnt undisturbed; {told(killer)}")
    return 1 if failures else 0


def told(killer: Killer) -> str:
    low, middle, high = np.percentile(killer.times_s or [0.0], (0, 50, 100))
    late = sum(took_s > RECOVERED_WITHIN_S for took_s in killer.times_s)
    return (
        f"{len(killer.times_s)} kills, as many recoveries, within {low:.2f} to {high:.2f} s (median {middle:.2f} s; "
        f"{late} took longer than {RECOVERED_WITHIN_S:g} s)"
    )


def say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
