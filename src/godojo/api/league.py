"""The cross-play of a run's snapshots, saved in the run's folder."""

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
"""The fewest that exploitability is measured over."""


class League(NamedTuple):
    """The result of a league."""

    report: LeagueReport
    best_responses: list[BestResponse]
    """To each role's last policy, where `exploit_minutes` was given."""

    def as_tree(self) -> dict[str, Any]:
        """What `league.json` holds."""
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
    """Plays all snapshots against each other, rates them, and writes `league.png` and `league.json`."""
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
