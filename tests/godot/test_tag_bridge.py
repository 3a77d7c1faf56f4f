"""Tag in the real Godot says of every decision what the twin says: the same actions, the same outcome, all of it."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import godojo
from godojo.engines.base import Worlds
from godojo.engines.godot.launch import own_scene
from godojo.engines.godot.open import launch_games
from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena, Box, SpawnArea
from godojo.games.tag.godot import SCENE
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.sim.rewards import measure
from godojo.games.tag.spec import LAYOUT, REWARD_TERMS, WINNERS, Privileged, roles
from godojo.opponents import Opponent, make_opponent
from tests.tag_games import FIELDS, of_everybody

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]
WORLDS = 5
BOXES = (Box((0.0, 1.2, 0.0), (2.0, 2.4, 2.0), "tall"), Box((3.0, 0.3, 2.0), (1.5, 0.6, 1.5), "low"))


def arena(name: str, wide_m: float, deep_m: float) -> Arena:
    """Bodies start in single points, so that a start can be told from a first observation."""
    x, z = wide_m / 2 - 1, deep_m / 2 - 1
    points = [(x, z), (-x, z), (x, -z), (-x, -z), (0.0, z - 0.5), (0.5, 0.5 - z)]
    spawns = tuple(SpawnArea((x, 0.0, z), (0.0, 0.0), ("seeker", "hider")) for x, z in points)
    return Arena(1, name, name, (wide_m, deep_m), BOXES, spawns)


ARENAS = (arena("square", 12.0, 12.0), arena("oblong", 16.0, 10.0))
GAMES: dict[str, tuple[dict[str, object], int]] = {
    "one against one": ({"rules.round_s": 3.0}, 0),
    "two against three": ({"rules.seekers": 2, "rules.hiders": 3, "rules.round_s": 3.0}, 0),
    "classic": ({"rules.mode": "classic", "rules.players": 3, "rules.classic_round_s": 3.0}, 0),
    "cut short": ({"rules.seekers": 1, "rules.hiders": 2, "rules.round_s": 3.0}, 11),
    "classic cut short": ({"rules.mode": "classic", "rules.players": 2, "rules.classic_round_s": 3.0}, 7),
    "a decision that the clock cuts": ({"rules.ticks_per_decision": 7, "rules.round_s": 1.0}, 0),
}


class Pair:
    """The real game and its twin, in the same state."""

    def __init__(self, settings: TagSettings, truncate_after: int) -> None:
        options: dict[str, Any] = {"settings": settings, "arenas": ARENAS, "truncate_after": truncate_after}
        self.settings = settings
        self.real = godojo.make_vec("tag", engine="godot", num_worlds=WORLDS, seed=4, truth=True, **options)
        self.sim = godojo.make_vec("tag", num_worlds=WORLDS, seed=4, **options)
        self.twin: Any = self.sim.twin  # type: ignore[attr-defined]
        self.begin(range(WORLDS))

    def begin(self, worlds: Iterable[int]) -> None:
        """The twin's new rounds begin where the real game's did."""
        told = of_everybody(self.real, "observation")
        for world in worlds:
            number, places = self.start(told[world])
            self.twin.arena_slots[world] = self.twin.catalogue[number]
            team = self.twin.agents[world]
            team["position"] = places
            team["heading"] = np.arctan2(*LAYOUT.view(told[world], "forward").T.astype(float))
            team["chases"] = LAYOUT.view(told[world], "is_seeker")[:, 0] > 0.5
            measure(self.twin.numbers[0], team)
        self.twin.observe()

    def start(self, told: np.ndarray) -> tuple[int, list[tuple[float, float, float]]]:
        """In which arena these observations were made, and from where."""
        for number, place in enumerate(ARENAS):
            wide, deep = place.size_m
            found = []
            for x, _, z in LAYOUT.view(told, "position") * (wide / 2, 1.0, deep / 2):
                near = [
                    at.position_m
                    for at in place.spawns
                    if math.hypot(x - at.position_m[0], z - at.position_m[2]) < 1e-3
                ]
                found += [(at[0], self.settings.body.size_m / 2 + self.settings.motion.skin_m, at[2]) for at in near]
            if len(found) == len(told):
                return number, found
        raise AssertionError(f"nobody can start at {LAYOUT.view(told, 'position')}")

    def step(self, rng: np.random.Generator) -> None:
        """Chasers go for the others, who wander."""
        seen = self.sim.privileged()
        for name, role in self.sim.roles.items():
            action = rng.uniform(-1.2, 1.2, role.action.shape).astype(np.float32)
            for world, agent in np.ndindex(role.action.shape[:2]):
                index = seen.first_agent[name] + agent
                prey = np.flatnonzero((seen.chases[world] == 0) & (seen.active[world] == 1))
                if seen.chases[world, index] and len(prey):
                    way = seen.position_m[world, prey[0]] - seen.position_m[world, index]
                    action[world, agent, :2] = way[[0, 2]] + rng.uniform(-0.3, 0.3, 2)
            for worlds in (self.real, self.sim):
                worlds.roles[name].action[:] = action
        self.real.step()
        self.sim.step()

    def step_by(self, players: dict[Worlds, list[Opponent]]) -> np.ndarray:
        """Everybody decides on both engines, and what was decided in the real one is done; how far they differ."""
        differs = []
        for worlds in (self.real, self.sim):
            for player in players[worlds]:
                player.act(worlds, worlds.roles[player.role].action)
        for name, role in self.real.roles.items():
            differs.append(np.abs(role.action - self.sim.roles[name].action).max(axis=2))
            self.sim.roles[name].action[:] = role.action
        self.real.step()
        self.sim.step()
        return np.concatenate(differs, axis=1)

    def close(self) -> None:
        self.real.close()


@pytest.mark.parametrize("name", GAMES)
def test_every_decision_is_told_as_by_the_twin(name: str) -> None:
    changes, truncate_after = GAMES[name]
    pair = Pair(TagSettings.defaults().override(**changes), truncate_after)
    rng = np.random.default_rng(8)
    ends, rounds = dict.fromkeys(("terminated", "truncated", "alone"), 0), []
    try:
        for _ in range(100):
            pair.twin.results.final_observation.fill(9.0)  # nothing of earlier rounds may pass for this one's
            pair.step(rng)
            compare(pair.real, pair.sim)
            told = {field: of_everybody(pair.real, field) for field in FIELDS}
            ends["terminated"] += int(told["terminated"].sum())
            ends["truncated"] += int(told["truncated"].sum())
            ends["alone"] += int((told["terminated"] & ~pair.real.ended[:, None]).sum())
            rounds += list(zip(pair.real.winner[pair.real.ended], pair.real.arena[pair.real.ended], strict=True))
            pair.begin(np.flatnonzero(pair.real.ended))
    finally:
        pair.close()
    # Everything that was to be compared did happen.
    assert len(rounds) >= WORLDS
    assert {number for _, number in rounds} == {0, 1}
    winners = {WINNERS[winner] for winner, _ in rounds}
    if "classic" in name:
        assert winners == {"nobody"}
    elif not truncate_after and pair.settings.rules.round_s > 2:
        assert "seeker" in winners
    assert (ends["truncated"] > 0) == (truncate_after > 0)
    if name == "two against three":
        assert ends["alone"] > 0


@pytest.mark.parametrize("name", ["one against one", "two against three", "classic"])
def test_oracles_are_told_the_same_and_decide_the_same(name: str) -> None:
    """The twin plays along by its own physics, from where the real rounds began."""
    pair = Pair(TagSettings.defaults().override(**GAMES[name][0]), 0)
    players = {
        worlds: [make_opponent("oracle", role, seed=5, game="tag") for role in worlds.roles]
        for worlds in (pair.real, pair.sim)
    }
    differs, rounds = [], 0
    try:
        for worlds, there in players.items():
            for player in there:
                player.begin(worlds)
        for _ in range(100):
            differs.append(pair.step_by(players))
            rounds += int(pair.real.ended.sum())
            pair.begin(np.flatnonzero(pair.real.ended))
            compare_truths(pair.real.privileged(), pair.sim.privileged())
    finally:
        pair.close()
    assert rounds >= WORLDS
    assert (np.stack(differs) < 1e-3).mean() > 0.99


def compare_truths(real: Privileged, sim: Privileged) -> None:
    """Everything a judge is told."""
    assert real.first_agent == sim.first_agent
    for field in ("active", "chases", "box_count", "size_m", "box_low_m", "box_high_m"):
        assert (getattr(real, field) == getattr(sim, field)).all(), field
    playing = sim.active == 1
    assert (real.grounded == sim.grounded)[playing].all()
    for field in ("position_m", "velocity_mps"):
        np.testing.assert_allclose(getattr(real, field)[playing], getattr(sim, field)[playing], atol=1e-4)
    turned = np.angle(np.exp(1j * (real.heading_rad - sim.heading_rad)))
    assert np.abs(turned[playing]).max() < 1e-4


def test_the_truth_is_told_to_those_who_ask_only() -> None:
    with (
        godojo.make_vec("tag", engine="godot", num_worlds=1) as worlds,
        pytest.raises(GodojoError, match="truth=True"),
    ):
        worlds.privileged()


def compare(real: Worlds, sim: Worlds) -> None:
    """All of the contract's outputs after a step."""
    for field in ("acted", "terminated", "truncated"):
        assert (of_everybody(real, field) == of_everybody(sim, field)).all(), field
    for field in ("terms", "reward"):
        np.testing.assert_allclose(of_everybody(real, field), of_everybody(sim, field), atol=1e-5, err_msg=field)
    ended = sim.ended
    assert (real.ended == ended).all()
    for field in ("winner", "length_ticks", "arena"):
        assert (getattr(real, field)[ended] == getattr(sim, field)[ended]).all(), field
    for field in ("final_terms", "final_score"):
        mine, theirs = of_everybody(real, field)[ended], of_everybody(sim, field)[ended]
        np.testing.assert_allclose(mine, theirs, atol=1e-4, err_msg=field)
    assert_alike(of_everybody(real, "final_observation")[ended], of_everybody(sim, "final_observation")[ended])
    assert_alike(of_everybody(real, "observation")[~ended], of_everybody(sim, "observation")[~ended])
    alone = of_everybody(real, "terminated") & ~ended[:, None]
    for worlds in (real, sim):
        assert not of_everybody(worlds, "final_observation")[alone].any(), "who is caught sees nothing more"


