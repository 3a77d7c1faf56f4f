"""`godojo eval` judges the right policy against the right opponent, in held-out arenas, and refuses misfits."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from godojo.cli.eval import evaluate
from godojo.engines.godot.find import Engine
from godojo.engines.make import ENGINES, make_vec
from godojo.errors import GodojoError
from godojo.evaluation.evaluation import ITSELF, default_opponents, judge
from godojo.evaluation.held_out import PROBE_SEED, game_settings, judging_seed, judging_worlds
from godojo.evaluation.intervals import Difference, Proportion
from godojo.evaluation.players import PolicyPlayer, player_from, policies_of
from godojo.games.base import HELD_OUT_SEED
from godojo.games.tag.arenas import generate_arena
from godojo.games.tag.godot import generated_pool
from godojo.games.tag.opponents import OPPONENTS
from godojo.games.tag.settings import TagSettings
from godojo.learn.policy_file import save_policy
from tests.conftest import ROOT, Run
from tests.judged_runs import ROLES, make_run, small_policy

DEFAULTS = TagSettings.defaults()

BASIC = ("random", "wander", "sighted", "oracle")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where runs lie, with the run `small` in it."""
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    make_run(tmp_path)
    return tmp_path


def test_players_by_every_kind_of_name(root: Path) -> None:
    mine = root / "mine.py"
    mine.write_text(
        "class Still:\n"
        "    def __init__(self, role, seed): pass\n"
        "    def begin(self, worlds): pass\n"
        "    def act(self, worlds, out): out[:] = 0\n",
        encoding="utf-8",
    )
    worlds = make_vec("tag", num_worlds=3)
    for text in (
        "oracle",
        "scripted:oracle",
        f"{mine}:Still",
        f"scripted:{mine}:Still",
        "small",
        "latest",
        "small@start",
    ):
        player = player_from(text, "hider", game="tag", seed=1)
        player.begin(worlds)
        player.act(worlds, worlds.roles["hider"].action)
    for text in (str(root / "small"), f"{root / 'small'}@final", str(root / "small/policy_hider.pt")):
        player = player_from(text, "hider", game="tag")
        assert isinstance(player, PolicyPlayer)
        assert player.name == text
    assert type(player_from("scripted:sighted", "seeker", game="tag")) is OPPONENTS["sighted"]


def test_a_snapshot_is_the_policy_of_that_moment(root: Path) -> None:  # noqa: ARG001 - where the run lies
    for text, ahead in (("small@start", 0.0), ("small@final", 1.0), ("small", 1.0)):
        policies = policies_of(text)
        assert tuple(policies) == ROLES
        assert policies["seeker"][0].head.linear.bias.tolist() == [0.0, ahead, -1.0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("scripted:sihgted", "did you mean sighted"),
        ("smal", "did you mean small?.*scripted opponent: random"),
        ("small@finale", "no snapshot 'finale'; did you mean final"),
        ("small@../../etc", "is no name for a snapshot"),
        ("../small", "is no run"),
        ("nothing.pt", "no such policy file"),
        ("nothing.py:Class", "no such file"),
        ("", "is no name for a run"),
    ],
)
def test_names_of_nobody_are_answered(root: Path, text: str, reason: str) -> None:  # noqa: ARG001
    with pytest.raises(GodojoError, match=reason):
        player_from(text, "hider", game="tag")


def test_policies_of_another_game_or_role_are_refused(root: Path) -> None:
    make_run(root, "chess", game="chess")
    with pytest.raises(GodojoError, match="chess plays chess, not tag"):
        player_from("chess", "hider", game="tag")
    with pytest.raises(GodojoError, match="no game 'chess' to judge in"):
        judge("chess", rounds=1)
    seeker = root / "small/policy_seeker.pt"
    with pytest.raises(GodojoError, match="plays the seeker, not the hider"):
        player_from(str(seeker), "hider", game="tag")
    (root / "small/policy_hider.pt").write_bytes(seeker.read_bytes())
    with pytest.raises(GodojoError, match="plays tag as the seeker, and not tag as the hider"):
        player_from("small", "hider", game="tag")


def test_a_policy_file_cut_short_is_refused(root: Path) -> None:
    path = root / "small/policy_hider.pt"
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(GodojoError, match=r"policy_hider.pt is no whole policy file"):
        judge("small", rounds=1)


