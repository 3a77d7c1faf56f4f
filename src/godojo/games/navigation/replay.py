"""How rounds of navigation are recorded and drawn, and which of their moments are worth showing."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.games.navigation.courses import Course, Route, check_course
from godojo.games.navigation.settings import LAYOUT, NavigationSettings
from godojo.games.navigation.spec import WALKER, ray_directions
from godojo.games.settings import TICK_S
from godojo.show.replay import (
    NOTHING,
    WALL,
    Highlight,
    Layout,
    LayoutBox,
    Mark,
    Observations,
    Replay,
    ReplaySpec,
    States,
    Team,
)

JUMP_M = 0.5
"""A walker that is farther on in the next frame has teleported."""


def _course(course: Any) -> Course:
    """From plain JSON values, checked."""
    if isinstance(course, Course):
        return course
    try:
        found = msgspec.convert(course, Course)
    except msgspec.ValidationError as error:
        raise GodojoError(f"course: {error}") from None
    check_course(found)
    return found


def layout(settings: NavigationSettings, course: Any) -> Layout:
    course = _course(course)
    kinds = [box.kind for box in course.boxes]
    low, high = (np.array(corners) for corners in zip(*course.solids(), strict=True))
    boxes = tuple(
        LayoutBox(_triple((a + b) / 2), _triple(b - a), kinds[place] if place < len(kinds) else "step")
        for place, (a, b) in enumerate(zip(low, high, strict=True))
    )
    ends = low.min(axis=0), high.max(axis=0)
    (wide, _, deep), (x, _, z) = _triple(ends[1] - ends[0]), _triple((ends[0] + ends[1]) / 2)
    marks = {at: "waypoint" for route in course.routes for at in route.marks_m}
    marks |= {route.marks_m[-1]: "goal" for route in course.routes}
    return Layout(
        size_m=(wide, deep),
        centre_m=(x, z),
        has_floor=False,
        body_m=settings.motion.body_m,
        eye_height_m=settings.sight.height_m - settings.motion.body_m / 2,
        boxes=boxes,
        marks=tuple(Mark(at, settings.rules.mark_radius_m, kind) for at, kind in marks.items()),
    )


def _triple(values: np.ndarray) -> tuple[float, float, float]:
    x, y, z = (round(float(value), 6) for value in values)
    return x, y, z


def rays(settings: NavigationSettings) -> np.ndarray:
    """The rig looks along -z with +x to its right: half a turn from a replay's frame."""
    return ray_directions(settings) * np.array([[-1], [1], [-1]], np.float32)


def now(twin: Any) -> States:
    return _states(twin.walkers)


def trace(twin: Any) -> tuple[States, np.ndarray]:
    from godojo.games.navigation.sim.trace import trace  # loads the compiler

    frames, played = trace(twin)
    return _states(frames), played


def _states(walkers: np.ndarray) -> States:
    """From the twin's records, one agent each."""
    walkers = walkers[..., None]
    return _walking(walkers["position"].copy(), walkers["velocity"].copy(), walkers["yaw"], walkers["grounded"] > 0)


def _walking(position_m: np.ndarray, velocity_mps: np.ndarray, yaw: np.ndarray, grounded: np.ndarray) -> States:
    heading = (yaw + math.pi).astype(np.float32)
    return States(position_m, velocity_mps, heading, grounded, np.ones(yaw.shape, bool), np.zeros(yaw.shape, np.uint8))


def read_states(
    settings: NavigationSettings, _: Layout, observations: Observations, before: States | None, ticks: np.ndarray
) -> States:
    del before, ticks  # everything is observed
    own = _parts(observations)
    down_m = settings.rig.eye_height_m - settings.motion.body_m / 2
    yaw = _yaw(own)
    position_m = own["camera_position"] - np.array([0.0, down_m, 0.0], np.float32)
    return _walking(position_m, _in_world(own["camera_velocity"], yaw), yaw, np.ones(yaw.shape, bool))


def _yaw(own: dict[str, np.ndarray]) -> np.ndarray:
    turn = own["camera_rotation"]
    yaw: np.ndarray = 2.0 * np.arctan2(turn[..., 1], turn[..., 3])
    return yaw


