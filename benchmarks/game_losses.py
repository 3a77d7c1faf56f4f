"""Kills and freezes running games at random moments, and measures how long it takes until all worlds play on.

    python3 dojo.py run benchmarks/game_losses.py                  real Godot, tag: 25 kills, 20 freezes
    python3 dojo.py run benchmarks/game_losses.py --kills 100

Every loss is checked: its worlds are cut short (truncated, nobody acted), their last observation is the one from before
the loss, the other games' worlds do not notice, and no process is left, children included.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from godojo.engines.godot.launch import own_scene
from godojo.engines.godot.open import launch_games
from godojo.engines.godot.worlds import GodotWorlds
from godojo.games.tag.godot import TagInGodot
from tests.watched_games import Marked, pid_of

FROZEN_AFTER_S = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--freezes", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--worlds", type=int, default=8)
    wanted = parser.parse_args()
    tag = TagInGodot()
    marked = Marked(own_scene(tag.scene))
    begun = time.monotonic()
    with launch_games(
        marked.recipe,
        num_worlds=wanted.worlds,
        num_processes=wanted.processes,
        ticks_per_decision=tag.ticks_per_decision,
        options=tag.configure_options,
        settings=tag.settings,
        step_timeout_s=FROZEN_AFTER_S,
    ) as worlds:
        say(f"{wanted.processes} games with {wanted.worlds} worlds began within {time.monotonic() - begun:.2f} s")
        chance = np.random.default_rng(0)
        for name, number, count in (
            ("killed", signal.SIGKILL, wanted.kills),
            ("frozen", signal.SIGSTOP, wanted.freezes),
        ):
            times_s = [lose(worlds, number, chance) for _ in range(count)]
            if times_s:
                low, middle, high = np.percentile(times_s, (0, 50, 100))
                say(f"{name} {count} times: playing again after {low:.2f} to {high:.2f} s, median {middle:.2f} s")
        left = len(marked.running())
        expected = 2 * wanted.processes  # a game and its guard each
        say(f"{len(worlds.incidents)} losses, {left} processes while playing (expected: {expected})")
    is_clean = marked.all_gone()
    say(f"processes left behind: {len(marked.running())}")
    return 0 if is_clean and left == expected else 1


def lose(worlds: GodotWorlds, number: signal.Signals, chance: np.random.Generator) -> float:
    """Seconds from the signal to the first whole step after it."""
    for _ in range(chance.integers(5, 60)):
        act(worlds, chance)
    game = int(chance.integers(len(worlds.seats)))
    known = len(worlds.incidents)
    before = {name: role.observation.copy() for name, role in worlds.roles.items()}
    begun = time.monotonic()
    os.kill(pid_of(worlds, game), number)
    while len(worlds.incidents) == known:  # a game may just manage one more step
        before = {name: role.observation.copy() for name, role in worlds.roles.items()}
        act(worlds, chance)
    took_s = time.monotonic() - begun
    share = worlds.num_worlds // len(worlds.seats)
    lost = np.zeros(worlds.num_worlds, np.bool_)
    lost[game * share : (game + 1) * share] = True
    for name, role in worlds.roles.items():
        check("lost worlds are truncated", bool(role.truncated[lost].all() and not role.terminated[lost].any()))
        check("nobody acted there", not role.acted[lost].any() and not role.reward[lost].any())
        check("what was seen last is kept", np.array_equal(role.final_observation[lost], before[name][lost]))
        check("others do not notice", bool(role.acted[~lost].all()))
    check("their rounds ended", bool(worlds.ended[lost].all()))
    act(worlds, chance)
    check("they act again", all(bool(role.acted.all()) for role in worlds.roles.values()))
    return took_s


def act(worlds: GodotWorlds, chance: np.random.Generator) -> None:
    for role in worlds.roles.values():
        role.action[:] = chance.uniform(-1, 1, role.action.shape)
    worlds.step()


def check(what: str, is_so: bool) -> None:
    if not is_so:
        raise SystemExit(f"not so: {what}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
