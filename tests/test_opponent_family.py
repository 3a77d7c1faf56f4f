"""Each member of the family does what it is named for, by what it may know, and is the same player every time."""

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.engines.sim import SimWorlds
from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena, Box, SpawnArea, hand_made_arenas
from godojo.games.tag.opponents import OPPONENTS
from godojo.games.tag.opponents.family import ORACLE_FAMILY, SIGHTED_FAMILY, STYLES
from godojo.games.tag.opponents.family.traits import BANDS, RANGES, Traits
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.sim.twin import TagTwin
from godojo.opponents import is_scripted, make_opponent, may_need_privileged_state, yardstick
from tests.test_opponents import actions_with_the_other_at, play

HEAVY = TagSettings.defaults().override(
    **{
        "motion.seeker_speed_mps": 11.5,
        "motion.seeker_acceleration_mps2": 10.0,
        "motion.air_acceleration_mps2": 4.5,
        "rules.round_s": 10.0,
    }
)
"""A fast seeker that turns slowly, and a hider that is light on its feet."""
SEEKER, HIDER = 0, 1


def plain(*boxes: Box, size_m: float = 30.0) -> Arena:
    spawns = (
        SpawnArea((-size_m / 2 + 2, 0.0, -size_m / 2 + 2), (1.0, 1.0), ("seeker",)),
        SpawnArea((size_m / 2 - 2, 0.0, size_m / 2 - 2), (1.0, 1.0), ("hider",)),
    )
    return Arena(1, "plain", "Plain", (size_m, size_m), boxes, spawns)


def placed(arena: Arena, seeker: tuple[float, ...], hider: tuple[float, ...], num_worlds: int = 4) -> SimWorlds:
    """Worlds in which the two stand at (x, z), and maybe have the speed (x, z)."""
    worlds = make_vec("tag", num_worlds=num_worlds, seed=2, arenas=[arena], settings=HEAVY)
    true = worlds.privileged()
    for agent, (x, z, *speed) in ((SEEKER, seeker), (HIDER, hider)):
        true.position_m[:, agent, 0], true.position_m[:, agent, 2] = x, z
        if speed:
            true.velocity_mps[:, agent, 0], true.velocity_mps[:, agent, 2] = speed
    assert isinstance(worlds, SimWorlds)
    assert isinstance(worlds.twin, TagTwin)
    worlds.twin.agents["near_slack_m"] = -1.0
    worlds.twin.agents["heading"][:, SEEKER] = math.atan2(hider[0] - seeker[0], hider[1] - seeker[1])
    worlds.twin.agents["heading"][:, HIDER] = math.atan2(seeker[0] - hider[0], seeker[1] - hider[1])
    worlds.twin.observe()
    return worlds


