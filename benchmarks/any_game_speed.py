"""How fast small godot_rl games step through our client and through godot_rl's own, light games and a heavy one.

    python3 dojo.py run benchmarks/any_game_speed.py
    python3 dojo.py run benchmarks/any_game_speed.py --games chase crowd --seconds 5 --turns 7

The games are scenes of tests/godot_rl_games/arcade with action_repeat 4, played at random in one process each. A turn
measures both clients once, one right after the other. The table has medians over the turns, in decisions of all agents
per second; the last column is the median of the turns' ratios, which other work on the machine changes less.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.any_game import one_game, say
from godojo import open_game
from godojo.bench.bridge import fetched_package, game_by_godot_rl
from godojo.bench.measure import RING, agent_count, random_actions, speed
from godojo.engines.godot.find import find
from godojo.engines.godot.report import Silent
from godojo.engines.godot.worlds import GodotWorlds

GAMES = ("chase", "driving", "jumper", "crowd")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=GAMES)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--turns", type=int, default=5)
    wanted = parser.parse_args()
    package = fetched_package(Silent())
    if package is None:
        raise SystemExit("the godot-rl package cannot be fetched")
    say("| game | Godojo | godot_rl | times |")
    say("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for game in wanted.games:
            project = one_game(game, Path(folder) / game)
            words = [str(find().program), "--path", str(project)]
            with open_game(project, num_processes=1, seed=1) as worlds:
                turns = [
                    (ours(worlds, wanted.seconds), game_by_godot_rl(words, package, 1, wanted.seconds))
                    for _ in range(wanted.turns)
                ]
            mine, theirs = (statistics.median(column) for column in zip(*turns, strict=True))
            times = statistics.median(one / other for one, other in turns)
            say(f"| {game} | {mine:,.0f} | {theirs:,.0f} | {times:.1f} |")


def ours(worlds: GodotWorlds, seconds: float) -> float:
    ring = random_actions(worlds)
    return speed(lambda turn: worlds.step(ring[turn % RING]), agent_count(worlds), seconds)


if __name__ == "__main__":
    main()
