"""The twin's physics against the real engine, 2D and both engines of 3D: seeded random motion, tick by tick."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from godojo.engines.godot.find import Engine
from godojo.errors import GodojoError
from godojo.twin.physics.engines import GODOT, JOLT
from godojo.twin.scene.snapshot import Snapshot, read_snapshot
from godojo.twin.world.bodies import physics_of
from tests.nightly import repeats
from tests.physics_recording import record

ROOT = Path(__file__).parent.parent
SNAPSHOTS = Path(__file__).parent / "twin_snapshots"


def figures_in_python(module: str, argument: str) -> dict[str, Any]:
    """What a module prints, with kernels in plain Python: the same operations, without minutes of compilation."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", module, argument]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def figures_of(engine: Engine, kind: str, seed: int, folder: Path, physics: str = JOLT) -> dict[str, Any]:
    scenes, ticks = repeats(1, nightly=12), repeats(60, nightly=240)
    path = record(engine, kind, seed, scenes, ticks, folder / "recording.json", physics)
    return figures_in_python("tests.physics_parity", str(path))


@pytest.mark.parametrize("physics", [JOLT, GODOT])
def test_characters_and_rays_agree_with_the_engine(engine: Engine, tmp_path: Path, physics: str) -> None:
    figures = figures_of(engine, "mixed", 1, tmp_path, physics)
    assert figures["one_second_median_m"] < 1e-3
    assert figures["one_second_p95_m"] < 2e-2
    assert figures["flags_agree"] > 0.995
    assert figures["rays_agree"] > 0.999
    assert figures["ray_p99_m"] < 1e-3


@pytest.mark.parametrize("physics", [JOLT, GODOT])
def test_rolling_and_bouncing_balls_agree_with_the_engine(engine: Engine, tmp_path: Path, physics: str) -> None:
    assert figures_of(engine, "rigid", 7, tmp_path, physics)["rigid_one_second_max_m"] < 1e-3


def check_bodies(figures: dict[str, Any]) -> None:
    assert figures["body_tick_p99_m"] < 1e-4
    assert figures["body_second_median_m"] < 1e-3
    assert figures["body_second_p95_m"] < 2e-2


@pytest.mark.parametrize("kind", ["pushed", "vehicle"])
def test_rigid_bodies_that_meet_and_vehicles_agree_with_the_engine(engine: Engine, tmp_path: Path, kind: str) -> None:
    check_bodies(figures_of(engine, kind, 7, tmp_path, GODOT))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["billiard", "stack", "tumble", "woken"])
def test_each_kind_of_rigid_scene_agrees_with_the_engine(engine: Engine, tmp_path: Path, kind: str) -> None:
    check_bodies(figures_of(engine, kind, 7, tmp_path, GODOT))


def _first_agent(engine: str, **given: list[Any]) -> Snapshot:
    """The snapshot of `first_agent`, on another engine, with other properties of its ball."""
    snapshot = read_snapshot(SNAPSHOTS / "first_agent.json")
    snapshot.physics_engine = engine
    for node in snapshot.nodes:
        if node.native_class == "RigidBody3D":
            node.properties.update(given)
    return snapshot


def test_rigid_bodies_that_would_move_otherwise_are_refused() -> None:
    assert physics_of(_first_agent(JOLT))
    assert physics_of(_first_agent(GODOT, continuous_cd=["bool", True], contact_monitor=["bool", True]))
    for name, value in (("continuous_cd", True), ("axis_lock_linear_x", True), ("custom_integrator", True)):
        with pytest.raises(GodojoError, match="/Ball: on Jolt a twin has no "):
            physics_of(_first_agent(JOLT, **{name: ["bool", value]}))
    snapshot = _first_agent(GODOT)
    snapshot.settings["physics/3d/solver/solver_iterations"] = ["int", 4]
    with pytest.raises(GodojoError, match="only with physics/3d/solver/solver_iterations = 16"):
        physics_of(snapshot)


def test_characters_of_godot_physics_move_bit_exactly(engine: Engine, tmp_path: Path) -> None:
    assert figures_of(engine, "boxes", 7, tmp_path, GODOT)["one_tick_max_m"] == 0.0


