"""A hunt as text: lines for a terminal, Markdown, JUnit XML, and annotations for GitHub."""

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from godojo.errors import command
from godojo.files import atomic_write
from godojo.hunt.contract import SEVERITIES
from godojo.hunt.events import Severity
from godojo.hunt.findings import Finding, HuntRecord

MARKDOWN, JUNIT = "report.md", "junit.xml"
_DESCRIBED, _STEPS = 10, 12
"""Findings whose steps are written out, and the most steps of each."""
_ANNOTATION = {"critical": "error", "major": "error", "minor": "warning"}


def counted(findings: Sequence[Finding]) -> str:
    """`3 findings: 1 critical, 2 major`."""
    count = Counter(one.event.severity for one in findings)
    if not findings:
        return "no findings"
    kinds = ", ".join(f"{count[severity]} {severity}" for severity in SEVERITIES if count[severity])
    return f"{len(findings)} finding{'s' * (len(findings) > 1)}: {kinds}"


def compared(record: HuntRecord, findings: Sequence[Finding]) -> str:
    """`1 new, 2 still there, 1 fixed`; empty without an earlier hunt."""
    if record.against is None:
        return ""
    count = Counter(one.status for one in findings)
    return f"{count['new']} new, {count['still there']} still there, {len(record.fixed)} fixed"


def fails(findings: Sequence[Finding], fail_on: Severity | None) -> bool:
    """Whether a finding is at least as bad as `fail_on`; None never fails."""
    if fail_on is None:
        return False
    return any(SEVERITIES.index(one.event.severity) <= SEVERITIES.index(fail_on) for one in findings)


def steps_of(finding: Finding) -> str:
    """`2 of 640 steps (13 of 900 actions), 200 decisions of waiting`."""
    waits = f", {finding.minimal_waits:,} decisions of waiting" if finding.minimal_waits else ""
    actions = f"{finding.minimal_actions:,} of {finding.original_actions:,} actions"
    return f"{finding.minimal_steps:,} of {finding.original_steps:,} steps ({actions}){waits}"


def rate_of(finding: Finding) -> str:
    return f"{finding.reproduced} of {finding.replays} replays"


def reproduction(folder: Path, finding: Finding) -> str:
    """The command, ready to paste."""
    return command(f"reproduce {shlex.quote(str(folder / finding.folder))}")


def markdown(folder: Path, record: HuntRecord, findings: Sequence[Finding]) -> str:
    """For pull requests, job summaries and mails."""
    lines = [f"# Hunt in {record.name}: {counted(findings)}", ""]
    played = f"{record.seconds / 60:.1f} minutes, {record.decisions:,} decisions, {record.launches} launches"
    lines += [f"{played}; seed {record.settings.seed}.", ""]
    if record.trouble:
        lines += [f"It ended early: {_cell(record.trouble)}", ""]
    if record.against is not None:
        lines += [f"Compared with `{record.against}`: {compared(record, findings)}.", ""]
    if findings:
        lines += ["| | severity | what | steps | reproduces | found after |", "|---|---|---|---|---|---|"]
        for one in findings:
            new = " (new)" if record.against is not None and one.status == "new" else ""
            what = f"{_cell(one.event.message)}{new}"
            steps = f"{steps_of(one)} | {rate_of(one)} | {one.found_after_s:.0f} s by {one.explorer}"
            lines.append(f"| {one.number:03d} | {one.event.severity} | {what} | {steps} |")
        for one in findings[:_DESCRIBED]:
            if one.steps:
                lines += ["", f"{one.number:03d}: {_cell('; '.join(one.steps[:_STEPS]))}"]
                lines[-1] += "; …" if len(one.steps) > _STEPS else "."
        lines += ["", "```sh", *(reproduction(folder, one) for one in findings[:10]), "```", ""]
    if record.fixed:
        lines += ["Fixed:", "", *(f"- {_cell(one.event.message)}" for one in record.fixed), ""]
    if record.unproven:
        lines += ["Seen, and not reproduced:", ""]
        lines += [f"- {_cell(one.event.message)} ({one.times_seen}x)" for one in record.unproven] + [""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """A message of the game's, which may hold anything, as a cell of a Markdown table."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def junit(record: HuntRecord, findings: Sequence[Finding]) -> bytes:
    """A test case for each finding, and one that passes if there is none: what CI systems draw."""
    suite = Xml.Element(
        "testsuite",
        name=f"godojo hunt {record.name}",
        tests=str(len(findings) or 1),
        failures=str(len(findings)),
        errors="0",
        time=f"{record.seconds:.1f}",
        timestamp=record.started.rstrip("Z"),
    )
    for one in findings:
        name = f"{one.number:03d} {one.event.detector}"
        case = Xml.SubElement(suite, "testcase", classname=f"hunt.{record.name}", name=name, time="0")
        failure = Xml.SubElement(case, "failure", type=one.event.severity, message=_printable(one.event.message))
        failure.text = _printable(
            f"{one.event.signature}\n{steps_of(one)}, {rate_of(one)}\n{command(f'reproduce {one.folder}')}"
        )
    if not findings:
        Xml.SubElement(suite, "testcase", classname=f"hunt.{record.name}", name="no findings", time="0")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(suite) + b"\n"


def _printable(text: str) -> str:
    """XML has no words for control characters."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text)


def annotations(findings: Sequence[Finding]) -> list[str]:
    """Lines that GitHub shows beside the run, with the place in the script where there is one."""
    lines = []
    for one in findings:
        place = next((part for part in one.event.signature.split("|") if part.startswith("res://")), "")
        file, _, line = place.removeprefix("res://").rpartition(":")
        where = f"file={_property(file)},line={line}," if file and line.isdecimal() else ""
        message = f"{one.event.message} ({rate_of(one)}, {steps_of(one)})"
        title = f"title={_property(f'hunt: {one.event.detector}')}"
        lines.append(f"::{_ANNOTATION[one.event.severity]} {where}{title}::{_data(message)}")
    return lines


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def write_texts(folder: Path, record: HuntRecord, findings: Sequence[Finding]) -> None:
    """Markdown and JUnit XML beside `hunt.json`; on GitHub, also the job's summary."""
    text = markdown(folder, record, findings)
    atomic_write(folder / MARKDOWN, text.encode())
    atomic_write(folder / JUNIT, junit(record, findings))
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if on_github() and summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text + "\n")


def on_github() -> bool:
    return bool(os.environ.get("GITHUB_ACTIONS"))
