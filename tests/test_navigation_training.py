"""Training and judging whoever plays alone: both trainers, own rewards, tasks, stages, and what is refused."""

import csv
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import gymnasium as gym
import msgspec
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from godojo.cli import main
from godojo.engines.make import make_vec
from godojo.engines.multi_task import MultiTaskWorlds
from godojo.engines.reward_wrapper import CustomReward, RewardWrapper
from godojo.envs import env_id
from godojo.envs.sb3 import WorldsVecEnv
from godojo.errors import GodojoError
from godojo.evaluation.solo import evaluate_solo
from godojo.formats import CHECKPOINT
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.navigation.spec import WALKER
from godojo.learn.policy_file import load_policy
from godojo.learn.presets import preset_names, read_preset
from godojo.learn.training import make_learner
from godojo.runs.folder import RunFolder
from godojo.trainers.sb3_settings import Sb3Settings
from tests.conftest import ROOT
from tests.training_cli import train

pytestmark = pytest.mark.usefixtures("runs")

SB3 = (
    *("--trainer", "sb3", "--set", "n_steps=32", "--set", "n_epochs=2", "--num-envs", "4", "--eval", "0"),
    *("--set", "best_rounds=4", "--set", "rules.round_s=2"),
)
SMALL = ("--set", "num_worlds=16", "--set", "n_steps=16", "--set", "net_arch=[16,16]", "--eval", "0")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_gymnasium_environment() -> None:
    env = gym.make(env_id("navigation"), courses=["maze"], truncate_after=5)
    check_env(env.unwrapped, skip_render_check=True, skip_close_check=True)
    told, info = env.reset(seed=4)
    again, _ = env.reset(seed=4)
    assert np.array_equal(told, again)
    for _ in range(5):
        assert info == {}
        told, reward, terminated, truncated, info = env.step(np.array([0.0, 1.0, 0.0], np.float32))
    assert (terminated, truncated) == (False, True)
    assert info["arena"] == "maze"
    assert info["is_success"] is False
    assert info["length_ticks"] == 20
    assert isinstance(reward, float)
    with pytest.raises(GodojoError, match="call reset"):
        env.unwrapped.step(np.zeros(3, np.float32))


def test_the_vector_environment_tells_how_rounds_end() -> None:
    env = WorldsVecEnv(make_vec("navigation", num_worlds=3, truncate_after=4), seed=1)
    first = env.reset()
    for _ in range(4):
        told, _, done, infos = env.step(np.ones((3, 3), np.float32))
    assert isinstance(told, np.ndarray)
    assert done.all()
    assert all(info["TimeLimit.truncated"] and info["winner"] == "nobody" for info in infos)
    assert not np.array_equal(infos[0]["terminal_observation"], told[0])
    assert not np.array_equal(first, told)


@pytest.mark.slow
def test_stable_baselines3_trains_in_a_run_and_goes_on() -> None:
    train(*SB3, "--preset", "quick_test", "--steps", "512", "--run-id", "mine", "--set", "checkpoint_steps=256")
    run = RunFolder.open("mine")
    assert (run.config.learner, run.config.roles) == ("sb3", (WALKER,))
    assert run.config.learner_settings["net_arch"] == [256, 256]
    assert {entry.name for entry in run.snapshots().entries()} == {"start", "best", "final"}
    for name in ("best_models/best_model.zip", "metrics.csv", "policy_walker.pt", "README.md"):
        assert (run.path / name).is_file()
    train("--resume", "mine", "--steps", "768", "--eval", "0")
    steps = [int(row["agent_steps"]) for row in rows(run.updates)]
    assert steps == sorted(set(steps))
    assert steps[-1] == 768
    figures = rows(run.updates)[-1]
    assert {f"walker/rollout/reward_{term}" for term in ("goal", "comfort", "teleport")} <= set(figures)
    found = evaluate_solo("mine", rounds=8)
    assert found.agent_steps == 768
    assert found.means["comfort warnings per minute"].mean >= 0.0
    assert float(figures["walker/train/approx_kl"]) >= 0.0


@pytest.mark.slow
def test_a_run_of_the_former_loop_of_stable_baselines3_is_resumed() -> None:
    train(*SB3, "--preset", "quick_test", "--steps", "256", "--run-id", "mine")
    run = RunFolder.open("mine")
    state, entry = run.checkpoints().newest()
    learner = state.pop("learner")
    del learner["n_updates"], learner["variables"]  # which it did not save
    assert (learner.pop("updates"), state.pop("recent")) == (entry.update, ANY)
    content = {"format": "godojo-checkpoint/3", "update": entry.update, "state": state | learner}
    migrated = CHECKPOINT.migrate(content, 3)["state"]
    assert set(migrated) == {"learner", "episodes", "recent"}
    made = make_learner(run.config, make_vec("navigation", num_worlds=4))
    made.load_state(migrated["learner"])
    assert (made.updates, made.agent_steps) == (entry.update, 256)
    made.close()