def watch(
    worlds: Worlds, names: dict[str, str], decisions: int, fixed: dict[str, tuple[float, float, float]] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Positions [decisions, worlds, agents, 3] while nobody has won, and who was caught; some do the same always."""
    players = {role: make_opponent(name, role, 3, game="tag") for role, name in names.items()}
    for player in players.values():
        player.begin(worlds)
    for role, action in (fixed or {}).items():
        worlds.roles[role].action[:] = action
    seen, caught = [], np.zeros(worlds.num_worlds, bool)
    for _ in range(decisions):
        seen.append(worlds.privileged().position_m.copy())
        for role, player in players.items():
            player.act(worlds, worlds.roles[role].action)
        worlds.step()
        caught |= worlds.ended & (worlds.winner == 1)
        if worlds.ended.any():
            break
    return np.array(seen), caught


def is_hidden(arena: Arena, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Whether a box is between points [..., 3], seen from above."""
    hidden = np.zeros(one.shape[:-1], bool)
    for share in np.linspace(0, 1, 200):
        x, z = (one[..., axis] + (two[..., axis] - one[..., axis]) * share for axis in (0, 2))
        for box in arena.boxes:
            hidden |= (x > box.low[0]) & (x < box.high[0]) & (z > box.low[2]) & (z < box.high[2])
    return hidden


PILLAR = Box((0.0, 1.2, 0.0), (2.0, 2.4, 2.0), "tall")


@pytest.mark.parametrize("name", ["juker", "oracle-juker"])
def test_juker_sidesteps_an_onrushing_seeker(name: str) -> None:
    rush: dict[str, Any] = {"fixed": {"seeker": (0.0, 1.0, -1.0)}}
    start = ((0.0, -6.0, 0.0, 11.0), (0.0, 0.0))
    _, caught = watch(placed(plain(), *start), {"hider": "still"}, 15, **rush)
    assert caught.all()
    seen, caught = watch(placed(plain(), *start), {"hider": name}, 15, **rush)
    assert not caught.any()
    assert np.abs(seen[-1, :, HIDER, 0]).min() > 1.0


@pytest.mark.parametrize("name", ["circler", "oracle-circler"])
def test_circler_keeps_the_pillar_between(name: str) -> None:
    arena = plain(PILLAR)
    seen, caught = watch(placed(arena, (0.0, -5.0), (0.0, 2.2)), {"seeker": "oracle", "hider": name}, 140)
    assert not caught.any()
    between = is_hidden(arena, seen[:, :, SEEKER], seen[:, :, HIDER])
    assert between.mean() > 0.5
    angle = np.unwrap(np.arctan2(seen[:, 0, HIDER, 0], seen[:, 0, HIDER, 2]))
    assert np.ptp(angle) > math.pi  # and goes round it


def test_doubler_runs_back_past_the_seeker() -> None:
    start = ((0.0, -7.0, 0.0, 9.0), (0.0, 0.0))
    seen, caught = watch(placed(plain(), *start), {"hider": "doubler"}, 18, {"seeker": (0.0, 1.0, -1.0)})
    assert not caught.any()
    assert (seen[-1, :, HIDER, 2] < -1.0).all()  # where the seeker came from


def test_hopper_jumps_over_the_seeker() -> None:
    corridor = plain(Box((-1.8, 1.2, 0.0), (0.8, 2.4, 29.0), "tall"), Box((1.8, 1.2, 0.0), (0.8, 2.4, 29.0), "tall"))
    start = ((0.0, -7.0, 0.0, 11.0), (0.0, 0.0))
    seen, caught = watch(placed(corridor, *start), {"hider": "hopper"}, 14, {"seeker": (0.0, 1.0, -1.0)})
    assert not caught.any()
    assert (seen[:, :, HIDER, 1] - seen[:, :, SEEKER, 1]).max(axis=0).min() > 0.9


@pytest.mark.parametrize("name", ["camper", "oracle-camper"])
def test_camper_gets_out_of_sight_and_stays(name: str) -> None:
    arena = hand_made_arenas(HEAVY)["pillars"]
    worlds = make_vec("tag", num_worlds=24, seed=4, arenas=[arena], settings=HEAVY)
    seen, _ = watch(worlds, {"hider": name}, 60, {"seeker": (0.0, 0.0, -1.0)})
    hidden = is_hidden(arena, seen[45:, :, SEEKER], seen[45:, :, HIDER])
    assert hidden.mean() > (0.9 if name == "oracle-camper" else 0.75)
    assert (np.abs(seen[45] - seen[-1])[:, HIDER].max(axis=1) < 0.5).mean() > 0.85


def test_still_stands_still() -> None:
    taken = play(placed(plain(), (0.0, -3.0), (0.0, 0.0)), {"hider": "still"}, 10)
    assert np.array_equal(taken, np.broadcast_to(np.array([0, 0, -1], np.float32), taken.shape))


@pytest.mark.parametrize("name", ["cutoff", "oracle-cutoff"])
def test_cutoff_aims_ahead_of_a_runner(name: str) -> None:
    seen, caught = watch(
        placed(plain(), (0.0, -5.0), (0.0, 0.0, 6.0, 0.0)), {"seeker": name}, 30, {"hider": (1.0, 0.0, -1.0)}
    )
    assert caught.all()
    early = seen[5:10, :, SEEKER]
    to_hider = seen[5:10, :, HIDER] - early
    course = np.diff(seen[5:11, :, SEEKER], axis=0)
    aim = np.arctan2(course[..., 0], course[..., 2])
    assert (aim > 0.25).all()  # well to the side it runs to, where it was at first straight ahead
    assert np.isfinite(to_hider).all()


def test_cutoff_lets_go_to_turn() -> None:
    """At speed, with the hider behind it, it stops first: letting go brakes harder than steering."""
    worlds = placed(plain(), (0.0, 0.0, 0.0, 11.0), (0.0, -4.0))
    taken = play(worlds, {"seeker": "oracle-cutoff"}, 3)
    assert np.abs(taken[0, :, 0, :2]).max() == 0.0


def test_leaper_leaps_at_whom_it_will_hit() -> None:
    seen, caught = watch(placed(plain(), (0.0, -9.0), (0.0, 0.0)), {"seeker": "leaper", "hider": "still"}, 40)
    assert caught.all()
    height, away = seen[:, :, SEEKER, 1] - 0.45, np.abs(seen[:, :, SEEKER, 2])
    assert (height.max(axis=0) > 0.3).all()
    assert height[away > 7.5].max() < 0.05


def test_ambusher_waits_for_a_hider_that_comes_unawares() -> None:
    wall = Box((0.0, 1.2, 0.0), (0.8, 2.4, 6.0), "tall")
    start = ((-2.0, 2.0), (2.5, 0.0, 0.0, 6.0))
    knowing = type("Knowing", (ORACLE_FAMILY["oracle-cutoff"],), {"style": "ambusher"})
    for kind, waits in ((knowing, True), (ORACLE_FAMILY["oracle-cutoff"], False)):
        worlds = placed(plain(wall), *start)
        worlds.privileged().velocity_mps[:, HIDER] = (-3.0, 0.0, 0.0)
        player = kind("seeker", 1)
        player.begin(worlds)
        player.act(worlds, worlds.roles["seeker"].action)
        assert (np.abs(worlds.roles["seeker"].action[..., :2]).max() == 0.0) == waits


def test_searcher_finds_a_motionless_hider_anywhere_in_a_maze() -> None:
    settings = HEAVY.override(**{"rules.round_s": 40.0})
    worlds = make_vec("tag", num_worlds=24, seed=6, arenas=[hand_made_arenas(settings)["maze"]], settings=settings)
    players = {
        role: make_opponent(name, role, 1, game="tag") for role, name in (("seeker", "searcher"), ("hider", "still"))
    }
    for player in players.values():
        player.begin(worlds)
    caught = np.zeros(24, bool)
    for _ in range(600):
        for role, player in players.items():
            player.act(worlds, worlds.roles[role].action)
        worlds.step()
        caught |= worlds.ended & (worlds.winner == 1)
    assert caught.all()


@pytest.mark.parametrize("role", ["seeker", "hider"])
@pytest.mark.parametrize("name", SIGHTED_FAMILY)
def test_who_is_behind_a_wall_changes_nothing(name: str, role: str) -> None:
    assert np.array_equal(actions_with_the_other_at(name, role, -3.0), actions_with_the_other_at(name, role, 3.0))


@pytest.mark.parametrize("name", SIGHTED_FAMILY)
def test_who_plays_by_sight_never_asks_for_the_state(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = make_vec("tag", num_worlds=3, seed=2)
    assert isinstance(worlds, SimWorlds)

    def refuse() -> None:
        raise AssertionError("asked for the true state")

    monkeypatch.setattr(worlds, "privileged", refuse)
    player = make_opponent(name, "hider", 1, game="tag")
    player.begin(worlds)
    monkeypatch.setattr(worlds.twin, "agents", None)
    for _ in range(3):
        player.act(worlds, worlds.roles["hider"].action)
    assert not may_need_privileged_state(f"{name}:4", "tag")


def test_it_knows_by_sight_where_it_is_and_whom_it_sees() -> None:
    """Sizes are not observed: a wall in sight is enough to know them."""
    worlds = placed(plain(PILLAR, size_m=24.0), (-5.0, -5.0), (3.0, -4.0))
    player = make_opponent("cutoff", "seeker", 1, game="tag")
    player.begin(worlds)
    for _ in range(3):
        player.act(worlds, worlds.roles["seeker"].action)
        worlds.step()
    player.act(worlds, worlds.roles["seeker"].action)
    believed: Any = player.state()["_beliefs"][:, 0]
    true = worlds.privileged().position_m
    assert np.allclose(believed["x"], true[:, SEEKER, 0], atol=1e-3)
    assert np.allclose(believed["z"], true[:, SEEKER, 2], atol=1e-3)
    assert (believed["rivals"] == 1).all()
    assert np.hypot(believed["rival_x"][:, 0] - 3.0, believed["rival_z"][:, 0] + 4.0).max() < 0.5


@pytest.mark.parametrize("name", ["drawn", "oracle-drawn"])
def test_drawn_is_another_one_in_every_world_and_round(name: str) -> None:
    settings = HEAVY.override(**{"rules.round_s": 1.0})
    worlds = make_vec("tag", num_worlds=64, seed=9, settings=settings)
    player = make_opponent(name, "hider", 1, game="tag")
    player.begin(worlds)
    draws = []
    for _ in range(40):
        player.act(worlds, worlds.roles["hider"].action)
        draws.append(player.state()["_memory"][:, 0].copy())
        worlds.step()
    first, last = draws[0], draws[-1]
    assert len(np.unique(first["hide_style"])) >= 5
    assert len(np.unique(first["seek_style"])) == 4
    assert np.array_equal(first["traits"], draws[1]["traits"])
    assert (first["traits"] != last["traits"]).any(axis=1).all()
    share = (first["traits"] - RANGES[:, 0]) / (RANGES[:, 1] - RANGES[:, 0])
    assert share.min() >= 0.0
    assert share.max() <= 1.0
    assert (np.floor(share * 2 * BANDS - 1e-4) % 2 == 0).mean() > 0.99


@pytest.mark.parametrize("draw", [lambda rng: Traits.draw(rng, held_out=True), lambda rng: Traits.draw(rng)])
def test_training_never_draws_what_judging_uses(draw: Callable[[np.random.Generator], Traits]) -> None:
    drawn = [msgspec.structs.astuple(draw(np.random.default_rng(seed))) for seed in range(50)]
    held_out = [msgspec.structs.astuple(Traits.numbered(style, number)) for style in STYLES for number in range(5)]
    bands = [np.floor((np.array(one) - RANGES[:, 0]) / (RANGES[:, 1] - RANGES[:, 0]) * 2 * BANDS) for one in drawn]
    is_held_out = np.array(bands) % 2 == 1
    assert is_held_out.all() or not is_held_out.any()
    kept = [np.floor((np.array(one) - RANGES[:, 0]) / (RANGES[:, 1] - RANGES[:, 0]) * 2 * BANDS) for one in held_out]
    assert (np.array(kept) % 2 == 1).all()
    assert len(set(held_out)) == len(held_out)
    for one in held_out:
        msgspec.convert(dict(zip(Traits.__struct_fields__, one, strict=True)), Traits)


def test_numbered_members_are_the_same_every_time() -> None:
    worlds = {number: make_vec("tag", num_worlds=6, seed=1) for number in range(3)}
    taken = {
        key: play(worlds[key], {"seeker": "oracle", "hider": name}, 60)
        for key, name in enumerate(["juker:7", "juker:7", "juker:8"])
    }
    assert np.array_equal(taken[0], taken[1])
    assert not np.array_equal(taken[0], taken[2])
    assert is_scripted("oracle-juker:3", "tag")
    assert may_need_privileged_state("oracle-juker:3", "tag")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("juker:x", r"whole number, as in juker:7"),
        ("juker:-1", r"whole number"),
        ("sighted:3", r"sighted has no numbered members"),
        ("drawn:3", r"draws another one for every round"),
        ("jukr:3", r"did you mean juker"),
    ],
)
def test_names_that_are_none(name: str, said: str) -> None:
    with pytest.raises(GodojoError, match=said):
        make_opponent(name, "hider", game="tag")


