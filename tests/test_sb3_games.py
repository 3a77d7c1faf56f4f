"""Stable-Baselines3's algorithms in our games: which roles and actions they learn, and the policies that come out."""

import csv
import dataclasses
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from stable_baselines3 import DQN, PPO, SAC, TD3
from stable_baselines3.common.vec_env import VecNormalize

from godojo.cli import main
from godojo.engines.base import RoleArrays
from godojo.engines.make import make_vec
from godojo.envs.gymnasium import WorldsVectorEnv
from godojo.envs.sb3 import GameVecEnv, WorldsVecEnv
from godojo.envs.spaces import CHOICE_LIMIT, action_space, unflattened
from godojo.envs.versus import Match
from godojo.errors import GodojoError
from godojo.evaluation.evaluation import has_opponents, plays_itself
from godojo.evaluation.solo import evaluate_solo
from godojo.export.dojo_file import check_dojo, dojo_bytes
from godojo.export.players import SHIPPED
from godojo.export.sb3_zip import read_sb3_model, to_policy
from godojo.games.parts import ActionPart
from godojo.learn.policy_file import load_policy
from godojo.learn.presets import learner_settings, read_preset
from godojo.runs.folder import RunFolder
from godojo.runs.role_map import Mode
from godojo.show.policies_to_show import PoliciesToShow
from godojo.show.watch.rounds import Choice, RunRounds
from godojo.trainers.sb3 import Sb3
from godojo.trainers.sb3_settings import Sb3SacSettings
from godojo.training.outcome import next_commands
from tests.training_cli import train

pytestmark = pytest.mark.usefixtures("runs")

SMALL = (
    *("--trainer", "sb3", "--num-envs", "4", "--eval", "0", "--device", "cpu", "--set", "net_arch=[16,16]"),
    *("--set", "rules.round_s=2", "--set", "best_rounds=4"),
)
REPLAY = (
    "--set",
    "train_freq=1",
    "--set",
    "learning_starts=100",
    "--set",
    "batch_size=32",
    "--set",
    "buffer_size=2000",
)
CONTINUOUS = (ActionPart("walk", "continuous", 2), ActionPart("turn", "continuous", 1))
CHOICE, CHOICES = (
    (ActionPart("key", "discrete", 4),),
    (ActionPart("key", "discrete", 4), ActionPart("gear", "discrete", 2)),
)
MIXED = (ActionPart("gear", "discrete", 3), ActionPart("steer", "continuous", 2), ActionPart("horn", "discrete", 2))


