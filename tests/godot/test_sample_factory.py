"""Sample Factory trains one of our scenes over the godot_rl wire, from a virtual environment of its own."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from godojo.engines.godot.find import Engine
from godojo.processes import finish
from tests.conftest import ROOT

FOLDER = ROOT / "examples/sample_factory"
GAME = FOLDER / "first_agent.x86_64"
AS_GODOJO = {"GODOJO": f"{shlex.quote(sys.executable)} -m godojo"}
"""For the launch script: this Godojo, in place of the one of `dojo.py`."""


def documented_command() -> list[str]:
    page = (ROOT / "docs/trainers.md").read_text(encoding="utf-8").replace("\\\n", " ")
    return shlex.split(next(line for line in page.splitlines() if "/bin/gdrl " in line))


def test_the_documented_files_are_there() -> None:
    lines = (FOLDER / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(line) for line in lines if not line.startswith("#")]
    assert pinned[0].extras == {"sf"}
    assert all(str(each.specifier).startswith("==") for each in pinned)
    words = documented_command()
    assert (ROOT / words[words.index("--env_path") + 1]).resolve() == GAME
    assert os.access(GAME, os.X_OK)


@pytest.mark.engine
def test_the_launch_script_serves_the_godot_rl_wire(engine: Engine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(90)
        port = f"--port={server.getsockname()[1]}"
        words: list[str | Path] = [GAME, port, "--env_seed=1", "--disable-render-loop", "--headless"]
        environment = {**os.environ, **AS_GODOJO, "GODOT_BIN": str(engine.program)}
        game = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            line, _ = server.accept()
            with line:
                line.settimeout(30)
                send(line, {"type": "handshake", "major_version": "0", "minor_version": "7"})
                send(line, {"type": "env_info"})
                told = receive(line)
                assert (told["n_agents"], told["agent_policy_names"]) == (16, ["ball"] * 16)
                assert told["action_space"][0] == {"push": {"size": 2, "action_type": "continuous"}}
                send(line, {"type": "close"})
            assert game.wait(30) == 0
        finally:
            game.kill()
            game.wait()


@pytest.mark.nightly
@pytest.mark.engine
@pytest.mark.timeout(1800)
def test_it_learns(engine: Engine, tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    assert finish([sys.executable, "-m", "venv", tmp_path / "venv"], timeout_s=120).code == 0
    install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "-r", FOLDER / "requirements.txt"]
    done = finish(install, timeout_s=1200)
    if done.code:
        pytest.skip(f"Sample Factory cannot be installed: {done.output.strip()[-200:]}")
    words = documented_command()[1:]
    words[words.index("--env_path") + 1] = str(GAME)
    words[words.index("--experiment_dir") + 1] = str(tmp_path)
    environment = {**os.environ, **AS_GODOJO, "GODOT_BIN": str(engine.program)}
    done = finish([python.with_name("gdrl"), *words], timeout_s=500, env=environment)
    rewards = [float(found) for found in re.findall(r"Avg episode reward: \[\(0, '(-?[\d.]+)'\)\]", done.output)]
    assert done.code == 0, done.output[-2000:]
    assert min(rewards) < 0.0
    assert rewards[-1] > 5.0


def send(line: socket.socket, message: dict[str, Any]) -> None:
    text = json.dumps(message).encode()
    line.sendall(len(text).to_bytes(4, "little") + text)


def receive(line: socket.socket) -> dict[str, Any]:
    size = int.from_bytes(line.recv(4, socket.MSG_WAITALL), "little")
    answer: dict[str, Any] = json.loads(line.recv(size, socket.MSG_WAITALL))
    return answer
