"""Teams of tag: presets by their split, catches that are counted by the rules and shown, agents without names."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.cli.league import show
from godojo.cli.play import game_words, with_policies
from godojo.cli.replay import replay
from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.evaluation import judge
from godojo.evaluation.league import play_league
from godojo.evaluation.matches import play_matches
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.spec import REWARD_TERMS
from godojo.learn.budget import Budget
from godojo.learn.presets import read_preset
from godojo.learn.training import Training
from godojo.opponents import make_opponent
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from godojo.show.curves import read_table
from godojo.show.report.page import _details
from godojo.show.watch.board import RoleLine, Status, board_html, rates_html
from godojo.show.watch.page import last_measures
from tests.judged_runs import make_run
from tests.learning_games import SMALL, tag

TAG = REWARD_TERMS.index("tag")
SPLITS = {"1v3": (1, 3), "2v2": (2, 2), "2v6": (2, 6)}


def teams(seekers: int, hiders: int, **more: object) -> TagSettings:
    return TagSettings.defaults().override(**{"rules.seekers": seekers, "rules.hiders": hiders, **more})


@pytest.mark.parametrize("name", SPLITS)
def test_presets_are_the_splits_they_are_named_after(name: str) -> None:
    preset = read_preset("tag", name)
    worlds = make_vec("tag", settings=TagSettings.defaults().override(**preset.game))
    assert tuple(role.observation.shape[1] for role in worlds.roles.values()) == SPLITS[name]


def caught_by_hand(worlds: Worlds, rounds: int) -> list[int]:
    """Hiders caught in the first rounds of every world, by their reward alone; and nothing is paid after a catch."""
    arrays = worlds.roles["hider"]
    now = np.zeros(worlds.num_worlds, int)
    is_out = np.zeros(arrays.acted.shape, bool)
    found: list[list[int]] = [[] for _ in range(worlds.num_worlds)]
    worlds.reset(5)
    players = {role: make_opponent(name, role, 3, game="tag") for role, name in PLAYERS.items()}
    for player in players.values():
        player.begin(worlds)
    while min(len(one) for one in found) < rounds:
        for role, player in players.items():
            player.act(worlds, worlds.roles[role].action)
        worlds.step()
        assert not arrays.acted[is_out].any(), "a caught hider takes part in nothing"
        assert not arrays.terms[is_out].any(), "a caught hider is paid for nothing"
        assert not arrays.terminated[is_out].any(), "a caught hider ends once"
        caught = arrays.terms[:, :, TAG] < 0
        assert arrays.terminated[caught].all()
        now += caught.sum(axis=1)
        is_out = (is_out | caught) & ~worlds.ended[:, None]
        for world in np.flatnonzero(worlds.ended):
            found[world].append(int(now[world]))
            now[world] = 0
    return [count for one in found for count in one[:rounds]]


PLAYERS = {"seeker": "oracle", "hider": "wander"}


def test_catches_are_those_of_the_rules() -> None:
    settings = teams(2, 6, **{"rules.round_s": 4.0})
    worlds = make_vec("tag", num_worlds=8, settings=settings, generated_share=0.5)
    expected = caught_by_hand(worlds, 2)
    players = {role: make_opponent(name, role, 3, game="tag") for role, name in PLAYERS.items()}
    results = play_matches(worlds, players, 16, seed=5)
    assert results.measures["catches"].tolist() == expected
    assert results.measures["share caught"].tolist() == [count / 6 for count in expected]
    assert len(set(expected)) > 2
    won = results.winner == results.winners.index("seeker")
    assert (won == (results.measures["catches"] == 6)).all(), "a win is all of them, and nothing less"
    mean = results.mean_measures()["catches"]
    assert mean.low < mean.mean == np.mean(expected) < mean.high


@pytest.mark.parametrize("rules", [{}, {"rules.seekers": 2}, {"rules.mode": "classic", "rules.players": 3}])
def test_a_lone_hider_and_classic_tag_have_no_catches_to_count(rules: dict[str, object]) -> None:
    settings = TagSettings.defaults().override(**{"rules.round_s": 1.0, "rules.classic_round_s": 1.0, **rules})
    worlds = make_vec("tag", num_worlds=2, settings=settings)
    players = {role: make_opponent("random", role, 3, game="tag") for role in worlds.roles}
    assert play_matches(worlds, players, 2).measures == {}


def test_eval_league_report_and_replay_show_catches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    make_run(tmp_path, settings=teams(2, 2, **{"rules.round_s": 6.0}))
    found = judge("small", ["oracle"], rounds=24)
    seeker, hider = found.verdicts
    assert list(seeker.measures) == ["catches", "share caught"]
    assert 0.0 <= seeker.measures["catches"].mean < hider.measures["catches"].mean <= 2.0
    lines = str(found).splitlines()
    shown = hider.measures["catches"]
    assert any(
        line.split()[:3] == ["hider", "oracle", f"{shown.mean:.2f}"] and f"{shown.low:.2f} to {shown.high:.2f}" in line
        for line in lines
    ), lines
    assert f"<td>{shown.mean:.2f} " in _details(found)
    report = play_league("small", rounds=60)
    assert [len(row) for row in report.measures["catches"]] == [2, 2]
    assert report.measures["catches"][0][0].mean == 0.0  # nobody moves, nobody is caught
    assert sum(cell.mean for row in report.measures["catches"] for cell in row) > 0.0
    show(report)
    assert "catches, mean of a round" in capsys.readouterr().out
    replay("small", player=["seeker=oracle"], episodes=4)
    assert "of 2" in capsys.readouterr().out


def test_training_logs_catches_and_the_page_of_watch_shows_them(tmp_path: Path) -> None:
    rules = {"rules.seekers": 2, "rules.hiders": 3, "rules.round_s": 1.0, "spawns.distance_m": 0.0, "spawns.tries": 1}
    worlds = tag(rules=rules)
    settings = msgspec.structs.replace(SMALL, scripted_opponents=("oracle",), scripted_opponent_fraction=0.5)
    config = RunConfig("tag", "sim", tuple(worlds.roles), "ppo", msgspec.to_builtins(settings), {}, 1, {"minutes": 1})
    run = RunFolder.create(config, "one", root=tmp_path)
    made = Training(run, worlds, Budget(agent_steps=24 * 5 * 6 * 12), resume=False)
    made.train(lambda _: None)
    made.close()
    rounds, updates = read_table(run.metrics), read_table(run.updates)
    logged = updates.numbers("rollout/catches")
    expected = rounds.numbers("seeker_score") * 2
    assert expected.sum() > 0
    means = logged[np.isfinite(logged)]
    assert means.min() <= expected.mean() <= means.max()
    assert last_measures(updates) == {
        "catches": pytest.approx(means[-1]),
        "share caught": pytest.approx(means[-1] / 3, rel=1e-4),
    }
    shown = rates_html({"seeker": 0.5}, {"seeker": "#fff"}, 4000, last_measures(updates))
    assert f"catches {means[-1]:.2f}" in shown


def test_the_board_of_watch_counts_who_is_left() -> None:
    roles = [
        RoleLine("hider", "now", 0, "#1b55d8", False, agents=6, still_in=4),
        RoleLine("seeker", "now", 0, "#f00", False),
    ]
    shown = board_html(Status("live", ""), "3.0 s", "open", roles)
    assert "4 of 6 in play" in shown
    assert shown.count("in play") == 1


def test_team_mates_are_told_apart_by_sight_alone() -> None:
    """Two hiders that change places leave every number of the others as it was: nobody has a name."""
    worlds = make_vec("tag", num_worlds=16, settings=teams(2, 6), generated_share=0.5)
    worlds.reset(2)
    twin = worlds.twin  # type: ignore[attr-defined]
    before = {name: role.observation.copy() for name, role in worlds.roles.items()}
    swapped = twin.agents[:, [0, 1, 2, 7, 4, 5, 6, 3]].copy()
    twin.agents[:] = swapped
    twin.observe()
    after = {name: role.observation for name, role in worlds.roles.items()}
    np.testing.assert_array_equal(after["seeker"], before["seeker"])
    np.testing.assert_array_equal(after["hider"], before["hider"][:, [0, 5, 2, 3, 4, 1]])


def test_play_takes_the_policies_and_the_game_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    run = make_run(tmp_path, settings=teams(2, 6, **{"motion.gravity_mps2": 20.0}))
    words = with_policies("tag", game_words(["--policy", "small", "--role", "hider"]))
    files = [str((run.path / f"export/{role}.dojo").absolute()) for role in ("seeker", "hider")]
    assert words == [
        "--set=rules.seekers=2",
        "--set=rules.hiders=6",
        "--set=motion.gravity_mps2=20.0",
        *(f"--policy={path}" for path in files),
        "--role=hider",
    ]
    assert all(Path(path).is_file() for path in files)
    assert with_policies("tag", [f"--policy={files[0]}"]) == [f"--policy={files[0]}"]
    for word, why in ((f"--policy={run.path / 'policy_seeker.pt'}", "FILE.dojo"), ("--policy=nothing", "nothing")):
        with pytest.raises(GodojoError, match=why):
            with_policies("tag", [word])
    with pytest.raises(GodojoError, match="plays tag, not navigation"):
        with_policies("navigation", ["--policy=small"])
