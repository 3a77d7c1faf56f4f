"""Games over HTTP: the command that starts one, the client, and the contract of worlds."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import godojo
from godojo.bridge.http import GameClient, HttpRefused
from godojo.bridge.http_messages import MonitoredMetric
from godojo.bridge.messages import PeerTimeout
from godojo.engines.godot.find import Engine, find
from godojo.engines.godot.game_process import GameProcess
from godojo.engines.godot.http_worlds import HttpWorlds
from godojo.engines.godot.project import prepared_project, problem_lines
from godojo.envs.gymnasium import GameEnv
from godojo.errors import GodojoError
from godojo.processes import finish
from tests.conftest import ROOT
from tests.http_games import HttpGame, started_game

pytestmark = [pytest.mark.engine]


@pytest.fixture(scope="module")
def game() -> Iterator[HttpGame]:
    try:
        find()
    except GodojoError as error:
        pytest.skip(str(error))
    with started_game("navigation") as started:
        yield started
        assert not problem_lines("\n".join(started.process.last_lines(10_000)))


@pytest.fixture
def client(game: HttpGame) -> Iterator[GameClient]:
    with GameClient(game.url, game.token) as client:
        yield client


def test_what_it_tells_of_itself(client: GameClient) -> None:
    client.load_scene("course")
    status = client.get_status()
    assert status.scene == "course"
    assert status.scenes == ("course", "obstacle_course", "maze")
    metrics = client.get_performance_metrics()
    assert metrics.performance == {}, "this scene has no DojoPerformanceMonitor"
    assert metrics.memory.static_memory_usage > 1e6
    assert metrics.objects.object_count > 100
    assert metrics.objects.node_count > 10
    ready = client.get_scene_state().ready()
    assert ready.roles[0].observation_size == 48
    assert ready.roles[0].action_size == 3
    assert ready.arenas == ("course",)


def test_an_action_is_played_in_lock_step(client: GameClient) -> None:
    client.load_scene("course")
    first = client.reset(7)
    time.sleep(0.2)
    assert client.get_observation().observation == first.observation  # nobody moves unasked
    step = client.act([0.0, 1.0, 0.0], ticks=60)
    assert step.ticks == 60
    assert not step.terminated
    assert not step.truncated
    assert step.final is None
    walked = np.subtract(step.observation[:3], first.observation[:3])
    assert 1.5 < np.hypot(walked[0], walked[2]) < 2.0
    assert step.reward == pytest.approx(sum(step.terms.values()))
    assert client.reset(7).observation == first.observation


def test_a_scene_is_loaded_and_loaded_anew(client: GameClient) -> None:
    before = client.get_status().reloads
    assert client.load_scene("maze").scene == "maze"
    assert client.get_scene_state().ready().arenas == ("maze",)
    assert client.reload_scene().reloads == before + 1
    assert client.get_status().scene == "maze"
    path = "res://games/navigation/obstacle_course.tscn"
    loaded = client.load_scene(path)
    assert (loaded.scene, loaded.scene_path) == ("obstacle_course", path)
    assert client.get_scene_state().scene_path == path
    for name in ("kitchen", "res://games/tag/tag.tscn"):
        with pytest.raises(HttpRefused, match=f"{name} may not be loaded; .*course, obstacle_course, maze") as refusal:
            client.load_scene(name)
        assert refusal.value.status == 404
        assert refusal.value.code == "not_found"


def test_errors_name_the_way_out(game: HttpGame, client: GameClient) -> None:
    with (
        GameClient(game.url, "wrong") as stranger,
        pytest.raises(HttpRefused, match=r"401.*GODOJO_HTTP_TOKEN") as refusal,
    ):
        stranger.get_status()
    assert "\n" not in str(refusal.value)
    client.reset(1, num_envs=1)
    with pytest.raises(HttpRefused, match=r"action\[1\] must be a number from -1 to 1"):
        client.act([0.0, 1.5, 0.0])
    client.reset(1, num_envs=2)
    with pytest.raises(HttpRefused, match="POST /rl/step takes an action for each"):
        client.act([0.0, 1.0, 0.0])
    with pytest.raises(HttpRefused, match="a list of 2 actions"):
        client.step([[0.0, 1.0, 0.0]])
    with pytest.raises(HttpRefused, match=r"actions\[1\]\[2\] must be a number from -1 to 1"):
        client.step([[0.0, 1.0, 0.0], [0.0, 1.0, -2.0]])
    with pytest.raises(HttpRefused, match="num_envs must be a whole number from 1 to 256"):
        client.reset(1, num_envs=0)


@pytest.mark.parametrize("count", [1, 3])
def test_worlds_over_http_tell_what_dojo_tells(game: HttpGame, count: int) -> None:
    """The same seed, course and actions over both wires: the same numbers."""
    chance = np.random.default_rng(1)
    actions = chance.uniform(-1.5, 1.5, (150, count, 1, 3)).astype(np.float32)
    actions[:, :, :, 1] = np.abs(actions[:, :, :, 1])
    options: dict[str, Any] = {"courses": ["course"], "truncate_after": 60}
    over_http = godojo.make_vec(
        "navigation",
        engine="godot",
        num_worlds=count,
        http=game.url,
        token=game.token,
        scene="course",
        seed=5,
        **options,
    )
    with over_http, godojo.make_vec("navigation", engine="godot", num_worlds=count, seed=5, **options) as over_dojo:
        assert over_http.reward_terms == over_dojo.reward_terms
        assert over_http.winners == over_dojo.winners
        ended = 0
        for action in actions:
            for worlds in (over_http, over_dojo):
                worlds.step({"walker": action})
            one, other = over_http.roles["walker"], over_dojo.roles["walker"]
            for name in (
                "observation",
                "terms",
                "acted",
                "terminated",
                "truncated",
                "final_observation",
                "final_terms",
            ):
                np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-5, err_msg=name)
            np.testing.assert_allclose(one.reward, one.terms.sum(axis=2), atol=1e-4)
            np.testing.assert_array_equal(over_http.ended, over_dojo.ended)
            ended += int(over_http.ended.sum())
            for name in ("winner", "length_ticks", "arena"):
                over = over_http.ended
                np.testing.assert_array_equal(getattr(over_http, name)[over], getattr(over_dojo, name)[over], name)
            np.testing.assert_allclose(one.final_score, other.final_score)
        assert ended >= 2 * count


def test_as_a_gymnasium_environment(game: HttpGame) -> None:
    env = GameEnv("navigation", engine="godot", http=game.url, token=game.token, scene="course", truncate_after=20)
    try:
        check_env(env, skip_render_check=True)
        first, _ = env.reset(seed=3)
        again, _ = env.reset(seed=3)
        np.testing.assert_array_equal(first, again)
        ends = [env.step(np.array([0.0, 1.0, 0.0], np.float32)) for _ in range(20)]
        assert [end[3] for end in ends] == [False] * 19 + [True]
        assert ends[-1][4]["arena"] == "course"
    finally:
        env.close()


def test_settings_travel(game: HttpGame) -> None:
    settings = godojo.make_vec("navigation").settings.override(**{"motion.speed_mps": 0.5, "rules.round_s": 1.0})
    with godojo.make_vec(
        "navigation", engine="godot", http=game.url, token=game.token, scene="maze", settings=settings
    ) as worlds:
        walker = worlds.roles["walker"]
        for _ in range(15):
            worlds.step({"walker": np.array([[[0.0, 1.0, 0.0]]], np.float32)})
        assert worlds.ended[0]
        assert worlds.winners[worlds.winner[0]] == "clock"
        assert walker.truncated[0, 0]
        assert np.linalg.norm(walker.final_observation[0, 0, 7:10]) < 0.51


def test_settings_change_between_two_decisions(game: HttpGame) -> None:
    ahead = {"walker": np.tile(np.array([0.0, 1.0, 0.0], np.float32), (2, 1, 1))}
    with godojo.make_vec(
        "navigation", engine="godot", http=game.url, token=game.token, scene="maze", num_worlds=2
    ) as worlds:
        walker, settings = worlds.roles["walker"], worlds.settings
        worlds.step(ahead)
        worlds.change_settings(settings)  # the same: nothing happens
        worlds.step(ahead)
        assert not worlds.ended.any()
        worlds.change_settings(settings.override(**{"rules.round_s": 0.5}))
        worlds.step(ahead)
        assert worlds.ended.all()
        assert walker.truncated.all()
        assert not walker.acted.any()
        for _ in range(8):
            worlds.step(ahead)
        assert worlds.length_ticks.tolist() == [30, 30]
        assert worlds.settings.rules.round_s == 0.5


def test_scenes_are_loaded_anew_every_so_often(game: HttpGame) -> None:
    with HttpWorlds(game.url, token=game.token, scene="course", reload_every=10) as worlds:
        cuts = 0
        for number in range(25):
            worlds.step({"walker": np.zeros((1, 1, 3), np.float32)})
            walker = worlds.roles["walker"]
            assert walker.truncated[0, 0] == (number in (9, 19)) == (not walker.acted[0, 0])
            cuts += int(worlds.ended[0])
        assert worlds.reloads == cuts == 2


def test_two_games_are_two_worlds(game: HttpGame) -> None:
    with started_game("navigation") as second:
        urls = [game.url, second.url]
        with pytest.raises(HttpRefused, match="token"):
            HttpWorlds(urls, token=game.token, scene="course")
        with HttpWorlds(urls, token=[game.token, second.token], scene="course", seed=4) as worlds:
            walker = worlds.roles["walker"]
            assert walker.observation.shape == (2, 1, 48)
            assert not np.array_equal(walker.observation[0], walker.observation[1])
            before = walker.observation.copy()
            worlds.step({"walker": np.array([[[0.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]], np.float32)})
            moved = np.linalg.norm(walker.observation[:, 0, :3] - before[:, 0, :3], axis=1)
            assert moved[0] < 0.01 < moved[1]


def test_worlds_are_spread_evenly_over_games(game: HttpGame) -> None:
    with pytest.raises(GodojoError, match="3 worlds cannot be spread evenly over 2 addresses"):
        HttpWorlds([game.url, game.url], num_worlds=3, token=game.token)


def _told(note: Path, process: GameProcess) -> dict[str, str]:
    """Address and token, once the game listens."""
    deadline = time.monotonic() + 30
    while not note.is_file() or not note.read_bytes():
        assert time.monotonic() < deadline, process.quoted()
        time.sleep(0.05)
    told: dict[str, str] = msgspec.json.decode(note.read_bytes())
    return told


def _check_monitor(found: dict[str, MonitoredMetric]) -> None:
    """The scene's performance monitor has measured ticks and weighs them against its budgets."""
    tick = found["physics_frame_time_ms"]
    assert 0.0 < tick.value <= tick.maximum
    assert tick.p50 <= tick.p95 <= tick.p99 <= tick.maximum
    assert 0.0 < tick.average <= tick.maximum
    assert tick.budget == 1000.0
    assert tick.ratio == pytest.approx(tick.value / 1000.0, rel=1e-3)
    assert found["node_count"].value > 10
    assert found["node_count"].budget == found["node_count"].ratio == 0.0


