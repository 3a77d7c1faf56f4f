"""Cameras in the real engine: pictures that are drawn, learnt from, and seen alike by torch, ONNX and GDScript."""

import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import godojo
from godojo.engines.godot import run_project
from godojo.engines.godot.find import Engine
from godojo.engines.godot.open import open_game
from godojo.engines.godot.project import problem_lines
from godojo.engines.random_play import play_randomly
from godojo.evaluation.external import RANDOM, TRAINED, ExternalEvaluation
from godojo.export.dojo_file import write_dojo
from godojo.export.onnx_file import OnnxSession, onnx_bytes, replayed
from godojo.export.vectors import answered, write_vectors
from godojo.games.parts import ObservationPart
from godojo.learn.policy_file import load_policy
from godojo.learn.settings import PpoSettings
from tests.conftest import ROOT
from tests.dojo_policies import MOVES, drawn_policy

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(240)]

LOOKOUT = "res://games/lookout/lookout.tscn"
WORLDS = 8
DECISIONS = 125
"""A thousand observations of all agents together."""


IDLE = 81
"""Decisions of agents that do nothing: one more than an episode has."""


class Seen(NamedTuple):
    """Observations, [decisions, worlds, numbers]."""

    idle: np.ndarray
    """Of agents that do nothing."""
    busy: np.ndarray
    """Of agents that act at random."""


@pytest.fixture(scope="module")
def seen() -> Seen:
    chance, observations = np.random.default_rng(0), []
    with open_game(ROOT / "godot", scene=LOOKOUT, seed=3, window=True, num_worlds=WORLDS) as worlds:
        (role,) = worlds.roles.values()
        (part,) = role.observation_parts
        assert (part.name, part.kind, part.shape) == ("Eye", "image", (36, 36, 3))
        role.action[:] = 0.0
        for decision in range(IDLE + DECISIONS):
            observations.append(role.observation[:, 0].copy())
            if decision >= IDLE:
                play_randomly(role, chance)
            worlds.step()
        observations.append(role.observation[:, 0].copy())
    return Seen(np.stack(observations[: IDLE + 1]), np.stack(observations[IDLE + 1 :]))


def test_agents_see_the_balls_and_every_picture_is_new(seen: Seen) -> None:
    pixels = seen.busy.reshape(DECISIONS, WORLDS, 36, 36, 3)
    red = (pixels[..., 0] > 0.5) & (pixels[..., 2] < 0.4)
    blue = (pixels[..., 2] > 0.4) & (pixels[..., 0] < 0.3)
    for ball in (red, blue):
        share = ball.any(axis=(2, 3)).mean()
        assert 0.05 < share < 0.9, "each is before the camera at times, and at times behind it"
    changes = np.abs(np.diff(seen.busy, axis=0)).max(axis=2) > 0.1
    assert changes.mean() > 0.5, "turning changes what is seen at the next decision"


def test_the_first_picture_of_an_episode_is_its_own(seen: Seen) -> None:
    """Agents that stand still see the same throughout an episode, from its first decision on."""
    *first_episode, second_begins, second_goes_on = seen.idle
    assert all(np.array_equal(picture, first_episode[0]) for picture in first_episode)
    assert not np.array_equal(second_begins, first_episode[0]), "elsewhere, or turned"
    assert np.array_equal(second_begins, second_goes_on)


def test_torch_onnx_and_gdscript_decide_alike(seen: Seen, engine: Engine, tmp_path: Path) -> None:
    eye = ObservationPart("Eye", (36, 36, 3), "image", 0.0, 1.0)
    policy, card = drawn_policy(
        observation_parts=(eye,),
        cnn_channels=PpoSettings().cnn_channels,
        memory="leaky",
        memory_size=32,
        action_parts=MOVES[:2],
    )
    fresh = np.zeros((DECISIONS, WORLDS), np.float32)
    fresh[0] = 1.0
    vectors = answered(policy, seen.busy, fresh)
    assert np.ptp(vectors.action, axis=(0, 1)).min() > 0.1, "actions that are all alike prove nothing"
    by_onnx = replayed(OnnxSession(onnx_bytes(policy, card)[0]), vectors)
    np.testing.assert_allclose(by_onnx, vectors.action, atol=1e-4, rtol=0)
    write_dojo(tmp_path / "policy.dojo", policy, card)
    write_vectors(tmp_path / "vectors.bin", vectors)
    words = ["--headless", "--no-header", "--script", "res://tests/inference/answer_vectors.gd", "--", str(tmp_path)]
    done = run_project(engine, words, timeout_s=200)
    assert (done.code, problem_lines(done.output)) == (0, []), done.output
    for file in ("minds.bin", "crowd.bin"):
        found = np.fromfile(tmp_path / file, "<f4")[: vectors.action.size]
        np.testing.assert_allclose(found.reshape(vectors.action.shape), vectors.action, atol=1e-4, rtol=0)


def test_an_unmodified_godot_rl_game_is_learnt_from_its_camera(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    arcade = shutil.copytree(
        ROOT / "tests/godot_rl_games/arcade", tmp_path / "arcade", ignore=shutil.ignore_patterns(".godot")
    )
    how = {"scene": "res://spotter.tscn", "window": True, "speedup": 4, "settings": {"n_steps": 64}}
    run = godojo.train(project=arcade, steps=2048, processes=1, **how)  # type: ignore[arg-type]
    policy, card = load_policy(run.path / "policy_shared_policy.pt")
    assert policy.cnn is not None
    assert [(part.name, part.kind, part.shape) for part in card.observation_parts] == [
        ("camera_2d", "image", (24, 24, 3))
    ]
    found = godojo.evaluate(run, episodes=16, seconds=5)
    assert isinstance(found, ExternalEvaluation)
    random, trained = (found.performance("shared_policy", player) for player in (RANDOM, TRAINED))
    assert trained.reward_per_step > 1.5 * random.reward_per_step
