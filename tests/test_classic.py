"""Classic tag as a mode of its own: one shared policy, trained, judged and shown by every verb."""

import copy
import csv
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from godojo.cli import main
from godojo.engines.base import Worlds
from godojo.engines.godot.find import Engine
from godojo.engines.make import make_vec
from godojo.evaluation.evaluation import judge
from godojo.evaluation.intervals import Proportion
from godojo.evaluation.league import rate
from godojo.evaluation.matches import RIVAL, MatchResults, play_matches
from godojo.evaluation.shared_role import SharedSeats, score_share, seats
from godojo.games.tag.replay import HIDER, SEEKER, dodge_of, pass_of
from godojo.games.tag.settings import TagSettings
from godojo.learn.self_play import PpoSelfPlay
from godojo.opponents import Opponent, make_opponent
from godojo.runs.folder import RunFolder
from godojo.show.recording import record_rounds
from godojo.show.watch.board import RECORDED, agent_lines, board_html
from godojo.show.watch.rounds import Choice, RunRounds
from tests.learning_games import SMALL, fingerprint, tag

CLASSIC = {"rules.mode": "classic", "rules.classic_round_s": 2.0}
WORDS = (
    "num_worlds=20",
    "n_steps=16",
    "net_arch=[8,8]",
    "memory_size=4",
    "snapshot_interval=5",
    "opponent_resample_interval=5",
)
Verb = Callable[..., str]


