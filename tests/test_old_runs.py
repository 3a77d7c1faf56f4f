"""Runs that an older Godojo wrote: they are judged, resumed, exported and shown, whatever has been added since."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from godojo import formats
from godojo.errors import GodojoError
from godojo.evaluation.evaluation import judge
from godojo.evaluation.players import players_of, policies_of
from godojo.export.dojo_file import check_dojo, load_dojo, write_dojo
from godojo.export.players import SHIPPED
from godojo.export.ship import export, trained_in
from godojo.files import TRAILER
from godojo.formats import CHECKPOINT, DOJO, LEAGUE, POLICY, RUN, Format, rename, renamed_columns
from godojo.games.tag.settings import TagSettings
from godojo.learn.policy_file import load_policy
from godojo.learn.presets import learner_settings
from godojo.runs.folder import RunFolder
from godojo.runs.updates import UpdateLog
from godojo.show.curves import read_table
from godojo.show.replay_file import read_any, read_replay
from godojo.training.args import TrainArgs
from godojo.training.setup import prepared
from tests.conftest import ROOT

VERSIONS = sorted(path.name for path in (ROOT / "tests/old_runs").iterdir() if path.is_dir())


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of an old run, called `old`."""
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    shutil.copytree(ROOT / "tests/old_runs" / request.param / "run", tmp_path / "old")
    return tmp_path / "old"


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    tree = json.loads(path.read_text(encoding="utf-8"))
    change(tree)
    if "sha256" in tree:
        tree["sha256"] = ""
    path.write_text(json.dumps(tree), encoding="utf-8")


