"""The league plays everybody against everybody and rates them fairly."""

import json
from pathlib import Path

import numpy as np
import pytest

from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.intervals import Proportion
from godojo.evaluation.league import cross_play, play_league, rate, spread
from godojo.evaluation.players import PolicyPlayer
from godojo.show.charts import draw_league
from tests.conftest import Run
from tests.judged_runs import make_run, small_policy


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    make_run(tmp_path)
    return tmp_path


def test_rows_meet_columns() -> None:
    worlds = make_vec("tag", num_worlds=60, generated_share=0.5)
    seekers = [PolicyPlayer(*small_policy("seeker", ahead=ahead)) for ahead in (0.0, 1.0)]
    hiders = [PolicyPlayer(*small_policy("hider", ahead=ahead)) for ahead in (0.0, 1.0)]
    played = cross_play(worlds, seekers, hiders, 60, seed=3)
    matrix = [[cell.wins("seeker") for cell in row] for row in played]
    assert [[cell.rounds for cell in row] for row in matrix] == [[60, 60], [60, 60]]
    assert matrix[0][0].wins == 0  # nobody moves, nobody is caught
    assert matrix[1][0].wins > 0
    assert matrix[0][1].wins > 0


def logistic_matrix(
    rows: np.ndarray, columns: np.ndarray, rounds: int, rng: np.random.Generator
) -> list[list[Proportion]]:
    """Results of players whose true skill is known, by the model that ratings are made by."""
    scale = np.sqrt(2.0) * 25.0 / 6.0
    chance = 1.0 / (1.0 + np.exp(-(rows[:, None] - columns[None]) / scale))
    return [[Proportion.of(int(rng.binomial(rounds, one)), rounds) for one in row] for row in chance]


def test_ratings_find_true_skill_within_their_intervals() -> None:
    rng = np.random.default_rng(2)
    inside, errors = [], []
    for trial in range(10):
        true = rng.normal(25.0, 5.0, (2, 4))
        rows, columns = rate(logistic_matrix(true[0], true[1], 100, rng), seed=trial)
        found = np.array([[one.rating for one in side] for side in (rows, columns)])
        wide = np.array([[one.high - one.rating for one in side] for side in (rows, columns)])
        apart = np.abs((found - found.mean()) - (true - true.mean()))  # a scale has no zero of its own
        errors.append(apart)
        inside.append(apart <= wide)
    assert np.mean(inside) >= 0.93
    assert np.mean(errors) < 1.5


def test_more_rounds_make_ratings_surer() -> None:
    def width(rounds: int) -> float:
        rows, _ = rate([[Proportion.of(rounds // 2, rounds), Proportion.of(rounds // 4, rounds)]])
        return rows[0].high - rows[0].low

    assert width(400) < 0.6 * width(40)


def test_a_few_of_many() -> None:
    assert spread(range(5), 8) == [0, 1, 2, 3, 4]
    few = spread(range(100), 8)
    assert (len(few), few[0], few[-1]) == (8, 0, 99)
    assert few == sorted(set(few))
    assert max(np.diff(few)) - min(np.diff(few)) <= 1


def test_a_league_of_a_run(root: Path) -> None:  # noqa: ARG001 - where the run lies
    found = play_league("small", rounds=100)
    assert (found.run, found.rows, found.columns) == ("small", "seeker", "hider")
    assert [standing.name for standing in found.standings] == ["start", "final"]
    assert [standing.agent_steps for standing in found.standings] == [0, 1000]
    start, final = (standing.ratings["seeker"] for standing in found.standings)
    assert final.low > start.rating
    assert play_league("small", rounds=100) == found
    backwards = play_league("small", ["final", "start"], rounds=100)
    assert backwards.matrix[0][0] == found.matrix[1][1]
    assert backwards.matrix[0][1] == found.matrix[1][0]
    picture = draw_league(found)
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000


def test_mistakes_are_answered(root: Path) -> None:  # noqa: ARG001 - where the run lies
    with pytest.raises(GodojoError, match="no snapshot 'finale'; did you mean final"):
        play_league("small", ["start", "finale"])
    with pytest.raises(GodojoError, match="at least two snapshots; of small there is 1"):
        play_league("small", ["start", "start"])


def test_the_command(root: Path, godojo: Run) -> None:
    done = godojo("league", "small", "-n", "20", "--json", timeout_s=110)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert json.loads((root / "small/league.json").read_text(encoding="utf-8")).items() > found.items()
    assert [len(row) for row in found["matrix"]] == [2, 2]
    assert found["exploitability"] == []
    assert (root / "small/league.png").read_bytes().startswith(b"\x89PNG")
    table = godojo("league", "small", "-n", "20", "--snapshots", "start, final", timeout_s=110).stdout
    assert "ratings" in table
    assert "league.png" in table
    wrong = godojo("league", "smoll")
    assert wrong.returncode == 2
    assert "did you mean small" in wrong.stderr
