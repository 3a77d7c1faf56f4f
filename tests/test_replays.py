"""Replays: what is written down is what was played, and damage costs no more than what it hit."""

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.engines.base import Worlds
from godojo.engines.godot.find import Engine
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.formats import REPLAY
from godojo.games.navigation.settings import LAYOUT, NavigationSettings
from godojo.games.tag.arenas import Arena, hand_made_arenas
from godojo.games.tag.replay import HIDER, SEEKER, TEAMS, catch_of
from godojo.games.tag.settings import TICK_S, TagSettings
from godojo.games.tag.sim.twin import TagTwin
from godojo.opponents import Opponent, make_opponent
from godojo.show import replay_file
from godojo.show.highlights import best_highlights
from godojo.show.recording import record_rounds
from godojo.show.replay import FIRST_TEAM, NOTHING, Replay, replay_spec
from godojo.show.replay_file import from_lines, read_any, read_replay, read_rounds, to_lines, write_replay, write_rounds
from tests.conftest import ROOT

CUTS = 1000


@pytest.fixture(scope="module")
def replays() -> list[Replay]:
    return scripted(10)


def scripted(episodes: int, **values: object) -> list[Replay]:
    settings = TagSettings.defaults().override(**values)
    roles = ("player",) if settings.rules.mode == "classic" else ("seeker", "hider")
    players = {role: make_opponent("sighted", role, 3, game="tag") for role in roles}
    return record_rounds("tag", players, settings=settings, episodes=episodes, seed=5)


def test_every_tick_is_that_of_the_game(replays: list[Replay]) -> None:
    """Played again by the twin itself, every decision ends where the replay says."""
    for replay in replays[:5]:
        twin = TagTwin(1, settings=replay.settings, arenas=[msgspec.convert(replay.header.arena, Arena)])
        twin.begin(0)
        agents = twin.agents[0]
        agents["position"], agents["heading"] = replay.position_m[0], replay.heading_rad[0]
        agents["nearest_m"] = np.linalg.norm(replay.position_m[0, 0] - replay.position_m[0, 1])
        assert (np.diff(replay.tick) == 1).all()
        assert replay.outcome is not None
        assert replay.tick[-1] == replay.outcome.ticks
        for decision, frame in enumerate(replay.decision_frame[:-1]):
            twin.actions[:] = replay.action[decision]
            twin.step()
            after = frame + replay.header.ticks_per_decision
            assert not twin.results.ended[0]
            np.testing.assert_allclose(agents["position"], replay.position_m[after], atol=1e-4)
            np.testing.assert_allclose(agents["velocity"], replay.velocity_mps[after], atol=1e-3)
            np.testing.assert_array_equal(agents["grounded"], replay.grounded[after])
            np.testing.assert_allclose(twin.results.terms, replay.terms[decision], atol=1e-4)
        twin.actions[:] = replay.action[-1]
        twin.step()
        assert twin.results.ended[0]
        assert twin.winners[twin.results.winner[0]] == replay.outcome.winner


def test_the_last_frame_shows_the_touch() -> None:
    caught = [one for one in scripted(20) if one.outcome is not None and one.outcome.winner == "seeker"]
    assert caught
    for replay in caught:
        assert not replay.active[-1, 1]
        assert replay.active[-2].all()
        assert replay.gap_m()[-1] <= replay.settings.rules.touch_reach_m + 1e-4
        assert (replay.gap_m()[:-1] > replay.settings.rules.touch_reach_m).all()


def test_the_same_seed_begins_alike_whoever_plays(replays: list[Replay]) -> None:
    idle = {role: make_opponent("random", role, 8, game="tag") for role in ("seeker", "hider")}
    for one, other in zip(replays, record_rounds("tag", idle, episodes=10, seed=5), strict=True):
        assert one.header.arena == other.header.arena
        np.testing.assert_array_equal(one.position_m[0], other.position_m[0])


def test_sights_are_those_of_the_eyes(replays: list[Replay]) -> None:
    met = np.concatenate([one.sight_m[one.sight_kind == FIRST_TEAM + HIDER] for one in replays])
    range_m = replays[0].settings.sight.range_m
    assert len(met)
    assert met.max() < range_m
    for replay in replays:
        np.testing.assert_allclose(replay.sight_m[replay.sight_kind == NOTHING], range_m, rtol=1e-5)


