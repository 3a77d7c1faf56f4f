"""`godojo train` as a user meets it: what it refuses, how it is stopped, and what it leaves behind."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
import pytest

from godojo import extras
from godojo.cli import main
from godojo.errors import GodojoError, command
from godojo.learn.policy_file import load_policy
from godojo.runs.folder import RunFolder
from tests.learning_games import SLOWLY, STEPS, WORDS
from tests.watched_games import PRETEND

SMALL = ("train", "tag", "--judge", "0", *WORDS)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    monkeypatch.setenv("GODOJO_RUNS", str(folder))
    return folder


class Done(NamedTuple):
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


class Run(Protocol):
    def __call__(self, *words: str) -> Done: ...


@pytest.fixture
def godojo(capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs the command line in this process: it would take longer to begin than to train."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(*words: str) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, out, err)

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


def in_one_line(said: str) -> str:
    """A user's mistake is answered with one line, and no traceback."""
    lines = [line for line in said.splitlines() if not line.startswith(("compiling kernels", "using the latest"))]
    assert len(lines) == 1, said
    return lines[0]


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        (("train", "tga"), ["no game 'tga'", "tag"]),
        (("train", "tag", "--engine", "gadot"), ["no engine 'gadot'", "godot"]),
        (("train", "tag", "--preset", "quik"), ["no preset 'quik'", "did you mean quick", "default"]),
        (("train", "tag", "--preset", "../quick"), ["no preset '../quick'"]),
        (("train", "tag", "--set", "epochs=3"), ["`epochs` is now `n_epochs`"]),
        (("train", "tag", "--algorithm", "sac", "--set", "warm_up=9"), ["`warm_up` is now `learning_starts`"]),
        (("train", "tag", "--set", "epoch=3"), ["no setting 'epoch'", "did you mean n_epochs"]),
        (("train", "tag", "--set", "motion.gravity=3"), ["motion.gravity", "did you mean motion.gravity_mps2"]),
        (("train", "tag", "--set", "n_epochs"), ["'n_epochs' is no setting", "n_epochs=3"]),
        (("train", "tag", "--set", "n_epochs=three"), ["n_epochs must be a whole number, not 'three'"]),
        (("train", "tag", "--set", "gamma=[1]"), ["gamma must be a number, not [1]"]),
        (
            ("train", "tag", "--set", "net_arch=64"),
            ["net_arch must be a list of whole numbers such as [64,64], not 64"],
        ),
        (("train", "tag", "--set", "net_arch=[a,b]"), ["net_arch must be a list of whole numbers"]),
        (("train", "tag", "--set", "memory=elephant"), ["memory must be one of '', leaky, gru, not 'elephant'"]),
        (("train", "tag", "--set", "egocentric=3"), ["egocentric must be true or false, not 3"]),
        (("train", "tag", "--set", "rules.round_s=long"), ["rules.round_s must be a number, not 'long'"]),
        (("train", "tag", "--minutes", "three"), ["--minutes must be a number, not 'three'", "train --help"]),
        (("train", "tag", "--minuts", "3"), ["no option --minuts; did you mean --minutes?", "train --help"]),
        (("train", "tag", "--set", "gamma=2"), ["gamma must be from 0 to 1, not 2"]),
        (("train", "tag", "--set", "n_steps=0"), ["n_steps must be 1 or more, not 0"]),
        (("train", "tag", "--set", "rules.round_s=-1"), ["rules.round_s must be from"]),
        (("train", "tag", "--algorithm", "pop"), ["no algorithm 'pop'", "ppo"]),
        (("train", "tag", "--minutes", "0"), ["--minutes"]),
        (("train", "tag", "--steps", "-5"), ["--steps"]),
        (("train", "tag", "--minutes", "1", "--steps", "5"), ["not both"]),
        (("train", "tag", "--judge", "-1"), ["--judge"]),
        (("train", "tag", "--freeze", "hidder", *WORDS), ["no role 'hidder'", "seeker, hider"]),
        (("train", "tag", "--run-id", "../out", *WORDS), ["'../out' is no name"]),
        (("train", "tag", "--init-from", "nobody"), ["no run 'nobody'"]),
        (("train", "tag", "--resume", "nobody"), ["no run 'nobody'"]),
        (("train", "tag", "--resume", "latest"), ["no run"]),
    ],
)
def test_mistakes_are_answered_in_a_line(godojo: Run, runs: Path, words: tuple[str, ...], answers: list[str]) -> None:
    done = godojo(*words)
    assert done.returncode == 2
    said = in_one_line(done.stderr)
    for answer in answers:
        assert answer in said
    assert not list(runs.iterdir()), "nothing is begun"
    assert not (runs.parent / "out").exists()


