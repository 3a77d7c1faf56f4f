"""The Gymnasium environments: Gymnasium's own checks, how rounds end, seeds, pictures, and what is refused."""

import dataclasses
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import godojo
import godojo.envs
from godojo.envs.gymnasium import GameEnv, GameVectorEnv
from godojo.envs.render import Scene, View, draw
from godojo.errors import GodojoError
from godojo.games.tag.arenas import generate_arena
from godojo.games.tag.replay import TEAMS
from godojo.games.tag.spec import LAYOUT
from godojo.show.colours import FLOOR, FLOOR_OTHER
from godojo.show.replay import Layout, LayoutBox, Mark, States

SHORT = {"rules.round_s": 0.5}
CLASSIC = {"rules.mode": "classic", "rules.players": 3, "rules.classic_round_s": 0.5}
NO_ACTION = np.zeros(3, np.float32)


def make(**options: Any) -> GameEnv:
    env = gym.make("godojo/Tag-v0", **options).unwrapped
    assert isinstance(env, GameEnv)
    return env


def make_vec(num_envs: int, **options: Any) -> GameVectorEnv:
    envs = gym.make_vec("godojo/Tag-v0", num_envs=num_envs, vectorization_mode="vector_entry_point", **options)
    assert isinstance(envs, GameVectorEnv)
    return envs


@pytest.mark.parametrize(
    "options",
    [
        {"role": "seeker"},
        {"role": "hider", "opponent": "wander"},
        {"role": "hider", "settings": {"rules.seekers": 2, "rules.hiders": 3}},
        {"role": "player", "settings": {"rules.mode": "classic", "rules.players": 4}},
        {"role": "seeker", "generated_share": 1.0, "arenas": ()},
    ],
    ids=["seeker", "hider", "crowd", "classic", "generated"],
)
def test_gymnasiums_own_checker(options: dict[str, Any]) -> None:
    check_env(make(**options))


def test_the_module_can_be_named_in_the_id() -> None:
    assert isinstance(gym.make("godojo.envs:godojo/Tag-v0").unwrapped, GameEnv)


@pytest.mark.parametrize("options", [{}, {"truncate_after": 4}, {"role": "player", "settings": CLASSIC}])
def test_the_batch_is_what_gymnasium_would_make_of_single_environments(options: dict[str, Any]) -> None:
    """Same rounds, same ends, same infos as SyncVectorEnv gives with the same autoreset mode."""
    options = {"settings": SHORT, **options}
    ours = make_vec(1, **options)
    theirs = gym.make_vec(
        "godojo/Tag-v0",
        num_envs=1,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        **options,
    )
    assert data_equivalence(ours.reset(seed=7), theirs.reset(seed=7), exact=True)
    chance = np.random.default_rng(0)
    ends = 0
    for _ in range(30):
        actions = chance.uniform(-1, 1, (1, 3)).astype(np.float32)
        told, reward, terminated, truncated, infos = ours.step(actions)
        other_told, other_reward, other_terminated, other_truncated, other_infos = theirs.step(actions)
        assert np.array_equal(told, other_told)
        assert reward == other_reward
        assert (terminated, truncated) == (other_terminated, other_truncated)
        assert data_equivalence(infos, other_infos, exact=True)
        ends += "final_obs" in infos
    assert ends >= 3


def test_a_round_that_ends_by_the_rules_terminates() -> None:
    env = make(settings=SHORT)
    env.reset(seed=1)
    *_, (_, _, terminated, truncated, info) = (env.step(NO_ACTION) for _ in range(8))
    assert (terminated, truncated) == (True, False)
    assert info["winner"] == "hider"
    assert info["length_ticks"] == 30
    assert info["is_success"] is False
    assert info["terms"]["survival"] == -1
    with pytest.raises(GodojoError, match="call reset"):
        env.step(NO_ACTION)


def test_a_round_that_is_cut_short_is_truncated() -> None:
    env = make(truncate_after=3)
    env.reset(seed=1)
    flags = [env.step(NO_ACTION)[2:4] for _ in range(3)]
    assert flags == [(False, False), (False, False), (False, True)]
    envs = make_vec(5, max_episode_steps=3)
    envs.reset(seed=1)
    for _ in range(3):
        _, _, terminated, truncated, infos = envs.step(np.zeros((5, 3), np.float32))
    assert truncated.all()
    assert not terminated.any()
    assert infos["_final_obs"].all()


