"""Drives a game with the `godot-rl` package as its users do, and says in JSON what it saw. Run as a program.

Words: what to do, the game's file, the port, and the launch options in JSON.
"""

import json
import sys
from typing import Any

import numpy as np

DECISIONS = 400


def play(file: str | None, port: int, options: dict[str, Any]) -> dict[str, Any]:
    """Random play, agent by agent, as the package's own example does it."""
    from godot_rl.core.godot_env import GodotEnv  # type: ignore[import-not-found]

    env = GodotEnv(env_path=file, port=port, **options)
    observations, _ = env.reset()
    told = {
        "agents": env.num_envs,
        "policies": env.agent_policy_names,
        "spaces": [{key: list(space.shape) for key, space in each.spaces.items()} for each in env.observation_spaces],
        "actions": [{key: str(space) for key, space in each.spaces.items()} for each in env.action_spaces],
        "first": [_numbers(each) for each in observations],
    }
    steps = []
    for _ in range(DECISIONS):
        actions = [[space.sample() for space in each.spaces] for each in env.tuple_action_spaces]
        observations, reward, done, _, info = env.step(actions, order_ij=True)
        given = [[np.atleast_1d(part).tolist() for part in each] for each in actions]
        seen = [_numbers(each) for each in observations]
        steps.append({"action": given, "seen": seen, "reward": reward, "done": done, "info": info})
    told["called"] = env.call("queue_free")
    observations, _ = env.reset()
    told["again"] = [_numbers(each) for each in observations]
    env.close()
    told["code"] = env.proc.wait(10) if env.proc else None
    return {**told, "steps": steps}


def learn(file: str | None, port: int, options: dict[str, Any]) -> dict[str, Any]:
    """A little PPO of Stable-Baselines3 through the package's wrapper."""
    from godot_rl.wrappers.stable_baselines_wrapper import StableBaselinesGodotEnv  # type: ignore[import-not-found]
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env.vec_monitor import VecMonitor

    env = VecMonitor(StableBaselinesGodotEnv(env_path=file, port=port, **options))
    model = PPO("MultiInputPolicy", env, n_steps=64, batch_size=64, n_epochs=1, device="cpu")
    model.learn(256)
    env.close()
    return {"agents": env.num_envs, "steps": model.num_timesteps}


def _numbers(observation: dict[str, Any]) -> dict[str, Any]:
    return {key: np.asarray(value).tolist() for key, value in observation.items()}


if __name__ == "__main__":
    _, what, game, port, options = sys.argv
    done = {"play": play, "learn": learn}[what](game or None, int(port), json.loads(options))
    print(f"\n{json.dumps(done)}")  # noqa: T201 - this is its answer
