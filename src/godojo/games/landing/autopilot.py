"""A scripted pilot, as a baseline: falls, brakes late, and steers towards the pad meanwhile."""

from typing import Any

import numpy as np

from godojo.games.landing.settings import LAYOUT, LandingSettings
from godojo.opponents import Opponent

BRAKING_MPS2, FASTEST_MPS, TOUCHDOWN_MPS = 4.0, 60.0, 1.0
SLOW_M = 7.0
"""Height of the last, slow stretch."""
FOLLOW_S = 0.7
"""How soon it wants to have the velocity that it aims for."""


class Autopilot(Opponent):
    """Follows the velocity that braking evenly down to the pad would have at each height."""

    keeps = ()

    def begin(self, worlds: Any) -> None: ...

    def act(self, worlds: Any, out: np.ndarray) -> None:
        out[:] = steered(worlds.settings, worlds.roles[self.role].observation)


def steered(settings: LandingSettings, observation: np.ndarray) -> np.ndarray:
    """Actions [..., 5] from observations [..., 14]."""
    parts = {name: LAYOUT.view(observation, name) for name in LAYOUT.names}
    way_m = parts["pad_direction"] * parts["pad_distance"] * 1000.0
    velocity_mps = parts["velocity"] * 50.0
    height_m = np.maximum(-way_m[..., 1:2], 0.0)
    sink_mps = np.minimum(np.sqrt(2.0 * BRAKING_MPS2 * np.maximum(height_m - SLOW_M, 0.0)), FASTEST_MPS) + TOUCHDOWN_MPS
    left_s = np.maximum(height_m / 25.0, 2.0)
    wanted_mps = np.concatenate([np.clip(way_m[..., :1] / left_s, -20.0, 20.0), -sink_mps], axis=-1)
    wanted_mps = np.concatenate([wanted_mps, np.clip(way_m[..., 2:] / left_s, -20.0, 20.0)], axis=-1)
    push_mps2 = (wanted_mps - velocity_mps) / FOLLOW_S
    push_mps2[..., 1] += settings.craft.gravity_mps2
    thrust = np.clip(push_mps2 * settings.craft.mass_kg / max(settings.craft.thrust_n, 1.0), (-1, 0, -1), 1)
    thrust[..., 1] = 2.0 * thrust[..., 1] - 1.0
    torque = -4.0 * np.pi * parts["rotation"] - 4.0 * parts["angular_velocity"][..., ::2]
    return np.concatenate([thrust, np.clip(torque, -1.0, 1.0)], axis=-1)
