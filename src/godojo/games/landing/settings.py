"""Landing's settings, typed and checked. Defaults and limits are JSON files beside the Godot game."""

from typing import ClassVar

from godojo.errors import GodojoError
from godojo.games.parts import ObservationLayout
from godojo.games.settings import GameSettings, Section

FOLDER = "games/landing"
LAYOUT = ObservationLayout.read(FOLDER)
TICKS_PER_SECOND = 90


class Rules(Section, frozen=True):
    """When a landing is good, and when a round ends."""

    max_ticks: int
    """The round ends after this many ticks."""
    ticks_per_decision: int
    soft_mps: float
    """A touchdown slower than this is soft."""
    rough_mps: float
    """One slower than this is rough, any other a crash."""
    pad_radius_m: float
    low_altitude_m: float
    """Below this altitude, slow flight is rewarded."""
    low_speed_mps: float
    """Vertical speed that counts as slow there."""
    lowest_altitude_m: float
    """A craft below this altitude has missed the ground; it counts as a crash."""
    observed_fuel: int
    """1: the observation has a 15th number, the fuel that is left."""


class Start(Section, frozen=True):
    """Where rounds begin; all uniformly distributed."""

    min_altitude_m: float
    max_altitude_m: float
    offset_m: float
    """Largest distance from the pad, along x and along z."""
    drift_mps: float
    """Largest speed along x and along z."""
    sink_mps: float
    """Largest speed downwards."""


class Craft(Section, frozen=True):
    """The spacecraft. Its mass does not change, and its inertia is the same about every axis."""

    mass_kg: float
    inertia_kgm2: float
    thrust_n: float
    torque_nm: float
    fuel_s: float
    """The tank: seconds of full thrust."""
    gravity_mps2: float
    linear_damp: float
    angular_damp: float
    hull_radius_m: float
    """The hull is a ball around the centre of mass."""
    foot_radius_m: float
    """Each of the four feet is a ball."""
    foot_out_m: float
    """Of a foot's centre, along x and along z."""
    foot_down_m: float
    """Of a foot's centre, below the centre of mass."""


class Rewards(Section, frozen=True):
    """Reward weights. The last five are off by default; see the preset `guided`."""

    distance: float
    """For each tick, divided by the distance from the pad in metres (1 at least)."""
    slow: float
    """For each tick of slow flight at low altitude."""
    soft: float
    rough: float
    crash: float
    pad: float
    """For a touchdown of any kind within `rules.pad_radius_m`."""
    timeout: float
    progress_per_m: float
    """For each metre closer to the pad."""
    approach: float
    """For each unit by which the logarithm of 1 m plus the distance from the pad falls: closing in from 20 m to 10 m
    counts about as much as from 200 m to 100 m."""
    braking_per_mps: float
    """For each m/s less above the speed that even braking at 3 m/s² brings down to 1 m/s by its edge."""
    upright_per_rad: float
    """For each radian more upright."""
    fuel_per_s: float
    """For each second of full thrust."""


class LandingSettings(GameSettings, frozen=True):
    """All of them."""

    folder: ClassVar[str] = FOLDER
    ticks_per_second: ClassVar[int] = TICKS_PER_SECOND

    rules: Rules
    start: Start
    craft: Craft
    rewards: Rewards

    def check(self) -> None:
        super().check()
        if self.start.min_altitude_m > self.start.max_altitude_m:
            raise GodojoError("start.min_altitude_m must not be above start.max_altitude_m")

    @property
    def standing_m(self) -> float:
        """Height of the centre of mass above level ground on which the craft stands."""
        return self.craft.foot_down_m + self.craft.foot_radius_m
