"""The same seed gives the same bits, whatever the number of threads and of worlds in the batch."""

from typing import Any

import numba
import numpy as np
import pytest

import godojo
from godojo.engines.base import Worlds
from godojo.games.tag.settings import TagSettings
from tests.tag_games import of_everybody

DECISIONS = 160
"""Enough for rounds to end and new arenas to be made."""
KINDS: dict[str, dict[str, object]] = {
    "hide_and_seek": {"rules.round_s": 4.0},
    "classic": {"rules.mode": "classic", "rules.players": 4, "rules.classic_round_s": 4.0, "rules.immunity_s": 0.2},
    "3v5": {"rules.seekers": 3, "rules.hiders": 5, "rules.round_s": 4.0},
}
FIELDS = ("observation", "reward", "terms", "acted", "terminated", "truncated")
FINAL = ("final_observation", "final_terms", "final_score")
STATE = ("position", "velocity", "heading", "score", "terms", "round_terms", "coyote", "immune", "grounded", "active")


def settings_of(kind: str) -> TagSettings:
    return TagSettings.defaults().override(**KINDS[kind])


def action_of(world: int, decision: int, agents: int) -> np.ndarray:
    """Depends on the world and the moment alone, so that it is the same in every batch."""
    rng = np.random.default_rng((world, decision // 5))
    return rng.uniform(-1, 1, (agents, 3)).astype(np.float32)


def record(kind: str, num_worlds: int, watched: list[int], *, seed: int = 7, generated_share: float = 0.5) -> list[Any]:
    """Everything that the watched worlds said, decision by decision."""
    settings = settings_of(kind)
    worlds = godojo.make_vec(
        "tag", num_worlds=num_worlds, seed=seed, settings=settings, generated_share=generated_share, truncate_after=50
    )
    said: list[Any] = []
    for decision in range(DECISIONS):
        for role in worlds.roles.values():
            role.action[:] = 0.3
        for world in watched:
            acts = action_of(world, decision, settings.agent_count)
            first = 0
            for role in worlds.roles.values():
                count = role.action.shape[1]
                role.action[world] = acts[first : first + count]
                first += count
        worlds.step()
        said.append([snapshot(worlds, world) for world in watched])
    return said


def snapshot(worlds: Worlds, world: int) -> list[bytes]:
    """All bits of one world; final arrays only mean something when it has ended."""
    twin: Any = worlds.twin  # type: ignore[attr-defined]
    ended = bool(worlds.ended[world])
    found = [of_everybody(worlds, field)[world].tobytes() for field in (*FIELDS, *(FINAL if ended else ()))]
    found += [twin.agents[world][field].tobytes() for field in STATE]
    found += [twin.worlds[world][field].tobytes() for field in ("stream", "ticks", "decisions")]
    found.append(bytes([ended]))
    if ended:
        found += [array[world].tobytes() for array in (worlds.winner, worlds.length_ticks, worlds.arena)]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_nothing(kind: str) -> None:
    most = numba.get_num_threads()
    if most < 2:
        pytest.skip("a single core")
    watched = [0, 3, 40, 63]
    said = []
    try:
        for threads in (1, 2, most):
            numba.set_num_threads(threads)
            said.append(record(kind, 64, watched))
    finally:
        numba.set_num_threads(most)
    assert said[0] == said[1] == said[2]


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_of_the_batch_changes_nothing(kind: str) -> None:
    alone = record(kind, 1, [0])
    few = record(kind, 7, [0, 3, 6])
    assert [[now[0]] for now in few] == alone
    more = record(kind, 64, [0, 3, 6])
    many = record(kind, 500, [0, 3, 6])
    assert few == more == many


@pytest.mark.parametrize("generated_share", [0.0, 0.5, 1.0])
def test_the_same_seed_again_gives_the_same_again(generated_share: float) -> None:
    one = record("hide_and_seek", 5, [0, 4], generated_share=generated_share)
    two = record("hide_and_seek", 5, [0, 4], generated_share=generated_share)
    assert one == two


def test_a_reset_begins_again_whatever_was_before() -> None:
    worlds = godojo.make_vec("tag", num_worlds=6, seed=5, settings=settings_of("3v5"), generated_share=1.0)
    begun = [snapshot(worlds, world)[0] for world in range(6)]
    first = [of_everybody(worlds, "observation").copy()]
    for _ in range(30):
        worlds.step()
        first.append(of_everybody(worlds, "observation").copy())
    worlds.reset(5)
    assert [snapshot(worlds, world)[0] for world in range(6)] == begun
    assert not worlds.ended.any()
    for wanted in first[1:]:
        worlds.step()
        np.testing.assert_array_equal(of_everybody(worlds, "observation"), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_gives_other_rounds(kind: str) -> None:
    starts = []
    for seed in range(20):
        worlds = godojo.make_vec("tag", num_worlds=20, seed=seed, settings=settings_of(kind), generated_share=1.0)
        starts += [agents.tobytes() for agents in worlds.twin.agents["position"]]  # type: ignore[attr-defined]
    assert len(set(starts)) == len(starts) == 400, "every world of every seed begins in its own way"


def test_neighbouring_worlds_and_seeds_are_unrelated() -> None:
    """Headings of first rounds are evenly spread, and know nothing of their neighbours'."""
    headings = np.concatenate(
        [godojo.make_vec("tag", num_worlds=500, seed=seed).twin.agents["heading"] for seed in range(4)]  # type: ignore[attr-defined]
    )
    parts, _ = np.histogram(headings, bins=8, range=(-np.pi, np.pi))
    assert parts.sum() == headings.size
    assert np.abs(parts - headings.size / 8).max() < 5 * np.sqrt(headings.size / 8)
    for step in (1, 500):
        related = np.corrcoef(headings[step:, 0], headings[:-step, 0])[0, 1]
        assert abs(related) < 0.12
