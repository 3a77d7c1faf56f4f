"""Drives a game with the `godot-rl` package from PyPI for a while and says how fast that was. Run as a program.

Words: the game's file, the port, worlds, seconds. The package is found on PYTHONPATH.
"""

import importlib
import json
import sys
import time

WARM_UP = 10
RING = 16
"""Sets of random actions, drawn beforehand and used in turn."""


def main(game: str, port: int, worlds: int, seconds: float) -> dict[str, float]:
    """Random play through the package's own environment, as its users call it."""
    package = importlib.import_module("godot_rl.core.godot_env")
    env = package.GodotEnv(env_path=game, port=port, framerate=60, action_repeat=4, worlds=worlds)
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
    _, _game, _port, _worlds, _seconds = sys.argv
    sys.stdout.write(f"\n{json.dumps(main(_game, int(_port), int(_worlds), float(_seconds)))}\n")