def test_an_opponent_of_another_layout_is_refused_before_anything_is_played(root: Path) -> None:
    rows = [{"elevation_deg": 0.0, "columns": 9}]
    make_run(root, "few-rays", DEFAULTS.override(**{"sight.rows": rows}))
    played: list[str] = []
    with pytest.raises(
        GodojoError, match="few-rays was trained on other observations: rays is 9 x 2 to it, and 48 x 2"
    ):
        judge("small", ["random", "few-rays"], rounds=1, progress=lambda title, _: played.append(title))
    assert not played


def test_who_chases_better_is_told(root: Path) -> None:  # noqa: ARG001
    """Whoever stands still is hardly ever found by chance, and always by somebody who knows everything."""
    found = judge("small@start", ["random", "oracle"], role="hider", rounds=100, arenas="hand-made")
    by_chance, knowing = (found.verdict("hider", name) for name in ("random", "oracle"))
    assert by_chance.wins is not None
    assert knowing.wins is not None
    assert by_chance.wins.low > knowing.wins.high
    assert knowing.wins.rate < 0.1
    assert knowing.wins.rounds == 100
    assert set(knowing.by_arena) == {"maze", "mixed", "open", "pillars", "platforms"}
    assert sum(share.rounds for share in knowing.by_arena.values()) == 100
    assert knowing.reward.high < by_chance.reward.low
    assert knowing.median_length_s < by_chance.median_length_s


def test_itself_is_its_own_other_role(root: Path) -> None:  # noqa: ARG001
    found = judge("small", [ITSELF, "small"], rounds=60)
    seeker, hider = (found.verdict(role, ITSELF).wins for role in ROLES)
    assert seeker is not None
    assert hider is not None
    assert seeker.wins + hider.wins == 60  # the same rounds, seen from either side
    assert found.verdict("seeker", "small").wins == seeker
    assert judge("small", [ITSELF], rounds=60) == judge("small", [ITSELF], rounds=60)
    other = judge("small", [ITSELF], rounds=60, seed=1)
    assert other.verdicts != judge("small", [ITSELF], rounds=60).verdicts


def test_a_single_policy_file_can_be_judged(root: Path) -> None:
    path = root / "alone.pt"
    save_policy(path, *small_policy("hider"))
    found = judge(str(path), rounds=20)
    assert [(one.role, one.opponent) for one in found.verdicts] == [("hider", name) for name in BASIC]
    with pytest.raises(GodojoError, match="no policy of the seeker to be itself"):
        judge(str(path), [ITSELF], rounds=20)
    with pytest.raises(GodojoError, match="has no role 'seeker'; it has: hider"):
        judge(str(path), role="seeker", rounds=20)


def test_a_role_that_the_mode_does_not_have_is_refused(root: Path) -> None:
    settings = DEFAULTS.override(**{"rules.mode": "classic"})
    hide_and_seek, card = small_policy("hider")
    path = root / "classic.pt"
    save_policy(path, hide_and_seek, msgspec.structs.replace(card, settings=msgspec.to_builtins(settings)))
    with pytest.raises(GodojoError, match="no role 'hider' to play; there is: player"):
        judge(str(path), ["random"], rounds=1)


def test_everybody_is_played_unless_somebody_is_named() -> None:
    assert default_opponents("tag", 2) == [*BASIC, ITSELF]
    assert default_opponents("tag", 1) == [*BASIC]


def test_arenas_are_held_out() -> None:
    assert judging_seed(0) == HELD_OUT_SEED
    assert judging_seed(HELD_OUT_SEED - 1) < PROBE_SEED  # so that no two ranges meet
    for bad in (-1, HELD_OUT_SEED):
        with pytest.raises(GodojoError, match="a seed to judge with"):
            judging_seed(bad)
    sizes = judging_worlds("tag", DEFAULTS, arenas="generated", rounds=200).privileged().size_m
    trained = make_vec("tag", num_worlds=200, seed=0, generated_share=1.0).privileged()
    judged = judging_worlds("tag", DEFAULTS, arenas="generated", rounds=200).privileged()
    assert len(np.unique(sizes, axis=0)) > 150
    same = (trained.box_low_m[:, None] == judged.box_low_m[None]).all(axis=(2, 3))
    same &= (trained.size_m[:, None] == judged.size_m[None]).all(axis=2)  # an open field may have no box
    assert not same.any()