def trained(godojo: Run, *words: str, updates: int = 2) -> Done:
    done = godojo(*SMALL, "--steps", str(updates * STEPS), *words)
    assert done.returncode == 0, done.stderr
    return done


def test_a_run_is_made_and_never_written_over(godojo: Run, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = trained(godojo, "--run-id", "one")
    for name in ("policy_seeker.pt", "policy_hider.pt", "metrics.csv", "updates.csv", "ratings.json", "README.md"):
        assert (runs / "one" / name).stat().st_size > 0, name
    for words in ("eval one", "league one", "train tag --resume one"):
        assert words in done.stdout
    before = (runs / "one/policy_seeker.pt").read_bytes()

    done = godojo(*SMALL, "--steps", str(STEPS), "--run-id", "one")
    assert done.returncode == 2
    said = in_one_line(done.stderr)
    assert all(way in said for way in ("--resume one", "--force", "--run-id"))
    assert (runs / "one/policy_seeker.pt").read_bytes() == before

    with monkeypatch.context() as patch:  # an engine would be looked for, and not be found
        patch.setenv("GODOT_BIN", str(runs / "nowhere"))
        done = godojo("train", "tag", "--engine", "godot", "--run-id", "one")
    assert "run one exists" in in_one_line(done.stderr), "before anything was started"

    done = trained(godojo, "--run-id", "one", "--force", "--seed", "2")
    assert "replacing the run" in done.stderr
    assert (runs / "one/policy_seeker.pt").read_bytes() != before

    (runs / "photos").mkdir()
    (runs / "photos/cat.jpg").write_text("meow")
    done = godojo(*SMALL, "--steps", str(STEPS), "--run-id", "photos", "--force")
    assert done.returncode == 2
    assert (runs / "photos/cat.jpg").exists(), "only runs are deleted"


def test_resuming(godojo: Run, runs: Path) -> None:
    trained(godojo, "--run-id", "one")
    done = godojo("train", "tag", "--resume", "one", "--steps", str(3 * STEPS), "--judge", "0")
    assert done.returncode == 0, done.stderr
    _, entry = RunFolder.open(runs / "one").checkpoints().newest()
    assert (entry.update, entry.agent_steps) == (3, 3 * STEPS)

    for words, answer in (
        (("--set", "n_epochs=3"), "remove --set"),
        (("--run-id", "two"), "remove --run-id"),
        (("--algorithm", "sac"), "trained by ppo"),
        (("--preset", "quick"), "remove --preset"),
        (("--engine", "godot"), "--init-from one --engine godot"),
        (("--seed", "5"), "keeps its seed 1"),
        (("--processes", "3"), "remove --engines"),
        (("--connect",), "remove --connect"),
        (("--tasks", "generated"), "remove --tasks"),
        (("--num-envs", "3"), "remove --num-envs"),
        (("--trainer", "sb3"), "remove --trainer"),
        (("--http", "http://127.0.0.1:9"), "played in 0 games over HTTP"),
        (("--port", "8766"), "need --connect"),
    ):
        done = godojo("train", "tag", "--resume", "one", *words)
        assert done.returncode == 2
        assert answer in in_one_line(done.stderr)

    chess = msgspec.structs.replace(RunFolder.open("one").config, game="chess")
    (runs / "one/config.json").write_bytes(chess.to_json())
    done = godojo("train", "tag", "--resume", "one")
    assert done.returncode == 2
    assert "run one plays chess, not tag" in in_one_line(done.stderr)


def test_a_checkpoint_that_was_cut_short(godojo: Run, runs: Path) -> None:
    """The one before is taken, and said; when none is whole, nothing begins from scratch."""
    trained(godojo, "--run-id", "one")
    newest = max((runs / "one/checkpoints").glob("*.pt"))
    newest.write_bytes(newest.read_bytes()[:1000])
    done = godojo("train", "tag", "--resume", "one", "--steps", str(3 * STEPS), "--judge", "0")
    assert done.returncode == 0
    assert f"checkpoint {newest.stem} is damaged" in done.stderr
    _, entry = RunFolder.open(runs / "one").checkpoints().newest()
    assert entry.update == 3

    for path in (runs / "one/checkpoints").glob("*.pt"):
        path.write_bytes(path.read_bytes()[:1000])
    done = godojo("train", "tag", "--resume", "one")
    assert done.returncode == 2
    assert "all checkpoints in" in done.stderr
    assert "Traceback" not in done.stderr


def test_beginning_with_the_policies_of_another_run(godojo: Run, runs: Path) -> None:
    """They keep their networks, whatever the defaults are; so the new run can be resumed too."""
    trained(godojo, "--run-id", "one", "--set", "cnn_channels=[4]")
    words = ("train", "tag", "--judge", "0", "--set", "num_worlds=32", "--set", "n_steps=8", "--init-from", "latest")
    done = godojo(*words, "--freeze", "hider", "--run-id", "two", "--steps", str(2 * STEPS))
    assert done.returncode == 0, done.stderr
    one, _ = load_policy(runs / "one/policy_hider.pt")
    two, card = load_policy(runs / "two/policy_hider.pt")
    assert card.shape.net_arch == (8,)
    assert RunFolder.open(runs / "two").config.learner_settings["cnn_channels"] == [4]
    assert all(bool((a == b).all()) for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True))
    done = godojo("train", "tag", "--resume", "two", "--steps", str(3 * STEPS), "--judge", "0")
    assert done.returncode == 0, done.stderr

    done = godojo(*words, "--set", "net_arch=[9]", "--run-id", "three")
    assert done.returncode == 2
    assert "remove the setting 'net_arch'" in in_one_line(done.stderr)
    done = godojo(*words, "--algorithm", "sac", "--run-id", "three")
    assert done.returncode == 2
    assert "sac cannot continue it" in in_one_line(done.stderr)
    assert not (runs / "three").exists()