def test_the_last_observation_is_kept_apart_from_the_next_rounds_first() -> None:
    envs = make_vec(6, settings=SHORT)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    first, _ = envs.reset(seed=3)
    for _ in range(8):
        told, _, terminated, _, infos = envs.step(np.zeros((6, 3), np.float32))
    assert terminated.all()
    last = np.stack(infos["final_obs"])
    time_left = LAYOUT.start("time_left")
    assert (last[:, time_left] == 0).all()
    assert (told[:, time_left] == 1).all()
    at_rest = [0, 2]
    assert np.allclose(last[:, at_rest], first[:, at_rest], atol=1e-4)
    assert not np.allclose(told[:, at_rest], last[:, at_rest], atol=1e-2)


def test_a_caught_hider_is_done_though_others_play_on() -> None:
    env = make(role="hider", settings={"rules.hiders": 2, "rules.seekers": 3})
    env.reset(seed=0)
    twin: Any = env.match.worlds.twin  # type: ignore[attr-defined]
    twin.agents[0]["position"][3] = twin.agents[0]["position"][0]
    told, reward, terminated, truncated, info = env.step(NO_ACTION)
    assert (terminated, truncated, info) == (True, False, {})
    assert reward < -0.5
    assert not told.any()
    told, _ = env.reset()
    assert told[LAYOUT.start("time_left")] == 1.0
    assert env.step(NO_ACTION)[2] is False


def test_what_was_returned_is_never_written_to_again() -> None:
    envs = make_vec(4, settings=SHORT)
    kept = [envs.reset(seed=1)[0]]
    for _ in range(7):
        kept.append(envs.step(np.ones((4, 3), np.float32))[0])
    result = envs.step(np.ones((4, 3), np.float32))
    copies = [told.copy() for told in kept]
    last, reward = np.stack(result[4]["final_obs"]), result[1].copy()
    for _ in range(10):
        envs.step(-np.ones((4, 3), np.float32))
    assert all(np.array_equal(told, copy) for told, copy in zip(kept, copies, strict=True))
    assert np.array_equal(np.stack(result[4]["final_obs"]), last)
    assert np.array_equal(result[1], reward)


def test_seeds_are_those_of_the_native_arrays() -> None:
    envs = make_vec(8)
    one, _ = envs.reset(seed=5)
    other, _ = envs.reset(seed=6)
    again, _ = envs.reset(seed=5)
    following, _ = envs.reset()
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert not np.array_equal(one, following)
    assert np.array_equal(one, godojo.make_vec("tag", num_worlds=8, seed=5).roles["seeker"].observation[:, 0])
    assert np.array_equal(one[0], make().reset(seed=5)[0])


def test_a_world_plays_the_same_in_any_batch() -> None:
    """Opponents included."""
    few, many = make_vec(2, opponent="random", settings=SHORT), make_vec(9, opponent="random", settings=SHORT)
    few.reset(seed=2)
    many.reset(seed=2)
    for step in range(20):
        actions = np.full((9, 3), np.sin(step), np.float32)
        told, reward, *_ = few.step(actions[:2])
        all_told, all_reward, *_ = many.step(actions)
        assert np.array_equal(told, all_told[:2])
        assert np.array_equal(reward, all_reward[:2])


def test_statistics_of_gymnasium_fit() -> None:
    envs = RecordEpisodeStatistics(make_vec(3, settings=SHORT))
    envs.reset(seed=0)
    total = np.zeros(3)
    for _ in range(8):
        _, reward, _, _, infos = envs.step(np.zeros((3, 3), np.float32))
        total += reward
    assert np.allclose(infos["episode"]["r"], total, atol=1e-5)
    assert (infos["episode"]["l"] == 8).all()


def test_observations_stay_within_the_space_in_a_crowd() -> None:
    crowd = {"rules.mode": "classic", "rules.players": 8, "motion.push_acceleration_mps2": 1000.0}
    envs = make_vec(32, role="player", settings=crowd, arenas="maze")
    envs.reset(seed=0)
    twin: Any = envs.match.worlds.twin  # type: ignore[attr-defined]
    space, chance = envs.observation_space, np.random.default_rng(0)
    for step in range(200):
        if step % 20 == 0:  # everybody in one place
            twin.agents["position"][:] = twin.agents["position"][:, :1]
        assert space.contains(envs.step(chance.uniform(-1, 1, (32, 3)).astype(np.float32))[0])


@pytest.mark.parametrize("opponent", ["random", "wander", "sighted", "oracle"])
def test_everybody_can_be_the_opponent(opponent: str) -> None:
    envs = make_vec(4, role="hider", opponent=opponent)
    envs.reset(seed=0)
    positions: Any = envs.match.worlds.twin.agents["position"]  # type: ignore[attr-defined]
    before = positions[:, 0].copy()
    for _ in range(10):
        envs.step(np.zeros((4, 3), np.float32))
    assert (np.linalg.norm(positions[:, 0] - before, axis=1) > 0.1).any()


