"""Generated arenas: files of them are valid, every place can be reached, and some have rooms."""

from pathlib import Path

import numpy as np
import pytest

from godojo.games.tag.arenas import generate_arena, read_arena
from godojo.games.tag.settings import TagSettings
from tests.tag_geometry import parts_of_floor

SEEDS = range(120)
WIDEST = TagSettings.defaults().override_texts(["body.size_m=1.5"])


@pytest.mark.parametrize("settings", [TagSettings.defaults(), WIDEST], ids=["usual", "widest bodies"])
def test_whoever_starts_anywhere_can_get_everywhere(settings: TagSettings) -> None:
    for seed in SEEDS:
        arena = generate_arena(seed, settings)
        assert len(parts_of_floor(arena, settings.body.size_m)) == 1, f"arena {seed} is in parts"


def test_some_have_rooms_and_some_have_not() -> None:
    rooms = [all(min(box.size_m[0], box.size_m[2]) < 0.9 for box in generate_arena(seed).boxes) for seed in SEEDS]
    assert 0.1 < np.mean(rooms) < 0.4


def test_they_are_arenas_as_files_must_be(tmp_path: Path) -> None:
    for seed in SEEDS:
        path = tmp_path / "arena.json"
        path.write_bytes(generate_arena(seed).to_json())
        read_arena(path)  # refuses, for example, boxes that overlap
