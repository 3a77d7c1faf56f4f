"""Defaults of PPO for any game, and what they rest on: shorter sequences and scaled rewards."""

import copy
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import numpy as np
import pytest
import torch

from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.learn.defaults import (
    BATCH,
    MAX_BATCH,
    MAX_EPOCHS,
    ROLLOUT,
    SEQUENCE,
    TIMED_DECISIONS,
    ppo_defaults,
    samples_per_s,
)
from godojo.learn.ppo import update
from godojo.learn.presets import learner_settings
from godojo.learn.return_scale import ReturnScale
from tests.learning_games import SMALL, fingerprints, learner, one_rollout, tag

SLOW = 500.0
"""Samples per second."""


def worlds_with(agents: int, **others: int) -> Worlds:
    """As many worlds as agents, and further roles with agents of their own."""
    counts = {"one": agents, **others}
    roles = {name: SimpleNamespace(acted=np.zeros((count, 1))) for name, count in counts.items()}
    return cast(Worlds, SimpleNamespace(num_worlds=agents, roles=roles))


@pytest.mark.parametrize("agents", [1, 2, 8, 32, 72, 300, 2000])
def test_minibatches_are_small_whatever_the_number_of_agents(agents: int) -> None:
    settings = learner_settings("ppo", ppo_defaults(worlds_with(agents), {}, SLOW))
    samples = settings.n_steps * agents
    assert settings.num_worlds == agents
    assert samples >= min(ROLLOUT, 1024 * agents)
    assert samples / settings.n_minibatches <= (2 * BATCH if agents <= 72 else 2 * MAX_BATCH)
    sequences = agents * settings.n_steps // (settings.sequence_length or settings.n_steps)
    assert sequences >= settings.n_minibatches  # one each, at least


@pytest.mark.parametrize("steps", ["many", None, 0, -3, 2.5])
def test_a_wrong_rollout_is_refused_in_one_line(steps: Any) -> None:
    defaults = ppo_defaults(worlds_with(8), {"n_steps": steps}, SLOW)
    with pytest.raises(GodojoError, match="n_steps must be"):
        learner_settings("ppo", defaults, {"n_steps": steps})


def test_the_slower_a_game_the_more_is_learnt_from_each_sample() -> None:
    epochs = [ppo_defaults(worlds_with(32), {}, speed)["n_epochs"] for speed in (20, SLOW, 20_000, 60_000, 1e6)]
    assert epochs == [MAX_EPOCHS, MAX_EPOCHS, MAX_EPOCHS, 4, 1]
    assert ppo_defaults(worlds_with(32), {"n_epochs": 3}, SLOW)["n_epochs"] == 3


def test_the_speed_is_the_usual_one_and_the_game_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds, now_s = cast(Any, worlds_with(8, other=8)), [0.0]
    resets: list[int] = []
    steps = iter([3.0, *[0.01] * (TIMED_DECISIONS - 1)])  # the first is slow

    def step() -> None:
        now_s[0] += next(steps)

    worlds.step, worlds.reset = step, resets.append
    monkeypatch.setattr("godojo.learn.defaults.time.perf_counter", lambda: now_s[0])
    assert samples_per_s(worlds, 5) == pytest.approx(1600.0)
    assert resets == [5]
    assert next(steps, None) is None


def test_settings_that_are_given_win_and_the_others_fit_them() -> None:
    found = ppo_defaults(worlds_with(16), {"n_steps": 50, "learning_rate": 0.5, "net_arch": (8,)}, SLOW)
    assert (found["n_steps"], found["learning_rate"], found["sequence_length"]) == (50, 0.5, 0)
    assert found["n_minibatches"] == 16 * 50 // BATCH
    assert "net_arch" not in found
    assert learner_settings("ppo", found).n_steps == 50


def test_the_role_with_the_fewest_agents_decides() -> None:
    both, few = (ppo_defaults(worlds, {}, SLOW) for worlds in (worlds_with(64, other=2), worlds_with(2)))
    assert both["n_steps"] == few["n_steps"]


