"""Proof, shrinking, findings, stop, resume and comparison, in a small game."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.errors import GodojoError
from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive, Steps
from godojo.hunt.events import Event
from godojo.hunt.findings import HuntRecord, HuntSettings, read_finding, read_findings, read_hunt
from godojo.hunt.game import DetectorSettings, Target
from godojo.hunt.hunter import Hunt
from godojo.hunt.prove import prove
from godojo.hunt.shrink import Shrinker
from godojo.hunt.trace import Trace, read_trace, replay, without_lines, write_trace
from tests.hunted_grid import CRASH, FLAKY, TRAP, Grid

TARGET = Target(project=Path("grid"))


def wandering(event: Event, seed: int, **game: float) -> tuple[Trace, Archive]:
    """A random walk that ends with an event, long after the start, and what it showed on the way."""
    rng, archive = np.random.default_rng(seed), Archive()
    grid = Grid((event,), **game)
    space = ActionSpace(grid.action_parts)
    while True:
        steps = Steps(0, "random")
        seen = grid.reset(0)
        while not seen.events and len(steps.actions) < 2000:
            archive.visit(seen, steps)
            steps.actions.append(space.sample(rng))
            seen = grid.step(steps.actions[-1])
        if len(steps.actions) > 150 and seen.events:
            return steps.trace(), archive


@pytest.mark.parametrize("event", [TRAP, CRASH])
def test_a_walk_shrinks_to_what_matters(event: Event) -> None:
    shares = []
    for seed in range(5):
        trace, archive = wandering(event, seed) if event is TRAP else (_late_crash(seed), None)
        game = Grid((event,))
        shrunk = Shrinker(game, event.signature, np.zeros(2, np.float32), seconds=20, archive=archive).shrink(trace)
        assert shrunk.is_finished
        assert replay(Grid((event,)), shrunk.trace, event.signature).event == event
        assert len(shrunk.trace) <= (15 if event is TRAP else 6), "about as short as it can be"
        shares.append(len(shrunk.trace) / len(trace))
    assert np.median(shares) <= 0.08


def _late_crash(seed: int) -> Trace:
    """Walks about with the button up, then far enough, and holds it."""
    actions = np.zeros((400, 2), np.float32)
    actions[:390, 0] = np.random.default_rng(seed).integers(0, 5, 390)
    actions[386:394, 0] = 1
    actions[394:, 1] = 1
    return Trace(0, actions, "random")


def test_shrinking_stops_in_time() -> None:
    trace, _ = wandering(TRAP, 0)
    game = Grid((TRAP,))
    original = game.step

    def slow(action: np.ndarray) -> object:
        time.sleep(0.0005)
        return original(action)

    game.step = slow  # type: ignore[method-assign,assignment]
    started = time.monotonic()
    shrunk = Shrinker(game, TRAP.signature, np.zeros(2, np.float32), seconds=0.5).shrink(trace)
    assert time.monotonic() - started < 5
    assert replay(Grid((TRAP,)), shrunk.trace, TRAP.signature).event == TRAP


def test_what_does_not_happen_again_is_no_finding() -> None:
    trace, _ = wandering(TRAP, 0)
    assert prove(lambda: Grid(()), trace, TRAP, proofs=3, shrink_seconds=5) is None


def test_the_rate_of_a_flaky_event_is_stated() -> None:
    pressed = Trace(0, np.tile(np.array([[0, 0], [0, 1]], np.float32), (30, 1)), "random")
    proof = prove(lambda: Grid((FLAKY,), flaky=0.4), pressed, FLAKY, proofs=20, shrink_seconds=5)
    assert proof is not None
    assert 0 < proof.reproduced <= proof.replays == 20
    assert len(proof.minimal) < len(pressed)


def test_a_trace_is_a_file(tmp_path: Path) -> None:
    trace, parts = _late_crash(0), Grid().action_parts
    write_trace(tmp_path / "actions.json", trace, parts)
    read, read_parts = read_trace(tmp_path / "actions.json")
    assert np.array_equal(read.actions, trace.actions)
    assert (read.seed, read.explorer, read_parts) == (trace.seed, trace.explorer, parts)
    held = msgspec.json.decode((tmp_path / "actions.json").read_bytes())["actions"]
    assert len(held) < len(trace)
    with pytest.raises(GodojoError, match="no such file"):
        read_trace(tmp_path / "none.json")


def test_lines_of_scripts_may_move_between_builds() -> None:
    assert without_lines(TRAP.signature) == without_lines(TRAP.signature.replace(":7", ":19"))
    assert without_lines(TRAP.signature) != without_lines(TRAP.signature.replace("trap", "door"))


def hunted(folder: Path, opened: Callable[[], Grid] = Grid, *, stop_after: int | None = None, **how: object) -> Hunt:
    """A short hunt, stopped when it has found enough."""
    settings = HuntSettings(minutes=0.5, shrink_seconds=2.0, seed=1, processes=int(how.pop("processes", 1)))  # type: ignore[call-overload]
    hunt = Hunt(folder, TARGET, settings, DetectorSettings(), opened=opened, **how)  # type: ignore[arg-type]
    _run(hunt, stop_after or 2)
    return hunt


def _run(hunt: Hunt, enough: int) -> None:
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            if len(hunt.book.findings) >= enough:
                hunt.stop()

    threading.Thread(target=watch, daemon=True).start()
    try:
        hunt.run()
    finally:
        over.set()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hunt")
    hunted(folder, processes=2)
    return folder


def test_a_hunt_finds_proves_and_shrinks(found: Path) -> None:
    findings = {one.event.signature: one for one in read_findings(found)}
    assert findings.keys() == {TRAP.signature, CRASH.signature}
    for one in findings.values():
        assert one.reproduced == one.replays >= 2
        assert one.minimal_actions <= one.original_actions
        folder = found / one.folder
        trace, _ = read_trace(folder / "actions_minimal.json")
        assert replay(Grid(), trace, one.event.signature).event is not None
        assert {path.name for path in folder.iterdir()} >= {"log.txt", "state.json", "actions_original.json"}
    assert "SCRIPT ERROR" in (found / findings[TRAP.signature].folder / "log.txt").read_text()
    record = read_hunt(found)
    assert record.decisions > 0
    assert record.arrivals == record.returns
    assert not record.unproven


def test_a_stopped_hunt_resumes(found: Path) -> None:
    before, names = read_hunt(found), [one.number for one in read_findings(found)]
    hunt = Hunt.resumed(found, minutes=0.02, opened=Grid)
    assert len(hunt.archive.entries) > 10
    after = hunt.run()
    assert after.decisions > before.decisions
    assert after.seconds > before.seconds
    assert [one.number for one in read_findings(found)] == names, "known findings stay as they are"


def test_the_next_build_is_compared(found: Path, tmp_path: Path) -> None:
    moved = msgspec.structs.replace(TRAP, signature=TRAP.signature.replace(":7", ":12"))

    class NextBuild(Grid):
        """The crash is repaired, the trap's script has moved by some lines."""

        def __init__(self) -> None:
            super().__init__((TRAP,))

        def _seen(self) -> object:  # type: ignore[override]
            seen = super()._seen()
            return seen._replace(events=tuple(moved for _ in seen.events))

    hunt = hunted(tmp_path, NextBuild, stop_after=1, against=found)
    (still,) = read_findings(tmp_path)
    assert (still.event.signature, still.status) == (moved.signature, "still there")
    assert [one.event.signature for one in hunt.record.fixed] == [CRASH.signature]


