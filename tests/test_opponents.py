"""Opponents play by their contract, look only at what they may, and are as strong as their names say."""

from pathlib import Path

import numba
import numpy as np
import pytest

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.engines.multi_task import MultiTaskWorlds
from godojo.engines.sim import SimWorlds
from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena, Box, SpawnArea
from godojo.games.tag.opponents import OPPONENTS
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.sim.twin import TagTwin
from godojo.opponents import make_opponent

NAMES = tuple(OPPONENTS)
ROLES = ("seeker", "hider")
EVEN: dict[str, object] = {
    "motion.seeker_speed_mps": 6.5,
    "motion.seeker_acceleration_mps2": 40.0,
    "rules.round_s": 10.0,
}
"""A seeker as light on its feet as the hider: what it does is what it wants, not what its weight lets it."""


def play(worlds: Worlds, names: dict[str, str], decisions: int, seed: int = 7) -> np.ndarray:
    """All actions taken, [decisions, worlds, agents, 3]."""
    players = {role: make_opponent(name, role, seed, game="tag") for role, name in names.items()}
    for player in players.values():
        player.begin(worlds)
    taken = []
    for _ in range(decisions):
        for role, player in players.items():
            player.act(worlds, worlds.roles[role].action)
        taken.append(np.concatenate([worlds.roles[role].action for role in players], axis=1))
        worlds.step()
    return np.array(taken)


def seeker_wins(seeker: str, hider: str, generated: float = 0.0, **values: object) -> float:
    """Share of rounds that the seeker wins: the first round of each of 200 worlds."""
    settings = TagSettings.defaults().override(**EVEN | values)
    worlds = make_vec("tag", num_worlds=200, seed=11, settings=settings, generated_share=generated)
    players = {
        "seeker": make_opponent(seeker, "seeker", 1, game="tag"),
        "hider": make_opponent(hider, "hider", 2, game="tag"),
    }
    for player in players.values():
        player.begin(worlds)
    is_over, won = np.zeros(200, bool), np.zeros(200, bool)
    while not is_over.all():
        for role, player in players.items():
            player.act(worlds, worlds.roles[role].action)
        worlds.step()
        won |= worlds.ended & ~is_over & (worlds.winner == 1)
        is_over |= worlds.ended
    return float(won.mean())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", [(1, 1), (2, 3)])
def test_actions_are_legal_and_somebody_moves(name: str, split: tuple[int, int]) -> None:
    settings = TagSettings.defaults().override(**{"rules.seekers": split[0], "rules.hiders": split[1]})
    worlds = make_vec("tag", num_worlds=12, seed=3, settings=settings, generated_share=0.5)
    taken = play(worlds, {"seeker": name, "hider": name}, 40)
    assert taken.shape == (40, 12, sum(split), 3)
    assert np.isfinite(taken).all()
    assert np.abs(taken).max() <= 1.0 + 1e-5
    assert np.hypot(taken[..., 0], taken[..., 1]).max() > 0.5


@pytest.mark.parametrize("name", NAMES)
def test_they_play_classic_tag(name: str) -> None:
    settings = TagSettings.defaults().override(**{"rules.mode": "classic", "rules.players": 3})
    worlds = make_vec("tag", num_worlds=8, seed=3, settings=settings)
    assert np.isfinite(play(worlds, {"player": name}, 40)).all()


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_play_whatever_the_threads_and_the_batch(name: str) -> None:
    names = {"seeker": name, "hider": name}
    threads = numba.get_num_threads()
    whole = play(make_vec("tag", num_worlds=24, seed=5, generated_share=0.5), names, 60)
    try:
        numba.set_num_threads(1)
        part = play(make_vec("tag", num_worlds=10, seed=5, generated_share=0.5), names, 60)
    finally:
        numba.set_num_threads(threads)
    assert np.array_equal(whole[:, :10], part)
    if name in ("random", "wander"):
        other = play(make_vec("tag", num_worlds=10, seed=5, generated_share=0.5), names, 60, seed=8)
        assert not np.array_equal(part, other)


