"""A training in its folder: what it counts, when it ends, and that it is saved whatever breaks."""

import csv
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from godojo.cli.train import _line
from godojo.engines.base import Worlds
from godojo.engines.reward_wrapper import CustomReward, RewardWrapper
from godojo.errors import GodojoError
from godojo.learn.budget import GRACE_S, Budget
from godojo.learn.policy_file import load_policy
from godojo.learn.rollout import NORMALISER_STRIDE
from godojo.learn.sac import SacSelfPlay
from godojo.learn.settings import PpoSettings, SacSettings
from godojo.learn.training import Training, TrainingStatus, starting_policies
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from godojo.training.worlds import worlds_of
from godojo.units import counted
from tests.learning_games import SMALL, iterated, learner, tag

TEAMS = {"rules.seekers": 2, "rules.hiders": 3, "rules.round_s": 6.0}


def begun(root: Path, worlds: Worlds, settings: PpoSettings = SMALL, budget: Budget | None = None) -> Training:
    values = msgspec.to_builtins(settings)
    config = RunConfig("tag", "sim", tuple(worlds.roles), "ppo", values, {}, 1, {"minutes": 1})
    run = RunFolder.create(config, "one", root=root)
    return Training(run, worlds, budget or Budget(agent_steps=4 * 24 * 2 * 6), resume=False)


def after_step(worlds: Worlds, does: Callable[[int], None]) -> None:
    """Does something to the worlds after each step, by its number from 1 on."""
    finish, count = worlds.finish, 0

    def finish_and_more() -> None:
        nonlocal count
        finish()
        count += 1
        does(count)

    worlds.finish = finish_and_more  # type: ignore[method-assign]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_rounds_that_are_lost_with_a_game_are_in_no_win_rate(tmp_path: Path) -> None:
    """All games are lost at the third decision; every other round is played to its end, and somebody wins it."""
    worlds = tag(rules={"rules.round_s": 1.0})

    def lose(step: int) -> None:
        if step == 3:
            worlds.ended[:], worlds.winner[:], worlds.length_ticks[:] = True, 0, 18
            for role in worlds.roles.values():
                role.truncated[:], role.acted[:], role.final_terms[:] = True, False, 0.0

    after_step(worlds, lose)
    standings: list[TrainingStatus] = []
    made = begun(tmp_path, worlds)
    assert made.train(standings.append)
    made.close()
    rounds = rows_of(tmp_path / "one/metrics.csv")
    assert rounds
    assert {row["winner"] for row in rounds} <= {"seeker", "hider"}
    assert standings[-1].episodes == len(rounds)
    assert sum(standings[-1].win_rates.values()) == pytest.approx(1.0)


def test_a_run_starts_from_policies_of_the_same_layout_only(tmp_path: Path) -> None:
    worlds = tag()
    source = begun(tmp_path, worlds)
    source.save()
    assert starting_policies(source.run, worlds).keys() == {"seeker", "hider"}
    role = worlds.roles["hider"]
    first, *others = role.observation_parts
    renamed = dataclasses.replace(role, observation_parts=(msgspec.structs.replace(first, name="scent"), *others))
    worlds.roles = {**worlds.roles, "hider": renamed}
    said = f"the hider of .* was trained on other observations: {first.name} is .* to it, and absent here"
    with pytest.raises(GodojoError, match=said):
        starting_policies(source.run, worlds)
    source.close()


def test_no_rounds_are_no_win_rates(tmp_path: Path) -> None:
    worlds = tag(rules={"rules.round_s": 30.0})
    standings: list[TrainingStatus] = []
    made = begun(tmp_path, worlds)
    made.train(standings.append)
    made.close()
    assert standings[-1].win_rates == {}
    assert "no rounds yet" in _line(standings[-1])
    assert "seeker/rollout/win_rate" not in rows_of(tmp_path / "one/updates.csv")[-1]


@pytest.mark.parametrize(
    ("episodes", "win_rates", "rewards", "wanted"),
    [
        (0, {}, {}, "no rounds yet"),
        (6, {}, {}, "6 rounds, no win rates so far"),
        (99, {"seeker": 0.25, "hider": 0.75}, {}, "99 rounds  seeker wins 25%, hider wins 75%"),
        (5, {}, {"ball": -3.25, "bat": 1234.56}, "5 episodes  ball reward -3.25, bat reward 1235"),
    ],
)
def test_the_progress_line_says_what_is_known(
    episodes: int, win_rates: dict[str, float], rewards: dict[str, float], wanted: str
) -> None:
    line = _line(TrainingStatus(0.5, 60.0, 1234, 20.5, 3, episodes, win_rates, {}, rewards))
    assert line.endswith(wanted)
    assert "1.23 k agent-steps" in line
    assert "20.5/s" in line


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(0, "0"), (7, "7"), (950, "950"), (999.6, "1 k"), (12_345, "12.3 k"), (2.5e6, "2.5 M"), (3e9, "3 G")],
)
def test_units_suit_the_size(value: float, wanted: str) -> None:
    assert counted(value) == wanted


def test_a_rollout_is_dropped_when_the_time_has_long_been_up(tmp_path: Path) -> None:
    """The clock jumps in the middle of the second rollout, as if games had been lost again and again."""
    worlds = tag()
    made = begun(tmp_path, worlds, budget=Budget(minutes=10.0))

    def jump(step: int) -> None:
        if step == SMALL.n_steps + 2:
            made._begun -= 10.0 * 60.0 + GRACE_S

    after_step(worlds, jump)
    assert made.train(lambda _: None), "the budget is spent"
    assert made.learner.updates == 1
    made.close()
    _, entry = RunFolder.open(tmp_path / "one").checkpoints().newest()
    assert entry.update == 1


