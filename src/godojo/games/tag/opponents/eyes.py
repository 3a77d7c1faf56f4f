"""What an opponent makes of its own observation: a rose of free distances around it, and where it saw somebody.

Nothing here looks at anything but the observation, the rules and what was remembered of earlier observations.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from godojo.games.tag.settings import TICK_S, TagSettings
from godojo.games.tag.spec import LAYOUT, RAY_DISTANCE, RAY_HIT
from godojo.kernels.bodies import X, Z
from godojo.kernels.compile import device_kernel

SECTORS = 24
"""Directions of the rose; sector s looks along the angle s * 2 pi / SECTORS, measured like a heading."""
SECTOR_RAD = 2.0 * math.pi / SECTORS
SIDEWAYS = 5
"""Sectors to either side in which something may be in a body's way."""
FAR_M = 1e3
UNKNOWN_M = 2.5
"""What is assumed of a direction not looked at for long."""
FADE = 0.03
JUMP_FROM_M = 1.9
SAFETY = 1.1

POSITION, VELOCITY, FORWARD = map(LAYOUT.start, ("position", "velocity", "forward"))
GROUNDED, IS_SEEKER = map(LAYOUT.start, ("grounded", "is_seeker"))
RAYS, NUMBERS_PER_RAY = LAYOUT.start("rays"), LAYOUT.width("rays")
SEEKER, HIDER = -1, 1

KNOWN = np.dtype(
    [
        ("range_m", "f4"),
        ("eye_m", "f4"),  # above the feet
        ("half_m", "f4"),
        ("climb_m", "f4"),  # what a jump gets onto
        ("step_s", "f4"),  # a decision
        ("seeker_speed", "f4"),
        ("hider_speed", "f4"),
        ("jump_speed", "f4"),
        ("turn_rad", "f4"),  # in a decision
        ("up_tan", "f4"),
        ("up_cos", "f4"),
        ("down_sin", "f4"),
        ("down_cos", "f4"),
        ("level_cos", "f4"),
    ],
    align=True,
)
SEEN_FIELDS: list[Any] = [
    ("stream", "u8"),
    ("rose", "f4", SECTORS),  # how far it is free to walk, low things that can be jumped left out
    ("low", "f4", SECTORS),  # how far away something low is
    ("before_x", "f4"),  # own velocity at the last decision
    ("before_z", "f4"),
    ("moved_x", "f4"),  # since then, by own velocity
    ("moved_z", "f4"),
    ("heading", "f4"),
    ("is_awake", "u1"),  # has seen anything in this round
    ("sees", "u1"),  # an opponent, now
    ("seen_x", "f4"),  # where, relative to itself
    ("seen_z", "f4"),
    ("seen_up", "f4"),  # height of what was seen, above its own eye
]


class Eyes(NamedTuple):
    """The layout of the rays, and the rules."""

    known: np.ndarray
    level: np.ndarray
    """Rays of the row that looks most level."""
    level_rad: np.ndarray
    above: np.ndarray
    """For each of them the ray above it, or -1."""
    down: np.ndarray
    down_rad: np.ndarray
    all_rad: np.ndarray
    all_cos: np.ndarray
    all_sin: np.ndarray
    unit: np.ndarray
    """x and z along each sector."""