def test_an_opponent_of_ones_own_also_plays_team_mates(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "class East:\n"
        "    def __init__(self, role, seed): pass\n"
        "    def begin(self, worlds): pass\n"
        "    def act(self, worlds, out): out[:] = (1, 0, -1)\n"
    )
    env = make(opponent=f"{path}:East", settings={"rules.seekers": 2})
    env.reset(seed=0)
    env.step(np.array([0, 1, -1], np.float32))
    assert np.array_equal(env.match.worlds.roles["seeker"].action[0], [[0, 1, -1], [1, 0, -1]])
    assert np.array_equal(env.match.worlds.roles["hider"].action[0], [[1, 0, -1]])


def test_the_seed_is_also_the_opponents(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "class Seeded:\n"
        "    def __init__(self, role, seed): self.seed = seed\n"
        "    def begin(self, worlds): pass\n"
        "    def act(self, worlds, out): out[:] = self.seed / 100\n"
    )
    envs = make_vec(2, opponent=f"{path}:Seeded")
    for seed in (25, 50):
        envs.reset(seed=seed)
        envs.step(np.zeros((2, 3), np.float32))
        assert (envs.match.worlds.roles["hider"].action == seed / 100).all()


def test_arenas_by_name_by_file_and_as_they_are(tmp_path: Path) -> None:
    arena = generate_arena(3)
    path = tmp_path / "mine.json"
    path.write_bytes(arena.to_json())
    for given in (arena, [arena], path, str(path), tmp_path):
        assert make(arenas=given).match.worlds.arena_names == (arena.name,)
    assert make(arenas=["maze", arena]).match.worlds.arena_names == ("maze", arena.name)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"role": "goalkeeper"}, "no role 'goalkeeper'.*there is: seeker, hider"),
        ({"role": "seeker", "settings": CLASSIC}, "no role 'seeker'.*there is: player"),
        ({"opponent": "orakle"}, "no opponent 'orakle'.*oracle"),
        ({"opponent": 3}, "an opponent is given by its name"),
        ({"engine": "unreal"}, "no engine 'unreal'"),
        ({"arenas": "labyrinth"}, "no arena 'labyrinth'.*maze"),
        ({"arenas": [5]}, "an arena is"),
        ({"settings": 5}, "settings must be"),
        ({"settings": {"rules.hidders": 2}}, "did you mean rules.hiders"),
        ({"render_mode": "human"}, "no render_mode 'human'"),
    ],
)
def test_bad_arguments_get_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(GodojoError, match=sentence):
        GameEnv("tag", **options)
    with pytest.raises(GodojoError, match=sentence):
        GameVectorEnv("tag", 2, **options)


@pytest.mark.parametrize("num_envs", [0, -1, 1.5, True])
def test_a_batch_has_at_least_one_environment(num_envs: Any) -> None:
    with pytest.raises(GodojoError, match="at least one environment"):
        make_vec(num_envs)


def test_a_batch_refuses_a_learner_that_leaves_before_its_round_ends() -> None:
    envs = make_vec(2, role="hider", settings={"rules.hiders": 2})
    envs.reset(seed=0)
    twin: Any = envs.match.worlds.twin  # type: ignore[attr-defined]
    twin.agents[1]["position"][1] = twin.agents[1]["position"][0]  # onto the seeker
    with pytest.raises(GodojoError, match="one agent in the role"):
        envs.step(np.zeros((2, 3), np.float32))


