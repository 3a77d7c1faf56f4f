"""RLlib: its environments, episodes and policies, a training that resumes, workers, and the error without it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import godojo
from godojo import extras
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.extras import is_installed
from godojo.learn.registry import algorithm_named
from godojo.runs.folder import RunFolder
from godojo.trainers.rllib_settings import RllibSettings
from tests.conftest import ROOT

needs_rllib = pytest.mark.skipif(not is_installed("rllib"), reason="RLlib is not installed: dojo.py install rllib")
SMALL = {"num_envs": 16, "n_steps": 16, "batch_size": 64, "n_epochs": 1, "net_arch": [16]}
SHORT = {"rules.round_s": 2.0}


def test_settings_are_checked() -> None:
    for wrong in ({"batch_size": 1}, {"num_env_runners": 65}, {"opponent": "wander"}, {"gamma": 2.0}):
        with pytest.raises(GodojoError, match=next(iter(wrong))):
            RllibSettings(**wrong).check()


def test_all_roles_learn_unless_one_is_named() -> None:
    worlds, entry = make_vec("tag", num_worlds=1), algorithm_named("rllib")
    assert entry.trained_roles(worlds, RllibSettings()) == ("seeker", "hider")
    assert entry.trained_roles(worlds, RllibSettings(role="hider")) == ("hider",)


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({"algorithm": "sac"}, "no algorithm of RLlib 'sac'"),
        ({"freeze": ["hider"]}, "RLlib trains new policies"),
        ({"ray": "local"}, "is for the built-in PPO"),
        ({"project": ".", "workers": 2}, "start the games of Godojo"),
    ],
)
def test_wrong_arguments_are_refused(given: dict[str, Any], answer: str) -> None:
    with pytest.raises(GodojoError, match=answer):
        godojo.train("tag" if "project" not in given else None, trainer="rllib", steps=1, **given)


def test_without_rllib_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras._NEEDED, "rllib", ("no_such_module",))
    with pytest.raises(GodojoError, match="rllib is not installed; install it with: ") as found:
        godojo.train("navigation", trainer="rllib", steps=1)
    assert "\n" not in str(found.value)


@needs_rllib
def test_the_multi_agent_environment_keeps_rllibs_contract() -> None:
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    from godojo.envs.rllib import ALL, GameMultiAgentEnv, role_of

    env = GameMultiAgentEnv({"game": "tag", "settings": {**SHORT, "rules.hiders": 3}})
    check_multiagent_environments(env)
    first, _ = env.reset(seed=7)
    assert {role_of(agent) for agent in first} == {"seeker", "hider"}
    ends = 0
    for _ in range(4):
        observations, _ = env.reset()
        gone: set[str] = set()
        while env.agents:
            actions = {agent: env.get_action_space(agent).sample() for agent in env.agents}
            observations, rewards, terminated, truncated, infos = env.step(actions)
            assert set(observations) == set(rewards) == set(actions)
            assert not gone & set(observations)
            gone |= {agent for agent in actions if terminated[agent] or truncated[agent]}
            assert all(env.get_observation_space(agent).contains(seen) for agent, seen in observations.items())
        assert terminated[ALL] != truncated[ALL]
        assert all(info["winner"] in ("seeker", "hider") for info in infos.values())
        ends += 1
    assert ends == 4
    again, _ = env.reset(seed=7)
    assert all((again[agent] == first[agent]).all() for agent in first)
    env.close()


@needs_rllib
def test_a_truncated_round_ends_with_its_last_observation() -> None:
    from godojo.envs.rllib import ALL, GameMultiAgentEnv

    env = GameMultiAgentEnv({"game": "navigation", "truncate_after": 3})
    env.reset(seed=7)
    (agent,) = env.possible_agents
    for _ in range(3):
        observations, rewards, terminated, truncated, _ = env.step({agent: np.zeros(3, np.float32)})
    assert truncated == {agent: True, ALL: True}
    assert not any(terminated.values())
    last = env.worlds.roles["walker"]
    assert (observations[agent] == last.final_observation[0, 0]).all()
    assert rewards[agent] == last.reward[0, 0]
    assert (env.reset()[0][agent] == last.observation[0, 0]).all()  # the next round had begun


@needs_rllib
def test_a_lost_game_makes_rllib_recreate_the_environment() -> None:
    from ray.rllib.env.env_errors import StepFailedRecreateEnvError

    from godojo.engines.godot.restarts import GameLost
    from godojo.envs.rllib import GameMultiAgentEnv, _lost

    env = GameMultiAgentEnv({"game": "navigation"})
    env.reset(seed=7)
    finish = env.worlds.finish

    def cut() -> None:
        finish()
        for role in env.worlds.roles.values():
            role.acted[:], role.truncated[:], env.worlds.ended[:] = False, True, True

    def gone() -> None:
        raise GameLost("game 0 was lost", "died")

    try:
        for loss in (cut, gone, cut):
            env.worlds.finish = loss  # type: ignore[method-assign]
            with pytest.raises(StepFailedRecreateEnvError):
                env.step({})
        with pytest.raises(GodojoError, match="3 times in a row"):
            GameMultiAgentEnv({"game": "navigation"})
    finally:
        _lost.clear()


@needs_rllib
def test_the_vector_environment_resets_in_a_step_of_its_own() -> None:
    from godojo.envs.rllib import GameVectorEnv

    env = GameVectorEnv({"game": "navigation", "num_envs": 4, "truncate_after": 5})
    env.reset(seed=7)
    for step in range(1, 14):
        observed, reward, terminated, truncated, infos = env.step(env.action_space.sample())
        assert env.observation_space.contains(observed)
        if step in (5, 10):  # the round after has its first decision at rest
            assert truncated.all()
            assert not terminated.any()
            assert (observed == env.match.final_observation).all()
            assert set(infos["arena"]) <= set(env.match.worlds.arena_names)
        else:
            assert not (terminated | truncated).any()
        if step in (6, 11):
            assert (reward == 0.0).all()
    env.close()


@needs_rllib
def test_episodes_hold_every_transition_once_and_no_other() -> None:
    """Against the worlds' own arrays, with hiders that wait after they were caught."""
    from godojo.trainers.rllib_runner import RoleRollout

    worlds = make_vec("tag", num_worlds=8, seed=3, settings=godojo_settings(**{**SHORT, "rules.hiders": 3}))
    settings = RllibSettings(num_envs=8, n_steps=64, norm_reward=False)
    role = worlds.roles["hider"]
    rollout = RoleRollout(role, settings, "0")
    chance = np.random.default_rng(0)
    rewards, transitions, finals = 0.0, 0, 0
    for step in range(64):
        rollout._observation[step] = rollout._rows(role.observation)
        for each in worlds.roles.values():
            each.action[:] = chance.uniform(-1.0, 1.0, each.action.shape)
        worlds.step()
        rollout.add(step)
        rewards += float(role.reward[role.acted].sum())
        transitions += int(role.acted.sum())
        finals += int((role.acted & (role.terminated | role.truncated)).sum())
    episodes = list(rollout.episodes())
    assert sum(map(len, episodes)) == transitions == rollout.transitions
    assert sum(episode.get_return() for episode in episodes) == pytest.approx(rewards, abs=1e-3)
    assert sum(episode.is_done for episode in episodes) == finals > 0
    assert len({episode.multi_agent_episode_id for episode in episodes}) == len(episodes)


