"""The Python API: what `godojo` exports, from a training to a policy that acts."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import godojo
from godojo.evaluation.evaluation import Evaluation
from godojo.learn.registry import ALGORITHMS, AlgorithmEntry
from godojo.learn.training import TrainingStatus
from tests.conftest import ROOT
from tests.doc_pages import blocks
from tests.learning_games import WORDS

SMALL = [word.removeprefix("--set=") for word in WORDS]
STEPS = 4000


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("api") / "runs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GODOJO_RUNS", str(folder))
        yield folder


@pytest.fixture(scope="module")
def seen() -> list[TrainingStatus]:
    return []


@pytest.fixture(scope="module")
def run(runs: Path, seen: list[TrainingStatus]) -> godojo.Run:
    made = godojo.train("tag", steps=STEPS, seed=3, settings=SMALL, run_id="tiny", progress=seen.append)
    assert made.path == runs / "tiny"
    return made


def observations(role: str, count: int = 5) -> np.ndarray:
    """Of several agents, from a game."""
    with godojo.make_vec("tag", num_worlds=count, seed=4) as worlds:
        return worlds.roles[role].observation[:, 0].copy()


def test_nothing_slow_is_imported() -> None:
    program = """
import sys
import godojo
from godojo import GodojoError, Run, train
assert set(godojo.__all__) <= set(dir(godojo))
for mistake in (lambda: train("chess"), lambda: Run.open("nobody"), lambda: train(algorithm="sacc")):
    try:
        mistake()
        raise AssertionError(mistake)
    except GodojoError as error:
        assert "\\n" not in str(error)
loaded = [name for name in ("torch", "numba", "matplotlib", "rich", "typer") if name in sys.modules]
assert not loaded, loaded
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted({*godojo.__all__} - {"__version__"}))
def test_public_names_are_there_and_documented(name: str) -> None:
    public = getattr(godojo, name)
    assert public.__doc__
    assert f"`{name}" in (ROOT / "docs/python.md").read_text(encoding="utf-8")
    functions: list[Any] = [public] if inspect.isfunction(public) else []
    if name in ("Run", "TrainedPolicy"):
        functions = [one for key, one in inspect.getmembers(public, callable) if not key.startswith("_")]
    if name == "Run":
        page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        assert not [one.__name__ for one in functions if f"`{one.__name__}(" not in page and one.__name__ != "open"]
    for function in functions:
        for parameter in inspect.signature(function).parameters:
            is_told = re.search(rf"\b{parameter}\b", inspect.getdoc(function) or "")
            assert parameter == "self" or is_told, (function, parameter)


def test_a_training_reports_its_progress_and_prints_nothing(
    run: godojo.Run, seen: list[TrainingStatus], capfd: pytest.CaptureFixture[str]
) -> None:
    assert seen
    assert seen[-1].agent_steps >= STEPS
    assert {status.updates for status in seen} == set(range(1, len(seen) + 1))
    assert run.config.seed == 3
    assert run.config.game == "tag"
    assert run.snapshots == ["start", "final"]
    again = run.resume(steps=STEPS + 1000)
    assert (again.path, again.name) == (run.path, "tiny")
    assert again.policies["hider"].agent_steps > seen[-1].agent_steps
    assert capfd.readouterr() == ("", "")


def test_a_callback_stops_the_training(runs: Path) -> None:
    calls: list[TrainingStatus] = []

    def stop(status: TrainingStatus) -> bool:
        calls.append(status)
        return len(calls) < 2

    stopped = godojo.train("tag", steps=10**9, settings=SMALL, run_id="stopped", progress=stop)
    assert len(calls) == 2
    assert stopped.path == runs / "stopped"
    assert stopped.snapshots == ["start"]
    assert stopped.policies.keys() == {"seeker", "hider"}