def test_a_loss_that_is_no_number_stops_the_training(godojo: Run, runs: Path) -> None:
    """Steps of an absurd length break everything soon; what is saved is from before that, and whole."""
    done = godojo(
        *SMALL, "--set", "learning_rate=9e5", "--set", "max_grad_norm=9e5", "--run-id", "one", "--minutes", "1",
    )  # fmt: skip
    assert done.returncode == 2
    said = done.stderr.strip().splitlines()[-1]
    assert re.search(
        r"learning of (seeker|hider) broke down: the (policy_gradient_loss|value_loss|approx_kl|grad_norm) term is",
        said,
    )
    assert "Traceback" not in done.stderr
    run = RunFolder.open(runs / "one")
    for role in ("seeker", "hider"):
        load_policy(run.policy(role))  # refuses what is no number
    state, _ = run.checkpoints().newest()
    assert {"seeker", "hider"} <= state["learner"]["roles"].keys()


class Trainer:
    """A training of half an hour in a process of its own, under way."""

    def __init__(self, runs: Path, update_s: float = 0.0) -> None:
        program = [sys.executable, "-c", SLOWLY.format(seconds=update_s)]
        words = [*program, *SMALL, "--minutes", "30", "--run-id", "long"]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        updates = runs / "long/updates.csv"
        deadline = time.monotonic() + 100.0
        while not updates.exists() or len(updates.read_bytes().splitlines()) < 4:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise AssertionError(self.process.communicate()[1])
            time.sleep(0.02)

    def said(self, within_s: float = 30.0) -> str:
        try:
            return self.process.communicate(timeout=within_s)[1]
        finally:
            self.process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_saves_and_says_how_to_go_on(godojo: Run, runs: Path, number: signal.Signals) -> None:
    trainer = Trainer(runs)
    for _ in range(2):  # the same press may arrive twice, by way of a program such as `timeout`
        trainer.process.send_signal(number)
        time.sleep(0.02)
    said = trainer.said()
    assert trainer.process.returncode == 130
    assert f"continue with: {command('train tag --resume long')}" in said
    assert "Traceback" not in said
    _, entry = RunFolder.open(runs / "long").checkpoints().newest()
    last = (runs / "long/updates.csv").read_text().splitlines()[-1]
    assert entry.update == int(last.split(",")[0]), "all of it is saved"
    done = godojo("train", "tag", "--resume", "long", "--steps", str(entry.agent_steps + STEPS), "--judge", "0")
    assert done.returncode == 0, done.stderr


