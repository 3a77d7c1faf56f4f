"""How good a run was at moments of its training: win rates, or the success rate of a role that is alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from godojo.errors import GodojoError
from godojo.evaluation.evaluation import has_opponents, judge
from godojo.evaluation.intervals import Proportion
from godojo.evaluation.league import spread
from godojo.evaluation.solo import evaluate_solo
from godojo.games.base import game_named
from godojo.opponents import yardstick
from godojo.runs.folder import RunFolder
from godojo.runs.snapshots import Snapshot
from godojo.show.progress import Progress
from godojo.show.recording import one_thread

MOMENTS_S = (10.0, 60.0)
"""What a film shows between the start and the end, if the run has it."""
NEAR_END = 0.8
"""From this share of the training on, a moment looks like the end."""
MAX_POINTS = 9
_UNITS = {"s": "s", "m": "min", "h": "h"}


@dataclass(frozen=True)
class Measure:
    """What the rates of a run are: always of the same kind, so that moments of training can be compared."""

    game: str
    name: str
    """In a word or two: `wins`, `success`; empty where nothing can be measured."""
    opponent: str = ""
    """Which opponent rounds are won against, as `player_from` reads it; empty for a role that is alone."""
    scripted: str = ""
    """Its name, where it is a scripted one."""
    role: str = ""
    """The role that is alone."""

    @classmethod
    def of(cls, run: RunFolder) -> "Measure":
        """Success where one role is alone; otherwise wins against the game's yardstick or, without one, the last
        policies."""
        game = run.config.game
        if not has_opponents(run.config):
            game_named(game).require("measures", "film")
            return cls(game, "success", role=run.config.roles[0])
        scripted = yardstick(game)
        if scripted:
            return cls(game, "wins", scripted, scripted)
        last = run.snapshots().entries()[-1].name
        return cls(game, "wins", f"{run.path.absolute()}@{last}")

    @property
    def title(self) -> str:
        return f"rounds won against {self.against('player')}" if self.opponent else f"success rate in {self.game}"

    def against(self, role: str) -> str:
        """The opponent in words, in a role."""
        return f"the scripted {role} “{self.scripted}”" if self.scripted else f"the last {role}"

    def rates(self, policy: str, rounds: int) -> dict[str, Proportion]:
        """By role, in held-out arenas."""
        if not self.name:
            return {}
        if not self.opponent:
            return {self.role: next(iter(evaluate_solo(policy, rounds=rounds).measures.values()))}
        found = judge(policy, [self.opponent], rounds=rounds)
        return {one.role: one.wins for one in found.verdicts if one.wins is not None}


@dataclass(frozen=True)
class Figures:
    """A moment of training."""

    snapshot: Snapshot
    rates: dict[str, Proportion]
    """By role, of the `Measure`."""

    @property
    def is_untrained(self) -> bool:
        return self.snapshot.agent_steps == 0

    @property
    def title(self) -> str:
        return "untrained" if self.is_untrained else in_words(self.snapshot)


def in_words(snapshot: Snapshot) -> str:
    """Duration of the training until then: as the snapshot is named, or rounded."""
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
    others = spread([one for one in run.snapshots().entries() if one not in stages], MAX_POINTS - len(stages))
    moments = sorted([*stages, *others], key=lambda one: one.agent_steps)
    where, measure = str(run.path.absolute()), Measure.of(run)
    with one_thread():  # a few hundred rounds are not worth sharing among threads
        found = []
        for place, moment in enumerate(moments):
            progress("measuring", place / len(moments))
            found.append(Figures(moment, measure.rates(f"{where}@{moment.name}", rounds)))
    return found
