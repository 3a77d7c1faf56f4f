"""`godojo serve`: games come and go, browsers are told what this is, mistakes end in one line."""

import contextlib
import http.client
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from godojo.engines.godot.launch import own_scene
from godojo.games.tag.godot import TagInGodot
from tests.conftest import Run
from tests.watched_games import PRETEND


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
def serving(*words: str) -> Iterator[Server]:
    command = [sys.executable, "-m", "godojo", "serve", "--port", "0", *words]
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
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
def test_a_scripted_player_plays_the_real_tag() -> None:
    words = own_scene(TagInGodot.scene).words(0, 0)
    with serving("--policy", "sighted", "--decisions", "400") as server, by_hand(words, server.port) as tag:
        server.line_with("1 seeker (sees 109, does 3), 1 hider")
        assert "rounds (" in server.line_with("400 decisions")
        assert server.process.wait(10) == 0
        assert tag.wait(10) == 0


def by_hand(words: list[str], port: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(words, env={**os.environ, "GODOJO_PORT": port}, stdout=subprocess.DEVNULL)