def test_any_scene_with_agents_can_be_played(engine: Engine, tmp_path: Path) -> None:
    """A scene of DojoAgent nodes, which the engine itself moves, frame by frame: only while it is asked to."""
    note = tmp_path / "note.json"
    words: list[str | Path] = [
        "--headless",
        "--fixed-fps",
        "60",
        "--path",
        prepared_project(engine),
        "res://tests/dojo/http_any.tscn",
    ]
    process = GameProcess([engine.program, *words, "--", "--http-port=0", f"--http-note={note}"], {})
    try:
        told = _told(note, process)
        with GameClient(told["url"], told["token"]) as client:
            assert client.get_status().scene is None  # the list has no name for it
            first = client.reset(3)
            time.sleep(0.2)
            assert client.get_observation().observation == first.observation
            ready = client.get_scene_state().ready()
            action = [0.0] * ready.roles[0].action_size
            action[0] = 1.0
            step = client.act(action, ticks=20)
            assert step.ticks == 20
            assert step.observation != first.observation
            time.sleep(0.2)
            _check_monitor(client.get_performance_metrics().performance)
            assert client.get_observation().observation == step.observation
            assert client.reload_scene().scene_path == "res://tests/dojo/http_any.tscn"
            assert len(client.reset(3).observation) == ready.roles[0].observation_size
        assert not process.complaints()
    finally:
        process.end()


