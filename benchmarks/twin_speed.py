"""Processor time of a decision of one agent on twins of scenes, from stored snapshots: needs no engine, no idle cores.

    python3 dojo.py run benchmarks/twin_speed.py
    python3 dojo.py run benchmarks/twin_speed.py climber --rounds 10

One thread plays 512 agents at random; the best of some rounds of 50 decisions. `kernel` is the part that runs on all
cores; the rest is Python's.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numba
import numpy as np

from godojo.engines.random_play import play_randomly
from godojo.training.twins import AGENTS
from godojo.twin.gdscript.program import compile_program
from godojo.twin.scene.snapshot import read_snapshot
from godojo.twin.world.worlds import TwinWorlds
from tests.test_twin_world_bits import PROJECTS, TESTS

WARM_UP, DECISIONS = 10, 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(PROJECTS), help=", ".join(PROJECTS))
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    numba.set_num_threads(1)
    sys.stdout.write("| game | build, s of processor time | decision, µs | kernel, µs |\n|---|---|---|---|\n")
    for game in wanted.games:
        begun = time.process_time()
        worlds = made(game)
        built = time.process_time() - begun
        whole, kernel = min(decision_us(worlds) for _ in range(wanted.rounds))
        sys.stdout.write(f"| {game} | {built:.1f} | {whole:.2f} | {kernel:.2f} |\n")
        sys.stdout.flush()


def made(game: str) -> TwinWorlds:
    """The worlds of a game, compiled."""
    snapshot = read_snapshot(TESTS / "twin_snapshots" / f"{game}.json")
    program = compile_program(snapshot, lambda path: (PROJECTS[game] / path.removeprefix("res://")).read_text())
    scenes = max(AGENTS // len(snapshot.agents), 1)
    worlds = TwinWorlds(snapshot, program, scenes * int(snapshot.ready["worlds"]))
    worlds.reset(snapshot.seed)
    worlds.step()
    return worlds


def decision_us(worlds: TwinWorlds) -> tuple[float, float]:
    """Microseconds of processor time for each decision of an agent: all, and in the kernel."""
    worlds.reset(5)
    chance = np.random.default_rng(1)
    whole = kernel = 0.0
    for decision in range(WARM_UP + DECISIONS):
        for role in worlds.roles.values():
            play_randomly(role, chance)
        begun = time.process_time()
        worlds._wire.send()
        sent = time.process_time()
        worlds._call(0)
        played = time.process_time()
        worlds._wire.receive()
        if decision >= WARM_UP:
            whole += time.process_time() - begun
            kernel += played - sent
    agents = sum(role.reward.size for role in worlds.roles.values())
    return whole / DECISIONS / agents * 1e6, kernel / DECISIONS / agents * 1e6


if __name__ == "__main__":
    main()
