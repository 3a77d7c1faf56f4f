"""`RewardCalculator` against the game's own reward terms, decision by decision, on the twin."""

from pathlib import Path

import numpy as np
import pytest

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.engines.reward_wrapper import CustomReward, RewardWrapper
from godojo.games.navigation.reward import RewardCalculator
from godojo.games.navigation.settings import LAYOUT, NavigationSettings
from godojo.games.navigation.spec import REWARD_TERMS, WALKER
from tests.conftest import ROOT

DECISIONS = 300
GOAL = LAYOUT.slice("goal_direction")

OWN = """
from godojo.games.navigation.reward import RewardCalculator

class Same(RewardCalculator):
    pass

class More(RewardCalculator):
    terms = (*RewardCalculator.terms, "still")

    def weigh(self, decision, rewards):
        return {**super().weigh(decision, rewards), "still": -1.0 * (decision.progress_m <= 0.0)}
"""


def settings(**more: object) -> NavigationSettings:
    values = {"rewards.comfort_warning": -2.0, "rewards.progress_per_m": 3.0, "rules.round_s": 16.0, **more}
    return NavigationSettings.defaults().override(**values)


def worlds_of(chosen: NavigationSettings, count: int = 96) -> Worlds:
    worlds = make_vec("navigation", num_worlds=count, settings=chosen)
    worlds.reset(5)
    return worlds