@pytest.mark.parametrize("name", ["sighted", "oracle", "wander"])
def test_a_new_round_is_played_as_if_there_had_been_none_before(name: str) -> None:
    """One has played a round that ended, another of the same mind begins afresh: both must do the same."""
    settings = TagSettings.defaults().override(**{"rules.round_s": 1.0})
    worlds = make_vec("tag", num_worlds=6, seed=9, settings=settings)
    old = {role: make_opponent(name, role, 4, game="tag") for role in ROLES}
    for player in old.values():
        player.begin(worlds)
    for _ in range(200):
        for role, player in old.items():
            player.act(worlds, worlds.roles[role].action)
        worlds.step()
        if worlds.ended.all():
            break
    assert worlds.ended.all()
    for role, player in old.items():
        fresh = make_opponent(name, role, 4, game="tag")
        fresh.begin(worlds)
        if name == "wander":  # it draws lots: compare the course, which a lot changes by little
            worlds.roles[role].action[:] = 0
        one, two = np.zeros_like(worlds.roles[role].action), np.zeros_like(worlds.roles[role].action)
        player.act(worlds, one)
        fresh.act(worlds, two)
        assert np.abs(one - two)[..., :2].max() < (0.3 if name == "wander" else 1e-6)


def walled(opening: bool = False) -> Arena:
    """Two rooms with a wall between them, the seeker's and the hider's."""
    depth = 8.0 if opening else 12.0
    boxes = (Box((0.0, 1.5, (12.0 - depth) / 2), (0.8, 3.0, depth), "tall"),)
    spawns = (
        SpawnArea((-4.0, 0.0, 0.0), (0.5, 0.5), ("seeker",)),
        SpawnArea((4.0, 0.0, 0.0), (0.5, 0.5), ("hider",)),
    )
    return Arena(1, "walled", "Walled", (12.0, 12.0), boxes, spawns)


def actions_with_the_other_at(name: str, role: str, z_m: float) -> np.ndarray:
    """What the agent does over 20 decisions while the other one stands still behind the wall, at `z_m`."""
    worlds = make_vec("tag", num_worlds=2, seed=2, arenas=[walled()])
    told = worlds.privileged()
    told.position_m[:, 1 if role == "seeker" else 0, 2] = z_m
    assert isinstance(worlds, SimWorlds)
    assert isinstance(worlds.twin, TagTwin)
    worlds.twin.observe()
    return play(worlds, {role: name}, 20)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ["random", "wander", "sighted"])
def test_who_is_behind_a_wall_changes_nothing(name: str, role: str) -> None:
    assert np.array_equal(actions_with_the_other_at(name, role, -3.0), actions_with_the_other_at(name, role, 3.0))


def test_sighted_never_asks_for_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = make_vec("tag", num_worlds=2, seed=2)
    assert isinstance(worlds, SimWorlds)
    player = make_opponent("sighted", "seeker", 1, game="tag")
    player.begin(worlds)
    monkeypatch.setattr(worlds.twin, "agents", None)
    player.act(worlds, worlds.roles["seeker"].action)


def test_oracle_finds_the_way_round() -> None:
    """The only opening is at the far end of the wall, out of sight of both."""
    worlds = make_vec(
        "tag", num_worlds=8, seed=2, arenas=[walled(opening=True)], settings=TagSettings.defaults().override(**EVEN)
    )
    assert isinstance(worlds, SimWorlds)
    player = make_opponent("oracle", "seeker", 1, game="tag")
    player.begin(worlds)
    caught = np.zeros(8, bool)
    for _ in range(70):
        player.act(worlds, worlds.roles["seeker"].action)
        worlds.step()
        caught |= worlds.ended & (worlds.winner == 1)
    assert caught.all()


