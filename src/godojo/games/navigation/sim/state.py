"""What the embedded game keeps in memory: records and arrays, made once, that every kernel reads and writes."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from godojo.games.navigation.courses import MAX_MARKS, MAX_ROUTES, MAX_SOLIDS, MAX_STARTS, Course
from godojo.games.navigation.settings import RAYS, NavigationSettings
from godojo.games.navigation.spec import REWARD_TERMS, ray_directions
from godojo.games.settings import TICK_S, ticks_in

CHUNKS = 64
"""Worlds are worked on in so many pieces, whatever the number of threads."""
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
        ("action", "f8", 3),  # as cut
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
NUMBERS = np.dtype(
    [
        ("truncate_after", "i8"),  # decisions after which a round is cut short; 0 for never
        ("ticks_per_decision", "i8"),
        ("round_ticks", "i8"),
        ("contact_ticks", "i8"),
        ("snaps", "i8"),  # turns at once instead of smoothly
        ("goal_within_m", "f8"),
        ("mark_radius_m", "f8"),
        ("mark_height_m", "f8"),
        ("fall_below_m", "f8"),
        ("speed", "f8"),
        ("turn_rate", "f8"),
        ("smoothing", "f8"),  # share of what is wanted that is followed within a tick
        ("snap_rad", "f8"),
        ("gravity", "f8"),
        ("fall_speed", "f8"),
        ("half_m", "f4"),
        ("step_up_m", "f8"),
        ("skin_m", "f8"),
        ("eye_m", "f8"),
        ("lean_rad", "f8"),
        ("hand_side_m", "f8"),
        ("hand_height_m", "f8"),
        ("hand_ahead_m", "f8"),
        ("swing_m", "f8"),
        ("lift_m", "f8"),
        ("stride_radpm", "f8"),
        ("sight_m", "f8"),
        ("range_m", "f4"),
        ("turn_share", "f8"),
        ("turn_loss", "f8"),
        ("speed_share", "f8"),
        ("speed_loss", "f8"),
        ("roll_rad", "f8"),
        ("roll_loss", "f8"),
        ("warn_below", "f8"),
        ("comfort_warning", "f8"),
        ("weights", "f8", TERMS),
    ],
    align=True,
)


class Tables(NamedTuple):
    """Constants, and a piece of scratch space for each chunk of worlds."""

    directions: np.ndarray
    inverse: np.ndarray
    nearest: np.ndarray


def numbers(settings: NavigationSettings, truncate_after: int) -> np.ndarray:
    """The settings as the kernels want them: an array of one record."""
    rules, motion, rig, comfort = settings.rules, settings.motion, settings.rig, settings.comfort
    values: dict[str, Any] = {
        "truncate_after": truncate_after,
        "ticks_per_decision": rules.ticks_per_decision,
        "round_ticks": settings.round_ticks,
        "contact_ticks": ticks_in(rules.collision_again_s),
        "snaps": motion.turn == "snap",
        "goal_within_m": rules.goal_within_m,
        "mark_radius_m": rules.mark_radius_m,
        "mark_height_m": rules.mark_height_m,
        "fall_below_m": rules.fall_below_m,
        "speed": motion.speed_mps,
        "turn_rate": math.radians(motion.turn_rate_degps),
        "smoothing": 1.0 - math.exp(-TICK_S / motion.smoothing_s) if motion.smoothing_s > 0.0 else 1.0,
        "snap_rad": math.radians(motion.snap_deg),
        "gravity": motion.gravity_mps2,
        "fall_speed": motion.fall_speed_mps,
        "half_m": motion.body_m / 2,
        "step_up_m": motion.step_up_m,
        "skin_m": motion.skin_m,
        "eye_m": rig.eye_height_m,
        "lean_rad": rig.lean_rad,
        "hand_side_m": rig.hand_side_m,
        "hand_height_m": rig.hand_height_m,
        "hand_ahead_m": rig.hand_ahead_m,
        "swing_m": rig.swing_m,
        "lift_m": rig.lift_m,
        "stride_radpm": rig.stride_radpm,
        "sight_m": settings.sight.height_m,
        "range_m": settings.sight.range_m,
        "turn_share": comfort.turn_share,
        "turn_loss": comfort.turn_loss,
        "speed_share": comfort.speed_share,
        "speed_loss": comfort.speed_loss,
        "roll_rad": comfort.roll_rad,
        "roll_loss": comfort.roll_loss,
        "warn_below": comfort.warn_below,
        "comfort_warning": settings.rewards.comfort_warning,
        "weights": weights(settings),
    }
    record = np.zeros(1, NUMBERS)
    for name in NUMBERS.names or ():
        record[name] = values[name]
    return record


def weights(settings: NavigationSettings) -> tuple[float, ...]:
    """Of the reward's terms, in their order."""
    own = settings.rewards
    return (
        own.goal,
        own.progress_per_m,
        own.smooth_per_m,
        own.comfort_per_m,
        own.collision,
        own.fall,
        own.timeout,
        own.teleport,
    )


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


def tables(settings: NavigationSettings) -> Tables:
    return Tables(
        directions=ray_directions(settings),
        inverse=np.zeros((CHUNKS, 3, RAYS), np.float32),
        nearest=np.zeros((CHUNKS, RAYS), np.float32),
    )
