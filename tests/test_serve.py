"""`godojo serve`: games come and go, browsers are told what this is, mistakes end in one line."""

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from godojo.bridge.listener import Listener
from godojo.engines.godot.game_slots import ConnectedGame
from godojo.engines.godot.worlds import GodotWorlds
from godojo.games.tag.settings import TagSettings
from godojo.opponents import make_opponent
from godojo.runs.folder import RunFolder
from tests.addon_games import PATIENCE_S, Game, playing
from tests.conftest import Run
from tests.watched_games import PRETEND

TAG = "res://games/tag/tag.tscn"
WITHOUT_TORCH = """
import atexit, sys
atexit.register(lambda: print("torch was loaded:", "torch" in sys.modules, flush=True))
from godojo.cli import main
main()
"""


class Server:
    """The command, running; what it says line by line."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        waiting = self.line()
        match = re.search(r"waiting for a game on 127\.0\.0\.1:(\d+)", waiting)
        assert match, waiting
        self.port = match[1]

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def line_with(self, words: str) -> str:
        while words not in (line := self.line()):
            assert line, f"it ended without {words!r}"
        return line


@contextlib.contextmanager
def serving(*words: str, program: tuple[str, ...] = ("-m", "godojo"), **env_of_test: str) -> Iterator[Server]:
    command = [sys.executable, *program, "serve", "--port", "0", *words]
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200", **env_of_test}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def game(server: Server, *words: str, token: str = "") -> "subprocess.Popen[bytes]":
    env = {**os.environ, "GODOJO_PORT": server.port, "GODOJO_TOKEN": token}
    return subprocess.Popen([sys.executable, str(PRETEND), *words], env=env)


def visit(server: Server) -> tuple[int, str]:
    browser = http.client.HTTPConnection("127.0.0.1", int(server.port), timeout=10)
    try:
        browser.request("GET", "/")
        answer = browser.getresponse()
        return answer.status, answer.read().decode()
    finally:
        browser.close()


def test_games_come_and_go_and_come_back() -> None:
    with serving() as server:
        with game(server, "--refuse", "too tired"):
            server.line_with("pretend connected")
            assert "too tired; waiting for the next" in server.line_with("waiting for the next")
        for misdeed in ("--die-after", "--babble-after"):
            with game(server, misdeed, "50"):
                server.line_with("pretend connected")
                assert "is here: 1 world(s), in each 1 role0" in server.line()
                server.line_with("the game left")
        with game(server) as last:
            server.line_with("is here")
            last.kill()
        server.line_with("the game left")


def test_a_browser_is_told_what_this_is_whether_a_game_plays_or_not() -> None:
    with serving() as server:
        status, page = visit(server)
        assert status == 200
        assert "DojoSync" in page
        assert "browser" in server.line()
        with game(server) as playing:
            server.line_with("is here")
            assert visit(server)[0] == 200
            server.line_with("browser")
            assert playing.poll() is None
            playing.kill()


def test_it_stops_after_so_many_decisions() -> None:
    with serving("--decisions", "300", "--worlds", "3") as server, game(server) as playing:
        server.line_with("is here: 3 world(s)")
        assert server.line_with("decisions").startswith("300 decisions, ")
        assert server.process.wait(10) == 0
        assert playing.wait(10) == 0


def test_several_games_are_played_at_once_and_one_that_dies_takes_nobody_along() -> None:
    with serving() as server, game(server) as first:
        server.line_with("is here")
        with game(server, "--die-after", "200"):
            server.line_with("is here")
            server.line_with("the game left")
        with game(server) as third:
            server.line_with("is here")
            assert first.poll() is None
            third.kill()
        server.line_with("the game left")
        assert first.poll() is None
        first.kill()


def test_a_token_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("correct horse\n")
    with serving("--token-file", str(tmp_path / "token")) as server:
        with game(server, token="wrong donkey") as stranger:
            refused = server.line_with("refused")
            assert "wrong" in refused
            assert "donkey" not in refused
            stranger.wait(10)
        with game(server, token="correct horse") as friend:
            server.line_with("is here")
            friend.kill()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--policy", "genius"), "no opponent 'genius'"),
        (("--policy", "random", "--policy", "sighted"), "give it alone"),
        (("--policy", "nowhere/policy.pt"), "no such policy file"),
        (("--minutes", "1"), "add --train"),
        (("--train", "--policy", "random"), "remove --policy"),
        (("--wire", "morse"), "no wire 'morse'"),
        (("--decisions", "-1"), "--decisions must be"),
        (("--project", "nowhere"), "no project.godot"),
        (("--binary", "nothing"), "there is no game"),
        (("--token-file", "nothing"), "cannot be read"),
        (("--host", "0.0.0.0"), "needs a token"),
    ],
)
def test_mistakes_end_in_one_line(godojo: Run, words: tuple[str, ...], sentence: str) -> None:
    done = godojo("serve", "--port", "0", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_scripted_player_plays_tag_only() -> None:
    with serving("--policy", "sighted") as server, game(server) as playing:
        assert "sighted plays tag only" in server.line_with("waiting for the next")
        playing.wait(10)


@pytest.mark.engine
@pytest.mark.timeout(400)  # where kernels have not been compiled yet, that comes first
@pytest.mark.usefixtures("engine")
def test_the_main_scene_connects_by_itself_and_falls_back_when_the_server_leaves(tmp_path: Path) -> None:
    policy = ("--policy", "sighted", "--decisions", "300")
    with serving(*policy, program=("-c", WITHOUT_TORCH)) as server, live(tmp_path, server.port) as tag:
        assert "sighted plays" in server.line_with("tag on Godot 4")
        assert "rounds (" in server.line_with("300 decisions")
        assert server.line_with("torch was loaded") == "torch was loaded: False\n"
        assert server.process.wait(10) == 0
        tag.wait_for("The server has left: the trainer is done. To watch learning: python3 dojo.py serve --train")


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_without_a_server_the_main_scene_says_how_to_start_one_and_finds_it_later(tmp_path: Path) -> None:
    with Listener(port=0) as listener:
        port = listener.port
    with live(tmp_path, str(port)) as tag:
        tag.wait_for(f"No training server at 127.0.0.1:{port}. To watch learning: python3 dojo.py serve --train")
        with Listener(port=port) as listener, listener.accept(PATIENCE_S) as guest:
            assert (guest.hello.game, guest.hello.training, guest.hello.settings) == ("tag", True, {})


@pytest.mark.engine
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("engine")
def test_settings_of_the_inspector_take_effect(tmp_path: Path) -> None:
    with Listener(port=0) as listener, live(tmp_path, str(listener.port), "res://tests/live/inspector.tscn"):
        guest = listener.accept(PATIENCE_S)
        assert not guest.hello.training
        settings = TagSettings.defaults()
        with GodotWorlds([ConnectedGame(guest)], worlds_each=[1], settings=settings, max_restarts=0) as worlds:
            worlds.reset(3)
            assert worlds.ticks_per_decision == 6
            seeker, hider = worlds.roles["seeker"], worlds.roles["hider"]
            player = make_opponent("sighted", "seeker", 1, game="tag")
            player.begin(worlds)
            came_nearer, tags = 0.0, 0.0
            for _ in range(600):
                player.act(worlds, seeker.action)
                hider.action[:] = 1.0  # a person plays it, and touches no key
                worlds.step()
                if worlds.ended[0]:
                    tags += seeker.terms[0, 0, worlds.reward_terms.index("tag")]
                    if tags:
                        break
                assert seeker.acted.all()
                assert not hider.acted.any()
                assert not hider.observation[0, 0, 3:6].any(), "it moved"
                distance = worlds.reward_terms.index("distance")
                came_nearer += float(seeker.terms[0, 0, distance])
                assert seeker.terms[0, 0, distance] == pytest.approx(-hider.terms[0, 0, distance])
        assert tags == 2.5
        assert came_nearer > 0.125  # more than a metre


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("engine")
def test_the_main_scene_shows_learning_on_the_twin(tmp_path: Path) -> None:
    words = ("--train", "--minutes", "0.05", "--run-id", "shown", "--set", "num_worlds=64")
    with serving(*words, GODOJO_RUNS=str(tmp_path)) as server:
        with live(tmp_path, server.port, "res://tests/live/report.tscn") as tag:
            server.line_with("learning tag on the twin; the connected game shows it, run shown")
            assert tag.wait(60) == 0
        reports = [line.split(" ", 4) for line in tag.lines if line.startswith("@ training seeker+hider")]
        assert reports, tag.output
        assert int(reports[-1][3]) > 0
        server.line_with("training is done, run shown")
    run = RunFolder.open(tmp_path / "shown")
    assert run.policy("seeker").is_file()
    assert run.metrics.is_file()


@pytest.mark.engine
@pytest.mark.nightly
@pytest.mark.timeout(400)
@pytest.mark.usefixtures("engine")
def test_it_learns_from_the_connected_game_and_serves_another_meanwhile(tmp_path: Path) -> None:
    words = ("--train", "--engine", "godot", "--run-id", "live", "--worlds", "8", "--set", "n_steps=16")
    with serving(*words, GODOJO_RUNS=str(tmp_path)) as server, live(tmp_path, server.port):
        server.line_with("learning tag from the connected game, run live")
        (tmp_path / "second").mkdir()
        with live(tmp_path / "second", server.port):
            server.line_with("learning goes on in another game")
            server.line_with("tag on Godot 4")
        server.line_with("the game left")
        server.process.send_signal(signal.SIGINT)
        assert "serve --train --resume live" in server.line_with("stopped and saved")
        assert server.process.wait(20) == 130
    seeker = RunFolder.open(tmp_path / "live").policy("seeker")
    players: dict[str, list[str]] = {"run live plays": [], "sighted as the hider plays": ["--policy", str(seeker)]}
    for who, policy in players.items():
        with serving("--decisions", "60", *policy, GODOJO_RUNS=str(tmp_path)) as server, live(tmp_path, server.port):
            server.line_with(who)
            server.line_with("60 decisions")


@contextlib.contextmanager
def live(folder: Path, port: str, scene: str = TAG) -> Iterator[Game]:
    """The scene as the editor's Play starts it, headless, with a server at this port."""
    env = {**os.environ, "GODOJO_SERVER": f"127.0.0.1:{port}"}
    with playing(folder / "log", scene, env=env) as started:
        yield started
