"""Films without an engine: what is encoded, counted, chosen and written over pictures."""

import os
import shutil
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from godojo.errors import GodojoError
from godojo.evaluate.intervals import Share
from godojo.runs.snapshots import Snapshot
from godojo.show import titles
from godojo.show.encoding import FilmWriter, count_frames
from godojo.show.footage import check_piece, check_room, frames_in, pieces_of, read_note
from godojo.show.lineup import Lineup
from godojo.show.record import film_path, shots_of
from godojo.show.recording import record_rounds
from godojo.show.replay import Replay
from godojo.show.stage import PRESETS, Format, Shot, preset, steadily, write_job
from godojo.show.storyboard import Story, course_of
from godojo.show.titles import Layout
from godojo.show.yardstick import Figures, in_words, stages_of
from tests.conftest import Run
from tests.judged_runs import make_run

TINY = Format(160, 90, 10)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs"), "small").path


@pytest.fixture(scope="module")
def rounds(run: Path) -> list[Replay]:
    lineup = Lineup.of(f"{run}@final")
    return record_rounds(lineup.players, settings=lineup.settings, episodes=3, names=lineup.names)


def picture(film: Format, red: int) -> np.ndarray:
    made = np.zeros((film.height, film.width, 3), np.uint8)
    made[..., 0] = red
    return made


