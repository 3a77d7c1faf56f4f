"""Proof, shrinking, findings, stop, resume and comparison, in a small game."""

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.errors import GodojoError
from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive, Steps
from godojo.hunt.events import Event
from godojo.hunt.findings import HuntRecord, HuntSettings, read_finding, read_findings, read_hunt
from godojo.hunt.game import DetectorSettings, Seen, Target
from godojo.hunt.hunter import Hunt
from godojo.hunt.merge import merge_hunts
from godojo.hunt.prove import Prover
from godojo.hunt.shrink import Shrinker, Shrunk
from godojo.hunt.steps import described
from godojo.hunt.trace import Trace, effort_of, read_trace, replay, without_lines, write_trace
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


def shrunk(game: Grid, trace: Trace, event: Event, *, seconds: float = 20, archive: Archive | None = None) -> Shrunk:
    space = ActionSpace(game.action_parts)
    shrinker = Shrinker(lambda shorter: replay(game, shorter, event.signature), space, seconds=seconds, archive=archive)
    return shrinker.shrink(trace, replay(game, trace, event.signature))


@pytest.mark.parametrize(("event", "steps", "actions"), [(TRAP, 2, 13), (CRASH, 2, 6)])
def test_a_walk_shrinks_to_what_matters(event: Event, steps: int, actions: int) -> None:
    shares = []
    for seed in range(5):
        trace, archive = wandering(event, seed) if event is TRAP else (_late_crash(seed), None)
        small = shrunk(Grid((event,)), trace, event, archive=archive)
        assert small.is_finished
        assert replay(Grid((event,)), small.trace, event.signature).event == event
        assert (small.effort.steps, small.effort.actions) == (steps, actions), "as short as it can be"
        shares.append(small.effort.actions / effort_of(trace, np.zeros(2, np.float32)).actions)
    assert np.median(shares) <= 0.05


def _late_crash(seed: int) -> Trace:
    """Walks about with the button up, then far enough, and holds it."""
    actions = np.zeros((400, 2), np.float32)
    actions[:390, 0] = np.random.default_rng(seed).integers(0, 5, 390)
    actions[386:394, 0] = 1
    actions[394:, 1] = 1
    return Trace(0, actions, "random")


class Worn(Grid):
    """Something that outlives a reset: the fourth press of the button in a process fails."""

    def __init__(self) -> None:
        super().__init__(())
        self.presses = 0

    def step(self, action: np.ndarray) -> Seen:
        seen = super().step(action)
        self.presses += int(action[1])
        return seen._replace(events=(FLAKY,)) if action[1] and self.presses == 4 else seen


def test_what_outlives_a_reset_is_replayed_with_the_episodes_before() -> None:
    rng = np.random.default_rng(0)
    walks = [np.stack([rng.integers(0, 5, 40), np.arange(40) == 20], 1).astype(np.float32) for _ in range(9)]
    episodes = tuple(Trace(number, walk, "random") for number, walk in enumerate(walks))
    still, earlier = Trace(9, np.zeros((10, 2), np.float32), "random"), episodes[:3]
    last = Trace(3, walks[3][:21], "random")
    assert Prover(Worn, proofs=2).prove(last, FLAKY, shrink_seconds=5) is None, "it needs what was before"
    proof = Prover(Worn, proofs=2).prove(last, FLAKY, shrink_seconds=20, earlier=(*earlier[:2], still, earlier[2]))
    assert proof is not None
    assert (proof.reproduced, proof.replays) == (2, 2)
    assert len(proof.minimal.earlier) == 3, "the episode in which nothing was pressed is left out"
    assert all(len(one) == 1 for one in (*proof.minimal.earlier, proof.minimal))


def test_episodes_before_are_part_of_the_file(tmp_path: Path) -> None:
    trace = _late_crash(0).after((_late_crash(1), _late_crash(2)))
    write_trace(tmp_path / "actions.json", trace, Grid().action_parts)
    read, _ = read_trace(tmp_path / "actions.json")
    assert [one.seed for one in read.earlier] == [one.seed for one in trace.earlier]
    assert np.array_equal(read.earlier[1].actions, trace.earlier[1].actions)