def actions(observation: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """Most walk to their mark, with noise; the others walk straight into things and gaps."""
    right, _, back = np.moveaxis(observation[..., GOAL], -1, 0)
    to_mark = np.stack([right, -back, np.arctan2(right, -back)], axis=-1)
    world = np.arange(len(to_mark)).reshape(-1, *([1] * (to_mark.ndim - 2)))
    straight = np.broadcast_to(np.stack([np.sin(world), np.cos(world), 0.0 * world], axis=-1), to_mark.shape)
    noise = 0.3 * chance.uniform(-1.5, 1.5, to_mark.shape)
    return (np.where((world % 3 == 0)[..., None], straight, to_mark) + noise).astype(np.float32)


SMOOTH = {"motion.turn": "smooth", "rules.goal_within_m": 12.0}
SNAP = {"motion.turn": "snap", "rewards.smooth": 0.0, "rewards.comfort": 0.0}
SNAP |= {"rewards.smooth_per_m": 0.1, "rewards.comfort_per_m": 2.0}
TELEPORT = SMOOTH | {"motion.teleport_m": 3.0}


@pytest.mark.parametrize("values", [SMOOTH, SNAP, TELEPORT], ids=["smooth", "snap", "teleport"])
def test_every_term_is_the_games_own(values: dict[str, object]) -> None:
    chosen = settings(**{"motion.speed_mps": 3.0, **values})
    worlds, calculator = worlds_of(chosen), RewardCalculator(chosen)
    role, chance = worlds.roles[WALKER], np.random.default_rng(3)
    seen = dict.fromkeys(REWARD_TERMS, 0)
    winners = set()
    for decision in range(DECISIONS):
        before = role.observation[:, 0].copy()
        role.action[:, 0, :3] = actions(before, chance)
        role.action[:, 0, 3:] = chance.uniform(-1.0, 0.6, role.action[:, 0, 3:].shape)
        worlds.step()
        ended = worlds.ended.copy()
        after = np.where(ended[:, None], role.final_observation[:, 0], role.observation[:, 0])
        own = dict(zip(REWARD_TERMS, role.terms[:, 0].T, strict=True))
        winner = np.where(ended, np.array(worlds.winners, object)[worlds.winner], "")
        winners |= set(winner)
        collisions = np.rint(own["collision"] / chosen.rewards.collision)
        info = {"winner": winner, "collisions": collisions}
        if values is TELEPORT:  # a short one is no longer than a step
            info["teleports"] = np.rint(own["teleport"] / chosen.rewards.teleport)
        found = calculator.calculate(before, role.action[:, 0], after, info)
        assert tuple(found) == calculator.terms == REWARD_TERMS
        for term in REWARD_TERMS:
            assert found[term] == pytest.approx(own[term], abs=2e-4), (term, decision)
            seen[term] += int(np.count_nonzero(own[term]))
        assert sum(found.values()) == pytest.approx(role.reward[:, 0], abs=1e-3)
    used = set(REWARD_TERMS) - ({"teleport"} if values is SMOOTH else set())
    assert {term for term, count in seen.items() if count} == used
    assert winners == {"", "walker", "gap", "clock"}


def test_one_decision_is_a_row_of_a_batch() -> None:
    chosen = settings()
    worlds = worlds_of(chosen, 3)
    role = worlds.roles[WALKER]
    many, one = RewardCalculator(chosen), RewardCalculator(chosen)
    for _ in range(5):
        before = role.observation[:, 0].copy()
        role.action[:] = (0.2, 0.9, -0.3)
        worlds.step()
        batch = many.calculate(before, role.action[:, 0], role.observation[:, 0])
        alone = one.calculate(before[1], role.action[1, 0], role.observation[1, 0], {})
        assert {name: float(value) for name, value in alone.items()} == {name: batch[name][1] for name in batch}


def test_a_new_episode_remembers_nothing() -> None:
    chosen = settings()
    worlds = worlds_of(chosen, 2)
    role = worlds.roles[WALKER]
    before = role.observation[:, 0].copy()
    role.action[:] = (0.0, 1.0, 0.0)
    worlds.step()
    calculator = RewardCalculator(chosen)
    step = before, role.action[:, 0], role.observation[:, 0]
    first = calculator.calculate(*step, {"winner": np.array(["nobody", ""], object)})
    state = calculator.state()
    again = calculator.calculate(*step)
    assert again["smooth"][0] == first["smooth"][0]
    assert again["smooth"][1] > first["smooth"][1], "the action did not change"
    calculator.load_state(state)
    assert calculator.calculate(*step)["smooth"] == pytest.approx(again["smooth"], abs=0)
    calculator.reset()
    assert calculator.calculate(*step)["smooth"] == pytest.approx(first["smooth"], abs=0)


def test_as_a_reward_of_a_users_own_it_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    chosen = settings(**{"rewards.collision": -7.0})
    plain = worlds_of(chosen)
    wrapped = RewardWrapper(worlds_of(chosen), reward=CustomReward(f"{tmp_path}/own.py:Same"))
    more = RewardWrapper(worlds_of(chosen), reward=CustomReward(f"{tmp_path}/own.py:More"))
    chance = np.random.default_rng(4)
    total = 0.0
    wrapped.reset(5)
    more.reset(5)
    for _ in range(DECISIONS // 2):
        action = actions(plain.roles[WALKER].observation, chance)
        for worlds in (plain, wrapped, more):
            worlds.step({WALKER: action})
        own, ours = plain.roles[WALKER], wrapped.roles[WALKER]
        assert ours.terms == pytest.approx(own.terms, abs=2e-4)
        assert ours.final_terms[plain.ended] == pytest.approx(own.final_terms[plain.ended], abs=1e-2)
        total += float(more.roles[WALKER].terms[..., -1].sum())
    assert more.reward_terms[-1] == "still"
    assert total < 0.0


def test_a_resumed_run_continues_its_reward_exactly(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    chosen, chance = settings(), np.random.default_rng(4)
    made = [RewardWrapper(worlds_of(chosen, 4), reward=CustomReward(f"{tmp_path}/own.py:Same")) for _ in range(2)]
    first, second = made
    first.reset(5)
    for _ in range(20):
        first.step({WALKER: actions(first.roles[WALKER].observation, chance)})
    state = first.save_state()
    assert state is not None
    second.load_state(state)
    for _ in range(20):
        action = actions(first.roles[WALKER].observation, chance)
        for worlds in made:
            worlds.step({WALKER: action})
        assert np.array_equal(first.roles[WALKER].reward, second.roles[WALKER].reward)


def test_a_move_too_large_to_be_walked_is_a_teleport() -> None:
    chosen = settings(**{"motion.teleport_m": 3.0})
    before = worlds_of(chosen, 2).roles[WALKER].observation[:, 0].copy()
    after = before.copy()
    after[0, LAYOUT.slice("camera_position")] += (1.0, 0.0, 0.0)
    found = RewardCalculator(chosen).calculate(before, np.zeros((2, 4)), after)
    assert found["teleport"].tolist() == [chosen.rewards.teleport, 0.0]


def test_the_reward_of_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs/games/navigation-training.md").read_text(encoding="utf-8")
    (block,) = (block for block in page.split("```python")[1:] if "class Brisk" in block)
    (tmp_path / "own.py").write_text(block.split("```")[0])
    names: dict[str, object] = {}
    exec(compile(block.split("```")[0], "navigation-training.md", "exec"), names)
    rewards = NavigationSettings.defaults().rewards
    still = rewards.collision + rewards.timeout + rewards.smooth + rewards.comfort - 0.1
    assert names["reward"] == pytest.approx(still)
    worlds = RewardWrapper(worlds_of(settings(), 3), reward=CustomReward(f"{tmp_path}/own.py:Brisk"))
    worlds.step({WALKER: np.ones((3, 1, 3), np.float32)})
    assert worlds.reward_terms == (*REWARD_TERMS, "still")
