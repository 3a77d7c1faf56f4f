"""locomotion in the real engine: observations, rewards and measures as its page describes them."""

from collections.abc import Iterator

import numpy as np
import pytest

from godojo.engines.godot import run_project
from godojo.engines.godot.find import Engine
from godojo.engines.godot.game_source import GameSource
from godojo.engines.godot.project import problem_lines
from godojo.engines.godot.worlds import GodotWorlds
from godojo.games.base import SCENE_GAMES

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]
WORLDS = 4


@pytest.fixture(scope="module")
def worlds() -> Iterator[GodotWorlds]:
    with GameSource.of_scene(SCENE_GAMES["locomotion"]).open(seed=1, usual_worlds=WORLDS) as opened:
        yield opened


def test_observations_and_actions(worlds: GodotWorlds) -> None:
    walker = worlds.roles["walker"]
    assert walker.observation.shape == (WORLDS, 1, 12)
    assert walker.action.shape == (WORLDS, 1, 4)
    assert [part.name for part in walker.observation_parts] == [
        *("direction", "distance", "yaw", "velocity", "rays", "head")
    ]
    assert (worlds.ticks_per_second, worlds.ticks_per_decision) == (90, 8)
    assert [measure.name for measure in walker.measures][:2] == ["success", "reached"]


def test_a_seed_plays_the_same_rounds(worlds: GodotWorlds) -> None:
    played = [_played(worlds, seed) for seed in (3, 3, 4)]
    np.testing.assert_array_equal(played[0], played[1])
    assert not np.array_equal(played[0], played[2])


def test_walking_to_the_waypoint_succeeds(worlds: GodotWorlds) -> None:
    """Straight to the waypoint and without a look at the rays: most rounds end well, and those that do measure it."""
    worlds.reset(5)
    walker = worlds.roles["walker"]
    names = [measure.name for measure in walker.measures]
    ends: list[dict[str, float]] = []
    while len(ends) < 8:
        seen = walker.observation[:, 0]
        (east, south), (sine, cosine) = seen[:, 0:2].T, seen[:, 3:5].T
        walker.action[:, 0] = 0.0
        walker.action[:, 0, 0] = 0.75 * (east * cosine - south * sine)
        walker.action[:, 0, 1] = 0.75 * (east * sine + south * cosine)
        worlds.step()
        assert walker.final_measures is not None
        for world in np.flatnonzero(worlds.ended):
            ends.append(dict(zip(names, walker.final_measures[world, 0], strict=True)))
    assert sum(end["reached"] for end in ends) >= 6
    assert sum(end["success"] for end in ends) >= 2
    for end in ends:
        assert end["comfort_activations"] == 0
        assert end["success"] == (end["reached"] and end["collisions"] == 0)
        assert np.isnan(end["seconds"]) != bool(end["reached"])


def _played(worlds: GodotWorlds, seed: int) -> np.ndarray:
    worlds.reset(seed)
    walker = worlds.roles["walker"]
    chance = np.random.default_rng(7)
    seen = [walker.observation.copy()]
    for _ in range(30):
        walker.action[...] = chance.uniform(-1, 1, walker.action.shape)
        worlds.step()
        seen.append(walker.observation.copy())
    return np.stack(seen)


@pytest.mark.parametrize("game", ["locomotion", "crowd"])
def test_it_is_played_by_hand(engine: Engine, game: str) -> None:
    words = ["--headless", "--fixed-fps", "60", "--quit-after", "120", f"res://games/{game}/{game}.tscn"]
    done = run_project(engine, [*words, "--", "--camera=overview", "--reward=adversarial", "--xr"], timeout_s=60)
    assert (done.code, problem_lines(done.output)) == (0, [])
