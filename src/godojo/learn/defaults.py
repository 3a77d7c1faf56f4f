"""PPO's defaults for a game that nobody has tuned it for, from its number of agents and from how fast it plays.

A game that gives few samples per second leaves time to learn from each of them often: up to `MAX_EPOCHS` passes over
small rollouts, about as usual with Stable-Baselines3. In a game that gives many, fresh samples are worth more: fewer
passes, down to one, in larger minibatches.
"""

import statistics
import time
from collections.abc import Mapping
from typing import Any

from godojo.engines.base import Worlds

ROLLOUT = 1024
"""Samples of a role between two updates, at least."""
BATCH = 256
"""Samples of a role per gradient step."""
MAX_BATCH = 1024
"""The same for games with many agents."""
SEQUENCE = 32
"""Decision steps through which memory is trained, and the shortest rollout."""
MAX_STEPS = 1024
MAX_EPOCHS = 10
REUSED_PER_S = 250_000
"""Samples times passes for each second of playing: two cores learn from so many in about two seconds."""
TIMED_DECISIONS = 24

SHOWN = ("n_steps", "sequence_length", "n_minibatches", "n_epochs", "learning_rate", "gamma", "normalize_reward")


def samples_per_s(worlds: Worlds, seed: int) -> float:
    """How fast a game plays, in decisions of all its agents; the games then begin anew.

    The number of decisions is fixed, so that what follows does not depend on the time they take.
    """
    taken_s = []
    for _ in range(TIMED_DECISIONS):
        begun = time.perf_counter()
        worlds.step()
        taken_s.append(time.perf_counter() - begun)
    worlds.reset(seed)
    return sum(role.acted.size for role in worlds.roles.values()) / statistics.median(taken_s)


def ppo_defaults(worlds: Worlds, given: Mapping[str, Any], samples_per_s: float) -> dict[str, Any]:
    """Settings of PPO for these worlds; those that are `given` are kept, and the others fit them."""
    agents = min(role.acted.size for role in worlds.roles.values())
    steps = given.get("n_steps")
    if not isinstance(steps, int) or steps < 1:  # a wrong value is refused with the other settings
        steps = _power_of_two(ROLLOUT / agents, SEQUENCE, MAX_STEPS)
    batch = BATCH if agents * steps <= 4 * ROLLOUT else MAX_BATCH
    derived = {
        "num_worlds": worlds.num_worlds,
        "n_steps": steps,
        "sequence_length": SEQUENCE if steps % SEQUENCE == 0 and steps > SEQUENCE else 0,
        "n_minibatches": max(agents * steps // batch, 1),
        "n_epochs": min(max(round(REUSED_PER_S / samples_per_s), 1), MAX_EPOCHS),
        "learning_rate": 1e-3,
        "final_learning_rate": 1e-4,
        "gamma": 0.99,
        "ent_coef": 0.01,
        "log_std_init": 0.0,
        "normalize_reward": True,
    }
    return derived | {name: value for name, value in given.items() if name in derived}


def _power_of_two(wanted: float, least: int, most: int) -> int:
    number = least
    while number < wanted and number < most:
        number *= 2
    return number