def acted(policy: Any, raw: np.ndarray) -> np.ndarray:
    observed = torch.from_numpy(np.asarray(raw, np.float32))
    with torch.no_grad():
        features, _ = policy.features(policy.preprocess(observed), policy.initial_memory(len(observed)))
        action = policy.head.sample(features, deterministic=True).action
        return np.asarray(policy.to_env_action(action, observed).numpy())


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_algorithms_with_a_replay_buffer_train_resume_and_export(algorithm: str) -> None:
    words = (*SMALL, *REPLAY, "--algorithm", algorithm, "--run-id", "mine", "--set", "checkpoint_steps=512")
    train(*words, "--steps", "512", "--set", "gradient_steps=1")
    run, name = RunFolder.open("mine"), algorithm.upper()
    assert (run.config.learner, run.config.roles, run.config.opponents) == (f"sb3_{algorithm}", ("walker",), {})
    assert (run.path / "best_models/best_model.zip").is_file()
    path = run.path / "checkpoints/vr_nav_model_512_steps.zip"
    statistics = path.with_name("vr_nav_model_vecnormalize_512_steps.pkl")
    env = VecNormalize.load(str(statistics), GameVecEnv("navigation", 8, seed=3))
    env.training = False
    env.reset()
    for _ in range(10):
        env.step(np.full((8, 3), (0.3, 0.8, 0.1), np.float32))
    raw = np.asarray(env.get_original_obs())
    model = SAC.load(path, device="cpu") if algorithm == "sac" else TD3.load(path, device="cpu")
    theirs, _ = model.predict(env.normalize_obs(raw), deterministic=True)
    policy, card = load_policy(run.policy("walker"))
    assert acted(policy, raw) == pytest.approx(theirs, abs=1e-4)
    assert check_dojo(dojo_bytes(policy, card)).header.squashed
    assert evaluate_solo(str(path), rounds=4, files=SHIPPED).reward == evaluate_solo("mine", rounds=4).reward
    train("--resume", "mine", "--steps", "1024", "--eval", "0")
    assert sorted(folder.name for folder in (run.path / "logs").iterdir()) == [f"{name}_1", f"{name}_2"]
    assert run.checkpoints().newest()[1].agent_steps == 1024
    with (run.path / "updates.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"walker/train/actor_loss", "walker/train/critic_loss", "walker/train/n_updates"} <= set(rows[0])
    assert [int(row["agent_steps"]) for row in rows] == [512, 1024]
    steps = [float(row["walker/train/n_updates"]) for row in rows]
    assert 90 < steps[0] < 110, "learning starts after 100 transitions"
    assert steps[1] - steps[0] == pytest.approx(104, abs=3), "and after a resumed run has 100 again"


def test_a_zip_of_sac_is_continued_with_its_entropy_coefficient() -> None:
    words = (*SMALL, *REPLAY, "--algorithm", "sac", "--set", "gradient_steps=1")
    train(*words, "--steps", "512", "--run-id", "one")
    path = RunFolder.open("one").path / "checkpoints/vr_nav_model_512_steps.zip"
    model: Any = SAC.load(path, device="cpu")
    train("--resume", str(path), "--steps", "4", "--run-id", "two", "--eval", "0")
    run = RunFolder.open("two")
    assert (run.config.learner, run.config.learner_settings["gradient_steps"]) == ("sb3_sac", 1)
    state, _ = run.checkpoints().newest()
    assert state["learner"]["n_updates"] >= model._n_updates
    first = next(entry for entry in run.snapshots().entries() if entry.name == "start")
    assert first.agent_steps == 512
    kept = state["learner"]["variables"]["log_ent_coef"]
    assert abs(float(kept) - model.log_ent_coef.item()) < 0.2
    assert abs(float(kept)) > 1e-3, "it began at 0"


def test_one_role_of_tag_learns_against_an_opponent(capsys: pytest.CaptureFixture[str]) -> None:
    train(*SMALL, "--steps", "1024", "--role", "hider", "--opponent", "wander", "--run-id", "hides", game="tag")
    run = RunFolder.open("hides")
    assert (run.config.roles, run.config.opponents) == (("hider",), {"seeker": "wander"})
    assert has_opponents(run.config)
    assert not plays_itself(run.config)
    assert [path.name for path in run.path.glob("policy*.pt")] == ["policy_hider.pt"]
    assert [path.name for path in (run.path / "logs/PPO_1").iterdir() if path.is_dir()] == []
    with (run.path / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["hider_against"] for row in rows} == {"wander"}
    commands = [words.split()[0] for words in next_commands(run)]
    assert commands == ["watch", "film", "eval", "export", "train"]
    shown = PoliciesToShow.of("hides")
    assert shown.names == {"hider": "newest", "seeker": "wander"}
    replay = shown.record(1, arenas=shown.arenas(None)[:1])[0]
    assert {role.name for role in replay.header.roles} == {"seeker", "hider"}
    watched = RunRounds(run)
    assert watched.players("seeker")[0] == "scripted:wander"
    assert watched.next(Choice("in turn", {})).outcome is not None
    with pytest.raises(SystemExit) as ended:
        main(["eval", "hides", "-n", "8", "--opponent", "random"])
    assert ended.value.code == 0
    assert "hider" in capsys.readouterr().out


def test_a_trained_run_is_an_opponent_and_so_is_the_other_player_of_classic_tag() -> None:
    train(*SMALL, "--steps", "1024", "--role", "hider", "--run-id", "hides", game="tag")
    train(*SMALL, "--steps", "1024", "--opponent", "hides", "--run-id", "seeks", game="tag")
    assert RunFolder.open("seeks").config.opponents == {"hider": "hides"}
    train(*SMALL, "--steps", "1024", "--mode", "classic", "--run-id", "classic", game="tag")
    run = RunFolder.open("classic")
    assert (run.config.roles, run.config.opponents) == (("player",), {})
    assert plays_itself(run.config)


@pytest.mark.parametrize(
    ("algorithm", "values"),
    [
        ("sb3", {"n_steps": 8}),
        ("sb3_sac", {"learning_starts": 8, "batch_size": 4, "buffer_size": 600, "gradient_steps": 1}),
    ],
)
def test_a_role_that_is_frozen_plays_and_keeps_its_weights(algorithm: str, values: dict[str, Any]) -> None:
    settings = learner_settings(algorithm, {"num_envs": 2, "net_arch": [8], "device": "cpu", **values})
    learner = Sb3(make_vec("navigation", num_worlds=2), settings, seed=1)

    def weights() -> np.ndarray:
        policy = learner.policies["walker"]
        return np.concatenate([value.detach().numpy().ravel() for value in policy.state_dict().values()])

    modes: tuple[Mode, ...] = ("train", "frozen", "deterministic", "train")
    for mode in modes:
        learner.modes["walker"] = mode
        before, steps = weights(), learner.agent_steps
        iteration = learner.iterate(0.5)
        assert learner.agent_steps - steps == (16 if algorithm == "sb3" else 512)
        assert (weights() == before).all() == (mode != "train"), "its statistics are part of them"
        assert bool(iteration.metrics["walker"]) == (mode == "train")
    learner.close()


class Numbers(gymnasium.Env[np.ndarray, Any]):
    """Five numbers, and actions of any kind."""

    observation_space = Box(-2.0, 2.0, (5,), np.float32)

    def __init__(self, space: Any) -> None:
        self.action_space = space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        return self.observation_space.sample(), float(np.sum(action)), False, False, {}


def role_with(parts: tuple[ActionPart, ...]) -> RoleArrays:
    empty: Any = np.zeros((1, 1, sum(part.width for part in parts)), np.float32)
    names = [field.name for field in dataclasses.fields(RoleArrays)][1:-4]
    arrays: dict[str, Any] = {**dict.fromkeys(names, empty), "observation_parts": (), "action_parts": parts}
    return RoleArrays(name="agent", **arrays)


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (PPO, CONTINUOUS),
        (PPO, CHOICE),
        (PPO, CHOICES),
        (PPO, MIXED),
        (SAC, CONTINUOUS),
        (TD3, CONTINUOUS),
        (DQN, CHOICE),
    ],
)
def test_every_kind_of_policy_acts_as_in_stable_baselines3(
    kind: Any, parts: tuple[ActionPart, ...], tmp_path: Path
) -> None:
    space = action_space(role_with(parts), flatten=True)
    model = kind("MlpPolicy", Numbers(space), device="cpu", seed=3, policy_kwargs={"net_arch": [12, 9]})
    with torch.no_grad():
        for weights in model.policy.parameters():
            weights += 0.3 * torch.randn_like(weights)
    model.save(tmp_path / "model.zip")
    read = read_sb3_model(tmp_path / "model.zip")
    assert (read.algorithm, read.net_arch) == (kind.__name__.lower(), (12, 9))
    raw = np.random.default_rng(0).uniform(-2, 2, (200, 5)).astype(np.float32)
    theirs, _ = model.predict(raw, deterministic=True)
    theirs = theirs.reshape(200, -1)
    policy = to_policy(read.weights, None, parts, read.activation)
    expected = unflattened(theirs, role_with(parts)) if parts == MIXED else theirs
    assert acted(policy, raw) == pytest.approx(expected, abs=1e-3)
    fitting = [one for one in (CONTINUOUS, CHOICE, CHOICES, MIXED) if read.fits(5, one)]
    assert fitting == [parts]


