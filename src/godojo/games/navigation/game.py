"""Navigation, as others know it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from godojo.games.base import Game, Places, PlayedRounds
from godojo.games.navigation.courses import hand_made_courses, read_course
from godojo.games.navigation.godot import NavigationInGodot
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.navigation.spec import WALKER

if TYPE_CHECKING:
    from godojo.evaluation.parity import ParityPlan
    from godojo.games.navigation.sim.device import NavigationOnDevice
    from godojo.games.navigation.sim.twin import NavigationTwin
    from godojo.learn.presets import ConfigForm
    from godojo.show.replay import ReplaySpec

HELD_OUT = "held-out"
IN_TIME_S = 60.0
"""A goal reached later is no success, however long the rounds of a preset are."""


def on_device() -> "type[NavigationOnDevice]":
    from godojo.games.navigation.sim.device import NavigationOnDevice

    return NavigationOnDevice


def load_twin() -> "type[NavigationTwin]":
    from godojo.games.navigation.sim.twin import NavigationTwin

    return NavigationTwin


def judging_options(settings: NavigationSettings, courses: str) -> dict[str, Any]:
    """`held-out` (all that come with the game: no training has seen the starts), or what `Places.find` finds, several
    with commas between."""
    if courses == HELD_OUT:
        return {}
    there = places(settings)
    return {"courses": [course for name in courses.split(",") for course in there.find(name, also=[HELD_OUT])]}


def measures(_: NavigationSettings, rounds: PlayedRounds) -> dict[str, np.ndarray]:
    """What rounds are judged by. The score of a round is its number of decisions with a comfort warning."""
    found = {
        "success": (rounds.outcome == WALKER) & (rounds.length_s <= IN_TIME_S),
        "without a collision": rounds.terms[WALKER]["collision"] == 0.0,
        "without a comfort warning": rounds.score[WALKER] == 0.0,
    }
    found |= {"all of these": np.all(list(found.values()), axis=0), "without a fall": rounds.outcome != "gap"}
    return {**found, "comfort warnings per minute": 60.0 * rounds.score[WALKER] / rounds.length_s}


def parity() -> "ParityPlan":
    from godojo.games.navigation.parity import PARITY

    return PARITY


def places(_: NavigationSettings) -> Places:
    return Places("course", "courses", hand_made_courses(), read_course)


def advice(settings: NavigationSettings, gamma: float) -> str:
    """Warns if a walker that stands still gains more than one that reaches the goal, which ends the round."""
    step, goal = settings.rewards.smooth + settings.rewards.comfort, settings.rewards.goal
    steps = min(1.0 / max(1.0 - gamma, 1e-9), settings.round_ticks / settings.rules.ticks_per_decision)
    if step * steps <= goal:
        return ""
    return (
        f"standing still earns {step:g} a step, {step * steps:.0f} at gamma {gamma:g}, and the goal {goal:g}: walkers "
        "may never go there; lower gamma (0.95), or pay comfort per metre (preset per_metre)"
    )


def config_form() -> "ConfigForm":
    from godojo.games.navigation.config_sections import FORM

    return FORM


def replay() -> "ReplaySpec":
    from godojo.games.navigation.replay import SPEC

    return SPEC


GAME = Game(
    "navigation",
    NavigationSettings,
    load_twin,
    NavigationInGodot,
    judging_options=judging_options,
    measures=measures,
    targets={"success": 0.95, "without a collision": 0.90},
    on_device=on_device,
    parity=parity,
    checkpoint_prefix="vr_nav",
    places=places,
    replay=replay,
    advice=advice,
    config_form=config_form,
    film_scene="res://games/navigation/show/navigation_show.tscn",
)
