"""docs/http.md: its commands work as they stand there, and its table has every request there is."""

import json
import os
import re
import shutil
import subprocess
from typing import Any

import pytest

from godojo.bridge.http import GameClient
from godojo.engines.godot.find import Engine
from godojo.training.metrics import PerformanceMonitor
from tests.conftest import ROOT
from tests.http_games import started_game

pytestmark = [pytest.mark.engine]
TEXT = (ROOT / "docs/http.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("engine")
def test_the_commands_work() -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl here")
    (block,) = (one for one in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) if "ask()" in one)
    with started_game("navigation") as game:
        env = {**os.environ, "URL": game.url, "TOKEN": game.token}
        done = subprocess.run(["bash", "-e", "-c", block], env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        for word in ('"status":"ok"', '"scene":"obstacle_course"', '"fps":', '"ticks":20', '"reloads":1'):
            assert word in done.stdout
        with GameClient(game.url, game.token) as client:
            assert client.get_status().scene == "obstacle_course"


def test_the_list_of_scenes_is_a_part_of_ours() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    ours = json.loads((ROOT / "godot/config/scene_whitelist.json").read_text(encoding="utf-8"))
    assert json.loads(block)["scenes"].items() < ours["scenes"].items()


@pytest.mark.usefixtures("engine")
def test_the_programs_run() -> None:
    first, second = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    with started_game("navigation") as game:
        names: dict[str, Any] = {"token": game.token}
        exec(first.replace("http://127.0.0.1:8080", game.url), names)
        assert names["step"].ticks == 20
        with GameClient(game.url, game.token) as client:
            assert PerformanceMonitor(client).sample()["memory_mb"] > 1.0
        exec(second.replace("http://127.0.0.1:8080", game.url), names)
        with names["worlds"] as worlds:
            worlds.step()
            assert worlds.roles["walker"].observation.shape == (8, 1, 48)


def test_every_request_stands_there(engine: Engine) -> None:
    assert engine
    source = (ROOT / "godot/addons/godojo/http/dojo_http_routes.gd").read_text(encoding="utf-8")
    routes = re.findall(r'^\t"(/\S+)": \{"(\w+)"', source, re.MULTILINE)
    assert len(routes) == 11
    for path, method in routes:
        assert f"| `{method} {path}` |" in TEXT
