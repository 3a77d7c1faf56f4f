"""A short training gets somewhere: win rates on unseen arenas, against thresholds in a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from godojo.cli import main
from godojo.evaluation.evaluation import judge

THRESHOLDS: dict[str, Any] = json.loads(Path(__file__).with_name("learning_thresholds.json").read_bytes())
FIRST, *OTHERS = THRESHOLDS["seeds"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [FIRST, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in OTHERS)])
def test_a_short_training_reaches_its_thresholds(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    words = [f"--set={name}={value}" for name, value in THRESHOLDS["settings"].items()]
    words += ["--steps", str(THRESHOLDS["agent_steps"]), "--seed", str(seed), "--run-id", "short", "--judge", "0"]
    with pytest.raises(SystemExit) as ended:
        main(["train", "tag", *words])
    assert not ended.value.code
    for role, thresholds in THRESHOLDS["wins"].items():
        opponents = list(thresholds)
        before, after = (
            judge(f"short@{moment}", opponents, role=role, rounds=THRESHOLDS["rounds"]) for moment in ("start", "final")
        )
        for opponent, least in thresholds.items():
            untrained, trained = (found.verdict(role, opponent).wins for found in (before, after))
            assert untrained is not None
            assert trained is not None
            assert trained.rate >= least, f"{role} against {opponent}: {untrained.rate:.3f} to {trained.rate:.3f}"
            if role in THRESHOLDS["better_than_untrained"]:
                assert trained.low > untrained.high, f"{role} against {opponent}: no better than untrained"
