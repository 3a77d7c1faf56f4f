"""The parameters of a family member: drawn anew for training, fixed by number for judging."""

from typing import Annotated, Any

import msgspec
import numpy as np

from godojo.kernels.compile import device_kernel
from godojo.kernels.random import randint, uniform

BANDS = 8
"""Each range has twice as many bands: training draws from the even ones, judging from the odd ones."""
HELD_OUT_SEED = 0x7A6


def _from(low: float, high: float) -> msgspec.Meta:
    return msgspec.Meta(ge=low, le=high)


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """How a member of the family plays its style; the limits are those of the draw."""

    lead: Annotated[float, _from(0.6, 1.1)] = 0.9
    """Seeker: share of the hider's velocity that is expected to last."""
    brake: Annotated[float, _from(0.5, 1.0)] = 1.0
    """Seeker: how early it brakes before corners and turns."""
    leap_m: Annotated[float, _from(2.5, 7.0)] = 5.0
    """Leaper: jumps at a hider that is no farther than this."""
    patience_s: Annotated[float, _from(0.5, 2.0)] = 1.0
    """Ambusher: how long it waits behind a corner."""
    memory_s: Annotated[float, _from(1.5, 4.0)] = 3.0
    """How long it acts on a sighting."""
    alarm_m: Annotated[float, _from(4.0, 9.0)] = 7.0
    """Hider: a seeker nearer than this is a danger."""
    dodge_s: Annotated[float, _from(0.4, 0.8)] = 0.55
    """Hider: it sidesteps or jumps when a seeker is this close to touching it."""
    clearance_m: Annotated[float, _from(0.05, 0.5)] = 0.15
    """Circler: distance it keeps from the pillar."""
    double_s: Annotated[float, _from(0.5, 1.2)] = 0.8
    """Doubler: how long it runs back."""

    @classmethod
    def draw(cls, rng: np.random.Generator, *, held_out: bool = False) -> "Traits":
        """A random member: one that training may meet, or a held-out one that it never draws."""
        values = {}
        for name, (low, high) in zip(cls.__struct_fields__, RANGES, strict=True):
            band = 2 * rng.integers(BANDS) + held_out
            values[name] = float(low + (high - low) * (band + rng.random()) / (2 * BANDS))
        return cls(**values)

    @classmethod
    def numbered(cls, style: str, number: int) -> "Traits":
        """The held-out member of a style with this number."""
        return cls.draw(np.random.default_rng([HELD_OUT_SEED, *style.encode(), number]), held_out=True)


def _ranges() -> np.ndarray:
    fields: Any = msgspec.inspect.type_info(Traits)
    return np.array([(field.type.ge, field.type.le) for field in fields.fields], np.float32)


RANGES = _ranges()
TRAIT_FIELDS: list[Any] = [("traits", "f4", len(RANGES))]
LEAD, BRAKE, LEAP_M, PATIENCE_S, MEMORY_S, ALARM_M, DODGE_S, CLEARANCE_M, DOUBLE_S = range(len(RANGES))


@device_kernel
def draw_traits(mind: Any, ranges: np.ndarray) -> None:
    """As `Traits.draw` for training, from the agent's own stream."""
    for trait in range(ranges.shape[0]):
        band = 2 * randint(mind, BANDS)
        mind.traits[trait] = ranges[trait, 0] + (ranges[trait, 1] - ranges[trait, 0]) * (band + uniform(mind)) / (
            2.0 * BANDS
        )
