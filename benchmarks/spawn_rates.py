"""The spawn rates that `physics_stress` holds at 90 Hz on this machine, and the first that breaks its budget.

    python3 dojo.py run benchmarks/spawn_rates.py
    python3 dojo.py run benchmarks/spawn_rates.py --rates 1 2 3
    python3 dojo.py run benchmarks/spawn_rates.py --picture docs/pictures/physics-stress.png

Each rate is a new process, headless, of one round of 1,000 physics frames in which bodies live for 120 frames. The
first frames count as well.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from PIL import Image

from godojo.engines.godot.game_source import GameSource
from godojo.engines.godot.project import problem_lines
from godojo.games.base import SCENE_GAMES

BUDGET_MS, MOST_MB, FRAMES = 11.11, 2048.0, 1000


def held(rate: int) -> dict[str, float]:
    """The measures of one round at a constant spawn rate, and the warnings in its log."""
    source = GameSource.of_scene(SCENE_GAMES["physics_stress"], options={"spawn_rate": rate})
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


def draw(path: Path, rate: int = 3, decisions: int = 5) -> None:
    """A picture of the pit after some decisions at this rate; needs a display or Xvfb."""
    scene = GameSource.of_scene(SCENE_GAMES["physics_stress"], window=True, options={"spawn_rate": rate})
    with tempfile.TemporaryDirectory() as folder:
        movie = ["--write-movie", f"{folder}/frame.png", "--resolution", "1280x720"]
        with scene.open(seed=1, say=lambda _: None, step_timeout_s=120.0, arguments=movie) as worlds:
            for _ in range(decisions):
                worlds.roles["stress"].action[:] = -1.0  # without particles, which take minutes without a GPU
                worlds.step()
        last = sorted(Path(folder).glob("frame*.png"))[-1]
        Image.open(last).convert("RGB").quantize(128).save(path, optimize=True)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=int, nargs="+", default=list(range(11)), help="bodies a frame (0 to 10)")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--picture", type=Path, metavar="FILE.png", help="only draw a picture of the scene")
    asked = parser.parse_args()
    if asked.picture is not None:
        draw(asked.picture)
        return
    rows = {rate: held(rate) for rate in asked.rates}
    if asked.json:
        _say(json.dumps(rows, indent=2))
        return
    _say("rate  bodies  mean ms  worst ms  over budget  memory MB  leaked  warnings  monitor µs")
    for rate, row in rows.items():
        mean_ms = row["performance/physics_frame_time_ratio"] * BUDGET_MS
        _say(
            f"{rate:4}  {row['bodies']:6.0f}  {mean_ms:7.2f}  {row['worst frame ms']:8.2f}"
            f"  {row['frames over budget']:11.0f}"
            f"  {row['memory mb']:9.1f}  {row['leaked objects']:6.0f}"
            f"  {row['warnings']:8.0f}  {row['monitor us']:10.1f}"
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


if __name__ == "__main__":
    main()