def test_settings_are_a_mapping_of_both_kinds(runs: Path) -> None:
    settings: dict[str, Any] = dict(word.split("=", 1) for word in SMALL)
    settings = {name: [8] if text == "[8]" else int(text) for name, text in settings.items()}
    made = godojo.train("tag", steps=600, settings=settings | {"gamma": 0.9, "motion.gravity_mps2": 12.5}, run_id="set")
    assert made.config.learner_settings["gamma"] == 0.9
    assert made.config.game_settings["motion"]["gravity_mps2"] == 12.5
    assert made.config.command == ()
    assert godojo.Run.open(runs / "set").config.learner_settings["gamma"] == 0.9


def test_runs_are_evaluated(run: godojo.Run) -> None:
    heard: list[str] = []
    found = run.evaluate(["scripted:random"], episodes=8, progress=lambda what, _: heard.append(what))
    assert isinstance(found, Evaluation)
    assert {(one.role, one.opponent) for one in found.verdicts} == {
        ("seeker", "scripted:random"),
        ("hider", "scripted:random"),
    }
    assert any("seeker" in what for what in heard)
    same = godojo.evaluate(run, ["scripted:random"], episodes=8)
    assert isinstance(same, Evaluation)
    assert same.verdicts == found.verdicts
    start = run.evaluate(["scripted:random"], snapshot="start", role="hider", episodes=8)
    assert isinstance(start, Evaluation)
    assert start.agent_steps["hider"] == 0


def test_evaluations_print_as_tables_and_briefly(run: godojo.Run) -> None:
    found = run.evaluate(["scripted:random", "itself"], role="hider", episodes=40)
    title, *_, header, first, second = str(found).splitlines()
    assert title == f"{run.path}, tag on sim, held-out arenas"
    assert header.split() == ["role", "against", "wins", "95", "%", "interval", "reward", "median", "round"]
    found_interval = re.search(r"([\d.]+) to ([\d.]+)", first)
    assert found_interval
    rate, (low, high) = first.split()[2], found_interval.groups()
    assert first.split()[:2] == ["hider", "scripted:random"]
    assert float(low) <= float(rate) <= float(high)
    assert second.split()[0] == "itself"
    assert repr(found) == f"<Evaluation: {title}>"


def test_policies_are_distilled(run: godojo.Run) -> None:
    heard: list[str] = []
    small = run.distil((8,), steps=2000, run_id="smaller", progress=lambda what, _: heard.append(what))
    assert small.name == "smaller"
    observed = observations("hider")
    assert small.policies["hider"].act(observed).shape == run.policies["hider"].act(observed).shape
    assert heard


def test_a_run_is_watched(run: godojo.Run) -> None:
    said: list[str] = []
    run.watch(port=0, seconds=0.1, say=said.append)
    assert "http://127.0.0.1:" in said[0]


def test_episodes_are_recorded(run: godojo.Run, tmp_path: Path) -> None:
    found = run.replay(tmp_path / "kept", episodes=2, players={"hider": "scripted:random"}, seed=5)
    assert len(found.episodes) == len(list(found.folder.glob("*.jsonl"))) == 2
    assert found.folder == tmp_path / "kept"


def test_exported_policies_act_alike(run: godojo.Run) -> None:
    files = [*run.export(role="seeker").files, *run.export(role="seeker", format="onnx").files]
    assert [Path(file.path).name for file in files] == ["seeker.dojo", "seeker.onnx"]
    first = observations("seeker")
    wanted = None
    for source in (run.path / "policy_seeker.pt", *(file.path for file in files)):
        policy = godojo.load_policy(source)
        assert (policy.game, policy.role) == ("tag", "seeker")
        actions = np.stack([policy.act(first), policy.act(first)])
        wanted = actions if wanted is None else wanted
        np.testing.assert_allclose(actions, wanted, atol=1e-4)
    with pytest.raises(godojo.GodojoError, match="always deterministic"):
        policy.act(first, deterministic=False)


