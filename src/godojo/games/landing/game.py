"""Landing, as others know it."""

from typing import TYPE_CHECKING

import numpy as np

from godojo.games.base import Game, PlayedRounds
from godojo.games.landing.godot import LandingInGodot
from godojo.games.landing.settings import LandingSettings
from godojo.games.landing.spec import PILOT

if TYPE_CHECKING:
    from godojo.games.landing.sim.twin import LandingTwin

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


GAME = Game(
    "landing",
    LandingSettings,
    load_twin,
    LandingInGodot,
    measures=measures,
    targets={"success": 0.9},
)