def godojo_settings(**values: Any) -> Any:
    from godojo.envs.spaces import settings_from

    return settings_from("tag", values)


@needs_rllib
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_run_of_both_roles_resumes_and_its_policies_are_rllibs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from ray.rllib.core.columns import Columns

    from godojo.learn.policy_file import load_policy
    from godojo.trainers.rllib import Rllib

    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    godojo.train("tag", trainer="rllib", steps=1500, seed=1, settings={**SMALL, **SHORT}, run_id="both")
    kept = {role: load_policy(tmp_path / "both" / f"policy_{role}.pt")[0] for role in ("seeker", "hider")}
    worlds = make_vec("tag", num_worlds=16, settings=godojo_settings(**SHORT))
    learner = Rllib(worlds, RllibSettings(**{**SMALL, "net_arch": (16,)}), 1)  # type: ignore[arg-type]
    try:
        learner.load_state(RunFolder.open(str(tmp_path / "both")).checkpoints().newest()[0]["learner"])
        assert learner.agent_steps >= 1500
        for role, policy in kept.items():
            module = learner.algorithm.get_module(role)
            seen = torch.randn(256, worlds.roles[role].observation.shape[2])
            with torch.no_grad():
                mean = module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS][:, :3]
                features, _ = policy.features(policy.preprocess(seen), policy.initial_memory(256))
                ours = policy.head.sample(features, deterministic=True).action
            assert float((mean[:, : ours.shape[1]] - ours).abs().max()) < 1e-5
    finally:
        learner.close()
    godojo.train(resume="both", steps=3000)
    assert RunFolder.open(str(tmp_path / "both")).checkpoints().newest()[1].agent_steps >= 3000
    assert not list(Path.home().glob("ray_results/*PPO*"))


@needs_rllib
@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_a_killed_worker_is_replaced_and_ctrl_c_saves(tmp_path: Path) -> None:
    values = [f"--set={name}={value}".replace(" ", "") for name, value in {**SMALL, **SHORT}.items()]
    words = ["train", "tag", "--trainer", "rllib", "--workers", "2", "--minutes", "4", "--eval", "0", "--run-id", "run"]
    process = subprocess.Popen(
        [sys.executable, "-m", "godojo", *words, *values],
        env={**os.environ, "GODOJO_RUNS": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        table = tmp_path / "run" / "updates.csv"
        _await_rows(table, 3)
        victim = next(pid for pid, title in _titles().items() if "WorldsEnvRunner" in title)
        os.kill(victim, signal.SIGKILL)
        _await_rows(table, len(table.read_text().splitlines()) + 10)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=90)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, output
    assert "stopped and saved" in output


def _await_rows(table: Path, rows: int) -> None:
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline:
        if table.exists() and len(table.read_text().splitlines()) > rows:
            return
        time.sleep(0.2)
    raise AssertionError(f"{table} has no {rows} rows")


def _titles() -> dict[int, str]:
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                found[int(entry.name)] = (entry / "cmdline").read_text()
            except OSError:
                continue
    return found


@needs_rllib
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_example_shares_one_policy() -> None:
    words = ["--iterations", "2", "--batch", "256", "--num-envs", "2", "--players", "3"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/rllib_shared_policy.py"), *words],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "iteration 2: " in done.stdout
