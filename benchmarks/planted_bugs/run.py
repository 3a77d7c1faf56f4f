"""How many planted bugs a hunt finds: recall, time, false positives, replays and reduction.

    python3 dojo.py run benchmarks/planted_bugs/run.py --minutes 10
    python3 dojo.py run benchmarks/planted_bugs/run.py --games menu crowd --explorers random --minutes 2
    python3 dojo.py run benchmarks/planted_bugs/run.py --minutes 10 --missed
    python3 dojo.py run benchmarks/planted_bugs/run.py --clean 20 --minutes 10
    python3 dojo.py run benchmarks/planted_bugs/run.py --report

Every hunt adds one line to planted_bugs.jsonl (`--out`); those that are there are not played again. A bug counts as
found if one of the detectors that its file names has a finding which was replayed, and which no clean build of the game
has. With `--clean N`, unchanged copies are hunted with N seeds instead: every finding is a false positive.
"""

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from benchmarks.planted_bugs.bugs import Bug, clean_edits, patched_copy, read_bugs

TEAM = "team"
"""All explorers together."""
GRACE_S = 240.0
"""For the import before a hunt, and the report after it."""
POLL_S = 1.0
SHRINK_S = 60.0
"""For each finding, as in a hunt of ten minutes."""


class FoundEvent(msgspec.Struct, frozen=True):
    """Of a finding's `event`."""

    detector: str
    signature: str


class Found(msgspec.Struct, frozen=True):
    """What matters of a `finding.json`."""

    event: FoundEvent
    found_after_s: float
    replays: int
    reproduced: int
    original_actions: int
    minimal_actions: int
    original_steps: int
    minimal_steps: int
    attempt_actions: int


class Result(msgspec.Struct, frozen=True):
    """A line of the file: one hunt."""

    bug: str
    """Empty: a clean build."""
    game: str
    explorers: str
    seed: int
    minutes: float
    found: bool
    detectors: tuple[str, ...]
    """That found it."""
    seconds: float | None
    """Until it was first seen."""
    replays: int
    reproduced: int
    original_actions: int
    minimal_actions: int
    decisions: int
    original_steps: int = 0
    minimal_steps: int = 0
    attempt_actions: int = 0
    """Decisions of the attempt that met it, up to then."""
    load: float = 0.0
    """Processes that wanted a core, on average over the last minute of the hunt; this one is about two."""
    other: tuple[str, ...] = ()
    """Signatures of all other findings: of a clean build, false positives."""
    trouble: str = ""
    signatures: tuple[str, ...] = ()
    """Of the findings that are the bug."""

    @property
    def key(self) -> tuple[str, str, str, int, float]:
        return self.bug, self.game, self.explorers, self.seed, self.minutes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="*", default=[], help="by default all")
    parser.add_argument("--bugs", nargs="*", default=[], help="by default all of these games")
    parser.add_argument("--minutes", type=float, default=10.0, help="of each hunt (default: 10)")
    parser.add_argument("--explorers", nargs="*", default=[TEAM], help="team, random, sticky, archive, …, each alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--clean", type=int, default=0, metavar="SEEDS", help="hunt in clean builds with these many seeds"
    )
    parser.add_argument("--shrink", type=float, default=SHRINK_S, help="seconds for each finding (default: 60)")
    parser.add_argument("--missed", action="store_true", help="only bugs that are hunted already, and not found")
    parser.add_argument("--whole", action="store_true", help="hunt on after the bug is found")
    parser.add_argument("--out", type=Path, default=Path("planted_bugs.jsonl"))
    parser.add_argument("--keep", type=Path, help="keep the hunts' folders here")
    parser.add_argument("--report", action="store_true", help="print the table of what is there, and hunt nothing")
    wanted = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that hunts end with us
    bugs = [bug for bug in read_bugs() if bug.game in (wanted.games or [bug.game])]
    bugs = [bug for bug in bugs if bug.name in (wanted.bugs or [bug.name])]
    results = read_results(wanted.out)
    if not wanted.report:
        results = [result for result in results if result.decisions or not result.trouble]  # others are tried again
        done = {result.key for result in results}
        missed = {(one.bug, one.explorers, one.seed) for one in _best(results) if not one.found}
        for bug, game, explorers, seed in jobs(bugs, wanted.explorers, wanted.clean, wanted.seed):
            name = bug.name if bug else ""
            if (name, game.game, explorers, seed, wanted.minutes) in done:
                continue
            if wanted.missed and (name, explorers, seed) not in missed:
                continue
            until = () if wanted.whole or bug is None else tuple(bug.detectors)
            result = hunted(bug, game, explorers, seed, wanted.minutes, wanted.shrink, until=until, keep=wanted.keep)
            results.append(result)
            with wanted.out.open("ab") as file:
                file.write(msgspec.json.encode(result) + b"\n")
            say(line_of(result))
    say(summary(results))
    return 0


