"""The outcome of a hunt: what it found, as a list for people and as files for programs."""

from pathlib import Path

import msgspec
from rich.console import Group, RenderableType
from rich.markup import escape

from godojo.evaluation.tables import Printable
from godojo.hunt.events import Severity
from godojo.hunt.findings import Finding, HuntRecord, by_severity, read_findings, read_hunt
from godojo.hunt.texts import annotations, compared, counted, fails, rate_of, reproduction, steps_of

_COLOURS = {"critical": "bold red", "major": "red", "minor": "yellow"}
_LISTED = 20


class HuntOutcome(Printable, msgspec.Struct, frozen=True):
    """What a hunt found; prints as a list."""

    folder: Path
    record: HuntRecord
    findings: list[Finding]
    """The worst first."""

    @classmethod
    def read(cls, folder: Path) -> "HuntOutcome":
        return cls(folder, read_hunt(folder), by_severity(read_findings(folder)))

    def fails(self, fail_on: Severity | None) -> bool:
        """Whether a finding is at least as bad as this."""
        return fails(self.findings, fail_on)

    def annotations(self) -> list[str]:
        """Lines for GitHub."""
        return annotations(self.findings)

    def __rich__(self) -> RenderableType:
        lines = []
        for one in self.findings[:_LISTED]:
            colour = _COLOURS[one.event.severity]
            new = " [bold]new[/]" if self.record.against and one.status == "new" else ""
            lines.append(f"[{colour}]{one.event.severity:<8}[/] {one.number:03d}{new}  {escape(one.event.message)}")
            lines.append(f"               [dim]{rate_of(one)}, {steps_of(one)}, by {escape(one.explorer)}[/]")
        if len(self.findings) > _LISTED:
            lines.append(f"… and {len(self.findings) - _LISTED} more")
        record = self.record
        changes = compared(record, self.findings)
        about = f" ({changes})" if changes else ""
        end = f"{counted(self.findings).capitalize()}{about} in {record.decisions:,} decisions."
        lines += ["", end] if lines else [end]
        lines += [
            f"[dim]seen {seen.times_seen}x and not reproduced: {escape(seen.event.message)}[/]"
            for seen in record.unproven[:_LISTED]
        ]
        if record.trouble:
            lines.append(f"[red]it ended early:[/] {escape(record.trouble)}")
        if self.findings:
            lines.append(f"[dim]→ {escape(reproduction(self.folder, self.findings[0]))}[/]")
        return Group(*lines)
