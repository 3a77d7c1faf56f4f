"""The PettingZoo environment: PettingZoo's own tests, who leaves when, how rounds end, and what is refused."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import parallel_api_test, parallel_seed_test  # type: ignore[import-untyped]
from pettingzoo.utils import parallel_to_aec  # type: ignore[import-untyped]

import godojo
from godojo.envs.pettingzoo import GameParallelEnv
from godojo.errors import GodojoError
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.spec import LAYOUT

SPLITS: list[dict[str, object]] = [
    {},
    {"rules.seekers": 3, "rules.hiders": 5},
    {"rules.seekers": 1, "rules.hiders": 4},
    {"rules.mode": "classic", "rules.players": 2, "rules.classic_round_s": 5.0},
    {"rules.mode": "classic", "rules.players": 8, "rules.classic_round_s": 5.0},
]

TIME_LEFT = LAYOUT.start("time_left")


def still(env: GameParallelEnv) -> dict[str, np.ndarray]:
    return {agent: np.zeros(3, np.float32) for agent in env.agents}


def agents_of(env: GameParallelEnv) -> Any:
    return env.worlds.twin.agents[0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("settings", SPLITS)
def test_pettingzoos_own_tests(settings: Mapping[str, object]) -> None:
    parallel_api_test(GameParallelEnv("tag", settings=settings), num_cycles=300)
    parallel_seed_test(lambda: GameParallelEnv("tag", settings=settings), num_cycles=60)


def test_agents_are_named_by_role() -> None:
    env = GameParallelEnv("tag", settings={"rules.seekers": 2, "rules.hiders": 3})
    assert env.possible_agents == ["seeker_0", "seeker_1", "hider_0", "hider_1", "hider_2"]
    classic = GameParallelEnv("tag", settings={"rules.mode": "classic", "rules.players": 3})
    assert classic.possible_agents == ["player_0", "player_1", "player_2"]


def test_whoever_is_caught_leaves_and_the_others_play_on() -> None:
    env = GameParallelEnv("tag", settings={"rules.hiders": 3})
    env.reset(seed=0)
    agents_of(env)["position"][2] = agents_of(env)["position"][0]  # hider_1 onto the seeker
    told, rewards, terminated, truncated, infos = env.step(still(env))
    assert env.agents == ["seeker_0", "hider_0", "hider_2"]
    assert terminated == {"seeker_0": False, "hider_0": False, "hider_1": True, "hider_2": False}
    assert not any(truncated.values())
    assert rewards["seeker_0"] > 0.5
    assert rewards["hider_1"] < -0.5
    assert set(infos) == set(told) == set(terminated)
    told, *_ = env.step(still(env))
    assert set(told) == {"seeker_0", "hider_0", "hider_2"}
    for hider in (1, 3):
        agents_of(env)["position"][hider] = agents_of(env)["position"][0]
    told, _, terminated, truncated, infos = env.step(still(env))
    assert env.agents == []
    assert terminated == {"seeker_0": True, "hider_0": True, "hider_2": True}
    assert infos["seeker_0"]["winner"] == "seeker"
    assert infos["seeker_0"]["score"] == 3
    assert told["seeker_0"][TIME_LEFT] < 1, "the last observation, not the next round's first"


def test_terminated_and_truncated_are_told_apart() -> None:
    for options, is_cut in (({"settings": {"rules.round_s": 0.2}}, False), ({"truncate_after": 3}, True)):
        env = GameParallelEnv("tag", **options)
        env.reset(seed=1)
        for _ in range(3):
            told, _, terminated, truncated, infos = env.step(still(env))
        assert set(terminated.values()) == {not is_cut}
        assert set(truncated.values()) == {is_cut}
        assert env.agents == []
        assert infos["hider_0"]["winner"] == ("nobody" if is_cut else "hider")
        assert told["hider_0"][TIME_LEFT] == pytest.approx(
            1 - 0.2 / TagSettings.defaults().rules.round_s if is_cut else 0.0
        )


def test_the_same_seed_gives_the_rounds_of_the_native_arrays() -> None:
    env = GameParallelEnv("tag")
    told, _ = env.reset(seed=9)
    native = godojo.make_vec("tag", num_worlds=1, seed=9)
    for name in ("seeker", "hider"):
        assert np.array_equal(told[f"{name}_0"], native.roles[name].observation[0, 0])
    following, _ = env.reset()
    assert not np.array_equal(told["seeker_0"], following["seeker_0"])
    env.reset(seed=9)
    again, _ = env.reset()
    assert np.array_equal(following["seeker_0"], again["seeker_0"])


def test_the_same_seed_and_actions_give_the_same_round() -> None:
    """To its end, which PettingZoo's own seed test does not play to."""
    one, other = (GameParallelEnv("tag", settings={"rules.hiders": 3, "rules.round_s": 2.0}) for _ in range(2))
    one.reset(seed=3)
    other.reset(seed=3)
    chance = np.random.default_rng(0)
    while one.agents:
        actions = {agent: chance.uniform(-1, 1, 3) for agent in one.agents}
        assert data_equivalence(one.step(actions), other.step(actions), exact=True)
    assert other.agents == []