def assert_alike(real: np.ndarray, sim: np.ndarray) -> None:
    """Equal but for rounding; a ray may pass an edge on either side of it."""
    np.testing.assert_allclose(real[..., :13], sim[..., :13], atol=1e-5)
    if real.size:
        assert (np.abs(real - sim) < 1e-4).mean() > 0.97


def test_the_game_describes_itself_as_the_twin_does() -> None:
    settings = TagSettings.defaults().override(
        **{"rules.seekers": 2, "sight.rows": [{"elevation_deg": 0.0, "columns": 9}], "rules.ticks_per_decision": 3}
    )
    with godojo.make_vec("tag", engine="godot", num_worlds=2, settings=settings, arenas=ARENAS) as worlds:
        assert worlds.ticks_per_decision == 3
        assert worlds.reward_terms == REWARD_TERMS
        assert worlds.winners == WINNERS
        assert worlds.arena_names == ("square", "oblong")
        assert list(worlds.roles) == ["seeker", "hider"]
        for role in roles(settings):
            there = worlds.roles[role.name]
            assert there.observation_parts == role.observation_parts
            assert there.action_parts == role.action_parts
            assert there.observation.shape == (2, role.agents, LAYOUT.size(settings))


def test_the_same_seed_gives_the_same_rounds_however_many_worlds() -> None:
    def play(num_worlds: int, again: bool = False) -> np.ndarray:
        rng = np.random.default_rng(1)
        actions = rng.uniform(-1, 1, (60, 3, 2, 3)).astype(np.float32)
        found = []
        with godojo.make_vec("tag", engine="godot", num_worlds=num_worlds, seed=9) as worlds:
            if again:
                worlds.step()
                worlds.reset(9)
            found.append(of_everybody(worlds, "observation")[:3].copy())
            for action in actions:
                for number, role in enumerate(worlds.roles.values()):
                    role.action[:3] = action[:, number : number + 1]
                worlds.step()
                found.append(of_everybody(worlds, "observation")[:3].copy())
        return np.stack(found)

    few = play(3)
    assert (few == play(12)).all()
    assert (few == play(3, again=True)).all()
    assert len(np.unique(few[0, :, 0, :3], axis=0)) == 3