class Statue(Opponent):
    """Never moves."""

    def begin(self, worlds: Worlds) -> None:
        assert self.role in worlds.roles

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        assert worlds.roles
        out[...] = 0.0
        out[..., 2] = -1.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a short training of classic tag, `runs/shared`."""
    folder = tmp_path_factory.mktemp("classic")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GODOJO_RUNS", str(folder / "runs"))
        words = ["train", "tag", "--mode", "classic", "--steps", "12800", "--run-id", "shared", "--eval", "0"]
        with pytest.raises(SystemExit) as ended:
            main([*words, *(f"--set={word}" for word in (*WORDS, "rules.classic_round_s=2"))])
        assert ended.value.code == 0
        yield folder


@pytest.fixture
def verb(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verb:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "250")

    def run(*words: str, status: int = 0) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        said = capsys.readouterr()
        assert (ended.value.code or 0) == status, said.err
        return said.err if status else said.out

    return run


def test_a_run_has_one_policy_that_trained_against_everybody(place: Path) -> None:
    run = RunFolder.open(str(place / "runs/shared"))
    assert run.config.roles == ("player",)
    assert run.config.game_settings["rules"]["mode"] == "classic"
    assert [path.name for path in run.path.glob("*.pt")] == ["policy.pt"]
    assert run.policy("player", "start").name == "policy.pt"
    assert "league" in (run.path / "README.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader(run.metrics.read_text(encoding="utf-8").splitlines()))
    met = {row["player_against"].partition("_")[0] for row in rows}
    assert met == {"now", "step", "drawn", "oracle-drawn", "sighted", "oracle"}
    # The score is that of the policy's own agent: over all agents it would be half of the round, always.
    assert np.ptp([float(row["player_score"]) for row in rows]) > 0.5
    updates = list(csv.DictReader(run.updates.read_text(encoding="utf-8").splitlines()))
    assert 0.0 <= float(updates[-1]["player/rollout/win_rate"]) <= 1.0
    ratings = json.loads((run.path / "ratings.json").read_text(encoding="utf-8"))["player"]
    assert len(ratings["past"]) > 1
    assert ratings["now"]["mu"] != 25.0, "rounds against past checkpoints count"


def test_runs_that_named_the_shared_policy_like_any_other_are_read(place: Path) -> None:
    older = place / "runs/older"
    shutil.copytree(place / "runs/shared", older)
    for path in [*older.glob("policy.pt"), *older.glob("snapshots/*/policy.pt")]:
        path.rename(path.with_name("policy_player.pt"))
    run = RunFolder.open(str(older))
    assert {run.policy("player").name, run.policy("player", "final").name} == {"policy_player.pt"}


@pytest.mark.parametrize(
    "words",
    [
        ("eval", "shared", "-n", "4"),
        ("eval", "shared@start", "-n", "4", "-o", "shared", "--json"),
        ("league", "shared", "-n", "4"),
        ("replay", "shared", "-n", "2"),
        ("replay", "shared@start", "-n", "2", "--player", "opponent=sighted", "--out", "replays"),
        ("report", "shared", "-n", "4"),
        ("export", "shared"),
        ("export", "shared", "--levels", "easy=start,hard=final", "--out", "levels"),
        ("export", "shared", "--format", "onnx", "--int8", "-n", "4", "--out", "levels"),
        ("eval", "runs/shared/policy.pt", "-n", "4", "-o", "itself"),
        ("train", "tag", "--resume", "shared", "--steps", "13440", "--eval", "4"),
    ],
    ids=" ".join,
)
def test_every_verb_works(words: tuple[str, ...], verb: Verb) -> None:
    said = verb(*words)
    if words[0] == "eval" and "--json" not in words:
        assert "time not it" in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("train", "tag", "--mode", "chess"), "rules.mode must be one of hide_and_seek, classic, not 'chess'"),
        (("train", "navigation", "--mode", "classic"), "navigation has no modes; remove --mode"),
        (("train", "--resume", "shared", "--mode", "classic"), "remove --mode"),
        (("replay", "shared", "--player", "seeker=random"), "there is no role 'seeker' in run shared"),
    ],
    ids=["chess", "navigation", "resume", "replay"],
)
def test_mistakes_are_one_line(words: tuple[str, ...], why: str, verb: Verb) -> None:
    problems = [line for line in verb(*words, status=2).splitlines() if line.startswith("godojo: ")]
    assert len(problems) == 1
    assert why in problems[0]


def test_a_mode_has_the_preset_of_its_name(place: Path) -> None:
    shared = RunFolder.open(str(place / "runs/shared")).config
    assert shared.learner_settings["scripted_opponents"] == ["drawn", "oracle-drawn", "sighted", "oracle"]
    assert shared.learner_settings["scripted_opponent_fraction"] == 0.3


def played(own: Opponent, rival: Opponent, swapped: bool = False, players: int = 2) -> MatchResults:
    settings = TagSettings.defaults().override(**CLASSIC | {"rules.classic_round_s": 8.0, "rules.players": players})
    with make_vec("tag", num_worlds=16, settings=settings) as worlds:
        mine = seats(worlds, "player", 1)
        if swapped:  # the same players from the same starts: only who is counted is another
            mine = ~mine
        player = SharedSeats("player", own, rival, 1)
        return play_matches(worlds, {"player": player}, 40, seed=3, seats=mine)


def test_who_is_it_all_the_time_scores_nothing() -> None:
    """Of two statues the one that begins as "it" stays it: scores are known."""
    found = played(Statue("player"), Statue("player"))
    share = found.score["player"] / found.length_s
    assert set(np.unique(share.round(3))) == {0.0, 1.0}
    assert found.wins("player").wins == np.count_nonzero(share > 0.5)
    assert found.wins("player").wins + found.wins(RIVAL).wins == found.rounds
    mean = score_share("tag", "player", found)
    assert mean is not None
    assert mean.mean == pytest.approx(share.mean())


def test_a_statue_is_it_until_the_end_against_somebody_who_chases() -> None:
    statue, oracle = Statue("player"), make_opponent("oracle", "player", game="tag")
    lost, won = played(statue, oracle), played(statue, oracle, swapped=True)
    shares = [score_share("tag", "player", one) for one in (lost, won)]
    assert shares[0] is not None
    assert shares[1] is not None
    assert shares[0].mean < 0.35 < 0.65 < shares[1].mean
    assert lost.score["player"] + won.score["player"] == pytest.approx(lost.length_s, abs=0.05)
    assert lost.wins("player").wins == won.wins(RIVAL).wins
    assert lost.wins("player").rate < 0.4


def test_in_a_crowd_the_judged_one_is_compared_with_the_others() -> None:
    found = played(make_opponent("oracle", "player", game="tag"), Statue("player"), players=4)
    share = score_share("tag", "player", found)
    assert share is not None
    assert share.mean > 0.75, "an even share of four"
    assert found.wins("player").rate > 0.5


def test_seats_take_turns_and_opponents_never_share_one() -> None:
    settings = TagSettings.defaults().override(**CLASSIC | {"rules.players": 5})
    with make_vec("tag", num_worlds=10, settings=settings) as worlds:
        one = seats(worlds, "player", 1)
        assert (one.sum(axis=1) == 1).all()
        assert (one.sum(axis=0) == 2).all()
        assert (seats(worlds, "player").sum(axis=1) == 2).all()
        assert seats(worlds, "player", in_turn=False)[:, :2].all()


def test_a_verdict_has_the_share_and_prints_it(place: Path) -> None:
    found = judge(str(place / "runs/shared"), ["random", "itself"], rounds=40)
    assert [(one.role, one.opponent) for one in found.verdicts] == [("player", "random"), ("player", "itself")]
    for one in found.verdicts:
        assert one.share is not None
        assert one.wins is not None
        assert one.share.low <= one.share.mean <= one.share.high
    assert "time not it" in str(found)
    told = msgspec.json.decode(msgspec.json.encode(found))["verdicts"]
    assert [one["share"]["mean"] for one in told] == [one.share.mean for one in found.verdicts if one.share]


def test_in_a_league_the_matrix_mirrors_itself_and_everybody_has_one_rating(verb: Verb, place: Path) -> None:
    verb("league", "shared", "-n", "40", "--snapshots", "start,final")
    tree = json.loads((place / "runs/shared/league.json").read_text(encoding="utf-8"))
    assert (tree["rows"], tree["columns"]) == ("player", "player")
    one, other = tree["matrix"][0][1], tree["matrix"][1][0]
    assert one["wins"] + other["wins"] == 40
    assert [list(each["ratings"]) for each in tree["standings"]] == [["player"], ["player"]]
    strong, weak = Proportion.of(90, 100), Proportion.of(10, 100)
    even = Proportion.of(50, 100)
    ratings, same = rate([[even, weak], [strong, even]], same=True)
    assert ratings == same
    assert ratings[0].high < ratings[1].low


def test_opponents_play_half_of_the_agents_and_nobody_learns_from_them() -> None:
    settings = msgspec.structs.replace(
        SMALL, past_opponent_fraction=0.25, scripted_opponents=("oracle",), scripted_opponent_fraction=0.25
    )
    rules = {**CLASSIC, "rules.players": 2}
    made = PpoSelfPlay(tag(settings.num_worlds, rules=rules), settings, 1)
    try:
        assert [(one.role, one.worlds, one.who) for one in made.assignments] == [("player", slice(6, 12), "oracle")]
        alone = tag(settings.num_worlds, rules=rules)
        oracle = make_opponent("oracle", "player", seed=1, game="tag")
        oracle.begin(alone)
        oracle.act(alone, alone.roles["player"].action)
        done: list[np.ndarray] = []
        made.iterate(0.0, lambda worlds: done.append(worlds.roles["player"].action.copy()))
        assert np.array_equal(done[0][6:12, 1], alone.roles["player"].action[6:12, 1])
        worker = made.workers["player"]
        own = np.ones((settings.num_worlds, 2), bool)
        own[:12, 1] = False
        assert isinstance(worker.columns, np.ndarray)
        assert np.array_equal(worker.columns, np.flatnonzero(own))
        # What is learnt from is what the policy did with its own agents, and what came of it.
        jumps = np.stack(done)[:, own, 2]
        assert np.array_equal(jumps, worker.buffer.action.numpy().clip(-1, 1)[:, :, 2])
        reward = made.worlds.roles["player"].reward[own]
        assert np.array_equal(reward, worker.buffer.reward[-1].numpy())
        assert len(made.assignments) == 2, "a past checkpoint, too"
    finally:
        made.close()


def test_a_stopped_training_goes_on_bit_by_bit() -> None:
    settings = msgspec.structs.replace(
        SMALL, past_opponent_fraction=0.25, scripted_opponents=("sighted",), scripted_opponent_fraction=0.25
    )

    def learner() -> PpoSelfPlay:
        return PpoSelfPlay(tag(settings.num_worlds, rules=CLASSIC), settings, 1)

    one, other = learner(), learner()
    try:
        for _ in range(3):
            one.iterate(0.0)
        other.load_state(copy.deepcopy(one.state()))
        for each in (one, other):
            each.iterate(0.0)
            each.iterate(0.0)
        assert fingerprint(one.policies["player"]) == fingerprint(other.policies["player"])
    finally:
        one.close()
        other.close()


def test_highlights_are_a_tag_and_a_near_miss() -> None:
    settings = TagSettings.defaults().override(**CLASSIC | {"rules.classic_round_s": 10.0})
    players = {"player": make_opponent("oracle", "player", game="tag")}
    rounds = record_rounds("tag", players, settings=settings, episodes=4)
    passed = [one for one in map(pass_of, rounds) if one is not None]
    assert passed, "oracles catch each other"
    for one in passed:
        frame = int(np.searchsorted(one.replay.tick, one.seconds * 60))
        assert (one.replay.team[frame] != one.replay.team[frame - 1]).all()
        assert one.worth == pytest.approx(one.seconds - one.begins)
        assert one.team == SEEKER
    dodged = [one for one in map(dodge_of, rounds) if one is not None]
    assert all(one.team == HIDER and one.replay.gap_m()[int(one.seconds * 60)] > 0.0 for one in dodged)
    still = record_rounds("tag", {"player": Statue("player")}, settings=settings)[0]
    assert pass_of(still) is None


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_short_training_beats_those_who_do_not_care(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        main(["train", "tag", "--mode", "classic", "--steps", "6000000", "--run-id", "short", "--eval", "0"])
    assert not ended.value.code
    opponents = ["random", "wander"]
    before, after = (judge(f"short@{moment}", opponents, rounds=300) for moment in ("start", "final"))
    for opponent in opponents:
        untrained, trained = (found.verdict("player", opponent).share for found in (before, after))
        assert untrained is not None
        assert trained is not None
        assert trained.low > max(0.6, untrained.high), f"{opponent}: {untrained.mean:.3f} to {trained.mean:.3f}"


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("name", ["record", "film"])
def test_it_is_filmed(name: str, verb: Verb, place: Path, engine: Engine) -> None:
    assert engine
    verb(name, "shared", "--preset", "small", "--out", str(place / f"{name}.mp4"))
    assert (place / f"{name}.mp4").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.nightly
def test_it_is_watched(verb: Verb) -> None:
    verb("watch", "shared", "--port", "0", "--seconds", "5")


def test_a_viewer_chooses_an_opponent_and_sees_the_score_of_everybody(place: Path) -> None:
    rounds = RunRounds(RunFolder.open(str(place / "runs/shared")))
    assert rounds.sides == ("player", "opponent")
    assert rounds.players("opponent") == rounds.players("player")
    replay = rounds.next(Choice("open", {"player": "newest", "opponent": "scripted:oracle"}))
    assert replay.header.roles[0].player == "newest against oracle"
    assert replay.outcome is not None
    lines = agent_lines(replay, replay.at(replay.seconds), np.zeros(2, bool))
    assert [line.name for line in lines] == ["Player 1", "Player 2"]
    assert [line.score for line in lines] == [f"score {score:.1f}" for score in replay.outcome.scores]
    assert "score" in board_html(RECORDED, "1.0 s", roles=lines, rounds=3)
    same = rounds.next(Choice("open", {"player": "newest", "opponent": "newest"}))
    assert same.header.roles[0].player == "newest"
