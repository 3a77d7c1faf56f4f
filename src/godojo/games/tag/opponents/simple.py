"""Opponents that do not care for anybody: `random` and `wander`."""

import math
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.games.tag.opponents.eyes import FORWARD, Eyes, distance_of, make_eyes
from godojo.kernels.compile import device_kernel, njit_nogil
from godojo.kernels.random import uniform
from godojo.opponents.base import Opponent, check_out, new_memory

CHANGE_SHARE = 0.12
"""Of all decisions, how many bring a new random action."""
JUMP_SHARE = 0.15
NEAR_M = 2.5
WANDER_JUMP_SHARE = 0.01

DICE = np.dtype([("stream", "u8"), ("x", "f4"), ("z", "f4"), ("jump", "f4"), ("is_awake", "u1")], align=True)
STROLL = np.dtype([("stream", "u8"), ("angle", "f4"), ("turn", "f4"), ("is_awake", "u1")], align=True)


class RandomOpponent(Opponent):
    """Does something, and now and then something else."""

    _memory: np.ndarray | None = None

    def begin(self, worlds: Worlds) -> None:
        self._memory = new_memory(worlds, self.role, self.seed, DICE)

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        memory = check_out(worlds, self.role, out, self._memory)
        act_randomly(memory, worlds.ended, out)


class WanderOpponent(Opponent):
    """Walks about in curves, away from walls that its own eyes see; nobody interests it."""

    _memory: np.ndarray | None = None

    def begin(self, worlds: Worlds) -> None:
        self._memory = new_memory(worlds, self.role, self.seed, STROLL)
        self._eyes = make_eyes(worlds.settings)

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        memory = check_out(worlds, self.role, out, self._memory)
        stroll(self._eyes, worlds.roles[self.role].observation, memory, worlds.ended, out)


@njit_nogil
def act_randomly(memory: np.ndarray, ended: np.ndarray, out: np.ndarray) -> None:
    for world in range(len(memory)):
        for agent in range(memory.shape[1]):
            act_randomly_once(memory[world, agent], ended[world], out[world, agent])


@device_kernel
def act_randomly_once(mind: Any, ended: bool, action: np.ndarray) -> None:
    if ended or not mind.is_awake or uniform(mind) < CHANGE_SHARE:
        mind.is_awake = 1
        angle = uniform(mind) * 2.0 * math.pi
        length = math.sqrt(uniform(mind))
        mind.x = math.sin(angle) * length
        mind.z = math.cos(angle) * length
        mind.jump = 1.0 if uniform(mind) < JUMP_SHARE else -1.0
    action[0] = mind.x
    action[1] = mind.z
    action[2] = mind.jump


@njit_nogil
def stroll(eyes: Eyes, observation: np.ndarray, memory: np.ndarray, ended: np.ndarray, out: np.ndarray) -> None:
    for world in range(len(memory)):
        for agent in range(memory.shape[1]):
            stroll_on(eyes, observation[world, agent], memory[world, agent], ended[world], out[world, agent])


@device_kernel
def stroll_on(eyes: Eyes, told: np.ndarray, mind: Any, ended: bool, action: np.ndarray) -> None:
    """A smooth random course; the nearer a wall ahead, the harder it turns to the side that is more open."""
    k = eyes.known[0]
    if ended or not mind.is_awake:
        mind.is_awake = 1
        mind.angle = math.atan2(told[FORWARD], told[FORWARD + 1])
        mind.turn = 0.0
    mind.turn = 0.9 * mind.turn + 0.25 * (uniform(mind) - 0.5)
    left = 0.0
    right = 0.0
    ahead = k.range_m
    for index in range(len(eyes.level)):
        away = distance_of(k, told, eyes.level[index])
        side = eyes.level_rad[index]
        if side > 0.0:
            left += min(away, 6.0)
        else:
            right += min(away, 6.0)
        if abs(away * math.sin(side)) < 1.3 * k.half_m:
            ahead = min(ahead, away)
    if ahead < NEAR_M:
        hard = 0.15 + 0.45 * (NEAR_M - ahead) / NEAR_M
        mind.turn = hard if left > right else -hard
    mind.angle += mind.turn
    action[0] = math.sin(mind.angle)
    action[1] = math.cos(mind.angle)
    action[2] = 1.0 if uniform(mind) < WANDER_JUMP_SHARE else -1.0
