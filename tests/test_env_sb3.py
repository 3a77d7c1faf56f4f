"""The Stable-Baselines3 environment: its own checker, what it wants in infos, and a training that runs."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

from godojo.envs.gymnasium import GameVectorEnv
from godojo.envs.sb3 import GameVecEnv
from godojo.errors import GodojoError

SHORT = {"rules.round_s": 0.5}


@pytest.mark.parametrize("role", ["seeker", "hider"])
def test_the_checker_of_stable_baselines3(role: str) -> None:
    check_env(gym.make("godojo/Tag-v0", role=role, render_mode="rgb_array"), skip_render_check=False)


@pytest.mark.parametrize("truncate_after", [0, 4])
def test_it_plays_the_rounds_of_the_vector_environment(truncate_after: int) -> None:
    ours = GameVecEnv("tag", 7, settings=SHORT, truncate_after=truncate_after, seed=3)
    theirs = GameVectorEnv("tag", 7, settings=SHORT, truncate_after=truncate_after)
    assert np.array_equal(ours.reset(), theirs.reset(seed=3)[0])
    chance, ends = np.random.default_rng(0), 0
    for _ in range(20):
        actions = chance.uniform(-1, 1, (7, 3)).astype(np.float32)
        told, rewards, dones, infos = ours.step(actions)
        other_told, other_rewards, terminated, truncated, other_infos = theirs.step(actions)
        assert isinstance(told, np.ndarray)
        assert np.array_equal(told, other_told)
        assert np.array_equal(rewards, other_rewards)
        assert np.array_equal(dones, terminated | truncated)
        assert len(infos) == 7
        for world, info in enumerate(infos):
            assert bool(info) == dones[world]
            if info:
                ends += 1
                assert info["TimeLimit.truncated"] is bool(truncated[world])
                assert np.array_equal(info["terminal_observation"], other_infos["final_obs"][world])
                assert info["winner"] == other_infos["final_info"]["winner"][world]
                assert info["is_success"] is bool(other_infos["final_info"]["is_success"][world])
    assert ends >= 14


def test_what_was_returned_is_never_written_to_again() -> None:
    env = GameVecEnv("tag", 4, settings=SHORT, seed=0)
    kept: list[Any] = [env.reset()]
    for _ in range(8):
        told, rewards, dones, infos = env.step(np.ones((4, 3), np.float32))
        kept += [told, rewards, dones]
    kept += [info["terminal_observation"] for info in infos]
    copies = [array.copy() for array in kept]
    for _ in range(9):
        env.step(-np.ones((4, 3), np.float32))
    assert all(np.array_equal(array, copy) for array, copy in zip(kept, copies, strict=True))


def test_seeds() -> None:
    env = GameVecEnv("tag", 3)
    env.seed(4)
    one, following = env.reset(), env.reset()
    env.seed(4)
    assert np.array_equal(one, env.reset())
    assert np.array_equal(following, env.reset())
    assert not np.array_equal(one, following)


def test_ppo_trains_and_is_evaluated() -> None:
    env = VecMonitor(GameVecEnv("tag", 8, role="seeker", opponent="random", settings=SHORT, seed=0))
    model = PPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=0, device="cpu")
    before = [weights.detach().clone() for weights in model.policy.parameters()]
    model.learn(512)
    assert model.num_timesteps == 512
    assert any((old != new).any() for old, new in zip(before, model.policy.parameters(), strict=True))
    assert len(model.ep_info_buffer or ()) >= 32
    assert len(model.ep_success_buffer or ()) >= 32
    lengths = evaluate_policy(model, env, n_eval_episodes=8, return_episode_rewards=True)[1]
    assert max(lengths) == 8  # type: ignore[arg-type]


def test_ppo_values_what_comes_after_a_cut_but_not_after_an_end() -> None:
    """Stable-Baselines3 adds the value of the last observation to the reward of a truncated step, and only there."""
    rewards = {}
    for name, options in {"cut": {"truncate_after": 4}, "end": {"settings": {"rules.round_s": 4 * 4 / 60}}}.items():
        env = GameVecEnv("tag", 4, role="hider", seed=0, **options)  # type: ignore[arg-type]
        model = PPO("MlpPolicy", env, n_steps=4, batch_size=16, n_epochs=1, gamma=0.5, seed=0, device="cpu")
        model.policy.value_net.bias.data.fill_(1000.0)
        model.learn(16)
        rewards[name] = model.rollout_buffer.rewards
    assert (rewards["cut"][3] > 100).all()
    assert (rewards["cut"][:3] < 100).all()
    assert (rewards["end"] < 100).all()


def test_pictures_are_tiled() -> None:
    env = GameVecEnv("tag", 3, render_mode="rgb_array", seed=0)
    env.reset()
    picture = env.render()
    assert picture is not None
    assert picture.shape == (1024, 1024, 3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"num_envs": 0}, "at least one environment"),
        ({"num_envs": 2, "role": "judge"}, "no role 'judge'"),
        ({"num_envs": 2, "opponent": "nobody"}, "no opponent 'nobody'"),
        ({"num_envs": 2, "engine": "unreal"}, "no engine 'unreal'"),
        ({"num_envs": 2, "seed": -4}, "a seed is"),
    ],
)
def test_bad_arguments_get_a_sentence(options: Any, sentence: str) -> None:
    with pytest.raises(GodojoError, match=sentence):
        GameVecEnv("tag", **options)


def test_bad_use_gets_a_sentence() -> None:
    env = GameVecEnv("tag", 2)
    with pytest.raises(GodojoError, match="call reset"):
        env.step(np.zeros((2, 3), np.float32))
    env.reset()
    with pytest.raises(GodojoError, match=r"shape \(2, 3\), not \(3,\)"):
        env.step(np.zeros(3, np.float32))
    with pytest.raises(GodojoError, match="action 0 of seeker 0 in world 1 is nan"):
        env.step(np.array([[0, 0, 0], [np.nan, 0, 0]]))
    with pytest.raises(GodojoError, match="no methods of their own"):
        env.env_method("jump")
    with pytest.raises(GodojoError, match="share their attributes"):
        env.set_attr("role", "hider", indices=1)
    assert env.get_attr("render_mode") == [None, None]
