"""Navigation's settings, typed and checked. Defaults and limits are JSON files beside the Godot game."""

from typing import Any, ClassVar, Literal

from godojo.errors import GodojoError
from godojo.games.parts import ObservationLayout
from godojo.games.settings import GameSettings, Section, ticks_in

FOLDER = "games/navigation"
LAYOUT = ObservationLayout.read(FOLDER)
RAYS = LAYOUT.width("rays")


class Rules(Section, frozen=True):
    """How a round is played."""

    round_s: float
    ticks_per_decision: int
    goal_within_m: float
    """The goal is the last mark within this walking distance; 0: the last mark of the route."""
    mark_radius_m: float
    mark_height_m: float
    fall_below_m: float
    """Depth below the course's lowest ground that counts as a fall."""
    collision_again_s: float
    """Pause before another contact counts."""


class Motion(Section, frozen=True):
    """How the walker moves."""

    turn: Literal["smooth", "snap"]
    speed_mps: float
    turn_rate_degps: float
    smoothing_s: float
    """Time constant with which the motion follows the action."""
    snap_deg: float
    teleport_m: float
    """How far a teleport goes; 0: there is none, and the action has three numbers."""
    gravity_mps2: float
    fall_speed_mps: float
    body_m: float
    """Edge of the cube that bumps into things."""
    step_up_m: float
    skin_m: float
    """Gap between a stopped body and the obstacle."""


class Rig(Section, frozen=True):
    """Where head and hands are."""

    eye_height_m: float
    lean_rad: float
    """Roll of the head at full turn."""
    hand_side_m: float
    hand_height_m: float
    hand_ahead_m: float
    swing_m: float
    lift_m: float
    stride_radpm: float


class SightRow(Section, frozen=True):
    """A row of rays, spread evenly over its field of view."""

    elevation_deg: float
    fov_deg: float
    columns: int


class Sight(Section, frozen=True):
    """The rays."""

    height_m: float
    """Above the feet."""
    range_m: float
    rows: tuple[SightRow, ...]


class Comfort(Section, frozen=True):
    """Losses of comfort, and the fractions of the limits from which they apply."""

    turn_share: float
    turn_loss: float
    speed_share: float
    speed_loss: float
    roll_rad: float
    roll_loss: float
    warn_below: float
    """A decision less comfortable than this is a warning."""


class Rewards(Section, frozen=True):
    """Reward weights."""

    goal: float
    progress_per_m: float
    smooth: float
    """For each decision, times how little the action changed."""
    smooth_per_m: float
    """The same for each metre of new ground."""
    comfort: float
    """For each decision, times comfort."""
    comfort_per_m: float
    """The same for each metre of new ground."""
    comfort_warning: float
    """For each decision with a comfort warning, within the same term."""
    collision: float
    fall: float
    timeout: float
    teleport: float


class NavigationSettings(GameSettings, frozen=True):
    """All of them."""

    folder: ClassVar[str] = FOLDER

    rules: Rules
    motion: Motion
    rig: Rig
    sight: Sight
    comfort: Comfort
    rewards: Rewards

    @classmethod
    def with_defaults(cls, values: dict[str, Any]) -> dict[str, Any]:
        rewards = values.get("rewards")
        if isinstance(rewards, dict) and "comfort_per_m" in rewards:  # older files know no reward per decision
            values = {**values, "rewards": {"smooth": 0.0, "comfort": 0.0, **rewards}}
        return super().with_defaults(values)

    def check(self) -> None:
        super().check()
        rays = sum(row.columns for row in self.sight.rows)
        if rays != RAYS:
            raise GodojoError(f"sight.rows: there must be {RAYS} rays in all, not {rays}")

    @property
    def round_ticks(self) -> int:
        return max(ticks_in(self.rules.round_s), 1)
