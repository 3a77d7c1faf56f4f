"""Drives a game with the `godot-rl` package from PyPI for a while and says how fast that was. Run as a program.

Words: the game's file, the port, worlds, seconds, and the speed-up of a game that keeps to the clock; 0 for one that
plays as fast as it can. The package is found on PYTHONPATH.
"""

import importlib
import json
import sys
import time

WARM_UP = 10
RING = 16
"""Sets of random actions, drawn beforehand and used in turn."""


def main(game: str, port: int, worlds: int, seconds: float, speedup: int) -> dict[str, float]:
    """Random play through the package's own environment, as its users call it."""
    package = importlib.import_module("godot_rl.core.godot_env")
    pace = {"speedup": speedup} if speedup else {"framerate": 60}
    env = package.GodotEnv(env_path=game, port=port, action_repeat=4, worlds=worlds, **pace)
    env.reset()
    ring = [[[space.sample() for space in each.spaces] for each in env.tuple_action_spaces] for _ in range(RING)]
    for turn in range(WARM_UP):
        env.step(ring[turn % RING], order_ij=True)
    steps, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < seconds:
        env.step(ring[steps % RING], order_ij=True)
        steps += 1
    agents = env.num_envs
    env.close()
    return {"agent_steps": steps * agents, "seconds": passed}


if __name__ == "__main__":
    _, _game, _port, _worlds, _seconds, _speedup = sys.argv
    _result = main(_game, int(_port), int(_worlds), float(_seconds), int(_speedup))
    sys.stdout.write(f"\n{json.dumps(_result)}\n")
