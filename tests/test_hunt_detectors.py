"""Detectors of a hunt without an engine: signatures, budgets, progress, and the probe's line."""

import json
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from godojo.bridge.messages import ConnectionLost, PeerTimeout, WireError
from godojo.errors import GodojoError
from godojo.games.parts import ActionPart
from godojo.hunt.budgets import BudgetDetector
from godojo.hunt.detectors import DetectorSettings, LogDetector, ProgressDetector, backtrace
from godojo.hunt.events import Event, event, is_same, node_pattern, text_pattern
from godojo.hunt.game import Target
from godojo.hunt.injection import has_autoloads, merged_classes, with_probe
from godojo.hunt.invariants import Invariant
from godojo.hunt.pace import Pace, Patience
from godojo.hunt.probe import METRICS, ProbeServer
from tests.conftest import ROOT
from tests.doc_pages import blocks

ERROR = """SCRIPT ERROR: Cannot call method 'hit' on <Node2D#{number}> at {number}.
   at: _physics_process (res://player.gd:17)
   GDScript backtrace (most recent call first):
       [0] _physics_process (res://player.gd:17)
WARNING: slow
   at: warn (core/x.cpp:3)
ERROR: 3 RID allocations of type 'X' were leaked at exit."""


def test_signatures_do_not_depend_on_the_run() -> None:
    def found(number: int, settings: DetectorSettings) -> list[tuple[str, str]]:
        lines = ERROR.format(number=number).splitlines()
        return [(one.detector, one.signature) for one in LogDetector(settings).read(lines, is_end=True)]

    quiet, loud = DetectorSettings(), DetectorSettings(warnings=True)
    assert found(123, quiet) == found(99_881, quiet)
    assert [detector for detector, _ in found(1, quiet)] == ["script_error"]
    assert [detector for detector, _ in found(1, loud)] == ["script_error", "warning"]
    assert found(1, quiet)[0][1].startswith("script_error|res://player.gd:17|")
    assert node_pattern("/root/Level/@Area2D@37/Enemy12") == node_pattern("/root/Level/@Area2D@9/Enemy3")
    assert text_pattern("at 0x7f12 after -1.5e3 s") == text_pattern("at 0x99 after 2 s")
    assert event("crash", "gone").severity == "critical"


def test_a_freeze_may_not_tell_where_it_hangs() -> None:
    somewhere, elsewhere = (
        event("freeze", "hangs", place=f"res://{name}.gd:_run", pattern="no answer") for name in "ab"
    )
    nowhere = event("freeze", "hangs", pattern="no answer")
    assert is_same(somewhere.signature, nowhere.signature)
    assert is_same(nowhere.signature, elsewhere.signature)
    assert not is_same(somewhere.signature, elsewhere.signature)
    assert not is_same(nowhere.signature, event("crash", "killed").signature)


def test_a_flood_is_read_in_part() -> None:
    lines = ERROR.format(number=1).splitlines() * 4000
    assert len(list(LogDetector(DetectorSettings()).read(lines, is_end=True))) < 1000


def test_a_backtrace_is_the_last_one() -> None:
    lines = [line.strip() for line in ERROR.format(number=1).splitlines()]
    lines += ["GDScript backtrace (most recent call first):", "[0] _spin (res://a.gd:4)", "[1] _ready (res://b.gd:7)"]
    assert [str(frame) for frame in backtrace(lines)] == ["_spin (res://a.gd:4)", "_ready (res://b.gd:7)"]


@pytest.mark.parametrize(
    ("varies", "changes", "moves", "expected"),
    [
        (True, False, False, ["softlock"]),
        (False, False, False, []),
        (True, True, False, []),
        (True, True, True, ["stuck"]),
    ],
)
def test_softlock_and_stuck(varies: bool, changes: bool, moves: bool, expected: list[str]) -> None:
    detector = ProgressDetector(DetectorSettings(softlock_decisions=40, stuck_decisions=60))
    found: list[Event] = []
    for step in range(100):
        action = np.full(2, step % 17 if varies else 0, np.float32)
        place = np.full(3, step if moves and step < 5 else 0, np.float32)
        found += detector.look(action, bytes([step % 251]) if changes else b"", place)
    assert [one.detector for one in found] == expected


@pytest.mark.parametrize(("still", "is_stuck"), [(60, True), (20, False)])
def test_a_round_that_ends_where_it_stood(still: int, is_stuck: bool) -> None:
    """Rounds of 80 decisions, which are shorter than `stuck_decisions`."""
    detector = ProgressDetector(DetectorSettings())
    found: list[Event] = []
    for step in range(1, 241):
        at = step % 80
        place = np.full(3, min(at, 80 - still), np.float32)
        found += detector.look(np.full(2, step % 17, np.float32), bytes([step]), place, ended=at == 0)
    assert [one.signature for one in found] == ["stuck|it has not moved, whatever was done"] * 3 * is_stuck


