"""Preprocessing of observations and postprocessing of actions: alone, in batches, as wrappers, saved and loaded."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

import godojo.envs  # noqa: F401 - registers the games
from godojo.envs.processing import (
    ActionPostprocessor,
    ObservationPreprocessor,
    PostprocessAction,
    PreprocessObservation,
)
from godojo.envs.sb3 import GameVecEnv
from godojo.errors import GodojoError

CHANCE = np.random.default_rng(1)
BATCHES = CHANCE.normal(3.0, 2.0, (50, 8, 4)).astype(np.float32)


def test_running_statistics_are_those_of_all_observations() -> None:
    preprocess = ObservationPreprocessor(clip=None)
    for batch in BATCHES:
        last = preprocess(batch)
    every = BATCHES.reshape(-1, 4).astype(np.float64)
    assert preprocess.statistics.mean == pytest.approx(every.mean(axis=0), abs=1e-4)
    assert preprocess.statistics.var == pytest.approx(every.var(axis=0), rel=1e-3)
    assert last == pytest.approx((BATCHES[-1] - every.mean(axis=0)) / every.std(axis=0), abs=1e-3)
    assert last.dtype == np.float32


def test_it_normalises_like_stable_baselines3() -> None:
    env = VecNormalize(GameVecEnv("navigation", 3, seed=2), norm_reward=False, clip_obs=5.0)
    preprocess = ObservationPreprocessor(clip=5.0)
    env.reset()
    preprocess(env.get_original_obs())
    for _ in range(20):
        theirs, _, _, _ = env.step(np.full((3, 3), 0.5, np.float32))
        ours = preprocess(env.get_original_obs())
        assert ours == pytest.approx(theirs, abs=1e-4)
    env.close()


def test_given_statistics_stay_as_they_are() -> None:
    preprocess = ObservationPreprocessor(mean=[1.0, 2.0], variance=[4.0, 1.0], clip=2.0)
    assert preprocess([3.0, 9.0]).tolist() == [1.0, 2.0], "the second number is clipped"
    assert preprocess(np.array([[1.0, 2.0], [-9.0, 1.0]])).tolist() == [[0.0, 0.0], [-2.0, -1.0]]
    assert preprocess.statistics.mean.tolist() == [1.0, 2.0]
    frozen = ObservationPreprocessor()
    frozen(BATCHES[0])
    frozen.training = False
    before = frozen.statistics.mean.copy()
    frozen(BATCHES[1])
    assert np.array_equal(frozen.statistics.mean, before)


def test_frames_are_stacked_within_an_episode_only() -> None:
    stack = ObservationPreprocessor(normalize=False, clip=None, frame_stack=3)
    assert stack([[1.0], [10.0]]).tolist() == [[1, 1, 1], [10, 10, 10]]
    assert stack([[2.0], [20.0]]).tolist() == [[1, 1, 2], [10, 10, 20]]
    assert stack.final([[30.0]], [1]).tolist() == [[10, 20, 30]]
    assert stack([[3.0], [40.0]], starts=[False, True]).tolist() == [[1, 2, 3], [40, 40, 40]]
    assert stack([[4.0], [50.0]]).tolist() == [[2, 3, 4], [40, 40, 50]]
    stack.reset()
    assert stack([[5.0], [60.0]]).tolist() == [[5, 5, 5], [60, 60, 60]]
    assert stack([7.0]).tolist() == [7, 7, 7], "one agent in place of two is a new episode"
    assert stack([8.0], starts=True).tolist() == [8, 8, 8]


def test_actions_are_smoothed_within_an_episode_only() -> None:
    smooth = ActionPostprocessor(smoothing=0.5)
    assert smooth([1.0, -1.0]).tolist() == [0.5, -0.5]
    assert smooth([1.0, -1.0]).tolist() == [0.75, -0.75]
    smooth.reset()
    assert smooth([1.0, -1.0]).tolist() == [0.5, -0.5]
    batch = ActionPostprocessor(smoothing=0.5)
    batch([[1.0], [1.0]])
    assert batch([[1.0], [1.0]], starts=[True, False]).tolist() == [[0.5], [0.75]]


def test_dead_zone_and_scale() -> None:
    post = ActionPostprocessor(dead_zone=0.2, scale=[1.0, 0.5, 3.0])
    assert post([0.1, 1.0, -0.6]) == pytest.approx([0.0, 0.5, -1.0])
    assert post([0.2001, -0.2, 0.0]) == pytest.approx([0.0, 0.0, 0.0], abs=1e-3), "nothing jumps at its edge"
    assert post([9.0, -9.0, 0.3]) == pytest.approx([1.0, -0.5, 0.375])


@pytest.mark.parametrize(
    "made",
    [
        lambda: ObservationPreprocessor(frame_stack=2),
        lambda: ObservationPreprocessor(normalize=False),
        lambda: ActionPostprocessor(smoothing=0.6, dead_zone=0.1),
    ],
)
def test_a_saved_state_continues_exactly(made: Any, tmp_path: Path) -> None:
    first = made()
    for batch in BATCHES[:3]:
        first(batch / 5)
    first.save(tmp_path / "state.npz")
    second = made().load(tmp_path / "state.npz")
    for batch in BATCHES[3:6]:
        assert np.array_equal(first(batch / 5), second(batch / 5))


def test_files_are_checked(tmp_path: Path) -> None:
    file = tmp_path / "state.npz"
    made = ObservationPreprocessor(frame_stack=2)
    made([1.0, 2.0])
    made.save(file)
    with pytest.raises(GodojoError, match="stacks 2 frames, not 3"):
        ObservationPreprocessor(frame_stack=3).load(file)
    with pytest.raises(GodojoError, match="has 2 numbers, not 3"):
        made([1.0, 2.0, 3.0])
    with pytest.raises(GodojoError, match="no 'frame_stack'"):
        ObservationPreprocessor().load_state({})
    np.savez(tmp_path / "pickled.npz", frame_stack=np.array([object()], object))
    np.savez(tmp_path / "list.npz", frame_stack=np.array([2, 2]))
    for name, content in (("text.npz", b"not a state"), ("empty.npz", b""), ("cut.npz", file.read_bytes()[:-30])):
        (tmp_path / name).write_bytes(content)
    for name in ("pickled", "list", "text", "empty", "cut", "missing"):
        with pytest.raises(GodojoError, match=name):
            made.load(tmp_path / f"{name}.npz")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ObservationPreprocessor(mean=[1.0]), "given together"),
        (lambda: ObservationPreprocessor(mean=[1.0], variance=[-1.0]), "not negative"),
        (lambda: ObservationPreprocessor(frame_stack=0), "frame_stack must be"),
        (lambda: ObservationPreprocessor(clip=0.0), "clip must be"),
        (lambda: ObservationPreprocessor()([1.0, np.nan]), r"observation\[1\] is nan"),
        (lambda: ActionPostprocessor()(np.array([[0.0], [np.inf]])), r"action\[1, 0\] is inf"),
        (lambda: ActionPostprocessor(smoothing=1.0), "smoothing must be"),
        (lambda: ActionPostprocessor(dead_zone=-0.1), "dead_zone must be"),
        (lambda: ActionPostprocessor()("left"), "must be numbers"),
    ],
)
def test_mistakes_are_answered(call: Any, said: str) -> None:
    with pytest.raises(GodojoError, match=said):
        call()


def test_as_wrappers_of_an_environment() -> None:
    inner = gym.make("godojo/Navigation-v0", courses=["maze"], truncate_after=5)
    smoothing = PostprocessAction(inner, ActionPostprocessor(smoothing=0.5))
    env = PreprocessObservation(smoothing, ObservationPreprocessor(frame_stack=2))
    assert env.observation_space.shape == (96,)
    seen, _ = env.reset(seed=4)
    assert np.array_equal(seen[:48], seen[48:])
    for _ in range(5):
        before = seen
        seen, _, _, truncated, _ = env.step(np.array([0.0, 1.0, 0.0], np.float32))
    assert truncated
    assert env.observation_space.contains(seen)
    assert np.array_equal(seen[:48], before[48:])
    seen, _ = env.reset()
    assert np.array_equal(seen[:48], seen[48:]), "nothing of the last episode"
    env.step(np.ones(3, np.float32))
    assert smoothing.postprocessor.state()["last"] == pytest.approx(np.full((1, 3), 0.5))
    with pytest.raises(GodojoError, match="only a Box"):
        PreprocessObservation(gym.make("FrozenLake-v1"), ObservationPreprocessor())
    with pytest.raises(GodojoError, match="only continuous"):
        PostprocessAction(gym.make("FrozenLake-v1"), ActionPostprocessor())
