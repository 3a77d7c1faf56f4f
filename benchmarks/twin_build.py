"""Builds the twins of Godot projects, compares them with the real engine, and measures how much faster they play.

    python3 dojo.py run benchmarks/twin_build.py tests/godot_rl_games/climber
    python3 dojo.py run benchmarks/twin_build.py tests/godot_rl_games/arcade:driving.tscn path/to/project --seconds 5

A project is a folder, with a scene behind a colon where it is not the main scene. The table has one row for each: the
lines of reachable code that are compiled, how long the build took, the gate's figures, and decisions of all agents per
second in the real engine (one process on each core) and on the twin, both played at random and in
turns. A project that is refused has the first reasons below the table.
"""

import argparse
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from godojo import GodojoError, open_game
from godojo.engines.base import Worlds
from godojo.engines.random_play import play_randomly
from godojo.training.twins import AGENTS
from godojo.twin.build import BuiltTwin, TwinRefused, build_twin, check_twin
from godojo.twin.gate import Parity, shown

REASONS = 3
ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", metavar="DIR[:SCENE]")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    wanted = parser.parse_args()
    say("| project | lines | build | position, median | 95 % | rewards | ends | passes | engine | twin | times |")
    say("|---|---|---|---|---|---|---|---|---|---|---|")
    reasons: list[str] = []
    for text in wanted.projects:
        folder, _, scene = text.partition(":")
        say("| " + " | ".join(row(Path(folder), scene or None, wanted.seconds, reasons)) + " |")
    for reason in reasons:
        say(f"- {reason}")


def row(project: Path, scene: str | None, seconds: float, reasons: list[str]) -> list[str]:
    name = project.name if scene is None else f"{project.name} {scene.removesuffix('.tscn')}"
    try:
        begun = time.monotonic()
        built = build_twin(project, scene, anew=True)
        taken_s = time.monotonic() - begun
        parity = check_twin(built)
    except TwinRefused as refused:
        reasons += [f"{name}: {one}" for one in refused.refusals[:REASONS]]
        return [name, "", "refused", *[""] * 8]
    except GodojoError as error:
        reasons.append(f"{name}: {error}")
        return [name, "", "failed", *[""] * 8]
    if parity.first_difference:
        reasons.append(f"{name}: {parity.first_difference}")
    engine, twin = speeds(built, seconds)
    known, lines = built.record.lines
    return [
        name,
        f"{known} of {lines}",
        f"{taken_s:.0f} s",
        *figures(parity),
        "yes" if parity.passes else "no",
        f"{engine:,.0f}/s",
        f"{twin:,.0f}/s",
        f"{twin / engine:.0f}",
    ]


def figures(parity: Parity) -> list[str]:
    return [
        shown(line, line.value) if line.samples else "none"
        for line in parity.lines
        if line.name != "observations that agree"
    ]


def speeds(built: BuiltTwin, seconds: float) -> tuple[float, float]:
    """Engine and twin, measured in turns, so that other programs slow down both; the best round of each.

    The engine is closed while the twin plays: idle processes of a game poll for messages, which takes their core.
    """
    cores = os.cpu_count() or 1
    count = None if built.snapshot.wire == "godot_rl" else 16 * cores
    how = {"scene": built.scene, "num_worlds": count, "num_processes": cores}
    twin = built.worlds(max(1, AGENTS // len(built.snapshot.agents)))
    found = []
    for _ in range(ROUNDS):
        with open_game(built.project, say=lambda _: None, **how) as engine:  # type: ignore[arg-type]
            slow = decisions_per_s(engine, seconds / ROUNDS)
        found.append((slow, decisions_per_s(twin, seconds / ROUNDS)))
    return max(one for one, _ in found), max(one for _, one in found)


def decisions_per_s(worlds: Worlds, seconds: float) -> float:
    """Decisions of all agents."""
    chance = np.random.default_rng(1)
    for role in worlds.roles.values():
        play_randomly(role, chance)
    for _ in range(3):
        worlds.step()
    steps, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        worlds.step()
        steps += 1
    agents = sum(role.reward.size for role in worlds.roles.values())
    return steps * agents / (time.perf_counter() - begun)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