def test_rounds_are_played_in_generated_arenas_too() -> None:
    settings = TagSettings.defaults().override(**{"rules.round_s": 0.5})
    options: dict[str, Any] = {"settings": settings, "arenas": ARENAS[:1], "generated_share": 0.5}
    with godojo.make_vec("tag", engine="godot", num_worlds=16, seed=1, **options) as worlds:
        seen = []
        for _ in range(40):
            worlds.step()
            seen += list(worlds.arena[worlds.ended])
    assert set(seen) == {-1, 0}
    assert 0.3 < np.mean(np.array(seen) == -1) < 0.7


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"colour": 1}, "no such option"),
        ({"settings": {"rules": 1}}, "rules"),
        ({"settings": 7}, "settings must be an object"),
        ({"arenas": {}}, "arenas: must be a list"),
        ({"arenas": [5]}, r"arenas\[0\]: must be an object"),
        ({"arenas": []}, "there must be at least one"),
        ({"arenas": [{"version": 1}]}, r"arenas\[0\]"),
        ({"generated_share": 2}, "from 0 to 1"),
        ({"generated_share": 0.5}, "generated_arenas: there must be"),
        ({"truncate_after": "soon"}, "truncate_after"),
    ],
)
def test_what_cannot_be_played_is_refused_with_a_sentence(options: dict[str, Any], said: str) -> None:
    with pytest.raises(GodojoError, match=said):
        launch_games(own_scene(SCENE), num_worlds=1, options=options).close()


def test_generated_arenas_alone_are_enough() -> None:
    with godojo.make_vec("tag", engine="godot", num_worlds=2, arenas=[], generated_share=1.0) as worlds:
        worlds.step()
        assert worlds.arena_names == ()
        assert of_everybody(worlds, "acted").all()
