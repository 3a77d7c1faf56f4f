"""Twins of scenes play the very bits that they played when these hashes were saved: a faster kernel changes none.

If one changes on purpose, run `python3 dojo.py twin check` on the games below, then print the new hashes:
`python3 dojo.py run tests/test_twin_world_bits.py`.
"""

import hashlib
import sys
from pathlib import Path

import numpy as np
import pytest

from godojo.engines.random_play import play_randomly
from godojo.resources import godot_sources
from godojo.twin.gdscript.program import compile_program
from godojo.twin.scene.snapshot import read_snapshot
from godojo.twin.world.worlds import TwinWorlds

TESTS = Path(__file__).parent
ARCADE = TESTS / "godot_rl_games" / "arcade"
PROJECTS = {
    "climber": TESTS / "godot_rl_games" / "climber",
    "jumper": ARCADE,
    "driving": ARCADE,
    "first_agent": godot_sources(),
}
SCENES, DECISIONS = 3, 60
SAVED = {
    "climber": "ec2313f63a8cf05d",
    "jumper": "0134fa549553100f",
    "driving": "f05c26c810fa67e2",
    "first_agent": "a8c34e5058181fb8",
}
WITH_PHYSICS = pytest.mark.nightly  # the first game with bodies compiles the physics


def bits_of(game: str) -> str:
    """A hash of a seeded play: positions of bodies, observations, rewards and ends."""
    snapshot = read_snapshot(TESTS / "twin_snapshots" / f"{game}.json")
    program = compile_program(snapshot, lambda path: (PROJECTS[game] / path.removeprefix("res://")).read_text())
    each = int(snapshot.ready["worlds"])
    worlds = TwinWorlds(snapshot, program, SCENES * each)
    worlds.reset(5)
    chance, digest = np.random.default_rng(3), hashlib.sha256()
    for decision in range(DECISIONS):
        for role in worlds.roles.values():
            if decision % 3 == 0:
                play_randomly(role, chance)
        worlds.step()
        for role in worlds.roles.values():
            for array in (role.observation, role.reward, role.terms, role.terminated, role.truncated):
                digest.update(np.ascontiguousarray(array).tobytes())
        for scene in range(SCENES):
            digest.update(worlds.body_positions(scene * each).tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=() if game == "driving" else WITH_PHYSICS) for game in SAVED]
)
def test_a_game_plays_the_same_bits_as_ever(game: str) -> None:
    if sys.platform != "linux":
        pytest.skip("sines come from the system's library")
    assert bits_of(game) == SAVED[game]


if __name__ == "__main__":
    for name in SAVED:
        sys.stdout.write(f'    "{name}": "{bits_of(name)}",\n')