def test_both_forms_keep_the_round(replays: list[Replay], tmp_path: Path) -> None:
    write_replay(tmp_path / "ep_1.jsonl", replays[0])
    write_rounds(tmp_path / "many.npz", replays)
    again = read_any(tmp_path)
    assert len(again) == 1 + len(replays)
    for one, other in zip([replays[0], *replays], again, strict=True):
        assert one.header == other.header
        assert one.outcome == other.outcome
        np.testing.assert_array_equal(one.tick, other.tick)
        np.testing.assert_array_equal(one.sight_kind, other.sight_kind)
        np.testing.assert_array_equal(one.active, other.active)
        np.testing.assert_array_equal(one.decision_frame, other.decision_frame)
        np.testing.assert_allclose(one.position_m, other.position_m, atol=1e-4)
        np.testing.assert_allclose(one.sight_m, other.sight_m, atol=0.02)
        np.testing.assert_allclose(one.terms, other.terms, atol=1e-4)
    packed, lines = (tmp_path / "many.npz").stat().st_size, sum(len(to_lines(one)) for one in replays)
    assert packed < lines / 3


def test_a_cut_replay_plays_to_its_last_whole_frame() -> None:
    replay = scripted(1, **{"rules.round_s": 1.0})[0]
    whole = to_lines(replay)
    ends = np.flatnonzero(np.frombuffer(whole, np.uint8) == ord("\n"))
    for cut in np.random.default_rng(1).integers(0, len(whole), CUTS):
        frames = int(np.count_nonzero(ends <= cut)) - 1
        if frames < 1:
            with pytest.raises(GodojoError, match="record it again"):
                from_lines(whole[:cut])
            continue
        left = from_lines(whole[:cut])
        assert len(left.tick) == min(frames, len(replay.tick))
        left.at(left.seconds / 2)
        left.gap_m()


