"""How soon `bug_reproduction` finds its planted bug: a hunter that learns from nothing, beside random play.

    python3 dojo.py run benchmarks/bug_hunt.py
    python3 dojo.py run benchmarks/bug_hunt.py --seeds 3 --cap 20000 --json hunt.json

All play 32 worlds in two processes until the first reproduction:

- *learning*: a hunter that starts untrained; every decision of its training counts;
- *trained*: the same hunter after `--training` decisions, which do not count;
- *noise*: actions of an untrained policy, which never learns: a normal distribution, cut at the limits;
- *random*: actions drawn evenly from the action space.

Decisions of all worlds are counted; those of learning to the end of its rollout of 1,024. Seconds count from the first
decision. A seed that finds nothing within the cap counts as the cap.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

GAME = "bug_reproduction"
WORLDS = 32


class Hunt(NamedTuple):
    """One seed's first reproduction."""

    decisions: int
    episodes: int
    seconds: float
    is_found: bool


def learning(seed: int, cap: int, training: int) -> tuple[Hunt, Hunt]:
    """The first reproduction of a hunter that starts untrained, and that of the trained one."""
    from godojo import train
    from godojo.evaluation.players import players_of

    first: list[Hunt] = []

    def watch(status: Any) -> bool:
        is_found = status.metrics.get("hunter/rollout/success_rate", 0.0) > 0.0
        if not first and (is_found or status.agent_steps >= cap):
            first.append(Hunt(status.agent_steps, status.episodes, status.seconds, is_found))
        return not first or status.agent_steps < training

    run = train(GAME, steps=cap, seed=seed, run_id=f"hunt-{seed}", force=True, progress=watch)
    hunter = players_of(str(run.path), seed=seed, deterministic=False)["hunter"]

    def play(worlds: Any) -> None:
        hunter.act(worlds, worlds.roles["hunter"].action)

    return first[0], hunt(seed, cap, play, hunter.begin)


def drawn(seed: int, cap: int, draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]) -> Hunt:
    """The first reproduction by actions that are drawn without looking."""
    rng = np.random.default_rng(seed)

    def play(worlds: Any) -> None:
        action = worlds.roles["hunter"].action
        action[:] = draw(rng, action.shape)

    return hunt(seed, cap, play)


def hunt(seed: int, cap: int, play: Callable[[Any], None], begin: Callable[[Any], None] = lambda _: None) -> Hunt:
    from godojo.engines.godot.game_source import GameSource
    from godojo.games.base import SCENE_GAMES

    source = GameSource.of_scene(SCENE_GAMES[GAME], processes=2)
    episodes = decisions = 0
    is_found = False
    with source.open(seed=seed, usual_worlds=WORLDS) as worlds:
        begin(worlds)
        start = time.perf_counter()
        while decisions < cap and not is_found:
            play(worlds)
            worlds.step()
            decisions += WORLDS
            episodes += int(worlds.ended.sum())
            is_found = bool((worlds.winner[worlds.ended] == 1).any())
        return Hunt(decisions, episodes, time.perf_counter() - start, is_found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--cap", type=int, default=60_000, help="decisions after which a seed gives up")
    parser.add_argument("--training", type=int, default=16_000, help="decisions of the trained hunter's training")
    parser.add_argument("--json", type=Path, help="write every seed's figures there")
    args = parser.parse_args()
    found: dict[str, list[Hunt]] = {"learning": [], "trained": [], "noise": [], "random": []}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        for seed in range(1, args.seeds + 1):
            ones = (
                *learning(seed, args.cap, args.training),
                drawn(seed, args.cap, lambda rng, shape: rng.normal(size=shape).clip(-1.0, 1.0)),
                drawn(seed, args.cap, lambda rng, shape: rng.uniform(-1.0, 1.0, shape)),
            )
            for hunts, one in zip(found.values(), ones, strict=True):
                hunts.append(one)
            cells = (f"{name} {_one(hunts[-1])}" for name, hunts in found.items())
            _say(f"seed {seed}: " + "; ".join(cells))
            if args.json:
                args.json.write_text(json.dumps({key: [x._asdict() for x in found[key]] for key in found}))
    random = statistics.median(one.decisions for one in found["random"])
    _say(f"\nmedian of {args.seeds} seeds (quartiles)")
    for name, hunts in found.items():
        ratio = random / statistics.median(one.decisions for one in hunts)
        count = sum(one.is_found for one in hunts)
        _say(f"{name:9} {count} of {len(hunts)} found it: {_quartiles(hunts)}; {ratio:.1f} times sooner than random")


def _one(hunt: Hunt) -> str:
    return f"{hunt.decisions:,}" if hunt.is_found else f"none in {hunt.decisions:,}"


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