class Locked(Grid):
    """Nothing moves any more after three presses in a row at rest, far from the start; seen after 30 decisions."""

    def reset(self, seed: int) -> Seen:
        self._pressed = self._still = 0
        return self._plain(super().reset(seed))

    def step(self, action: np.ndarray) -> Seen:
        is_press = tuple(action) == (0.0, 1.0) and self._place[0] >= 6
        self._pressed = 3 if self._pressed == 3 else self._pressed + 1 if is_press else 0
        self._still += self._pressed == 3
        seen = super().step(np.zeros(2, np.float32) if self._pressed == 3 else action)
        return self._plain(seen)._replace(events=(LOCKED,) if self._still == 30 else ())

    @staticmethod
    def _plain(seen: Seen) -> Seen:
        """Only the place is seen, not the button."""
        return seen._replace(state=seen.state[:2])


LOCKED = Event("softlock", "softlock|nothing", "major", "nothing has changed")


def test_a_standstill_is_waiting() -> None:
    rng = np.random.default_rng(3)
    noise = np.stack([rng.integers(0, 5, 40), rng.integers(0, 2, 40)], 1)
    walk = np.concatenate([np.tile([[3, 0], [4, 0], [1, 0]], (6, 1)), np.tile([[0, 1]], (3, 1)), noise])
    small = shrunk(Locked(()), Trace(0, walk.astype(np.float32), "random"), LOCKED)
    lines = described(small.trace, Grid().action_parts, small.tail)
    assert lines[:2] == ("start with seed 0", "move=1 for 5 decisions")
    assert lines[2].startswith("button=1 for ")
    assert lines[-1].startswith("try anything for ")
    assert small.is_finished
    assert small.effort.steps == 2
    assert small.effort.actions <= 9, "five steps and three presses; one more where the standstill is noticed late"


def test_late_findings_are_shrunk_at_the_end(tmp_path: Path) -> None:
    settings = HuntSettings(minutes=0.1, shrink_seconds=0.0, seed=1)
    Hunt(tmp_path, TARGET, settings, DetectorSettings(), opened=lambda: Grid((TRAP,))).run()
    (finding,) = read_findings(tmp_path)
    assert finding.minimal_actions < finding.attempt_actions
    assert finding.reproduced == finding.replays


def test_hunts_are_merged_by_signature(tmp_path: Path) -> None:
    for number, events in enumerate([(TRAP,), (TRAP, CRASH)]):
        settings = HuntSettings(minutes=0.5, shrink_seconds=1.0, seed=number)
        hunt = Hunt(tmp_path / str(number), TARGET, settings, DetectorSettings(), opened=partial(Grid, events))
        _run(hunt, len(events))
    sampled = merge_hunts(tmp_path / "all", [tmp_path / "0", tmp_path / "1", tmp_path / "2"])
    parts = [read_hunt(tmp_path / "0"), read_hunt(tmp_path / "1")]
    merged = read_hunt(tmp_path / "all")
    assert merged.decisions == sum(part.decisions for part in parts)
    assert len(sampled) > 10
    findings = read_findings(tmp_path / "all")
    assert sorted(one.event.signature for one in findings) == sorted([TRAP.signature, CRASH.signature])
    assert [one.number for one in findings] == [1, 2]
    for one in findings:
        trace, _ = read_trace(tmp_path / "all" / one.folder / "actions_minimal.json")
        assert replay(Grid(), trace, one.event.signature).event is not None


def test_shrinking_stops_in_time() -> None:
    trace, _ = wandering(TRAP, 0)
    game = Grid((TRAP,))
    original = game.step

    def slow(action: np.ndarray) -> object:
        time.sleep(0.0005)
        return original(action)

    game.step = slow  # type: ignore[method-assign,assignment]
    started = time.monotonic()
    small = shrunk(game, trace, TRAP, seconds=0.5)
    assert time.monotonic() - started < 5
    assert not small.is_finished
    assert replay(Grid((TRAP,)), small.trace, TRAP.signature).event == TRAP


