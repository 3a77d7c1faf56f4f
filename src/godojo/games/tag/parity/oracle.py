"""Tag's twin as an oracle of hunts: any of the arenas may be the one that is played in."""

import numpy as np

from godojo.engines.base import Worlds
from godojo.evaluation.parity.oracle import OraclePlan
from godojo.games.tag.arenas import hand_made_arenas
from godojo.games.tag.parity.plan import TagWorlds
from godojo.games.tag.parity.record import FIELDS
from godojo.games.tag.parity.replay import put, state_of
from godojo.games.tag.settings import TagSettings


def oracle(settings: TagSettings) -> OraclePlan:
    arenas = tuple(hand_made_arenas(settings).values())

    def begin(worlds: Worlds, observation: np.ndarray, nudges: np.ndarray) -> None:
        assert isinstance(worlds, TagWorlds)
        arena = np.arange(worlds.num_worlds) % len(arenas)
        empty = np.zeros((settings.agent_count, len(FIELDS)), np.float32)
        sizes = worlds.twin.catalogue["size_m"]
        states = np.stack([state_of(settings, sizes[place], observation, empty) for place in arena])
        for place, field in enumerate(("x", "z", "heading")):
            states[:, :, FIELDS.index(field)] += nudges[:, None, place]
        put(worlds, arena, states, np.zeros(worlds.num_worlds, np.int64))
        worlds.twin.observe()

    return OraclePlan(
        candidates=len(arenas),
        make=lambda count: TagWorlds(count, settings, arenas),
        put=begin,
        tolerance={"position": 0.05, "velocity": 0.5, "forward": 0.5, "is_seeker": 0.5, "time_left": 0.05},
        rays="rays",
        ray_tolerance=0.2,
    )
