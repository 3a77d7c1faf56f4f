"""Runs: made whole, never written over unasked, found by name, written by one process at a time."""

import multiprocessing
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from godojo.errors import GodojoError
from godojo.formats import RUN
from godojo.runs.config import CONTINUED_BY, Environment, RunConfig
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference
from tests.judged_runs import make_run, make_solo_run

CONFIG = RunConfig(
    game="tag",
    engine="sim",
    roles=("seeker", "hider"),
    learner="ppo",
    learner_settings={"num_worlds": 2048, "net_arch": [64, 64]},
    game_settings={"rules": {"round_s": 10.0}},
    seed=1,
    budget={"minutes": 5},
    command=("godojo", "train", "tag"),
)
TRICKS = [
    "..",
    ".",
    "../x",
    "a/../../x",
    "/tmp/x",
    ".hidden",
    "a\\b",
    "",
    "x\0y",
    "a" * 65,
    "new\nline",
    "~",
    "ü",
    "C:x",
]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def test_a_distilled_run_of_before_says_who_continues_it() -> None:
    tree = {"learner": "distil", "more": {"goes_on_by": "sac"}}
    assert RUN.migrate(tree, 3)["more"] == {CONTINUED_BY: "sac"}


def test_a_run_is_made_and_found(root: Path) -> None:
    made = RunFolder.create(CONFIG)
    assert made.path.parent == root
    assert made.run_id.startswith("tag-20")
    found = RunFolder.open(made.run_id)
    assert found.config == CONFIG
    assert found.path == RunFolder.open(made.path).path == RunFolder.open(str(made.path)).path
    assert dict(found.role_map().read()) == {"seeker": "train", "hider": "train"}
    text = (made.path / "README.md").read_text(encoding="utf-8")
    for said in ("policy_seeker.pt", "policy_hider.pt", "metrics.csv", f"train tag --resume {made.run_id}", "@start"):
        assert said in text
    assert sorted(path.name for path in root.iterdir()) == [made.run_id]
    assert RunFolder.create(CONFIG).run_id != made.run_id  # within the same second


def test_runs_lie_in_the_current_directory_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GODOJO_RUNS")
    monkeypatch.chdir(tmp_path)
    RunFolder.create(CONFIG, "here")
    assert (tmp_path / "runs/here/config.json").is_file()
    assert RunFolder.open("here").name == "here"
    outside = RunFolder.create(CONFIG, "there", root=tmp_path / "elsewhere")
    assert outside.name == str(outside.path)
    assert f"eval {outside.path}" in (outside.path / "README.md").read_text(encoding="utf-8")


def test_files_can_be_read_by_others(root: Path) -> None:
    before = os.umask(0o022)
    try:
        RunFolder.create(CONFIG, "mine")
    finally:
        os.umask(before)
    assert (root / "mine/config.json").stat().st_mode & 0o777 == 0o644


def test_a_run_is_not_written_over_unasked(root: Path) -> None:
    RunFolder.create(CONFIG, "mine").save_policy("seeker", b"policy")
    (root / "mine/metrics.csv").write_text("precious")
    with pytest.raises(GodojoError, match=r"exists: .*resume='mine'.*force=True.*run_id"):
        RunFolder.create(CONFIG, "mine")
    assert (root / "mine/metrics.csv").read_text() == "precious"
    said: list[str] = []
    new = RunFolder.create(msgspec.structs.replace(CONFIG, seed=2), "mine", force=True, say=said.append)
    assert not (root / "mine/metrics.csv").exists()
    assert RunFolder.open("mine").config.seed == 2
    assert "replacing" in said[0]
    assert len(list(root.iterdir())) == 2, "the old one is kept until the new one has saved something"
    new.save_policy("seeker", b"policy")
    assert [path.name for path in root.iterdir()] == ["mine"]


