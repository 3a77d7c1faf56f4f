"""Generated arenas: files of them are valid, every place can be reached, and some have rooms."""

from pathlib import Path

import numpy as np
import pytest

from godojo.games.tag.arenas import Arena, generate_arena, read_arena
from godojo.games.tag.settings import TagSettings

SEEDS = range(120)
WIDEST = TagSettings.defaults().override_texts(["body.size_m=1.5"])


@pytest.mark.parametrize("settings", [TagSettings.defaults(), WIDEST], ids=["usual", "widest bodies"])
def test_whoever_starts_anywhere_can_get_everywhere(settings: TagSettings) -> None:
    for seed in SEEDS:
        arena = generate_arena(seed, settings)
        assert len(places_reached(arena, settings.body.size_m)) == 1, f"arena {seed} is in parts"


def test_some_have_rooms_and_some_have_not() -> None:
    rooms = [all(min(box.size_m[0], box.size_m[2]) < 0.9 for box in generate_arena(seed).boxes) for seed in SEEDS]
    assert 0.1 < np.mean(rooms) < 0.4


def test_they_are_arenas_as_files_must_be(tmp_path: Path) -> None:
    for seed in SEEDS:
        path = tmp_path / "arena.json"
        path.write_bytes(generate_arena(seed).to_json())
        read_arena(path)  # refuses, for example, boxes that overlap


def places_reached(arena: Arena, body_m: float) -> set[int]:
    """The parts of the floor that a body can walk between, by number, in which somebody may start."""
    pitch = 0.1
    half_x, half_z = (extent / 2 - body_m / 2 for extent in arena.size_m)
    x, z = np.arange(-half_x, half_x, pitch), np.arange(-half_z, half_z, pitch)
    free = np.ones((len(x), len(z)), bool)
    for box in arena.boxes:
        low, high = np.array(box.low) - body_m / 2 + 1e-6, np.array(box.high) + body_m / 2 - 1e-6
        if box.high[1] > 1.0:
            free &= ~(((x > low[0]) & (x < high[0]))[:, None] & ((z > low[2]) & (z < high[2]))[None, :])
    starts = set()
    for area in arena.spawns:
        start = (int(np.abs(x - area.position_m[0]).argmin()), int(np.abs(z - area.position_m[2]).argmin()))
        assert free[start], "a start inside a wall"
        starts.add(start)
    part = np.zeros(free.shape, int)
    number = 0
    for start in starts:
        if part[start]:
            continue
        number += 1
        edge = [start]
        part[start] = number
        while edge:
            i, j = edge.pop()
            for near in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if 0 <= near[0] < len(x) and 0 <= near[1] < len(z) and free[near] and not part[near]:
                    part[near] = number
                    edge.append(near)
    return {int(part[start]) for start in starts}