def test_actions_reach_their_agents() -> None:
    env = GameParallelEnv("tag", settings={"rules.seekers": 2, "rules.hiders": 2}, arenas="open")
    env.reset(seed=0)
    before = agents_of(env)["position"].copy()
    wishes = {"seeker_0": (1, 0, 0), "seeker_1": (-1, 0, 0), "hider_0": (0, 1, 0), "hider_1": (0, -1, 0)}
    for _ in range(2):
        env.step({agent: np.array(wish, np.float32) for agent, wish in wishes.items()})
    moved = agents_of(env)["position"] - before
    for number, wish in enumerate(wishes.values()):
        assert np.allclose(np.sign(np.round(moved[number][[0, 2]], 2)), wish[:2])


def test_it_can_be_turned_into_an_aec_environment() -> None:
    env = parallel_to_aec(GameParallelEnv("tag", settings={"rules.round_s": 0.3}))
    env.reset(seed=0)
    steps = 0
    for agent in env.agent_iter():
        _, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample())
        steps += 1
    assert steps == 2 * 5 + 2  # five decisions of both, then their farewell


def test_pictures() -> None:
    env = GameParallelEnv("tag", render_mode="rgb_array", settings={"rules.hiders": 2})
    env.reset(seed=0)
    before = env.render()
    assert before.shape == (512, 512, 3)
    env.step({agent: np.ones(3, np.float32) for agent in env.agents})
    assert (env.render() != before).any()
    with pytest.raises(GodojoError, match="render_mode"):
        GameParallelEnv("tag").render()


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        ({}, "no action for seeker_0"),
        ({"seeker_0": np.zeros(3)}, "no action for hider_0"),
        ({"seeker_0": np.zeros(3), "hider_0": np.zeros(3), "hider_1": np.zeros(3)}, "'hider_1' is not playing"),
        ({"seeker_0": np.zeros(3), "hider_0": np.zeros(2)}, r"hider_0: actions must have the shape \(3,\), not \(2,\)"),
        ({"seeker_0": np.zeros(3), "hider_0": np.array([0, np.nan, 0])}, "action of hider_0 is .*nan"),
        ({"seeker_0": "up", "hider_0": np.zeros(3)}, "seeker_0: actions must be numbers"),
    ],
)
def test_bad_actions_get_a_sentence(actions: Any, sentence: str) -> None:
    env = GameParallelEnv("tag")
    with pytest.raises(GodojoError, match="call reset"):
        env.step(actions)
    env.reset(seed=0)
    with pytest.raises(GodojoError, match=sentence):
        env.step(actions)
    env.step(still(env))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"engine": "unreal"}, "no engine"),
        ({"settings": {"rules.hiders": 9}}, "rules.hiders"),
        ({"arenas": ()}, "arena"),
    ],
)
def test_bad_arguments_get_a_sentence(options: Any, sentence: str) -> None:
    with pytest.raises(GodojoError, match=sentence):
        GameParallelEnv("tag", **options)
    with pytest.raises(GodojoError, match="a seed is"):
        GameParallelEnv("tag").reset(seed=-1)
