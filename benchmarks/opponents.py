"""The figures of docs/opponents.md: how often each scripted seeker beats each scripted hider, and how fast they decide.

    python3 dojo.py run benchmarks/opponents.py --rounds 800 --opponents sighted,oracle
    python3 dojo.py run benchmarks/opponents.py --set motion.seeker_speed_mps=7
    python3 dojo.py run benchmarks/opponents.py --arenas held-out --rounds 200 --plain --hiders still,juker,circler

Arenas are the hand-made ones, then ones generated for every round; `held-out` are both, half and half, as in `eval`.
Each of up to 400 worlds plays the same number of rounds, so that short rounds do not count more than long ones.
Intervals are Wilson's, at 95 %.
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from godojo.engines.make import GAMES, make_vec
from godojo.evaluation.held_out import judging_seed
from godojo.evaluation.intervals import wilson
from godojo.games.tag.opponents import OPPONENTS
from godojo.games.tag.settings import TagSettings
from godojo.opponents import make_opponent

WORLDS = 400
SPEED_WORLDS = 2048
SPEED_DECISIONS = 100


def match(seeker: str, hider: str, rounds: int, arenas: str, settings: TagSettings, seed: int) -> dict[str, object]:
    """Plays the pairing; every world the same number of rounds."""
    count = min(rounds, WORLDS)
    options = GAMES["tag"].judging_options(settings, arenas)
    worlds = make_vec("tag", num_worlds=count, seed=judging_seed(seed), settings=settings, **options)
    players = {
        "seeker": make_opponent(seeker, "seeker", seed, game="tag"),
        "hider": make_opponent(hider, "hider", seed + 1, game="tag"),
    }
    for player in players.values():
        player.begin(worlds)
    wanted = math.ceil(rounds / count)
    played, wins = np.zeros(count, np.int64), 0
    lengths_s: list[float] = []
    while played.min() < wanted:
        for role, player in players.items():
            player.act(worlds, worlds.roles[role].action)
        worlds.step()
        counts = worlds.ended & (played < wanted)
        caught = counts & (worlds.winner == 1)
        wins += int(caught.sum())
        lengths_s += [float(ticks) / 60 for ticks in worlds.length_ticks[caught]]
        played += counts
    low, high = wilson(wins, wanted * count)
    return {
        "seeker": seeker,
        "hider": hider,
        "arenas": arenas,
        "rounds": wanted * count,
        "seeker_wins": wins / (wanted * count),
        "low": low,
        "high": high,
        "median_catch_s": float(np.median(lengths_s)) if lengths_s else None,
    }


def speed(name: str, role: str, settings: TagSettings, generated: bool) -> float:
    """Microseconds of processor time a decision, with rounds going on against a sighted opponent."""
    worlds = make_vec("tag", num_worlds=SPEED_WORLDS, seed=1, settings=settings, generated_share=float(generated))
    other = "hider" if role == "seeker" else "seeker"
    player, rival = make_opponent(name, role, 1, game="tag"), make_opponent("sighted", other, 2, game="tag")
    player.begin(worlds)
    rival.begin(worlds)
    spent_s = 0.0
    for decision in range(SPEED_DECISIONS + 3):
        start = time.thread_time()
        player.act(worlds, worlds.roles[role].action)
        if decision >= 3:
            spent_s += time.thread_time() - start
        rival.act(worlds, worlds.roles[other].action)
        worlds.step()
    return 1e6 * spent_s / (SPEED_WORLDS * SPEED_DECISIONS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--opponents", default=",".join(OPPONENTS))
    parser.add_argument("--seekers", help="those of the rows, instead of --opponents")
    parser.add_argument("--hiders", help="those of the columns")
    parser.add_argument("--arenas", default="hand-made,generated", help="of hand-made, generated and held-out")
    parser.add_argument("--plain", action="store_true", help="whole per cent, without intervals")
    parser.add_argument("--set", action="append", default=[], help="a setting, as motion.seeker_speed_mps=7")
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    settings = TagSettings.defaults().override_texts(asked.set)
    names = asked.opponents.split(",")
    seekers, hiders = ((given.split(",") if given else names) for given in (asked.seekers, asked.hiders))
    matches, speeds = [], []
    write = sys.stdout.write
    for arenas in asked.arenas.split(","):
        write(f"\n{arenas} arenas: rounds won by the seeker, in per cent{'' if asked.plain else ' (95 %)'}\n")
        write(f"| seeker \\ hider | {' | '.join(hiders)} |\n|---|{'---|' * len(hiders)}\n")
        for seeker in seekers:
            row: list[dict[str, Any]] = [
                match(seeker, hider, asked.rounds, arenas, settings, asked.seed) for hider in hiders
            ]
            matches += row
            cells = [f"{100 * m['seeker_wins']:.1f} ({100 * m['low']:.1f} to {100 * m['high']:.1f})" for m in row]
            if asked.plain:
                cells = [f"{100 * m['seeker_wins']:.0f}" for m in row]
            write(f"| {seeker} | {' | '.join(cells)} |\n")
            sys.stdout.flush()
    if not asked.no_speed:
        write(f"\nmicroseconds of processor time a decision of an agent, {SPEED_WORLDS} worlds\n")
        write("| opponent | as seeker | as hider | as hider, generated arenas |\n|---|---|---|---|\n")
        for name in names:
            cases = (("seeker", False), ("hider", False), ("hider", True))
            found = [speed(name, role, settings, generated) for role, generated in cases]
            speeds.append({"opponent": name, "seeker": found[0], "hider": found[1], "hider_generated": found[2]})
            write(f"| {name} | {' | '.join(f'{value:.1f}' for value in found)} |\n")
            sys.stdout.flush()
    if asked.json:
        asked.json.write_text(json.dumps({"matches": matches, "speeds": speeds}, indent=2) + "\n")


if __name__ == "__main__":
    main()
