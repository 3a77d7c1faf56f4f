"""Tag in the real Godot behind the contract: the same game as on the twin, and every standard environment on it."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test  # type: ignore[import-untyped]

import godojo
import godojo.envs
from godojo.cli import main
from godojo.engines.base import Worlds
from godojo.engines.godot.display import has_screen, has_virtual_screen
from godojo.engines.godot.launch import own_scene
from godojo.engines.godot.open import open_game
from godojo.engines.godot.worlds import GodotWorlds
from godojo.envs.gymnasium import GameEnv, GameVectorEnv
from godojo.envs.pettingzoo import GameParallelEnv
from godojo.errors import GodojoError
from godojo.games.tag import Arena, TagSettings, generate_arena, hand_made_arenas
from godojo.games.tag.arenas import SpawnArea
from godojo.games.tag.godot import TagInGodot
from tests.conftest import ROOT
from tests.watched_games import pid_of

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]
SHORT = {"rules.round_s": 1.0}


def make(num_worlds: int = 4, **options: Any) -> GodotWorlds:
    worlds = godojo.make_vec("tag", engine="godot", num_worlds=num_worlds, **options)
    assert isinstance(worlds, GodotWorlds)
    return worlds


@pytest.fixture
def worlds() -> Iterator[GodotWorlds]:
    with make(4, num_processes=2, seed=3) as made:
        yield made


def play(worlds: Worlds, decisions: int, seed: int = 0) -> Iterator[None]:
    chance = np.random.default_rng(seed)
    for _ in range(decisions):
        for role in worlds.roles.values():
            role.action[:] = chance.uniform(-1, 1, role.action.shape)
        worlds.step()
        yield


@pytest.mark.parametrize(
    "changes",
    [{}, {"rules.seekers": 2, "rules.hiders": 3}, {"rules.mode": "classic", "rules.players": 4}],
    ids=["1v1", "2v3", "classic"],
)
def test_both_engines_describe_the_same_game(changes: dict[str, object]) -> None:
    settings = TagSettings.defaults().override(**changes)
    twin = godojo.make_vec("tag", num_worlds=3, settings=settings)
    with make(3, settings=settings) as real:
        assert list(real.roles) == list(twin.roles)
        assert real.reward_terms == twin.reward_terms
        assert real.winners == twin.winners
        assert real.arena_names == twin.arena_names
        assert real.ticks_per_decision == twin.ticks_per_decision
        assert real.settings == twin.settings
        for name, role in real.roles.items():
            other = twin.roles[name]
            assert role.action_parts == other.action_parts
            assert role.observation_parts == other.observation_parts
            for field in ("observation", "action", "reward", "terms", "acted", "terminated", "final_observation"):
                one, two = getattr(role, field), getattr(other, field)
                assert one.shape == two.shape
                assert one.dtype == two.dtype
        assert (real.winner.dtype, real.length_ticks.dtype, real.arena.dtype) == (
            twin.winner.dtype,
            twin.length_ticks.dtype,
            twin.arena.dtype,
        )


def test_rounds_end_as_the_rules_say(worlds: GodotWorlds) -> None:
    ends, round_ticks = 0, worlds.settings.round_ticks
    for _ in play(worlds, 3 * round_ticks // worlds.ticks_per_decision):
        seeker, hider = worlds.roles["seeker"], worlds.roles["hider"]
        for role in (seeker, hider):
            assert np.isfinite(role.observation).all()
            assert np.allclose(role.terms.sum(axis=2), role.reward, atol=1e-6)
            assert np.array_equal(role.terminated[:, 0], worlds.ended)
            assert not role.truncated.any()
            assert role.acted.all()
        for world in np.flatnonzero(worlds.ended):
            ends += 1
            by_clock = worlds.length_ticks[world] == round_ticks
            assert worlds.winners[worlds.winner[world]] == ("hider" if by_clock else "seeker")
            assert 0 <= worlds.arena[world] < len(worlds.arena_names)
            assert hider.final_score[world, 0] == pytest.approx(worlds.length_ticks[world] / 60, abs=1e-4)
            assert seeker.final_score[world, 0] == (not by_clock)
    assert ends >= 8
    assert len(worlds.incidents) == 0


def test_the_same_seed_gives_the_same_rounds() -> None:
    seen = []
    with make(3, num_processes=2) as worlds:
        for seed in (11, 12, 11):
            worlds.reset(seed)
            seen.append([worlds.roles["hider"].observation.copy() for _ in play(worlds, 200)])
    assert np.array_equal(seen[0], seen[2])
    assert not np.array_equal(seen[0], seen[1])


def test_arenas_are_those_that_were_given() -> None:
    arenas = [hand_made_arenas()["maze"], generate_arena(5)]
    settings = TagSettings.defaults().override(**SHORT)
    with make(4, arenas=arenas, settings=settings) as worlds:
        assert worlds.arena_names == ("maze", "generated_5")
        met = {int(arena) for _ in play(worlds, 60) for arena in worlds.arena[worlds.ended]}
    assert met == {0, 1}
    with make(4, arenas=arenas, settings=settings, generated_share=0.5) as worlds:
        met = {int(arena) for _ in play(worlds, 90) for arena in worlds.arena[worlds.ended]}
    assert met == {-1, 0, 1}


def test_rounds_are_cut_short_when_asked() -> None:
    with make(2, truncate_after=5) as worlds:
        for decision, _ in enumerate(play(worlds, 20), 1):
            is_cut = decision % 5 == 0
            assert worlds.ended.all() == is_cut
            assert worlds.roles["seeker"].truncated.all() == is_cut
            if is_cut:
                assert not worlds.winner.any()
                assert (worlds.length_ticks == 20).all()


def test_a_caught_hider_ends_alone() -> None:
    settings = TagSettings.defaults().override(**{"rules.seekers": 4, "rules.hiders": 4, "rules.round_s": 20.0})
    alone = 0
    with make(4, settings=settings, arenas=[hand_made_arenas()["open"]]) as worlds:
        hider = worlds.roles["hider"]
        was_out = np.zeros(hider.acted.shape, np.bool_)
        for _ in play(worlds, 300):
            assert np.array_equal(hider.acted, ~was_out)
            left = hider.terminated & ~worlds.ended[:, None]
            alone += int(left.sum())
            assert not hider.reward[was_out].any()
            was_out |= left
            was_out[worlds.ended] = False
    assert alone > 0


def test_what_the_game_refuses_is_told() -> None:
    corners = tuple(SpawnArea((at, 0.0, at), (0.0, 0.0), ("seeker", "hider")) for at in (-8.0, 8.0))
    yard = Arena(1, "yard", "Yard", (20.0, 20.0), (), corners)
    crowd = TagSettings.defaults().override(**{"rules.seekers": 4, "rules.hiders": 4})
    with pytest.raises(GodojoError, match=r"refused to play.*yard: spawns: no room for 8 bodies"):
        make(1, settings=crowd, arenas=[yard])


def test_a_game_started_by_hand_is_taken_up() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    words = own_scene(TagInGodot.scene).words(0, 0)
    with (
        subprocess.Popen(words, env={**os.environ, "GODOJO_PORT": str(port)}, stdout=subprocess.DEVNULL) as game,
        make(3, port=port, start_timeout_s=30) as worlds,
    ):
        assert worlds.num_worlds == 3
        assert len(list(play(worlds, 20))) == 20
        worlds.close()
        assert game.wait(10) == 0


def test_training_spars_with_whoever_knows_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As tag's own preset asks for: the game is asked to tell the truth."""
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    short = ["--steps", "2000", "--judge", "0", "--set", "num_worlds=24", "--set", "rules.round_s=1"]
    with pytest.raises(SystemExit) as ended:
        main(["train", "tag", "--engine", "godot", "--processes", "1", "--run-id", "spars", *short])
    assert ended.value.code == 0
    assert "oracle" in (tmp_path / "spars/metrics.csv").read_text()


