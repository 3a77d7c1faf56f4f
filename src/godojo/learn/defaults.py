"""PPO's defaults for a game that nobody has tuned it for, from the number of its agents that play at once.

A game with few agents gives few samples per second, so each sample is used for many gradient steps: a rollout of about
`ROLLOUT` samples, minibatches of `BATCH` and up to `MAX_EPOCHS` passes, as is usual with Stable-Baselines3. A game with
thousands of agents gives more samples than an update can use several times: one pass in larger minibatches.
"""

from collections.abc import Mapping
from typing import Any

from godojo.engines.base import Worlds

ROLLOUT = 2048
"""Samples of a role between two updates, at least."""
BATCH = 256
"""Samples of a role per gradient step."""
MAX_BATCH = 1024
"""The same for games with many agents."""
SEQUENCE = 32
"""Decision steps through which memory is trained, and the shortest rollout."""
MAX_STEPS = 1024
MAX_EPOCHS = 5
SAMPLES_REUSED = 512
"""Agents from which on every sample is used once."""

SHOWN = ("n_steps", "sequence_length", "n_minibatches", "n_epochs", "learning_rate", "gamma", "normalize_reward")


def ppo_defaults(worlds: Worlds, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of PPO for these worlds; those that are `given` are kept, and the others fit them."""
    agents = min(role.acted.size for role in worlds.roles.values())
    steps = int(given.get("n_steps", _power_of_two(ROLLOUT / agents, SEQUENCE, MAX_STEPS)))
    batch = BATCH if agents * steps <= 2 * ROLLOUT else MAX_BATCH
    derived = {
        "num_worlds": worlds.num_worlds,
        "n_steps": steps,
        "sequence_length": SEQUENCE if steps % SEQUENCE == 0 and steps > SEQUENCE else 0,
        "n_minibatches": max(agents * steps // batch, 1),
        "n_epochs": min(max(SAMPLES_REUSED // agents, 1), MAX_EPOCHS),
        "learning_rate": 1e-3,
        "final_learning_rate": 1e-4,
        "gamma": 0.99,
        "ent_coef": 0.005,
        "normalize_reward": True,
    }
    return derived | {name: value for name, value in given.items() if name in derived}


def _power_of_two(wanted: float, least: int, most: int) -> int:
    number = least
    while number < wanted and number < most:
        number *= 2
    return number