def test_oracle_climbs_to_whom_it_seeks() -> None:
    boxes = (Box((3.0, 0.5, 0.0), (3.0, 1.0, 4.0), "platform"), Box((3.5, 1.5, 0.0), (2.0, 1.0, 4.0), "platform"))
    spawns = (
        SpawnArea((-4.0, 0.0, 0.0), (0.5, 0.5), ("seeker",)),
        SpawnArea((3.6, 2.0, 0.0), (0.5, 0.5), ("hider",)),
    )
    arena = Arena(1, "stairs", "Stairs", (12.0, 12.0), boxes, spawns)
    worlds = make_vec("tag", num_worlds=8, seed=2, arenas=[arena], settings=TagSettings.defaults().override(**EVEN))
    player = make_opponent("oracle", "seeker", 1, game="tag")
    player.begin(worlds)
    caught = np.zeros(8, bool)
    for _ in range(60):
        player.act(worlds, worlds.roles["seeker"].action)
        worlds.step()
        caught |= worlds.ended & (worlds.winner == 1)
    assert caught.all()


@pytest.mark.parametrize("generated", [0.0, 1.0])
def test_strength(generated: float) -> None:
    wins = {
        (seeker, hider): seeker_wins(seeker, hider, generated)
        for seeker, hider in [
            ("random", "random"),
            ("random", "sighted"),
            ("wander", "sighted"),
            ("sighted", "random"),
            ("sighted", "wander"),
            ("sighted", "sighted"),
            ("sighted", "oracle"),
            ("oracle", "sighted"),
            ("oracle", "oracle"),
        ]
    }
    assert wins["random", "random"] < 0.25
    assert wins["random", "sighted"] < 0.05
    assert wins["wander", "sighted"] < 0.12
    assert wins["sighted", "random"] > 0.65
    assert wins["sighted", "wander"] > 0.5
    assert wins["oracle", "sighted"] > wins["sighted", "sighted"] + 0.3
    assert wins["sighted", "oracle"] < wins["sighted", "sighted"] - 0.15
    assert wins["oracle", "oracle"] < wins["oracle", "sighted"]


def test_a_slow_seeker_does_not_catch_the_oracle() -> None:
    assert seeker_wins("oracle", "oracle", **{"motion.seeker_speed_mps": 5.0}) < 0.3


def test_privileged_is_the_state() -> None:
    worlds = make_vec("tag", num_worlds=3, seed=1)
    told = worlds.privileged()
    before = told.position_m.copy()
    worlds.step({"seeker": np.ones((3, 1, 3), np.float32)})
    assert told.position_m.shape == (3, 2, 3)
    assert not np.array_equal(before[:, told.first_agent["seeker"]], told.position_m[:, told.first_agent["seeker"]])
    assert (told.box_high_m[0, :, : told.box_count[0]] > told.box_low_m[0, :, : told.box_count[0]]).all()


def test_the_truth_about_tasks_side_by_side() -> None:
    """An oracle plays in each task as it does there alone."""
    parts = {name: make_vec("tag", num_worlds=3, seed=place) for place, name in enumerate(("one", "other"))}
    mixed = MultiTaskWorlds(parts)
    player = make_opponent("oracle", "seeker", game="tag")
    player.begin(mixed)
    for _ in range(40):
        player.act(mixed, mixed.roles["seeker"].action)
        mixed.step()
    told = mixed.privileged()
    for place, part in enumerate(parts.values()):
        alone = part.privileged()
        rows = slice(3 * place, 3 * place + 3)
        assert told.position_m[rows] == pytest.approx(alone.position_m)
        assert (told.box_low_m[rows] == alone.box_low_m).all()
    assert told.first_agent == alone.first_agent


