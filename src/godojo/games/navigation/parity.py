"""Parity of navigation: the same walks in the real Godot and in the twin.

Every course is played on each of its routes by itself, so that a start says everything. Some walkers go for the marks,
some stray, some press into whatever is there.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
import numpy as np

from godojo.engines.base import Worlds
from godojo.engines.godot.find import Engine
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.parity.decisions import Compared, Manners, compare, plan_actions, play_both
from godojo.evaluation.parity.oracle import OraclePlan
from godojo.evaluation.parity.report import ParityPlan, Progress, Report
from godojo.games.navigation.courses import Course, hand_made_courses
from godojo.games.navigation.settings import LAYOUT, NavigationSettings

ROUND_S = 30.0
"""Longer walks show nothing new."""


def check_walks(
    engine: Engine,
    *,
    episodes: int,
    seed: int,
    settings: NavigationSettings | None = None,
    progress: Progress = lambda _, __: None,
    places: Sequence[Course] | None = None,
) -> Report:
    """Plays so many episodes in both engines, and compares them."""
    if episodes < 1:
        raise GodojoError(f"there must be at least one episode, not {episodes}")
    settings = (settings or NavigationSettings.defaults()).override(**{"rules.round_s": ROUND_S})
    alone = [
        msgspec.structs.replace(course, routes=(route,))
        for course in (places or hand_made_courses().values())
        for route in course.routes
    ][:episodes]
    walks = []
    for number, course in enumerate(alone):
        count = episodes // len(alone) + (number < episodes % len(alone))
        progress(f"walking {course.name} in Godot and in the twin", number / len(alone))
        options = {"settings": settings, "courses": [course]}
        both = play_both("navigation", count, seed + number, partial(_begun, settings, course), planned, **options)
        walks.append((course.name, *both))
    progress("comparing", None)
    compared = Compared(lambda seen: LAYOUT.view(seen, "camera_position"), LAYOUT.slice("rays"))
    return compare("navigation", engine.version, seed, settings, compared, walks)


def _begun(settings: NavigationSettings, course: Course, starts: np.ndarray) -> Worlds:
    """The twin, with every walker where Godot's stands."""
    worlds = make_vec("navigation", num_worlds=len(starts), settings=settings, courses=[course])
    twin = worlds.twin  # type: ignore[attr-defined]  # the embedded engine has one
    walkers = twin.walkers
    walkers["position"][:, 0], walkers["position"][:, 2] = starts[:, 0], starts[:, 2]
    walkers["yaw"] = 2.0 * np.arctan2(starts[:, 4].astype(np.float64), starts[:, 6].astype(np.float64))
    mark = np.array(course.routes[0].marks_m, np.float64)
    legs_m = np.linalg.norm(np.diff(mark, axis=0), axis=1).sum()
    feet = walkers["position"].astype(np.float64) - (0.0, settings.motion.body_m / 2, 0.0)
    walkers["remaining_m"] = walkers["least_m"] = np.linalg.norm(mark[0] - feet, axis=1) + legs_m
    twin.observe()
    return worlds


def oracle(settings: NavigationSettings) -> OraclePlan:
    """Every route of every course may be the one that is walked."""
    courses = list(hand_made_courses().values())
    routes = [(place, number) for place, course in enumerate(courses) for number in range(len(course.routes))]

    def put(worlds: Worlds, observation: np.ndarray, nudges: np.ndarray) -> None:
        twin = worlds.twin  # type: ignore[attr-defined]  # the embedded engine has one
        twin.begin(0)
        walkers = twin.walkers
        (seen,) = observation
        for world in range(worlds.num_worlds):
            place, number = routes[world % len(routes)]
            walker, course = walkers[world], twin.catalogue[place]
            starts = course["starts"][: course["start_count"]]
            start = starts[np.argmin(np.hypot(starts[:, 0] - seen[0], starts[:, 2] - seen[2]))]
            up_m = settings.motion.body_m / 2 + settings.motion.skin_m
            walker["course"], walker["route"] = place, number
            walker["goal"] = course["mark_count"][number] - 1
            walker["position"] = seen[0], start[1] + up_m, seen[2]
            walker["yaw"] = 2.0 * np.arctan2(float(seen[4]), float(seen[6]))
            marks = np.array(courses[place].routes[number].marks_m, np.float64)
            feet = walker["position"].astype(np.float64) - (0.0, settings.motion.body_m / 2, 0.0)
            legs_m = np.linalg.norm(np.diff(marks, axis=0), axis=1).sum()
            walker["remaining_m"] = walker["least_m"] = np.linalg.norm(marks[0] - feet) + legs_m
        walkers["position"][:, ::2] += nudges[:, :2]
        walkers["yaw"] += nudges[:, 2]
        twin.observe()

    metres = ("camera_position", "left_position", "right_position", "goal_position", "goal_distance")
    return OraclePlan(
        candidates=len(routes),
        make=lambda count: make_vec("navigation", num_worlds=count, settings=settings),
        put=put,
        tolerance={**dict.fromkeys(metres, 0.25), "camera_rotation": 0.1, "camera_velocity": 1.0},
        rays="rays",
    )


def planned(worlds: Any, seed: int) -> np.ndarray:
    """Actions [E, D, 3 or 4]."""
    decisions = -(-worlds.settings.round_ticks // worlds.ticks_per_decision)
    size = sum(part.width for part in next(iter(worlds.roles.values())).action_parts)
    manners = Manners(kinds=3, held=3, limit=1.3, change=0.03, act=partial(_act, size - 3))
    return plan_actions(worlds, manners, decisions, seed)


def _act(
    teleports: int, seen: np.ndarray, manner: np.ndarray, held: np.ndarray, chance: np.random.Generator
) -> np.ndarray:
    goal = LAYOUT.view(seen, "goal_position")
    turn = np.arctan2(goal[:, 0], -goal[:, 2])
    straight = np.stack([0.2 * held[:, 0], np.clip(np.cos(turn), 0.0, 1.0), np.clip(turn, -1.0, 1.0)], axis=1)
    noisy = straight + chance.normal(0.0, 0.3, straight.shape)
    chosen = np.choose(manner[:, None], (straight, noisy, held))
    return np.concatenate([chosen, chance.random((len(seen), teleports)) < 0.05], axis=1)


PARITY = ParityPlan(check_walks, ("rules.round_s",), oracle)