@pytest.mark.rendering
@pytest.mark.skipif(not (has_screen() or has_virtual_screen()), reason="there is nothing to draw on")
def test_a_game_may_have_a_window(tmp_path: Path) -> None:
    project = shutil.copytree(ROOT / "tests/godot_rl_games/third", tmp_path / "third")
    with open_game(project, window=True, say=lambda _: None) as worlds:
        for _ in range(5):
            worlds.step()
        assert worlds.restarts == 0


def test_gymnasium_one() -> None:
    env = gym.make("godojo/Tag-v0", engine="godot", opponent="wander", settings=SHORT)
    check_env(env.unwrapped, skip_render_check=True)
    env.close()  # type: ignore[no-untyped-call]


def test_gymnasium_many() -> None:
    envs = gym.make_vec(
        "godojo/Tag-v0",
        num_envs=4,
        vectorization_mode="vector_entry_point",
        engine="godot",
        num_processes=2,
        role="hider",
        opponent="sighted",
        settings=SHORT,
    )
    envs.reset(seed=1)
    ended = 0
    for _ in range(60):
        told, reward, terminated, _, infos = envs.step(envs.action_space.sample())
        assert envs.observation_space.contains(told)
        assert reward.shape == (4,)
        if "final_obs" in infos:
            ended += int(infos["_final_obs"].sum())
            assert np.array_equal(terminated, infos["_final_obs"])
            assert set(infos["final_info"]["winner"][terminated]) <= {"seeker", "hider"}
    assert ended >= 8
    envs.close()


def test_gymnasium_sees_a_lost_game_as_a_truncated_round() -> None:
    envs = GameVectorEnv("tag", 4, engine="godot", num_processes=2)
    before, _ = envs.reset(seed=1)
    real = envs.match.worlds
    assert isinstance(real, GodotWorlds)
    os.kill(pid_of(real, 1), signal.SIGKILL)
    for _ in range(5):
        told, reward, terminated, truncated, infos = envs.step(np.zeros((4, 3), np.float32))
        if truncated.any():
            break
        before = told
    assert truncated.tolist() == [False, False, True, True]
    assert not terminated.any()
    assert not reward[2:].any()
    assert np.array_equal(np.stack(infos["final_obs"][2:]), before[2:])
    envs.close()


def test_pettingzoo() -> None:
    env = GameParallelEnv("tag", engine="godot", settings={"rules.seekers": 2, "rules.hiders": 2, "rules.round_s": 2.0})
    parallel_api_test(env, num_cycles=60)
    env.close()


def test_stable_baselines() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.vec_env import VecMonitor

    from godojo.envs.sb3 import GameVecEnv

    env = VecMonitor(GameVecEnv("tag", 8, engine="godot", num_processes=2, settings=SHORT, seed=1))
    model = sb3.PPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, device="cpu")
    model.learn(512)
    assert len(model.ep_info_buffer) > 0
    assert {round(episode["l"]) for episode in model.ep_info_buffer} <= set(range(1, 16))
    env.close()


def test_what_only_the_twin_has_is_refused_with_a_sentence() -> None:
    with pytest.raises(GodojoError, match='only engine="sim"'):
        GameEnv("tag", engine="godot", render_mode="rgb_array")
    with pytest.raises(GodojoError, match="tag has no option 'courses'"):
        GameEnv("tag", engine="godot", courses=["maze"])
    env = GameEnv("tag", engine="godot", opponent="oracle")
    with pytest.raises(GodojoError, match="engine='sim'"):
        env.reset(seed=0)
    env.close()
