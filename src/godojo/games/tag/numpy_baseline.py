"""Tag, one seeker against one hider, in plain vectorised NumPy: the yardstick of `bench sim`.

A decision does the same work (four ticks of motion among boxes, tags, rewards, all rays) on arrays over worlds: loops
run over axes, ticks and boxes, never over worlds. Two things are spared, in its favour: a round that ends returns to a
start that was drawn before, and final observations are not kept.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from godojo.bench.measure import random_actions
from godojo.bench.sim import Baseline
from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.games.tag.arenas import MAX_BOXES, Arena, Box, SpawnArea, check_arena
from godojo.games.tag.settings import TICK_S, TagSettings
from godojo.games.tag.spec import LAYOUT, RAY_DISTANCE, RAY_HIT, ray_directions

MAX_STEP_M = 1.0
_TINY = np.float32(1e-9)
ARENAS = 8
ROWS = 4
"""Boxes stand in rows of four: 16 in each arena."""
CHECKED_DECISIONS = 5


class NumpyTag:
    """All worlds in arrays [N, 2]: the seeker, then the hider. Takes its arenas and starts from a twin's arrays."""

    def __init__(self, settings: TagSettings, arenas: np.ndarray, agents: np.ndarray) -> None:
        self.settings, self.arenas = settings, arenas
        worlds = len(arenas)
        used = np.arange(MAX_BOXES) < arenas["boxes"][:, None]
        far = np.float32(1e6)
        # Unused boxes are far away, so that no loop has to ask.
        self.low = [np.where(used, arenas["low"][:, axis], far)[:, None] for axis in range(3)]
        self.high = [np.where(used, arenas["high"][:, axis], far)[:, None] for axis in range(3)]
        self.boxes = int(arenas["boxes"].max())
        self.room_low = [arenas["room_low"][:, axis, None] for axis in range(3)]
        self.room_high = [arenas["room_high"][:, axis, None] for axis in range(3)]
        self.half_extent = arenas["size_m"] / 2
        self.start = [agents["position"][:, :, axis].copy() for axis in range(3)]
        self.start_heading = agents["heading"].copy()
        self.position = [axis.copy() for axis in self.start]
        self.velocity = [agents["velocity"][:, :, axis].copy() for axis in range(3)]
        self.heading = agents["heading"].copy()
        self.grounded = agents["grounded"] == 1
        self.coyote = agents["coyote"].copy()
        self.ticks = np.zeros(worlds, np.int64)
        self.directions = ray_directions(settings)
        self.observation = np.zeros((worlds, 2, LAYOUT.size(settings)), np.float32)
        self.reward = np.zeros((worlds, 2), np.float32)
        self.ended = np.zeros(worlds, bool)
        self.top_mps = np.array([settings.motion.seeker_speed_mps, settings.motion.hider_speed_mps], np.float32)
        self.rate_mps2 = np.array([settings.motion.seeker_acceleration_mps2, settings.motion.hider_acceleration_mps2])
        weights = (settings.rewards.seeker, settings.rewards.hider)
        self.weights = np.array([[w.distance_per_m, w.time_per_decision, w.tag, w.survival] for w in weights])

    def step(self, actions: Mapping[str, np.ndarray]) -> None:
        """One decision in every world by the actions of both roles, [N, 1, 3] each."""
        rules, action = self.settings.rules, np.concatenate([actions["seeker"], actions["hider"]], 1)
        wish = np.clip(action[..., :2], -1.0, 1.0)
        length = np.sqrt((wish * wish).sum(-1))
        wish = wish / np.maximum(length, 1.0)[..., None]
        length = np.minimum(length, 1.0)
        wish_heading = np.arctan2(wish[..., 0], wish[..., 1])
        jump = action[..., 2] > 0
        before_m = self._apart_m()
        caught = np.zeros(len(self.ticks), bool)
        over = np.zeros(len(self.ticks), bool)
        for _ in range(rules.ticks_per_decision):
            going = ~over[:, None]
            self._tick(wish, length, wish_heading, jump, going)
            self.ticks += going[:, 0]
            gaps = [np.abs(axis[:, 0] - axis[:, 1]) for axis in self.position]
            reach = self.settings.body.size_m + rules.touch_reach_m
            caught |= (gaps[0] <= reach) & (gaps[1] <= reach) & (gaps[2] <= reach)
            over = caught | (self.ticks >= self.settings.round_ticks)
        farther_m = (self._apart_m() - before_m)[:, None]
        clock = (over & ~caught)[:, None]
        self.reward[:] = self.weights[:, 0] * farther_m + self.weights[:, 1]
        self.reward += self.weights[:, 2] * caught[:, None] + self.weights[:, 3] * clock
        self.ended = over
        if over.any():
            self._begin(over)
        self.observe()

    def _begin(self, worlds: np.ndarray) -> None:
        for axis in range(3):
            self.position[axis][worlds] = self.start[axis][worlds]
            self.velocity[axis][worlds] = 0.0
        self.heading[worlds] = self.start_heading[worlds]
        self.grounded[worlds] = True
        self.coyote[worlds] = 0
        self.ticks[worlds] = 0

    def _apart_m(self) -> np.ndarray:
        x, y, z = (axis[:, 0] - axis[:, 1] for axis in self.position)
        found: np.ndarray = np.sqrt(x * x + y * y + z * z)
        return found

    def _tick(
        self, wish: np.ndarray, length: np.ndarray, wish_heading: np.ndarray, jump: np.ndarray, going: np.ndarray
    ) -> None:
        motion = self.settings.motion
        is_wished = length >= motion.dead_zone
        rate = np.where(is_wished, self.rate_mps2, motion.deceleration_mps2)
        rate = np.where(self.grounded, rate, motion.air_acceleration_mps2) * TICK_S
        speed = np.where(is_wished, self.top_mps, 0.0)
        lack_x = (wish[..., 0] * speed).astype(np.float32) - self.velocity[0]
        lack_z = (wish[..., 1] * speed).astype(np.float32) - self.velocity[2]
        lack = np.sqrt(lack_x.astype(np.float64) ** 2 + lack_z.astype(np.float64) ** 2)
        share = np.where((lack <= rate) | (lack < 1e-5), 1.0, rate / np.maximum(lack, 1e-9))
        x_mps = (self.velocity[0] + lack_x * share).astype(np.float32)
        z_mps = (self.velocity[2] + lack_z * share).astype(np.float32)
        most = motion.turn_rate_radps * TICK_S
        turned = self.heading + np.clip(_wrapped(wish_heading - self.heading), -most, most)
        self.heading = np.where(is_wished & going, _wrapped(turned), self.heading)
        self.coyote = np.where(self.grounded, round(motion.coyote_s / TICK_S), np.maximum(self.coyote - 1, 0))
        jumps = jump & (self.grounded | (self.coyote > 0))
        y_mps = np.where(jumps, np.float32(motion.jump_speed_mps), self.velocity[1])
        self.coyote = np.where(jumps, 0, self.coyote)
        next_y = np.maximum(y_mps - motion.gravity_mps2 * TICK_S, -motion.fall_speed_mps).astype(np.float32)
        self.velocity[0] = np.where(self._advance(0, x_mps * TICK_S, going), np.float32(0.0), x_mps)
        self.velocity[2] = np.where(self._advance(2, z_mps * TICK_S, going), np.float32(0.0), z_mps)
        fall = (y_mps + next_y) * 0.5 * TICK_S
        blocked = self._advance(1, fall, going)
        self.velocity[1] = np.where(blocked, np.float32(0.0), next_y)
        self.grounded = blocked & (fall < 0)

    def _advance(self, axis: int, distance: np.ndarray, going: np.ndarray) -> np.ndarray:
        """Moves everybody along one axis; says who was stopped."""
        half, skin = np.float32(self.settings.body.size_m / 2), self.settings.motion.skin_m
        distance = np.clip(distance, -MAX_STEP_M, MAX_STEP_M).astype(np.float32)
        one, two = (axis + 1) % 3, (axis + 2) % 3
        here, at_one, at_two = self.position[axis], self.position[one][..., None], self.position[two][..., None]
        forward = distance > 0
        gap = np.where(forward, self.room_high[axis] - half - here, here - self.room_low[axis] - half)
        beside = (at_one > self.low[one] - half) & (at_one < self.high[one] + half)
        beside &= (at_two > self.low[two] - half) & (at_two < self.high[two] + half)
        to_box = np.where(
            forward[..., None], self.low[axis] - half - here[..., None], here[..., None] - self.high[axis] - half
        )
        gap = np.minimum(gap, np.where(beside & (to_box > -half), to_box, np.inf).min(-1)).astype(np.float32)
        free = np.abs(distance)
        reach = (free + skin).astype(np.float32)
        near = (gap < reach) & (distance != 0)
        if near.any():
            found = _search(gap[near] / reach[near], reach[near]) * reach[near].astype(np.float64) - skin
            free[near] = np.clip(found, 0.0, free[near])
        self.position[axis] = np.where(going, here + np.where(forward, free, -free), here).astype(np.float32)
        stopped: np.ndarray = (free < np.abs(distance)) & near
        return stopped

    def observe(self) -> None:
        """Writes all observations."""
        settings, motion = self.settings, self.settings.motion
        part = {name: LAYOUT.view(self.observation, name) for name in LAYOUT.names}
        part["position"][..., 0] = self.position[0] / self.half_extent[:, 0, None]
        part["position"][..., 1] = self.position[1] / settings.arena.wall_height_m
        part["position"][..., 2] = self.position[2] / self.half_extent[:, 1, None]
        part["velocity"][..., 0] = self.velocity[0] / self.top_mps
        part["velocity"][..., 1] = self.velocity[1] / max(motion.jump_speed_mps, 1.0)
        part["velocity"][..., 2] = self.velocity[2] / self.top_mps
        sine, cosine = np.sin(self.heading).astype(np.float32), np.cos(self.heading).astype(np.float32)
        part["forward"][..., 0], part["forward"][..., 1] = sine, cosine
        part["grounded"][..., 0] = self.grounded
        part["is_seeker"][:, 0], part["is_hider"][:, 1] = 1.0, 1.0
        part["time_left"][:] = (1.0 - self.ticks / settings.round_ticks)[:, None, None]
        self._look(sine[..., None], cosine[..., None])

    def _look(self, sine: np.ndarray, cosine: np.ndarray) -> None:
        rays = self.directions
        ways = (
            cosine * rays[0] + sine * rays[2],
            np.broadcast_to(rays[1], sine.shape[:2] + rays[1].shape),
            cosine * rays[2] - sine * rays[0],
        )
        inverse = [np.float32(1.0) / np.where(np.abs(way) > _TINY, way, _TINY) for way in ways]
        eye = [self.position[0], self.position[1] + np.float32(self.settings.sight.eye_height_m), self.position[2]]
        nearest = np.full(inverse[0].shape, np.inf, np.float32)
        for axis in range(3):
            low = (self.room_low[axis] - eye[axis])[..., None] * inverse[axis]
            high = (self.room_high[axis] - eye[axis])[..., None] * inverse[axis]
            np.minimum(nearest, np.maximum(low, high), out=nearest)
        for box in range(self.boxes):
            enter, leave = self._cross(
                [(self.low[a][..., box], self.high[a][..., box]) for a in range(3)], eye, inverse
            )
            met = (enter <= leave) & (enter > 0) & (enter < nearest)
            np.copyto(nearest, enter, where=met)
        half = np.float32(self.settings.body.size_m / 2)
        others = [axis[:, ::-1] for axis in self.position]
        enter, leave = self._cross([(axis - half, axis + half) for axis in others], eye, inverse)
        somebody = (enter <= leave) & (enter > 0) & (enter < nearest)
        np.copyto(nearest, enter, where=somebody)
        range_m = np.float32(self.settings.sight.range_m)
        something = nearest < range_m
        rays = LAYOUT.view(self.observation, "rays")
        rays[..., RAY_DISTANCE] = np.minimum(nearest / range_m, 1.0)
        rays[..., RAY_HIT] = something & somebody
        rays[:, 1, :, RAY_HIT] *= -1.0  # it is the seeker whom the hider sees

    @staticmethod
    def _cross(
        corners: list[tuple[np.ndarray, np.ndarray]], eye: list[np.ndarray], inverse: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where rays enter and leave a box: the slab test."""
        enter = leave = np.zeros(0)
        for axis, (low, high) in enumerate(corners):
            one = (low - eye[axis])[..., None] * inverse[axis]
            two = (high - eye[axis])[..., None] * inverse[axis]
            first, last = np.minimum(one, two), np.maximum(one, two)
            enter = first if axis == 0 else np.maximum(enter, first, out=enter)
            leave = last if axis == 0 else np.minimum(leave, last, out=leave)
        return enter, leave


def _wrapped(angle: np.ndarray) -> np.ndarray:
    found: np.ndarray = angle - 2.0 * math.pi * np.floor(angle * (0.5 / math.pi) + 0.5)
    return found


def _search(blocked_from: np.ndarray, length_m: np.ndarray) -> np.ndarray:
    """The engine's search for where a path is blocked, all paths at once."""
    low, high = np.zeros_like(blocked_from), np.ones_like(blocked_from)
    lean = np.full_like(blocked_from, 0.5)
    steps = np.clip(np.frexp(1000.0 * length_m)[1] - 1, 4, 16)
    for step in range(int(steps.max())):
        on = step < steps
        middle = low + (high - low) * lean
        stop = middle > blocked_from
        lean = np.where(
            stop, np.where((step == 0) | (low > 0), 0.5, 0.25), np.where((step == 0) | (high < 1), 0.5, 0.75)
        ).astype(np.float32)
        high = np.where(on & stop, middle, high)
        low = np.where(on & ~stop, middle, low)
    return low


def arenas_of_16(settings: TagSettings) -> list[Arena]:
    """Rooms with 16 boxes each, tall ones and low ones, the same every time."""
    rng = np.random.default_rng(16)
    found = []
    for number in range(ARENAS):
        boxes, spawns = [], []
        for row in range(ROWS):
            for column in range(ROWS):
                wide, deep = (round(float(size), 2) for size in rng.uniform(1.0, 3.0, 2))
                high = 2.4 if rng.random() < 0.65 else 0.8
                x = round(float((column - 1.5) * 5.5 + rng.uniform(-0.5, 0.5)), 2)
                z = round(float((row - 1.5) * 5.5 + rng.uniform(-0.5, 0.5)), 2)
                boxes.append(Box((x, high / 2, z), (wide, high, deep), "tall" if high > 1 else "low"))
        for row in range(ROWS + 1):
            for column in range(ROWS + 1):
                at = ((column - 2) * 5.5, 0.0, (row - 2) * 5.5)
                if all(_is_apart(at, box, settings.body.size_m) for box in boxes):
                    spawns.append(SpawnArea(at, (0.4, 0.4), ("seeker", "hider")))
        arena = Arena(1, f"bench_{number}", f"Bench {number}", (24.0, 24.0), tuple(boxes), tuple(spawns))
        check_arena(arena, settings, arena.name)
        found.append(arena)
    return found


def _is_apart(at: tuple[float, float, float], box: Box, size_m: float) -> bool:
    reach = size_m / 2 + 0.25
    return abs(at[0] - box.position_m[0]) > box.size_m[0] / 2 + reach or (
        abs(at[2] - box.position_m[2]) > box.size_m[2] / 2 + reach
    )


def baseline() -> Baseline:
    """One seeker against one hider with the default settings, in arenas of 16 boxes."""
    settings = TagSettings.defaults()
    arenas = arenas_of_16(settings)

    def script(folder: Path, turn: int) -> list[str]:
        arena = arenas[turn % len(arenas)]
        path = folder / f"{arena.name}.json"
        path.write_bytes(arena.to_json())
        return ["res://games/tag/bench/free_running.gd", f"--arena={path}"]

    return Baseline(
        title="1 seeker against 1 hider, 16 boxes",
        options={"settings": settings, "arenas": arenas},
        start=start,
        worlds=2048,  # of 128 to 8192 the fastest: fewer cost calls, more cost memory
        errors_m=lambda: errors_m(settings, arenas),
        script=script,
    )


def start(worlds: Worlds) -> NumpyTag:
    """The same rounds as in the twin's worlds."""
    twin: Any = worlds.twin  # type: ignore[attr-defined]
    return NumpyTag(worlds.settings, twin.arena_slots.copy(), twin.agents.copy())


def errors_m(settings: TagSettings, arenas: list[Arena], worlds: int = 256) -> dict[str, float]:
    """How far NumPy's positions and rays are from the twin's after a few decisions of random play."""
    twin = make_vec("tag", num_worlds=worlds, seed=3, settings=settings, arenas=arenas)
    agents, plain = twin.twin.agents, start(twin)  # type: ignore[attr-defined]
    going = np.ones(worlds, bool)
    position_m = ray_m = 0.0
    for actions in random_actions(twin)[:CHECKED_DECISIONS]:
        twin.step(actions)
        plain.step(actions)
        going &= ~twin.ended & ~plain.ended
        apart = np.abs(np.stack(plain.position, -1) - agents["position"])[going]
        seen = np.concatenate([twin.roles[name].observation for name in ("seeker", "hider")], 1)[going]
        rays = LAYOUT.view(np.abs(seen - plain.observation[going]), "rays")
        position_m = max(position_m, float(apart.max()))
        # A ray may pass an edge on either side of it; that is no difference of the game.
        ray_m = max(ray_m, float(np.quantile(rays[..., RAY_DISTANCE] * settings.sight.range_m, 0.999)))
    return {"position": position_m, "ray": ray_m}