def test_a_film_has_exactly_its_frames_and_their_colours(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with FilmWriter(path, TINY) as writer:
        writer.write_all(picture(TINY, red) for red in range(0, 250, 10))
        assert not path.exists()
    assert count_frames(path) == 25
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        assert (stream.width, stream.height) == (160, 90)
        assert stream.average_rate == 10
        assert stream.codec_context.name == "h264"
        last = list(file.decode(video=0))[-1].to_ndarray(format="rgb24")
    assert abs(int(last[45, 80, 0]) - 240) < 12
    assert [file.name for file in tmp_path.iterdir()] == ["film.mp4"]


def test_a_film_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with pytest.raises(ZeroDivisionError), FilmWriter(path, TINY) as writer:
        writer.write_all(picture(TINY, 100 // red) for red in (3, 2, 1, 0))
    with pytest.raises(GodojoError, match="no frames"), FilmWriter(path, TINY):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(GodojoError, match=r"film\.mp4 could not be written"), FilmWriter(tmp_path / "film.mp4", TINY):
        pass


def test_presets_can_be_encoded() -> None:
    assert preset("1080p60") == Format(1920, 1080, 60)
    assert preset("portrait").height > preset("portrait").width
    assert all(film.width % 2 == film.height % 2 == 0 for film in PRESETS.values())
    with pytest.raises(GodojoError, match="720p30"):
        preset("720p")


def test_moments_run_at_any_speed() -> None:
    assert len(steadily(0.0, 2.0, 30)) == 60
    slowly = steadily(1.0, 2.0, 30, 0.25)
    assert len(slowly) == 120
    assert np.allclose(np.diff(slowly), 0.25 / 30)
    assert len(steadily(1.0, 1.0, 30)) == 1


def test_a_job_has_all_numbers_of_all_frames(rounds: list[Replay], tmp_path: Path) -> None:
    shot = Shot(rounds[0], steadily(0.0, rounds[0].seconds + 1.0, 30))
    write_job(tmp_path / "job.json", [shot, shot], PRESETS["720p30"])
    numbers = np.fromfile(tmp_path / "job.bin", "<f4").reshape(2, shot.frames, 1 + 2 * 13)
    assert np.allclose(numbers[0], numbers[1])
    assert np.allclose(numbers[0, :, 0], shot.seconds, atol=1e-4)
    assert np.allclose(numbers[0, 0, 1:4], rounds[0].position_m[0, 0], atol=1e-4)
    assert np.allclose(numbers[0, -1, 14:17], rounds[0].position_m[-1, 1], atol=1e-4)


def test_a_recording_keeps_the_score(rounds: list[Replay]) -> None:
    shots = shots_of(rounds, TINY, "follow", "hider", names=False)
    assert [sum(shot.wins.values()) for shot in shots] == [0, 1, 2]
    assert {shot.hero for shot in shots} == {1}
    assert all(shot.seconds[-1] > shot.replay.seconds for shot in shots)


def test_long_films_are_drawn_in_pieces(rounds: list[Replay]) -> None:
    shots = [Shot(rounds[0], np.zeros(400))] * 5
    assert [len(piece) for piece in pieces_of(shots)] == [2, 2, 1]


def test_mistakes_are_told_in_a_line(rounds: list[Replay], tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match="overview, follow, side"):
        Shot(rounds[0], np.zeros(1), camera="drone")
    with pytest.raises(GodojoError, match=r"\.mp4"):
        film_path(tmp_path, "recording", tmp_path / "film.avi")
    with pytest.raises(GodojoError, match="make room"):
        check_room(tmp_path, 10**9, PRESETS["1080p60"])
    with pytest.raises(GodojoError, match="no frames"):
        read_note(tmp_path)
    with pytest.raises(GodojoError, match="engine install --rendering"):
        check_piece(tmp_path / "none.mjpeg", TINY, 3, "ERROR: Unable to create DisplayServer")


def test_frames_that_are_missing_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "piece.mjpeg"
    with av.open(str(path), "w", format="mjpeg") as file:
        stream = file.add_stream("mjpeg", rate=10, options={"qscale": "3"})
        stream.width, stream.height, stream.pix_fmt = 160, 90, "yuvj420p"
        for red in range(4):
            frame = av.VideoFrame.from_ndarray(picture(TINY, red), format="rgb24").reformat(format="yuvj420p")
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    check_piece(path, TINY, 4, "")
    assert len(list(frames_in(path, 4))) == 4
    with pytest.raises(GodojoError, match="4 frames instead of 5"):
        list(frames_in(path, 5))
    with pytest.raises(GodojoError, match="4 frames instead of 5"):
        check_piece(path, TINY, 5, "")


def test_the_stages_of_a_run(run: Path) -> None:
    lineup = Lineup.of(str(run))
    assert [stage.name for stage in stages_of(lineup.run)] == ["start", "final"]
    assert [stage.name for stage in stages_of(lineup.run, ["final"])] == ["final"]
    with pytest.raises(GodojoError, match="did you mean final"):
        stages_of(lineup.run, ["finel"])
    assert in_words(Snapshot("10s", 5, 10.9)) == "10 s"
    assert in_words(Snapshot("final", 5, 300.4)) == "5 min"
    assert in_words(Snapshot("final", 5, 41.2)) == "41 s"


@pytest.mark.parametrize("film", [PRESETS["small"], PRESETS["portrait-small"], TINY])
def test_every_scene_can_be_painted(run: Path, rounds: list[Replay], film: Format) -> None:
    """With pictures of one colour in the place of what Godot would draw."""
    folder = Lineup.of(str(run)).run
    figures = [
        Figures(
            stage, {"seeker": Share.of(wins, 40), "hider": Share.of(40 - wins, 40)}, {"seeker": 20.0, "hider": 25.5}
        )
        for stage, wins in zip(stages_of(folder), (3, 31), strict=True)
    ]
    story = Story(folder, film, figures, [rounds, rounds], course_of(figures, figures), 40)
    scenes = story.scenes()
    assert [scene.name for scene in scenes][:4] == ["title", "stage-1", "stage-2", "together"]
    assert scenes[-1].name == "end"
    for scene in scenes:
        assert all(shot.frames == scene.frames for shot in scene.shots)
        plain = [picture(scene.format, 128) for _ in scene.shots]
        for frame in (0, scene.frames // 2, scene.frames - 1):
            painted = scene.paint(frame, plain)
            assert painted.shape == (film.height, film.width, 3)
            assert painted.dtype == np.uint8
        middle = scene.paint(scene.frames // 2, plain)
        assert len(np.unique(middle.reshape(-1, 3), axis=0)) > 20, f"nothing is written over {scene.name}"


def test_panels_keep_clear_of_the_arena_and_inside_the_picture() -> None:
    for film in PRESETS.values():
        layout = Layout(film)
        for box in (layout.facts, layout.curve):
            assert box.x >= 0
            assert box.y >= 0
            assert box.x + box.width <= film.width
            assert box.y + box.height <= film.height
        if layout.is_wide:  # the overview's arena is as wide as the picture is high, and a little more
            assert layout.facts.x + layout.facts.width < film.width / 2 - film.height * 0.5
            assert layout.curve.x > film.width / 2 + film.height * 0.5


def test_laying_over_is_the_usual_mixture() -> None:
    under = np.full((4, 4, 3), 100, np.uint8)
    over = Image.new("RGBA", (2, 2), (200, 0, 100, 128))
    titles.lay(under, over, 1, 1)
    assert abs(int(under[1, 1, 0]) - 150) <= 2
    assert under[0, 0].tolist() == [100, 100, 100]


@pytest.mark.slow
def test_a_run_that_cannot_be_filmed_is_told_in_a_line(run: Path, tmp_path: Path, godojo: Run) -> None:
    bare = tmp_path / "runs" / "bare"
    shutil.copytree(run, bare)
    (bare / "policy_hider.pt").unlink()
    shutil.rmtree(bare / "snapshots")
    env = {"GODOJO_RUNS": str(bare.parent)}
    for words, why in (
        (("record", "bare"), "no policy of the hider"),
        (("film", "bare"), "snapshots"),
        (("record", "bare", "--preset", "8k"), "1080p60"),
    ):
        done = godojo(*words, **env)
        assert done.returncode == 2, done.stderr
        assert why in done.stderr
        assert done.stderr.count("\n") == 1
