"""Whether findings replay, and how short their steps are.

    python3 dojo.py run benchmarks/hunt_replays.py --minutes 1 --times 20
    python3 dojo.py run benchmarks/hunt_replays.py --bugs first_agent-sparks crowd-last_walker
    python3 dojo.py run benchmarks/hunt_replays.py --folders hunts/* --times 20
    python3 dojo.py run benchmarks/hunt_replays.py --folders kept/* --times 20  # of planted_bugs/run.py --keep kept
    python3 dojo.py run benchmarks/hunt_replays.py --report

Plants bugs (benchmarks/planted_bugs) one after the other, hunts in each for a while, and replays every finding in a
fresh process, `--times` times. `--folders` replays the findings of hunts that are there instead; `--times 0` counts
their own replays. Every finding is a line of hunt_replays.jsonl (`--out`); bugs that have one are not played again.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.planted_bugs.bugs import Bug, clean_edits, patched_copy, read_bugs
from godojo.api.hunting import hunt_bugs
from godojo.errors import GodojoError
from godojo.hunt.findings import Finding, read_findings
from godojo.hunt.reproduce import reproduce

BUGS = (
    "bug_reproduction-wrap_freeze", "cat_and_mouse-open_field", "cat_and_mouse-paw", "cat_and_mouse-wall_slide",
    "coin_shop-bounce_nan", "crowd-last_walker", "crowd-removed_walker", "crowd-walker_mask", "first_agent-edge_brake",
    "first_agent-kill_plane", "first_agent-score", "first_agent-sparks", "landing-impact_timer",
    "locomotion-open_wall", "locomotion-turn_crash", "menu-brightness_gamma", "menu-slider_range",
    "physics_stress-strong_throw",
)  # fmt: skip
"""One or more of each game."""


class Replayed(msgspec.Struct, frozen=True):
    """A line of the file: a finding."""

    bug: str
    signature: str
    times: int
    hits: int
    original_steps: int
    original_actions: int
    attempt_actions: int
    minimal_steps: int
    minimal_actions: int
    minimal_waits: int
    is_minimal: bool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bugs", nargs="*", default=BUGS, help="by default one or more of each game")
    parser.add_argument("--folders", nargs="*", type=Path, default=[], help="hunts that are there")
    parser.add_argument("--minutes", type=float, default=1.0, help="of each hunt (default: 1)")
    parser.add_argument("--times", type=int, default=20, help="replays of each finding (default: 20)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("hunt_replays.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the figures of what is there, and hunt nothing")
    wanted = parser.parse_args()
    there = [msgspec.json.decode(line, type=Replayed) for line in _lines(wanted.out)]
    if wanted.folders:
        done = {one.bug for one in there}
        for folder in wanted.folders:
            if folder.name not in done:
                add(wanted.out, there, kept(folder, wanted.times))
    elif not wanted.report:
        known = {bug.name: bug for bug in read_bugs()}
        for name in wanted.bugs:
            if name not in {one.bug for one in there}:
                add(wanted.out, there, hunted(known[name], wanted.minutes, wanted.times, wanted.seed))
    say(summary(there))
    return 0


def hunted(bug: Bug, minutes: float, times: int, seed: int) -> list[Replayed]:
    with tempfile.TemporaryDirectory(prefix="replays-") as made:
        project = patched_copy(Path(made, "project"), bug.source, [*clean_edits(bug.game), *bug.edits])
        how = {"input_map": True} if bug.project else {"game": bug.game}
        folder = Path(made, "hunt")
        try:
            hunt_bugs(project=project, minutes=minutes, seed=seed, clips=False, folder=folder, **how)
            return replayed(bug.name, folder, times)
        except GodojoError as error:
            say(f"{bug.name}: {error}")
            return []


def kept(folder: Path, times: int) -> list[Replayed]:
    """The findings of a hunt; of one that `planted_bugs/run.py` has kept, in a copy with its bug."""
    bug = {bug.name: bug for bug in read_bugs()}.get(folder.name.rsplit("-", 2)[0])
    if bug is None or not times:
        return replayed(folder.name, folder, times)
    with tempfile.TemporaryDirectory(prefix="replays-") as made:
        project = patched_copy(Path(made, "project"), bug.source, [*clean_edits(bug.game), *bug.edits], imported=True)
        return replayed(folder.name, folder, times, project)


def replayed(name: str, folder: Path, times: int, project: Path | None = None) -> list[Replayed]:
    found = []
    for finding in read_findings(folder):
        hits, tries = finding.reproduced, finding.replays
        if times:
            (_, hits), tries = reproduce(folder / finding.folder, times=times, project=project), times
        found.append(_line(name, finding, tries, hits))
        one = found[-1]
        say(
            f"{name} {one.signature}: {hits} of {tries}, {one.minimal_steps} of {one.original_steps} steps,"
            f" {one.minimal_actions} of {one.original_actions} actions"
        )
    return found


def _line(bug: str, finding: Finding, times: int, hits: int) -> Replayed:
    names = [name for name in Replayed.__struct_fields__ if hasattr(finding, name)]
    fields = {name: getattr(finding, name) for name in names}
    return Replayed(bug=bug, signature=finding.event.signature, times=times, hits=hits, **fields)


def add(path: Path, there: list[Replayed], more: list[Replayed]) -> None:
    there += more
    with path.open("ab") as file:
        for one in more:
            file.write(msgspec.json.encode(one) + b"\n")


def summary(found: list[Replayed]) -> str:
    """The figures of docs/hunt.md."""
    if not found:
        return "nothing was found"
    steps = [one.minimal_steps / max(one.original_steps, 1) for one in found]
    actions = [one.minimal_actions / max(one.original_actions, 1) for one in found]
    attempt = [one.minimal_actions / max(one.attempt_actions, 1) for one in found]
    whole = sum(one.hits == one.times for one in found)
    return "\n".join(
        [
            f"{len(found)} findings of {len({one.bug for one in found})} bugs; {whole} replay every time, "
            f"{sum(one.hits for one in found)} of {sum(one.times for one in found)} replays",
            f"steps: {statistics.median(one.minimal_steps for one in found):g} in the median,"
            f" {100 * statistics.median(steps):.1f} % of those since the game was opened",
            f"actions: {statistics.median(one.minimal_actions for one in found):g} in the median,"
            f" {100 * statistics.median(actions):.1f} % of those since the game was opened,"
            f" {100 * statistics.median(attempt):.0f} % of those since the last reset",
            f"shrunk to the end: {sum(one.is_minimal for one in found)}",
        ]
    )


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.is_file() else []


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