def test_a_spoilt_replay_never_crashes() -> None:
    replay = scripted(1, **{"rules.round_s": 1.0})[0]
    whole, rng = to_lines(replay), np.random.default_rng(2)
    for _ in range(CUTS // 4):
        spoilt = bytearray(whole)
        for place in rng.integers(0, len(whole), 3):
            spoilt[place] = rng.integers(0, 256)
        try:
            left = from_lines(bytes(spoilt))
        except GodojoError:
            continue
        moment = left.at(left.seconds)
        assert np.isfinite(moment.position_m).all()


def test_packed_rounds_are_plain_npz(replays: list[Replay], tmp_path: Path) -> None:
    write_rounds(tmp_path / "many.npz", replays)
    with np.load(tmp_path / "many.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["3/position_m"], replays[3].position_m)
        assert len(msgspec.json.decode(arrays["rounds.json"])["rounds"]) == len(replays)
    write_rounds(tmp_path / "again.npz", replays)
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "many.npz").read_bytes()


def test_cut_rounds_are_refused(replays: list[Replay], tmp_path: Path) -> None:
    path = tmp_path / "many.npz"
    write_rounds(path, replays)
    whole = path.read_bytes()
    for length in (0, 20, len(whole) * 3 // 4, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(GodojoError, match=r"many\.npz is damaged .*record it again"):
            read_rounds(path)


def test_packed_rounds_that_unpack_to_too_much_are_refused(
    replays: list[Replay], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rounds(tmp_path / "many.npz", replays)
    monkeypatch.setattr(replay_file, "MAX_BYTES", (tmp_path / "many.npz").stat().st_size + 1)
    with pytest.raises(GodojoError, match="larger than"):
        read_rounds(tmp_path / "many.npz")


def test_a_newer_version_is_refused_in_one_line(replays: list[Replay], tmp_path: Path) -> None:
    newer = to_lines(replays[0]).replace(REPLAY.tag.encode(), b"godojo-replay/9", 1)
    (tmp_path / "new.jsonl").write_bytes(newer)
    with pytest.raises(GodojoError, match=r"newer Godojo \(godojo-replay/9.*update Godojo"):
        read_replay(tmp_path / "new.jsonl")
    (tmp_path / "new.rounds").write_bytes(b"godojo-rounds/9\n")
    with pytest.raises(GodojoError, match="update Godojo"):
        read_rounds(tmp_path / "new.rounds")


def test_between_frames_nobody_leaves_the_way(replays: list[Replay]) -> None:
    replay = replays[0]
    for frame in (0, 7, 31, len(replay.tick) - 1):
        np.testing.assert_allclose(replay.at(frame * TICK_S).position_m, replay.position_m[frame], atol=1e-4)
    for seconds in np.linspace(0.0, replay.seconds, 97):
        moment = replay.at(float(seconds))
        frame = min(int(seconds / TICK_S + 1e-6), len(replay.tick) - 2)
        pair = replay.position_m[frame : frame + 2]
        assert (moment.position_m >= pair.min(axis=0) - 1e-3).all()
        assert (moment.position_m <= pair.max(axis=0) + 1e-3).all()
    assert replay.at(1e9).seconds == pytest.approx(replay.seconds)


def test_highlights_follow_their_rules() -> None:
    rounds = scripted(40)
    catch, escape = best_highlights(rounds)
    assert [catch.kind, escape.kind] == ["catch", "escape"]
    assert catch.replay.outcome is not None
    assert catch.replay.outcome.winner == TEAMS[catch.team].name == "seeker"
    chases = [one.seconds - one.begins for one in map(catch_of, rounds) if one]
    assert catch.seconds - catch.begins == pytest.approx(max(chases))
    assert escape.replay.outcome is not None
    assert escape.replay.outcome.winner == TEAMS[escape.team].name == "hider"
    assert escape.begins <= escape.seconds <= escape.replay.seconds
    assert best_highlights([]) == []


def test_many_agents_and_classic_tag_are_kept_too() -> None:
    team = scripted(2, **{"rules.seekers": 2, "rules.hiders": 2})
    assert team[0].position_m.shape[1] == 4
    assert [role.agents for role in team[0].header.roles] == [2, 2]
    classic = scripted(2, **{"rules.mode": "classic", "rules.players": 3})
    assert ((classic[0].team == SEEKER).sum(axis=1) == 1).all()
    assert from_lines(to_lines(classic[0])).outcome == classic[0].outcome


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/replays.md").read_text(encoding="utf-8")
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, "docs/replays.md", "exec"), {})
    assert (tmp_path / "ep_0.jsonl").exists()


@pytest.mark.engine
def test_the_real_engine_is_recorded_decision_by_decision(engine: Engine) -> None:
    del engine
    players = {role: make_opponent("sighted", role, 2, game="tag") for role in ("seeker", "hider")}
    settings = TagSettings.defaults().override(**{"rules.round_s": 4.0})
    arenas = [hand_made_arenas()["open"]]
    replay = record_rounds("tag", players, settings=settings, arenas=arenas, episodes=1, seed=4, engine="godot")[0]
    assert replay.outcome is not None
    assert replay.tick[-1] == replay.outcome.ticks
    assert (np.diff(replay.tick)[:-1] == settings.rules.ticks_per_decision).all()
    moved = np.linalg.norm(np.diff(replay.position_m, axis=0), axis=2)
    reach = settings.motion.seeker_speed_mps * settings.rules.ticks_per_decision * TICK_S
    assert moved.max() < 2 * reach
    assert moved.sum() > 1.0
    assert from_lines(to_lines(replay)).header == replay.header


def test_missing_players_are_named() -> None:
    with pytest.raises(GodojoError, match="nobody plays hider"):
        record_rounds(
            "tag", {"seeker": make_opponent("random", "seeker", game="tag")}, arenas=[hand_made_arenas()["open"]]
        )


class Forward(Opponent):
    """Walks straight on."""

    def begin(self, worlds: Worlds) -> None: ...

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        del worlds
        out[:] = (0.0, 1.0, 0.1)


def walks(engine: str = "sim") -> list[Replay]:
    settings = NavigationSettings.defaults().override(**{"rules.round_s": 2.0})
    return record_rounds("navigation", {"walker": Forward("walker", 0)}, settings=settings, episodes=3, engine=engine)


class Toward(Opponent):
    """Turns to the next mark and walks there."""

    def begin(self, worlds: Worlds) -> None: ...

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        right, _, back = np.moveaxis(LAYOUT.view(worlds.roles["walker"].observation, "goal_position"), -1, 0)
        off = np.arctan2(right, -back)
        out[..., 0], out[..., 1], out[..., 2] = 0.0, np.abs(off) < 0.35, np.clip(2.0 * off, -1.0, 1.0)


def test_the_tracks_of_a_walk_are_what_the_game_counts() -> None:
    check_tracks("sim")


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_the_tracks_of_a_walk_in_the_real_engine_are_what_it_counts() -> None:
    check_tracks("godot")


def check_tracks(engine: str) -> None:
    players = {"walker": Toward("walker", 0)}
    found = record_rounds("navigation", players, episodes=6, seed=2, engine=engine)
    goals, warnings = 0, 0
    for replay in found:
        assert replay.outcome is not None
        tracks = replay.tracks
        ends = np.append(replay.decision_frame[1:], len(replay.tick) - 1)
        below = tracks["comfort"][ends, 0] < replay.settings.comfort.warn_below
        assert np.count_nonzero(below) == replay.outcome.scores[0]
        hits = replay.terms[..., replay.header.reward_terms.index("collision")].sum() / -10.0
        assert tracks["collisions"][-1, 0] == pytest.approx(hits)
        assert (np.diff(tracks["marks"][:, 0]) >= 0).all()
        is_there = replay.outcome.winner == "walker"
        assert (tracks["marks"][-1, 0] == len(replay.layout.marks)) == is_there
        assert [mark.kind for mark in replay.layout.marks].count("goal") == 1, "those of its route alone"
        goals, warnings = goals + is_there, warnings + int(below.sum())
    assert goals > 0
    assert warnings > 0


def walks_forward(replay: Replay, first: int, last: int) -> bool:
    """Whether the agent moves where it looks, between two frames."""
    moved = np.diff(replay.position_m[:, 0], axis=0)[first:last]
    heading = replay.heading_rad[first:last, 0]
    along = moved[:, 0] * np.sin(heading) + moved[:, 2] * np.cos(heading)
    return bool((along > 0.5 * np.linalg.norm(moved, axis=1)).all() and along.sum() > 0.3)


def test_another_game_is_recorded_kept_and_drawn_by_the_same_code(tmp_path: Path) -> None:
    replays = walks()
    write_rounds(tmp_path / "walks.npz", replays)
    for replay, again in zip(replays, read_any(tmp_path), strict=True):
        assert again.header == replay.header
        assert from_lines(to_lines(replay)).header == replay.header
        assert (np.diff(replay.tick) == 1).all()
        assert replay.outcome is not None
        assert replay.tick[-1] == replay.outcome.ticks
        assert {mark.kind for mark in replay.layout.marks} == {"waypoint", "goal"}
        assert walks_forward(replay, 30, 60)
        assert not replay.sees().any()
    assert len({replay.header.arena["name"] for replay in replays}) == 3


def test_observations_give_the_states_of_the_twin() -> None:
    """What Godot is recorded by, checked where the true states are known."""
    for game, role in (("navigation", "walker"), ("tag", "seeker")):
        spec = replay_spec(game)
        worlds = make_vec(game, num_worlds=4, seed=3)
        assert spec.now is not None
        assert spec.layout_now is not None
        for _ in range(5):
            worlds.roles[role].action[:] = (0.3, 1.0, 0.2)
            worlds.step()
        true = spec.now(worlds.twin)  # type: ignore[attr-defined]
        for world in range(4):
            layout = spec.layout_now(worlds.twin, world)  # type: ignore[attr-defined]
            observations = {name: arrays.observation[world : world + 1] for name, arrays in worlds.roles.items()}
            read = spec.read_states(worlds.settings, layout, observations, None, np.zeros(1, np.int64))
            for name in ("position_m", "velocity_mps", "active", "team"):
                np.testing.assert_allclose(getattr(read, name)[0], getattr(true, name)[world], atol=2e-3)
            turn = read.heading_rad[0] - true.heading_rad[world]
            np.testing.assert_allclose(np.cos(turn), 1.0, atol=1e-4)


@pytest.mark.engine
def test_another_game_is_recorded_in_the_real_engine(engine: Engine) -> None:
    del engine
    for replay, twins in zip(walks("godot"), walks(), strict=True):
        assert replay.outcome is not None
        assert twins.outcome is not None
        assert (replay.outcome.winner, replay.outcome.ticks) == (twins.outcome.winner, twins.outcome.ticks)
        assert (np.diff(replay.tick)[:-1] == replay.header.ticks_per_decision).all()
        assert walks_forward(replay, 8, 15)
        np.testing.assert_allclose(replay.position_m[0, 0, 1], twins.position_m[0, 0, 1], atol=1e-3)