def test_what_does_not_happen_again_is_no_finding() -> None:
    trace, _ = wandering(TRAP, 0)
    assert Prover(lambda: Grid(()), proofs=3).prove(trace, TRAP, shrink_seconds=5) is None


@pytest.mark.parametrize("is_busy", [True, False])
def test_a_hitch_counts_where_it_was(is_busy: bool) -> None:
    """A busy machine makes hitches now and then; those of the game come with the same action."""
    late = Event("frame_budget", "frame_budget|late", "minor", "late")
    luck = np.random.default_rng(0)

    class Hitching(Grid):
        def step(self, action: np.ndarray) -> Seen:
            seen = super().step(action)
            hitches = luck.random() < 0.02 if is_busy else action[1] > 0.5
            return seen._replace(events=(late,)) if hitches else seen

    actions = np.zeros((300, 2), np.float32)
    actions[-1, 1] = 1.0
    proof = Prover(lambda: Hitching(()), proofs=5).prove(Trace(0, actions), late, shrink_seconds=5)
    assert (proof is None) == is_busy


@pytest.mark.parametrize("only_slow", [True, False])
def test_a_freeze_is_replayed_in_a_hurry_and_proven_patiently(only_slow: bool) -> None:
    """A game that only takes long looks frozen to those in a hurry; that is no finding."""
    frozen = Event("freeze", "freeze|res://a.gd:_spin|no answer", "critical", "no answer")
    patient = []

    class Slow(Grid):
        def step(self, action: np.ndarray) -> Seen:
            seen = super().step(action)
            if action[1] > 0.5 and not (only_slow and not self.is_hurried):
                patient.append(not self.is_hurried)
                self.is_lost = True
                return seen._replace(events=(frozen,))
            return seen

    actions = np.zeros((40, 2), np.float32)
    actions[20:, 1] = 1.0
    proof = Prover(lambda: Slow(()), proofs=5).prove(Trace(0, actions), frozen, shrink_seconds=5)
    if only_slow:
        assert proof is None
    else:
        assert proof is not None
        assert (proof.reproduced, proof.replays, proof.effort.steps) == (5, 5, 1)
        assert sum(patient) == 1, "one replay waits as long as the hunt did"


class BrokenStart(Grid):
    """Every other game is lost at its start."""

    def reset(self, seed: int) -> Seen:
        seen = super().reset(seed)
        if seed % 2:
            self.is_lost = True
            return seen._replace(events=(CRASH,))
        return seen


def test_a_game_that_is_lost_at_its_start_is_a_finding(tmp_path: Path) -> None:
    settings = HuntSettings(minutes=0.2, shrink_seconds=1.0, seed=3)
    Hunt(tmp_path, TARGET, settings, DetectorSettings(), opened=lambda: BrokenStart(())).run()
    (found,) = read_findings(tmp_path)
    assert (found.event, found.minimal_steps, found.rate, found.seed % 2) == (CRASH, 0, 1.0, 1)


def test_a_game_that_never_starts_ends_the_hunt_with_its_finding(tmp_path: Path) -> None:
    class Broken(BrokenStart):
        def reset(self, seed: int) -> Seen:
            return super().reset(2 * seed + 1)

    settings = HuntSettings(minutes=0.2, shrink_seconds=1.0)
    record = Hunt(tmp_path, TARGET, settings, DetectorSettings(), opened=lambda: Broken(())).run()
    assert "cannot be played" in record.trouble
    assert [one.event for one in read_findings(tmp_path)] == [CRASH]


def test_the_rate_of_a_flaky_event_is_stated() -> None:
    pressed = Trace(0, np.tile(np.array([[0, 0], [0, 1]], np.float32), (30, 1)), "random")
    proof = Prover(lambda: Grid((FLAKY,), flaky=0.4), proofs=20).prove(pressed, FLAKY, shrink_seconds=5)
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
    assert record.arrivals >= 0.9 * record.returns, "cells may be formed anew on the way"
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
        Hunt(tmp_path / "hunt", TARGET, HuntSettings(minutes=0.1), DetectorSettings(), opened=opened).run()
    assert not (tmp_path / "hunt").exists(), "the same command works once the game does"


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
