"""Navigation, as others know it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from godojo.errors import GodojoError
from godojo.games.base import Game, Places, PlayedRounds
from godojo.games.navigation.courses import hand_made_courses, read_course, read_courses
from godojo.games.navigation.godot import NavigationInGodot
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.navigation.spec import WALKER

if TYPE_CHECKING:
    from godojo.evaluation.parity import ParityPlan
    from godojo.games.navigation.sim.twin import NavigationTwin
    from godojo.show.replay import ReplaySpec


def load_twin() -> "type[NavigationTwin]":
    from godojo.games.navigation.sim.twin import NavigationTwin

    return NavigationTwin


def judging_options(_: NavigationSettings, courses: str) -> dict[str, Any]:
    """`held-out` (all that come with the game: what no training has seen are the starts), a course by name, several
    with commas between, or a folder of a user's own."""
    if courses == "held-out":
        return {}
    known = hand_made_courses()
    named = courses.split(",")
    if all(name in known for name in named):
        return {"courses": named}
    folder = Path(courses).expanduser()
    if not folder.is_dir():
        raise GodojoError(f"{courses} is neither a folder of courses nor one of: held-out, {', '.join(known)}")
    return {"courses": list(read_courses(folder).values())}


def measures(_: NavigationSettings, rounds: PlayedRounds) -> dict[str, np.ndarray]:
    """What rounds are judged by. The score of a round is its number of comfort warnings."""
    found = {
        "success": rounds.outcome == WALKER,
        "without a collision": rounds.terms["collision"] == 0.0,
        "without a comfort warning": rounds.score == 0.0,
    }
    return {**found, "all of these": np.all(list(found.values()), axis=0), "without a fall": rounds.outcome != "gap"}


def parity() -> "ParityPlan":
    from godojo.games.navigation.parity import PARITY

    return PARITY


def places(_: NavigationSettings) -> Places:
    return Places("course", "courses", hand_made_courses(), read_course)


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
    parity=parity,
    places=places,
    replay=replay,
)