@pytest.mark.parametrize("ends", ["in good order", "by a kill", "by a kill, before there is a new run"])
def test_a_replaced_run_comes_back_if_nothing_is_saved(root: Path, ends: str) -> None:
    RunFolder.create(CONFIG, "mine").save_policy("seeker", b"policy")
    new = RunFolder.create(msgspec.structs.replace(CONFIG, seed=2), "mine", force=True)
    with pytest.raises(GodojoError, match="no policy"):
        RunFolder.open("mine").policy("seeker")
    if ends == "in good order":
        new.remove_if_unused()
    else:
        assert new._replaced is not None
        new._replaced.release()  # as the kernel does
    if ends.endswith("new run"):
        shutil.rmtree(root / "mine")
    assert RunFolder.open("latest").config.seed == 1
    assert RunFolder.open("mine").policy("seeker").read_bytes() == b"policy"
    assert [path.name for path in root.iterdir()] == ["mine"]


def test_force_deletes_nothing_but_runs(root: Path, tmp_path: Path) -> None:
    (root / "photos").mkdir(parents=True)
    (root / "photos/cat.jpg").write_text("cat")
    with pytest.raises(GodojoError, match="is no run"):
        RunFolder.create(CONFIG, "photos")
    with pytest.raises(GodojoError, match="is no run"):
        RunFolder.create(CONFIG, "photos", force=True)
    elsewhere = RunFolder.create(CONFIG, "real", root=tmp_path / "elsewhere")
    (root / "link").symlink_to(elsewhere.path)
    with pytest.raises(GodojoError, match="is no run"):
        RunFolder.create(CONFIG, "link", force=True)
    assert (root / "photos/cat.jpg").is_file()
    assert (elsewhere.path / "config.json").is_file()


@pytest.mark.parametrize("name", [*TRICKS, "latest"])
def test_ids_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    for force in (False, True):
        with pytest.raises(GodojoError):
            RunFolder.create(CONFIG, name, force=force)
    with pytest.raises(GodojoError):
        RunFolder.open(name)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_not_there(root: Path) -> None:
    with pytest.raises(GodojoError, match=r"no run with a saved policy in .* yet"):
        RunFolder.open("latest")
    with pytest.raises(GodojoError, match="there is none yet"):
        RunFolder.open("first")
    RunFolder.create(CONFIG, "first-try")
    with pytest.raises(GodojoError, match="did you mean first-try"):
        RunFolder.open("first-tri")
    with pytest.raises(GodojoError, match="is no run"):
        RunFolder.open(root / "nothing")
    (root / "first-try/config.json").write_text('{"game": 3}')
    with pytest.raises(GodojoError, match=r"config\.json does not fit this Godojo"):
        RunFolder.open("first-try")


def test_the_latest_is_the_one_trained_last(root: Path) -> None:
    for name, time in (("a", 100), ("b", 300), ("c", 200)):
        RunFolder.create(CONFIG, name).save_policy("seeker", b"policy")
        os.utime(root / name / "config.json", (time, time))
    assert RunFolder.open().run_id == "b"
    (root / "c/metrics.csv").touch()
    assert RunFolder.open("latest").run_id == "c"


def test_a_game_stands_for_its_latest_run(root: Path) -> None:
    make_solo_run(root, "walks")
    for name in ("a", "b"):
        make_run(root, name)
    assert RunFolder.open("navigation").run_id == "walks"
    assert RunFolder.open("tag").run_id == "b"
    make_run(root, "navigation")
    assert RunFolder.open("navigation").config.game == "tag", "a run of that name comes first"
    with pytest.raises(GodojoError, match="no run of tag with a saved policy"):
        RunFolder.open("tag", root=root / "empty")


def test_a_run_without_a_policy_is_never_the_latest_and_can_be_removed(root: Path) -> None:
    empty = RunFolder.create(CONFIG, "empty")
    with pytest.raises(GodojoError, match="no run with a saved policy"):
        RunFolder.open("latest")
    with pytest.raises(GodojoError, match="without a policy: replace it with force=True"):
        RunFolder.create(CONFIG, "empty")
    used = RunFolder.create(CONFIG, "used")
    used.save_policy("seeker", b"policy")
    for run in (empty, used):
        run.remove_if_unused()
    assert [path.name for path in root.iterdir()] == ["used"]
    empty.remove_if_unused()  # there is nothing left to remove


def _hold(path: Path, ready: "multiprocessing.synchronize.Event") -> None:
    with RunFolder.open(path).lock():
        ready.set()
        multiprocessing.Event().wait(60)