def test_mixed_actions_are_flattened() -> None:
    space = action_space(role_with(MIXED), flatten=True)
    assert isinstance(space, Box)
    assert space.high.tolist() == [CHOICE_LIMIT] * 3 + [1.0] * 2 + [CHOICE_LIMIT] * 2
    flat = np.array([[0.1, 3.0, -1.0, 0.5, -0.5, 2.0, 1.0]], np.float32)
    assert unflattened(flat, role_with(MIXED)).tolist() == [[1.0, 0.5, -0.5, 0.0]]
    with pytest.raises(GodojoError, match="continuous and discrete actions at once"):
        action_space(role_with(MIXED))
    assert isinstance(action_space(role_with(CHOICE)), Discrete)
    assert isinstance(action_space(role_with(CHOICES)), MultiDiscrete)


def test_all_agents_of_a_role_are_environments() -> None:
    worlds = make_vec("tag", num_worlds=3, settings=None, truncate_after=5)
    match = Match(worlds, "hider", "random", game="tag", every_agent=True)
    env = WorldsVecEnv(match, seed=1)
    assert env.num_envs == match.num_rows == 3
    env.reset()
    for _ in range(5):
        *_, dones, infos = env.step(np.zeros((3, 3), np.float32))
    assert dones.all()
    assert all("terminal_observation" in info and info["TimeLimit.truncated"] for info in infos)
    gym_env = WorldsVectorEnv(Match(make_vec("tag", num_worlds=3), "seeker", "random", game="tag", every_agent=True))
    assert gym_env.num_envs == 3