def test_a_second_ctrl_c_ends_it_at_once(runs: Path) -> None:
    """Nothing half made is saved: the newest checkpoint is one from before."""
    trainer = Trainer(runs, update_s=2.0)
    before = RunFolder.open(runs / "long").checkpoints().entries()
    time.sleep(0.5)  # well inside the next update: between two updates the first press would end it
    for _ in range(2):
        trainer.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
    said = trainer.said()
    assert trainer.process.returncode == 130
    assert "Traceback" not in said
    assert RunFolder.open(runs / "long").checkpoints().entries() == before


def test_two_trainers_cannot_write_one_run(godojo: Run, runs: Path) -> None:
    trainer = Trainer(runs)
    try:
        done = godojo("train", "tag", "--resume", "long")
        assert done.returncode == 2
        assert "is being trained by another process" in done.stderr
        done = godojo(*SMALL, "--run-id", "long", "--force")
        assert done.returncode == 2
        assert "is being trained by another process" in done.stderr
    finally:
        trainer.process.send_signal(signal.SIGINT)
        trainer.said()


def test_a_game_that_was_started_by_hand(godojo: Run, runs: Path) -> None:
    """It is waited for, learnt from, and on resume waited for again."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    game = subprocess.Popen([sys.executable, str(PRETEND), "--again"], env={**os.environ, "GODOJO_PORT": port})
    try:
        words = (
            "--connect",
            "--port",
            port,
            "--set=num_worlds=6",
            "--set=n_steps=8",
            "--set=net_arch=[8]",
            "--set=n_minibatches=2",
        )
        done = godojo("train", *words, "--steps", "400", "--run-id", "theirs")
        assert done.returncode == 0, done.stderr
        assert f"waiting for a game on 127.0.0.1:{port}" in done.stderr
        config = RunFolder.open(runs / "theirs").config
        assert (config.game, config.engine, config.roles) == ("pretend", "godot", ("role0", "role1"))
        assert config.learner_settings["num_worlds"] == 6
        assert "train --resume theirs" in done.stdout
        done = godojo("train", "--resume", "theirs", "--steps", "800")
        assert done.returncode == 0, done.stderr
        _, entry = RunFolder.open(runs / "theirs").checkpoints().newest()
        assert entry.agent_steps >= 800
    finally:
        game.kill()
        game.wait()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("--project", "somewhere"), "remove --project"),
        (("--processes", "2"), "remove --engines"),
        (("--engine", "sim"), "--connect is for the real engine"),
        (("--http", "http://127.0.0.1:9"), "remove --http"),
        (("--host", "0.0.0.0"), "token"),
    ],
)
def test_what_cannot_be_connected(godojo: Run, runs: Path, words: tuple[str, ...], answer: str) -> None:
    done = godojo("train", "--connect", *words)
    assert done.returncode == 2
    assert answer in in_one_line(done.stderr)
    assert not list(runs.iterdir())


def refuse(*_: object, **__: object) -> None:
    raise GodojoError("it cannot begin")


@pytest.mark.parametrize(
    "where", ["godojo.learn.self_play.PpoSelfPlay", "godojo.runs.checkpoints.CheckpointStore.save"]
)
def test_a_start_that_fails_leaves_nothing_behind(
    godojo: Run, runs: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Neither in the way of the same command, nor as the latest run."""
    trained(godojo, "--run-id", "before", updates=1)
    words = (*SMALL, "--steps", str(STEPS), "--run-id", "one")
    with monkeypatch.context() as patch:
        patch.setattr(where, refuse)
        done = godojo(*words)
    assert done.returncode == 2
    assert "it cannot begin" in done.stderr
    assert [path.name for path in runs.iterdir()] == ["before"]
    assert RunFolder.open("latest").run_id == "before"
    done = godojo(*words)
    assert done.returncode == 0, done.stderr


