"""Cross-play between the snapshots of a run, saved in its folder."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from godojo.documents import write_document
from godojo.evaluation.exploitability import BestResponse, exploit
from godojo.evaluation.league import LeagueReport, play_league
from godojo.files import atomic_write
from godojo.formats import LEAGUE
from godojo.runs.folder import RunFolder
from godojo.show.charts import draw_league

EXPLOIT_EPISODES = 500
"""Exploitability is measured over at least this many episodes."""


class League(NamedTuple):
    """The result of a league."""

    report: LeagueReport
    best_responses: list[BestResponse]
    """Best responses to each role's last policy, if `exploit_minutes` was given."""

    def as_tree(self) -> dict[str, Any]:
        """The content of `league.json`."""
        return {**msgspec.to_builtins(self.report), "exploitability": msgspec.to_builtins(self.best_responses)}


def league(
    run: RunFolder,
    snapshots: Sequence[str] = (),
    *,
    episodes: int = 200,
    arenas: str = "held-out",
    exploit_minutes: float | None = None,
    seed: int = 0,
    deterministic: bool = True,
    progress: Callable[[str, float | None], None],
) -> League:
    """Play all snapshots against each other, rate them, and write `league.png` and `league.json`."""
    where = str(run.path.absolute())
    how: dict[str, Any] = {"arenas": arenas, "seed": seed, "deterministic": deterministic, "progress": progress}
    report = play_league(where, snapshots, rounds=episodes, **how)
    progress("drawing", None)
    atomic_write(run.path / "league.png", draw_league(report))
    responses: list[BestResponse] = []
    if exploit_minutes is not None:
        last = f"{where}@{report.standings[-1].name}"
        responses = exploit(last, minutes=exploit_minutes, rounds=max(episodes, EXPLOIT_EPISODES), **how)
    found = League(report, responses)
    write_document(run.path / "league.json", LEAGUE, found.as_tree())
    return found