def test_whatever_breaks_the_run_is_saved(tmp_path: Path) -> None:
    worlds = tag()

    def fail(step: int) -> None:
        if step == 2 * SMALL.n_steps + 1:
            raise ValueError("something nobody thought of")

    made = begun(tmp_path, worlds)
    after_step(worlds, fail)
    with pytest.raises(ValueError, match="nobody thought of"):
        made.train(lambda _: None)
    made.close()
    _, entry = RunFolder.open(tmp_path / "one").checkpoints().newest()
    assert entry.update == 2


def test_what_is_no_number_is_not_in_what_is_saved(tmp_path: Path) -> None:
    """An observation that is no number spoils the normaliser; saved is the one from before."""
    worlds, settings = tag(), msgspec.structs.replace(SMALL, n_steps=NORMALISER_STRIDE + 4)

    def spoil(step: int) -> None:
        if step == settings.n_steps + NORMALISER_STRIDE:
            worlds.roles["hider"].observation[:] = np.nan

    made = begun(tmp_path, worlds, settings)
    after_step(worlds, spoil)
    with pytest.raises(GodojoError, match="is nan"):
        made.train(lambda _: None)
    made.close()
    policy, _ = load_policy(tmp_path / "one/policy_hider.pt")
    assert all(bool(torch.isfinite(each).all()) for each in policy.state_dict().values())
    assert float(policy.normaliser.count) > 0


def test_the_normaliser_learns_from_hiders_that_were_not_caught() -> None:
    """Oracles catch hiders, whose observations are zeros from then on."""
    settings = msgspec.structs.replace(
        SMALL,
        n_steps=16,
        past_opponent_fraction=0.0,
        scripted_opponents=("oracle",),
        scripted_opponent_fraction=1.0,
        num_worlds=16,
    )
    made = learner(settings, worlds=tag(16, rules=TEAMS))
    worker, used, rows = made.workers["hider"], 0, 0
    for _ in range(8):
        made.iterate(0.0)
        acted = worker.buffer.acted[::NORMALISER_STRIDE]
        used, rows = used + int(acted.sum()), rows + acted.numel()
    made.close()
    assert used < rows, "somebody was caught"
    assert float(worker.policy.normaliser.count) == used
    assert float(worker.critic.normaliser.count) == used


def test_so_does_that_of_sac() -> None:
    worlds = tag(8, rules=TEAMS)
    made = SacSelfPlay(worlds, SacSettings(num_worlds=8, n_steps=4, net_arch=(8,), learning_starts=10_000), 1)
    agent, arrays = made.agents["hider"], worlds.roles["hider"]
    agent.decide(worlds)
    worlds.step()
    arrays.acted[:3] = False
    agent.store_results(0, worlds)
    assert float(agent.policy.normaliser.count) == float(agent.privileged_normaliser.count) == (8 - 3) * 3
    made.close()


def test_a_league_of_one() -> None:
    made = iterated(learner(msgspec.structs.replace(SMALL, pool_size=1)), 7)
    made.close()
    assert made.opponent_pool is not None
    for past in made.opponent_pool.past.values():
        assert [one.agent_steps for one in past] == [6 * 24 * 2 * SMALL.n_steps], "the newest stays"


def paid(tmp_path: Path, amount: str, scale: float = 1.0) -> Worlds:
    """Every decision is worth so much."""
    path = tmp_path / "reward.py"
    path.write_text(
        "import numpy as np\n\n\nclass Much:\n    def reward(self, step):\n"
        f"        return np.full(step.action.shape[:2], float('{amount}'))\n"
    )
    return RewardWrapper(tag(), reward=CustomReward(f"{path}:Much"), scale=scale)


@pytest.mark.parametrize("amount", ["3e38", "-3e38", "1e300", "inf", "nan"])
def test_a_reward_that_is_too_large_is_refused_in_a_line(tmp_path: Path, amount: str) -> None:
    made = learner(worlds=paid(tmp_path, amount))
    with pytest.raises(GodojoError, match=r"own is .*; it must be a number of at most 1e\+30"):
        made.iterate(0.0)  # a warning is an error in tests
    made.close()


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_a_reward_that_cannot_be_learnt_from_is_named(tmp_path: Path, algorithm: str) -> None:
    worlds = paid(tmp_path, "1e29", scale=1e10)
    soft = SacSettings(num_worlds=24, n_steps=8, net_arch=(8,), learning_starts=64, batch_size=32)
    made = learner(worlds=worlds) if algorithm == "ppo" else SacSelfPlay(worlds, soft, 1)
    with pytest.raises(GodojoError, match=r"broke down: .*; the largest reward is inf"):
        made.iterate(0.0)
    made.close()


def test_how_long_a_game_may_be_silent_is_a_runs_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    (tmp_path / "project.godot").write_text('config_version=5\n[application]\nrun/main_scene="uid://main"\n')
    monkeypatch.setattr("godojo.engines.godot.game_source.open_game", lambda *_, **more: given.update(more))
    more = {"project": str(tmp_path), "processes": 1, "step_timeout_s": 3.0}
    worlds_of(RunConfig("theirs", "godot", (), "ppo", {}, {}, 1, {"minutes": 1}, more=more))
    assert given["step_timeout_s"] == 3.0
