"""Observations by name: the declaration that both engines read, and the tables in the docs."""

import re
from pathlib import Path

import numpy as np
import pytest

from godojo.games.navigation import settings as navigation
from godojo.games.parts import DeclaredPart, ObservationLayout
from godojo.games.tag import spec as tag
from godojo.games.tag.settings import TagSettings

DOCS = Path(__file__).parent.parent / "docs" / "games"
LAYOUTS = {"tag": tag.LAYOUT, "navigation": navigation.LAYOUT}


def documented(game: str) -> list[dict[str, str]]:
    """Rows of the observation's table, by column."""
    section = (DOCS / f"{game}.md").read_text().partition("## Observation\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (.*) \|$", section, re.M)
    header, *rows = ([cell.strip() for cell in line.split(" |")] for line in lines)
    return [dict(zip(header, (cell.lstrip("| ") for cell in row), strict=True)) for row in rows]


@pytest.mark.parametrize("game", LAYOUTS)
def test_the_docs_show_the_declared_observation(game: str) -> None:
    layout, rows = LAYOUTS[game], documented(game)
    assert tuple(row["name"] for row in rows) == layout.names
    for row in rows:
        part = layout.declared[row["name"]]
        assert int(row["from"]) == layout.start(part.name)
        rays = isinstance(part.shape[0], str)
        assert row["size"] == (f"{layout.width(part.name)} each" if rays else str(layout.width(part.name)))
        if "bounds" in row:
            assert row["bounds"] == ", ".join(
                f"`{bound}`" if isinstance(bound, str) else f"{bound:g}" for bound in (part.low, part.high)
            )


def test_parts_by_name() -> None:
    settings = TagSettings.defaults()
    layout = tag.LAYOUT
    numbers = np.arange(2 * layout.size(settings)).reshape(2, -1)
    assert layout.view(numbers, "velocity").tolist() == numbers[:, 3:6].tolist()
    rays = layout.view(numbers, "rays")
    assert rays.shape == (2, settings.ray_count, 2)
    assert rays[1, 3].tolist() == numbers[1, 13 + 6 : 13 + 8].tolist()
    assert np.shares_memory(rays, numbers)
    assert layout.size(settings) == 13 + 2 * settings.ray_count
    assert sum(part.size for part in layout.parts(settings)) == layout.size(settings)


def test_frames_give_the_heading() -> None:
    heading = tag.HEADING
    assert (heading.forward, heading.observed, heading.acted) == ((6, 7), ((0, 2), (3, 5)), ((0, 1),))


def test_bounds_come_from_settings() -> None:
    settings = navigation.NavigationSettings.defaults().override(**{"sight.range_m": 7.5})
    assert {part.name: part.high for part in navigation.LAYOUT.parts(settings)}["rays"] == 7.5


def test_only_the_last_part_may_depend_on_settings() -> None:
    rays = DeclaredPart("rays", ("ray_count",), 0.0, 1.0)
    with pytest.raises(ValueError, match="rays: only the last"):
        ObservationLayout((rays, DeclaredPart("speed", (1,), 0.0, 1.0)))
