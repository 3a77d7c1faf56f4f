"""A family of scripted opponents: a style for either role, traits, and a source of knowledge.

A name is a style (`juker`), with its default traits; `juker:7` has the traits of the 7th held-out draw, which training
never meets; `drawn` is another style with other traits in every world and round, more often one that wins. With
`oracle-` before it, the same behaviour knows the true state instead of what its own eyes have seen.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.games.tag.opponents.family.belief import make_rules
from godojo.games.tag.opponents.family.hide import (
    CAMP,
    CIRCLE,
    DOUBLE,
    FREEZE,
    HIDER_STYLES,
    HOP,
    JUKE,
    RUN,
    hide,
)
from godojo.games.tag.opponents.family.knowledge import FullKnowledge, Knowledge, SightKnowledge
from godojo.games.tag.opponents.family.seek import AMBUSH, CUT_OFF, LEAP, SEARCH, SEEKER_STYLES, seek
from godojo.games.tag.opponents.family.steer import Scratch, make_scratch, stand
from godojo.games.tag.opponents.family.traits import RANGES, TRAIT_FIELDS, Traits, draw_traits
from godojo.kernels.compile import device_kernel, njit_nogil
from godojo.kernels.random import randint, uniform
from godojo.opponents.base import Opponent, check_out, new_memory

MIND = np.dtype(
    [
        ("stream", "u8"),
        *TRAIT_FIELDS,
        ("seek_style", "i4"),
        ("hide_style", "i4"),
        ("keep", "i4"),  # decisions for which a choice stands
        ("goal", "i4"),  # cell to go to, or -1
        ("stuck", "i4"),  # decisions without getting on
        ("last", "i4"),  # cell where a rival was lost, or -1
        ("target", "i4"),  # rival that is chased
        ("way", "i4"),  # direction fled in last
        ("double", "i4"),  # decisions left of running back
        ("waited", "i4"),  # decisions since an ambush began
        ("lurked", "i4"),  # and of those, on the spot
        ("strikes", "i4"),  # decisions left of a hunt; -1: it has not begun
        ("spot", "i4"),  # cell of the ambush, or -1
        ("has_pillar", "i4"),
        ("pillar", "f4", 4),  # way round it: low x, low z, high x, high z
    ],
    align=True,
)
STYLES: Mapping[str, tuple[int, int]] = {
    "still": (CUT_OFF, FREEZE),
    "camper": (AMBUSH, CAMP),
    "doubler": (SEARCH, DOUBLE),
    "hopper": (LEAP, HOP),
    "juker": (CUT_OFF, JUKE),
    "circler": (CUT_OFF, CIRCLE),
    "searcher": (SEARCH, DOUBLE),
    "ambusher": (AMBUSH, CAMP),
    "leaper": (LEAP, HOP),
    "cutoff": (CUT_OFF, RUN),
}
"""By name: how it seeks, how it hides."""
DRAWN = "drawn"
UNIFORM_SHARE = 0.4
"""Of drawn styles, the share that is drawn uniformly; the others by how often they win."""
MEMORY_ROUNDS = 200.0
"""Rounds of a style over which its win rate is averaged."""


class FamilyOpponent(Opponent):
    """A style, its traits, and a source of knowledge."""

    is_numbered = True
    style = ""
    knowledge: type[Knowledge] = SightKnowledge
    keeps: tuple[str, ...] = ("_memory", "_is_new")
    _memory: np.ndarray | None = None
    _win_rates: np.ndarray

    def __init__(self, role: str, seed: int = 0, variant: int | None = None) -> None:
        super().__init__(role, seed)
        if variant is not None and self.style == DRAWN:
            raise GodojoError(f"{DRAWN!r} has no numbered members: it draws another one for every round")
        self.traits = Traits() if variant is None else Traits.numbered(self.style, variant)

    def begin(self, worlds: Worlds) -> None:
        self._memory = new_memory(worlds, self.role, self.seed, MIND)
        self._knowledge = self.knowledge()
        self._knowledge.begin(worlds, self.role)
        for name, array in self._knowledge.memory().items():
            setattr(self, name, array)
        self._win_rates = np.full((2, max(SEEKER_STYLES, HIDER_STYLES)), 0.5)
        self.keeps = ("_memory", "_is_new", "_win_rates", *self._knowledge.memory())
        self._rules = make_rules(worlds.settings)
        self._scratch = make_scratch()
        self._is_new = np.ones(worlds.num_worlds, np.bool_)
        if self.style != DRAWN:
            self._memory["seek_style"], self._memory["hide_style"] = STYLES[self.style]
            self._memory["traits"] = [getattr(self.traits, name) for name in Traits.__struct_fields__]

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        memory = check_out(worlds, self.role, out, self._memory)
        self._is_new |= worlds.ended
        self._knowledge.update(worlds, self._is_new)
        is_drawn = self.style == DRAWN
        if is_drawn and self.role in worlds.winners and worlds.ended.any():
            won = worlds.winner == worlds.winners.index(self.role)
            count_wins(memory, worlds.ended, won, self._win_rates)
        behave(
            self._rules,
            RANGES,
            self._knowledge.beliefs,
            self._knowledge.maps,
            memory,
            self._scratch,
            self._is_new,
            is_drawn,
            self._win_rates,
            out,
        )
        self._is_new[:] = False


def _member(style: str, is_oracle: bool) -> type[FamilyOpponent]:
    name = f"{'Oracle' if is_oracle else ''}{style.title()}Opponent"
    values: dict[str, Any] = {"style": style, "__doc__": f"`{style}`, by {'the true state' if is_oracle else 'sight'}."}
    if is_oracle:
        values |= {"knowledge": FullKnowledge, "needs_privileged_state": True}
    return cast("type[FamilyOpponent]", type(name, (FamilyOpponent,), values))


SIGHTED_FAMILY: dict[str, type[FamilyOpponent]] = {style: _member(style, False) for style in (DRAWN, *STYLES)}
ORACLE_FAMILY: dict[str, type[FamilyOpponent]] = {
    f"oracle-{style}": _member(style, True) for style in (DRAWN, "camper", "juker", "circler", "leaper", "cutoff")
}


@device_kernel
def count_wins(memory: np.ndarray, ended: np.ndarray, won: np.ndarray, win_rates: np.ndarray) -> None:
    """Move the win rates of the styles whose rounds have ended."""
    for world in range(len(ended)):
        if ended[world]:
            m = memory[world, 0]
            for row, style in ((0, m.seek_style), (1, m.hide_style)):
                win_rates[row, style] += ((1.0 if won[world] else 0.0) - win_rates[row, style]) / MEMORY_ROUNDS


@device_kernel
def draw_style(m: Any, win_rates: np.ndarray) -> int:
    """A style, more often one that wins."""
    if uniform(m) < UNIFORM_SHARE:
        return randint(m, len(win_rates))
    whole = 0.0
    for style in range(len(win_rates)):
        whole += win_rates[style] * win_rates[style] + 1e-3
    pick = uniform(m) * whole
    for style in range(len(win_rates) - 1):
        pick -= win_rates[style] * win_rates[style] + 1e-3
        if pick <= 0.0:
            return style
    return len(win_rates) - 1


@njit_nogil
def behave(
    rules: np.ndarray,
    ranges: np.ndarray,
    beliefs: np.ndarray,
    maps: np.ndarray,
    memory: np.ndarray,
    scratch: Scratch,
    is_new: np.ndarray,
    is_drawn: bool,
    win_rates: np.ndarray,
    out: np.ndarray,
) -> None:
    """Every agent acts on its belief."""
    r = rules[0]
    for world in range(len(beliefs)):
        for place in range(beliefs.shape[1]):
            m = memory[world, place]
            b = beliefs[world, place]
            plan = maps[world, min(place, maps.shape[1] - 1)]
            action = out[world, place]
            if is_new[world]:
                start_over(m, ranges, is_drawn, win_rates)
            if not b.active:
                stand(action)
            elif b.chases:
                seek(r, b, m, plan, scratch, action)
            else:
                hide(r, b, m, plan, scratch, action)
            longest = max(abs(action[0]), abs(action[1]), 1.0)
            action[0] /= longest
            action[1] /= longest


@device_kernel
def start_over(m: Any, ranges: np.ndarray, is_drawn: bool, win_rates: np.ndarray) -> None:
    """A new round, and maybe a new character."""
    if is_drawn:
        draw_traits(m, ranges)
        m.seek_style = draw_style(m, win_rates[0, :SEEKER_STYLES])
        m.hide_style = draw_style(m, win_rates[1, :HIDER_STYLES])
    m.keep = 0
    m.goal = -1
    m.stuck = 0
    m.last = -1
    m.target = -1
    m.way = -1
    m.double = 0
    m.waited = 0
    m.lurked = 0
    m.strikes = -1
    m.spot = -1
    m.has_pillar = 0
