"""The panel's text: the run, its training, the clock, players and wins."""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from godojo.show import style
from godojo.show.watch.status import Status

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
    won = f"won {role.wins} of {rounds} shown" if rounds else NO_ROUNDS
    return (
        f'<div class="{" ".join(words)}" style="background:{role.colour}"><b>{html.escape(role.name)}</b>'
        f"<span>{html.escape(role.player)}</span><span>{won}</span></div>"
    )


def rates_html(rates: Mapping[str, float], colours: Mapping[str, str], window: int) -> str:
    """Each role's win rate in training. A rate that is absent or no number means no rounds, never 0 %."""
    known = {role: rates[role] for role in colours if math.isfinite(rates.get(role, math.nan))}
    shown = "".join(
        f'<span style="color:{colours[role]}">{html.escape(role)} {100 * rate:.0f} %</span>'
        for role, rate in known.items()
    )
    title = f"Win rate in training, last {window:,} rounds"
    return f'<div class="rates"><small>{title}</small><div>{shown or NO_ROUNDS}</div></div>'