def test_mistakes_in_calling() -> None:
    worlds = make_vec("tag", num_worlds=2, seed=1)
    player = make_opponent("sighted", "seeker", game="tag")
    with pytest.raises(GodojoError, match="begin"):
        player.act(worlds, worlds.roles["seeker"].action)
    player.begin(worlds)
    with pytest.raises(GodojoError, match="float64"):
        player.act(worlds, np.zeros((2, 1, 3)))
    with pytest.raises(GodojoError, match="there is: seeker, hider"):
        make_opponent("oracle", "goalkeeper", game="tag").begin(worlds)


def test_unknown_names_are_answered_with_the_valid_ones() -> None:
    with pytest.raises(GodojoError, match=r"did you mean sighted\?"):
        make_opponent("sightd", "seeker", game="tag")
    with pytest.raises(GodojoError, match=r"there is: random, wander, .*sighted, .*oracle, or"):
        make_opponent("xyzzy", "seeker", game="tag")
    with pytest.raises(GodojoError, match=r"my.py:Class"):
        make_opponent("my.py", "seeker", game="tag")
    with pytest.raises(GodojoError, match="no such file"):
        make_opponent("nowhere/my.py:Mine", "seeker", game="tag")


HEAD = "import numpy as np\nclass Mine:\n    def __init__(self, role, seed): pass\n"
BEGIN = "    def begin(self, worlds): pass\n"


def users(folder: Path, text: str, name: str = "Mine") -> str:
    (folder / "mine.py").write_text(text)
    return f"{folder / 'mine.py'}:{name}"


def test_a_users_own_class_plays(tmp_path: Path) -> None:
    worlds = make_vec("tag", num_worlds=2, seed=1)
    body = "    def act(self, worlds, out): out[:] = 0.25\n"
    player = make_opponent(users(tmp_path, HEAD + BEGIN + body), "hider", 3, game="tag")
    player.begin(worlds)
    player.act(worlds, worlds.roles["hider"].action)
    assert (worlds.roles["hider"].action == 0.25).all()
    body = "    def act(self, worlds, out): return np.full(out.shape, 0.5)\n"
    player = make_opponent(users(tmp_path, HEAD + BEGIN + body), "hider", 3, game="tag")
    player.begin(worlds)
    player.act(worlds, worlds.roles["hider"].action)
    assert (worlds.roles["hider"].action == 0.5).all()


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (HEAD + BEGIN, "Mine", "no method act"),
        (HEAD + BEGIN + "    def act(self, worlds): pass\n", "Mine", r"callable as act\(self, worlds, out\)"),
        (HEAD.replace("role, seed", "role") + BEGIN + "    def act(self, worlds, out): pass\n", "Mine", "role, seed"),
        (HEAD, "Mien", "no class 'Mien'; did you mean Mine"),
        ("x = 1\n", "Mine", "there is none"),
        ("def broken(:\n", "Mine", r"SyntaxError.*line 1"),
        ("import os\n1 / 0\n", "Mine", r"ZeroDivisionError.*line 2"),
        ("raise SystemExit(3)\n", "Mine", "SystemExit"),
    ],
)
def test_users_files_that_cannot_be_played(tmp_path: Path, text: str, name: str, said: str) -> None:
    with pytest.raises(GodojoError, match=said):
        make_opponent(users(tmp_path, text, name), "hider", game="tag")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return np.zeros((1, 3))", r"returned the shape \(1, 3\), not \(4, 1, 3\)"),
        ("out[2, 0, 1] = np.nan", "action 1 of hider 0 in world 2 is nan"),
        ("return np.full(out.shape, 1j)", "returned complex128"),
        ("return worlds.nothing", r"AttributeError.*line 5"),
    ],
)
def test_users_answers_are_checked(tmp_path: Path, body: str, said: str) -> None:
    worlds = make_vec("tag", num_worlds=4, seed=1)
    player = make_opponent(
        users(tmp_path, HEAD + BEGIN + f"    def act(self, worlds, out): {body}\n"), "hider", game="tag"
    )
    player.begin(worlds)
    with pytest.raises(GodojoError, match=said):
        player.act(worlds, worlds.roles["hider"].action)
