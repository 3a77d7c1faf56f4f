"""Plays ticks on copies of the crafts: between two decisions, and a whole round's attitude from its actions."""

from typing import Any

import numpy as np

from godojo.games.landing.settings import LandingSettings
from godojo.games.landing.sim.flight import fly, update_basis
from godojo.games.landing.sim.state import CRAFT, TERMS, numbers
from godojo.games.landing.sim.step import NOBODY, set_action, tick
from godojo.games.landing.sim.twin import LandingTwin
from godojo.games.landing.terrain import read_terrain
from godojo.kernels.compile import device_kernel, njit_nogil


def trace(twin: LandingTwin) -> tuple[np.ndarray, np.ndarray]:
    """Records [N, ticks] of the crafts after every tick of the coming `twin.step()`, and the ticks played, [N]."""
    frames = np.zeros((twin.num_worlds, twin.ticks_per_decision), CRAFT)
    played = np.zeros(twin.num_worlds, np.int32)
    terms = np.zeros(TERMS, np.float32)
    _trace(twin.numbers, twin.terrain.height_m, twin.actions, twin.crafts.copy(), terms, frames, played)
    return frames, played


def attitudes(settings: LandingSettings, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of a round, from its actions [D, 5]: the rotation [T + 1, 4] and the fuel [T + 1] after every tick."""
    craft = np.zeros(1, CRAFT)
    craft["rotation"][:, 3] = 1.0
    craft["fuel_s"] = settings.craft.fuel_s
    ticks = len(actions) * settings.rules.ticks_per_decision
    rotation, fuel_s = np.zeros((ticks + 1, 4), np.float32), np.zeros(ticks + 1)
    _fly_through(numbers(settings, read_terrain(), 0), np.asarray(actions, np.float32), craft, rotation, fuel_s)
    return rotation, fuel_s


@njit_nogil
def _trace(
    settings: np.ndarray,
    ground: np.ndarray,
    actions: np.ndarray,
    crafts: np.ndarray,
    terms: np.ndarray,
    frames: np.ndarray,
    played: np.ndarray,
) -> None:
    n = settings[0]
    for index in range(len(crafts)):
        set_action(n, crafts[index], actions[index])
        for place in range(n.ticks_per_decision):
            outcome = tick(n, ground, crafts[index], terms)
            played[index] = place + 1
            frames[index, place] = crafts[index]
            if outcome != NOBODY:
                break


@device_kernel
def keep(craft: Any, rotation: np.ndarray, fuel_s: np.ndarray, place: int) -> None:
    for axis in range(4):
        rotation[place, axis] = craft.rotation[axis]
    fuel_s[place] = craft.fuel_s


@njit_nogil
def _fly_through(
    settings: np.ndarray, actions: np.ndarray, crafts: np.ndarray, rotation: np.ndarray, fuel_s: np.ndarray
) -> None:
    n, craft, place = settings[0], crafts[0], 0
    update_basis(craft)
    keep(craft, rotation, fuel_s, 0)
    for decision in range(len(actions)):
        set_action(n, craft, actions[decision])
        for _ in range(n.ticks_per_decision):
            fly(n, craft)
            place += 1
            keep(craft, rotation, fuel_s, place)