def jobs(bugs: list[Bug], explorers: list[str], seeds: int, seed: int) -> Iterator[tuple[Bug | None, Bug, str, int]]:
    """The bug to plant (None for a clean build), one of its game, the explorers, and a seed."""
    if seeds:
        first = {bug.game: bug for bug in reversed(bugs)}
        for number in range(seeds):
            for bug in first.values():
                for name in explorers:
                    yield None, bug, name, number
        return
    for bug in bugs:
        for name in explorers:
            yield bug, bug, name, seed


def hunted(
    bug: Bug | None,
    of_game: Bug,
    explorers: str,
    seed: int,
    minutes: float,
    shrink_s: float,
    *,
    until: tuple[str, ...],
    keep: Path | None,
) -> Result:
    """Hunts for a bug, until one of these detectors has a finding."""
    title = f"{bug.name if bug else f'clean-{of_game.game}'}-{explorers}-{seed}"
    with tempfile.TemporaryDirectory(prefix="planted-") as made:
        edits = [*clean_edits(of_game.game), *(bug.edits if bug else ())]
        project = patched_copy(Path(made, "project"), of_game.source, edits, imported=True)
        folder = Path(made, "hunt")
        words = ["--project", str(project), "--minutes", f"{minutes:g}", "--seed", str(seed), "--out", str(folder)]
        words += ["--fail-on", "never", "--no-clips", "--shrink", f"{shrink_s:g}"]
        words += ["--input-map"] if of_game.project else [of_game.game]
        words += [] if explorers == TEAM else ["--explorers", explorers]
        trouble = play(words, folder, until, minutes)
        result = judged(bug, of_game.game, explorers, seed, minutes, folder, trouble)
        if keep is not None and folder.exists():
            shutil.rmtree(keep / title, ignore_errors=True)
            shutil.copytree(folder, keep / title)
    return result


