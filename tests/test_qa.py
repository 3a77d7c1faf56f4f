"""The QA line: thresholds, evaluations as files, baselines, regressions and reports (docs/qa.md)."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from godojo.cli import main
from godojo.errors import GodojoError
from godojo.evaluation.evaluation import Evaluation, MatchUp
from godojo.evaluation.external import RANDOM, TRAINED, ExternalEvaluation, Performance
from godojo.evaluation.intervals import Mean, Proportion
from godojo.qa.metrics import Metric, PolicyMetrics, over_runs, policy_metrics, read_metrics
from godojo.qa.regression import change, compare, improves, replace_baseline
from godojo.qa.thresholds import validate
from godojo.runs.updates import UpdateLog
from tests.conftest import ROOT
from tests.doc_pages import blocks
from tests.judged_runs import make_run, make_solo_run


def metric(mean: float, wide: float, better: str = "higher") -> Metric:
    return Metric(mean, mean - wide, mean + wide, 10, better)  # type: ignore[arg-type]


def metrics(game: str = "maze", **values: Metric) -> PolicyMetrics:
    return PolicyMetrics("run", game, "godot", 10, 0, True, {}, None, None, None, values)


def godojo(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    ("current", "baseline", "better", "verdict"),
    [
        (metric(-115, 1), metric(-100, 1), "higher", "worse"),  # a tenth of a negative reward is allowed
        (metric(-109, 0.5), metric(-100, 0.5), "higher", "same"),
        (metric(-90, 1), metric(-100, 1), "higher", "better"),
        (metric(50, 40), metric(100, 40), "higher", "unclear"),  # a half, and yet it may be chance
        (metric(12, 0.5), metric(10, 0.5), "lower", "worse"),
        (metric(8, 0.5), metric(10, 0.5), "lower", "better"),
        (metric(10.9, 0.1), metric(10, 0.1), "lower", "same"),
        (Metric(0.0, None, None), metric(10, 1), "higher", "unclear"),  # a single episode decides nothing
        (metric(0, 0), metric(0, 0), "higher", "same"),
    ],
)
def test_a_verdict_follows_the_interval_and_the_direction(
    current: Metric, baseline: Metric, better: str, verdict: str
) -> None:
    found = change("it", current, baseline, better, 0.1)  # type: ignore[arg-type]
    assert found.verdict == verdict
    assert str(found).startswith("FAIL" if verdict == "worse" else "PASS")


def test_equal_policies_rarely_fail_and_much_worse_ones_do() -> None:
    """Of 300 pairs of evaluations with 30 noisy episodes each."""
    chance = np.random.default_rng(0)

    def found(mean: float) -> Metric:
        mean_of = Mean.of(chance.normal(mean, 5.0, 30))
        return Metric(mean_of.mean, mean_of.low, mean_of.high, 30, "higher")

    pairs = [change("it", found(-10.0), found(-10.0), "higher", 0.1) for _ in range(300)]
    assert sum(one.verdict == "worse" for one in pairs) <= 6
    pairs = [change("it", found(-20.0), found(-10.0), "higher", 0.1) for _ in range(300)]
    assert sum(one.verdict == "worse" for one in pairs) >= 290


def test_regression_judges_known_directions_and_named_metrics(tmp_path: Path) -> None:
    current, baseline = tmp_path / "current.json", tmp_path / "baseline.json"
    metrics(mean_reward=metric(5, 0.1), frame_ms=metric(9, 0.1, "")).write(current)
    metrics(mean_reward=metric(5, 0.1), frame_ms=metric(5, 0.1, "")).write(baseline)
    words = ("qa", "regression", "--current", current, "--baseline", baseline)
    assert godojo(*words) == 0
    assert godojo(*words, "--lower", "frame_ms") == 1
    assert godojo(*words, "--higher", "frame_ms") == 0
    assert godojo(*words, "--lower", "frames") == 2
    assert godojo(*words, "--tolerance", "-1") == 2


def test_a_metric_that_is_gone_does_not_pass() -> None:
    both = metrics(mean_reward=metric(5, 0.1), success_rate=metric(0.5, 0.1))
    with pytest.raises(GodojoError, match="lack success_rate"):
        compare(metrics(mean_reward=metric(5, 0.1)), both)
    assert len(compare(both, metrics(mean_reward=metric(5, 0.1)))) == 1


def test_bare_numbers_and_other_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = tmp_path / "bare.json"
    bare.write_text('{"mean_reward": -12.0, "success_rate": 0.5, "note": "mine"}')
    assert read_metrics(bare).metrics["mean_reward"] == Metric(-12.0, -12.0, -12.0, 0, "higher")
    worse = tmp_path / "worse.json"
    worse.write_text('{"mean_reward": -14.0, "success_rate": 0.5}')
    assert godojo("qa", "regression", "--current", worse, "--baseline", bare) == 1
    with pytest.raises(GodojoError, match="not comparable"):
        compare(metrics("one", mean_reward=metric(1, 1)), metrics("two", mean_reward=metric(1, 1)))
    for text, complaint in (("[]", "JSON object"), ("{", "no JSON"), ('{"a": "b"}', "no metrics")):
        bare.write_text(text)
        assert godojo("qa", "regression", "--current", worse, "--baseline", bare) == 2
        assert complaint in capsys.readouterr().err
    assert godojo("qa", "regression", "--current", worse, "--baseline", tmp_path / "none.json") == 2
    assert "qa baseline" in " ".join(capsys.readouterr().err.split())


def test_a_baseline_is_replaced_by_an_improvement_only(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    first = metrics(mean_reward=metric(10, 1), collisions=metric(2, 0.1, "lower"))
    assert replace_baseline(first, path, None).startswith("wrote")
    lucky = metrics(mean_reward=metric(10.5, 1), collisions=metric(2, 0.1, "lower"))
    assert "noise" in replace_baseline(lucky, path, first)
    mixed = metrics(mean_reward=metric(20, 1), collisions=metric(3, 0.1, "lower"))
    assert "worse in collisions" in replace_baseline(mixed, path, first)
    assert read_metrics(path) == first
    better = metrics(mean_reward=metric(20, 1), collisions=metric(2, 0.1, "lower"))
    assert "better in mean_reward" in replace_baseline(better, path, first)
    assert read_metrics(path) == better
    assert not improves(compare(better, better, tolerance=0.0))


def test_a_baseline_of_several_trainings_knows_how_they_differ() -> None:
    runs = [metrics(mean_reward=metric(mean, 1)) for mean in (0, 10, 20)]
    found = over_runs(runs).metrics["mean_reward"]
    assert (found.mean, found.episodes) == (10, 30)
    assert found.low is not None
    assert found.low < -9
    with pytest.raises(GodojoError, match="not maze"):
        over_runs([runs[0], metrics("other", mean_reward=metric(1, 1))])


def test_metrics_of_every_kind_of_evaluation() -> None:
    one, half = Mean(3.0, 2.0, 4.0), Proportion.of(5, 10)
    rows = [
        MatchUp("seeker", rival, half, one, 5.0, {}, 0, {"falls": one}, None, one) for rival in ("random", "itself")
    ]
    found = policy_metrics(Evaluation("run", "tag", "sim", "held-out", 10, 0, True, {"seeker": 5}, rows))
    assert (found.mean_reward, found.success_rate, found.mean_episode_length) == (3.0, 0.5, 3.0)
    assert found.metrics["seeker/itself/success_rate"].better == "higher"
    assert found.metrics["falls"].better == "lower"
    players = [Performance("ball", name, 10, one, one, half, 0.1, {"success": half}) for name in (RANDOM, TRAINED)]
    external = ExternalEvaluation("run", "gems", "dir", 10, 0, True, {"ball": 5}, players, True, 0)
    found = policy_metrics(external)
    assert found.engine == "godot"
    assert list(found.metrics) == ["mean_reward", "mean_episode_length", "success_rate"]


def test_the_line_on_a_run_of_navigation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run = make_solo_run(tmp_path / "runs")
    log = UpdateLog(run.updates, run.path / "tensorboard", roles=["walker"])
    frames = "walker/performance/physics_frame_time_max_ms"
    for update, reward in ((1, -20.0), (2, -4.5)):
        log.write(update, 100 * update, 1.0, {"walker/rollout/ep_rew_mean": reward, frames: 8.0 / update})
    log.close()
    for where in ("solo", run.path / "tensorboard"):
        assert godojo("qa", "validate", where, "--min-reward", "-5", "--max-physics-time", "11.11") == 0
        assert "PASS" in capsys.readouterr().out
        assert godojo("qa", "validate", where, "--min-reward", "-4") == 1
        assert godojo("qa", "validate", where, "--max-physics-time", "7.9") == 1
    assert godojo("qa", "evaluate", "solo", "--episodes", "4", "--out", "current.json") == 0
    found = json.loads(Path("current.json").read_bytes())
    assert {"mean_reward", "mean_episode_length", "success_rate"} <= set(found)
    assert found["metrics"]["mean_reward"]["episodes"] == found["episodes"] == 4
    assert found["mean_episode_length"] > 10
    assert godojo("qa", "baseline", "--current", "current.json") == 0
    (program,) = (block.text for block in blocks(ROOT / "docs/qa.md") if block.language == "python")
    exec(program.replace("locomotion", "navigation"), {})
    assert godojo("qa", "report", "solo", "--current", "current.json", "--baseline", "baselines/navigation.json") == 0
    text = capsys.readouterr().out
    assert "| walker/rollout/ep_rew_mean | -4.5 (first -20) |" in text
    assert "## Against the baseline" in text


def test_a_check_without_data_fails(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    checks = validate(run, min_reward=0.0, max_physics_time=10.0)
    assert [one.passed for one in checks] == [False, False, False]
    log = UpdateLog(run.updates, run.path / "tensorboard", roles=["seeker"])
    log.write(1, 100, 1.0, {"seeker/train/value_loss": float("nan")})
    log.close()
    assert "seeker/train/value_loss" in validate(run)[-1].detail


def test_the_json_of_the_page_is_one_that_is_read(tmp_path: Path) -> None:
    (text,) = (block.text for block in blocks(ROOT / "docs/qa.md") if block.language == "json")
    page = json.loads(text)
    path = tmp_path / "page.json"
    metrics(mean_reward=Metric(**page["metrics"]["mean_reward"])).write(path)
    assert set(page) <= set(json.loads(path.read_bytes()))
    assert read_metrics(path).metrics["mean_reward"].high == -12.0


def test_baselines_of_the_repository_are_read() -> None:
    found = sorted((ROOT / "baselines").glob("*.json"))
    assert found
    for path in found:
        assert read_metrics(path).metrics["mean_reward"].episodes > 0


@pytest.mark.parametrize("name", ["smoke", "regression", "nightly"])
def test_workflows_need_no_secrets_and_have_deadlines(name: str) -> None:
    path = ROOT / f".github/workflows/{name}.yml"
    assert "secrets." not in path.read_text(encoding="utf-8")
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert all(job["timeout-minutes"] for job in workflow["jobs"].values())
