"""Plays in the twin's physics what Godot recorded (`godot/tests/physics`), and measures how far they are apart.

python -m tests.physics_parity RECORDING.json
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from godojo.twin.physics import build
from godojo.twin.physics.space import AREA, IS_CHARACTER, KINEMATIC, MONITORABLE, MONITORING, RIGID, STATIC
from godojo.twin.physics_2d import build as build_2d
from tests.physics_play import play
from tests.physics_play_2d import play as play_2d

KINDS = {"StaticBody3D": STATIC, "CharacterBody3D": KINEMATIC, "Area3D": AREA, "RigidBody3D": RIGID}
KINDS["VehicleBody3D"] = RIGID
TRAITS = {"CharacterBody3D": IS_CHARACTER, "Area3D": MONITORING | MONITORABLE}
KINDS |= {f"{name[:-2]}2D": kind for name, kind in KINDS.items()}
TRAITS |= {f"{name[:-2]}2D": traits for name, traits in TRAITS.items()}
DEFAULT_DAMP, DEFAULT_SPIN_DAMP_2D = 0.1, 1.0
SECOND = 60


def _shape_2d(entry: dict[str, Any]) -> build_2d.ShapeInfo:
    one_way = bool(entry.get("one_way", 0))
    match entry["shape"]:
        case "RectangleShape2D":
            return build_2d.rectangle(entry["size"], one_way=one_way)
        case "CircleShape2D":
            return build_2d.circle(entry["radius"])
        case "CapsuleShape2D":
            return build_2d.capsule(entry["radius"], entry["height"])
        case "SegmentShape2D":
            return build_2d.segment(entry["a"], entry["b"])
        case "WorldBoundaryShape2D":
            return build_2d.boundary(entry["normal"], entry["distance"])
    return build_2d.convex(np.array(entry["points"]))


def _is_flat(scene: dict[str, Any]) -> bool:
    return str(scene["kind"]).endswith("_2d")


def _shape(entry: dict[str, Any]) -> build.ShapeInfo:
    margin = entry["margin"]
    match entry["shape"]:
        case "BoxShape3D":
            return build.box(entry["size"], margin=margin)
        case "SphereShape3D":
            return build.sphere(entry["radius"])
        case "CapsuleShape3D":
            return build.capsule(entry["radius"], entry["height"])
        case "CylinderShape3D":
            return build.cylinder(entry["radius"], entry["height"], margin=margin)
        case "ConvexPolygonShape3D":
            return build.convex(np.array(entry["points"]), margin=margin)
    return build.mesh(np.array(entry["points"]))


def build_scene(scene: dict[str, Any]) -> tuple[Any, np.ndarray, np.ndarray]:
    """Shared arrays, the row of the space, and the rows of the characters."""
    infos: list[Any] = []
    maker: Any = build_2d if _is_flat(scene) else build
    for entry in scene["bodies"]:
        shape: Any = _shape_2d(entry) if _is_flat(scene) else _shape(entry)
        info = maker.BodyInfo(KINDS[entry["class"]], np.array(entry["transform"], np.float32), [shape])
        info.layer, info.mask = int(entry["layer"]), int(entry["mask"])
        info.traits = TRAITS.get(entry["class"], 0)
        for name in ("mass", "gravity_scale", "friction", "bounce", "center_of_mass", "wheels"):
            if name in entry:
                setattr(info, name, entry[name])
        info.linear_damp = DEFAULT_DAMP + entry.get("linear_damp", 0.0)
        if "angular_damp" in entry:
            info.angular_damp = DEFAULT_SPIN_DAMP_2D + entry["angular_damp"]
        infos.append(info)
    # The engine has made a step before the first recorded tick.
    for row in scene["ticks"][0]["bodies"]:
        info = infos[int(row["body"])]
        info.transform = np.array(row["transform"], np.float32)
        info.linear_velocity, info.angular_velocity = row["velocity"], row["spin"]
    engine = {} if _is_flat(scene) else {"engine": scene["physics"]}
    statics, rows = maker.build_space(infos, **engine)
    characters = []
    for setting in scene["settings"]:
        record = maker.new_character(rows[0]["bodies"][int(setting["body"])]["transform"])
        for name, value in setting.items():
            if name != "body":
                record[0][name] = value
        characters.append(record)
    return statics, rows, np.concatenate(characters)


def _plan(scene: dict[str, Any]) -> np.ndarray:
    def numbers(row: dict[str, Any]) -> list[float]:
        flags = [row["floor"], row["wall"], row["ceiling"]]
        normals = row["floor_normal"] + row["wall_normal"]
        return [*row["from"], *row["wanted"], *row["to"], *row["velocity"], *flags, *normals]

    return np.array([[numbers(row) for row in tick["movers"]] for tick in scene["ticks"]], np.float32)


class Played:
    """A scene, played in the twin."""

    def __init__(self, scene: dict[str, Any], restart: int) -> None:
        statics, rows, characters = build_scene(scene)
        ticks = scene["ticks"]
        self.plan = _plan(scene)
        self.axes = axes = 2 if _is_flat(scene) else 3
        size = (axes + 1) * axes  # numbers of a transform
        count = len(ticks)
        moved = np.array([tick["moved"][0] if tick["moved"] else -1 for tick in ticks], np.int32)
        places = np.array([tick["moved"][1] if tick["moved"] else [0.0] * size for tick in ticks], np.float32)
        balls = np.array([row["body"] for row in ticks[0]["bodies"]], np.int32)
        self.pushes = np.zeros((count, len(balls), axes), np.float32)
        self.engine_balls = np.zeros((count, len(balls), size), np.float32)
        states = np.zeros((count, len(balls), 21), np.float32)
        for index, tick in enumerate(ticks):
            for number, row in enumerate(tick["bodies"]):
                self.pushes[index, number], self.engine_balls[index, number] = row["push"], row["transform"]
                if axes == 3:
                    states[index, number] = [
                        *row["transform"],
                        *row["velocity"],
                        *row["spin"],
                        *row.get("drive", [0.0] * 3),
                    ]
        rays = [
            [[*ray["from"], *ray["to"], ray["exclude"], ray["areas"], ray["inside"]] for ray in tick["rays"]]
            for tick in ticks
        ]
        self.out = np.zeros((*self.plan.shape[:2], 2 * axes + 3), np.float32)
        self.balls = np.zeros_like(self.engine_balls)
        self.rays = np.zeros((count, len(rays[0]), 1 + 2 * axes), np.float32)
        events = np.zeros((count * 64, 4), np.int32)
        started = time.perf_counter()
        happened = (play_2d if axes == 2 else play)(
            build.make_space(statics, rows, scene.get("physics", "")),
            build.as_records(characters),
            np.array([setting["body"] for setting in scene["settings"]], np.int32),
            self.plan,
            moved,
            places,
            balls,
            self.pushes,
            states,
            np.array(rays, np.float32),
            float(scene["gravity"]),
            restart,
            self.out,
            self.balls,
            self.rays,
            events,
        )
        self.taken_s = time.perf_counter() - started
        self.events = [tuple(int(part) for part in row) for row in events[:happened]]

    def distances_m(self) -> np.ndarray:
        """[tick, mover]"""
        axes = self.axes
        difference = self.out[:, :, :axes].astype(np.float64) - self.plan[:, :, 2 * axes : 3 * axes]
        return np.asarray(np.linalg.norm(difference, axis=2))

    def balls_apart_m(self) -> np.ndarray:
        """[tick, rigid body]"""
        places = self.balls[..., -self.axes :].astype(np.float64)
        return np.asarray(np.linalg.norm(places - self.engine_balls[..., -self.axes :], axis=2))

    def flags_agree(self) -> np.ndarray:
        """[tick, mover]"""
        axes = self.axes
        mine, engine = self.out[:, :, 2 * axes : 2 * axes + 3], self.plan[:, :, 4 * axes : 4 * axes + 3]
        return np.asarray((mine == engine).all(axis=2))


def _events(scene: dict[str, Any]) -> list[tuple[int, ...]]:
    """Those from the third tick on: what overlaps from the start is announced while the scene is being built."""
    return [
        (index, *(int(part) for part in event))
        for index, tick in enumerate(scene["ticks"])
        for event in tick["events"]
        if index > 2
    ]


def _of_bodies(tick_m: np.ndarray, second_m: np.ndarray) -> dict[str, float]:
    """Figures of rigid bodies."""
    if tick_m.size == 0 or second_m.size == 0:
        return {}
    return {
        "body_tick_p99_m": float(np.percentile(tick_m, 99)),
        "body_tick_max_m": float(tick_m.max()),
        "body_second_median_m": float(np.median(second_m)),
        "body_second_p95_m": float(np.percentile(second_m, 95)),
    }


def measure(scenes: list[dict[str, Any]]) -> dict[str, float]:
    """Figures over all scenes; metres (pixels of 2D scenes), and shares that agree."""
    ticks, seconds, flags, balls, hits, ray_m, same, all_events = [], [], [], [], [], [], 0, 0
    ball_ticks: list[np.ndarray] = []
    ball_seconds: list[np.ndarray] = []
    for scene in scenes:
        by_tick = Played(scene, 1)
        ticks.append(by_tick.distances_m().ravel())
        flags.append(by_tick.flags_agree().ravel())
        by_second = Played(scene, SECOND)
        whole = len(scene["ticks"]) // SECOND
        worst = by_second.distances_m()[: whole * SECOND].reshape(whole, SECOND, -1).max(axis=1)
        seconds.append(worst.ravel())
        axes = by_tick.axes
        ball_m = by_second.balls_apart_m()
        balls.append(ball_m[: SECOND + 1].max(axis=0, initial=0.0))
        ball_ticks.append(by_tick.balls_apart_m().ravel())
        ball_m = np.concatenate([ball_m[1:], ball_m[-1:]])[: whole * SECOND]  # what each tick has led to
        ball_seconds.append(ball_m.reshape(whole, SECOND, -1).max(axis=1).ravel())
        for index, tick in enumerate(scene["ticks"]):
            for number, ray in enumerate(tick["rays"]):
                row = by_tick.rays[index, number]
                hits.append(int(row[0]) == int(ray["body"]))
                if hits[-1] and ray["body"] >= 0:
                    ray_m.append(float(np.abs(row[1 : 1 + axes] - np.array(ray["position"])).max()))
        engine, twin = _events(scene), [event for event in by_tick.events if 2 < event[0] < len(scene["ticks"])]
        same += len(set(engine) & set(twin))
        all_events += len(set(engine) | set(twin))
    tick_m, second_m, ball_m = np.concatenate(ticks), np.concatenate(seconds), np.concatenate(balls)
    return {
        "ticks": len(tick_m),
        "one_tick_p99_m": float(np.percentile(tick_m, 99)),
        "one_tick_max_m": float(tick_m.max()),
        "one_second_median_m": float(np.median(second_m)),
        "one_second_p95_m": float(np.percentile(second_m, 95)),
        "flags_agree": float(np.concatenate(flags).mean()),
        "rigid_one_second_max_m": float(ball_m.max(initial=0.0)),
        **_of_bodies(np.concatenate(ball_ticks), np.concatenate(ball_seconds)),
        "rays_agree": float(np.mean(hits)),
        "ray_p99_m": float(np.percentile(ray_m, 99)),
        "events": all_events,
        "events_agree": same / max(all_events, 1),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(json.loads(Path(sys.argv[1]).read_text()))))
