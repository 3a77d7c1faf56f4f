"""`examples/ppo_single_file.py`: PPO without our learner, in our vector environments."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from tests.conftest import ROOT

FILE = ROOT / "examples/ppo_single_file.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ppo_single_file", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["ppo_single_file"] = module
    spec.loader.exec_module(module)
    return module


def test_it_trains_the_seeker_and_saves(example: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    small = {"num_envs": 8, "num_steps": 8, "hidden": 16, "num_minibatches": 2}
    found = example.train(example.Args(total_timesteps=1500, save=str(path), **small))
    assert 0.0 <= found["success"] <= 1.0
    assert np.isfinite(found["reward"])
    saved = torch.load(path, weights_only=True)
    assert saved["args"]["game"] == "tag"
    assert all(bool(torch.isfinite(weights).all()) for weights in saved["weights"].values())


def test_it_uses_nothing_of_our_learner() -> None:
    text = FILE.read_text(encoding="utf-8")
    for package in ("learn", "training", "trainers"):
        assert f"godojo.{package}" not in text
    assert len(text.splitlines()) < 320


class Bandits(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Episodes of one step: the observation names the key that is rewarded, and a gear that is."""

    def __init__(self, space: Any) -> None:
        self.num_envs, self.single_action_space = 16, space
        self.single_observation_space = gymnasium.spaces.Box(0.0, 1.0, (3,), np.float32)
        self._chance = np.random.default_rng(0)

    def _draw(self) -> np.ndarray:
        self._key = self._chance.integers(3, size=self.num_envs)
        return np.eye(3, dtype=np.float32)[self._key]

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ARG002 - Gymnasium's
        return self._draw(), {}

    def step(self, actions: np.ndarray) -> Any:
        chosen = np.asarray(actions).reshape(self.num_envs, -1)
        right = (chosen == self._key[:, None]).mean(axis=1).astype(np.float32)
        done = np.ones(self.num_envs, np.bool_)
        infos = {"final_info": {"is_success": right == 1.0}}
        return self._draw(), right, done, np.zeros_like(done), infos


@pytest.mark.parametrize("space", [gymnasium.spaces.Discrete(3), gymnasium.spaces.MultiDiscrete([3, 3])])
def test_it_learns_choices(example: ModuleType, space: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example, "make_envs", lambda _: Bandits(space))
    monkeypatch.setattr(example, "say", lambda _: None)
    args = example.Args(total_timesteps=5_000, num_steps=16, num_minibatches=2, hidden=16, learning_rate=2e-2, save="")
    assert example.train(args)["success"] > 0.8
