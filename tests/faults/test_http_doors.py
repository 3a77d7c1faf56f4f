"""What a stranger can do to a game that listens for HTTP: nothing but get the right status and a sentence."""

import re
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from godojo.bridge.http import GameClient
from godojo.engines.godot.find import Engine, find
from godojo.engines.godot.project import prepared_project, problem_lines
from godojo.errors import GodojoError
from tests.conftest import ROOT
from tests.http_games import HttpGame, listening, started_game

pytestmark = [pytest.mark.engine, pytest.mark.slow]
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def game() -> Iterator[HttpGame]:
    try:
        find()
    except GodojoError as error:
        pytest.skip(str(error))
    with started_game("navigation") as started:
        yield started
        assert not problem_lines("\n".join(started.process.last_lines(10_000)))
        assert started.token not in started.process.log.read_text(encoding="utf-8")


@pytest.fixture
def client(game: HttpGame) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=game.url, headers={"Authorization": f"Bearer {game.token}"}, timeout=10, trust_env=False
    ) as client:
        yield client


def refused(answer: httpx.Response, status: int) -> str:
    """The sentence of a refusal."""
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert set(told) == {"code", "message"}
    assert re.fullmatch("[a-z_]+", told["code"])
    assert answer.headers["content-type"] == "application/json"
    return str(told["message"])


BODIES: dict[str, tuple[str, bytes, int]] = {
    "cut JSON": ("/rl/action", b'{"action": [0, 1', 400),
    "NaN": ("/rl/action", b'{"action": [0, 0, NaN]}', 400),
    "infinity": ("/rl/action", b'{"action": [0, 0, 1e999]}', 400),
    "a number of 400 digits": ("/rl/action", b'{"action": [0, 0, ' + b"9" * 400 + b"]}", 422),
    "no UTF-8": ("/rl/action", b'{"action": "\xff\xfe"}', 400),
    "character 0": ("/scene", b'{"scene": "\\u0000"}', 400),
    "no object": ("/rl/action", b"[0, 0, 0]", 422),
    "deep nesting": ("/rl/action", b"[" * 20_000 + b"]" * 20_000, 400),
    "a text for an action": ("/rl/action", b'{"action": "forward"}', 422),
    "too few numbers": ("/rl/action", b'{"action": [0, 0]}', 422),
    "too many numbers": ("/rl/action", b'{"action": [0, 0, 0, 0]}', 422),
    "texts for numbers": ("/rl/action", b'{"action": ["0", "0", "0"]}', 422),
    "flags for numbers": ("/rl/action", b'{"action": [true, false, null]}', 422),
    "half a tick": ("/rl/action", b'{"action": [0, 0, 0], "ticks": 0.5}', 422),
    "too many ticks": ("/rl/action", b'{"action": [0, 0, 0], "ticks": 1000000}', 422),
    "unknown field": ("/rl/action", b'{"action": [0, 0, 0], "speed": 3}', 422),
    "no action": ("/rl/action", b"{}", 422),
    "a seed below 0": ("/rl/reset", b'{"seed": -1}', 422),
    "a seed that is a text": ("/rl/reset", b'{"seed": "7"}', 422),
    "unknown options": ("/rl/reset", b'{"options": {"gravity": 3}}', 409),
    "bad settings": ("/rl/reset", b'{"options": {"settings": {"motion": {"speed_mps": 1e9}}}}', 409),
    "unknown scene": ("/scene", b'{"scene": "tag"}', 404),
    "a path for a scene": ("/scene", b'{"scene": "res://games/tag/tag.tscn"}', 404),
    "a way out": ("/scene", b'{"scene": "../../../../etc/passwd"}', 404),
    "a path that is not listed": ("/scene", b'{"scene_path": "res://games/tag/tag.tscn"}', 404),
    "a path that leaves the project": ("/scene", b'{"scene_path": "res://../../etc/passwd"}', 404),
    "a name for a path": ("/scene", b'{"scene_path": "maze"}', 404),
    "name and path": ("/scene", b'{"scene": "maze", "scene_path": "res://games/navigation/maze.tscn"}', 422),
    "a list of scenes": ("/scene", b'{"scene": ["maze"]}', 422),
    "an action out of range": ("/rl/action", b'{"action": [0, 0, 1.001]}', 422),
    "too many actions": ("/rl/step", b'{"actions": [[0, 0, 0], [0, 0, 0]]}', 422),
    "an action for actions": ("/rl/step", b'{"actions": [0, 0, 0]}', 422),
    "half an environment": ("/rl/reset", b'{"num_envs": 1.5}', 422),
    "too many environments": ("/rl/reset", b'{"num_envs": 100000}', 422),
    "words to a reload": ("/scene/reload", b'{"scene": "maze"}', 422),
}


@pytest.mark.parametrize("what", BODIES)
def test_bad_bodies(client: httpx.Client, what: str) -> None:
    path, body, status = BODIES[what]
    before = client.get("/status").json()
    sentence = refused(client.post(path, content=body, headers=JSON), status)
    assert len(sentence) < 2000
    assert "\n" not in sentence
    after = client.get("/status").json()
    assert (after["scene"], after["reloads"]) == (before["scene"], before["reloads"])


def test_sentences_say_what_to_do(client: httpx.Client) -> None:
    assert "course, obstacle_course, maze" in refused(client.post("/scene", json={"scene": "x"}), 404)
    assert "exactly 3" in refused(client.post("/rl/action", json={"action": [1.0]}), 422)
    assert "Content-Type" in refused(client.post("/rl/action", content=b"{}"), 415)