def test_the_built_in_trainer_goes_through_stages(runs: Path) -> None:
    config = {
        "budget": {"agent_steps": 1024},
        "game": {"rules.round_s": 1.0},
        "curriculum": [
            {"name": "near", "agent_steps": 512, "game": {"rules.goal_within_m": 5.0}},
            {"name": "all"},
        ],
    }
    file = runs.parent / "mine.json"
    file.write_bytes(msgspec.json.encode(config))
    train("--config", str(file), *SMALL, "--run-id", "staged")
    stages = [float(row["curriculum/stage"]) for row in rows(runs / "staged/updates.csv")]
    assert stages == [0.0, 0.0, 1.0, 1.0]
    train("--resume", "staged", "--steps", "1280", "--eval", "0")
    assert float(rows(runs / "staged/updates.csv")[-1]["curriculum/stage"]) == 1.0
    episodes = rows(runs / "staged/metrics.csv")
    assert {row["winner"] for row in episodes} <= {"clock", "gap", "walker"}
    assert "walker_collision" in episodes[0]


def test_tasks_are_mixed_and_told_apart(runs: Path) -> None:
    train(*SMALL, "--steps", "256", "--tasks", "course,maze", "--run-id", "tasks", "--set", "rules.round_s=1")
    policy, card = load_policy(runs / "tasks/policy_walker.pt")
    assert policy.shape.observation_size == 50
    assert card.observation_parts[-1].name == "task"
    found = evaluate_solo("tasks", rounds=6)
    assert set(found.by_arena) == {"course", "maze"}
    with pytest.raises(GodojoError, match="only its run knows which"):
        evaluate_solo(str(runs / "tasks/policy_walker.pt"), rounds=2)


