"""Several hunts in the same game as one: findings by signature, the best proof of each."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from godojo.documents import write_document
from godojo.files import make_folder
from godojo.formats import FINDING
from godojo.hunt.archive import SAMPLES, Archive
from godojo.hunt.findings import (
    FINDING_FILE,
    HUNT_FILE,
    Finding,
    HuntRecord,
    Moment,
    Unproven,
    read_findings,
    read_hunt,
    write_hunt,
)
from godojo.hunt.hunter import ARCHIVE
from godojo.hunt.team import Share

_COUNTED = ("decisions", "attempts", "launches", "returns", "arrivals", "uncounted")


def merge_hunts(folder: Path, parts: Sequence[Path], *, trouble: str = "") -> np.ndarray:
    """Writes `hunt.json` and the findings of all parts; returns positions that were visited, float32 [n, 3].

    A part that has not begun is left out; without any, there is nothing to merge. `trouble` is what ended some early.
    """
    begun = [part for part in parts if (part / HUNT_FILE).is_file()]
    findings = _best(begun)
    for number, (source, finding) in enumerate(findings, 1):
        merged = msgspec.structs.replace(finding, number=number)
        place = make_folder(folder / merged.folder)
        for path in (source / finding.folder).iterdir():
            if path.name != FINDING_FILE:
                shutil.copy2(path, place / path.name)
        write_document(place / FINDING_FILE, FINDING, merged)
    if begun:
        record = _record([read_hunt(part) for part in begun], [one for _, one in findings])
        write_hunt(folder, msgspec.structs.replace(record, trouble=trouble or record.trouble))
    return _sampled(begun)


def _best(parts: Sequence[Path]) -> list[tuple[Path, Finding]]:
    """Of each signature, the finding with the best rate, then with the fewest steps; in the order of discovery."""
    found: dict[str, tuple[Path, Finding]] = {}
    for part in parts:
        for one in read_findings(part):
            name = one.event.signature
            known = found.get(name, (part, one))[1]
            best = min((known, one), key=lambda each: (-each.rate, each.minimal_steps, each.minimal_actions))
            source = part if best is one else found[name][0]
            seen = one.times_seen + (known.times_seen if name in found else 0)
            first_s = min(known.found_after_s, one.found_after_s)
            found[name] = source, msgspec.structs.replace(best, times_seen=seen, found_after_s=first_s)
    return sorted(found.values(), key=lambda each: each[1].found_after_s)


def _record(records: Sequence[HuntRecord], findings: Sequence[Finding]) -> HuntRecord:
    proven = {one.event.signature for one in findings}
    unproven: dict[str, Unproven] = {}
    shares: dict[str, Share] = {}
    for record in records:
        for seen in record.unproven:
            name = seen.event.signature
            before = unproven[name].times_seen if name in unproven else 0
            if name not in proven:
                unproven[name] = Unproven(seen.event, seen.times_seen + before)
        for name, share in record.shares.items():
            whole = shares.setdefault(name, Share())
            for field in Share.__struct_fields__:
                setattr(whole, field, getattr(whole, field) + getattr(share, field))
    return msgspec.structs.replace(
        records[0],
        seconds=max(record.seconds for record in records),
        **{name: sum(getattr(record, name) for record in records) for name in _COUNTED},
        shares=shares,
        timeline=_timeline(records),
        unproven=tuple(unproven.values()),
        fixed=tuple(one for one in records[0].fixed if one.event.signature not in proven),
        is_finished=all(record.is_finished for record in records),
        trouble=next((record.trouble for record in records if record.trouble), ""),
    )


def _timeline(records: Sequence[HuntRecord]) -> tuple[Moment, ...]:
    """All decisions; of the places, those of the part that saw most, since parts see the same ones."""
    lines = [record.timeline for record in records if record.timeline]
    if not lines:
        return ()
    moments = []
    for second in [moment.seconds for moment in max(lines, key=lambda line: line[-1].seconds)]:
        decisions = cells = 0.0
        for line in lines:
            seconds = [0.0, *(moment.seconds for moment in line)]
            decisions += np.interp(second, seconds, [0, *(moment.decisions for moment in line)])
            cells = max(cells, np.interp(second, seconds, [0, *(moment.cells for moment in line)]))
        moments.append(Moment(second, int(decisions), int(cells)))
    return tuple(moments)


def _sampled(parts: Sequence[Path]) -> np.ndarray:
    each = []
    for part in parts:
        archive = Archive()
        archive.load(part / ARCHIVE)
        each.append(archive.sampled)
    whole = np.concatenate([*each, np.zeros((0, 3), np.float32)])
    return whole[:: max(len(whole) // SAMPLES, 1)]