def test_a_sequence_has_to_fit_into_the_rollout() -> None:
    with pytest.raises(GodojoError, match="sequence_length must divide n_steps"):
        learner_settings("ppo", {"n_steps": 50, "sequence_length": SEQUENCE})


def test_sequences_begin_with_the_memory_that_the_policy_had() -> None:
    """Before the first gradient step all ratios are 1, in every sequence."""
    settings = msgspec.structs.replace(SMALL, sequence_length=SMALL.n_steps // 2)
    made = learner(settings, worlds=tag(truncate_after=3))
    try:
        one_rollout(made)
        for worker in made.workers.values():
            whole = worker.buffer
            parts = whole.split(worker.sequence_memory)
            half = settings.sequence_length
            assert parts.num_columns == 2 * whole.num_columns
            assert torch.equal(parts.reward[:, : whole.num_columns], whole.reward[:half])
            assert torch.equal(parts.observation[:, whole.num_columns :], whole.observation[half:])
            with torch.no_grad():
                features = worker.policy.features_of_sequence(
                    parts.observation[:-1], parts.memory, parts.not_done, parts.heading
                )
                log_prob, _ = worker.policy.head.evaluate_actions(features, parts.action)
            assert torch.allclose(log_prob, parts.log_prob, atol=1e-4)
            before = fingerprints(made)[f"{worker.name} policy"]
            update(worker, made.gradients[worker.name], made.optimisers[worker.name], settings)
            assert fingerprints(made)[f"{worker.name} policy"] != before
    finally:
        made.close()


def test_rewards_are_divided_by_the_deviation_of_the_return() -> None:
    rng = torch.Generator().manual_seed(0)
    reward = torch.randn(400, 8, generator=rng) * 50.0
    done = torch.rand(400, 8, generator=rng) < 0.1
    returns, running = [], np.zeros(8)
    for earned, over in zip(reward.numpy(), done.numpy(), strict=True):
        running = running * 0.9 + earned
        returns.append(running.copy())
        running[over] = 0.0
    scale = ReturnScale(8, 0.9)
    scaled = torch.cat([scale.scaled(reward[:200], done[:200]), scale.scaled(reward[200:], done[200:])])
    wanted = reward[200:] / float(np.std(returns))
    assert torch.allclose(scaled[200:], wanted, rtol=1e-3)
    other = ReturnScale(8, 0.9)
    other.load_state(scale.state(), same_episodes=True)
    assert torch.equal(other.scaled(reward, done), scale.scaled(reward, done))
    assert ReturnScale(1, 0.9).scaled(torch.full((3, 1), 1e9), torch.zeros(3, 1, dtype=torch.bool)).max() <= 10.0


def test_a_training_with_scaled_rewards_resumes_bit_by_bit() -> None:
    settings = msgspec.structs.replace(SMALL, normalize_reward=True, sequence_length=SMALL.n_steps // 2)
    one, two = learner(settings), learner(settings)
    try:
        one.iterate(0.0)
        state: dict[str, Any] = copy.deepcopy(one.state())
        one.iterate(0.5)
        two.load_state(state)
        two.iterate(0.5)
        assert fingerprints(one) == fingerprints(two)
    finally:
        one.close()
        two.close()


def test_an_unknown_game_is_explored_with_a_standard_deviation_of_one() -> None:
    given = ppo_defaults(worlds_with(8), {}, SLOW)["log_std_init"]
    policies = [learner(msgspec.structs.replace(SMALL, log_std_init=start)) for start in (given, -0.5)]
    explored = [one.workers["seeker"].policy.state_dict()["head.log_std"].tolist() for one in policies]
    assert explored == [[0.0] * 3, [-0.5] * 3]
    with pytest.raises(GodojoError, match="log_std_init must be from -5 to 5, not 9"):
        learner_settings("ppo", {"log_std_init": 9.0})
