"""How fast small godot_rl games step through our client and through godot_rl's own, light games and a heavy one.

    python3 dojo.py run benchmarks/any_game_speed.py
    python3 dojo.py run benchmarks/any_game_speed.py --games chase crowd --seconds 5 --turns 7

The games are scenes of tests/godot_rl_games/arcade with action_repeat 4, played at random, one process each. godot_rl's
client plays them as fast as it can (`framerate=60`) and with `speedup=8`, which keeps a game to eight times the clock.
A turn measures each once, one right after the other, and the game alone: the same process, to which prepared bytes are
sent and whose answers are received without being read, so that no client can be faster. The table has medians over the
turns, in decisions of all agents per second; the last columns are medians of the turns' ratios, which other work on the
machine changes less.
"""

import argparse
import json
import statistics
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.any_game import one_game, say
from godojo import open_game
from godojo.bench.bridge import fetched_package, game_by_godot_rl
from godojo.bench.measure import RING, agent_count, random_actions, speed
from godojo.bridge.godot_rl import GodotRlSession
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
    say("| game | Godojo | godot_rl | godot_rl, speedup 8 | game alone | times godot_rl | times speedup 8 | alone |")
    say("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for game in wanted.games:
            project = one_game(game, Path(folder) / game)
            words = [str(find().program), "--path", str(project)]
            with open_game(project, num_processes=1, seed=1) as worlds:
                turns = [
                    (
                        ours(worlds, wanted.seconds),
                        game_by_godot_rl(words, package, 1, wanted.seconds),
                        game_by_godot_rl(words, package, 1, wanted.seconds, speedup=8),
                        alone(worlds, wanted.seconds),
                    )
                    for _ in range(wanted.turns)
                ]
            speeds = " | ".join(f"{statistics.median(column):,.0f}" for column in zip(*turns, strict=True))
            ratios = [(mine / best, mine / paced, least / best) for mine, best, paced, least in turns]
            times = " | ".join(f"{statistics.median(column):.2f}" for column in zip(*ratios, strict=True))
            say(f"| {game} | {speeds} | {times} |")


def ours(worlds: GodotWorlds, seconds: float) -> float:
    ring = random_actions(worlds)
    return speed(lambda turn: worlds.step(ring[turn % RING]), agent_count(worlds), seconds)


def alone(worlds: GodotWorlds, seconds: float) -> float:
    connection = worlds._games[0].connection
    assert connection is not None
    sock, session = connection._socket, connection._session
    assert isinstance(session, GodotRlSession)
    messages, received = [], memoryview(bytearray(1 << 20))
    for actions in random_actions(worlds):
        text = json.dumps({"type": "action", "action": session._words(list(actions.values()))}).encode()
        messages.append(struct.pack("<I", len(text)) + text)
    sock.settimeout(worlds._step_timeout_s)

    def step(turn: int) -> None:
        sock.sendall(messages[turn % RING])
        count = sock.recv_into(received)
        while count < 4 or count < 4 + struct.unpack_from("<I", received)[0]:
            count += sock.recv_into(received[count:])

    return speed(step, agent_count(worlds), seconds)


if __name__ == "__main__":
    main()
