"""What dojo/1 gains over HTTP: decisions a second of navigation in the real Godot, both ways in turn.

And what a busy client costs a game that goes by the clock: frames a second without and with one.

python3 dojo.py run benchmarks/http_speed.py                  five seconds each
python3 dojo.py run benchmarks/http_speed.py --seconds 1      the short form
"""

import argparse
import sys
import time

import numpy as np

import godojo
from godojo.engines.base import Worlds
from godojo.engines.godot.http_worlds import HttpWorlds
from tests.http_games import started_game


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--worlds", type=int, default=64, help="of dojo/1, where there are many")
    wanted = parser.parse_args()
    with started_game("navigation") as game, HttpWorlds(game.url, token=game.token, scene="course") as worlds:
        say("HTTP, one world", measured(worlds, wanted.seconds))
    for count in (1, wanted.worlds):
        with godojo.make_vec("navigation", engine="godot", num_worlds=count) as many:
            say(f"dojo/1, {count} worlds in one process", measured(many, wanted.seconds))
    with started_game("navigation", paced=True) as game, HttpWorlds(game.url, token=game.token) as worlds:
        for what, play in (("idle", time.sleep), ("busy", lambda seconds: measured(worlds, seconds))):
            before, begun = worlds.clients[0].get_performance_metrics(), time.perf_counter()
            play(wanted.seconds)
            after, took_s = worlds.clients[0].get_performance_metrics(), time.perf_counter() - begun
            ticks = (after.engine.physics_frames - before.engine.physics_frames) / took_s
            sys.stdout.write(f"by the clock, {what}: {ticks:.1f} physics ticks/s, {after.engine.fps:.0f} frames/s\n")
    return 0


def measured(worlds: Worlds, seconds: float) -> float:
    """Decisions of all worlds in a second, by random play."""
    chance = np.random.default_rng(0)
    action = worlds.roles["walker"].action
    worlds.step()
    decisions, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        action[:] = chance.uniform(-1, 1, action.shape)
        worlds.step()
        decisions += worlds.num_worlds
    return decisions / (time.perf_counter() - begun)


def say(what: str, per_s: float) -> None:
    sys.stdout.write(f"{what}: {per_s:.0f} decisions/s\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
