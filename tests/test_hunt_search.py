"""Explorers, the archive and the team, in a small game."""

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from godojo.games.parts import ActionPart
from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import MOST_CELLS, Archive, Steps
from godojo.hunt.game import Seen
from godojo.hunt.team import EXPLORERS, Team
from tests.hunted_grid import Grid


def explored(name: str, decisions: int, seed: int = 0, attempt: int = 40) -> Archive:
    """What an explorer reaches alone, in attempts of equal length."""
    game, archive, rng = Grid(()), Archive(), np.random.default_rng(seed)
    explorer = EXPLORERS[name](ActionSpace(game.action_parts), archive, rng)
    while game.steps < decisions:
        start = explorer.begin(game)
        steps = Steps(start.seed, name)
        seen = game.reset(start.seed)
        for played in range(len(start) + attempt):
            cell, novelty = archive.visit(seen, steps)
            if played > len(start):
                explorer.learn(cell, novelty)
            steps.actions.append(start.actions[played] if played < len(start) else explorer.choose(seen))
            seen = game.step(steps.actions[-1])
    return archive


def farthest(archive: Archive) -> float:
    return float(archive.sampled[:, [0, 2]].sum(1).max())


@pytest.mark.parametrize("name", ["random", "sticky", "archive", "novelty"])
def test_every_explorer_moves(name: str) -> None:
    assert farthest(explored(name, 1500)) > 6


def test_returning_and_curiosity_reach_farther_than_chance() -> None:
    chance = np.mean([farthest(explored("random", 3000, seed, attempt=12)) for seed in range(4)])
    for name in ("archive", "novelty"):
        assert np.mean([farthest(explored(name, 3000, seed, attempt=12)) for seed in range(4)]) > chance + 2, name


def test_ways_of_the_archive_lead_where_they_say() -> None:
    archive, game = explored("archive", 3000), Grid(())
    for entry in archive.entries.values():
        way = entry.steps.trace(entry.length)
        seen = game.reset(way.seed)
        for action in way.actions:
            seen = game.step(action)
        assert np.array_equal(seen.position, entry.look.position)


def test_the_archive_stays_bounded_in_a_large_world() -> None:
    archive, rng, steps = Archive(), np.random.default_rng(0), Steps(0)
    for place in rng.uniform(-1e4, 1e4, (3 * MOST_CELLS, 3)):
        archive.visit(_at(place, state=rng.standard_normal(8)), steps)
    assert 100 < len(archive.entries) <= MOST_CELLS + 1


def test_a_position_that_is_not_finite_is_a_place_like_others() -> None:
    archive = Archive()
    archive.visit(_at(np.array([np.nan, np.inf, 0.0]), state=np.array([np.nan])), Steps(0))
    assert len(archive.entries) == 1


def test_the_archive_resumes(tmp_path: Path) -> None:
    archive = explored("archive", 2000)
    archive.save(tmp_path / "archive.npz")
    resumed = Archive()
    resumed.load(tmp_path / "archive.npz")
    assert len(resumed.entries) > 0.8 * len(archive.entries)
    assert farthest(resumed) == farthest(archive)
    (tmp_path / "archive.npz").write_bytes(b"damaged")
    fresh = Archive()
    fresh.load(tmp_path / "archive.npz")
    assert not fresh.entries


def test_the_crawler_clicks_every_element() -> None:
    parts = (ActionPart("pointer", "continuous", 2), ActionPart("click", "discrete", 2))
    crawler = EXPLORERS["ui"](ActionSpace(parts), Archive(), np.random.default_rng(0))
    points = {"Play": (-0.5, 0.0), "Options": (0.0, 0.2), "Credits": (0.5, 0.9)}
    shown, game = _at(np.zeros(3))._replace(ui=tuple(points)), Grid()
    game.ui_points = points
    crawler.begin(game)
    assert crawler.fits(shown)
    assert not crawler.fits(_at(np.zeros(3)))
    pressed = []
    for _ in range(90):
        action = crawler.choose(shown)
        if action[2] > 0.5:
            pressed.append(tuple(np.round(action[:2].astype(float), 3)))
            assert crawler.choose(shown)[2] == 0.0  # released before the next press
    assert set(points.values()) <= set(pressed)


