"""Films by the real engine: as many frames as were asked for, with the agents in them; one line when it cannot be."""

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import av
import msgspec
import numpy as np
import pytest

from godojo.engines.godot import display, run_project
from godojo.engines.godot.find import Engine
from godojo.games.tag.settings import TagSettings
from godojo.runs.folder import RunFolder
from godojo.show.film import make_film, story_of
from godojo.show.policies_to_show import PoliciesToShow
from godojo.show.record import film_shots, shots_of
from godojo.show.shots import PRESETS, SCENE, Format, Shot, steadily, write_job
from tests.conftest import ROOT, Run
from tests.judged_runs import make_run, make_solo_run

pytestmark = [pytest.mark.engine, pytest.mark.rendering]
SMALL = PRESETS["small"]
TINY = Format(320, 180, 4)
ROUND_S, PAUSE_S = 1.0, 2.0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """With rounds of a second."""
    tree = msgspec.to_builtins(TagSettings.defaults())
    tree["rules"]["round_s"] = ROUND_S
    return make_run(tmp_path_factory.mktemp("runs"), "small", TagSettings.from_json(msgspec.json.encode(tree)))


def pictures(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as file:
        return [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]


def shares(picture: np.ndarray) -> tuple[float, float]:
    """How much of a picture, below clock and score, has the seeker's and the hider's colour."""
    red, green, blue = np.moveaxis(picture[40:].astype(int), -1, 0)
    orange = (red > 200) & (green > 70) & (green < 170) & (blue < 90)
    deep_blue = (blue > 150) & (red < 90) & (green < 130)
    return float(orange.mean()), float(deep_blue.mean())


def script(name: str, run: RunFolder, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "GODOJO": f"{sys.executable} -m godojo", "GODOJO_RUNS": str(run.path.parent)}
    (folder / "scripts").mkdir(exist_ok=True)
    here = folder / "scripts" / name
    here.write_bytes((ROOT / "scripts" / name).read_bytes())
    here.chmod(0o755)
    return subprocess.run([str(here), *words], env=env, capture_output=True, text=True, timeout=100)


@pytest.mark.slow
def test_frames_are_dumped_by_one_script_and_encoded_by_the_other(
    engine: Engine, run: RunFolder, tmp_path: Path
) -> None:
    """Played in Godot's physics over the bridge, drawn, and encoded."""
    assert engine
    done = script("record_gui.sh", run, tmp_path, "runner", "small", "--episodes", "1", "--preset", "small")
    assert done.returncode == 0, done.stderr
    frames = round((ROUND_S + PAUSE_S) * SMALL.fps)
    assert f"{frames} frames" in done.stdout
    drawn = sorted(path.name for path in (tmp_path / "trainer/frames").glob("*.png"))
    assert drawn == [f"frame_{number:05d}.png" for number in range(frames)]
    done = script("encode_frames.sh", run, tmp_path)
    assert done.returncode == 0, done.stderr
    (film,) = (tmp_path / "trainer").glob("*.mp4")
    assert film.name == f"learn_progress-{date.today()}.mp4"
    found = pictures(film)
    assert len(found) == frames
    assert found[0].shape == (SMALL.height, SMALL.width, 3)
    assert all(shares(one)[1] > 0.001 for one in found), "the hider is not in every picture"


@pytest.mark.slow
def test_a_whole_film_from_nothing_but_a_run(engine: Engine, run: RunFolder) -> None:
    assert engine
    story = story_of(run, TINY, rounds=3, duels=3, measured_rounds=6, progress=lambda *_: None)
    path = run.path / "learn_progress-test.mp4"
    before = {file.name for file in run.path.iterdir()}
    heard: dict[str, list[str]] = {}

    def listen(what: str, _: float | None, detail: str = "") -> None:
        heard.setdefault(what, []).append(detail)

    frames = make_film(story, path, progress=listen)
    drawn = sum(shot.frames for scene in story.scenes() for shot in scene.shots)
    assert heard["drawing"][0] == f"0 of {drawn} frames"
    assert heard["drawing"][-1] == f"{drawn} of {drawn} frames"
    assert heard["encoding"][-1] == f"{frames} of {frames} frames"
    found = pictures(path)
    assert len(found) == frames == sum(scene.frames for scene in story.scenes())
    assert {file.name for file in run.path.iterdir()} == {*before, path.name}
    first = 0
    for scene in story.scenes():
        middle = found[first + scene.frames // 2]
        assert middle.std() > 10, f"{scene.name} is all but empty"
        if scene.name.startswith("stage"):
            assert min(shares(middle)) > 0.0003, f"somebody is missing in {scene.name}"
        first += scene.frames


@pytest.mark.slow
def test_navigation_is_filmed_through_the_same_code(engine: Engine, tmp_path: Path) -> None:
    """Hands and waypoints are in sight, and in the corner a map and a comfort meter."""
    assert engine
    run = make_solo_run(tmp_path, round_s=2.0)
    lineup = PoliciesToShow.of(str(run.path), verb="film")
    replay = lineup.record(arenas=lineup.arenas("course"))[0]
    path = tmp_path / "film.mp4"
    film_shots(shots_of([replay], TINY), path, TINY, progress=lambda *_: None)
    found = pictures(path)
    assert len(found) == round((2.0 + PAUSE_S) * TINY.fps)
    red, green, blue = np.moveaxis(found[2].astype(int), -1, 0)
    cyan = (blue > 180) & (green > 150) & (red < 150)
    assert cyan[40:, :240].mean() > 0.0003, "waypoints, and rings of the controllers"
    corner = slice(5, 120), slice(270, 316)
    assert np.mean(red[corner] + green[corner] + blue[corner]) < 330, "the map is dark"
    bright = found[2].max(axis=2).astype(int) - found[2].min(axis=2) > 60
    assert bright[130:140, 264:312].mean() > 0.15, "the bar of the meter"


def test_a_full_disk_ends_the_drawing(engine: Engine, run: RunFolder, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs a disk that is always full")
    lineup = PoliciesToShow.of(str(run.path))
    replay = lineup.record()[0]
    write_job(tmp_path / "job.json", [Shot(replay, steadily(0.0, 1.0, TINY.fps))], TINY)
    words = [
        "--audio-driver",
        "Dummy",
        "--resolution",
        "320x180",
        "--fixed-fps",
        "4",
        SCENE,
        "--",
        str(tmp_path / "job.json"),
        "/dev/full",
    ]
    with display() as env:
        done = run_project(engine, words, timeout_s=60, env=env)
    assert done.code == 3, done.output
    assert "/dev/full" in done.output


def test_without_any_display_it_is_one_line(engine: Engine, run: RunFolder, godojo: Run, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("there is always a display")
    env = {"GODOJO_RUNS": str(run.path.parent), "GODOT_BIN": str(engine.program), "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    (tmp_path / "bin").mkdir()
    for name in ("sh", "dirname", "readlink"):
        (tmp_path / "bin" / name).symlink_to(f"/bin/{name}")
    done = godojo("record", "small", "--episodes", "1", "--preset", "small", **env, PATH=str(tmp_path / "bin"))
    assert done.returncode == 2
    assert "no display, and no Xvfb" in done.stderr.splitlines()[-1]
    assert done.stderr.count("\n") == 1
    assert not list(run.path.glob("recording*"))
    assert not list(run.path.glob(".frames*"))
