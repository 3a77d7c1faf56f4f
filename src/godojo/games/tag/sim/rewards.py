"""What a decision is worth: four terms, kept apart, whose sum is the reward. The twin of `tag_rewards.gd`."""

import math
from typing import Any

import numpy as np

from godojo.games.tag.spec import REWARD_TERMS
from godojo.kernels.bodies import X, Y, Z
from godojo.kernels.compile import device_kernel

DISTANCE, TIME, TAG, SURVIVAL = range(len(REWARD_TERMS))


@device_kernel
def nearest_opponent_m(n: Any, team: np.ndarray, agent: Any) -> float:
    """Distance of centres, or -1 where there is no opponent."""
    nearest = -1.0
    if not agent.active:
        return nearest
    for number in range(n.agents):
        other = team[number]
        if other.active and other.chases != agent.chases:
            x = agent.position[X] - other.position[X]
            y = agent.position[Y] - other.position[Y]
            z = agent.position[Z] - other.position[Z]
            distance = math.sqrt(x * x + y * y + z * z)
            if nearest < 0.0 or distance < nearest:
                nearest = distance
    return nearest


@device_kernel
def measure(n: Any, team: np.ndarray) -> None:
    for number in range(n.agents):
        team[number].nearest_m = nearest_opponent_m(n, team, team[number])


@device_kernel
def add_distances(n: Any, team: np.ndarray) -> None:
    """Counts how much nearer or farther the nearest opponent is than when last measured."""
    for number in range(n.agents):
        agent = team[number]
        now = np.float32(nearest_opponent_m(n, team, agent))
        if now >= 0.0 and agent.nearest_m >= 0.0:
            agent.terms[DISTANCE] += n.weights[agent.chases, DISTANCE] * (now - agent.nearest_m)
        agent.nearest_m = now


@device_kernel
def settle(n: Any, team: np.ndarray, clock_won: bool) -> None:
    """What the decision was worth: four terms, whose sum is the reward."""
    add_distances(n, team)
    for number in range(n.agents):
        agent = team[number]
        if agent.acts:
            agent.terms[TIME] += n.weights[agent.chases, TIME]
        if clock_won and agent.active:
            agent.terms[SURVIVAL] += n.weights[agent.chases, SURVIVAL]