def test_sighted_stays_the_yardstick() -> None:
    assert yardstick("tag") == "sighted"
    assert set(OPPONENTS) >= {"random", "wander", "sighted", "oracle", *SIGHTED_FAMILY, *ORACLE_FAMILY}


@pytest.mark.parametrize("name", ["searcher", "oracle-circler", "drawn"])
def test_a_saved_state_resumes(name: str) -> None:
    worlds = make_vec("tag", num_worlds=6, seed=5, settings=HEAVY)
    player, rival = make_opponent(name, "seeker", 1, game="tag"), make_opponent("oracle", "hider", 2, game="tag")
    for one in (player, rival):
        one.begin(worlds)
    for _ in range(40):
        player.act(worlds, worlds.roles["seeker"].action)
        rival.act(worlds, worlds.roles["hider"].action)
        worlds.step()
    other = make_opponent(name, "seeker", 1, game="tag")
    other.begin(worlds)
    other.load_state(player.state())
    expected, found = (np.zeros_like(worlds.roles["seeker"].action) for _ in range(2))
    player.act(worlds, expected)
    other.act(worlds, found)
    assert np.array_equal(expected, found)


@pytest.mark.parametrize("size_m", [12.0, 60.0])
@pytest.mark.parametrize("name", ["drawn", "oracle-drawn"])
def test_any_size_of_arena_and_team(name: str, size_m: float) -> None:
    settings = HEAVY.override(**{"rules.seekers": 3, "rules.hiders": 5})
    arena = plain(PILLAR, size_m=size_m)
    whole = SpawnArea((0.0, 0.0, -size_m / 4), (size_m - 2.0, size_m / 2 - 4.0), ("seeker", "hider"))
    arena = msgspec.structs.replace(arena, spawns=(whole,))
    worlds = make_vec("tag", num_worlds=6, seed=3, settings=settings, arenas=[arena])
    taken = play(worlds, {"seeker": name, "hider": name}, 80)
    assert np.isfinite(taken).all()
    assert np.abs(taken).max() <= 1.0 + 1e-5
