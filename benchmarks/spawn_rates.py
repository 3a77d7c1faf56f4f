"""The spawn rates that `physics_stress` holds at 90 Hz on this machine, and the first that breaks its budget.

    python3 dojo.py run benchmarks/spawn_rates.py
    python3 dojo.py run benchmarks/spawn_rates.py --rates 1 2 3 --rounds 1 --lifetime 1000

Each round is a new process, headless, of 1,000 physics frames; the first ones count as well. Rounds of the rates take
turns, and the table has their medians. Bodies live for 120 frames; with `--lifetime 1000` none vanishes.
"""

import argparse
import json
import math
import statistics
import sys

from godojo.engines.godot.game_source import GameSource
from godojo.engines.godot.project import problem_lines
from godojo.games.base import SCENE_GAMES

BUDGET_MS, MOST_MB, FRAMES = 11.11, 2048.0, 1000


def held(rate: int, lifetime_ticks: int) -> dict[str, float]:
    """The measures of one round at a constant spawn rate, and the warnings in its log."""
    source = GameSource.of_scene(
        SCENE_GAMES["physics_stress"], options={"spawn_rate": rate, "lifetime_ticks": lifetime_ticks}
    )
    with source.open(seed=1, say=lambda _: None, step_timeout_s=60.0) as worlds:
        role = worlds.roles["stress"]
        while not (role.terminated | role.truncated).any():
            role.action[:] = 0.0
            worlds.step()
        assert role.final_measures is not None
        values = role.final_measures[0, 0].tolist()
        found = {measure.name: value for measure, value in zip(role.measures, values, strict=True)}
        log = worlds.seats[0].log
    found["warnings"] = 0.0 if log is None else float(len(problem_lines(log.read_text("utf-8", errors="replace"))))
    return found


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=int, nargs="+", default=list(range(11)), help="bodies a frame (0 to 10)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each rate")
    parser.add_argument("--lifetime", type=int, default=120, metavar="FRAMES", help="after which a body vanishes")
    parser.add_argument("--json", action="store_true", help="every round as JSON")
    asked = parser.parse_args()
    rounds: dict[int, list[dict[str, float]]] = {rate: [] for rate in asked.rates}
    for _ in range(asked.rounds):
        for rate, found in rounds.items():
            found.append(held(rate, asked.lifetime))
    if asked.json:
        _say(json.dumps(rounds, indent=2))
        return
    _say("rate  bodies  mean ms  worst ms  over budget  first at bodies  memory MB  leaked  warnings  monitor µs  held")
    rows = {rate: {name: _median(found, name) for name in found[0]} for rate, found in rounds.items()}
    for rate, row in rows.items():
        mean_ms = row["performance/physics_frame_time_ratio"] * BUDGET_MS
        first = row["bodies at first frame over budget"]
        _say(
            f"{rate:4}  {row['bodies']:6.0f}  {mean_ms:7.2f}  {row['worst frame ms']:8.2f}"
            f"  {row['frames over budget']:11.0f}  {'-' if math.isnan(first) else round(first):>15}"
            f"  {row['memory mb']:9.1f}  {row['leaked objects']:6.0f}"
            f"  {row['warnings']:8.0f}  {row['monitor us']:10.1f}"
            f"  {sum(one['success'] for one in rounds[rate]):.0f} of {asked.rounds}"
        )
    for share, words in (
        (0.0, "a frame is missed"),
        (0.01, "1 % of frames are missed"),
        (0.5, "most frames are missed"),
    ):
        broken = [rate for rate, row in rows.items() if row["frames over budget"] > share * FRAMES]
        _say(f"{words} from {broken[0]} bodies a frame on" if broken else f"at no rate {words}")
    heavy = [rate for rate, row in rows.items() if row["memory mb"] > MOST_MB]
    _say(f"more than 2 GB from {heavy[0]} bodies a frame on" if heavy else "memory stays below 2 GB")
    dearest = max(row["monitor us"] for row in rows.values())
    _say(f"the monitor takes {dearest:.1f} µs at most, {dearest / BUDGET_MS / 10:.2f} % of a frame")


def _median(rounds: list[dict[str, float]], name: str) -> float:
    """Over the rounds that have the number."""
    numbers = [one[name] for one in rounds if not math.isnan(one[name])]
    return statistics.median(numbers) if numbers else math.nan


if __name__ == "__main__":
    main()
