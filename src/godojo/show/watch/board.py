"""The panel's text: the state of the training, the clock, players and wins.

The state is judged by the run's files, so that it works for a training on another machine.
"""

import html
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from godojo.errors import GodojoError
from godojo.runs.folder import CONFIG, RunFolder
from godojo.show import style
from godojo.show.curves import Table
from godojo.show.replay import Moment, Replay
from godojo.show.shots import agent_names

FINAL = "final"
QUIET_S = 30.0
"""A training that writes nothing for this long has stopped, unless its updates are slow."""
FIRST_QUIET_S = 120.0
"""The same before the first updates: kernels may be compiling."""
SLOW_UPDATES = 5.0
"""How many updates a training may miss before it counts as stopped."""


@dataclass(frozen=True)
class Status:
    """The state of a training, and a sentence about it."""

    state: Literal["live", "finished", "stopped", "recorded"]
    sentence: str


RECORDED = Status("recorded", "Recorded rounds")


def training_status(run: RunFolder, updates: Table, now: float | None = None) -> Status:
    """`updates` is the run's table of updates; `now` is in seconds since 1970."""
    seconds, steps, progress = (updates.numbers(name) for name in ("seconds", "agent_steps", "progress"))
    trained = (
        f"{style.counted(float(steps[-1]))} agent-steps in {style.clock(float(seconds[-1]))}" if len(steps) else ""
    )
    if _is_final(run, float(steps[-1]) if len(steps) else 0.0):
        return Status("finished", f"Training finished · {trained}" if trained else "Training finished")
    share = f"{100 * progress[-1]:.0f} % of its budget" if len(progress) and np.isfinite(progress[-1]) else ""
    quiet_s = (time.time() if now is None else now) - _last_written(run)
    patience_s = FIRST_QUIET_S
    if len(seconds) > 1:
        patience_s = max(QUIET_S, SLOW_UPDATES * float(np.median(np.diff(seconds[-20:]))))
    if quiet_s < patience_s:
        return Status("live", f"Training is live · {share or trained}" if trained else "Training is starting")
    return Status("stopped", f"Training stopped at {share or trained}" if trained else "Training stopped at its start")


def _is_final(run: RunFolder, agent_steps: float) -> bool:
    """Whether the last update was that of a spent budget; a run resumed after it goes beyond its final snapshot."""
    with suppress(GodojoError):  # being written, or damaged
        return any(one.name == FINAL and one.agent_steps >= agent_steps for one in run.snapshots().entries())
    return False


def _last_written(run: RunFolder) -> float:
    times = [0.0]
    for name in (CONFIG, "environment.json", run.updates.name, run.metrics.name):
        with suppress(OSError):
            times.append((run.path / name).stat().st_mtime)
    return max(times)


NO_ROUNDS = "no rounds yet"


@dataclass(frozen=True)
class RoleLine:
    """One side of the round that is shown."""

    name: str
    player: str
    wins: int
    colour: str
    sees: bool
    """Whether it sees an opponent right now."""
    agents: int = 1
    still_in: int = 1
    """Of its agents, those that have not been put out of the round."""
    score: str = ""
    """Where each agent has a score of its own: that, instead of rounds won."""
    is_alone: bool = False
    """Whether nobody opposes it: it succeeds in a round, or not."""
    rating: str = ""
    """What the game rates, as of now: `comfort 80 %`."""


def agent_lines(replay: Replay, moment: Moment, sees: np.ndarray) -> list[RoleLine]:
    """Where agents of one role play against each other: a line for each, in the colour of its team of the moment."""
    header, count = replay.header, replay.header.spec.scores
    frame = min(int(np.searchsorted(replay.tick, moment.seconds / replay.tick_s)), len(replay.tick) - 1)
    scores = None if count is None else count(replay)[frame]
    lines = []
    for agent, name in enumerate(agent_names(replay)):
        colour = header.teams[int(moment.team[agent])].colour
        score = "" if scores is None else f"score {scores[agent]:.1f}"
        lines.append(RoleLine(name, header.roles[0].player, 0, colour, bool(sees[agent]), score=score))
    return lines


def board_html(
    status: Status,
    clock: str = "",
    where: str = "",
    roles: Sequence[RoleLine] = (),
    rounds: int = 0,
    trouble: str = "",
    *,
    counts_down: bool = True,
) -> str:
    """The board; without a clock the first round is still to come. `rounds`: those that have ended."""
    unit = ("time left" if counts_down else "played") if clock else ""
    return (
        f'<div class="board {"ready" if clock else ""}">'
        f'<div class="status {status.state}">{html.escape(status.sentence)}</div>'
        f'<div class="clock"><span><b>{html.escape(clock)}</b> <small>{unit}</small></span>'
        f'<span class="where">{html.escape(where)}</span></div>'
        f'<div class="roles">{"".join(_role_html(role, rounds) for role in roles)}</div>'
        + (f'<div class="trouble">{html.escape(trouble)}</div>' if trouble else "")
        + "</div>"
    )


def _role_html(role: RoleLine, rounds: int) -> str:
    words = ["role", *(["dark"] if role.colour == style.FIRST else []), *(["sees"] if role.sees else [])]
    verb = "succeeded in" if role.is_alone else "won"
    won = role.score or (f"{verb} {role.wins} of {rounds} shown" if rounds else NO_ROUNDS)
    won = f"{role.rating} · {won}" if role.rating else won
    left = f"{role.still_in} of {role.agents} in play · " if role.agents > 1 else ""
    return (
        f'<div class="{" ".join(words)}" style="background:{role.colour}"><b>{html.escape(role.name)}</b>'
        f"<span>{html.escape(role.player)}</span><span>{left}{won}</span></div>"
    )


def rates_html(
    rates: Mapping[str, float],
    colours: Mapping[str, str],
    window: int,
    measures: Mapping[str, float] | None = None,
    *,
    kind: str = "Win rate",
) -> str:
    """Each role's win rate in training, or `kind`. A rate that is absent or no number means no rounds, never 0 %.

    `measures` are the means of what the game measures besides, as of the last update.
    """
    known = {role: rates[role] for role in colours if math.isfinite(rates.get(role, math.nan))}
    shown = "".join(
        f'<span style="color:{colours[role]}">{html.escape(role)} {100 * rate:.0f} %</span>'
        for role, rate in known.items()
    )
    title = f"{kind} in training, last {window:,} rounds"
    means = " · ".join(f"{html.escape(name)} {mean:.2f}" for name, mean in (measures or {}).items())
    line = f"<small>Mean of a round, last update: {means}</small>" if means else ""
    return f'<div class="rates"><small>{title}</small><div>{shown or NO_ROUNDS}</div>{line}</div>'
