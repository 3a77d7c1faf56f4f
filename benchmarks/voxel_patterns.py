"""The movements that break the budgets of `voxel_stress`: a trained pilot, beside random play.

    python3 dojo.py run benchmarks/voxel_patterns.py
    python3 dojo.py run benchmarks/voxel_patterns.py --steps 3000 --seed 2 --json patterns.json

Both make the same number of decisions in two games. The pilot learns from nothing for two thirds of them, which count,
and then takes its most likely actions. A pattern (godot/games/voxel_stress/pilot/movement_log.gd has the rules) is
found when it has broken a budget at least three times. When time runs out, the pilot stops at 45 % of it, so that
random play can make as many decisions.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

GAME = "voxel_stress"
EVENTS = 3
TICKS_PER_S = 90
PILOTS_SHARE = 0.45

Findings = dict[tuple[str, str], dict[str, Any]]


def learn_and_fly(steps: int, seed: int, folder: Path, limit_s: float) -> int:
    """Returns the decisions that were made."""
    from godojo import train
    from godojo.evaluation.players import players_of

    done, start = 0, time.monotonic()

    def go_on(status: Any) -> bool:
        nonlocal done
        done = status.agent_steps
        return time.monotonic() < start + 2 / 3 * limit_s

    settings = {"options.findings_folder": str(folder)}
    run = train(
        GAME, steps=2 * steps // 3, seed=seed, run_id=f"patterns-{seed}", force=True, settings=settings, progress=go_on
    )
    pilot = players_of(str(run.path))["pilot"]
    with _opened(seed, folder) as worlds:
        pilot.begin(worlds)
        while done < steps and time.monotonic() < start + limit_s:
            pilot.act(worlds, worlds.roles["pilot"].action)
            worlds.step()
            done += worlds.num_worlds
    return done


def play_randomly(steps: int, seed: int, folder: Path, until: float) -> None:
    rng = np.random.default_rng(seed)
    with _opened(seed, folder) as worlds:
        action = worlds.roles["pilot"].action
        for _ in range(0, steps, worlds.num_worlds):
            action[:] = rng.uniform(-1.0, 1.0, action.shape)
            worlds.step()
            if time.monotonic() > until:
                _say("time ran out before random play had made as many decisions: do not compare")
                return


def _opened(seed: int, folder: Path) -> Any:
    from godojo.engines.godot.game_source import GameSource
    from godojo.games.base import SCENE_GAMES

    options = {"findings_folder": str(folder)}
    return GameSource.of_scene(SCENE_GAMES[GAME], processes=2, options=options).open(seed=seed)


def read(folder: Path) -> tuple[float, Findings]:
    """The seconds that were played, and the findings of all processes together."""
    ticks, found = 0, Findings()
    for path in folder.glob("findings-*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        ticks += content["ticks"]
        for one in content["findings"]:
            kept = found.setdefault((one["pattern"], one["budget"]), {"events": 0, "worst": 0.0})
            kept["events"] += one["events"]
            kept["worst"] = max(kept["worst"], one["worst"])
    return ticks / TICKS_PER_S, found


def patterns(found: Findings) -> set[str]:
    """Movements that broke one budget often enough."""
    return {pattern for (pattern, _), one in found.items() if one["events"] >= EVENTS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=6000, help="decisions of each, about eleven in a second of play")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0, help="for both together")
    parser.add_argument("--json", type=Path, help="write the findings there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ["GODOJO_RUNS"] = str(Path(place) / "runs")
        start, limit_s = time.monotonic(), 60.0 * args.minutes
        pilots, randoms = Path(place) / "trained", Path(place) / "random"
        done = learn_and_fly(args.steps, args.seed, pilots, PILOTS_SHARE * limit_s)
        play_randomly(done, args.seed, randoms, start + limit_s)
        both = {"trained": read(pilots), "random": read(randoms)}
    _print_table(both)
    if args.json:
        rows = {name: [[*key, *one.values()] for key, one in found.items()] for name, (_, found) in both.items()}
        args.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def _print_table(both: dict[str, tuple[float, Findings]]) -> None:
    for name, (seconds, _) in both.items():
        _say(f"{name}: {seconds:,.0f} s of play")
    keys = sorted({key for _, found in both.values() for key in found})
    _say(f"\n{'movement':46} {'budget':30} {'trained':>16} {'random':>16}   times (worst)")
    for pattern, budget in keys:
        cells = [both[name][1].get((pattern, budget)) for name in ("trained", "random")]
        if any(cell is not None and cell["events"] >= EVENTS for cell in cells):
            texts = ["-" if cell is None else f"{cell['events']} ({cell['worst']:.1f})" for cell in cells]
            _say(f"{pattern:46} {budget:30} {texts[0]:>16} {texts[1]:>16}")
    ever = {pattern for pattern, _ in both["random"][1]}
    alone = sorted(patterns(both["trained"][1]) - ever)
    _say(f"\npatterns that only the trained pilot found: {len(alone)}")
    for pattern in alone:
        _say(f"  {pattern}")
    missed = sorted(patterns(both["random"][1]) - {pattern for pattern, _ in both["trained"][1]})
    _say(f"patterns that only random play found: {len(missed)}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
