"""The policies that ship with tag: they load, and the game itself plays the rounds that torch would play in it."""

from pathlib import Path

import numpy as np
import pytest

from godojo.engines.godot.find import Engine
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.players import PolicyPlayer
from godojo.export.dojo_file import load_dojo
from godojo.games.tag.godot import TagInGodot
from tests.conftest import ROOT
from tests.tag_rounds_in_godot import play_in_game

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240)]

POLICIES = ROOT / "godot/games/tag/policies"
ROLES = ("seeker", "hider")
LEVELS = ("easy", "medium", "hard")
WORLDS, ROUNDS, SEED = 20, 3, 5


def shipped(level: str) -> dict[str, Path]:
    return {role: POLICIES / f"{level}_{role}.dojo" for role in ROLES}


def test_every_level_ships_for_both_roles() -> None:
    """And for the players of classic tag, where there are any."""
    names = {path.name for path in POLICIES.glob("*.dojo")}
    classic = {name for name in names if name.endswith("_player.dojo")}
    assert names - classic == {path.name for level in LEVELS for path in shipped(level).values()}
    assert classic in (set(), {f"{level}_player.dojo" for level in LEVELS})


@pytest.mark.slow
def test_the_game_plays_the_rounds_that_torch_plays_in_it(engine: Engine) -> None:
    assert engine
    files = shipped("hard")
    game = play_in_game(files, TagInGodot().configure_options, WORLDS * ROUNDS, worlds=WORLDS, seed=SEED)
    by_torch: list[list[tuple[int, int]]] = [[] for _ in range(WORLDS)]
    with make_vec("tag", engine="godot", num_worlds=WORLDS, seed=SEED) as worlds:
        worlds.reset(SEED)
        players = {role: PolicyPlayer(*load_dojo(path)) for role, path in files.items()}
        for player in players.values():
            player.begin(worlds)
        while min(map(len, by_torch)) < ROUNDS:
            for role, player in players.items():
                player.act(worlds, worlds.roles[role].action)
            worlds.step()
            for world in np.flatnonzero(worlds.ended):
                by_torch[world].append((int(worlds.winner[world]), int(worlds.length_ticks[world])))
    expected = np.array([rounds[:ROUNDS] for rounds in by_torch])
    same = (game.winner == expected[..., 0]) & (game.ticks == expected[..., 1])
    assert len(np.unique(expected[..., 1])) > 5, "rounds that are all alike prove nothing"
    # A millionth may decide whether a wall is touched, so that a round or two may go another way.
    assert same.mean() >= 0.9, f"{same.mean():.0%} of the rounds are the same"


def test_a_policy_of_another_layout_is_refused(engine: Engine, tmp_path: Path) -> None:
    assert engine
    (tmp_path / "empty.dojo").write_bytes(b"DOJO")
    with pytest.raises(GodojoError, match="cut off"):
        play_in_game(dict.fromkeys(ROLES, tmp_path / "empty.dojo"), TagInGodot().configure_options, 1, worlds=1)