def play(words: list[str], folder: Path, until: tuple[str, ...], minutes: float) -> str:
    """Hunts, until one of these detectors has a finding if there are any; returns what went wrong, in a line."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "godojo", "hunt", *words],
            stdout=said, stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        deadline, is_asked = time.monotonic() + 60.0 * minutes + GRACE_S, False
        try:
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(POLL_S)
                if not is_asked and any(finding.event.detector in until for finding in findings(folder)):
                    is_asked = True
                    process.send_signal(signal.SIGINT)
                    deadline = min(deadline, time.monotonic() + GRACE_S)
            is_late = process.poll() is None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if is_late:
            return f"stopped {GRACE_S:.0f} s after its time"
        if process.returncode and not is_asked:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else f"exit status {process.returncode}"
    return ""


def findings(folder: Path) -> list[Found]:
    """Those that are written so far."""
    found = []
    for path in sorted(folder.glob("findings/*/finding.json")):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Found))
        except (OSError, msgspec.DecodeError):
            continue  # being written
    return found


def judged(bug: Bug | None, game: str, explorers: str, seed: int, minutes: float, folder: Path, trouble: str) -> Result:
    there = findings(folder)
    hits = [one for one in there if bug is not None and one.event.detector in bug.detectors]
    first = min(hits, key=lambda one: one.found_after_s, default=None)
    decisions = 0
    if (folder / "hunt.json").is_file():
        decisions = int(msgspec.json.decode((folder / "hunt.json").read_bytes()).get("decisions", 0))
    elif not trouble:
        trouble = "no hunt.json"
    return Result(
        bug=bug.name if bug else "",
        game=game,
        explorers=explorers,
        seed=seed,
        minutes=minutes,
        found=first is not None,
        detectors=tuple(dict.fromkeys(one.event.detector for one in hits)),
        seconds=None if first is None else first.found_after_s,
        replays=0 if first is None else first.replays,
        reproduced=0 if first is None else first.reproduced,
        original_actions=0 if first is None else first.original_actions,
        minimal_actions=0 if first is None else first.minimal_actions,
        decisions=decisions,
        original_steps=0 if first is None else first.original_steps,
        minimal_steps=0 if first is None else first.minimal_steps,
        attempt_actions=0 if first is None else first.attempt_actions,
        load=round(os.getloadavg()[0], 1),
        other=tuple(one.event.signature for one in there if one not in hits),
        trouble=trouble,
        signatures=tuple(one.event.signature for one in hits),
    )


def read_results(path: Path) -> list[Result]:
    if not path.is_file():
        return []
    return [msgspec.json.decode(line, type=Result) for line in path.read_bytes().splitlines() if line.strip()]


def line_of(result: Result) -> str:
    title = result.bug or f"clean {result.game}, seed {result.seed}"
    if result.found:
        what = f"found after {result.seconds:.0f} s by {', '.join(result.detectors)}"
        what += f", {result.reproduced} of {result.replays} replays, {result.original_steps} steps to"
        what += f" {result.minimal_steps}"
    else:
        what = "missed" if result.bug else f"{len(result.other)} findings"
    more = f" ({result.trouble})" if result.trouble else ""
    return f"{title} [{result.explorers}]: {what}, {result.decisions} decisions{more}"


def summary(results: list[Result]) -> str:
    """Tables in Markdown."""
    clean = [one for one in results if not one.bug]
    planted = _best([_without_false(one, clean) for one in results if one.bug])
    false = {signature for one in clean for signature in one.other}
    lines = [
        "| explorers | recall | median time to find | replays | steps left, median | actions left, median |",
        "|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(one.explorers for one in planted):
        of_name = [one for one in planted if one.explorers == name]
        hits = [one for one in of_name if one.found]
        times = f"{statistics.median(one.seconds or 0.0 for one in hits):.0f} s" if hits else ""
        replays = f"{sum(one.reproduced for one in hits)} of {sum(one.replays for one in hits)}" if hits else ""
        steps = _share([one.minimal_steps / max(one.original_steps, 1) for one in hits])
        actions = _share([one.minimal_actions / max(one.original_actions, 1) for one in hits])
        recall = f"{len(hits)} of {len(of_name)} ({100 * len(hits) / len(of_name):.0f} %)"
        lines.append(f"| {name} | {recall} | {times} | {replays} | {steps} | {actions} |")
    for minutes in sorted({one.minutes for one in results if one.bug}):
        within = [one for one in results if one.bug and one.minutes == minutes]
        found = ", ".join(
            f"{name} {sum(one.found for one in within if one.explorers == name)} of"
            f" {sum(one.explorers == name for one in within)}"
            for name in dict.fromkeys(one.explorers for one in within)
        )
        lines += ["", f"in hunts of {minutes:g} minutes: {found}"]
    lines += ["", *_by_game(planted)]
    later = {bug.name for bug in read_bugs() if bug.batch > 1}
    for name in dict.fromkeys(one.explorers for one in planted if one.bug in later):
        of_name = [one for one in planted if one.explorers == name and one.bug in later]
        found_later = sum(one.found for one in of_name)
        lines += ["", f"of these by {name}, bugs written after the detectors: {found_later} of {len(of_name)}"]
    for name in dict.fromkeys(one.explorers for one in planted):
        missed = [one.bug for one in planted if one.explorers == name and not one.found]
        lines += ["", f"missed by {name}: {', '.join(missed) or 'none'}"]
    if clean:
        bad = [one for one in clean if one.other]
        lines += [
            "",
            f"false positives: {sum(len(one.other) for one in clean)} in {len(bad)} of {len(clean)} clean hunts",
        ]
        lines += [f"- {signature}" for signature in sorted(false)]
    return "\n".join(lines)


def _best(results: list[Result]) -> list[Result]:
    """One of each bug: the hunt that found it, or else the longest."""
    best: dict[tuple[str, str, int], Result] = {}
    for one in results:
        key = one.bug, one.explorers, one.seed
        if key not in best or (one.found, one.minutes) > (best[key].found, best[key].minutes):
            best[key] = one
    return list(best.values())


def _by_game(planted: list[Result]) -> list[str]:
    names = list(dict.fromkeys(one.explorers for one in planted))
    lines = ["| game | bugs |" + "".join(f" {name} |" for name in names), "|---|---|" + "---|" * len(names)]
    for game in sorted({one.game for one in planted}):
        cells = []
        for name in names:
            of_name = [one for one in planted if one.game == game and one.explorers == name]
            missed = ", ".join(one.bug.removeprefix(f"{game}-") for one in of_name if not one.found)
            cells.append(f"{sum(one.found for one in of_name)}" + (f" (not {missed})" if missed else ""))
        bugs = len({one.bug for one in planted if one.game == game})
        lines.append(f"| {game} | {bugs} |" + "".join(f" {cell} |" for cell in cells))
    return lines


def _share(shares: list[float]) -> str:
    return f"{100 * statistics.median(shares):.1f} %" if shares else ""


def _without_false(result: Result, clean: list[Result]) -> Result:
    """Not found if all that was found is in clean builds of the game, too."""
    false = {signature for one in clean if one.game == result.game for signature in one.other}
    is_false = bool(result.signatures) and false.issuperset(result.signatures)
    return msgspec.structs.replace(result, found=False) if is_false else result


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
