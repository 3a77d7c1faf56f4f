"""Decisions per second of navigation in the real Godot: over HTTP by httpx and by Godojo's client, and over dojo/1.

All ways take turns, so that a busy machine slows them alike; medians over the turns are printed. Then: what a busy
client costs a game that runs in real time, in physics ticks and frames per second. Needs httpx, of the dev extra.

python3 dojo.py run benchmarks/http_speed.py                  forty turns of a tenth of a second each
python3 dojo.py run benchmarks/http_speed.py --turns 2        the short form
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack

import httpx
import msgspec
import numpy as np

import godojo
from godojo.bridge.http_messages import Step
from godojo.engines.base import Worlds
from godojo.engines.godot.http_worlds import HttpWorlds
from tests.http_games import HttpGame, started_game

GENERAL = "HTTP by httpx, one world"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each turn")
    parser.add_argument("--worlds", type=int, nargs="*", default=[1, 8, 64])
    wanted = parser.parse_args()
    with ExitStack() as stack:
        ways: dict[str, Callable[[float], float]] = {}
        general = stack.enter_context(started_game("navigation"))
        ways[GENERAL] = by_httpx(general, stack)
        for count in wanted.worlds:
            game = stack.enter_context(started_game("navigation"))
            over_http = HttpWorlds(game.url, num_worlds=count, token=game.token, scene="course")
            ways[f"HTTP, {count} worlds"] = by_worlds(stack.enter_context(over_http))
            over_dojo = godojo.make_vec("navigation", engine="godot", num_worlds=count)
            ways[f"dojo/1, {count} worlds"] = by_worlds(stack.enter_context(over_dojo))
        speeds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(wanted.turns):
            for name, measure in ways.items():
                speeds[name].append(measure(wanted.seconds))
    for name, measured in speeds.items():
        ratio = statistics.median(one / other for one, other in zip(measured, speeds[GENERAL], strict=True))
        sys.stdout.write(f"{name}: {statistics.median(measured):.0f} decisions/s, {ratio:.1f} times httpx\n")
    compare_frames(wanted.turns * wanted.seconds)
    return 0


def by_httpx(game: HttpGame, stack: ExitStack) -> Callable[[float], float]:
    """One request for each decision by a general client, its answer decoded and checked."""
    headers = {"Authorization": f"Bearer {game.token}", "Content-Type": "application/json"}
    client = stack.enter_context(httpx.Client(base_url=game.url, headers=headers, timeout=10, trust_env=False))
    chance = np.random.default_rng(0)

    def decide() -> int:
        content = msgspec.json.encode({"action": chance.uniform(-1, 1, 3).tolist()})
        answer = client.post("/rl/action", content=content)
        msgspec.json.decode(answer.raise_for_status().content, type=Step, strict=False)
        return 1

    return lambda seconds: per_second(decide, seconds)


def by_worlds(worlds: Worlds) -> Callable[[float], float]:
    """Random play in all worlds, as a trainer does it."""
    chance = np.random.default_rng(0)
    action = worlds.roles["walker"].action

    def decide() -> int:
        action[:] = chance.uniform(-1, 1, action.shape)
        worlds.step()
        return worlds.num_worlds

    return lambda seconds: per_second(decide, seconds)


def per_second(decide: Callable[[], int], seconds: float) -> float:
    decide()
    decisions, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        decisions += decide()
    return decisions / (time.perf_counter() - begun)


def compare_frames(seconds: float) -> None:
    with started_game("navigation", paced=True) as game, HttpWorlds(game.url, token=game.token) as worlds:
        client, busy = worlds.clients[0], by_worlds(worlds)
        for what, play in (("idle", time.sleep), ("busy", busy)):
            before, begun = client.get_performance_metrics(), time.perf_counter()
            play(seconds)
            after, took_s = client.get_performance_metrics(), time.perf_counter() - begun
            ticks = (after.engine.physics_frames - before.engine.physics_frames) / took_s
            sys.stdout.write(f"by the clock, {what}: {ticks:.1f} physics ticks/s, {after.engine.fps:.0f} frames/s\n")


if __name__ == "__main__":
    sys.exit(main())
