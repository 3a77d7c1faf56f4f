"""Hunted games that crash, hang, flood their log, fill memory, open dialogs or cannot be played at all."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from godojo.cli import app, main
from godojo.errors import GodojoError
from godojo.hunt.game import DetectorSettings, HuntedGame, Seen, Target, open_game
from godojo.hunt.target import temporary_folder
from godojo.processes import is_alive
from tests.conftest import ROOT

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine"), pytest.mark.timeout(240)]

QUITS = "extends Node\n\n\nfunc _ready() -> void:\n\tget_tree().quit()\n"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain") / "project"
    shutil.copytree(ROOT / "tests/plain_project", folder)
    return folder


def press(game: HuntedGame, name: str, count: int) -> list[Seen]:
    """What is seen while a button is held."""
    action = np.zeros(sum(part.width for part in game.action_parts), np.float32)
    place = [part.name for part in game.action_parts].index(name)
    action[sum(part.width for part in game.action_parts[:place])] = 1.0
    seen = []
    for _ in range(count):
        seen.append(game.step(action))
        if game.is_lost:
            break
    return seen


@pytest.mark.nightly
def test_memory_and_dialogs(plain: Path) -> None:
    """A game that fills the memory is ended; one that opens dialogs is played on."""
    limits = DetectorSettings(memory_limit_mb=900, memory_budget_mb=0)
    with open_game(Target(project=plain, scene="res://lab.tscn", input_map=True), detectors=limits) as game:
        game.reset(1)
        press(game, "dialog", 5)
        assert not press(game, "right", 20)[-1].events
        events = [event for seen in press(game, "swell", 600) for event in seen.events]
        assert [event.detector for event in events] == ["memory_budget"]
        assert "was ended" in events[0].message
        assert game.is_lost
        assert not game.reset(1).events, "it is started again"


@pytest.mark.nightly
def test_a_hunt_goes_on_whatever_the_game_does(plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(room))
    words = ["--project", str(plain), "--scene", "res://lab.tscn", "--input-map", "--minutes", "0.25", "--no-clips"]
    words += ["--freeze-after", "3", "--proofs", "2", "--out", str(tmp_path / "hunt"), "--json"]
    done = CliRunner().invoke(app, ["hunt", *words])
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    assert told["findings"]
    assert all(one["reproduced"] > 0 for one in told["findings"])
    assert not list(room.iterdir()), "nothing is left behind"
    size = sum(path.stat().st_size for path in (tmp_path / "hunt").rglob("*") if path.is_file())
    assert size < 20_000_000


@pytest.mark.nightly
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_hunt_leaves_nothing(plain: Path, tmp_path: Path, how: signal.Signals) -> None:
    room = tmp_path / "room"
    room.mkdir()
    words = [
        "hunt",
        "--project",
        str(plain),
        "--input-map",
        "--minutes",
        "5",
        "--no-clips",
        "--out",
        str(tmp_path / "h"),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "godojo", *words],
        env={**os.environ, "TMPDIR": str(room)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stderr is not None
            assert any("hunting:" in line for line in process.stderr), "it has begun"
            games = children(process.pid)
            assert games
            process.send_signal(how)
            process.stderr.read()
            status = process.wait(100)
        finally:
            process.kill()
    deadline = time.monotonic() + 10
    while any(is_alive(game) for game in games) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_alive(game) for game in games)
    if how == signal.SIGTERM:
        assert status == 0
        assert (tmp_path / "h/report.html").is_file(), "it stops and keeps everything"
        assert not list(room.glob("godojo*"))


def test_what_a_killed_hunt_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = subprocess.Popen(["true"])
    done.wait()
    (tmp_path / f"godojo-hunt-{done.pid}-abc/game").mkdir(parents=True)
    (tmp_path / f"godojo-hunt-{os.getpid()}-abc").mkdir()
    with temporary_folder() as folder:
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {folder.name, f"godojo-hunt-{os.getpid()}-abc"}


@pytest.mark.nightly
def test_a_game_that_needs_a_headset_is_one_line(tmp_path: Path) -> None:
    project = tmp_path / "vr"
    project.mkdir()
    settings = 'config_version=5\n[application]\nrun/main_scene="res://a.tscn"\n[input]\n[xr]\nopenxr/enabled=true\n'
    (project / "project.godot").write_text(settings)
    (project / "a.gd").write_text(QUITS)
    scene = '[gd_scene load_steps=2 format=3]\n\n[ext_resource type="Script" path="res://a.gd" id="1"]\n\n'
    (project / "a.tscn").write_text(f'{scene}[node name="A" type="Node"]\nscript = ExtResource("1")\n')
    with pytest.raises(GodojoError, match="asks for a headset and ends without one"):
        open_game(Target(project=project, input_map=True))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--project", "{plain}"], "has no agents: play it by its input actions (--input-map)"),
        (["--project", "{plain}", "--input-map", "--scene", "res://none.tscn"], "has no scene res://none.tscn"),
        (["--project", "{nowhere}"], "is no Godot project"),
        (["--binary", "{nowhere}"], "there is no game"),
        (["--http", "http://127.0.0.1:9"], "no game answers at"),
    ],
)
def test_refusals_come_first(
    plain: Path, tmp_path: Path, words: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [word.format(plain=plain, nowhere=tmp_path / "nowhere") for word in words]
    with pytest.raises(SystemExit) as ended:
        main(["hunt", *given, "--out", str(tmp_path / "hunt")])
    assert ended.value.code == 2
    printed = " ".join("".join(capsys.readouterr()).split())
    assert line in printed
    assert "starting the game" not in printed
    assert not (tmp_path / "hunt").exists()


def children(pid: int) -> list[int]:
    """All processes below one."""
    found = [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    for thread in Path(f"/proc/{pid}/task").iterdir():
        found += [int(text) for text in (thread / "children").read_text().split()]
    return [*found, *(each for one in dict.fromkeys(found) for each in children(one))]