def _in_world(vectors: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """From the rig's frame."""
    right, up, back = np.moveaxis(vectors, -1, 0)
    x, z = right * np.cos(yaw) + back * np.sin(yaw), back * np.cos(yaw) - right * np.sin(yaw)
    return np.stack([x, up, z], axis=-1)


def marks(settings: NavigationSettings, course: Any, observations: Observations) -> tuple[Mark, ...]:
    """Those of the route that the walker was led along."""
    course, own = _course(course), _parts(observations)
    feet_m = own["camera_position"] - np.array([0.0, settings.rig.eye_height_m, 0.0], np.float32)
    led_to = (feet_m + _in_world(own["goal_position"], _yaw(own))).reshape(-1, 3)

    def strays_m(route: Route) -> float:
        away = np.linalg.norm(led_to[:, None] - np.array(route.marks_m), axis=2)
        return float(away.min(axis=1).max())

    route = np.array(min(course.routes, key=strays_m).marks_m)
    start = min(
        (np.array(one.position_m) for one in course.starts), key=lambda at: float(np.linalg.norm(at - feet_m[0]))
    )
    path_m = np.cumsum(np.linalg.norm(np.diff([start, *route], axis=0), axis=1))
    within_m = settings.rules.goal_within_m
    count = max(int(np.count_nonzero(path_m <= within_m)), 1) if within_m > 0 else len(route)
    kinds = ["waypoint"] * (count - 1) + ["goal"]
    radius_m = settings.rules.mark_radius_m
    return tuple(Mark(_triple(at), radius_m, kind) for at, kind in zip(route[:count], kinds, strict=True))


def tracks(replay: Replay) -> dict[str, np.ndarray]:
    """Comfort and what it depends on, what was reached and what was hit."""
    settings: NavigationSettings = replay.settings
    turn, walked_m = _turn(replay), np.zeros(replay.heading_rad.shape, np.float32)
    speed_mps = np.linalg.norm(replay.velocity_mps[..., ::2], axis=-1)
    roll_rad = -settings.rig.lean_rad * turn * speed_mps / settings.motion.speed_mps
    moved_m = np.linalg.norm(np.diff(replay.position_m[..., ::2], axis=0), axis=-1)
    walked_m[1:] = np.cumsum(np.where(moved_m < JUMP_M, moved_m, 0.0), axis=0)
    return {
        "comfort": _comfort(settings, turn, speed_mps, roll_rad),
        "turn": turn,
        "roll_rad": roll_rad,
        "walked_m": walked_m,
        "marks": _reached(replay),
        "collisions": _collisions(replay),
    }


def _turn(replay: Replay) -> np.ndarray:
    """The smoothed action `rotate` at every frame, as the rules smooth it from tick to tick."""
    motion = replay.settings.motion
    kept = math.exp(-TICK_S / motion.smoothing_s) if motion.smoothing_s > 0 else 0.0
    wanted = np.clip(np.nan_to_num(replay.action[..., 2]), -1.0, 1.0)
    turn = np.zeros(replay.heading_rad.shape, np.float32)
    for frame, until, goal in zip(
        replay.decision_frame, [*replay.decision_frame[1:], len(replay.tick) - 1], wanted, strict=True
    ):
        ticks = (replay.tick[frame + 1 : until + 1] - replay.tick[frame])[:, None]
        turn[frame + 1 : until + 1] = goal + (turn[frame] - goal) * kept**ticks
    return turn


def _comfort(settings: NavigationSettings, turn: np.ndarray, speed_mps: np.ndarray, roll_rad: np.ndarray) -> np.ndarray:
    limits = settings.comfort
    lost = limits.turn_loss * (np.abs(turn) > limits.turn_share) * (settings.motion.turn == "smooth")
    lost = lost + limits.speed_loss * (speed_mps > limits.speed_share * settings.motion.speed_mps)
    felt: np.ndarray = 1.0 - lost - limits.roll_loss * (np.abs(roll_rad) > limits.roll_rad)
    return felt.astype(np.float32)


def _reached(replay: Replay) -> np.ndarray:
    """How many marks, up to every frame."""
    rules, goals = replay.settings.rules, [np.array(mark.position_m) for mark in replay.layout.marks]
    reached = np.zeros(replay.heading_rad.shape, np.float32)
    feet_m = replay.position_m[:, 0] - np.array([0.0, replay.layout.body_m / 2, 0.0])
    count = 0
    for frame, feet in enumerate(feet_m):
        way = goals[count] - feet
        if np.hypot(way[0], way[2]) <= rules.mark_radius_m and abs(way[1]) <= rules.mark_height_m:
            count = min(count + 1, len(goals) - 1)
        reached[frame] = count
    if replay.outcome is not None and replay.outcome.winner == WALKER:
        reached[-1] = len(goals)
    return reached


def _collisions(replay: Replay) -> np.ndarray:
    """How many, up to every frame: none where they have no reward."""
    weight = replay.settings.rewards.collision
    counted = np.zeros(replay.heading_rad.shape, np.float32)
    if weight:
        ends = np.append(replay.decision_frame[1:], len(replay.tick) - 1)
        hit = replay.terms[:, :, replay.header.reward_terms.index("collision")] / weight
        np.add.at(counted, ends, np.round(hit))
    return np.cumsum(counted, axis=0)


def read_sight(settings: NavigationSettings, observations: Observations) -> tuple[np.ndarray, np.ndarray]:
    metres = _parts(observations)["rays"]
    return metres, np.where(metres < settings.sight.range_m, WALL, NOTHING).astype(np.uint8)


def _parts(observations: Observations) -> dict[str, np.ndarray]:
    return {name: LAYOUT.view(observations[WALKER], name) for name in LAYOUT.names}


def highlights(replay: Replay) -> Sequence[Highlight]:
    """The goal, reached as early as possible."""
    outcome = replay.outcome
    if outcome is None or outcome.winner != WALKER:
        return []
    seconds = outcome.seconds
    return [Highlight("goal", "Fastest walk", f"at the goal after {seconds:.1f} s", replay, -seconds, seconds, 0.0, 0)]


SPEC = ReplaySpec(
    teams=(Team(WALKER, "#0f8a74"),),
    layout=layout,
    read_states=read_states,
    rays=rays,
    read_sight=read_sight,
    round_s=lambda settings: float(settings.rules.round_s),
    now=now,
    trace=trace,
    layout_now=lambda twin, world: layout(twin.settings, twin.courses[int(twin.walkers["course"][world])]),
    highlights=highlights,
    marks=marks,
    tracks=tracks,
    warn_below=lambda settings: float(settings.comfort.warn_below),
    cameras=("first", "follow", "overview"),
    endings={WALKER: "At the goal", "gap": "Fell into the gap", "clock": "Time is up"},
)
