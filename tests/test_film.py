"""Films without an engine: what is encoded, counted, chosen and written over pictures."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import av
import msgspec
import numpy as np
import pytest
from PIL import Image

from godojo.errors import GodojoError
from godojo.evaluation.intervals import Proportion
from godojo.evaluation.players import player_from
from godojo.games.tag.settings import TagSettings
from godojo.runs.folder import RunFolder
from godojo.runs.snapshots import Snapshot
from godojo.show import titles
from godojo.show.camera import DISTANCE_M, PITCH_RAD, agents_at, axes
from godojo.show.encoding import count_frames, film_writer, write_picture
from godojo.show.film import clip_of, describe, fitting, improving, moments_of, other_modes, story_of
from godojo.show.frame_renderer import (
    Note,
    Scene,
    check_piece,
    check_room,
    frames_in,
    pieces_of,
    plain_scene,
    read_note,
    write_note,
)
from godojo.show.learning_curve import Figures, in_words, stages_of
from godojo.show.policies_to_show import PoliciesToShow
from godojo.show.record import clear_frames, encode, film_path, shots_of
from godojo.show.recording import record_rounds
from godojo.show.replay import Highlight, Outcome, Replay
from godojo.show.scratch import PREFIX, scratch
from godojo.show.shots import PRESETS, Format, Shot, camera_path, letter_colour, preset, steadily, write_job
from godojo.show.storyboard import AFTER_S, STILL_S, Story, Take, course_of, last_seconds
from godojo.show.titles import CLOCK_BOTTOM, Box, Layout
from tests.conftest import ROOT, Run
from tests.judged_runs import make_run, make_solo_run

TINY = Format(160, 90, 10)
BODY_WIDTH = 0.8
"""Of an agent as it is drawn, in edges of its collider; `ShowStyle.BODY_HALF_WIDTH`."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs"), "small").path


@pytest.fixture(scope="module")
def rounds(run: Path) -> list[Replay]:
    lineup = PoliciesToShow.of(f"{run}@final")
    return lineup.record(3)


def picture(film: Format, red: int) -> np.ndarray:
    made = np.zeros((film.height, film.width, 3), np.uint8)
    made[..., 0] = red
    return made