def test_the_crawler_insists_now_and_then() -> None:
    """Some things break when they are used for the third time."""
    parts = (ActionPart("pointer", "continuous", 2), ActionPart("click", "discrete", 2))
    crawler = EXPLORERS["ui"](ActionSpace(parts), Archive(), np.random.default_rng(0))
    points = {f"Button{number}": (0.1 * number, 0.0) for number in range(8)}
    shown, game = _at(np.zeros(3))._replace(ui=tuple(points)), Grid()
    game.ui_points = points
    longest = 0
    for _ in range(20):
        crawler.begin(game)
        pressed = [action[0] for action in (crawler.choose(shown) for _ in range(400)) if action[2] > 0.5]
        runs = [sum(1 for _ in same) for _, same in groupby(pressed)]
        longest = max(longest, *runs)
    assert longest >= 5


def test_a_drill_tries_every_input() -> None:
    game = Grid(())
    space = ActionSpace((*game.action_parts, ActionPart("ui_accept", "discrete", 2)))
    drill = EXPLORERS["drill"](space, Archive(), np.random.default_rng(0))
    drill.begin(game)
    seen, corners, played = game.reset(0), set(), []
    while not drill.is_done:
        played.append(tuple(drill.choose(seen).tolist()))
        seen = game.step(np.array(played[-1][:2]))
        corners.add(tuple(seen.position[[0, 2]].tolist()))
    assert len(played) < drill.shortest
    assert {0.0, game.SIZE - 1.0} <= {place[0] for place in corners} & {place[1] for place in corners}, "all edges"
    runs = [action for action, _ in groupby(played)]
    for one in ((1, 0), (2, 0), (3, 0), (4, 0), (0, 1)):
        assert runs.count((*map(float, one), 0.0)) >= 8, "pressed again and again"
    assert any(action[0] and action[1] for action in played), "one thing beside another"
    assert not any(action[2] for action in played), "what menus need is for menus"


def test_starts_are_short() -> None:
    game = Grid()
    explorer = EXPLORERS["starts"](ActionSpace(game.action_parts), Archive(), np.random.default_rng(0))
    seeds = set()
    for _ in range(5):
        seeds.add(explorer.begin(game).seed)
        played = 0
        while not explorer.is_done:
            explorer.choose(_at(np.zeros(3)))
            played += 1
        assert played == 3
    assert len(seeds) == 5


def test_time_goes_to_those_who_find() -> None:
    team = Team(["random", "archive", "novelty"])
    given = (ActionSpace((ActionPart("move", "discrete", 5),)), Archive(), np.random.default_rng(0))
    explorers = [EXPLORERS[name](*given) for name in team.shares]
    for _ in range(300):
        chosen = team.choose(explorers)
        found = 12 if chosen.name == "archive" else 1
        team.played(chosen.name, seconds=1.0, decisions=100, new_cells=found, findings=0)
    seconds = {name: share.seconds for name, share in team.shares.items()}
    assert seconds["archive"] > 2 * max(seconds["random"], seconds["novelty"])
    assert min(seconds.values()) >= 0.08 * sum(seconds.values())


def test_sparse_buttons_and_prototypes() -> None:
    parts = tuple(ActionPart(f"button{number}", "discrete", 2) for number in range(20))
    space, rng = ActionSpace(parts), np.random.default_rng(0)
    assert max(space.sample(rng).sum() for _ in range(200)) <= 3
    prototypes = space.prototypes(rng)
    assert all((prototypes == np.eye(20)[number]).all(1).any() for number in range(20))


def _at(place: np.ndarray, state: np.ndarray | None = None) -> Seen:
    numbers = np.zeros(1) if state is None else state
    return Seen(
        state=numbers.astype(np.float32),
        position=place.astype(np.float32),
        ui=(),
        events=(),
        reward=0.0,
        ended=False,
        observation=numbers,
    )
