"""Reports of a hunt: the page, Markdown, JUnit XML, GitHub, and what the command line answers."""

from pathlib import Path
from xml.etree import ElementTree as Xml

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from godojo.api.hunting import find_finding
from godojo.cli import app
from godojo.errors import GodojoError
from godojo.hunt.contract import SEVERITIES
from godojo.hunt.events import Event
from godojo.hunt.findings import Book, Finding, HuntRecord, HuntSettings, Moment, Unproven, now, write_hunt
from godojo.hunt.game import DetectorSettings
from godojo.hunt.outcome import HuntOutcome
from godojo.hunt.report import axes_of, write_page
from godojo.hunt.team import Share
from godojo.hunt.texts import annotations, fails, junit, markdown, write_texts
from godojo.hunt.trace import Trace
from tests.browser import browser, chromium
from tests.hunted_grid import CRASH, FLAKY, TRAP, Grid

HOSTILE = Event(
    "script_error", "script_error|res://player.gd:12|<b>|x", "minor", "<script>alert(1)</script> | a\x07b 50%, c: d"
)


def finding(number: int, event: Event, **how: object) -> Finding:
    fields = {"status": "new", **how}
    return Finding(number, event, "archive", 7, 12.0 * number, 640, 14, True, 5, 5, level=(number, 0.0, 2.0), **fields)  # type: ignore[arg-type]


@pytest.fixture
def hunt(tmp_path: Path) -> HuntOutcome:
    """A hunt with three findings, as its folder has it."""
    book, grid = Book(tmp_path), Grid()
    trace = Trace(7, np.ones((14, 2), np.float32), "archive")
    for number, event in enumerate((TRAP, CRASH, HOSTILE), 1):
        status = "still there" if event is TRAP else "new"
        book.add(finding(number, event, status=status), trace, trace, grid.action_parts, ["a line"], [grid.reset(7)])
    shares = {"random": Share(10.0, 5, 900, 40, 0), "archive": Share(20.0, 9, 1800, 90, 3)}
    timeline = tuple(Moment(float(second), 90 * second, 4 * second) for second in range(0, 40, 5))
    record = HuntRecord({"project": "/somewhere/island"}, HuntSettings(), DetectorSettings(), now(), 36.0, 3000)
    record = msgspec.structs.replace(
        record, shares=shares, timeline=timeline, unproven=(Unproven(FLAKY, 2),), against="hunts/before"
    )
    write_hunt(tmp_path, record)
    return HuntOutcome.read(tmp_path)


def test_the_worst_comes_first(hunt: HuntOutcome) -> None:
    assert [one.event for one in hunt.findings] == [CRASH, TRAP, HOSTILE]
    assert "3 findings: 1 critical, 1 major, 1 minor (2 new, 1 still there, 0 fixed)" in str(hunt)


@pytest.mark.parametrize(
    ("worst", "failing"), [("critical", {"critical", "major", "minor"}), ("major", {"major", "minor"})]
)
def test_the_status_depends_on_the_severity(worst: str, failing: set[str]) -> None:
    event = msgspec.structs.replace(TRAP, severity=worst)
    assert {level for level in SEVERITIES if fails([finding(1, event)], level)} == failing
    assert not fails([finding(1, event)], None)


def test_junit_has_a_failure_for_each_finding(hunt: HuntOutcome) -> None:
    suite = Xml.fromstring(junit(hunt.record, hunt.findings))
    assert (suite.get("tests"), suite.get("failures")) == ("3", "3")
    assert len(suite.findall("testcase/failure")) == 3
    clean = Xml.fromstring(junit(hunt.record, []))
    assert (clean.get("tests"), clean.get("failures")) == ("1", "0")


def test_markdown_is_a_table_that_messages_cannot_break(hunt: HuntOutcome) -> None:
    text = markdown(hunt.folder, hunt.record, hunt.findings)
    (row,) = [line for line in text.splitlines() if "alert" in line]
    assert row.replace("\\|", "").count("|") == 7
    assert "<script>" not in text
    assert "Seen, and not reproduced" in text


def test_github_gets_annotations_and_a_summary(
    hunt: HuntOutcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = annotations(hunt.findings)
    assert lines[2].startswith("::warning file=player.gd,line=12,title=hunt%3A script_error::")
    assert "50%25" in lines[2]
    assert all("\n" not in line for line in lines)
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    write_texts(hunt.folder, hunt.record, hunt.findings)
    assert not summary.exists()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    write_texts(hunt.folder, hunt.record, hunt.findings)
    assert "# Hunt in island" in summary.read_text()


def test_the_page_holds_everything(hunt: HuntOutcome) -> None:
    rng = np.random.default_rng(0)
    page = write_page(hunt.folder, hunt.record, hunt.findings, rng.normal(0, (4, 0.1, 3), (5000, 3)).astype(np.float32))
    text = page.read_text(encoding="utf-8")
    assert "<script>" not in text
    for words in ("Nil at the trap", "Coverage", "Timeline", "Explorers", "Budgets", "Seen, and not reproduced"):
        assert words in text
    assert text.count('class="finding"') == 3


@pytest.mark.skipif(chromium() is None, reason="needs Chromium")
def test_the_page_opens_in_a_browser(hunt: HuntOutcome) -> None:
    page = write_page(hunt.folder, hunt.record, hunt.findings, np.random.default_rng(0).random((99, 3), np.float32))
    with browser() as new_tab:
        tab = new_tab()
        tab.open(page.as_uri())
        assert tab.wait("document.querySelectorAll('.finding').length") == 3
        assert not tab.said


def test_a_flat_game_is_seen_from_the_side() -> None:
    flat = np.random.default_rng(0).random((100, 3), np.float32) * (9, 9, 0)
    assert axes_of(flat) == (0, 1)
    assert axes_of(flat[:, [0, 2, 1]]) == (0, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hunt"], "name what to hunt in"),
        (["hunt", "menu", "--fail-on", "mayor"], "did you mean major"),
        (["hunt", "menu", "--explorers", "stiky"], "did you mean sticky"),
        (["hunt", "menu", "--detect", "warnigs=true"], "did you mean warnings"),
        (["hunt", "menu", "--detect", "warnings"], "KEY=VALUE"),
        (["hunt", "menu", "--against", "nowhere"], "no hunt at nowhere"),
        (["hunt", "menu", "--minutes", "0"], "more than 0"),
        (["hunt", "--resume", "nowhere"], "hunt.json"),
        (["hunt", "mnu"], "did you mean menu"),
        (["reproduce", "findings/999"], "no finding at findings/999"),
    ],
)
def test_mistakes_are_one_line(words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, GodojoError)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)


def test_a_finding_of_the_newest_hunt_has_a_short_name(
    hunt: HuntOutcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "hunts").mkdir(parents=True)
    (home / "hunts/island").symlink_to(hunt.folder)
    monkeypatch.chdir(home)
    assert find_finding("findings/001") == Path("hunts/island/findings/001")
