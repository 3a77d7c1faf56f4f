"""Cross-play between the snapshots of a run, saved in its folder; the search for weaknesses of any policy."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from godojo.api.parallel import run_on_ray
from godojo.api.references import reference, resolved
from godojo.documents import write_document
from godojo.evaluation import exploitability
from godojo.evaluation.exploitability import Exploitability
from godojo.evaluation.league import LeagueReport, play_league
from godojo.export.players import SHIPPED
from godojo.files import atomic_write
from godojo.formats import LEAGUE
from godojo.runs.external import refuse_external
from godojo.runs.folder import RunFolder
from godojo.show.charts import draw_exploitability, draw_league

EXPLOIT_EPISODES = 500
"""Exploitability is measured over at least this many episodes."""
FIGURES, PICTURE, EXPLOIT_PICTURE = "league.json", "league.png", "exploitability.png"


class League(NamedTuple):
    """The result of a league."""

    report: LeagueReport
    best_responses: list[Exploitability]
    """Weaknesses of each role's last policy, if `exploit_minutes` was given."""

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
    ray: str | None = None,
    progress: Callable[[str, float | None], None],
) -> League:
    """Play all snapshots against each other, rate them, and write `league.png` and `league.json`.

    With `exploit_minutes`, weaknesses are added to `league.json` as they are found, and drawn in `exploitability.png`.
    With `ray`, the matches of each snapshot are a task of a Ray cluster, as `godojo.evaluate` takes it.
    """
    refuse_external("league", run)
    if exploit_minutes is not None:
        exploitability.check_minutes(exploit_minutes)
    where = str(run.path.absolute())
    how: dict[str, Any] = {"arenas": arenas, "seed": seed, "deterministic": deterministic, "progress": progress}
    run_all = None if ray is None else partial(run_on_ray, address=ray, what="snapshots", progress=progress)
    found = League(play_league(where, snapshots, rounds=episodes, run_all=run_all, **how), [])
    progress("drawing", None)
    atomic_write(run.path / PICTURE, draw_league(found.report))
    write_document(run.path / FIGURES, LEAGUE, found.as_tree())
    if exploit_minutes is not None:
        last = f"{where}@{found.report.standings[-1].name}"
        rounds = max(episodes, EXPLOIT_EPISODES)
        for one in exploitability.exploit(last, minutes=exploit_minutes, rounds=rounds, **how):
            found.best_responses.append(one)
            write_document(run.path / FIGURES, LEAGUE, found.as_tree())
            atomic_write(run.path / EXPLOIT_PICTURE, draw_exploitability(found.report.game, found.best_responses))
    return found


def exploit(
    policy: Any,
    *,
    minutes: float = 5.0,
    episodes: int = EXPLOIT_EPISODES,
    arenas: str = "held-out",
    seed: int = 0,
    deterministic: bool = True,
    progress: Callable[[str, float | None], None] | None = None,
) -> list[Exploitability]:
    """Search for weaknesses of every role of a policy; nothing is written.

    Args:
        policy: A run (a `godojo.Run`, an id, a path, `"latest"` or `RUN@SNAPSHOT`), or a policy file (`.pt`, `.dojo`),
            or several of a role each, separated by commas.
        minutes: How long a best response trains against each of them.
        episodes: Episodes that each opponent is measured over.
        arenas: `"held-out"`, `"hand-made"`, `"generated"`, or a folder of arenas.
        seed: The same seed plays the same episodes.
        deterministic: The policy takes its most likely actions; otherwise it samples as in training.
        progress: Called with the step in progress and the fraction of it that is done.
    """
    how: dict[str, Any] = {"arenas": arenas, "seed": seed, "deterministic": deterministic, "progress": progress}
    text = resolved(reference(policy))
    return list(exploitability.exploit(text, minutes=minutes, rounds=episodes, files=SHIPPED, **how))
