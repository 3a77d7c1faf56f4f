"""Charts: the curves are what the tables say, and every picture is one that a person would show."""

import itertools
from pathlib import Path

import msgspec
import numpy as np
import pytest
from matplotlib import image

from godojo.cli.summary import _attempt
from godojo.errors import GodojoError
from godojo.runs.folder import RunFolder
from godojo.show import charts, curves, style
from godojo.show.charts import STEPS, write_charts, write_comparison
from godojo.show.curves import RunTables, read_table
from tests.shown_runs import ROUNDS, WIN_FROM, WIN_TO, shown_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return shown_run(tmp_path_factory.mktemp("runs"))


def test_shares_are_those_of_the_table_and_intervals_hold_the_truth(run: RunFolder) -> None:
    tables = RunTables(run)
    assert len(tables.rounds["episode"]) == ROUNDS, "the row that was cut off is left out"
    curve = tables.win_rate("seeker", STEPS, against_past=True)
    truth = WIN_FROM + (WIN_TO - WIN_FROM) * curve.at / (ROUNDS * 500)
    assert len(curve) > 20
    assert np.mean((curve.low <= truth) & (truth <= curve.high)) > 0.85
    assert curve.middle[-3:].mean() > curve.middle[:3].mean() + 0.4
    both = [tables.win_rate(role, STEPS, against_past=False) for role in ("seeker", "hider")]
    np.testing.assert_allclose(both[0].middle + both[1].middle, 1.0)


def test_terms_add_up_to_the_reward(run: RunFolder) -> None:
    tables = RunTables(run)
    assert tables.terms("seeker") == ["distance", "time", "tag", "survival"]
    total = sum(tables.mean(f"seeker_{term}", STEPS).middle for term in tables.terms("seeker"))
    np.testing.assert_allclose(total, tables.mean("seeker_reward", STEPS).middle, atol=1e-3)


def test_bins_do_not_swing_with_the_clock(tmp_path: Path) -> None:
    """All worlds begin together: catches come early in a round, the clock ends the others at once."""
    run = shown_run(tmp_path, "swing", 10)
    run = RunFolder(run.path, msgspec.structs.replace(run.config, learner_settings={"num_worlds": 50}))
    rows, number = [run.metrics.read_text().splitlines()[0]], 0
    for cycle in range(12):
        for share, length, winner, count in (
            (0.5, 5.0, "seeker", 15),
            (1.0, 5.0, "seeker", 15),
            (1.0, 10.0, "hider", 35),
        ):
            for _ in range(count):
                number += 1
                steps = int((cycle + share) * 15000)
                rows.append(f"{number},{steps},{steps / 1e4},open,{length},{winner},0,0,0,0,0,0,now,0,0,0,0,0,0,now")
    run.metrics.write_text("\n".join(rows) + "\n")
    curve = RunTables(run).win_rate("seeker", STEPS, against_past=False)
    assert len(curve) >= 4
    assert np.ptp(curve.middle) < 0.2, "each bin holds whole rounds of all worlds"


def test_every_chart_is_a_picture_with_something_in_it(run: RunFolder) -> None:
    written = write_charts(run)
    names = {path.stem for path in written}
    assert {
        "learning",
        "win_rate",
        "win_rate_by_time",
        "reward",
        "reward_terms",
        "episode_length",
        "rating",
        "speed",
    } <= names
    for path in written:
        pixels = image.imread(path)[..., :3]
        assert pixels.shape[1] >= 1400, path.name
        paper = np.array([int(style.PAPER[at : at + 2], 16) / 255 for at in (1, 3, 5)])
        inked = (np.abs(pixels - paper) > 0.1).any(axis=2)
        assert 0.01 < inked.mean() < 0.6, path.name
    learning = image.imread(run.path / "charts/learning.png")[..., :3]
    for colour in (style.FIRST, style.SECOND):
        wanted = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
        assert (np.abs(learning - wanted) < 0.02).all(axis=2).sum() > 500, "roles have the game's colours"


def test_a_run_of_few_rounds_shows_no_numbers_that_are_none(tmp_path: Path) -> None:
    """Six rounds: neither win rates nor rewards can be told, and nothing is drawn as if they were 0."""
    run = shown_run(tmp_path, "few", 6)
    run.updates.write_text("\n".join(run.updates.read_text().splitlines()[:2]) + "\n")
    assert [path.stem for path in write_charts(run)] == ["learning"]
    made = charts.learning(RunTables(run))
    for panel in made.axes:
        assert not panel.axison
        assert [text.get_text()[:7] for text in panel.texts] == ["too few"]
    assert "20 k agent-steps" in made.get_supxlabel()


def test_updates_without_a_value_are_left_out(tmp_path: Path) -> None:
    run = shown_run(tmp_path, "gaps", 600)
    header, *rows = run.updates.read_text().splitlines()
    rows = [",".join([*row.split(",")[:3], "", "", "", "", row.split(",")[-1]]) for row in rows]
    rows[50] = ",".join([*rows[50].split(",")[:3], "21.5", "nan", "0.4", "0.6", ""])
    rows[60] = ",".join([*rows[60].split(",")[:3], "22.5", "24", "0.4", "0.6", ""])
    run.updates.write_text("\n".join([header, *rows]) + "\n")
    tables = RunTables(run)
    assert [values.tolist() for values in tables.rating("seeker", STEPS)] == [[1020000, 1220000], [21.5, 22.5]]
    assert len(tables.rating("hider", STEPS)[0]) == 0, "one value is none: everybody begins with the same"
    assert len(tables.updates_of("time/fps", "seconds")[0]) == 98
    assert {"rating", "speed", "win_rate"} <= {path.stem for path in write_charts(run)}


def test_axes_show_the_whole_of_training_and_their_numbers_keep_apart(run: RunFolder) -> None:
    with style.look():
        made = charts.learning(RunTables(run))
        made.draw_without_rendering()
        for panel in made.axes:
            assert panel.get_xlim()[0] == 0.0
            boxes = [label.get_window_extent() for label in panel.get_xticklabels() if label.get_text()]
            assert len(boxes) > 2
            assert all(one.x1 + 4 < other.x0 for one, other in itertools.pairwise(boxes))


def test_runs_are_compared_in_one_chart(run: RunFolder, tmp_path: Path) -> None:
    other = shown_run(tmp_path, "other", 600)
    written = write_comparison([run, other], tmp_path / "both")
    assert {"compare_win_rate.png", "compare_reward_by_time.png", "compare_rating.png"} <= {
        path.name for path in written
    }
    with pytest.raises(GodojoError, match="named twice"):
        write_comparison([run, run], tmp_path)


def test_long_tables_are_sampled(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "MOST_BYTES", 40_000)
    monkeypatch.setattr(curves, "PIECES", 20)
    steps = read_table(run.metrics).numbers("agent_steps")
    assert 100 < len(steps) < ROUNDS / 2
    assert (np.diff(steps) > 0).all()
    assert steps[-1] > 0.95 * ROUNDS * 500


def test_nothing_to_draw_is_one_line_and_loses_no_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = shown_run(tmp_path, "none", 0)
    with pytest.raises(GodojoError, match="has no round"):
        write_charts(run)
    assert _attempt("charts", lambda: len(write_charts(run))) == 0
    assert "no charts" in capsys.readouterr().err
