"""How good a run was at moments of its training: by a fixed opponent, and by each other."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from godojo.errors import GodojoError
from godojo.evaluation.evaluation import judge
from godojo.evaluation.intervals import Proportion
from godojo.evaluation.league import play_league, spread
from godojo.runs.folder import RunFolder
from godojo.runs.snapshots import Snapshot
from godojo.show.progress import Progress
from godojo.show.recording import one_thread

OPPONENT = "sighted"
"""Scripted, sees what policies see and no more, plays both roles; always the same, so that figures can be compared."""
MOMENTS_S = (10.0, 60.0)
"""What a film shows between the start and the end, if the run has it."""
NEAR_END = 0.8
"""From this share of the training on, a moment looks like the end."""
MOST_POINTS = 9
_UNITS = {"s": "s", "m": "min", "h": "h"}


@dataclass(frozen=True)
class Figures:
    """A moment of training."""

    snapshot: Snapshot
    wins: dict[str, Proportion]
    """By role, against the yardstick."""
    ratings: dict[str, float]
    """By role, from the stages' matches against each other; empty where it is no stage."""

    @property
    def is_untrained(self) -> bool:
        return self.snapshot.agent_steps == 0

    @property
    def title(self) -> str:
        return "untrained" if self.is_untrained else in_words(self.snapshot)


def in_words(snapshot: Snapshot) -> str:
    """How long training took until then: what its name says, or about so long."""
    named = re.fullmatch(r"(\d+)([smh])", snapshot.name)
    if named:
        return f"{named[1]} {_UNITS[named[2]]}"
    seconds = snapshot.seconds
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60, 1 if seconds < 595 else 0)
    return f"{minutes:g} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def stages_of(run: RunFolder, names: Sequence[str] = ()) -> list[Snapshot]:
    """The moments to show: those named, or start, about 10 s, about a minute, and the last."""
    store = run.snapshots()
    entries = store.entries()
    if names:
        wanted = {store.find(name).name for name in names}
        return [entry for entry in entries if entry.name in wanted]
    if len(entries) < 2:
        raise GodojoError(f"run {run.run_id} has {len(entries)} snapshots, and a film needs two; train it longer")
    first, *between, last = entries
    between = [one for one in between if one.seconds < NEAR_END * last.seconds]
    chosen = [first]
    for moment_s in MOMENTS_S:
        near = [one for one in between if one not in chosen and moment_s / 2 < one.seconds < moment_s * 2]
        if near:
            chosen.append(min(near, key=lambda one: abs(float(np.log(one.seconds / moment_s)))))
    return [*chosen, last]


def measured(run: RunFolder, stages: Sequence[Snapshot], rounds: int, progress: Progress) -> list[Figures]:
    """Figures of all stages and of other moments in between, in the order of training."""
    with one_thread():  # a few hundred rounds are not worth sharing out
        return _measured(run, stages, rounds, progress)


def _measured(run: RunFolder, stages: Sequence[Snapshot], rounds: int, progress: Progress) -> list[Figures]:
    others = spread([one for one in run.snapshots().entries() if one not in stages], MOST_POINTS - len(stages))
    moments = sorted([*stages, *others], key=lambda one: one.agent_steps)
    where = str(run.path.absolute())
    found = []
    ratings: dict[str, dict[str, float]] = {}
    if len(stages) > 1 and len(run.config.roles) == 2:
        league = play_league(
            where,
            [stage.name for stage in stages],
            rounds=max(rounds // 6, 10),
            progress=lambda _, part: progress("rating", part),
        )
        ratings = {one.name: {role: skill.rating for role, skill in one.ratings.items()} for one in league.standings}
    for place, moment in enumerate(moments):

        def part(title: str, share: float | None, place: int = place) -> None:
            matches = [title.startswith(role) for role in run.config.roles].index(True)
            done = (matches + (share or 0.0)) / len(run.config.roles)
            progress("measuring", (place + done) / len(moments))

        judgement = judge(f"{where}@{moment.name}", [OPPONENT], rounds=rounds, progress=part)
        wins = {verdict.role: verdict.wins for verdict in judgement.verdicts if verdict.wins is not None}
        found.append(Figures(moment, wins, ratings.get(moment.name, {})))
    return found
