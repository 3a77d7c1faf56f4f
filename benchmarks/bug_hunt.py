"""How soon `bug_reproduction` finds its planted bug: a hunter that learns from nothing, beside random play.

    python3 dojo.py run benchmarks/bug_hunt.py
    python3 dojo.py run benchmarks/bug_hunt.py --seeds 3 --cap 20000 --json hunt.json

Both play 32 worlds in two processes until the first reproduction. Decisions are counted to the end of the rollout in
which it happened (1,024 decisions), seconds from the first decision. A seed that finds nothing within the cap counts as
the cap.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

GAME = "bug_reproduction"
WORLDS = 32
ROLLOUT = 32 * WORLDS


class Hunt(NamedTuple):
    """One seed's first reproduction."""

    decisions: int
    episodes: int
    seconds: float
    is_found: bool


def learning(seed: int, cap: int) -> Hunt:
    from godojo import train

    last: list[Any] = []

    def stop_when_found(status: Any) -> bool:
        last[:] = [status]
        return not status.win_rates.get("hunter", 0.0) > 0.0

    train(GAME, steps=cap, seed=seed, run_id=f"hunt-{seed}", force=True, progress=stop_when_found)
    status = last[0]
    found = status.win_rates.get("hunter", 0.0) > 0.0
    return Hunt(status.agent_steps, status.episodes, status.seconds, found)


def random_play(seed: int, cap: int) -> Hunt:
    from godojo.engines.godot.game_source import GameSource
    from godojo.games.base import SCENE_GAMES

    rng = np.random.default_rng(seed)
    source = GameSource.of_scene(SCENE_GAMES[GAME], processes=2)
    episodes = decisions = 0
    is_found = False
    with source.open(seed=seed, usual_worlds=WORLDS) as worlds:
        role = worlds.roles["hunter"]
        start = time.perf_counter()
        while decisions < cap and not (is_found and decisions % ROLLOUT == 0):
            worlds.step({"hunter": rng.uniform(-1.0, 1.0, role.action.shape).astype(np.float32)})
            decisions += WORLDS
            episodes += int(worlds.ended.sum())
            is_found = is_found or bool((worlds.winner[worlds.ended] == 1).any())
        return Hunt(decisions, episodes, time.perf_counter() - start, is_found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--cap", type=int, default=60_000, help="decisions after which a seed gives up")
    parser.add_argument("--json", type=Path, help="write every seed's figures there")
    args = parser.parse_args()
    found: dict[str, list[Hunt]] = {"learning": [], "random": []}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        for seed in range(1, args.seeds + 1):
            for name, hunt in (("learning", learning), ("random", random_play)):
                one = hunt(seed, args.cap)
                found[name].append(one)
                _say(f"seed {seed} {name:8}" + "".join(f" {value}" for value in one))
                if args.json:
                    args.json.write_text(json.dumps({key: [x._asdict() for x in found[key]] for key in found}))
    _say(f"\nmedian of {args.seeds} seeds (quartiles)")
    for name, hunts in found.items():
        _say(f"{name:9} found by {sum(one.is_found for one in hunts)} of {len(hunts)}: {_quartiles(hunts)}")
    ratio = statistics.median(one.decisions for one in found["random"]) / statistics.median(
        one.decisions for one in found["learning"]
    )
    _say(f"learning is {ratio:.1f} times sooner, in decisions")


def _quartiles(hunts: list[Hunt]) -> str:
    texts = []
    for field, places in (("decisions", 0), ("episodes", 0), ("seconds", 1)):
        low, middle, high = np.percentile([getattr(one, field) for one in hunts], [25, 50, 75])
        texts.append(f"{middle:,.{places}f} {field} ({low:,.{places}f} to {high:,.{places}f})")
    return ", ".join(texts)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