@pytest.mark.parametrize(("low", "is_stuck"), [(-1.0, True), (0.0, False)])
def test_whatever_was_done_is_everything(low: float, is_stuck: bool) -> None:
    """Pushing against a wall in one direction only says nothing."""
    detector = ProgressDetector(DetectorSettings(stuck_decisions=60))
    detector.parts = (ActionPart("move", "continuous", 1), ActionPart("button", "discrete", 2))
    detector.begin()
    found: list[Event] = []
    for step in range(100):
        action = np.array([1.0 if step % 4 < 2 else low, step % 2], np.float32)
        place = np.full(3, min(step, 5), np.float32)
        found += detector.look(action, bytes([step]), place)
    assert [one.detector for one in found] == ["stuck"] * is_stuck


def test_patience_follows_the_pace_of_the_game() -> None:
    pace = Pace()
    assert pace.answer_s(10.0, is_hurried=True) == 3.0, "nothing is known yet"
    assert pace.start_s(10.0, is_hurried=False) == 60.0
    for _ in range(60):
        pace.note_answer(0.01)
    assert pace.answer_s(10.0, is_hurried=True) == 1.0
    assert pace.answer_s(10.0, is_hurried=False) == 10.0, "only what is known to freeze is hurried"
    pace.note_answer(0.5)
    pace.note_start(2.0)
    assert pace.answer_s(10.0, is_hurried=True) == 4.0
    assert pace.answer_s(2.0, is_hurried=True) == 2.0
    assert (pace.start_s(10.0, is_hurried=True), pace.start_s(10.0, is_hurried=False)) == (16.0, 16.0)


def test_a_game_that_waits_for_a_processor_is_not_frozen() -> None:
    waited_ms = [500.0]
    patience = Patience(0.0, lambda: waited_ms[0])
    assert patience.left_s <= 0
    patience = Patience(1.0, lambda: waited_ms[0])
    waited_ms[0] += 3000.0
    assert 3.5 < patience.left_s <= 4.0
    waited_ms[0] += 1e6
    assert patience.left_s <= 6.0, "not for ever"


def test_budgets_count_from_the_start_and_forgive_the_usual() -> None:
    budgets = DetectorSettings(frame_budget_ms=60, node_budget=100, memory_budget_mb=50)
    detector = BudgetDetector(budgets, slowness=lambda: 1.0)
    metrics = {"orphans": 0.0, "memory_mb": 30.0, "objects": 900.0, "nodes": 50.0}
    found: list[Event] = []
    for step in range(100):
        found += detector.look(metrics, 70.0 if step % 50 == 0 else 40.0)
    assert not found, "a game may be slow, and now and then a bit slower"
    found += detector.look({**metrics, "memory_mb": 90.0}, 101.0)
    assert {one.detector for one in found} == {"frame_budget", "memory_budget"}
    found = []
    for _ in range(10):
        found += detector.look(metrics, 62.0)
    assert {one.detector for one in found} == {"frame_budget"}


@pytest.mark.parametrize(
    ("late_ms", "more", "slowness", "is_found"),
    [
        (76.0, {}, 1.0, True),
        (76.0, {}, 2.0, False),
        (76.0, {"nodes": 53.0}, 1.0, False),
        (76.0, {"objects": 912.0}, 1.0, False),
        (76.0, {"memory_mb": 30.1}, 1.0, False),
        (130.0, {"nodes": 53.0}, 1.0, True),
        (130.0, {"nodes": 53.0}, 1.5, False),
    ],
)
def test_a_hitch_is_one_where_nothing_is_streamed(
    late_ms: float, more: dict[str, float], slowness: float, is_found: bool
) -> None:
    detector = BudgetDetector(DetectorSettings(), slowness=lambda: slowness)
    metrics = {"orphans": 0.0, "memory_mb": 30.0, "objects": 900.0, "nodes": 50.0}
    assert not [one for _ in range(100) for one in detector.look(metrics, 2.0)]
    found = [one.detector for one in detector.look({**metrics, **more}, 2.0 + late_ms)]
    assert found == ["frame_budget"] * is_found


def test_nodes_leak_when_they_never_go() -> None:
    def found(count: Callable[[int], float]) -> list[str]:
        detector = BudgetDetector(DetectorSettings(node_budget=100))
        metrics = {"orphans": 0.0, "memory_mb": 30.0, "objects": 900.0}
        events = [one for step in range(400) for one in detector.look({**metrics, "nodes": count(step)}, 1.0)]
        return sorted({one.detector for one in events})

    assert found(lambda step: 50.0 + step) == ["node_leak"]
    assert found(lambda step: 50.0 + 3000.0 * (step % 90 > 20)) == []