def test_shortcuts_of_godot_physics_find_what_all_steps_find() -> None:
    figures = figures_in_python("tests.physics_shortcuts", str(repeats(600, nightly=20_000)))
    assert figures["touching"] > figures["pairs"] // 5
    assert figures["differences"] == 0


_KINDS = ["flat", "yaw", "boxes", "crowd", "bodies", "areas", "meshes"]


KINDS_2D = ["flat_2d", "mixed_2d", "floating_2d", "bodies_2d", "crowd_2d", "areas_2d", "boundary_2d", "one_way_2d"]


def check_2d(figures: dict[str, Any], kind: str) -> None:
    """Lengths are pixels."""
    assert figures["one_tick_p99_m"] < 0.1
    assert figures["one_second_median_m"] < 0.1
    assert figures["one_second_p95_m"] < 2.0
    assert figures["flags_agree"] > 0.995
    assert figures["rays_agree"] > 0.99
    assert figures["ray_p99_m"] < 0.01
    assert kind != "areas_2d" or figures["events_agree"] > 0.97


def test_2d_characters_and_rays_agree_with_the_engine(engine: Engine, tmp_path: Path) -> None:
    check_2d(figures_of(engine, "mixed_2d", 1, tmp_path), "mixed_2d")


def test_2d_bodies_in_free_flight_agree_with_the_engine(engine: Engine, tmp_path: Path) -> None:
    assert figures_of(engine, "rigid_2d", 7, tmp_path)["rigid_one_second_max_m"] < 0.01


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS_2D)
def test_each_kind_of_2d_scene_agrees_with_the_engine(engine: Engine, tmp_path: Path, kind: str) -> None:
    check_2d(figures_of(engine, kind, 7, tmp_path), kind)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "physics"), [*((kind, JOLT) for kind in _KINDS), *((kind, GODOT) for kind in _KINDS if kind != "meshes")]
)
def test_each_kind_of_scene_agrees_with_the_engine(engine: Engine, tmp_path: Path, kind: str, physics: str) -> None:
    figures = figures_of(engine, kind, 7, tmp_path, physics)
    assert figures["one_second_median_m"] < 1e-3
    assert figures["one_second_p95_m"] < 2e-2
    assert figures["flags_agree"] > 0.995
    assert figures["rays_agree"] > 0.999
    assert kind != "areas" or (figures["events"] > 20 and figures["events_agree"] > 0.97)


def test_a_transform_is_split_into_rotation_and_scale() -> None:
    from godojo.twin.physics.build import split_scale

    plain, scale = split_scale(np.array([0, -2, 0, 3, 0, 0, 0, 0, 4, 1, 2, 3], np.float32))
    assert plain.tolist() == [0, -1, 0, 1, 0, 0, 0, 0, 1, 1, 2, 3]
    assert scale.tolist() == [3, 2, 4]


def test_the_corners_of_a_hull_move_inwards_by_the_radius() -> None:
    from godojo.twin.physics.hulls import find_planes, shrink

    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], np.float64)
    planes = find_planes(corners)
    assert len(planes) == 6
    inner, radius = shrink(corners, planes, 0.04)
    assert radius == 0.04
    assert np.allclose(np.abs(inner), [0.96, 1.96, 2.96])


def test_a_hull_of_godot_physics_has_faces_and_edges() -> None:
    from godojo.twin.physics.godot.hulls import hull_rows

    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], np.float64)
    rows, points, faces, edges = hull_rows(np.concatenate([corners, [[0.0, 0.0, 0.0]], corners]))
    assert (points, faces, edges) == (8, 6, 12)
    assert len(rows) == 8 + 2 * 6 + 2 * 12 + 4 * 6
    for face in range(faces):
        normal, (distance, first, count) = rows[8 + 2 * face], rows[8 + 2 * face + 1]
        around = rows[rows[int(first) : int(first + count), 0].astype(int)]
        assert np.allclose(around @ normal, distance)
        assert np.cross(around[0] - around[2], around[0] - around[1]) @ normal > 0.0  # clockwise


def test_a_plane_is_a_box_below_it() -> None:
    from godojo.twin.physics.build import plane

    shape = plane((0.0, 2.0, 0.0), 3.0)
    top = shape.transform[10] + shape.size[1] * shape.transform[4]
    assert top == 3.0