def test_paths_and_methods(client: httpx.Client) -> None:
    for path in ("/", "/etc/passwd", "/rl", "/rl/action/", "/%2e%2e/scene", "//scene", "/HEALTH", "/openapi.json/.."):
        refused(client.get(path), 404)
    for method, path in (("GET", "/rl/action"), ("POST", "/health"), ("DELETE", "/scene"), ("PUT", "/rl/reset")):
        answer = client.request(method, path)
        refused(answer, 405)
        assert answer.headers["allow"] == ("POST" if path not in ("/health",) else "GET")


def test_only_who_knows_the_token(game: HttpGame) -> None:
    with httpx.Client(base_url=game.url, timeout=10, trust_env=False) as stranger:
        assert stranger.get("/health").json() == {"status": "ok"}
        assert stranger.get("/openapi.json").json()["openapi"].startswith("3.1")
        for path in ("/status", "/performance/metrics", "/rl/observation", "/rl/state"):
            answer = stranger.get(path)
            assert game.token not in refused(answer, 401)
            assert answer.headers["www-authenticate"].startswith("Bearer")
        guesses = ("", "Bearer", f"Bearer {game.token}x", f"Bearer {game.token[:-1]}", f"Basic {game.token}")
        for guess in guesses:
            refused(stranger.post("/scene/reload", headers={"Authorization": guess}), 401)
        token = {"Authorization": f"Bearer {game.token}"}
        refused(stranger.post("/scene/reload", headers=token | {"Origin": "http://elsewhere.example"}), 403)
        assert stranger.get("/status", headers=token).json()["reloads"] == 0


def test_huge_bodies_are_not_read(client: httpx.Client) -> None:
    refused(client.post("/rl/action", content=b" " * 5_000_000, headers=JSON), 413)
    refused(client.post("/rl/action", content=iter([b"{}"]), headers=JSON), 411)


def test_slow_clients_are_closed_and_keep_nobody_waiting(game: HttpGame) -> None:
    address = (httpx.URL(game.url).host, httpx.URL(game.url).port or 0)
    crowd = [socket.create_connection(address, timeout=10) for _ in range(60)]
    try:
        for line in crowd[:40]:
            line.sendall(b"POST /rl/action HTTP/1.1\r\nHost: a\r\nContent-Le")
        with GameClient(game.url, game.token) as good:
            good.reset(1)
            for _ in range(100):
                good.act([0.0, 0.2, 0.1])
        slow = socket.create_connection(address, timeout=10)
        crowd.append(slow)
        slow.sendall(b"GET /health HTTP/1.1\r\n")
        answer = slow.recv(4096)
        assert answer.startswith(b"HTTP/1.1 408 ")
        while more := slow.recv(4096):
            answer += more  # until the game closes the line
    finally:
        for line in crowd:
            line.close()
    with GameClient(game.url, game.token) as good:
        assert good.health_check()


def test_frames_go_on_while_it_is_busy(game: HttpGame) -> None:
    """The game never stands still for a client."""
    with GameClient(game.url, game.token) as client:
        client.reset(1)
        before = client.get_performance_metrics().engine.physics_frames
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            client.act([0.0, 0.5, 0.3])
        assert client.get_performance_metrics().engine.physics_frames > before


WORLDS = """extends DojoWorlds
## Its decisions fail.

func configure(_request: Dictionary) -> String:
	return ""


func describe() -> Dictionary:
	var part: Array = [{"name": "place", "kind": "continuous", "size": 1}]
	var role: Dictionary = {"name": "one", "agents": 1, "observation": part, "action": part}
	return {"roles": [role], "reward_terms": [], "winners": ["nobody"], "arenas": [], "model": null}


func collect() -> DojoResults:
	return ([] as Array[DojoResults])[1]
"""
SCENE = """[gd_scene format=3]

[ext_resource type="Script" path="res://addons/godojo/http/dojo_http.gd" id="1"]
[ext_resource type="Script" path="res://worlds.gd" id="2"]

[node name="Main" type="Node"]

[node name="Http" type="Node" parent="."]
script = ExtResource("1")

[node name="Worlds" type="Node" parent="."]
script = ExtResource("2")
"""


def test_a_script_that_fails_is_an_answer(engine: Engine, tmp_path: Path) -> None:
    """Neither its client nor the next one waits for ever."""
    project = tmp_path / "broken"
    shutil.copytree(ROOT / "godot/addons/godojo", project / "addons/godojo")
    (project / "project.godot").write_text('config_version=5\n\n[application]\nrun/main_scene="res://main.tscn"\n')
    (project / "main.tscn").write_text(SCENE, encoding="utf-8")
    (project / "worlds.gd").write_text(WORLDS, encoding="utf-8")
    prepared_project(engine, project)
    words: list[str | Path] = [engine.program, "--headless", "--fixed-fps", "60", "--path", project]
    with listening(words) as game, httpx.Client(base_url=game.url, timeout=20, trust_env=False) as client:
        client.headers["Authorization"] = f"Bearer {game.token}"
        assert "collect() of Worlds failed" in refused(client.get("/rl/observation"), 409)
        for _ in range(2):
            assert "a script failed" in refused(client.get("/rl/observation"), 500)
            assert "collect() of Worlds failed" in refused(client.post("/rl/step", json={"actions": [[0.0]]}), 500)
        assert client.get("/status").status_code == 200