def test_events_that_are_not_proven_are_told_apart(tmp_path: Path) -> None:
    class Haunted(Grid):
        """Something that happens once only."""

        happened = False

        def _seen(self) -> object:  # type: ignore[override]
            seen = super()._seen()
            if not Haunted.happened and self.steps > 20:
                Haunted.happened = True
                return seen._replace(events=(FLAKY,))
            return seen

    hunt = Hunt(tmp_path, TARGET, HuntSettings(minutes=0.02), DetectorSettings(), opened=lambda: Haunted(()))
    record = hunt.run()
    assert not read_findings(tmp_path)
    assert [one.event for one in record.unproven] == [FLAKY]


def test_a_game_that_cannot_be_opened_is_one_line(tmp_path: Path) -> None:
    def opened() -> Grid:
        raise GodojoError("no main scene")

    with pytest.raises(GodojoError, match="no main scene"):
        Hunt(tmp_path, TARGET, HuntSettings(minutes=0.1), DetectorSettings(), opened=opened).run()


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"minutes": 0}, "more than 0"), ({"processes": 0}, "1 process"), ({"explorers": ("stiky",)}, "sticky")],
)
def test_mistakes_are_refused(tmp_path: Path, settings: dict[str, object], message: str) -> None:
    with pytest.raises(GodojoError, match=message):
        Hunt(tmp_path, TARGET, msgspec.convert(settings, HuntSettings), DetectorSettings(), opened=Grid)


def test_a_folder_without_a_finding_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match=r"findings/001"):
        read_finding(tmp_path)
    with pytest.raises(GodojoError, match=r"hunt\.json"):
        read_hunt(tmp_path)


def test_the_record_has_defaults_for_what_later_versions_add() -> None:
    assert HuntRecord({}, HuntSettings(), DetectorSettings(), "").fixed == ()