def make_eyes(settings: TagSettings) -> Eyes:
    sight, motion = settings.sight, settings.motion
    first, rows = 0, []
    for row in sight.rows:
        shares = [0.5] if row.columns == 1 else [column / (row.columns - 1) for column in range(row.columns)]
        side = np.radians(sight.fov_deg) * (0.5 - np.array(shares))
        rows.append((math.radians(row.elevation_deg), np.arange(first, first + row.columns), side))
        first += row.columns
    level = min(rows, key=lambda row: (abs(row[0]), -len(row[1])))
    ups = [row for row in rows if row[0] > level[0] + 0.02]
    downs = [row for row in rows if row[0] < level[0] - 0.02]
    up = min(ups, key=lambda row: row[0]) if ups else (0.5, np.array([-1]), np.zeros(1))
    down = max(downs, key=lambda row: row[0]) if downs else (-0.5, np.zeros(0, np.int64), np.zeros(0))
    known = np.zeros(1, KNOWN)
    known["range_m"] = sight.range_m
    known["half_m"] = settings.body.size_m / 2
    known["eye_m"] = settings.body.size_m / 2 + sight.eye_height_m
    known["climb_m"] = motion.jump_speed_mps**2 / (2 * motion.gravity_mps2) - 0.15
    known["step_s"] = settings.rules.ticks_per_decision * TICK_S
    known["seeker_speed"], known["hider_speed"] = motion.seeker_speed_mps, motion.hider_speed_mps
    known["jump_speed"] = max(motion.jump_speed_mps, 1.0)
    known["turn_rad"] = motion.turn_rate_radps * settings.rules.ticks_per_decision * TICK_S
    known["up_tan"], known["up_cos"] = math.tan(up[0]), math.cos(up[0])
    known["down_sin"], known["down_cos"] = math.sin(-down[0]), math.cos(down[0])
    known["level_cos"] = math.cos(level[0])
    above = [int(up[1][np.abs(up[2] - angle).argmin()]) for angle in level[2]]
    angles = np.arange(SECTORS) * SECTOR_RAD
    tilt = np.concatenate([np.full(len(row[1]), row[0]) for row in rows])
    return Eyes(
        known=known,
        level=np.asarray(level[1], np.int64),
        level_rad=np.asarray(level[2], np.float32),
        above=np.array(above, np.int64),
        down=np.asarray(down[1], np.int64),
        down_rad=np.asarray(down[2], np.float32),
        all_rad=np.concatenate([row[2] for row in rows]).astype(np.float32),
        all_cos=np.cos(tilt).astype(np.float32),
        all_sin=np.sin(tilt).astype(np.float32),
        unit=np.stack([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32),
    )


@device_kernel
def sector_of(angle_rad: float) -> int:
    return math.floor(angle_rad / SECTOR_RAD + 0.5) % SECTORS


@device_kernel
def distance_of(k: Any, told: np.ndarray, ray: int) -> float:
    away_m: float = told[RAYS + NUMBERS_PER_RAY * ray + RAY_DISTANCE] * k.range_m
    return away_m


@device_kernel
def who_is_at(told: np.ndarray, ray: int) -> int:
    """Whom a ray met: 0 for nobody."""
    return int(told[RAYS + NUMBERS_PER_RAY * ray + RAY_HIT])


@device_kernel
def wake(mind: Any) -> None:
    """A new round: nothing is known of the surroundings."""
    mind.is_awake = 0
    mind.sees = 0
    for sector in range(SECTORS):
        mind.rose[sector] = UNKNOWN_M
        mind.low[sector] = FAR_M


@device_kernel
def look(eyes: Eyes, told: np.ndarray, mind: Any) -> None:
    """Takes the new observation into memory: own movement, the rose, and the nearest opponent in sight."""
    k = eyes.known[0]
    follow_own_movement(k, told, mind)
    turn_rose(eyes, mind)
    look_at_walls(eyes, told, mind)
    look_for_somebody(eyes, told, mind)


@device_kernel
def follow_own_movement(k: Any, told: np.ndarray, mind: Any) -> None:
    top = k.seeker_speed if told[IS_SEEKER] > 0.5 else k.hider_speed
    x = told[VELOCITY + X] * top
    z = told[VELOCITY + Z] * top
    if not mind.is_awake:
        mind.is_awake = 1
        mind.before_x = x
        mind.before_z = z
    mind.moved_x = (x + mind.before_x) * 0.5 * k.step_s
    mind.moved_z = (z + mind.before_z) * 0.5 * k.step_s
    mind.before_x = x
    mind.before_z = z
    mind.heading = math.atan2(told[FORWARD], told[FORWARD + 1])


@device_kernel
def turn_rose(eyes: Eyes, mind: Any) -> None:
    """What is not looked at now comes nearer as one walks towards it, and is slowly forgotten."""
    for sector in range(SECTORS):
        along = eyes.unit[sector, 0] * mind.moved_x + eyes.unit[sector, 1] * mind.moved_z
        free = max(mind.rose[sector] - along, 0.2)
        mind.rose[sector] = free + (UNKNOWN_M - free) * FADE
        mind.low[sector] = FAR_M


@device_kernel
def look_at_walls(eyes: Eyes, told: np.ndarray, mind: Any) -> None:
    k = eyes.known[0]
    last = -1
    for index in range(len(eyes.level)):
        sector = sector_of(mind.heading + eyes.level_rad[index])
        away = distance_of(k, told, eyes.level[index]) * k.level_cos
        if who_is_at(told, eyes.level[index]) != 0:
            away += 2.0
        elif away < JUMP_FROM_M and eyes.above[index] >= 0 and k.eye_m + away * k.up_tan <= k.climb_m:
            over = distance_of(k, told, eyes.above[index]) * k.up_cos
            if over > away + 0.5:
                mind.low[sector] = min(mind.low[sector], away)
                away = over
        if sector != last:
            mind.rose[sector] = away
            last = sector
        else:
            mind.rose[sector] = min(mind.rose[sector], away)
    for index in range(len(eyes.down)):
        slant = distance_of(k, told, eyes.down[index])
        if slant * k.down_cos < JUMP_FROM_M and k.eye_m - slant * k.down_sin > 0.15:
            sector = sector_of(mind.heading + eyes.down_rad[index])
            mind.low[sector] = min(mind.low[sector], slant * k.down_cos)


@device_kernel
def look_for_somebody(eyes: Eyes, told: np.ndarray, mind: Any) -> None:
    """The nearest opponent that a ray meets; where several rays meet it, the middle of them."""
    k = eyes.known[0]
    wanted = HIDER if told[IS_SEEKER] > 0.5 else SEEKER
    nearest = FAR_M
    for ray in range(len(eyes.all_rad)):
        if who_is_at(told, ray) == wanted:
            nearest = min(nearest, distance_of(k, told, ray))
    mind.sees = nearest < FAR_M
    if not mind.sees:
        return
    x = 0.0
    z = 0.0
    up = 0.0
    count = 0.0
    for ray in range(len(eyes.all_rad)):
        if who_is_at(told, ray) == wanted:
            away = distance_of(k, told, ray)
            if away < nearest + 2.0 * k.half_m:
                angle = mind.heading + eyes.all_rad[ray]
                flat = away * eyes.all_cos[ray] + k.half_m
                x += math.sin(angle) * flat
                z += math.cos(angle) * flat
                up += away * eyes.all_sin[ray]
                count += 1.0
    mind.seen_x = x / count
    mind.seen_z = z / count
    mind.seen_up = up / count


@device_kernel
def free_along(eyes: Eyes, mind: Any, sector: int) -> float:
    """How far a whole body can walk in a direction, by the rose."""
    k = eyes.known[0]
    free = FAR_M
    for aside in range(-SIDEWAYS, SIDEWAYS + 1):
        away = mind.rose[(sector + aside) % SECTORS]
        if away * abs(eyes.unit[aside % SECTORS, 0]) < k.half_m * SAFETY:
            free = min(free, away * eyes.unit[aside % SECTORS, 1] - k.half_m)
    return max(free, 0.0)


@device_kernel
def must_jump(told: np.ndarray, mind: Any, sector: int) -> bool:
    """Whether something low is in the way, near enough to jump now."""
    if told[GROUNDED] < 0.5:
        return False
    low = min(mind.low[sector], min(mind.low[(sector + 1) % SECTORS], mind.low[(sector - 1) % SECTORS]))
    return bool(low < JUMP_FROM_M)