def test_policies_remember_until_they_are_reset(run: godojo.Run) -> None:
    policy, seen = run.policies["seeker"], observations("seeker")
    first, second = policy.act(seen), policy.act(seen)
    assert first.shape == (5, len(policy.action_names))
    assert not np.array_equal(first, second)
    policy.reset()
    assert np.array_equal(policy.act(seen), first)
    policy.reset(done=np.array([True, False, False, False, False]))
    third = policy.act(seen)
    assert np.array_equal(third[0], first[0])
    assert np.array_equal(third[1:], second[1:])
    policy.reset()
    np.testing.assert_allclose(policy.act(seen[0]), first[0], atol=1e-5)
    one, other = (policy.act(seen[0], deterministic=False) for _ in range(2))
    assert not np.array_equal(one, other)


def test_mistakes_are_answered_in_a_line(run: godojo.Run, runs: Path) -> None:
    policy = run.policies["seeker"]
    policy.act(observations("seeker"))
    mistakes: dict[str, Callable[[], object]] = {
        "either minutes or steps": lambda: godojo.train(minutes=1, steps=1),
        "no setting 'epocs'": lambda: godojo.train(settings={"epocs": 3}),
        "must be a mapping": lambda: godojo.train(settings="gamma=3"),
        "must be numbers": lambda: godojo.train(settings={"gamma": object()}),
        "with resume='tiny', replace it with force=True": lambda: godojo.train(run_id="tiny"),
        "step_timeout must be seconds above 0": lambda: godojo.train(step_timeout=-1),
        "add engine='godot'": lambda: godojo.train(processes=2),
        "remove preset": lambda: godojo.train(resume=run, preset="quick"),
        "need connect=True": lambda: godojo.train(port=8765),
        "no run 'nobody'": lambda: godojo.Run.open("nobody"),
        "several roles; choose one": lambda: godojo.load_policy(run),
        "no role 'goalkeeper'": lambda: godojo.load_policy(run, "goalkeeper"),
        "no such policy file": lambda: godojo.load_policy(runs / "nothing.pt"),
        "episodes must be 1 or more": lambda: godojo.evaluate(run, episodes=0),
        "no engine 'unreal'": lambda: run.evaluate(engine="unreal"),
        "no format 'exe'": lambda: run.export(format="exe"),
        "no camera 'drone'": lambda: run.record(camera="drone"),
        "films are MP4": lambda: run.film("film.avi"),
        "the seeker observes": lambda: policy.act(np.zeros(3)),
        "remembers 5 agents": lambda: policy.act(observations("seeker", 2)),
        "one value for each of the 5": lambda: policy.reset(done=np.zeros(2, bool)),
    }
    for said, mistake in mistakes.items():
        with pytest.raises(godojo.GodojoError, match=re.escape(said)) as caught:
            mistake()
        assert "\n" not in str(caught.value)
    assert {path.name for path in runs.iterdir()} >= {"tiny"}


def test_an_algorithm_is_found_by_its_entry(monkeypatch: pytest.MonkeyPatch, runs: Path) -> None:
    monkeypatch.setitem(
        ALGORITHMS, "mine", AlgorithmEntry("godojo.learn.settings:PpoSettings", "godojo.learn.self_play:PpoSelfPlay")
    )
    made = godojo.train("tag", algorithm="mine", steps=600, settings=SMALL, run_id="mine")
    assert made.config.learner == "mine"
    assert made.path == runs / "mine"
    assert made.resume(steps=1200).policies["seeker"].agent_steps >= 1200


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/python.md, with trainings of a few updates."""
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    for block in blocks(ROOT / "docs/python.md"):
        if block.language != "python":
            continue
        text = block.text.replace("minutes=1,", "steps=600, num_envs=32,").replace("minutes=2", "steps=20_000")
        exec(compile(text.replace("episodes=100", "episodes=4"), block.page, "exec"), {})
    assert {path.name for path in tmp_path.iterdir()} == {"first", "moon"}
    assert (tmp_path / "first/export/seeker.dojo").is_file()
    assert (tmp_path / "moon/charts/learning.png").is_file()