def edit_policy(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = torch.load(path, weights_only=True)
    change(content)
    buffer = io.BytesIO()
    torch.save(content, buffer)
    path.write_bytes(TRAILER.close(buffer.getvalue()))


def edit_dojo(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    policy, card = load_dojo(path)
    settings = json.loads(json.dumps(card.settings))
    change({"settings": settings})
    write_dojo(path, policy, msgspec.structs.replace(card, settings=settings))


def resume() -> list[str]:
    """Trains the run on for two updates, as `godojo train --resume old` does; what was said."""
    said: list[str] = []
    with prepared(TrainArgs(resume="old", steps=1024), said.append) as training:
        training.train(lambda _: None)
    return said


@pytest.mark.usefixtures("old")
def test_an_old_run_is_judged() -> None:
    found = judge("old", ["old@start"], rounds=4)
    assert [(one.role, one.opponent) for one in found.verdicts] == [("seeker", "old@start"), ("hider", "old@start")]


def test_an_old_run_is_resumed(old: Path) -> None:
    before = len((old / "updates.csv").read_text(encoding="utf-8").splitlines())
    assert not resume()
    rows = (old / "updates.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == before + 2
    run = RunFolder.open("old")
    assert run.checkpoints().newest()[1].agent_steps == 1024
    assert len(run.environments()) == 2
    assert [entry.name for entry in run.snapshots().entries()] == ["start", "final"]


def test_an_old_run_of_sac_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    shutil.copytree(ROOT / "tests/old_runs/version_2/sac", tmp_path / "old")
    resume()
    run = RunFolder.open("old")
    assert run.config.learner_settings["learning_starts"] == 64
    state, entry = run.checkpoints().newest()
    assert entry.agent_steps == 1024
    assert set(state["learner"]["roles"]["seeker"]["replay_buffer"]["rows"]) >= {"not_done", "privileged"}


def test_an_old_league_is_read() -> None:
    assert LEAGUE.migrate({"greedy": True}, 2) == {"deterministic": True}


def test_an_old_run_is_exported_and_its_exports_play(old: Path, tmp_path: Path) -> None:
    for shipped in export(trained_in("old@start"), tmp_path / "out"):
        check_dojo(Path(shipped.path).read_bytes())
    for suffix in (".dojo", ".onnx"):
        (player,) = players_of(str(old / f"export/seeker{suffix}"), files=SHIPPED).values()
        assert player.card.agent_steps == 768


def test_old_replays_are_shown(old: Path) -> None:
    lines, packed = read_any(old / "trajectories/ep_newest_0000.jsonl"), read_any(old / "trajectories/newest.rounds")
    assert len(packed) == 2
    assert lines[0].header == packed[0].header
    assert lines[0].outcome == packed[0].outcome
    for replay in (*lines, *packed):
        assert [team.name for team in replay.header.teams] == ["seeker", "hider"]
        assert (replay.team == [0, 1]).all(), "a seeker chased"
        assert replay.layout.size_m == tuple(replay.header.arena["size_m"])


def test_a_setting_that_came_later_has_its_default(old: Path) -> None:
    """As if `coyote_s` had not been there when the files were written."""
    default = TagSettings.defaults().motion.coyote_s

    def forget(tree: dict[str, Any], *path: str) -> None:
        for name in path:
            tree = tree[name]
        del tree["motion"]["coyote_s"]
        del tree["spawns"]

    edit(old / "config.json", lambda tree: forget(tree, "game_settings"))
    edit_policy(old / "policy_seeker.pt", lambda content: forget(content, "card", "settings"))
    edit_dojo(old / "export/seeker.dojo", lambda tree: forget(tree, "settings"))
    lines = [json.loads(line) for line in (old / "trajectories/ep_newest_0000.jsonl").read_text("utf-8").splitlines()]
    for line in lines:
        line.pop("sha256", None)
    lines[0]["format"] = "godojo-replay/1"
    forget(lines[0], "settings")
    (old / "ep.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    run = RunFolder.open("old")
    assert TagSettings.from_values(run.config.game_settings).motion.coyote_s == default
    for player in (policies_of("old")["seeker"][1], policies_of(str(old / "policy_seeker.pt"))["seeker"][1]):
        assert player.settings["motion"]["coyote_s"] == default
    (shipped,) = players_of(str(old / "export/seeker.dojo"), files=SHIPPED).values()
    assert shipped.card.settings["spawns"] == msgspec.to_builtins(TagSettings.defaults().spawns)
    assert read_replay(old / "ep.jsonl").settings.motion.coyote_s == default


def test_a_setting_that_is_not_known_is_refused_with_the_file_and_the_fix(old: Path) -> None:
    def invent(settings: dict[str, Any]) -> None:
        settings["motion"]["wings"] = 2

    fix = r"wings.*update Godojo"
    edit_policy(old / "policy_seeker.pt", lambda content: invent(content["card"]["settings"]))
    with pytest.raises(GodojoError, match=rf"policy_seeker\.pt.*{fix}"):
        policies_of("old")
    edit_dojo(old / "export/seeker.dojo", lambda tree: invent(tree["settings"]))
    with pytest.raises(GodojoError, match=rf"seeker\.dojo.*{fix}"):
        players_of(str(old / "export/seeker.dojo"), files=SHIPPED)
    edit(old / "config.json", lambda tree: invent(tree["game_settings"]))
    with pytest.raises(GodojoError, match=rf"config\.json.*{fix}"):
        resume()
    edit(old / "config.json", lambda tree: tree["game_settings"]["motion"].pop("wings"))
    edit(old / "config.json", lambda tree: tree["learner_settings"].update(charm=3))
    with pytest.raises(GodojoError, match=r"config\.json.*charm.*update Godojo"):
        resume()


def test_a_newer_version_is_refused_with_the_file_and_the_fix(old: Path) -> None:
    newer = r"newer Godojo.*update Godojo"
    edit_policy(old / "policy_seeker.pt", lambda content: content.update(format="godojo-policy/99"))
    with pytest.raises(GodojoError, match=rf"policy_seeker\.pt.*{newer}"):
        load_policy(old / "policy_seeker.pt")
    edit_policy(old / "checkpoints/step_000000000768.pt", lambda content: content.update(format="godojo-checkpoint/99"))
    (old / "checkpoints/index.json").unlink()
    with pytest.raises(GodojoError, match=rf"step_000000000768\.pt.*{newer}"):
        RunFolder.open("old").checkpoints().newest()
    edit(old / "snapshots/snapshots.json", lambda tree: tree.update(format="godojo-snapshots/99"))
    with pytest.raises(GodojoError, match=rf"snapshots\.json.*{newer}"):
        RunFolder.open("old").snapshots().entries()
    content = bytearray((old / "export/seeker.dojo").read_bytes())
    content[4] = 99
    (old / "export/seeker.dojo").write_bytes(bytes(content))
    with pytest.raises(GodojoError, match=r"seeker\.dojo.*version 99.*update Godojo"):
        load_dojo(old / "export/seeker.dojo")
    edit(old / "config.json", lambda tree: tree.update(format="godojo-run/99"))
    with pytest.raises(GodojoError, match=rf"config\.json.*{newer}"):
        RunFolder.open("old")


def test_a_field_of_a_file_that_is_not_known_is_refused_with_the_file_and_the_fix(old: Path) -> None:
    edit_policy(old / "policy_seeker.pt", lambda content: content["card"]["shape"].update(wings=2))
    with pytest.raises(GodojoError, match=r"policy_seeker\.pt.*wings.*update Godojo"):
        load_policy(old / "policy_seeker.pt")
    edit(old / "config.json", lambda tree: tree.update(wings=2))
    with pytest.raises(GodojoError, match=r"config\.json.*wings.*update Godojo"):
        RunFolder.open("old")


def test_memories_of_runs_from_before_they_could_turn_do_not(old: Path) -> None:
    edit(old / "config.json", lambda tree: tree.update(format="godojo-run/1"))
    edit(old / "config.json", lambda tree: tree["learner_settings"].pop("turning"))
    config = RunFolder.open("old").config
    assert learner_settings("ppo", config.learner_settings).egocentric_memory_size == 0


def test_a_checkpoint_that_does_not_fit_is_refused_with_its_file(old: Path) -> None:
    edit(old / "config.json", lambda tree: tree["learner_settings"].update(hidden=[9, 9]))
    with pytest.raises(GodojoError, match=r"step_000000000768\.pt does not fit.*init_from"):
        resume()


@pytest.mark.parametrize("lost", ["updates.csv", "metrics.csv", "snapshots", "snapshots/start"])
def test_what_a_resumed_run_has_lost_is_announced(lost: str, old: Path) -> None:
    shutil.rmtree(old / lost) if (old / lost).is_dir() else (old / lost).unlink()
    (told,) = resume()
    assert Path(lost).name in told
    assert "continuing" in told or "starting a new one" in told


def renaming(form: Format, change: Callable[[dict[str, Any]], None]) -> Format:
    """The same format a version later."""
    return Format(form.name, *form.migrations, change)


def test_a_rename_is_one_line_in_a_table(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a version to come would do: every reader sees the new name in files of all older versions."""

    def learner(tree: dict[str, Any]) -> None:
        rename(tree["learner_settings"], n_steps="rollout_length", pool_size="size_of_pool")

    def seen(tree: dict[str, Any]) -> None:
        rename(tree["card"]["settings"], spawns="places")

    def state(tree: dict[str, Any]) -> None:
        rename(tree["state"], recent="window")

    def header(tree: dict[str, Any]) -> None:
        tree["role"] = "pursuer"

    monkeypatch.setattr("godojo.runs.config.RUN", renaming(RUN, learner))
    config = RunFolder.open("old").config
    assert (config.learner_settings["rollout_length"], config.learner_settings["size_of_pool"]) == (16, 2)
    assert "n_steps" not in config.learner_settings

    monkeypatch.setattr("godojo.learn.policy_file.POLICY", renaming(POLICY, seen))
    assert "places" in load_policy(old / "policy_seeker.pt")[1].settings
    monkeypatch.setattr("godojo.runs.checkpoints.CHECKPOINT", renaming(CHECKPOINT, state))
    assert "window" in RunFolder.open("old").checkpoints().newest()[0]
    monkeypatch.setattr("godojo.export.dojo_file.DOJO", renaming(DOJO, header))
    assert load_dojo(old / "export/seeker.dojo")[1].role == "pursuer"


def test_a_renamed_setting_of_a_game_is_read_wherever_it_is(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rename_back(content: dict[str, Any]) -> None:
        content["card"]["settings"]["rules"]["length_s"] = content["card"]["settings"]["rules"].pop("round_s")

    edit_policy(old / "policy_seeker.pt", rename_back)
    monkeypatch.setitem(formats.SETTINGS, "tag", {("rules", "length_s"): ("rules", "round_s")})
    assert policies_of(str(old / "policy_seeker.pt"))["seeker"][1].settings["rules"]["round_s"] == 2.0


def test_renamed_columns_are_read_and_written_by_their_new_names(old: Path) -> None:
    texts = (old / "updates.csv").read_text(encoding="utf-8").splitlines()
    before = {name: column for name, *column in zip(*(row.split(",") for row in texts), strict=True)}
    found = read_table(old / "updates.csv").columns
    for name, tag in (
        ("seeker_divergence", "seeker/train/approx_kl"),
        ("hider_policy", "hider/train/policy_gradient_loss"),
        ("seeker_rating", "seeker/rollout/rating"),
        ("hider_reward_tag", "hider/rollout/reward_tag"),
        ("speed_agent_steps_per_s", "time/fps"),
        ("progress", "progress"),
    ):
        assert list(found[tag]) == before[name]
    log = UpdateLog(old / "updates.csv", old / "tensorboard", 6, 768, roles=("seeker", "hider"))
    log.write(7, 896, 2.0, {"seeker/train/approx_kl": 0.5})
    log.close()
    assert "seeker_divergence" not in (old / "updates.csv").read_text(encoding="utf-8")
    found = read_table(old / "updates.csv").columns
    assert list(found["seeker/train/approx_kl"]) == [*before["seeker_divergence"], "0.5"]


def test_columns_of_sac_and_of_stable_baselines_have_tags_of_their_own() -> None:
    assert renamed_columns(["update", "seeker_policy", "seeker_temperature"]) == [
        *("update", "seeker/train/actor_loss", "seeker/train/ent_coef")
    ]
    assert renamed_columns(["update", "walker_value_loss", "walker_judged_goals", "curriculum_stage"]) == [
        *("update", "walker/train/value_loss", "walker/eval/goals", "curriculum/stage")
    ]
    rounds = ["episode", "seeker_value", "seeker_reward"]
    assert renamed_columns(rounds) == rounds, "a reward term may have any name"
