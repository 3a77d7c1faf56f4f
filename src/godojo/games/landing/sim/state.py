"""The memory of the embedded game: records that kernels read and write."""

from typing import Any

import msgspec
import numpy as np

from godojo.games.landing.settings import TICKS_PER_SECOND, LandingSettings
from godojo.games.landing.spec import REWARD_TERMS
from godojo.games.landing.terrain import Terrain
from godojo.kernels.results import record_of, record_type

TERMS = len(REWARD_TERMS)
DEFAULT_GRAVITY_MPS2 = np.float32(24.0)
"""Of the Godot project, which the craft scales."""

CRAFT = np.dtype(
    [
        ("stream", "u8"),  # the world's random numbers
        ("position", "f4", 3),  # of the centre of mass
        ("velocity", "f4", 3),
        ("rotation", "f4", 4),  # a quaternion, x y z w
        ("basis", "f4", (3, 3)),  # the same as a matrix
        ("spin", "f4", 3),  # angular velocity along the world's axes
        ("thrust", "f4", 3),  # of the decision, as a fraction, in the craft's frame
        ("torque", "f4", 3),  # of the decision, in newton metres
        ("burn", "f8"),  # length of `thrust`
        ("fuel_s", "f8"),
        ("potential", "f8"),  # of the shaping reward
        ("round_terms", "f4", TERMS),
        ("ticks", "i4"),
        ("decisions", "i4"),
    ],
    align=True,
)


def _values(settings: LandingSettings, terrain: Terrain, truncate_after: int) -> dict[str, Any]:
    craft = settings.craft
    tick_s, one = np.float32(1.0 / TICKS_PER_SECOND), np.float32(1.0)
    scale = np.float32(craft.gravity_mps2 / float(DEFAULT_GRAVITY_MPS2))
    return {
        "truncate_after": truncate_after,  # decisions after which a round is truncated; 0 for never
        **msgspec.structs.asdict(settings.rules),
        **msgspec.structs.asdict(settings.start),
        "tick_s": tick_s,
        "gravity": DEFAULT_GRAVITY_MPS2 * scale,
        "inverse_mass": one / np.float32(craft.mass_kg),
        "inverse_inertia": one / np.float32(craft.inertia_kgm2),
        "thrust_n": np.float32(craft.thrust_n),
        "torque_nm": np.float32(craft.torque_nm),
        "kept_velocity": np.maximum(one - np.float32(craft.linear_damp) * tick_s, np.float32(0.0)),
        "kept_spin": np.maximum(one - np.float32(craft.angular_damp) * tick_s, np.float32(0.0)),
        "fuel_s": craft.fuel_s,
        "hull_radius_m": craft.hull_radius_m,
        "foot_radius_m": craft.foot_radius_m,
        "foot_out_m": craft.foot_out_m,
        "foot_down_m": craft.foot_down_m,
        "standing_m": settings.standing_m,
        "cell_m": terrain.cell_m,
        "half_m": terrain.half_m,
        **{f"reward_{name}": value for name, value in msgspec.structs.asdict(settings.rewards).items()},
    }


def numbers(settings: LandingSettings, terrain: Terrain, truncate_after: int) -> np.ndarray:
    """The settings as kernels read them: an array of one record."""
    values = _values(settings, terrain, truncate_after)
    return record_of(record_type(values), values)