def test_the_probe_is_the_first_autoload() -> None:
    plain = 'config_version=5\n\n[application]\n\nconfig/name="x"\n'
    loaded = plain + '\n[autoload]\n\nState="*res://state.gd"\n\n[input]\n'
    assert not has_autoloads(plain)
    assert has_autoloads(loaded)
    text = with_probe(loaded)
    assert text.index("DojoProbe=") < text.index("State=")
    assert with_probe(plain).count("[autoload]") == 1


def test_class_names_are_added_once() -> None:
    theirs = 'list=[{\n"class": &"DojoSync",\n"path": "res://mine.gd"\n}]'
    ours = (
        'list=[{\n"class": &"DojoSync",\n"path": "res://addons/godojo/sync/dojo_sync.gd"\n}, '
        '{\n"class": &"DojoAgent",\n"path": "res://addons/godojo/agents/dojo_agent.gd"\n}, '
        '{\n"class": &"Arena",\n"path": "res://games/arena.gd"\n}]'
    )
    merged = merged_classes(theirs, ours)
    assert (merged.count("DojoSync"), merged.count("DojoAgent"), merged.count("Arena")) == (1, 1, 0)


def test_invariants_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.py"
    file.write_text(
        "def alive(state): return state['health'] > 0\n"
        "def told(state): return 'too many nodes' if state['nodes'] > 5 else True\n"
        "def broken(state): return state['nothing']\n"
    )
    assert not list(Invariant(f"{file}:alive").check({"health": 1}))
    (found,) = Invariant(f"{file}:alive").check({"health": 0})
    assert found.signature == "invariant|rules.py:alive|alive does not hold"
    (found,) = Invariant(f"{file}:told").check({"nodes": 9})
    assert found.message == "too many nodes"
    with pytest.raises(GodojoError, match=r"broken failed: KeyError.*line 3"):
        list(Invariant(f"{file}:broken").check({}))
    with pytest.raises(GodojoError, match="has no function 'live'; did you mean alive"):
        Invariant(f"{file}:live")
    with pytest.raises(GodojoError, match=r"write it as file\.py:function"):
        Invariant("rules")


def test_the_rule_of_the_page(tmp_path: Path) -> None:
    (program,) = [one.text for one in blocks(ROOT / "docs/hunt-detectors.md") if one.language == "python"]
    file = tmp_path / "rules.py"
    file.write_text(program)
    rule = Invariant(f"{file}:in_range")
    assert not list(rule.check({"bodies": {"Ball": {"position": (0.0, 5.0, 0.0)}}}))
    (found,) = rule.check({"bodies": {"Ball": {"position": (0.0, 51.0, 0.0)}}})
    assert found.message == "Ball flies"


def test_a_target_is_one_thing(tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match="give one of them"):
        Target()
    with pytest.raises(GodojoError, match="give one of them"):
        Target(game="tag", binary=tmp_path)
    with pytest.raises(GodojoError, match="did you mean tag"):
        Target(game="tga")


def _report(words: object, numbers: bytes = b"") -> bytes:
    text = json.dumps(words).encode()
    return struct.pack("<II", len(text), len(numbers)) + text + numbers


def test_the_probe_shows_its_token_and_is_bounded() -> None:
    server = ProbeServer()
    try:
        with socket.create_connection(("127.0.0.1", server.port)) as stranger:
            stranger.sendall(_report({"token": "wrong"}))
            with pytest.raises(PeerTimeout):
                server.read(0.2)
        with socket.create_connection(("127.0.0.1", server.port)) as probe:
            probe.sendall(_report({"token": server.token}))
            numbers = np.arange(len(METRICS) + 5, dtype="<f4").tobytes()
            said = _report({"scene": "res://a.tscn", "events": [{"detector": "nan"}]}, numbers)
            probe.sendall(said + struct.pack("<II", 0, len(numbers)) + numbers)
            report = server.read(5.0)
            assert [one["detector"] for one in report.events] == ["nan"]
            assert (report.scene, report.state.tolist()) == ("res://a.tscn", [11.0, 12.0])
            probe.sendall(struct.pack("<II", 2**31, 0))
            with pytest.raises(WireError, match="at most"):
                server.read(5.0)
        server.begin()
        with socket.create_connection(("127.0.0.1", server.port)) as probe:
            probe.sendall(_report({"token": server.token}))
        with pytest.raises(ConnectionLost):
            server.read(5.0)
    finally:
        server.close()
