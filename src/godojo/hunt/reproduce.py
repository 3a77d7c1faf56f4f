"""Reproducing a finding: its minimal actions, replayed in the build that it was found in or in another one."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from godojo.errors import GodojoError
from godojo.hunt.findings import Finding, minimal_trace, read_finding, target_of
from godojo.hunt.http_game import open_target
from godojo.hunt.target import check
from godojo.hunt.trace import fits, replay


def reproduce(
    folder: Path,
    *,
    times: int = 1,
    window: bool = False,
    project: Path | None = None,
    binary: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Finding, int]:
    """Replays a finding's minimal actions in a fresh process; returns it and how often it happened.

    `project` or `binary`: in another build than the one it was found in.
    """
    finding = read_finding(folder)
    trace, parts = minimal_trace(folder)
    target = target_of(finding.target)
    if project is not None:
        target = replace(target, project=project.expanduser().absolute(), binary=None, http=None)
    elif binary is not None:
        target = replace(target, game=None, project=None, scene=None, http=None, binary=binary.expanduser().absolute())
    check(target)
    progress("replaying")
    hits, played = 0, 0
    while played < times:
        opened = open_target(target, detectors=finding.detectors, window=window, timeout_s=finding.timeout_s)
        with closing(opened) as game:
            if not fits(game, parts):
                raise GodojoError(f"the game has other actions than when {folder} was found; hunt again")
            for _ in range(1 if trace.earlier else times):
                played += 1
                hits += replay(game, trace, finding.event.signature, lines_moved=True).event is not None
    return finding, hits
