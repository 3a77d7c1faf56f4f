"""How much half-open connections, oversized frames and floods slow down a good game.

    python benchmarks/bridge_floods.py

Calm and attack by turns, since the machine has other things to do as well; the figures are medians of ratios.
"""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from godojo.bridge.listener import Listener
from tests.faults.test_bridge_floods import ATTACKS, Player, attacker, good_game

TURNS = 8
TURN_S = 0.4
START_S = 2.0
"""In which the attacker's Python starts."""


def played(player: Player, seconds: float) -> tuple[float, float]:
    """The median time and the mean processor time of a step."""
    times: list[float] = []
    begun, worked = time.monotonic(), time.process_time()
    while time.monotonic() - begun < seconds:
        before = time.perf_counter()
        player.step()
        times.append(time.perf_counter() - before)
    return float(np.median(times)), (time.process_time() - worked) / len(times)


def main() -> None:
    for name in ATTACKS:
        ratios: list[np.ndarray] = []
        with Listener(port=0) as listener, good_game(listener) as (connection, ready):
            player = Player(listener, connection, ready)
            with attacker(name, listener.port) as pid:
                played(player, START_S)
                for _ in range(TURNS):
                    os.kill(pid, signal.SIGSTOP)
                    calm = played(player, TURN_S)
                    os.kill(pid, signal.SIGCONT)
                    ratios.append(np.array(played(player, TURN_S)) / calm)
        longer, harder = np.median(ratios, axis=0)
        sys.stdout.write(
            f"{name}: {player.decision} steps, none lost; a step took {longer:.2f} times as long as in calm, "
            f"and {harder:.2f} times the trainer's processor time\n"
        )


if __name__ == "__main__":
    main()
