"""Generated arenas: of every kind and size, valid as files, and with a way from every start to every other."""

from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.games.tag.arenas import Arena, Box, generate_arena, read_arena
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.sim.generation import KINDS
from godojo.games.tag.sim.step import begin_worlds
from godojo.games.tag.sim.twin import TagTwin
from godojo.kernels.random import stream_of
from tests.tag_geometry import FloorPlan

SEEDS = range(400)
USUAL = TagSettings.defaults()
WIDEST = USUAL.override_texts(["body.size_m=1.5"])


@pytest.fixture(scope="module")
def arenas() -> list[Arena]:
    return [generate_arena(seed) for seed in SEEDS]


def test_every_start_can_be_reached_from_every_other(arenas: list[Arena]) -> None:
    for arena in arenas:
        assert FloorPlan(arena, USUAL).is_connected(), f"{arena.title} is in parts"
        assert 8 <= len(arena.spawns) <= 32


def test_so_it_is_for_the_widest_bodies() -> None:
    for seed in SEEDS[:120]:
        arena = generate_arena(seed, WIDEST)
        assert FloorPlan(arena, WIDEST).is_connected(), f"{arena.title} is in parts"
        assert 8 <= len(arena.spawns) <= 32


def test_a_wall_from_side_to_side_parts_an_arena(arenas: list[Arena]) -> None:
    """`is_connected` must notice it: what the tests above assert is not always so."""
    open_field = next(arena for arena in arenas if "open" in arena.title and not arena.boxes)
    for height_m, is_connected in ((1.4, False), (1.0, True)):
        wall = Box((0.0, height_m / 2, 0.0), (open_field.size_m[0], height_m, 0.2), "tall")
        spawns = tuple(area for area in open_field.spawns if abs(area.position_m[2]) > 1.0)
        arena = msgspec.structs.replace(open_field, boxes=(wall,), spawns=spawns)
        assert FloorPlan(arena, USUAL).is_connected() == is_connected


def test_every_kind_is_drawn_about_as_often_as_its_share(arenas: list[Arena]) -> None:
    drawn = Counter(arena.title.split()[1] for arena in arenas)
    whole = sum(kind.share for kind in KINDS.values())
    assert set(drawn) == set(KINDS)
    for name, kind in KINDS.items():
        share = kind.share / whole
        assert abs(drawn[name] - share * len(arenas)) < 4 * np.sqrt(share * len(arenas)), name


def test_sizes_are_from_12_to_60_m_and_mostly_from_14_to_30(arenas: list[Arena]) -> None:
    sizes = np.array([arena.size_m for arena in arenas])
    assert 12 <= sizes.min() < 12.5
    assert 57 < sizes.max() <= 60
    assert np.mean((sizes >= 14) & (sizes <= 30)) > 0.6
    assert np.mean(sizes.max(1) > 2 * sizes.min(1)) > 0.05, "some are long and thin"


def test_there_are_thin_walls_steps_and_platforms_to_walk_under(arenas: list[Arena]) -> None:
    boxes = [box for arena in arenas for box in arena.boxes]
    assert any(min(box.size_m[0], box.size_m[2]) <= 0.25 for box in boxes)
    assert any(box.low[1] > USUAL.body.size_m for box in boxes)
    starts_m = {area.position_m[1] for arena in arenas for area in arena.spawns}
    assert max(starts_m) > 2 * max(height for height in starts_m if height < 1.0), "some start on top of stairs"


def test_the_embedded_game_makes_the_same(arenas: list[Arena]) -> None:
    twin = TagTwin(len(arenas), generated_share=1.0)
    for seed in SEEDS:  # one number is drawn before, to choose a generated arena
        twin.worlds["stream"][seed] = stream_of(np.uint64(seed), 0) - np.uint64(0x9E3779B97F4A7C15)
    played = twin.arena_slots
    begin_worlds(twin.numbers, twin.catalogue, played, twin.worlds, twin.agents, twin.tables, twin.results.observation)
    for arena, slot in zip(arenas, played, strict=True):
        assert slot["size_m"] == pytest.approx(arena.size_m)
        assert slot["boxes"] == len(arena.boxes)
        low, spawns = slot["low"][:, : slot["boxes"]].T, slot["spawns"][: slot["spawn_count"], :3]
        assert np.allclose(low.tolist(), [box.low for box in arena.boxes], rtol=0, atol=1e-4)
        assert np.allclose(spawns, [area.position_m for area in arena.spawns], rtol=0, atol=1e-4)


def test_in_each_there_is_room_for_eight(arenas: list[Arena]) -> None:
    crowd = USUAL.override_texts(["rules.seekers=4", "rules.hiders=4"])
    TagTwin(1, settings=crowd, arenas=arenas)  # refuses arenas without


def test_they_are_arenas_as_files_must_be(arenas: list[Arena], tmp_path: Path) -> None:
    for arena in arenas[:120]:
        path = tmp_path / "arena.json"
        path.write_bytes(arena.to_json())
        assert read_arena(path) == arena  # refuses, for example, boxes that overlap