def test_a_game_that_cannot_start_leaves_nothing_behind(
    godojo: Run, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GODOT_BIN", str(runs.parent / "nowhere"))
    done = godojo("train", "tag", "--engine", "godot", "--run-id", "one")
    assert done.returncode == 2
    assert "GODOT_BIN" in in_one_line(done.stderr)
    assert not list(runs.iterdir())


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="a small disk can be made by root only")
def test_a_full_disk_leaves_nothing_behind(godojo: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        monkeypatch.setenv("GODOJO_RUNS", str(small))
        done = godojo(*SMALL, "--steps", str(STEPS), "--run-id", "one")
        assert done.returncode == 2
        assert "No space left" in done.stderr
        assert not list(small.iterdir())
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.usefixtures("runs")
def test_the_latest_run_is_named(godojo: Run) -> None:
    trained(godojo, "--run-id", "one", updates=1)
    done = godojo("eval", "--episodes", "1", "--opponent", "random", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "using the latest run: one"
    assert json.loads(done.stdout)["policy"] == "one"
    done = godojo("train", "--resume", "latest", "--steps", str(2 * STEPS), "--judge", "0")
    assert "using the latest run: one" in done.stderr
    done = godojo("export", "latest@start", "--json")
    assert done.stderr.splitlines()[0] == "using the latest run: one"
    assert "using" not in godojo("plot", "one").stderr


@pytest.fixture
def no_sb3(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without the extra."""
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)


@pytest.mark.usefixtures("no_sb3")
@pytest.mark.parametrize(
    ("made_by_launcher", "launched_as", "answer"),
    [
        (True, None, r"python3 \S*dojo\.py install sb3$"),
        (False, None, r"-m pip install \"stable-baselines3>="),
        (False, "python3 dojo.py", r"-m pip install \"stable-baselines3>="),
    ],
)
def test_a_missing_extra_names_the_command_that_installs_it(
    godojo: Run,
    runs: Path,
    monkeypatch: pytest.MonkeyPatch,
    made_by_launcher: bool,
    launched_as: str | None,
    answer: str,
) -> None:
    environment(monkeypatch, runs.parent, "raise SystemExit('not called')", made_by_launcher, launched_as)
    done = godojo("train", "navigation", "--trainer", "sb3", "--run-id", "one")
    assert done.returncode == 2
    assert re.search(answer, in_one_line(done.stderr)), done.stderr
    assert not list(runs.iterdir())


@pytest.mark.parametrize("works", [True, False])
def test_an_extra_is_installed_on_first_use(runs: Path, monkeypatch: pytest.MonkeyPatch, works: bool) -> None:
    """`dojo.py install sb3` is called once, and what it has installed is there."""
    library = runs.parent / "library"
    library.mkdir()
    monkeypatch.syspath_prepend(library)
    monkeypatch.setattr(extras, "MODULES", {"sb3": "brand_new"})
    content = f"open({str(library / 'brand_new.py')!r}, 'w')" if works else "sys.exit(1)"
    program = f"import sys; assert sys.argv[1:] == ['install', 'sb3']; {content}"
    environment(monkeypatch, runs.parent, program, True, "python3 dojo.py")
    said: list[str] = []
    if works:
        extras.require("sb3", said.append)
        extras.require("sb3", said.append)
    else:
        with pytest.raises(GodojoError, match=r"try: python3 dojo\.py install sb3"):
            extras.require("sb3", said.append)
    assert said == ["brand_new is not installed yet: installing it, once"]


def environment(
    monkeypatch: pytest.MonkeyPatch, folder: Path, program: str, made_by_launcher: bool, launched_as: str | None
) -> None:
    """Somebody's environment, with a launcher that does as `program` says."""
    prefix = folder / "venv"
    prefix.mkdir()
    (folder / "dojo.py").write_text(program, encoding="utf-8")
    if made_by_launcher:
        (prefix / "godojo-setup.json").write_text(json.dumps({"place": str(folder)}), encoding="utf-8")
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.delenv("GODOJO_LAUNCHED_AS", raising=False)
    if launched_as is not None:
        monkeypatch.setenv("GODOJO_LAUNCHED_AS", launched_as)
