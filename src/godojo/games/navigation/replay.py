"""How rounds of navigation are recorded and drawn, and which of their moments are worth showing."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.games.navigation.courses import Course, check_course
from godojo.games.navigation.settings import LAYOUT, NavigationSettings
from godojo.games.navigation.spec import WALKER, ray_directions
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


def layout(settings: NavigationSettings, course: Any) -> Layout:
    if not isinstance(course, Course):
        try:
            course = msgspec.convert(course, Course)
        except msgspec.ValidationError as error:
            raise GodojoError(f"course: {error}") from None
        check_course(course)
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
    turn = own["camera_rotation"]
    yaw = 2.0 * np.arctan2(turn[..., 1], turn[..., 3])
    right, up, back = np.moveaxis(own["camera_velocity"], -1, 0)
    x, z = right * np.cos(yaw) + back * np.sin(yaw), back * np.cos(yaw) - right * np.sin(yaw)
    position_m = own["camera_position"] - np.array([0.0, down_m, 0.0], np.float32)
    return _walking(position_m, np.stack([x, up, z], axis=-1), yaw, np.ones(yaw.shape, bool))


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
)
