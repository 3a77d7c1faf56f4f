"""Landing, as others know it."""

from typing import TYPE_CHECKING

import numpy as np

from godojo.games.base import Game, PlayedRounds
from godojo.games.landing.godot import LandingInGodot
from godojo.games.landing.settings import LandingSettings
from godojo.games.landing.spec import PILOT

if TYPE_CHECKING:
    from godojo.evaluation.parity import ParityPlan
    from godojo.games.landing.sim.twin import LandingTwin
    from godojo.show.replay import ReplaySpec

FUEL_LEFT = 0.8
"""A landing that leaves less of the tank is no success."""


def load_twin() -> "type[LandingTwin]":
    from godojo.games.landing.sim.twin import LandingTwin

    return LandingTwin


def measures(_: LandingSettings, rounds: PlayedRounds) -> dict[str, np.ndarray]:
    """What rounds are judged by. The score of a round is its fuel efficiency: the fraction of the tank that is left."""
    soft = np.isin(rounds.outcome, (PILOT, "off_pad"))
    on_pad = (rounds.outcome == PILOT) | (rounds.terms[PILOT]["pad"] != 0.0)
    left = rounds.score[PILOT]
    return {
        "success": soft & on_pad & (left > FUEL_LEFT),
        "soft": soft,
        "on the pad": on_pad,
        "fuel above 80 %": left > FUEL_LEFT,
        "fuel efficiency": left,
    }


def parity() -> "ParityPlan":
    from godojo.games.landing.parity import PARITY

    return PARITY


def replay() -> "ReplaySpec":
    from godojo.games.landing.replay import SPEC

    return SPEC


def advice(settings: LandingSettings, gamma: float) -> str:
    """Warns if hovering near the pad gains more than a perfect landing, which ends the round."""
    own, ticks = settings.rewards, settings.rules.ticks_per_decision
    decisions = min(1.0 / max(1.0 - gamma, 1e-9), settings.rules.max_ticks / ticks)
    hovering, landing = (own.slow + own.distance) * ticks * decisions, own.soft + own.pad
    if hovering <= landing:
        return ""
    return (
        f"hovering by the pad earns {hovering:.0f} at gamma {gamma:g}, and a perfect landing {landing:g}: pilots may "
        "never touch down; lower gamma (0.92), or pay for progress instead (preset guided)"
    )


GAME = Game(
    "landing",
    LandingSettings,
    load_twin,
    LandingInGodot,
    measures=measures,
    targets={"success": 0.9},
    parity=parity,
    replay=replay,
    advice=advice,
    film_scene="res://games/landing/show/landing_show.tscn",
)
