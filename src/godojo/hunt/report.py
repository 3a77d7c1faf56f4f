"""The report of a hunt: one HTML page with findings first, then the map of coverage, the timeline and the team."""

import base64
import html
import io
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure

from godojo.errors import command
from godojo.files import atomic_write
from godojo.hunt.findings import CLIP, LOG, PICTURE, Finding, HuntRecord
from godojo.hunt.texts import compared, counted, rate_of, reproduction, steps_of
from godojo.show import report as page_files
from godojo.show import style

FILE = "report.html"
_EMBEDDED_BYTES = 3_000_000
"""A larger clip is linked, so that the page stays small enough to mail."""
_ALL_EMBEDDED_BYTES = 24_000_000
_LOG_LINES = 40
_COLOURS = {"critical": "#b3123c", "major": "#e05a00", "minor": "#8a7a00"}
_HEAT = LinearSegmentedColormap.from_list("heat", ["#f3e6d3", "#ffc394", style.FIRST, "#8f2d0c"])
_BOXES = 72
_CSS = """
.badge { color: #fff; border-radius: 6px; padding: 1px 9px; font-size: 14px; font-weight: 600; }
.finding { border: 1px solid var(--line); border-radius: 12px; background: #fff; padding: 14px 18px; margin: 14px 0; }
.finding h3 { font-size: 17px; margin: 8px 0 4px; overflow-wrap: anywhere; }
.finding video, .finding img { width: 100%; max-width: 640px; border-radius: 8px; margin: 8px 0; display: block; }
.finding .steps { margin: 6px 0; padding-left: 26px; max-height: 260px; overflow-y: auto; }
.finding pre { white-space: pre-wrap; overflow-wrap: anywhere; }
"""


def write_page(folder: Path, record: HuntRecord, findings: Sequence[Finding], sampled: np.ndarray) -> Path:
    """Writes `report.html`; `sampled` are positions that were visited, float32 [n, 3]."""
    room = [_ALL_EMBEDDED_BYTES]
    parts = [
        _head(record, findings),
        _comparison(record, findings),
        *(_finding(folder, one, record, room) for one in findings),
        _figure("Coverage", _map_caption(sampled), draw_map(sampled, findings) if len(sampled) else None),
        _figure("Timeline", "Kinds of places that were seen, and findings.", draw_timeline(record, findings)),
        _team(record),
        _budgets(record),
        _unproven(record),
        _commands(folder),
    ]
    css = resources.files(page_files).joinpath("page.css").read_text(encoding="utf-8") + _CSS
    # The page can reach nothing outside itself, whatever the messages of a game hold.
    policy = "default-src 'none'; img-src data: 'self'; media-src data: 'self'; style-src 'unsafe-inline'"
    text = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>Hunt in {html.escape(record.name)} · Godojo</title>
