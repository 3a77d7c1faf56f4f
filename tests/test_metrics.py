"""Performance and episodes of a training, and their summaries."""

from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecMonitor

from godojo.envs.sb3 import GameVecEnv
from godojo.errors import GodojoError
from godojo.training.metrics import PerformanceMonitor, Statistics, TrainingMetrics, TrainingSummary


def test_statistics_of_a_window() -> None:
    found = Statistics.of(range(1, 101))
    assert (found.count, found.mean, found.max, found.p50) == (100, 50.5, 100.0, 50.5)
    assert (found.p95, found.p99) == pytest.approx((95.05, 99.01))


def test_steps_are_timed() -> None:
    times = iter([0.0, 0.01, 0.02, 0.12])
    monitor = PerformanceMonitor(window=2, clock=lambda: next(times))
    assert str(monitor) == "nothing measured yet"
    for _ in range(4):
        monitor.step(16)
    found = monitor.summary()
    assert (monitor.steps, found["step_ms"].count) == (64, 2)
    assert found["step_ms"].max == pytest.approx(100.0)
    assert found["step_ms"].mean == pytest.approx(55.0), "the first is no longer in the window"
    assert found["steps_per_s"].max == pytest.approx(1600.0)
    assert monitor.sample()["memory_mb"] > 10.0
    assert "memory_mb" in str(monitor)
    assert set(msgspec.json.decode(monitor.json())) == {"step_ms", "steps_per_s", "memory_mb"}


def test_a_game_over_http_is_asked() -> None:
    """The client's answer has the shape of `/performance/metrics`; test_http_docs.py asks a game for it."""
    engine = SimpleNamespace(fps=60.0, process_time_s=0.004, physics_time_s=0.002)
    answer = SimpleNamespace(engine=engine, memory=SimpleNamespace(static_memory_usage=5e7))
    client: Any = SimpleNamespace(get_performance_metrics=lambda: answer)
    found = PerformanceMonitor(client).sample()
    assert found == {"memory_mb": 50.0, "fps": 60.0, "frame_ms": pytest.approx(6.0)}


def test_episodes_are_summarised() -> None:
    metrics = TrainingMetrics(window=2)
    assert str(metrics) == "no episodes yet"
    for reward, success in ((5.0, True), (1.0, False), (3.0, True), (-1.0, False)):
        metrics.add(reward, 10, success)
    found = msgspec.json.decode(metrics.json(), type=TrainingSummary)
    assert found == metrics.summary() == TrainingSummary(4, 40, 2, 1.0, 10.0, 0.5, 5.0, 3.0)
    assert str(found) == (
        "4 episodes, 40 steps; last 2: reward 1.00, length 10.0, 50.0% successful; best episode 5.00, best mean 3.00"
    )


def test_without_successes_there_is_no_rate() -> None:
    metrics = TrainingMetrics()
    metrics.add(1.0, 3)
    assert metrics.summary().success_rate is None
    assert "successful" not in str(metrics)


def test_episodes_of_stable_baselines3() -> None:
    env = VecMonitor(GameVecEnv("navigation", 4, seed=1, truncate_after=6))
    metrics, total = TrainingMetrics(), 0.0
    env.reset()
    for _ in range(12):
        _, rewards, _, infos = env.step(np.full((4, 3), 0.5, np.float32))
        metrics.add_infos(infos)
        total += float(rewards.sum())
    found = metrics.summary()
    assert (found.episodes, found.steps, found.mean_length, found.success_rate) == (8, 48, 6.0, 0.0)
    assert found.mean_reward == pytest.approx(total / 8, rel=1e-4)
    env.close()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: TrainingMetrics(0), "window must be"),
        (lambda: PerformanceMonitor(window=0), "window must be"),
        (lambda: TrainingMetrics().add(float("nan"), 1), "finite reward"),
        (lambda: Statistics.of([]), "no values yet"),
    ],
)
def test_mistakes_are_answered(call: Any, said: str) -> None:
    with pytest.raises(GodojoError, match=said):
        call()
