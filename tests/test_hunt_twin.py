"""The twin as an oracle: it agrees with itself, and notices other rules."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from godojo.engines.make import make_vec
from godojo.evaluation.parity.oracle import Oracle
from godojo.games.base import GAMES

CHANGES = {
    "navigation": {"motion.speed_mps": 1.5},
    "landing": {"craft.thrust_n": 9000.0},
    "tag": {"motion.hider_speed_mps": 3.0},
}
"""Settings that another build of the game might have."""


def differences(game: str, settings: Any, decisions: int, held: Sequence[float] | None = None) -> list[str]:
    """What the oracle of the usual settings says about a game with these; one action is `held`, or random ones."""
    oracle = Oracle(GAMES[game].require("parity", "test")().oracle(GAMES[game].settings.defaults()))
    worlds = make_vec(game, num_worlds=1, seed=5, settings=settings)
    roles, chance, found = list(worlds.roles.values()), np.random.default_rng(1), []
    oracle.begin(np.concatenate([role.observation[0] for role in roles]))
    for decision in range(decisions):
        for role in roles:
            if held is not None:
                role.action[:] = held
            elif decision % 7 == 0:
                role.action[:] = chance.uniform(-1.0, 1.0, role.action.shape)
        actions = [role.action.copy() for role in roles]
        worlds.step()
        ended = bool(worlds.ended[0])
        seen = np.concatenate([(role.final_observation if ended else role.observation)[0] for role in roles])
        terms = np.concatenate([role.terms[0] for role in roles])
        what, _ = oracle.step(actions, seen, terms, int(worlds.winner[0]) if ended else None)
        found += [what] if what else []
        if ended:
            oracle.begin(np.concatenate([role.observation[0] for role in roles]))
    return found


@pytest.mark.parametrize("game", ["navigation", "landing", "tag"])
def test_the_oracle_tells_other_rules_from_its_own(game: str) -> None:
    settings = GAMES[game].settings.defaults()
    assert not differences(game, settings, 150)
    assert differences(game, settings.override(**CHANGES[game]), 150)


def test_a_difference_late_in_a_round_is_no_tie() -> None:
    """Thrust beyond the 50 s of a tank: nudged copies have drifted apart by then, and still none agrees."""
    settings, upwards = GAMES["landing"].settings.defaults(), (0.0, 1.0, 0.0, 0.0, 0.0)
    assert not differences("landing", settings, 700, upwards)
    assert differences("landing", settings.override(**{"craft.fuel_s": 200.0}), 700, upwards) == ["velocity"]