def test_the_whitelist_of_a_users_own_project(engine: Engine, tmp_path: Path) -> None:
    """A wrong one ends the game with one line that names it; a right one counts."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "godot/addons", project / "addons")
    (project / "config").mkdir()
    (project / "project.godot").write_text('config_version=5\n[application]\nconfig/name="Mine"\n', encoding="utf-8")
    script = '[ext_resource type="Script" path="res://addons/godojo/http/dojo_http.gd" id="1"]'
    root, node = '[node name="Mine" type="Node"]', '[node name="DojoHttp" type="Node" parent="."]'
    (project / "mine.tscn").write_text(
        "\n".join(("[gd_scene format=3]", script, root, node, 'script = ExtResource("1")', "port = 0"))
    )
    whitelist = project / "config/scene_whitelist.json"
    place = prepared_project(engine, project)
    words: list[str | Path] = [engine.program, "--headless", "--path", place, "res://mine.tscn"]
    whitelist.write_text('{"scenes": ["res://gone.tscn"]}', encoding="utf-8")
    done = finish(words, timeout_s=60)
    (line,) = (line for line in done.output.splitlines() if line.startswith("Godojo"))
    assert line == "Godojo: res://config/scene_whitelist.json: there is no scene res://gone.tscn"
    assert done.code == 1
    whitelist.write_text('{"scenes": ["res://mine.tscn"]}', encoding="utf-8")
    note = tmp_path / "note.json"
    process = GameProcess([*words, "--", f"--http-note={note}"], {})
    try:
        told = _told(note, process)
        with GameClient(told["url"], told["token"]) as client:
            assert client.get_status().scenes == ("mine",)
            assert client.load_scene("res://mine.tscn").scene == "mine"
            with pytest.raises(HttpRefused, match="nothing to play"):
                client.reset(1)
    finally:
        process.end()


@pytest.mark.slow
def test_a_lost_game_is_waited_for(game: HttpGame) -> None:
    """Frozen for longer than a step may take: its round is cut short, and it plays on."""
    with HttpWorlds(game.url, token=game.token, scene="course", step_timeout_s=0.5) as worlds:
        worlds.step()
        last = worlds.roles["walker"].observation.copy()
        os.kill(game.process.pid, signal.SIGSTOP)
        awakening = threading.Timer(1.0, os.kill, (game.process.pid, signal.SIGCONT))
        awakening.start()
        worlds.step()
        awakening.join()
        walker = worlds.roles["walker"]
        assert worlds.restarts == 1
        assert worlds.ended[0]
        assert walker.truncated[0, 0]
        assert not walker.acted[0, 0]
        np.testing.assert_array_equal(walker.final_observation, last)
        worlds.step()
        assert walker.acted[0, 0]


def test_nobody_there() -> None:
    with GameClient("http://127.0.0.1:9", timeout_s=1.0) as client, pytest.raises(PeerTimeout, match="start it there"):
        client.wait_until_healthy(0.3)
    with pytest.raises(GodojoError, match="tag has no API; there is: navigation"), started_game("tag"):
        pass
    for url in ("", "tcp://127.0.0.1:1", "127.0.0.1:8080", "http://", "http://a:99999999"):
        with pytest.raises(GodojoError, match="address"):
            GameClient(url)


def test_a_port_that_is_taken(game: HttpGame) -> None:
    port = int(game.url.rpartition(":")[2])
    taken = pytest.raises(GodojoError, match=r"exit status 1 before it listened: .*cannot listen on 127\.0\.0\.1")
    with taken, started_game("navigation", port=port):
        pass


def test_the_documented_command(tmp_path: Path) -> None:
    """`godojo serve-game` prints where it is and its token, and leaves both in a file of the owner's alone."""
    note = tmp_path / "note.json"
    words = [sys.executable, "-m", "godojo", "serve-game", "navigation", "--port", "0", "--course", "maze"]
    words += ["--num-envs", "2"]
    words += ["--set", "motion.speed_mps=0.5", "--set", "rules.ticks_per_decision=6", f"--http-note={note}"]
    env = {name: value for name, value in os.environ.items() if name != "GODOJO_HTTP_TOKEN"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as process:
        try:
            said = ""
            assert process.stdout is not None
            for line in process.stdout:
                said += line
                if "both are in" in line:
                    break
            url = re.search(r"answers at (http://127\.0\.0\.1:\d+)", said)
            token = re.search(r"its token is (\w{32,})", said)
            assert url is not None, said
            assert token is not None, said
            assert stat.S_IMODE(note.stat().st_mode) == 0o600
            told = msgspec.json.decode(note.read_bytes())
            assert (told["url"], told["token"]) == (url[1], token[1])
            with GameClient(url[1], token[1]) as client:
                assert client.get_status().scene == "maze"
                assert len(client.reset(1).observations) == client.get_scene_state().num_envs == 2
                assert len(client.reset(1, num_envs=1).observations[0]) == 48
                ready = client.get_scene_state().ready()
                assert (ready.arenas, ready.ticks_per_decision) == (("maze",), 6)
                step = client.act([0.0, 1.0, 0.0], ticks=120)
                assert 0.45 < -step.observation[9] < 0.51
        finally:
            process.terminate()
            process.wait(10)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_game_that_is_stopped_says_so_and_takes_its_token_along(tmp_path: Path, number: signal.Signals) -> None:
    words = [sys.executable, "-m", "godojo", "serve-game", "navigation", "--port", "0"]
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout is not None
            note = next(line for line in process.stdout if "both are in" in line).partition("both are in ")[2].strip()
            assert Path(note).is_file()
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 128 + number
    assert not Path(note).exists()
    assert not list(tmp_path.iterdir())
    if number == signal.SIGINT:
        assert err.strip() == "godojo: stopped"


def test_a_taken_port_names_the_option_of_the_command() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        words = [sys.executable, "-m", "godojo", "serve-game", "navigation", "--port", str(port)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--port 0 takes a free one" in done.stderr
    assert "--http-port" not in done.stderr
    assert done.stderr.count("\n") == 1