def test_mixed_worlds_are_their_parts_side_by_side() -> None:
    def part(name: str, seed: int) -> Any:
        return make_vec("navigation", num_worlds=3, seed=seed, courses=[name], truncate_after=7)

    mixed, alone = MultiTaskWorlds({"a": part("maze", 1), "b": part("course", 2)}), part("maze", 1)
    role = mixed.roles[WALKER]
    assert role.observation.shape == (6, 1, 50)
    assert role.observation[:, 0, 48:].tolist() == [[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3
    role.action[:] = alone.roles[WALKER].action[:] = (0.2, 0.9, -0.3)
    for _ in range(7):
        mixed.step()
        alone.step()
        assert np.array_equal(role.observation[:3, 0, :48], alone.roles[WALKER].observation[:, 0])
        assert np.array_equal(role.reward[:3], alone.roles[WALKER].reward)
    assert mixed.ended.all()
    assert [mixed.arena_names[place] for place in mixed.arena] == ["maze"] * 3 + ["course"] * 3


REWARD = """
import numpy as np

class Hurry:
    terms = ("speed", "end")

    def reward(self, step):
        speed = np.hypot(step.next_observation[..., 7], step.next_observation[..., 9])
        return {"speed": speed, "end": -5.0 * (step.outcome == "nobody")}

class Wrong:
    def reward(self, step):
        return np.zeros(2)

class Silent:
    pass
"""


def test_a_reward_of_a_users_own(runs: Path) -> None:
    file = runs.parent / "own.py"
    file.write_text(REWARD)
    inner = make_vec("navigation", num_worlds=4, truncate_after=3)
    worlds = RewardWrapper(inner, reward=CustomReward(f"{file}:Hurry"), scale=0.5)
    role = worlds.roles[WALKER]
    worlds.reset(1)
    total = np.zeros(4)
    for _ in range(3):
        worlds.step({WALKER: np.tile(np.array([0.0, 1.0, 0.0], np.float32), (4, 1, 1))})
        total += role.terms[:, 0].sum(axis=1)
        assert role.reward[:, 0] == pytest.approx(0.5 * role.terms[:, 0].sum(axis=1))
    assert worlds.ended.all()
    assert role.terms[:, 0, 1].tolist() == [-5.0] * 4
    assert role.final_terms[:, 0].sum(axis=1) == pytest.approx(total)
    with pytest.raises(GodojoError, match="has the shape"):
        RewardWrapper(inner, reward=CustomReward(f"{file}:Wrong")).step()
    with pytest.raises(GodojoError, match="no method reward"):
        CustomReward(f"{file}:Silent")
    with pytest.raises(GodojoError, match="did you mean Hurry"):
        CustomReward(f"{file}:Hury")
    train(*SMALL, "--steps", "256", "--reward", f"{file}:Hurry", "--run-id", "own", "--set", "rules.round_s=1")
    assert {"walker_speed", "walker_end"} <= set(rows(runs / "own/metrics.csv")[0])


def test_the_hyperparameters_of_stable_baselines3_are_its_usual_ones() -> None:
    own = Sb3Settings()
    assert (own.learning_rate, own.batch_size, own.n_epochs, own.gamma, own.net_arch) == (
        3e-4,
        64,
        10,
        0.99,
        (256, 256),
    )


@pytest.mark.slow
def test_a_batch_is_at_most_a_rollout() -> None:
    train(*SB3, "--steps", "128", "--run-id", "small", "--set", "batch_size=512")
    from stable_baselines3 import PPO

    model = PPO.load(RunFolder.open("small").path / "checkpoints/vr_nav_model_128_steps.zip", device="cpu")
    assert model.batch_size == 128


def test_stable_baselines3_is_for_one_agent_and_no_run_is_left(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train("--trainer", "sb3", "--num-envs", "4", "--role", "hider", "--preset", "2v2", game="tag", status=2)
    assert "trains one agent of a role, and here are 2 of the hider" in capsys.readouterr().err
    assert not list(runs.glob("*"))


def test_presets_are_those_of_the_requirements() -> None:
    assert set(preset_names("navigation")) == {
        "default",
        "quick_test",
        "full_training",
        "curriculum_learning",
        "comfort_optimized",
        "per_metre",
    }
    quick, full, staged, comfort = (
        read_preset("navigation", name)
        for name in ("quick_test", "full_training", "curriculum_learning", "comfort_optimized")
    )
    assert (quick.budget, quick.options) == ({"agent_steps": 10_000}, {"truncate_after": 200})
    assert quick.sb3["checkpoint_steps"] == quick.ppo["checkpoint_steps"] == 2_000
    assert (full.budget, full.options) == ({"agent_steps": 5_000_000}, {"truncate_after": 1_000})
    assert (staged.budget["agent_steps"], comfort.budget["agent_steps"]) == (3_000_000, 1_000_000)
    goals = [stage.game.get("rules.goal_within_m", staged.game["rules.goal_within_m"]) for stage in staged.curriculum]
    assert goals == [10.0, 20.0, 30.0]
    assert [stage.agent_steps for stage in staged.curriculum] == [500_000, 1_000_000, None]
    assert [stage.name for stage in staged.curriculum] == ["easy", "medium", "hard"]


def test_rewards_are_those_of_the_requirements_but_for_two_presets() -> None:
    specified = NavigationSettings.defaults()
    found = {name: specified.override(**read_preset("navigation", name).game) for name in preset_names("navigation")}
    comfort, per_metre = found.pop("comfort_optimized"), found.pop("per_metre")
    assert all(settings.rewards == specified.rewards for settings in found.values())
    for other in (*found.values(), per_metre):
        assert comfort.rewards.comfort > other.rewards.comfort
        assert comfort.rewards.smooth > other.rewards.smooth
        assert comfort.motion.smoothing_s > other.motion.smoothing_s
    assert 0.2 <= comfort.motion.smoothing_s <= 0.4
    assert (per_metre.rewards.smooth, per_metre.rewards.comfort) == (0.0, 0.0)
    assert (per_metre.rewards.smooth_per_m, per_metre.rewards.comfort_per_m) == (0.1, 2.0)


def test_standing_still_is_worth_less_than_the_goal_in_every_preset() -> None:
    for name in preset_names("navigation"):
        preset = read_preset("navigation", name)
        own = NavigationSettings.defaults().override(**preset.game).rewards
        for gamma in (preset.ppo["gamma"], preset.sac["gamma"], preset.sb3["gamma"]):
            assert (own.comfort + own.smooth) / (1.0 - gamma) < own.goal, name


def test_the_quick_test_saves_every_2000_steps_and_ends_episodes_after_200(runs: Path) -> None:
    train("--preset", "quick_test", "--steps", "6000", "--run-id", "quick", "--eval", "0")
    saved = [entry.agent_steps for entry in RunFolder.open("quick").checkpoints().entries()]
    assert sorted(set(saved))[-2:] == [4_000, 6_000]
    episodes = rows(runs / "quick/metrics.csv")
    assert {round(float(row["length_s"]), 2) for row in episodes if row["winner"] == "nobody"} == {13.33}


def test_an_example_goes_out_and_in_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "example.json"
    with pytest.raises(SystemExit):
        main(["config", "example", "navigation", "--preset", "quick_test", "--out", str(file)])
    assert "--config" in capsys.readouterr().out
    train("--config", str(file), "--trainer", "built-in", *SMALL, "--steps", "256", "--run-id", "again")
    assert RunFolder.open("again").config.learner_settings["gamma"] == 0.95


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--preset", "quick_tst"), "did you mean quick_test?"),
        (("--trainer", "sb4"), "did you mean sb3?"),
        (("--trainer", "sb3", "--set", "gama=1"), "did you mean gamma?"),
        (("--trainer", "sb3", "--set", "batch_size=99999999"), "batch_size must be from 2"),
        (("--set", "rules.rond_s=1"), "did you mean rules.round_s"),
        (("--tasks", "course,mase"), "there is no course 'mase'; did you mean maze?"),
        (("--reward", "own"), "file.py:Class"),
        (("--reward", "nowhere.py:Own"), "no such file"),
        (("--config", "nowhere.json"), "No such file"),
        (("--config", "x.json", "--preset", "default"), "not both"),
        (("--trainer", "sb3", "--algorithm", "a2c"), "there is no algorithm of Stable-Baselines3 'a2c'"),
        (("--trainer", "sb3", "--algorithm", "dqn"), "DQN learns one discrete action, and the walker has continuous"),
        (("--algorithm", "td3"), "td3 is an algorithm of Stable-Baselines3; add --trainer sb3"),
        (("--trainer", "sb3", "--role", "hider"), "there is no role 'hider'"),
        (("--role", "walker"), "--role is for --trainer sb3"),
        (("--trainer", "sb3", "--init-from", "x"), "there is no run 'x'"),
        (("--reload-every", "5"), "--reload-every needs --http"),
        (("--http", "http://127.0.0.1:9", "--processes", "3"), "remove --engines"),
        (("--http", "http://a:1,http://b:1", "--num-envs", "3"), "3 worlds cannot be spread evenly over 2 addresses"),
        (("--http", "http://a:1,http://b:1,http://c:1", "--num-envs", "2"), "2 worlds cannot be spread evenly over 3"),
    ],
)
def test_mistakes_are_answered_in_one_line(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    train(*words, status=2)
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("words", [("--engine", "both"), ("--opponent", "oracle"), ("--role", WALKER)])
def test_whoever_plays_alone_is_judged_alone(
    words: tuple[str, ...], runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(*SMALL, "--steps", "256", "--run-id", "alone", "--set", "rules.round_s=1")
    said = capsys.readouterr().out
    assert "eval alone" in said
    assert "watch alone" in said
    assert "league" not in said
    with pytest.raises(SystemExit) as ended:
        main(["eval", str(runs / "alone"), *words])
    assert ended.value.code == 2
    assert "plays alone" in capsys.readouterr().err


def test_its_report_says_what_its_rounds_are_like(runs: Path) -> None:
    train(*SMALL, "--steps", "1024", "--run-id", "told", "--set", "rules.round_s=1")
    with pytest.raises(SystemExit) as ended:
        main(["report", str(runs / "told"), "-n", "4"])
    assert ended.value.code == 0
    page = (runs / "told/report.html").read_text(encoding="utf-8")
    assert "<h2>Results</h2>" in page
    assert "without a collision" in page
    assert "godojo watch" in page
    assert "const rounds" in page, "its rounds are shown"


def test_the_page_names_everything_and_its_reward_works(tmp_path: Path) -> None:
    page = (ROOT / "docs/games/navigation-training.md").read_text(encoding="utf-8")
    for name in (*preset_names("navigation"), *(field.name for field in msgspec.structs.fields(Sb3Settings))):
        assert f"`{name}`" in page, name
    own = next(block for block in page.split("```python")[1:] if "class Gentle" in block).split("```")[0]
    (tmp_path / "own.py").write_text(own)
    worlds = RewardWrapper(make_vec("navigation", num_worlds=3), reward=CustomReward(f"{tmp_path}/own.py:Gentle"))
    worlds.step({WALKER: np.ones((3, 1, 3), np.float32)})
    assert worlds.roles[WALKER].terms[:, 0, 1] == pytest.approx([-0.3] * 3)
