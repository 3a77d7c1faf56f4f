"""The reference set: frozen policies that come with a game and play in `eval`; a missing set is no burden."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from godojo.errors import GodojoError
from godojo.evaluation import reference_set as references
from godojo.evaluation.evaluation import ITSELF, default_opponents, judge
from godojo.evaluation.players import players_of
from godojo.evaluation.reference_set import REFERENCE, reference_names, reference_set
from godojo.export.players import SHIPPED
from godojo.games.base import GAMES
from godojo.games.tag.settings import TagSettings
from tests.conftest import Run
from tests.judged_runs import ROLES, make_run

BASIC = ("random", "wander", "sighted", "oracle")
QUICK = TagSettings.defaults().override_texts(["rules.round_s=1"])
MAX_BYTES = 100_000
"""Of one policy: the whole set travels in the wheel."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    return tmp_path


def test_tags_set_is_complete_small_and_documented() -> None:
    folder = GAMES["tag"].references
    assert folder is not None
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    there = reference_set("tag")
    assert len(there) >= 4
    assert set(manifest) == set(there)
    for style, files in there.items():
        entry = manifest[style]
        assert set(files) == set(ROLES)
        assert sorted(entry["files"]) == sorted(path.name for path in files.values())
        assert {"description", "seed", "command"} <= set(entry)
        for role, path in files.items():
            assert path.stat().st_size < MAX_BYTES
            player = players_of(str(path), files=SHIPPED)[role]
            assert player.card.game == "tag"
            assert player.card.agent_steps == entry["agent_steps"][role] > 0


def test_a_policy_meets_all_of_them_by_default(root: Path) -> None:
    make_run(root, settings=QUICK)
    assert default_opponents("tag", 2, references=True) == [*BASIC, REFERENCE, ITSELF]
    found = judge("small", rounds=4, references=True, files=SHIPPED)
    wanted = [*BASIC, *reference_names("tag"), ITSELF]
    assert [(one.role, one.opponent) for one in found.verdicts] == [(role, name) for role in ROLES for name in wanted]
    assert judge("small", rounds=4, role="hider").verdicts[-1].opponent == ITSELF
    assert len(judge("small", rounds=4, role="hider").verdicts) == len(BASIC) + 1


def test_those_that_see_something_else_are_left_out(root: Path) -> None:
    blind = QUICK.override(**{"sight.rows": [{"elevation_deg": 0.0, "columns": 5}]})
    make_run(root, settings=blind)
    found = judge("small", rounds=4, role="seeker", references=True, files=SHIPPED)
    assert [one.opponent for one in found.verdicts] == [*BASIC, ITSELF]
    with pytest.raises(GodojoError, match="tag has no reference policy that fits the rules of small"):
        judge("small", [REFERENCE], rounds=4, files=SHIPPED)
    with pytest.raises(GodojoError, match="was trained on other observations: rays"):
        judge("small", reference_names("tag")[:1], rounds=4, files=SHIPPED)


def test_a_missing_set_is_no_mistake(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(root, settings=QUICK)
    for folder in (None, root / "nowhere"):
        monkeypatch.setattr(references, "GAMES", {"tag": replace(GAMES["tag"], references=folder)})
        found = judge("small", rounds=4, role="seeker", references=True, files=SHIPPED)
        assert [one.opponent for one in found.verdicts] == [*BASIC, ITSELF]


def test_the_command(root: Path, godojo: Run) -> None:
    make_run(root, settings=QUICK)
    style = reference_names("tag")[0]
    done = godojo("eval", "small", "-n", "4", "-o", style, "-o", "reference", "--json", timeout_s=110)
    assert done.returncode == 0, done.stderr
    played = [one["opponent"] for one in json.loads(done.stdout)["verdicts"]]
    assert played == 2 * [style, *reference_names("tag")]
    wrong = godojo("eval", "small", "-o", f"{style}x")
    assert wrong.returncode == 2
    assert f"did you mean {style.partition(':')[2]}" in wrong.stderr