def test_presets_share_settings_with_ppo_and_values_are_checked() -> None:
    preset = read_preset("navigation", "default")
    settings = learner_settings("sb3_dqn", preset.learner("sb3_dqn"))
    assert (settings.gamma, settings.num_envs) == (preset.sb3["gamma"], preset.sb3["num_envs"])
    assert settings.batch_size == 128, "not PPO's"
    assert learner_settings("sb3_td3", preset.learner("sb3_td3")).num_envs == 128, "its own"
    for values, said in (
        ({"ent_coef": "some"}, "ent_coef must be a number, auto or auto_0.1"),
        ({"learning_starts": 10**6}, "at most buffer_size"),
        ({"gradient_steps": 0}, "gradient_steps must be 1 or more"),
    ):
        with pytest.raises(GodojoError, match=said):
            learner_settings("sb3_sac", values)
    Sb3SacSettings(ent_coef="auto_0.1").check()


def test_a_gpu_that_is_not_there_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    words = [word if word != "cpu" else "cuda" for word in SMALL]
    train(*words, "--steps", "64", status=2)
    error = capsys.readouterr().err
    assert "torch finds no GPU; remove --device cuda" in " ".join(error.split())
    assert error.count("\n") == 1


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("algorithm", ["ppo", "sac", "td3"])
def test_a_gpu_is_used_and_its_policies_play_on_the_cpu(algorithm: str) -> None:
    words = [word if word != "cpu" else "cuda" for word in SMALL]
    more = ("--set", "n_steps=16", "--set", "batch_size=32") if algorithm == "ppo" else REPLAY
    train(*words, *more, "--algorithm", algorithm, "--steps", "512", "--run-id", "mine")
    assert torch.cuda.max_memory_allocated() > 0
    train("--resume", "mine", "--steps", "1024", "--eval", "0")
    assert np.isfinite(evaluate_solo("mine", rounds=4).reward.mean)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_sac_reaches_the_goal() -> None:
    """By the command of docs/trainers.md, with a number of steps in place of a time."""
    words = ("--trainer", "sb3", "--algorithm", "sac", "--preset", "per_metre", "--device", "cpu", "--eval", "0")
    train(*words, "--steps", "400000", "--run-id", "mine")
    assert max(evaluate_solo(name, rounds=100).measures["success"].rate for name in ("mine", "mine@best")) > 0.4
