"""The memory of the embedded game: records and arrays, allocated once, that kernels read and write."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from godojo.games.navigation.courses import MAX_MARKS, MAX_ROUTES, MAX_SOLIDS, MAX_STARTS, Course
from godojo.games.navigation.settings import RAYS, NavigationSettings
from godojo.games.navigation.spec import REWARD_TERMS, ray_directions
from godojo.games.settings import TICK_S, ticks_in
from godojo.kernels.rays import inverse_scratch
from godojo.kernels.results import aligned_zeros, record_of, record_type

CHUNKS = 64
"""Worlds are divided into this many pieces, whatever the number of threads."""
TERMS = len(REWARD_TERMS)
FAR_M = 1e6

WALKER = np.dtype(
    [
        ("stream", "u8"),  # the world's random numbers
        ("position", "f4", 3),  # of the body's centre
        ("velocity", "f4", 3),
        ("yaw", "f8"),
        ("yaw_rate", "f8"),
        ("roll", "f8"),
        ("roll_rate", "f8"),
        ("phase", "f8"),  # of the gait
        ("action", "f8", 4),  # as cut
        ("last_action", "f8", 3),
        ("smoothed", "f8", 3),
        ("left", "f4", 3),  # hands, in the rig's frame
        ("right", "f4", 3),
        ("left_velocity", "f4", 3),
        ("right_velocity", "f4", 3),
        ("near", "i4", MAX_SOLIDS),  # boxes that matter while it moves no farther than `near_slack_m`
        ("near_count", "i4"),
        ("near_slack_m", "f4"),
        ("grounded", "u1"),
        ("may_snap", "u1"),  # the stick was let go since the last snap turn
        ("may_teleport", "u1"),  # likewise the trigger
        ("contact", "i4"),  # ticks until a contact counts again
        ("collisions", "i4"),  # of the decision under way; likewise the next
        ("teleports", "i4"),
        ("warnings", "i4"),  # decisions of the round that were uncomfortable
        ("course", "i4"),
        ("route", "i4"),
        ("mark", "i4"),  # the one in question
        ("goal", "i4"),  # the last that is asked for
        ("remaining_m", "f8"),  # way to the goal at the end of the last decision
        ("least_m", "f8"),  # the shortest it has been in the round
        ("round_terms", "f4", TERMS),
        ("ticks", "i4"),
        ("decisions", "i4"),
    ],
    align=True,
)
COURSE = np.dtype(
    [
        ("low", "f4", (3, MAX_SOLIDS)),
        ("high", "f4", (3, MAX_SOLIDS)),
        ("room_low", "f4", 3),  # there is none: far away
        ("room_high", "f4", 3),
        ("boxes", "i4"),
        ("starts", "f8", (MAX_STARTS, 7)),  # x, y, z, size along x, size along z, yaw, spread of the yaw
        ("start_count", "i4"),
        ("marks", "f4", (MAX_ROUTES, MAX_MARKS, 3)),
        ("mark_count", "i4", MAX_ROUTES),
        ("route_count", "i4"),
    ],
    align=True,
)


class Tables(NamedTuple):
    """Constants, and a piece of scratch space for each chunk of worlds."""

    directions: np.ndarray
    inverse: np.ndarray
    nearest: np.ndarray
    chosen: np.ndarray
    """Boxes within the range of the rays."""


def _values(settings: NavigationSettings, truncate_after: int) -> dict[str, Any]:
    rules, motion, rig, sight, own = settings.rules, settings.motion, settings.rig, settings.sight, settings.rewards
    events = own.collision, own.fall, own.timeout, own.teleport
    return {
        "truncate_after": truncate_after,  # decisions after which a round is cut short; 0 for never
        "ticks_per_decision": rules.ticks_per_decision,
        "round_ticks": settings.round_ticks,
        "contact_ticks": ticks_in(rules.collision_again_s),
        "snaps": int(motion.turn == "snap"),  # turns at once instead of smoothly
        "goal_within_m": rules.goal_within_m,
        "mark_radius_m": rules.mark_radius_m,
        "mark_height_m": rules.mark_height_m,
        "fall_below_m": rules.fall_below_m,
        "speed": motion.speed_mps,
        "turn_rate": math.radians(motion.turn_rate_degps),
        # Fraction of the wish followed within a tick.
        "smoothing": 1.0 - math.exp(-TICK_S / motion.smoothing_s) if motion.smoothing_s > 0.0 else 1.0,
        "snap_rad": math.radians(motion.snap_deg),
        "teleport_m": motion.teleport_m,
        "gravity": motion.gravity_mps2,
        "fall_speed": motion.fall_speed_mps,
        "half_m": np.float32(motion.body_m / 2),
        "step_up_m": motion.step_up_m,
        "skin_m": motion.skin_m,
        "eye_m": rig.eye_height_m,
        **{name: value for name, value in msgspec.structs.asdict(rig).items() if name != "eye_height_m"},
        "sight_m": sight.height_m,
        "range_m": np.float32(sight.range_m),
        **msgspec.structs.asdict(settings.comfort),
        "comfort_warning": own.comfort_warning,
        "smooth_per_m": own.smooth_per_m,
        "comfort_per_m": own.comfort_per_m,
        "weights": np.array((own.goal, own.progress_per_m, own.smooth, own.comfort, *events)),
    }


NUMBERS = record_type(_values(NavigationSettings.defaults(), 0))


def numbers(settings: NavigationSettings, truncate_after: int) -> np.ndarray:
    """The settings as kernels read them: an array of one record."""
    return record_of(NUMBERS, _values(settings, truncate_after))


def catalogue(courses: Sequence[Course]) -> np.ndarray:
    """The courses that rounds may be played on, as records."""
    table = np.zeros(len(courses), COURSE)
    table["low"] = table["high"] = FAR_M
    table["room_low"], table["room_high"] = -FAR_M, FAR_M
    for record, course in zip(table, courses, strict=True):
        solids = course.solids()
        record["boxes"] = len(solids)
        for place, (low, high) in enumerate(solids):
            record["low"][:, place] = low
            record["high"][:, place] = high
        record["start_count"] = len(course.starts)
        for place, start in enumerate(course.starts):
            turn = math.radians(start.yaw_deg), math.radians(start.spread_deg)
            record["starts"][place] = (*start.position_m, *start.size_m, *turn)
        record["route_count"] = len(course.routes)
        for place, route in enumerate(course.routes):
            record["mark_count"][place] = len(route.marks_m)
            record["marks"][place, : len(route.marks_m)] = route.marks_m
    return table


def tables(settings: NavigationSettings, chunks: int = CHUNKS) -> Tables:
    directions = ray_directions(settings)
    return Tables(
        directions=directions,
        inverse=inverse_scratch(directions, chunks),
        nearest=aligned_zeros(chunks, RAYS),
        chosen=np.zeros((chunks, MAX_SOLIDS), np.int32),
    )
