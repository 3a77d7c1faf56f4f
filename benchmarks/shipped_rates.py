"""The policies that ship with tag, played by the game itself and by torch on the twin: do they win as often?

    python3 dojo.py run benchmarks/shipped_rates.py                      every level, 1,000 rounds each
    python3 dojo.py run benchmarks/shipped_rates.py --level hard --rounds 4000

Both play the same hand-made arenas with the same settings; where rounds begin is drawn anew. Rates are the seeker's.
"""

import argparse
import sys
from pathlib import Path

from godojo.engines.make import make_vec
from godojo.evaluation.intervals import Difference, Proportion
from godojo.evaluation.matches import play_matches
from godojo.evaluation.players import PolicyPlayer
from godojo.export.dojo_file import load_dojo
from godojo.games.tag.godot import TagInGodot
from godojo.resources import godot_sources
from tests.tag_rounds_in_godot import play_in_game

LEVELS = ("easy", "medium", "hard")
ROLES = ("seeker", "hider")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", choices=LEVELS, action="append")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    for level in wanted.level or LEVELS:
        files = {role: godot_sources() / f"games/tag/policies/{level}_{role}.dojo" for role in ROLES}
        game = in_game(files, wanted.rounds, wanted.seed)
        twin = on_twin(files, wanted.rounds, wanted.seed)
        difference = Difference.of(game, twin)
        say(f"{level}: in the game {described(game)}, on the twin {described(twin)}")
        say(f"  difference {difference.points:+.1f} points (95 %: {difference.low:+.1f} to {difference.high:+.1f})")
    return 0


def in_game(files: dict[str, Path], rounds: int, seed: int) -> Proportion:
    return play_in_game(files, TagInGodot().configure_options, rounds, worlds=50, seed=seed).wins("seeker")


def on_twin(files: dict[str, Path], rounds: int, seed: int) -> Proportion:
    with make_vec("tag", num_worlds=min(rounds, 500), seed=seed) as worlds:
        players = {role: PolicyPlayer(*load_dojo(path)) for role, path in files.items()}
        return play_matches(worlds, players, rounds, seed=seed).wins("seeker")


def described(share: Proportion) -> str:
    return f"{100 * share.rate:.1f} % of {share.rounds} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