def test_arenas_of_a_users_own(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(generate_arena(5).to_json())
    worlds = judging_worlds("tag", DEFAULTS, arenas=str(tmp_path), rounds=4)
    assert worlds.arena_names == ("generated_5",)
    assert worlds.num_worlds == 4
    with pytest.raises(GodojoError, match="no arena 'handmade'; did you mean hand-made"):
        judging_worlds("tag", DEFAULTS, arenas="handmade")
    assert game_settings("tag", {}) == DEFAULTS


def test_settings_are_those_it_was_trained_with(root: Path) -> None:
    make_run(root, "short", DEFAULTS.override(**{"rules.round_s": 2.0}))
    found = judge("short", ["random"], role="hider", rounds=20)
    assert found.verdicts[0].median_length_s <= 2.0 + 1e-6


def test_the_example_of_the_page_runs() -> None:
    page = ROOT / "docs/judging.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, page.name, "exec"), names)
    assert names["results"].wins("seeker").low > 0.5


def test_the_command(root: Path, godojo: Run) -> None:
    words = ("eval", "small", "-o", "random", "-o", "itself", "-n", "40", "--arenas", "generated")
    done = godojo(*words, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(one["role"], one["opponent"]) for one in found["verdicts"]] == [
        (role, rival) for role in ROLES for rival in ("random", "itself")
    ]
    assert all(one["wins"]["rounds"] == 40 and list(one["by_arena"]) == ["generated"] for one in found["verdicts"])
    assert all(one["wins"]["low"] <= one["wins"]["rate"] <= one["wins"]["high"] for one in found["verdicts"])
    table = godojo(*words, "--role", "hider").stdout
    assert "95 % interval" in table
    assert "itself" in table
    assert "seeker  " not in table
    assert root.exists()


@pytest.mark.engine
@pytest.mark.skipif("godot" not in ENGINES, reason="this Godojo has the embedded engine only")
def test_judging_in_the_real_engine(root: Path, engine: Engine) -> None:  # noqa: ARG001 - where the run lies; skips
    found = judge("small@start", ["random", ITSELF], rounds=6, engine="godot")
    assert [one.wins.rounds for one in found.verdicts if one.wins is not None] == [6] * 4
    hider = found.verdict("hider", ITSELF)
    assert hider.wins is not None
    assert hider.wins.wins == 6  # nobody moves, nobody is caught
    assert hider.median_length_s == pytest.approx(DEFAULTS.rules.round_s)


@pytest.mark.engine
@pytest.mark.usefixtures("root", "engine")
def test_both_engines_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate("small", opponent=["oracle"], role="hider", episodes=6, engine="both", as_json=True)
    found = json.loads(capsys.readouterr().out)
    (row,) = found["rows"]
    assert (row["role"], row["opponent"]) == ("hider", "oracle")
    assert row["sim"]["wins"] == row["godot"]["wins"] == 0  # a beginner never escapes from one who knows everything
    assert row["difference"]["points"] == 0.0
    assert row["difference"]["low"] < 0.0 < row["difference"]["high"]
    assert found["godot"]["engine"] == "godot"


def test_both_engines_can_play_in_the_same_generated_arenas() -> None:
    pool = {arena.size_m for arena in generated_pool(judging_seed(3), DEFAULTS)}
    worlds = judging_worlds("tag", DEFAULTS, arenas="generated", rounds=300, seed=3, from_pool=True)
    told = worlds.privileged()
    assert {(round(float(x), 4), round(float(z), 4)) for x, z in told.size_m} == pool
    worlds.twin.worlds["ticks"] = DEFAULTS.round_ticks - 1  # type: ignore[attr-defined]
    worlds.step()
    assert worlds.ended.all()
    assert (worlds.arena == -1).all()


def test_the_interval_of_a_difference_is_newcombes() -> None:
    gap = Difference.of(Proportion.of(56, 70), Proportion.of(48, 80))  # the example of his paper, method 10
    assert gap.points == pytest.approx(20.0)
    assert (gap.low, gap.high) == pytest.approx((5.24, 33.39), abs=0.01)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["nobody"], "nobody"),
        (["small@never"], "never"),
        (["small", "--role", "judge"], "seeker, hider"),
        (["small", "--episodes", "0"], "--episodes"),
        (["small", "--engine", "unreal"], "unreal"),
        (["small", "--opponent", "orcale"], "oracle"),
    ],
)
def test_a_mistake_is_one_line(root: Path, godojo: Run, words: list[str], named: str) -> None:  # noqa: ARG001
    done = godojo("eval", *words)
    assert done.returncode == 2, done
    assert done.stderr.strip().count("\n") == 0
    assert named in done.stderr
