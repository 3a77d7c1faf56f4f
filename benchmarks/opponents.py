"""The figures of docs/opponents.md: how often each scripted seeker beats each scripted hider, and how fast they decide.

    python3 dojo.py run benchmarks/opponents.py --rounds 800 --opponents sighted,oracle
    python3 dojo.py run benchmarks/opponents.py --set motion.seeker_speed_mps=7

Arenas are the hand-made ones, then ones generated for every round. Each of 400 worlds plays the same number of rounds,
so that short rounds do not count more than long ones. Intervals are Wilson's, at 95 %.
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numba
import numpy as np

from godojo.engines.make import make_vec
from godojo.evaluation.intervals import wilson
from godojo.games.tag.opponents import OPPONENTS
from godojo.games.tag.settings import TagSettings
from godojo.opponents import make_opponent

WORLDS = 400
SPEED_WORLDS = 2048
SPEED_DECISIONS = 100


def match(seeker: str, hider: str, rounds: int, generated: bool, settings: TagSettings, seed: int) -> dict[str, object]:
    """Plays the pairing; every world the same number of rounds."""
    worlds = make_vec("tag", num_worlds=WORLDS, seed=seed, settings=settings, generated_share=float(generated))
    players = {
        "seeker": make_opponent(seeker, "seeker", seed, game="tag"),
        "hider": make_opponent(hider, "hider", seed + 1, game="tag"),
    }
    for player in players.values():
        player.begin(worlds)
    wanted = math.ceil(rounds / WORLDS)
    played, wins = np.zeros(WORLDS, np.int64), 0
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
    low, high = wilson(wins, wanted * WORLDS)
    return {
        "seeker": seeker,
        "hider": hider,
        "arenas": "generated" if generated else "hand-made",
        "rounds": wanted * WORLDS,
        "seeker_wins": wins / (wanted * WORLDS),
        "low": low,
        "high": high,
        "median_catch_s": float(np.median(lengths_s)) if lengths_s else None,
    }


def speed(name: str, role: str, settings: TagSettings, generated: bool) -> float:
    """Decisions a second on all cores, with rounds going on against a sighted opponent."""
    worlds = make_vec("tag", num_worlds=SPEED_WORLDS, seed=1, settings=settings, generated_share=float(generated))
    other = "hider" if role == "seeker" else "seeker"
    player, rival = make_opponent(name, role, 1, game="tag"), make_opponent("sighted", other, 2, game="tag")
    player.begin(worlds)
    rival.begin(worlds)
    spent_s = 0.0
    for decision in range(SPEED_DECISIONS + 3):
        start = time.perf_counter()
        player.act(worlds, worlds.roles[role].action)
        if decision >= 3:
            spent_s += time.perf_counter() - start
        rival.act(worlds, worlds.roles[other].action)
        worlds.step()
    return SPEED_WORLDS * SPEED_DECISIONS / spent_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=800)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--opponents", default=",".join(OPPONENTS))
    parser.add_argument("--set", action="append", default=[], help="a setting, as motion.seeker_speed_mps=7")
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    settings = TagSettings.defaults().override_texts(asked.set)
    names = asked.opponents.split(",")
    matches, speeds = [], []
    write = sys.stdout.write
    for generated in (False, True):
        write(f"\n{'generated' if generated else 'hand-made'} arenas: rounds won by the seeker, in per cent (95 %)\n")
        write(f"| seeker \\ hider | {' | '.join(names)} |\n|---|{'---|' * len(names)}\n")
        for seeker in names:
            row = [match(seeker, hider, asked.rounds, generated, settings, asked.seed) for hider in names]
            matches += row
            cells = [f"{100 * m['seeker_wins']:.1f} ({100 * m['low']:.1f} to {100 * m['high']:.1f})" for m in row]  # type: ignore[operator]
            write(f"| {seeker} | {' | '.join(cells)} |\n")
            sys.stdout.flush()
    if not asked.no_speed:
        write(f"\nthousand decisions a second, {numba.get_num_threads()} threads, {SPEED_WORLDS} worlds\n")
        write("| opponent | as seeker | as hider | as hider, generated arenas |\n|---|---|---|---|\n")
        for name in names:
            cases = (("seeker", False), ("hider", False), ("hider", True))
            found = [speed(name, role, settings, generated) for role, generated in cases]
            speeds.append({"opponent": name, "seeker": found[0], "hider": found[1], "hider_generated": found[2]})
            write(f"| {name} | {' | '.join(f'{value / 1e3:,.0f}' for value in found)} |\n")
    if asked.json:
        asked.json.write_text(json.dumps({"matches": matches, "speeds": speeds}, indent=2) + "\n")


if __name__ == "__main__":
    main()
