"""Tag, as others know it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from godojo.games.base import Game, Places, PlayedRounds
from godojo.games.tag.arenas import generate_arena, hand_made_arenas, read_arena
from godojo.games.tag.godot import TagInGodot, generated_pool
from godojo.games.tag.options import TagOptions
from godojo.games.tag.settings import TagSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from godojo.bench.sim import Baseline
    from godojo.evaluation.parity import ParityPlan
    from godojo.games.tag.sim.device import TagOnDevice
    from godojo.games.tag.sim.twin import TagTwin
    from godojo.games.tag.truth import TagTruth
    from godojo.opponents import Opponent
    from godojo.show.replay import Highlight, Replay, ReplaySpec

BOTH, HAND_MADE, GENERATED = "held-out", "hand-made", "generated"


def on_device() -> "type[TagOnDevice]":
    from godojo.games.tag.sim.device import TagOnDevice

    return TagOnDevice


def load_twin() -> "type[TagTwin]":
    from godojo.games.tag.sim.twin import TagTwin

    return TagTwin


def training_options(_: TagSettings) -> dict[str, Any]:
    """Arenas are generated, so that the hand-made ones stay unseen."""
    return {"generated_share": 1.0}


def judging_options(settings: TagSettings, arenas: str) -> dict[str, Any]:
    """`held-out`: about every other round in a hand-made arena, the others in one generated for the round; `hand-made`,
    `generated`, or what `Places.find` finds."""
    if arenas == GENERATED:
        return {"generated_share": 1.0}
    if arenas in (BOTH, HAND_MADE):
        share = 0.5 if arenas == BOTH else 0.0
        return {"arenas": list(hand_made_arenas(settings).values()), "generated_share": share}
    return {"arenas": places(settings).find(arenas, also=(BOTH, HAND_MADE, GENERATED))}


def pool_options(settings: TagSettings, asked: dict[str, Any], seed: int) -> dict[str, Any]:
    """Godot makes no arenas for a round; it takes one of those that are sent along."""
    return {"generated_arenas": generated_pool(seed, settings)} if asked.get("generated_share") else {}


def measures(settings: TagSettings, rounds: PlayedRounds) -> dict[str, np.ndarray]:
    """Of several hiders: how many were caught. A seeker's score is the hiders that it caught."""
    rules = settings.rules
    if rules.mode == "classic" or rules.hiders == 1:
        return {}
    catches = np.rint(rounds.score["seeker"].astype(np.float64) * rules.seekers)
    return {"catches": catches, "share caught": catches / rules.hiders}


def opponents() -> "Mapping[str, type[Opponent]]":
    from godojo.games.tag.opponents import OPPONENTS

    return OPPONENTS


def truth(options: TagOptions) -> "TagTruth":
    from godojo.games.tag.truth import TagTruth

    return TagTruth(options)


def parity() -> "ParityPlan":
    from godojo.games.tag.parity import PARITY

    return PARITY


def numpy_baseline() -> "Baseline":
    from godojo.games.tag.numpy_baseline import baseline

    return baseline()


def places(settings: TagSettings) -> Places:
    return Places(
        "arena",
        "arenas",
        hand_made_arenas(settings),
        lambda path: read_arena(path, settings),
        lambda seed: generate_arena(seed, settings),
    )


def replay() -> "ReplaySpec":
    from godojo.games.tag.replay import SPEC

    return SPEC


def behaviours() -> "Callable[[Replay], Mapping[str, Sequence[Highlight]]]":
    from godojo.games.tag.behaviours import behaviours

    return behaviours


GAME = Game(
    "tag",
    TagSettings,
    load_twin,
    TagInGodot,
    training_options,
    judging_options,
    pool_options,
    shared_score="not it",
    opponents=opponents,
    references=Path(__file__).parent / "references",
    measures=measures,
    on_device=on_device,
    truth=truth,
    parity=parity,
    numpy_baseline=numpy_baseline,
    places=places,
    replay=replay,
    behaviours=behaviours,
)