<style>
{css}</style>
</head>
<body>
<main>
{chr(10).join(part for part in parts if part)}
</main>
</body>
</html>
"""
    atomic_write(folder / FILE, text.encode())
    return folder / FILE


def _head(record: HuntRecord, findings: Sequence[Finding]) -> str:
    much = f"{style.clock(record.seconds)}, {record.decisions:,} decisions, {record.launches} launches"
    cells = record.timeline[-1].cells if record.timeline else 0
    about = f"{record.started[:10]} · {much} · {cells:,} kinds of places · seed {record.settings.seed}"
    return (
        f"<h1>Hunt in {html.escape(record.name)}</h1>\n"
        f'<p class="quiet">{html.escape(about)}</p>\n<p class="lead">{html.escape(counted(findings).capitalize())}.</p>'
        + (f"<p>It ended early: {html.escape(record.trouble)}</p>" if record.trouble else "")
    )


def _comparison(record: HuntRecord, findings: Sequence[Finding]) -> str:
    if record.against is None:
        return ""
    fixed = "".join(f"<li>{html.escape(one.event.message)}</li>" for one in record.fixed)
    text = f"Compared with {record.against}: {compared(record, findings)}."
    return f"<p>{html.escape(text)}</p>" + (f"<p>Fixed:</p><ul>{fixed}</ul>" if fixed else "")


def _finding(folder: Path, one: Finding, record: HuntRecord, room: list[int]) -> str:
    colour = _COLOURS[one.event.severity]
    new = " · new" if record.against is not None and one.status == "new" else ""
    title = f'<span class="badge" style="background:{colour}">{one.event.severity}</span> <b>{one.number:03d}</b>'
    facts = (
        f"{one.event.detector} · reproduces in {rate_of(one)} · {steps_of(one)} · found after"
        f" {style.clock(one.found_after_s)} by {one.explorer} · seen {one.times_seen}x{new}"
    )
    node = f'<p class="quiet">{html.escape(one.event.node)}</p>' if one.event.node else ""
    log = _tail(folder / one.folder / LOG)
    return (
        f'<section class="finding" id="finding-{one.number:03d}">{title}\n<h3>{html.escape(one.event.message)}</h3>\n'
        f'<p class="quiet">{html.escape(facts)}</p>{node}\n{_moving_picture(folder, one, room)}'
        f"{_steps(one)}<pre>{html.escape(reproduction(folder, one))}</pre>\n"
        f"<details><summary>Log</summary><pre>{html.escape(log)}</pre></details>"
        f'<p class="quiet">{html.escape(one.event.signature)}</p></section>'
    )


def _steps(one: Finding) -> str:
    """What a person would do."""
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in one.steps)
    shrunk = "" if one.is_minimal else '<p class="quiet">Shrinking ran out of time; fewer steps may do.</p>'
    return f'<ol class="steps">{lines}</ol>{shrunk}' if lines else ""


def _tail(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-_LOG_LINES:])


def _moving_picture(folder: Path, one: Finding, room: list[int]) -> str:
    for name, kind in ((CLIP, "video/mp4"), (PICTURE, "image/png")):
        path = folder / one.folder / name
        if not path.is_file():
            continue
        size = path.stat().st_size
        source = html.escape(f"{one.folder}/{name}")
        if size <= min(_EMBEDDED_BYTES, room[0]):
            room[0] -= size
            source = f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
        if kind == "video/mp4":
            return f'<video controls loop muted playsinline src="{source}"></video>'
        return f'<img alt="the game when it happened" src="{source}">'
    return ""


def _figure(title: str, caption: str, drawn: Figure | None) -> str:
    if drawn is None:
        return ""
    content = io.BytesIO()
    drawn.savefig(content, format="png", dpi=110)
    source = f"data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}"
    return (
        f'<h2>{title}</h2>\n<p class="quiet">{html.escape(caption)}</p>\n'
        f'<figure><img alt="{title.lower()}" src="{source}"></figure>'
    )


def axes_of(sampled: np.ndarray) -> tuple[int, int]:
    """The two axes of the map: from above, or from the side where the game is flat."""
    low, high = np.quantile(sampled, (0.02, 0.98), axis=0)
    spread = high - low
    if spread[2] >= 0.2 * max(spread[1], 1e-9):
        return 0, 2
    return 0, 1


def _map_caption(sampled: np.ndarray) -> str:
    if not len(sampled):
        return ""
    side = "from above" if axes_of(sampled) == (0, 2) else "from the side"
    return f"Where explorers were, seen {side}; darker is more often. Numbers are findings."


def draw_map(sampled: np.ndarray, findings: Sequence[Finding]) -> Figure:
    across, down = axes_of(sampled)
    points = sampled[:, [across, down]].astype(float)
    low, high = np.quantile(points, (0.001, 0.999), axis=0)
    margin = 0.04 * max(float((high - low).max()), 1e-3)
    low, high = low - margin, high + margin
    box = float((high - low).max()) / _BOXES
    bins = [np.arange(low[axis], high[axis] + box, box) for axis in range(2)]
    counts, *_ = np.histogram2d(points[:, 0], points[:, 1], bins=bins)
    with style.look():
        height = float(np.clip(9.6 * (high[1] - low[1]) / (high[0] - low[0]), 2.4, 8.0))
        figure = Figure(figsize=(9.6, height + 0.8), constrained_layout=True)
        axes = figure.add_subplot()
        drawn = np.ma.masked_equal(counts.T, 0)
        axes.pcolormesh(*bins, drawn, cmap=_HEAT, norm=LogNorm(1, max(float(counts.max()), 2.0)))
        for one in findings:
            if len(one.level) == 3:
                where = one.level[across], one.level[down]
                axes.plot(*where, "o", ms=15, color=_COLOURS[one.event.severity], mec="white", clip_on=False)
                axes.annotate(str(one.number), where, color="white", ha="center", va="center", size=9, weight="bold")
        axes.set_aspect("equal")
        axes.set_xlabel("xyz"[across])
        axes.set_ylabel("xyz"[down])
        axes.grid(visible=False)
        if down == 2 or not sampled[:, 2].any():
            axes.invert_yaxis()  # -z is ahead; in 2D, y points down
    return figure


def draw_timeline(record: HuntRecord, findings: Sequence[Finding]) -> Figure | None:
    if len(record.timeline) < 2:
        return None
    minutes = [moment.seconds / 60 for moment in record.timeline]
    cells = [moment.cells for moment in record.timeline]
    with style.look():
        figure = Figure(figsize=(9.6, 3.6), constrained_layout=True)
        axes = figure.add_subplot()
        axes.plot([0.0, *minutes], [0, *cells], color=style.SECOND)
        for one in findings:
            at = one.found_after_s / 60
            height = float(np.interp(at, [0.0, *minutes], [0, *cells]))
            axes.plot(at, height, "o", ms=15, color=_COLOURS[one.event.severity], mec="white", clip_on=False)
            axes.annotate(str(one.number), (at, height), color="white", ha="center", va="center", size=9, weight="bold")
        axes.set_xlabel("minutes")
        axes.set_ylabel("kinds of places")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    return figure


def _team(record: HuntRecord) -> str:
    total = sum(share.seconds for share in record.shares.values()) or 1.0
    rows = [
        f"<tr><td>{html.escape(name)}</td><td>{share.seconds / total:.0%}</td><td>{share.attempts:,}</td>"
        f"<td>{share.decisions:,}</td><td>{share.new_cells:,}</td><td>{share.findings}</td></tr>"
        for name, share in record.shares.items()
    ]
    return _table("Explorers", ("explorer", "time", "attempts", "decisions", "new places", "findings"), rows)


def _budgets(record: HuntRecord) -> str:
    asked = [
        ("time", f"{record.seconds / 60:.1f} minutes played, {record.settings.minutes:g} asked for last"),
        ("processes", str(record.settings.processes)),
        ("speed", f"{record.decisions / max(record.seconds, 1e-9):,.0f} decisions/s, proofs and launches included"),
        ("proofs", f"{record.settings.proofs} replays of each finding"),
        ("freeze", f"no answer for {record.settings.timeout_s:g} s"),
    ]
    if record.returns:
        asked.append(("returns", f"{record.arrivals / record.returns:.0%} of {record.returns:,} led where they should"))
    asked += [
        (name.replace("_", " "), str(getattr(record.detectors, name))) for name in record.detectors.__struct_fields__
    ]
    rows = [f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in asked]
    return _table("Budgets", (), rows)


def _unproven(record: HuntRecord) -> str:
    if not record.unproven:
        return ""
    rows = [f"<tr><td>{html.escape(one.event.message)}</td><td>{one.times_seen}</td></tr>" for one in record.unproven]
    return _table("Seen, and not reproduced", ("event", "times"), rows)


def _table(title: str, titles: Sequence[str], rows: Sequence[str]) -> str:
    head = f"<tr>{''.join(f'<th>{each}</th>' for each in titles)}</tr>" if titles else ""
    return f'<h2>{title}</h2>\n<div class="scroll"><table>{head}{"".join(rows)}</table></div>'


def _commands(folder: Path) -> str:
    lines = [
        f"# hunt on\n{command(f'hunt --resume {folder}')}",
        f"# the next build: new, still there, fixed\n{command(f'hunt --against {folder} …')}",
    ]
    return f"<h2>Commands</h2>\n<pre>{html.escape(chr(10).join(lines))}</pre>"