def test_navigation_works_through_the_same_code() -> None:
    env = gym.make("godojo/Navigation-v0", arenas="maze", render_mode="rgb_array").unwrapped
    check_env(env)
    env.reset(seed=1)
    picture: Any = env.render()
    assert isinstance(picture, np.ndarray)
    assert picture.shape == (512, 512, 3)
    envs = gym.make_vec(
        "godojo/Navigation-v0", num_envs=3, vectorization_mode="vector_entry_point", max_episode_steps=2
    )
    envs.reset(seed=1)
    for _ in range(2):
        *_, truncated, infos = envs.step(envs.action_space.sample())
    assert truncated.all()
    assert (infos["final_info"]["arena"] != None).all()  # noqa: E711 - of every world
    with pytest.raises(GodojoError, match="navigation has no scripted opponents"):
        gym.make("godojo/Navigation-v0", opponent="random")


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        (np.zeros((2, 3)), r"shape \(3, 3\), not \(2, 3\)"),
        (np.zeros(3), r"shape \(3, 3\), not \(3,\)"),
        ("left", "must be numbers"),
        (np.array([[0, 0, 0], [0, 0, 0], [0, np.nan, 0]]), "action 1 of seeker 0 in world 2 is nan"),
        (np.full((3, 3), 1e300), "is inf, not a number"),
    ],
)
def test_bad_actions_get_a_sentence(actions: Any, sentence: str) -> None:
    envs = make_vec(3)
    with pytest.raises(GodojoError, match="call reset"):
        envs.step(np.zeros((3, 3), np.float32))
    envs.reset(seed=0)
    with pytest.raises(GodojoError, match=sentence):
        envs.step(actions)
    envs.step(np.zeros((3, 3), np.float32))


@pytest.mark.parametrize("seed", [-1, 1.5, 2**63, "seven"])
def test_bad_seeds_get_a_sentence(seed: Any) -> None:
    with pytest.raises(GodojoError, match="a seed is a whole number"):
        make().reset(seed=seed)
    with pytest.raises(GodojoError, match="a seed is a whole number"):
        make_vec(1).reset(seed=seed)


def pixel(picture: np.ndarray, layout: Layout, x_m: float, z_m: float) -> str:
    x, y = View(layout).at(x_m, z_m)
    return f"#{picture[int(y), int(x)].tobytes().hex()}"


def test_a_picture_shows_who_is_where() -> None:
    layout = Layout(
        (20.0, 16.0),
        0.9,
        0.15,
        wall_height_m=2.0,
        boxes=(LayoutBox((0.0, 1.2, 0.0), (2.0, 2.4, 2.0), "tall"),),
        marks=(Mark((5.0, 0.0, 5.0), 0.75, "goal"),),
    )
    states = States.zeros(2)
    states.position_m[:] = (-6, 0.45, 3), (6, 0.45, -3)
    states.heading_rad[:] = np.pi / 2, 0.0
    states.active[:] = True
    states.team[:] = 0, 1
    sides = np.radians([60.0, 0.0, -60.0])
    rays = np.stack([np.sin(sides), np.zeros(3), np.cos(sides)])
    scene = Scene(layout, TEAMS, states, rays, np.array([[5.0, 5.0, 5.0], [0.0, 0.0, 0.0]]), 5.0, 10.0)
    picture = draw(scene)
    assert picture.shape == (512, 512, 3)
    assert picture.dtype == np.uint8
    assert pixel(picture, layout, -6, 3) == TEAMS[0].colour
    assert pixel(picture, layout, 6, -3) == TEAMS[1].colour
    assert pixel(picture, layout, 0, 0) not in (FLOOR, FLOOR_OTHER)
    red, green, blue = bytes.fromhex(pixel(picture, layout, 5, 5)[1:])
    assert green > max(red, blue), "the goal is green"
    ahead, behind = (bytes.fromhex(pixel(picture, layout, x, 3.2)[1:]) for x in (-3, -9))  # looks along +x
    assert ahead[0] - ahead[2] > behind[0] - behind[2] + 25
    later = draw(dataclasses.replace(scene, seconds=8.0))
    changed = np.argwhere((picture != later).any(axis=2))
    assert len(changed) > 100
    assert changed[:, 0].max() < 44  # nothing but the clock


def test_the_last_picture_shows_how_the_round_ended() -> None:
    env = make(render_mode="rgb_array", arenas="open", settings=SHORT)
    first, _ = env.reset(seed=0)
    for _ in range(8):
        env.step(NO_ACTION)
    twin: Any = env.match.worlds.twin  # type: ignore[attr-defined]
    assert twin.worlds[0]["ticks"] == 0, "the next round has begun"
    place = first[0] * 10, first[2] * 10  # where the seeker stood still
    picture = env.render()
    env.reset()
    following = env.render()
    assert picture is not None
    assert following is not None
    layout = Layout((20.0, 20.0), 0.9, 0.15)
    assert pixel(picture, layout, *place) == TEAMS[0].colour
    assert pixel(following, layout, *place) != TEAMS[0].colour


def test_pictures_of_a_batch() -> None:
    envs = make_vec(2, render_mode="rgb_array", generated_share=1.0)
    envs.reset(seed=0)
    one, other = envs.render()
    assert one.shape == other.shape == (512, 512, 3)
    assert (one != other).any()
    with pytest.raises(GodojoError, match="render_mode"):
        make_vec(2).render()