def test_a_film_has_exactly_its_frames_and_their_colours(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with film_writer(path, TINY) as writer:
        for red in range(0, 250, 10):
            writer.write(picture(TINY, red))
        assert all(file.name.startswith(PREFIX) for file in tmp_path.iterdir()), "a kill leaves what is swept up later"
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

    def write(reds: Iterator[int]) -> None:
        with film_writer(path, TINY) as writer:
            for red in reds:
                writer.write(picture(TINY, red))

    with pytest.raises(ZeroDivisionError):
        write(100 // red for red in (3, 2, 1, 0))
    with pytest.raises(GodojoError, match="no frames"), film_writer(path, TINY):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(GodojoError, match="cannot be written to"), film_writer(tmp_path / "film.mp4", TINY):
        pass


HOLDS_A_FOLDER = """
import sys, time
from pathlib import Path
from godojo.show.scratch import scratch
with scratch(Path(sys.argv[1])) as folder:
    (folder / "piece_000.mjpeg").write_bytes(b"frames")
    print(folder.name, flush=True)
    time.sleep(60)
"""


@contextmanager
def holder(folder: Path) -> "Iterator[tuple[subprocess.Popen[str], Path]]":
    """A process that draws, and where."""
    words = [sys.executable, "-c", HOLDS_A_FOLDER, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, folder / process.stdout.readline().strip()
        finally:
            process.kill()


def test_frames_of_a_killed_process_are_swept_and_those_of_a_live_one_are_not(tmp_path: Path) -> None:
    with holder(tmp_path) as (killed, left), holder(tmp_path) as (_, kept):
        killed.kill()
        killed.wait(timeout=10)
        assert (left / "piece_000.mjpeg").exists()
        with scratch(tmp_path) as own:
            assert not left.exists()
            assert (kept / "piece_000.mjpeg").exists()
            with scratch(tmp_path):
                assert own.exists()
    with scratch(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_frames_of_a_killed_recording_are_replaced_and_nobody_elses_files(tmp_path: Path) -> None:
    for name in ("piece_000.mjpeg", "piece_001.json", "piece_001.bin", "piece_001.mjpeg", ".piece_001.json.12.part"):
        (tmp_path / name).write_bytes(b"left")
    clear_frames(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "holiday.jpg").write_bytes(b"mine")
    with pytest.raises(GodojoError, match="choose an empty folder"):
        clear_frames(tmp_path)
    assert (tmp_path / "holiday.jpg").exists()


def test_pictures_are_replaced_only_beside_a_note_of_ours(tmp_path: Path) -> None:
    for number in range(3):
        write_picture(tmp_path / f"frame_{number:05d}.png", picture(TINY, 40 * number))
    with pytest.raises(GodojoError, match="choose an empty folder"):
        clear_frames(tmp_path)
    write_note(tmp_path, Note((), TINY))
    assert encode(tmp_path, tmp_path / "film.mp4", progress=quiet) == (3, TINY), "as fast as it was recorded"
    (tmp_path / "film.mp4").unlink()
    clear_frames(tmp_path)
    assert list(tmp_path.iterdir()) == []


def quiet(what: str, fraction: float | None, detail: str = "") -> None:
    pass


@pytest.mark.parametrize("pattern", ["frame_{:05d}.png", "shot{}.PNG", "{:08d}.png"])
def test_numbered_pictures_are_encoded_in_their_order(tmp_path: Path, pattern: str) -> None:
    for number in range(8, 12):  # 9 comes before 10 whatever the letters say
        Image.new("RGBA", (161, 91), (20 * number, 0, 0, 255)).save(tmp_path / pattern.format(number), "PNG")
    (tmp_path / "notes.txt").write_text("not a frame")
    heard: list[object] = []
    path = tmp_path / "film.mp4"
    done = encode(tmp_path, path, fps=12, progress=lambda *words: heard.append(words[-1]))
    assert done == (4, Format(160, 90, 12))
    assert heard[-1] == "4 of 4 frames"
    with av.open(str(path)) as file:
        assert file.streams.video[0].average_rate == 12
        reds = [frame.to_ndarray(format="rgb24")[45, 80, 0] for frame in file.decode(video=0)]
    assert np.allclose(reds, [160, 180, 200, 220], atol=12)


def test_folders_that_cannot_be_encoded_are_told_in_a_line(tmp_path: Path) -> None:
    for wrong in (0, 1000):
        with pytest.raises(GodojoError, match="--fps must be from 1 to 240"):
            encode(tmp_path, tmp_path / "film.mp4", fps=wrong, progress=quiet)
    (tmp_path / "cover.png").write_bytes(b"")
    with pytest.raises(GodojoError, match=r"numbered pictures such as frame_00001\.png"):
        encode(tmp_path, tmp_path / "film.mp4", progress=quiet)
    with pytest.raises(GodojoError, match="cannot be read"):
        encode(tmp_path / "none", tmp_path / "film.mp4", progress=quiet)
    Image.new("RGB", (32, 32)).save(tmp_path / "frame_1.png")
    Image.new("RGB", (64, 32)).save(tmp_path / "frame_2.png")
    with pytest.raises(GodojoError, match=r"frame_2\.png is of another size \(64x32, the first one 32x32\)"):
        encode(tmp_path, tmp_path / "film.mp4", progress=quiet)
    (tmp_path / "frame_2.png").write_bytes(b"\x89PNG and then nothing")
    with pytest.raises(GodojoError, match=r"frame_2\.png is no picture"):
        encode(tmp_path, tmp_path / "film.mp4", progress=quiet)
    (tmp_path / "other_2.png").write_bytes(b"")
    with pytest.raises(GodojoError, match=r"several films \(frame_\*\.png, other_\*\.png\)"):
        encode(tmp_path, tmp_path / "film.mp4", progress=quiet)
    assert not (tmp_path / "film.mp4").exists()


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
    numbers = np.fromfile(tmp_path / "job.bin", "<f4").reshape(2, shot.frames, 1 + 5 + 2 * 11)
    assert np.allclose(numbers[0], numbers[1])
    assert np.allclose(numbers[0, :, 0], shot.seconds, atol=1e-4)
    assert np.allclose(numbers[0, :, 1:6], camera_path(shot, PRESETS["720p30"]).numbers(), atol=1e-4)
    assert np.allclose(numbers[0, 0, 6:9], rounds[0].position_m[0, 0], atol=1e-4)
    assert np.allclose(numbers[0, -1, 17:20], rounds[0].position_m[-1, 1], atol=1e-4)


def test_a_recording_keeps_the_score(rounds: list[Replay]) -> None:
    shots = shots_of(rounds, TINY, "follow", "hider", names=False)
    assert [sum(shot.wins.values()) for shot in shots] == [0, 1, 2]
    assert {shot.hero for shot in shots} == {1}
    assert {shot.camera for shot in shots_of(rounds, TINY)} == {"tracking"}
    assert all(shot.seconds[-1] > shot.replay.seconds for shot in shots)


def test_long_films_are_drawn_in_pieces(rounds: list[Replay]) -> None:
    scenes = [plain_scene(Shot(rounds[0], np.zeros(300)), film) for film in (TINY, TINY, TINY, PRESETS["small"])]
    assert [len(piece) for piece in pieces_of(scenes)] == [2, 1, 1], "scenes of another size are another piece"


def test_mistakes_are_told_in_a_line(rounds: list[Replay], tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match="tracking, overview, follow, side"):
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
    lineup = PoliciesToShow.of(str(run))
    assert [stage.name for stage in stages_of(lineup.run)] == ["start", "final"]
    assert [stage.name for stage in stages_of(lineup.run, ["final"])] == ["final"]
    with pytest.raises(GodojoError, match="did you mean final"):
        stages_of(lineup.run, ["finel"])
    assert in_words(Snapshot("10s", 5, 10.9)) == "10 s"
    assert in_words(Snapshot("final", 5, 300.4)) == "5 min"
    assert in_words(Snapshot("final", 5, 41.2)) == "41 s"


def test_moments_near_the_end_are_no_stages_of_their_own(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "minute"
    shutil.copytree(run, folder)
    store = PoliciesToShow.of(str(folder)).run.snapshots()
    policies = {role: (folder / f"policy_{role}.pt").read_bytes() for role in ("seeker", "hider")}
    for name, seconds in (("1m", 60.0), ("end", 60.1)):
        store.save(name, policies, round(seconds * 1000), seconds)
    assert [stage.name for stage in stages_of(PoliciesToShow.of(str(folder)).run)] == ["start", "final", "end"]


@pytest.fixture(scope="module")
def still_and_moving(run: Path) -> tuple[list[Replay], list[Replay]]:
    """Rounds of an untrained run, in which nobody moves, and rounds in which everybody does."""
    moving = {"seeker": "scripted:wander", "hider": "scripted:wander"}
    lineups = PoliciesToShow.of(f"{run}@start"), PoliciesToShow.of(str(run), moving)
    one, other = (lineup.record(3) for lineup in lineups)
    return one, other


def test_two_stages_show_three_seconds_of_standing_still_at_most(
    still_and_moving: tuple[list[Replay], list[Replay]],
) -> None:
    still, moving = (rounds[0] for rounds in still_and_moving)
    shown = last_seconds(still, 6.0, 30)
    assert len(shown) / 30 == pytest.approx(STILL_S, abs=0.1)
    assert 2 * STILL_S <= 3.0
    assert shown[-1] > still.seconds, "who wins is shown all the same"
    shown = last_seconds(moving, 3.0, 30)
    assert len(shown) / 30 == pytest.approx(min(3.0, moving.seconds) + AFTER_S, abs=0.1)
    assert np.diff(shown).max() < 0.1


def won(replay: Replay, winner: str) -> Replay:
    return replace(replay, outcome=Outcome(winner, int(replay.tick[-1]), (0.0, 0.0)))


def test_the_round_shown_fits_the_percentage_beside_it(
    run: Path, still_and_moving: tuple[list[Replay], list[Replay]]
) -> None:
    figures = figures_of(RunFolder.open(run))
    still, moving = still_and_moving
    rounds = [won(still[0], "seeker"), won(moving[0], "hider"), won(moving[1], "seeker"), won(moving[2], "hider")]
    for stage in figures:
        for role in ("seeker", "hider"):
            shown = fitting(rounds, stage, role, TINY)
            assert shown.outcome is not None
            assert (shown.outcome.winner == role) == (stage.rates[role].rate >= 0.5)
    assert fitting(rounds, figures[1], "seeker", TINY) is rounds[2], "a round in which agents move is preferred"
    assert fitting(rounds[:1], figures[0], "seeker", TINY) is rounds[0], "where none fits, there is still a film"


def test_later_stages_do_not_look_worse_than_earlier_ones() -> None:
    def stages(*wins: int) -> list[Figures]:
        return [
            Figures(Snapshot(f"s{place}", place, float(place)), {"seeker": Proportion.of(won, 100)})
            for place, won in enumerate(wins)
        ]

    for wins, kept in (
        ((10, 12, 60, 80), (10, 60, 80)),  # no progress at first
        ((10, 60, 40, 80), (10, 60, 80)),  # a setback
        ((10, 90, 70, 80), (10, 70, 80)),  # better than the last one
        ((10, 80), (10, 80)),
    ):
        assert [round(100 * one.rates["seeker"].rate) for one in improving(stages(*wins), "seeker")] == list(kept)


def figures_of(folder: RunFolder) -> list[Figures]:
    return [
        Figures(stage, {"seeker": Proportion.of(wins, 40), "hider": Proportion.of(40 - wins, 40)})
        for stage, wins in zip(stages_of(folder), (3, 31), strict=True)
    ]


def story_with(folder: RunFolder, film: Format, rounds: Sequence[Replay]) -> Story:
    """Of two stages, and duels."""
    figures = figures_of(folder)
    takes = [Take(stage, role, rounds[0]) for stage in figures for role in ("seeker", "hider")]
    moments = moments_of(rounds, film)
    return Story(folder, film, figures, takes, moments, course_of(figures, figures, rounds[0]), 40)


def test_figures_are_described_with_intervals(run: Path, rounds: list[Replay]) -> None:
    story = story_with(RunFolder.open(run), TINY, rounds)
    assert describe(story) == [
        "rounds won against the scripted player “sighted” in 40 rounds, with 95 % intervals:",
        "untrained: seeker 8 % (3 to 20), hider 92 % (80 to 97)",
        "10 s: seeker 78 % (62 to 88), hider 22 % (12 to 38)",
    ]
    assert story._footnote("seeker") == "against the scripted hider “sighted”, in arenas not trained in"


def test_a_role_that_is_alone_has_a_success_rate(tmp_path: Path) -> None:
    """Everything but the drawing, for a game that is not tag."""
    run = make_solo_run(tmp_path, round_s=30.0)
    story = story_of(run, TINY, rounds=3, measured_rounds=6, progress=quiet)
    assert describe(story)[0] == "success rate in navigation in 6 rounds, with 95 % intervals:"
    assert [set(one.rates) for one in story.stages] == [{"walker"}, {"walker"}]
    assert "seeker" not in f"{story.measure} {story._footnote('walker')}"
    scenes = story.scenes()
    assert [scene.name for scene in scenes] == ["opening", "stage-1-walker", "stage-2-walker", "end"]
    assert {shot.camera for scene in scenes for shot in scene.shots} == {"first"}, "as the game's own scene shows it"
    paint_all(scenes, TINY)
    last = story.takes[-1].replay
    for winner, title in (("walker", "At the goal"), ("gap", "Fell into the gap")):
        shown = replace(last, outcome=Outcome(winner, int(last.tick[-1]), (0.0,)))
        write_job(tmp_path / "job.json", [Shot(shown, np.zeros(1), wins={"walker": 2})], TINY)
        (shot,) = msgspec.json.decode((tmp_path / "job.json").read_bytes())["shots"]
        assert shot["end_title"] == title
        successes = "3" if winner == "walker" else "2"
        assert [(party["title"], party["after"]) for party in shot["parties"]] == [("Success", successes)]
        assert shot["settings"]["rules"]["round_s"] == 30.0
        assert {len(numbers) for numbers in shot["tracks"].values()} == {len(last.decision_frame) + 1}
        assert not shot["layout"]["has_floor"]
        assert {mark["kind"] for mark in shot["layout"]["marks"]} == {"waypoint", "goal"}


def test_players_of_one_role_have_scores_of_their_own(tmp_path: Path) -> None:
    settings = TagSettings.defaults().override_texts(["rules.mode=classic", "rules.players=3", "rules.round_s=2"])
    player = player_from("scripted:wander", "player", game="tag")
    (replay,) = record_rounds("tag", {"player": player}, settings=settings)
    assert replay.outcome is not None
    write_job(tmp_path / "job.json", [Shot(replay, np.array([0.0, replay.seconds]))], TINY)
    (shot,) = msgspec.json.decode((tmp_path / "job.json").read_bytes())["shots"]
    assert [party["agent"] for party in shot["parties"]] == [0, 1, 2]
    assert shot["agents"] == ["Player 1", "Player 2", "Player 3"]
    numbers = np.fromfile(tmp_path / "job.bin", "<f4").reshape(2, 1 + 5 + 3 * 11)
    assert np.allclose(numbers[1, 16::11], replay.outcome.scores, atol=0.05)


def test_other_modes_of_the_game_are_found_beside_a_run(run: Path, rounds: list[Replay], tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "small")
    for name, texts in (("teams", ["rules.hiders=3"]), ("same", []), ("new", ["rules.hiders=2"])):
        make_run(tmp_path, name, TagSettings.defaults().override_texts(texts))
    (tmp_path / "new" / "policy_hider.pt").unlink()
    (tmp_path / "empty").mkdir()
    folder = RunFolder.open(tmp_path / "small")
    assert [other.run_id for other in other_modes(folder)] == ["teams"], "new has no policy yet"
    film = PRESETS["small"]
    clip = clip_of(RunFolder.open(tmp_path / "teams"), film, seed=0, rounds=6)
    assert clip is not None
    assert clip.title == "Teams"
    story = replace(story_with(folder, film, rounds), clips=[clip])
    assert [scene.name for scene in story.scenes()][-2:] == ["clip-1", "end"]


def test_agents_of_one_role_are_filmed_without_figures(rounds: list[Replay], run: Path) -> None:
    """As in classic tag: what is not measured is not shown."""
    story = story_with(RunFolder.open(run), PRESETS["small"], rounds)
    bare = [Figures(one.snapshot, {}) for one in story.stages]
    takes = [Take(one, "seeker", rounds[0]) for one in bare]
    assert course_of(bare, bare, rounds[0]) is None
    paint_all(replace(story, stages=bare, takes=takes, course=None).scenes(), PRESETS["small"])


def test_behaviours_are_shown_after_the_highlights(chases: list[Replay], monkeypatch: pytest.MonkeyPatch) -> None:
    def rules(replay: Replay) -> dict[str, list[Highlight]]:
        end = replay.seconds
        return {"juke": [Highlight("juke", "Juke", "", replay, end, 1.0, 0.5, 1)], "hide": []}

    without = SimpleNamespace(behaviours=None)
    monkeypatch.setattr("godojo.show.highlights.game_named", lambda _: without)
    before = moments_of(chases, TINY)
    monkeypatch.setattr("godojo.show.highlights.game_named", lambda _: SimpleNamespace(behaviours=lambda: rules))
    after = moments_of(chases, TINY)
    assert [one.kind for one in after] == [*(one.kind for one in before), "juke"]
    assert before[0].kind == "catch"


def test_dark_colours_are_lighter_as_letters() -> None:
    assert letter_colour("#ff7810") == "#ff7810"
    assert letter_colour("#1b55d8") == "#8daaeb"


@pytest.mark.parametrize("film", [PRESETS["small"], PRESETS["portrait-small"], TINY])
def test_every_scene_can_be_painted(run: Path, rounds: list[Replay], film: Format) -> None:
    """With pictures of one colour in the place of what Godot would draw."""
    scenes = story_with(RunFolder.open(run), film, rounds).scenes()
    names = [scene.name for scene in scenes]
    assert names[:5] == ["opening", "stage-1-seeker", "stage-1-hider", "stage-2-seeker", "stage-2-hider"]
    assert names[-1] == "end"
    paint_all(scenes, film)


def paint_all(scenes: Sequence[Scene], film: Format) -> None:
    for scene in scenes:
        assert all(shot.frames == scene.frames for shot in scene.shots)
        plain = [picture(scene.format, 128) for _ in scene.shots]
        for frame in (0, scene.frames // 2, scene.frames - 1):
            painted = scene.paint(frame, plain)
            assert painted.shape == (film.height, film.width, 3)
            assert painted.dtype == np.uint8
        middle = scene.paint(scene.frames // 2, plain)
        assert len(np.unique(middle.reshape(-1, 3), axis=0)) > 20, f"nothing is written over {scene.name}"


def test_no_label_is_over_another_and_agents_are_beside_all_of_them() -> None:
    for film in PRESETS.values():
        layout = Layout(film)
        clock = Box(0, 0, film.width, layout.px(CLOCK_BOTTOM))
        x, y = layout.below_clock(layout.px(300))
        below = Box(x, y, layout.px(300), layout.px(26 * 1.9))
        labels = [clock, below, layout.facts, layout.curve]
        left, top, right, bottom = layout.beside_panels
        width, height = right - left, bottom - top
        agents = Box(
            round(left * film.width), round(top * film.height), round(width * film.width), round(height * film.height)
        )
        for number, box in enumerate([*labels, agents]):
            assert box.x >= 0
            assert box.y >= 0
            assert box.x + box.width <= film.width
            assert box.y + box.height <= film.height
            for other in [*labels, agents][:number]:
                apart = box.x >= other.x + other.width or other.x >= box.x + box.width
                assert apart or box.y >= other.y + other.height or other.y >= box.y + box.height, (box, other)
        assert width * film.width * height * film.height > 0.4 * film.width * film.height
        plate = titles.caption(layout, "Narrowest escape", "0.3 m between them, and never caught", titles.PAPER)
        above = layout.above(plate.height)
        assert above.bottom * film.height <= film.height - plate.height - layout.px(28)


@pytest.fixture(scope="module")
def chases() -> list[Replay]:
    """Rounds in which somebody is chased through the hand-made arenas."""
    players = {role: player_from("scripted:sighted", role, game="tag") for role in ("seeker", "hider")}
    return record_rounds("tag", players, episodes=12, seed=4)


@pytest.mark.parametrize("film", [PRESETS["720p30"], PRESETS["portrait-720p30"]])
def test_agents_are_large_and_in_view_in_every_shot_of_a_film(run: Path, chases: list[Replay], film: Format) -> None:
    figures = figures_of(RunFolder.open(run))[1]
    chosen = [fitting(chases, figures, role, film) for role in ("seeker", "hider")]
    story = replace(
        story_with(RunFolder.open(run), film, chases), takes=[Take(figures, "seeker", one) for one in chosen]
    )
    shots = [shot for scene in story.scenes() for shot in scene.shots]
    assert len(shots) >= 3
    for shot in shots:
        path = camera_path(shot, film)
        middles, shown = agents_at(shot.replay, shot.seconds)
        at = path.project(middles, film.width, film.height) / (film.width, film.height)
        area = shot.area
        inside = ((at > (area.left, area.top)) & (at < (area.right, area.bottom))).all(axis=-1)
        assert (inside | ~shown).all(axis=1).mean() >= 0.95
        across = axes(path.yaw_rad)[0][:, None] * shot.replay.layout.body_m * BODY_WIDTH / 2
        left, right = (path.project(middles + side * across, film.width, film.height) for side in (-1, 1))
        widths = np.where(shown, right[..., 0] - left[..., 0], np.nan)
        assert np.nanmin(widths) >= 45.0, "pixels"
        assert 60.0 <= np.nanmedian(widths) <= 110.0
        assert (np.nanmax(widths, axis=1) / np.nanmin(widths, axis=1)).max() < 1.25, "near and far agents look alike"
        # The background moves by so many pixels; from one frame to the next its speed changes by a few at most.
        moved = np.diff(path.project(np.zeros((shot.frames, 1, 3)), film.width, film.height)[:, 0], axis=0)
        assert np.linalg.norm(np.diff(moved, axis=0), axis=1).max() < 4.0


def test_everybody_is_in_view_in_a_game_of_eight() -> None:
    settings = TagSettings.defaults().override_texts(["rules.seekers=2", "rules.hiders=6", "rules.round_s=4"])
    players = {role: player_from("scripted:sighted", role, game="tag") for role in ("seeker", "hider")}
    film = PRESETS["720p30"]
    for replay in record_rounds("tag", players, settings=settings, episodes=3):
        (shot,) = shots_of([replay], film)
        middles, shown = agents_at(replay, shot.seconds)
        at = camera_path(shot, film).project(middles, film.width, film.height) / (film.width, film.height)
        inside = ((at > (shot.area.left, shot.area.top)) & (at < (shot.area.right, shot.area.bottom))).all(axis=-1)
        assert (inside | ~shown).all()
        last = replay.active[-1] | ~replay.active[0]
        assert shown[0].all()
        assert (shown[-1] | ~last).all(), "those that are in the round at its end stay"


def test_planned_cameras_are_those_of_godot() -> None:
    script = (ROOT / "godot" / "show" / "look" / "camera_rig.gd").read_text()
    assert f"PLANNED_DISTANCE_M: float = {DISTANCE_M}\n" in script
    assert f"PLANNED_PITCH_DEG: float = {np.degrees(PITCH_RAD):.1f}\n" in script


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
        assert [line for line in done.stderr.splitlines() if "getting ready" not in line] == [
            done.stderr.splitlines()[-1]
        ]
