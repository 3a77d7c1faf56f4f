"""Every number of the game of tag, typed and checked. The defaults live beside the Godot game, and nowhere else.

The limits are those of `settings_limits.json` there; both engines read both files.
"""

import difflib
import math
from typing import Any, Literal, Self

import msgspec

from godojo.errors import GodojoError
from godojo.resources import godot_sources

TICK_S = 1.0 / 60.0
MAX_AGENTS = 8
MAX_RAYS = 256


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the settings."""


class Rules(_Section, frozen=True):
    """How a round is played."""

    mode: Literal["hide_and_seek", "classic"]
    seekers: int
    hiders: int
    players: int
    """In classic tag, where one of them is it."""
    round_s: float
    classic_round_s: float
    immunity_s: float
    """How long both parties of a classic tag can neither tag nor be tagged."""
    touch_reach_m: float
    """Gap between two bodies that still counts as a touch."""
    ticks_per_decision: int


class Body(_Section, frozen=True):
    """The agents' bodies."""

    size_m: float


class Motion(_Section, frozen=True):
    """How agents move. A seeker's numbers also hold for whoever is it, a hider's for whoever is not."""

    seeker_speed_mps: float
    hider_speed_mps: float
    ground_acceleration_mps2: float
    air_acceleration_mps2: float
    deceleration_mps2: float
    """On the ground, without a wish to move."""
    turn_rate_radps: float
    gravity_mps2: float
    jump_speed_mps: float
    fall_speed_mps: float
    coyote_s: float
    """How long after leaving the ground a jump is still possible."""
    dead_zone: float
    """A wish shorter than this is no wish."""
    push_acceleration_mps2: float
    """How strongly overlapping bodies that cannot tag each other drift apart."""
    skin_m: float
    """Gap that a stopped body keeps from what stopped it."""


class SightRow(_Section, frozen=True):
    """A row of rays, spread evenly over the field of view."""

    elevation_deg: float
    columns: int


class Sight(_Section, frozen=True):
    """The agents' eyes."""

    fov_deg: float
    range_m: float
    eye_height_m: float
    """Above the body's centre."""
    rows: tuple[SightRow, ...]


class Spawns(_Section, frozen=True):
    """Where rounds begin."""

    distance_m: float
    """Wanted between opponents."""
    tries: int
    """Random placings looked at before the best one is taken."""


class RewardWeights(_Section, frozen=True):
    """Weights of the four terms of one role's reward."""

    distance_per_m: float
    """Per metre by which the nearest opponent got farther away."""
    time_per_decision: float
    tag: float
    """Per tag made (seeker) or suffered (hider)."""
    survival: float
    """Once, when the clock runs out."""


class Rewards(_Section, frozen=True):
    """What counts, for either role."""

    seeker: RewardWeights
    hider: RewardWeights


class Shell(_Section, frozen=True):
    """What all arenas share: floor, ceiling and outer walls."""

    wall_height_m: float
    """What is seen of the outer walls; scales heights in the observation."""
    collider_height_m: float
    thickness_m: float


class TagSettings(_Section, frozen=True):
    """All of them."""

    rules: Rules
    body: Body
    motion: Motion
    sight: Sight
    spawns: Spawns
    rewards: Rewards
    arena: Shell

    @classmethod
    def defaults(cls) -> Self:
        return cls.from_json((godot_sources() / "games/tag/settings.json").read_bytes())

    @classmethod
    def from_json(cls, text: bytes | str) -> Self:
        """Checked in full; GodojoError names the setting and the reason."""
        try:
            settings = msgspec.convert(whole_numbers(msgspec.json.decode(text)), cls)
        except (msgspec.DecodeError, RecursionError) as error:
            raise GodojoError(f"settings: {error}") from None
        settings.check()
        return settings

    def to_json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2)

    def override(self, **values: object) -> Self:
        """A copy with some values changed, each named by its path: `override(**{"motion.gravity_mps2": 20})`."""
        tree = msgspec.to_builtins(self)
        for path, value in values.items():
            *sections, name = path.split(".")
            branch = tree
            for section in sections:
                branch = branch.get(section, {}) if isinstance(branch, dict) else {}
            if not isinstance(branch, dict) or name not in branch:
                raise GodojoError(f"there is no setting {path!r}{_nearest(path)}")
            branch[name] = value
        return type(self).from_json(msgspec.json.encode(tree))

    def override_texts(self, texts: list[str]) -> Self:
        """The same from texts, as on a command line: `motion.gravity_mps2=20`."""
        values: dict[str, object] = {}
        for text in texts:
            path, found, word = text.partition("=")
            if not found:
                raise GodojoError(f"{text!r} is no setting; write it as motion.gravity_mps2=20")
            try:
                values[path.strip()] = msgspec.json.decode(word)
            except msgspec.DecodeError:
                values[path.strip()] = word.strip()
        return self.override(**values)

    def check(self) -> None:
        flat = flatten(msgspec.to_builtins(self))
        for path, (least, most) in _limits().items():
            value = flat[path]
            if not math.isfinite(value) or not least <= value <= most:
                raise GodojoError(f"{path} must be from {least} to {most}, not {value}")
        if self.rules.seekers + self.rules.hiders > MAX_AGENTS:
            raise GodojoError(f"rules.hiders: there can be {MAX_AGENTS} agents in all")
        if abs(self.sight.eye_height_m) >= self.body.size_m / 2:
            raise GodojoError("sight.eye_height_m: the eye must be inside the body")
        if not self.sight.rows or not 1 <= self.ray_count <= MAX_RAYS:
            raise GodojoError(f"sight.rows: there must be from 1 to {MAX_RAYS} rays")
        for row in self.sight.rows:
            if row.columns < 1 or not abs(row.elevation_deg) <= 89.0:
                raise GodojoError("sight.rows: a row has at least one column and an elevation from -89 to 89")

    @property
    def agent_count(self) -> int:
        return self.rules.players if self.rules.mode == "classic" else self.rules.seekers + self.rules.hiders

    @property
    def ray_count(self) -> int:
        return sum(row.columns for row in self.sight.rows)

    @property
    def round_length_s(self) -> float:
        return self.rules.classic_round_s if self.rules.mode == "classic" else self.rules.round_s

    @property
    def round_ticks(self) -> int:
        return max(ticks_in(self.round_length_s), 1)


def whole_numbers(tree: Any) -> Any:
    """The same with 2.0 written as 2: JSON does not tell them apart, and neither does Godot."""
    if isinstance(tree, dict):
        return {name: whole_numbers(value) for name, value in tree.items()}
    if isinstance(tree, list):
        return [whole_numbers(value) for value in tree]
    return int(tree) if isinstance(tree, float) and tree.is_integer() else tree


def ticks_in(seconds: float) -> int:
    """As many ticks as Godot's `roundi` gives: halves are rounded up."""
    return math.floor(seconds / TICK_S + 0.5)


def flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Every value by its path."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        path = f"{prefix}{name}"
        flat |= flatten(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return flat


def _limits() -> dict[str, tuple[float, float]]:
    text = (godot_sources() / "games/tag/settings_limits.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, tuple[float, float]])


def _nearest(path: str) -> str:
    known = list(flatten(msgspec.to_builtins(TagSettings.defaults())))
    near = difflib.get_close_matches(path, known, n=3, cutoff=0.4)
    return f"; did you mean {' or '.join(near)}?" if near else f"; there are: {', '.join(known)}"
