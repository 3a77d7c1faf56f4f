"""2D twins: Godot's rules for transforms, shapes and signals; and a game that is compared with the real engine."""

# mypy: disable-error-code="no-untyped-call"
# Functions that are compiled have no types.

from pathlib import Path

import numpy as np
import pytest

from godojo.twin.build import build_twin, check_twin
from godojo.twin.gate import Line, shown
from godojo.twin.gdscript.runtime.rects import Rect2
from godojo.twin.gdscript.runtime.transforms import transform2d_of
from godojo.twin.gdscript.runtime.vector2 import Vector2
from godojo.twin.physics.space import AREA, KINEMATIC, STATIC
from godojo.twin.physics_2d import build
from godojo.twin.world.api import METHODS, PROPERTIES

GAMES = Path(__file__).parent / "godot_rl_games"


def test_a_transform_is_made_of_its_parts_and_read_again() -> None:
    made = transform2d_of(0.5, Vector2(2.0, -3.0), 0.1, Vector2(7.0, 8.0))
    assert made.get_rotation() == pytest.approx(0.5, abs=1e-6)
    assert (made.get_scale() - Vector2(2.0, -3.0)).length() < 1e-5
    assert made.get_skew() == pytest.approx(0.1, abs=1e-6)
    assert made.affine_inverse().xform(made.xform(Vector2(1.0, 2.0))).is_equal_approx(Vector2(1.0, 2.0))


def test_rectangles_that_share_an_edge_do_not_intersect() -> None:
    one = Rect2(Vector2(0.0, 0.0), Vector2(10.0, 5.0))
    assert one.end == Vector2(10.0, 5.0)
    assert not one.intersects(Rect2(Vector2(10.0, 0.0), Vector2(1.0, 1.0)))
    assert one.intersects(Rect2(Vector2(9.5, 4.5), Vector2(1.0, 1.0)))
    assert one.has_point(Vector2(0.0, 0.0))
    assert not one.has_point(Vector2(10.0, 1.0))


def test_bounds_masses_and_pairs_are_found() -> None:
    half_turn = np.array([-1, 0, 0, -1, 100, 50], np.float32)
    bodies = [
        build.BodyInfo(STATIC, half_turn, [build.segment((0, 0), (10, 20))]),
        build.BodyInfo(KINEMATIC, shapes=[build.capsule(2.0, 10.0)]),
        build.BodyInfo(AREA, shapes=[build.circle(3.0)]),
    ]
    statics, rows = build.build_space(bodies)
    assert rows[0]["bounds"][:, 0].tolist() == [90.0, 30.0, 100.0, 50.0]
    assert rows[0]["bounds"][:, 1].tolist() == [-2.0, -5.0, 2.0, 5.0]
    assert statics.pairs["other"].tolist() == [0, 1]
    assert statics.roster["mover"].tolist() == [1, -1, -1]
    assert statics.roster["area"].tolist() == [2, -1, -1]


def test_2d_and_3d_offer_the_same_calls_of_bodies() -> None:
    for table in (METHODS, PROPERTIES):
        for cls in ("CharacterBody", "Area", "RayCast", "CollisionObject"):
            flat = {name for one, name in table if one == f"{cls}2D"}
            deep = {name for one, name in table if one == f"{cls}3D"}
            assert not {name for name in deep - flat if "back_faces" not in name}


def test_lengths_of_2d_games_are_pixels() -> None:
    line = Line("one-second position, median", 0.05, 0.1, 8, "px")
    assert line.is_met
    assert shown(line, line.value) == "0.05 px"


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("scene", ["chase.tscn", "hop.tscn"])
def test_a_2d_game_is_played_as_in_the_engine(scene: str) -> None:
    parity = check_twin(build_twin(GAMES / "arcade", scene), seeds=2)
    assert parity.passes, parity.missed()
    assert parity.line("observations that agree").value > 0.97