def test_two_cannot_train_one_run(root: Path) -> None:
    run = RunFolder.create(CONFIG, "mine")
    (root / "mine/.policy_seeker.pt.0123abcd.part").write_bytes(b"left by a kill")
    spawn = multiprocessing.get_context("spawn")
    ready = spawn.Event()
    other = spawn.Process(target=_hold, args=(run.path, ready))
    other.start()
    try:
        assert ready.wait(60)
        with pytest.raises(GodojoError, match="by another process"), run.lock():
            pass
        with pytest.raises(GodojoError, match="by another process"):
            RunFolder.create(CONFIG, "mine", force=True)
    finally:
        other.kill()
        other.join(10)
    with run.lock():  # a killed trainer leaves no lock behind
        pass
    assert not list(root.glob("mine/.*.part"))


def test_policies_and_snapshots_by_name() -> None:
    run = RunFolder.create(CONFIG, "mine")
    with pytest.raises(GodojoError, match="no policy of the seeker yet"):
        run.policy("seeker")
    run.save_policy("seeker", b"newest")
    assert run.policy("seeker").read_bytes() == b"newest"
    with pytest.raises(GodojoError, match="there is none yet"):
        run.policy("seeker", "start")
    store = run.snapshots()
    for number, name in enumerate(("start", "1m", "final")):
        store.save(name, {"seeker": name.encode(), "hider": b"h"}, number * 1000, number * 60, {"seeker": 25.0})
    run_name, snapshot = split_reference("mine@1m")
    assert RunFolder.open(run_name).policy("seeker", snapshot).read_bytes() == b"1m"
    assert split_reference("mine") == ("mine", None)
    with pytest.raises(GodojoError, match="did you mean final"):
        run.policy("seeker", "finale")
    with pytest.raises(GodojoError, match="did you mean seeker"):
        run.policy("seker", "final")
    store.cut_back(1000)
    assert [entry.name for entry in store.entries()] == ["start", "1m"]
    assert not (run.path / "snapshots/final").exists()
    for name in TRICKS:
        with pytest.raises(GodojoError):
            store.save(name, {"seeker": b""}, 0, 0.0)
        with pytest.raises(GodojoError):
            store.save("fine", {name: b""}, 0, 0.0)
        with pytest.raises(GodojoError):
            run.policy("seeker", name)
        with pytest.raises(GodojoError):
            split_reference(f"mine@{name}")


def test_roles_are_read_anew_when_the_file_changes() -> None:
    run = RunFolder.create(CONFIG, "mine")
    said: list[str] = []
    roles = run.role_map(said.append)
    path = run.path / "roles.json"

    def edit(text: str, change: Callable[[str], object] = path.write_text) -> dict[str, str]:
        change(text)
        return dict(roles.read())

    assert edit('{"seeker": "frozen"}') == {"seeker": "frozen", "hider": "train"}
    assert edit('{"hider": "deterministic"}') == {"seeker": "train", "hider": "deterministic"}
    assert not said
    for number, text in enumerate(["{", '{"hider": "asleep"}', '{"hidr": "train"}', "[]", "\xff"], start=1):
        assert edit(text) == {"seeker": "train", "hider": "deterministic"}
        roles.read()
        assert len(said) == number  # once, not at every update
        assert "is ignored" in said[-1]
    path.unlink()
    roles.read()
    assert dict(roles.read()) == {"seeker": "train", "hider": "deterministic"}
    assert len(said) == 6
    roles.write({"seeker": "deterministic"})
    assert roles.read()["seeker"] == "deterministic"
    with pytest.raises(GodojoError, match="did you mean hider"):
        roles.write({"hidre": "frozen"})


def test_every_stretch_of_training_is_noted() -> None:
    run = RunFolder.create(CONFIG, "mine")
    run.add_environment(Environment.here())
    run.add_environment(Environment.here(godot="4.6.3"))
    noted = run.environments()
    assert [each.godot for each in noted] == ["", "4.6.3"]
    assert noted[0].packages["torch"]
    assert noted[0].cores >= 1
    run.save_ratings({"seeker": {"mu": 25.0}})
    assert (run.path / "ratings.json").is_file()
