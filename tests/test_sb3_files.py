"""Stable-Baselines3's files in a run: checkpoints, best model and curves; resumed, evaluated, and checked first."""

import base64
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box
from stable_baselines3 import A2C, PPO, SAC
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch import nn

from godojo.cli import main
from godojo.engines.make import make_vec
from godojo.envs.sb3 import GameVecEnv
from godojo.errors import GodojoError
from godojo.evaluation.solo import evaluate_solo
from godojo.export.dojo_file import check_dojo, dojo_bytes
from godojo.export.players import SHIPPED
from godojo.export.sb3_zip import read_sb3_model, read_zip_player, run_of, to_policy
from godojo.games.base import GAMES
from godojo.games.navigation.spec import WALKER
from godojo.learn.policy_file import load_policy
from godojo.runs.folder import RunFolder
from godojo.trainers.sb3_settings import Sb3Settings
from godojo.training.args import TrainArgs
from godojo.training.setup import prepared
from tests.conftest import ROOT
from tests.training_cli import train

pytestmark = pytest.mark.usefixtures("runs")

SB3 = (
    *("--trainer", "sb3", "--set", "n_steps=64", "--set", "n_epochs=1", "--num-envs", "4", "--eval", "0"),
    *("--set", "best_rounds=4", "--set", "rules.round_s=2", "--set", "net_arch=[16,16]", "--device", "cpu"),
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of two rollouts of 256 steps, with a checkpoint every 100."""
    with pytest.MonkeyPatch.context() as patch:
        root = tmp_path_factory.mktemp("sb3")
        patch.setenv("GODOJO_RUNS", str(root))
        train(*SB3, "--steps", "512", "--run-id", "mine", "--set", "checkpoint_steps=100")
        return RunFolder.open(root / "mine")


def zips(run: RunFolder) -> list[str]:
    return sorted((path.name for path in run.path.glob("checkpoints/*.zip")), key=lambda name: int(name.split("_")[-2]))


def curves(folder: Path) -> set[str]:
    events = EventAccumulator(str(folder))
    events.Reload()
    return set(events.Tags()["scalars"])


def test_checkpoints_are_numbered_even_within_a_rollout(trained: RunFolder) -> None:
    assert zips(trained) == [f"vr_nav_model_{steps}_steps.zip" for steps in (100, 200, 300, 400, 500, 512)]
    for steps in (100, 512):
        assert (trained.path / f"checkpoints/vr_nav_model_vecnormalize_{steps}_steps.pkl").is_file()
        assert read_sb3_model(trained.path / f"checkpoints/vr_nav_model_{steps}_steps.zip").agent_steps == steps
    assert {path.name for path in (trained.path / "best_models").iterdir()} == {
        "best_model.zip",
        "best_model_vecnormalize.pkl",
    }
    assert not list(trained.path.glob("*.zip"))
    assert trained.checkpoints().newest()[1].agent_steps == 512, "our own states are among them"


def test_the_number_is_rounded_up_to_the_environments() -> None:
    train(*SB3, "--num-envs", "3", "--steps", "190", "--run-id", "three", "--set", "checkpoint_steps=100")
    assert zips(RunFolder.open("three")) == ["vr_nav_model_102_steps.zip", "vr_nav_model_192_steps.zip"]


def test_other_games_have_their_name_in_front() -> None:
    assert GAMES["tag"].checkpoint_prefix == ""
    assert GAMES["navigation"].checkpoint_prefix == "vr_nav"


def test_curves_are_where_stable_baselines3_has_them(trained: RunFolder) -> None:
    page = (ROOT / "docs/runs.md").read_text(encoding="utf-8")
    assert "logs/PPO_1" in page
    (folder,) = (trained.path / "logs").iterdir()
    assert folder.name == "PPO_1"
    assert not (trained.path / "tensorboard").exists()
    names = {f"train/{name}" for name in ("approx_kl", "clip_fraction", "entropy_loss", "explained_variance")}
    names |= {f"train/{name}" for name in ("value_loss", "policy_gradient_loss", "learning_rate")}
    assert names | {"rollout/ep_rew_mean", "rollout/ep_len_mean", "time/fps"} <= curves(folder)


def test_a_resumed_run_has_new_curves_and_goes_on_counting() -> None:
    train(*SB3, "--steps", "256", "--run-id", "again", "--set", "checkpoint_steps=100", "--set", "best_rounds=0")
    train("--resume", "again", "--steps", "512", "--eval", "0")
    run = RunFolder.open("again")
    assert sorted(path.name for path in (run.path / "logs").iterdir()) == ["PPO_1", "PPO_2"]
    assert zips(run)[-1] == "vr_nav_model_512_steps.zip"
    assert "vr_nav_model_400_steps.zip" in zips(run)
    updates = [read_sb3_model(run.path / "checkpoints" / name).updates for name in zips(run)]
    assert updates == sorted(updates)
    assert updates[-1] > updates[0]


def test_stable_baselines3_itself_loads_them(trained: RunFolder) -> None:
    path = trained.path / "checkpoints/vr_nav_model_512_steps.zip"
    env = VecNormalize.load(
        str(path.parent / "vr_nav_model_vecnormalize_512_steps.pkl"), GameVecEnv("navigation", 8, seed=3)
    )
    env.training = False
    model = PPO.load(path, env=env, device="cpu")
    assert model.num_timesteps == 512
    policy, card = load_policy(trained.policy(WALKER))
    assert card.agent_steps == 512
    env.reset()
    for _ in range(20):
        env.step(np.full((8, 3), (0.3, 0.8, 0.1), np.float32))
    raw = np.asarray(env.get_original_obs())
    theirs, _ = model.predict(env.normalize_obs(raw), deterministic=True)
    assert acted(policy, raw) == pytest.approx(theirs, abs=1e-4)
    PPO.load(trained.path / "best_models/best_model.zip", device="cpu")


def acted(policy: Any, raw: np.ndarray) -> np.ndarray:
    observed = torch.from_numpy(np.asarray(raw, np.float32))
    with torch.no_grad():
        features, _ = policy.features(policy.preprocess(observed), policy.initial_memory(len(observed)))
        action = policy.head.sample(features, deterministic=True).action
        return np.asarray(policy.to_env_action(action, observed).numpy())


def test_a_zip_is_evaluated_like_its_run(trained: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    path = trained.path / "checkpoints/vr_nav_model_512_steps.zip"
    ours, theirs = evaluate_solo(str(trained.path), rounds=8), evaluate_solo(str(path), rounds=8, files=SHIPPED)
    assert theirs.agent_steps == 512
    assert theirs.measures == ours.measures
    assert theirs.reward == ours.reward
    with pytest.raises(SystemExit) as ended:
        main(["eval", str(path), "-n", "4", "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["agent_steps"] == 512
    early = evaluate_solo(str(path.with_name("vr_nav_model_100_steps.zip")), rounds=8, files=SHIPPED)
    assert early.reward != ours.reward


def test_a_new_run_continues_from_a_zip(trained: RunFolder, runs: Path) -> None:
    path = trained.path / "checkpoints/vr_nav_model_300_steps.zip"
    model = PPO.load(path, device="cpu")
    with prepared(TrainArgs("navigation", resume=str(path), steps=200, run_id="next"), print) as training:
        learner: Any = training.learner
        assert learner.agent_steps == learner.model.num_timesteps == 300
        assert learner.model._n_updates == model._n_updates
        for name, weights in model.policy.state_dict().items():
            assert torch.equal(learner.model.policy.state_dict()[name], weights)
        theirs, ours = (each.policy.optimizer.state_dict()["state"] for each in (model, learner.model))
        assert all(torch.equal(ours[key]["exp_avg"], theirs[key]["exp_avg"]) for key in theirs)
        kept = pickle.loads(path.with_name("vr_nav_model_vecnormalize_300_steps.pkl").read_bytes())
        assert np.array_equal(learner.env.obs_rms.mean, kept.obs_rms.mean)
        assert learner.env.ret_rms.count == kept.ret_rms.count
        config = RunFolder.open(training.run.path).config
        assert config.game_settings == trained.config.game_settings
        assert config.learner_settings == trained.config.learner_settings
        assert config.budget == {"agent_steps": 500}, "so many further ones"
    assert not (runs / "next").exists(), "nothing was trained"
    train("--trainer", "sb3", "--resume", str(path), "--steps", "200", "--run-id", "next", "--eval", "0")
    run = RunFolder.open("next")
    assert zips(run) == [f"vr_nav_model_{steps}_steps.zip" for steps in (400, 500, 556)]
    assert run.snapshots().entries()[0].agent_steps == 300
    assert run_of(run.path / "checkpoints" / zips(run)[0]) is not None


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Zips that nobody but Stable-Baselines3 has made."""
    folder = tmp_path_factory.mktemp("plain")

    def make(name: str, *, normalized: bool, **policy: Any) -> Path:
        path = folder / name / "mine.zip"
        if not path.exists():
            env: Any = GameVecEnv("navigation", 4, seed=1, truncate_after=20)
            env = VecNormalize(env) if normalized else env
            model = PPO("MlpPolicy", env, n_steps=32, n_epochs=1, device="cpu", policy_kwargs=policy or None, seed=2)
            path.parent.mkdir()
            model.learn(256).save(path)
            if normalized:
                env.save(path.with_name("mine_vecnormalize.pkl"))
            env.close()
        return path

    return make


KINDS = [
    ("raw_tanh", {"normalized": False}),
    ("tanh", {"normalized": True}),
    ("relu", {"normalized": True, "net_arch": [32, 24, 16], "activation_fn": nn.ReLU}),
]


@pytest.mark.parametrize(("name", "how"), KINDS, ids=[name for name, _ in KINDS])
def test_plain_models_are_converted_exactly(name: str, how: dict[str, Any], plain: Callable[..., Path]) -> None:
    path = plain(name, **how)
    model = PPO.load(path, device="cpu")
    read = read_sb3_model(path)
    assert read.activation == ("relu" if name == "relu" else "tanh")
    assert read.net_arch == ((32, 24, 16) if name == "relu" else (64, 64))
    assert (read.normalization is None) == (name == "raw_tanh")
    worlds = make_vec("navigation", num_worlds=64, seed=9)
    role = worlds.roles[WALKER]
    for _ in range(10):
        worlds.step({WALKER: np.full((64, 1, 3), (0.3, 0.8, 0.1), np.float32)})
    raw = role.observation[:, 0].copy()
    seen = raw
    if read.normalization is not None:
        env = VecNormalize.load(str(path.with_name("mine_vecnormalize.pkl")), GameVecEnv("navigation", 1))
        seen = np.asarray(env.normalize_obs(raw))
        assert np.abs(seen).max() > 5.0, "the limit is larger than ours"
    theirs, _ = model.predict(seen, deterministic=True)
    assert acted(to_policy(read.weights, read.normalization, role.action_parts, read.activation), raw) == pytest.approx(
        theirs, abs=2e-4
    )


@pytest.mark.parametrize(("name", "how"), KINDS[:2], ids=["raw", "normalized"])
def test_plain_models_are_evaluated_and_continued(
    name: str, how: dict[str, Any], plain: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = plain(name, **how)
    if name == "tanh":
        assert evaluate_solo(str(path), rounds=2, files=SHIPPED).agent_steps == 256
    words = [word for word in SB3 if "net_arch" not in word]
    words = [word for at, word in enumerate(words) if not (word == "--set" and words[at + 1 : at + 2] == ["--device"])]
    train(*words, "--resume", str(path), "--steps", "256", "--run-id", "next", "--set", "best_rounds=0")
    said = "".join(capsys.readouterr())
    assert ("no VecNormalize statistics" in " ".join(said.split())) == (name == "raw_tanh")
    run = RunFolder.open("next")
    settings = run.config.learner_settings
    assert (settings["net_arch"], settings["activation_fn"]) == ([64, 64], "tanh")
    assert settings["norm_obs"] == settings["norm_reward"] == (name == "tanh")
    assert zips(run) == ["vr_nav_model_512_steps.zip"]
    train("--resume", "next", "--steps", "768", "--eval", "0")
    assert evaluate_solo("next", rounds=2).agent_steps == 768
    policy, card = load_policy(run.policy(WALKER))
    assert run.config.game == "navigation"
    assert {layer.kind for layer in check_dojo(dojo_bytes(policy, card)).header.layers} == {"tanh", "linear"}


class Boom:
    """Writes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self.file, "boom")


def rewritten(path: Path, to: Path, **entries: bytes) -> Path:
    to.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            if entries.get(key := name.replace(".", "_"), b"x"):
                new.writestr(name, entries.get(key) or old.read(name))
    return to


def test_nothing_in_a_file_is_run(plain: Callable[..., Path], tmp_path: Path) -> None:
    path, file = plain("tanh", normalized=True), tmp_path / "boom"
    pickled = base64.b64encode(pickle.dumps(Boom(file))).decode()
    with zipfile.ZipFile(path) as archive:
        data = json.loads(archive.read("data"))
    for value in data.values():
        if isinstance(value, dict) and ":serialized:" in value:
            value[":serialized:"] = pickled
    hostile = rewritten(path, tmp_path / "a/hostile.zip", data=json.dumps(data).encode())
    statistics = hostile.with_name("hostile_vecnormalize.pkl")
    env: Any = VecNormalize.load(str(path.with_name("mine_vecnormalize.pkl")), GameVecEnv("navigation", 1))
    env.more = Boom(file)
    statistics.write_bytes(pickle.dumps(env))
    model = read_sb3_model(hostile)
    assert model.normalization is not None
    assert model.normalization.obs is not None
    assert np.array_equal(model.normalization.obs.mean, env.obs_rms.mean), "the rest of it is fine"
    read_zip_player(hostile, seed=0, deterministic=True, name="hostile")
    statistics.write_bytes(pickle.dumps(Boom(file)))
    with pytest.raises(GodojoError, match="no statistics of VecNormalize"):
        read_sb3_model(hostile)
    buffer = io.BytesIO()
    torch.save({"weights": Boom(file)}, buffer)
    with pytest.raises(GodojoError, match="damaged or no model"):
        read_sb3_model(rewritten(path, tmp_path / "b/hostile.zip", policy_pth=buffer.getvalue()))
    assert not file.exists()
    pickle.loads(pickle.dumps(Boom(file)))
    assert file.exists(), "it would have"


def saved(kind: Any, path: Path, **how: Any) -> Path:
    class Small(GameVecEnv):
        """Navigation with other observations."""

    env = Small("navigation", 2)
    env.observation_space = how.pop("space", env.observation_space)
    kind("MlpPolicy", env, device="cpu", **how).save(path)
    env.close()
    return path


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path, _: path.with_name("nowhere.zip"), "No such file"),
        (lambda path, _: path.write_bytes(b"PK nothing") and path, "damaged or no model"),
        (lambda path, old: path.write_bytes(old.read_bytes()[:-400]) and path, "no model of Stable-Baselines3"),
        (lambda path, old: rewritten(old, path, policy_pth=b""), "has no 'policy.pth'"),
        (lambda path, old: rewritten(old, path, data=b"{nothing"), "damaged or no model"),
        (lambda path, _: saved(SAC, path, buffer_size=10, use_sde=True), "no PPO, SAC, TD3 or DQN with an MlpPolicy"),
        (lambda path, _: saved(PPO, path, use_sde=True), "not independent and continuous"),
        (lambda path, _: saved(PPO, path, policy_kwargs={"activation_fn": nn.ELU}), "there is ReLU and Tanh"),
        (
            lambda path, _: saved(PPO, path, space=Box(-1.0, 1.0, (7,), np.float32)),
            "observes 7 numbers and acts by 3; no game",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(
    make: Any, said: str, plain: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make(tmp_path / "other.zip", plain("tanh", normalized=True))
    with pytest.raises(SystemExit) as ended:
        main(["eval", str(path), "-n", "2"])
    error = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == 2
    assert said in error
    assert "Traceback" not in error


def test_a_flipped_bit_of_our_own_is_noticed(trained: RunFolder, tmp_path: Path) -> None:
    for name in ("vr_nav_model_200_steps.zip", "vr_nav_model_vecnormalize_200_steps.pkl"):
        content = bytearray((trained.path / "checkpoints" / name).read_bytes())
        (tmp_path / name).write_bytes(content)
    read_sb3_model(tmp_path / "vr_nav_model_200_steps.zip")
    for name in ("vr_nav_model_200_steps.zip", "vr_nav_model_vecnormalize_200_steps.pkl"):
        content = bytearray((tmp_path / name).read_bytes())
        content[len(content) // 2] ^= 1
        (tmp_path / name).write_bytes(content)
        with pytest.raises(GodojoError, match="SHA-256"):
            read_sb3_model(tmp_path / "vr_nav_model_200_steps.zip")
        content[len(content) // 2] ^= 1
        (tmp_path / name).write_bytes(content)


def test_other_statistics_are_refused(plain: Callable[..., Path], tmp_path: Path) -> None:
    path = tmp_path / "mine.zip"
    path.write_bytes(plain("raw_tanh", normalized=False).read_bytes())
    env = VecNormalize(make_vec_env("Pendulum-v1"))
    env.save(str(tmp_path / "mine_vecnormalize.pkl"))
    with pytest.raises(GodojoError, match=r"is of 3 observations, and mine\.zip has 48"):
        read_sb3_model(path)
    env.clip_obs = 0.0
    env.save(str(tmp_path / "mine_vecnormalize.pkl"))
    with pytest.raises(GodojoError, match=r"no statistics of VecNormalize .*out of range"):
        read_sb3_model(path)
    env.close()


def test_a2c_is_read_too(tmp_path: Path) -> None:
    path = saved(A2C, tmp_path / "a2c.zip")
    player = read_zip_player(path, seed=0, deterministic=True, name="a2c")
    assert (player.card.game, player.role, player.card.agent_steps) == ("navigation", WALKER, 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--device", "cpu"), "--device is for --trainer sb3"),
        (("--trainer", "sb3", "--device", "gpu"), "device must be one of auto, cpu, cuda"),
        (("--resume", "some.zip", "--algorithm", "ppo"), "use --trainer sb3"),
        (("--resume", "some.zip", "--init-from", "mine"), "two starting points"),
        (("--resume", "some.zip", "--demos", __file__), "remove --demos"),
        (("--trainer", "sb3", "--resume", "some.zip"), "some.zip cannot be read (No such file"),
    ],
)
def test_mistakes_are_answered_in_one_line(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    train(*words, status=2)
    error = capsys.readouterr().err
    assert said in " ".join(error.split())
    assert error.count("\n") == 1


def test_settings_are_stable_baselines3s_defaults_but_for_the_network() -> None:
    settings = Sb3Settings()
    assert (settings.activation_fn, settings.device, settings.clip_obs) == ("relu", "auto", 5.0)
    with pytest.raises(GodojoError, match="clip_obs must be above 0"):
        Sb3Settings(clip_obs=0.0).check()
