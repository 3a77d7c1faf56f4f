"""Behaviours of tag: each rule finds what it is meant for and not what only looks like it; counts, clips and motion."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from godojo.cli import app
from godojo.games.settings import TICK_S
from godojo.games.tag import behaviours
from godojo.games.tag.behaviours import RATE_HZ, RULES, Chase, chases
from godojo.games.tag.replay import HIDER, SEEKER
from godojo.games.tag.settings import TagSettings
from godojo.opponents import make_opponent
from godojo.show.behaviours import clip_of, described, found_in, motion_of, write_clips
from godojo.show.encoding import count_frames
from godojo.show.recording import record_rounds
from godojo.show.replay import Replay
from godojo.show.replay_file import write_rounds
from godojo.show.shots import preset

BODY_M = 0.9
Leg = tuple[float, float, float]
"""Seconds, and velocity along x and z."""


def walk(start: tuple[float, float], *legs: Leg) -> np.ndarray:
    """Positions at `RATE_HZ` of somebody who stands at a place and runs leg by leg."""
    steps = [np.tile([vx, 0.0, vz], (round(seconds * RATE_HZ), 1)) for seconds, vx, vz in legs]
    moved = np.cumsum(np.concatenate([np.zeros((1, 3)), *steps]) / RATE_HZ, axis=0)
    return np.array([start[0], BODY_M / 2, start[1]]) + moved


def chase(
    seeker: np.ndarray,
    hider: np.ndarray,
    *,
    caught: bool = False,
    boxes: Sequence[tuple[tuple[float, float, float], tuple[float, float, float]]] = (),
    grounded: np.ndarray | None = None,
) -> Chase:
    length = min(len(seeker), len(hider))
    seeker, hider = seeker[:length], hider[:length]
    return Chase(
        begins_s=0.0,
        seeker_m=seeker,
        seeker_mps=np.gradient(seeker, 1 / RATE_HZ, axis=0),
        hider_m=hider,
        hider_mps=np.gradient(hider, 1 / RATE_HZ, axis=0),
        grounded=np.ones(length, bool) if grounded is None else grounded[:length],
        is_caught=caught,
        boxes_m=np.array([*zip(*boxes, strict=True)], np.float64).reshape(2, -1, 3),
        body_m=BODY_M,
        eye_height_m=0.15,
        hider_top_mps=6.0,
    )


def kinds(made: Chase) -> set[str]:
    return {name for name, (rule, _) in RULES.items() if list(rule(made))}


RUSH = walk((-8.0, 0.0), (2.5, 8.0, 0.0))
"""A seeker that cannot stop: it is at the origin after a second."""


def dodge(after_s: float, speed_mps: float = 6.0) -> np.ndarray:
    return walk((0.0, 0.0), (after_s, 0.0, 0.0), (2.5 - after_s, 0.0, speed_mps))


def test_juke() -> None:
    assert kinds(chase(RUSH, dodge(0.75))) == {"juke"}
    assert not kinds(chase(RUSH, dodge(0.3))), "too early: the seeker is more than 2.5 m away"
    assert not kinds(chase(RUSH, dodge(0.75, 4.0))), "too slowly to be a dodge"
    assert not kinds(chase(RUSH[:32], dodge(0.8), caught=True)), "caught"
    assert not kinds(chase(walk((-3.0, 0.0), (2.5, 3.0, 0.0)), dodge(0.6))), "the seeker walks"


def returning(aside_mps: float, back_mps: float) -> np.ndarray:
    return walk((3.0, 0.0), (0.4, 5.0, 0.0), (0.35, 0.0, aside_mps), (1.5, back_mps, 0.0))


def test_double_back() -> None:
    after = walk((0.0, 0.0), (2.2, 8.0, 0.0))
    assert "double back" in kinds(chase(after, returning(6.0, -6.0)))
    assert "double back" not in kinds(chase(after, returning(6.0, 5.0))), "it runs on"
    assert "double back" not in kinds(chase(after[:32], returning(6.0, -6.0))), "the round ends"
    assert "double back" not in kinds(chase(walk((9.0, 9.0), (2.2, 8.0, 0.0)), returning(6.0, -6.0))), "another way"
    airborne = np.zeros(80, bool)
    assert "double back" not in kinds(chase(after, returning(6.0, -6.0), grounded=airborne)), "over it, not past it"


def test_cut_off() -> None:
    flees = walk((6.0, 0.0), (1.2, 0.0, 5.0))
    heads_off = walk((0.0, 0.0), (1.2, 4.3, 5.0))
    assert kinds(chase(heads_off, flees, caught=True)) == {"cut-off"}
    assert not kinds(chase(heads_off, flees)), "no catch"
    follows = walk((6.0, -5.0), (1.2, 0.0, 8.4))
    assert not kinds(chase(follows, flees, caught=True)), "from behind"
    assert not kinds(chase(heads_off, walk((6.0, 0.0), (0.6, 0.0, -5.0), (0.6, 0.0, 5.0)), caught=True)), "by chance"


WALL = ((1.5, 0.0, -3.0), (2.0, 2.5, 1.0))
COMES = walk((5.0, -4.0), (2.3, -0.7, 3.0), (1.0, 0.0, 0.0))
"""A hider that walks along behind the wall and comes out at its end."""
STRIKES: Leg = (1.0, 3.0, 2.5)


def test_ambush() -> None:
    waits = walk((0.0, 0.0), (2.3, 0.0, 0.0), STRIKES)
    assert kinds(chase(waits, COMES, caught=True, boxes=[WALL])) == {"ambush"}
    assert not kinds(chase(waits, COMES, boxes=[WALL])), "no catch"
    assert not kinds(chase(waits, COMES, caught=True)), "in the open"
    strolls = walk((0.0, -4.0), (2.3, 0.0, 4.0 / 2.3), STRIKES)
    assert not kinds(chase(strolls, COMES, caught=True, boxes=[WALL])), "it does not wait"
    stays = walk((3.4, 2.9), (3.3, 0.0, 0.0))
    assert not kinds(chase(waits, stays, caught=True, boxes=[WALL])), "the hider does not come"


def test_hide() -> None:
    wall = ((-1.0, 0.0, -6.0), (0.0, 2.5, 6.0))
    hidden = walk((1.5, -3.0), (1.0, 0.0, 3.0), (3.0, 0.0, 0.0))
    searches = walk((-4.0, -4.0), (2.0, 0.0, 3.0), (2.0, 0.0, -3.0))
    assert kinds(chase(searches, hidden, boxes=[wall])) == {"hide"}
    assert not kinds(chase(searches, hidden)), "in the open"
    assert not kinds(chase(searches - [8.0, 0.0, 0.0], hidden, boxes=[wall])), "the seeker is far away"
    assert not kinds(chase(walk((-4.0, -4.0), (4.0, 0.0, 0.0)), hidden, boxes=[wall])), "nobody searches"
    assert not kinds(chase(searches, walk((1.5, 0.0), (4.0, 0.0, 0.0)), boxes=[wall])), "it has never moved"
    assert not kinds(chase(searches, walk((1.5, -4.0), (4.0, 0.0, 2.0)), boxes=[wall])), "it walks on"


def jumping(start: tuple[float, float], *legs: Leg, at_s: float, up_mps: float = 8.0) -> tuple[np.ndarray, np.ndarray]:
    """A walk with a jump at a time, and when it stands on something."""
    path = walk(start, *legs)
    since_s = np.arange(len(path)) / RATE_HZ - at_s
    height = np.where(since_s > 0, up_mps * since_s - 12.0 * since_s**2, 0.0).clip(min=0.0)
    path[:, 1] += height
    return path, height == 0.0


def test_jump_escape() -> None:
    over, stands = jumping((3.5, 0.0), (2.5, -5.0, 0.0), at_s=0.75)
    assert kinds(chase(RUSH, over, grounded=stands)) == {"jump escape"}, "over the seeker"
    assert not kinds(chase(RUSH[:30], over, grounded=stands)), "the round ends in the air"
    aside, stands = jumping((3.5, 3.0), (2.5, -5.0, 0.0), at_s=0.75)
    assert not kinds(chase(RUSH, aside, grounded=stands)), "nobody near"
    box = ((-4.0, 0.0, 1.0), (4.0, 0.5, 2.0))
    hops, stands = jumping((0.0, 3.5), (2.5, 0.0, -5.0), at_s=0.3)
    parallel = walk((0.4, 4.2), (0.8, 0.0, -4.5), (1.7, 8.0, 0.0))
    assert kinds(chase(parallel, hops, grounded=stands, boxes=[box])) >= {"jump escape"}, "over a box"
    assert "jump escape" not in kinds(chase(parallel, hops, grounded=stands)), "over nothing"
    low = walk((0.4, 4.2), (2.5, 0.0, -5.0))
    assert "jump escape" not in kinds(chase(low, hops, grounded=stands, boxes=[box])), "it does not get away"


def rounds(seeker: str, hider: str, episodes: int = 20, **values: object) -> list[Replay]:
    settings = TagSettings.defaults().override(**values)
    roles = {"player": seeker} if settings.rules.mode == "classic" else {"seeker": seeker, "hider": hider}
    players = {role: make_opponent(name, role, 3, game="tag") for role, name in roles.items()}
    return record_rounds("tag", players, settings=settings, episodes=episodes, seed=5)


@pytest.fixture(scope="module")
def played() -> list[Replay]:
    return rounds("oracle", "sighted")


def test_a_chase_is_a_pair_while_it_lasts(played: list[Replay]) -> None:
    for replay in played:
        (one,) = chases(replay)
        assert replay.outcome is not None
        assert one.is_caught == (replay.outcome.winner == "seeker")
        assert one.last / RATE_HZ == pytest.approx(replay.seconds, abs=1 / RATE_HZ)
        np.testing.assert_allclose(one.hider_m[0], replay.position_m[0, HIDER], atol=1e-5)
        every = round(1 / TICK_S / RATE_HZ)
        np.testing.assert_array_equal(one.grounded, replay.grounded[: one.last * every + 1 : every, HIDER])


def test_sight_agrees_with_the_rays(played: list[Replay]) -> None:
    """A seeker whose rays meet the hider has it in sight."""
    agree = total = 0
    for replay in played:
        (one,) = chases(replay)
        at = np.rint(replay.tick[replay.decision_frame] * TICK_S * RATE_HZ).astype(int)
        sees = replay.sees()[:, SEEKER]
        agree, total = agree + int(one.in_sight[at[sees]].sum()), total + int(sees.sum())
    assert agree > 0.98 * total > 0


def test_teams_and_classic_have_a_chase_for_every_pair() -> None:
    for replay in rounds("sighted", "wander", 5, **{"rules.seekers": 2, "rules.hiders": 3}):
        found = list(chases(replay))
        assert len(found) == 6
        assert sum(one.is_caught for one in found) == np.count_nonzero(~replay.active[-1])
    for replay in rounds("sighted", "", 3, **{"rules.mode": "classic", "rules.classic_round_s": 10.0}):
        tags = np.count_nonzero(np.diff(replay.team.argmin(axis=1)))
        assert sum(one.is_caught for one in chases(replay)) == tags
        behaviours.behaviours(replay)


def test_scripts_show_what_they_are_named_for() -> None:
    """The same seeker meets each hider: the one that is written to do it does it most."""
    found = {hider: found_in(rounds("cutoff", hider, 25)) for hider in ("juker", "still")}
    assert len(found["juker"]["juke"]) > 3
    assert not any(found["still"].values())


def test_the_table_counts_rounds_and_names_the_best(played: list[Replay]) -> None:
    found = found_in(played)
    table = described(played, found, {})
    assert [one.name for one in table.behaviours] == list(RULES)
    assert sum(map(len, found.values())) > 0
    for one in table.behaviours:
        assert one.rounds.wins == len({id(each.replay) for each in found[one.name]})
        assert one.per_100 == pytest.approx(100 * len(found[one.name]) / len(played))
        if found[one.name]:
            best = max(found[one.name], key=lambda each: each.worth)
            assert (one.round, one.text) == (best.replay.header.episode, best.text)
            assert best.begins <= best.seconds <= best.replay.seconds
    assert "in the air" in str(table)
    assert msgspec.json.decode(msgspec.json.encode(table))["rounds"] == len(played)


def test_motion_is_what_the_frames_show(played: list[Replay]) -> None:
    for agent, one in enumerate(motion_of(played)):
        paths = [np.diff(each.position_m[each.active[:, agent], agent][:, [0, 2]], axis=0) for each in played]
        metres = sum(float(np.linalg.norm(path, axis=-1).sum()) for path in paths)
        seconds = sum(float(each.active[1:, agent].sum()) for each in played) * TICK_S
        aloft = sum(float((~each.grounded & each.active)[1:, agent].sum()) for each in played) * TICK_S
        assert one.distance_m == pytest.approx(metres / len(played), rel=0.03)
        assert one.speed_mps == pytest.approx(metres / seconds, rel=0.03)
        assert one.in_air == pytest.approx(aloft / seconds, abs=1e-6)


def test_sharp_turns_are_counted_one_by_one(played: list[Replay]) -> None:
    """A square is three turns, a circle of the same size none."""
    replay = played[0]
    ticks = np.arange(241)
    square = np.array([[4.0, 0.0], [0.0, 4.0], [-4.0, 0.0], [0.0, -4.0]])[np.minimum(ticks // 60, 3)]
    angle = ticks / 60.0
    circle = 4.0 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    velocity = np.zeros((241, 2, 3), np.float32)
    velocity[:, 0, [0, 2]], velocity[:, 1, [0, 2]] = square, circle
    made = Replay(
        header=replay.header, tick=ticks.astype(np.int32), position_m=velocity * 0, velocity_mps=velocity,
        heading_rad=velocity[..., 0] * 0, grounded=np.ones((241, 2), bool), active=np.ones((241, 2), bool),
        team=np.tile(np.array([SEEKER, HIDER], np.uint8), (241, 1)), decision_frame=replay.decision_frame[:1],
        action=replay.action[:1], terms=replay.terms[:1], sight_m=replay.sight_m[:1],
        sight_kind=replay.sight_kind[:1], outcome=None,
    )  # fmt: skip
    on_square, on_circle = motion_of([made])
    assert on_square.turns_per_s == pytest.approx(3 / 4.0)
    assert on_circle.turns_per_s == 0.0
    assert on_square.speed_mps == pytest.approx(4.0, rel=1e-5)
    assert on_circle.distance_m == pytest.approx(16.0, rel=1e-3)


def test_a_clip_shows_all_of_it(played: list[Replay]) -> None:
    film = preset("small")
    for every in found_in(played).values():
        for one in every[:2]:
            (shot,) = clip_of(one, film).shots
            assert shot.seconds[0] <= one.begins
            assert shot.seconds[-1] > one.seconds + 1.0
            assert (np.diff(shot.seconds) > 0).all()
            assert shot.frames < 12 * film.fps


def test_the_command_reads_replays_and_refuses_games_without_rules(played: list[Replay], tmp_path: Path) -> None:
    write_rounds(tmp_path / "some.npz", played)
    answer = CliRunner().invoke(app, ["behaviours", str(tmp_path / "some.npz"), "--json"])
    assert answer.exit_code == 0, answer.output
    table = msgspec.json.decode(answer.stdout.encode())
    assert [one["name"] for one in table["behaviours"]] == list(RULES)
    assert [one["role"] for one in table["motion"]] == ["seeker", "hider"]


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.rendering
@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_clips_are_films_with_a_caption(played: list[Replay], tmp_path: Path) -> None:
    found = {name: every[0] for name, every in found_in(played).items() if every}
    name, pick = min(found.items(), key=lambda one: clip_of(one[1], preset("small")).frames)
    paths = write_clips({name: pick}, tmp_path, preset("small"), progress=lambda *_: None)
    assert [path.name for path in tmp_path.iterdir()] == [f"{name.replace(' ', '-')}.mp4"]
    assert count_frames(paths[name]) == clip_of(pick, preset("small")).frames
