"""The scripts of the navigation workflow: documented commands as they are typed, the files they leave, bare Pythons."""

import importlib.util
import itertools
import json
import os
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from godojo.games.navigation.config_sections import RLConfig
from tests.conftest import ROOT
from tests.doc_pages import commands
from tests.test_launcher import checkout  # noqa: F401 - a fixture

PAGE = ROOT / "docs/games/navigation-workflow.md"
SHORTER = {"--timesteps": "512", "--episodes": "2"}
"""Values of documented options that would take too long."""
DEADLINE_S = 110


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a script as if it were typed in an empty folder; in this process, which has loaded torch and the kernels."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GODOJO_RUNS", raising=False)
    monkeypatch.syspath_prepend(str(ROOT / "scripts/ml"))

    def typed(script: str, *words: str, status: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", [script, *words])
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with pytest.raises(SystemExit) as ended:
                runpy.run_path(str(ROOT / script), run_name="__main__")
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        found = capsys.readouterr()
        assert ended.value.code == status, found.err
        return found.out + found.err

    return typed


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_documented_commands_run_as_they_are_typed(tmp_path: Path, run: Callable[..., str]) -> None:
    """In the order of the page; only lengths differ, and no training ends with an evaluation."""
    told = []
    for command in commands(PAGE):
        if command.is_inline or "scripts/ml/" not in command.words[1]:
            continue
        words = [SHORTER.get(before, word) for before, word in itertools.pairwise(command.words)]
        is_training = "train_vr_navigation" in words[0] and "--eval" not in words
        if is_training:
            words += ["--judge=0", *([] if "--timesteps" in words else ["--timesteps=4000"])]
        if "--config" in words:
            words += ["--num-envs=8", "--set=n_steps=32", "--set=batch_size=128"]
        told.append(run(*words))
    assert len(told) >= 5
    assert RLConfig.load(tmp_path / "example_config.json") == RLConfig.from_preset("default")
    folder = tmp_path / "runs/mine"
    models = {path.name for path in (folder / "checkpoints").glob("*.zip")}
    assert models == {f"vr_nav_model_{steps}_steps.zip" for steps in (2000, 4000, 4096)}
    assert (folder / "best_models/best_model.zip").is_file()
    assert list(folder.glob("logs/PPO_1/events*"))
    assert any("success" in text for text in told), "an evaluation"
    assert any("walker/train/approx_kl" in text for text in told), "--verbose"


def test_mistakes_are_one_line(tmp_path: Path, run: Callable[..., str]) -> None:
    for words, said in (
        (("--preset", "quick_tst"), "did you mean quick_test?"),
        (("--config", "nowhere.json"), "nowhere.json: No such file"),
        (("--resume", "nowhere.zip"), "nowhere.zip"),
        (("--eval", "nowhere.zip"), "nowhere.zip"),
        (("--timestep", "5"), "did you mean"),
    ):
        text = run("scripts/ml/train_vr_navigation.py", *words, status=2)
        assert said in text
        assert len([line for line in text.splitlines() if not line.startswith("  getting ready")]) == 1
    assert not list(tmp_path.glob("runs/*"))


def test_the_pieces_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts/ml"))
    for name in ("rl_utils", "rl_config"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for piece in module.__all__:
            assert getattr(module, piece).__module__.startswith("godojo.")
            assert f"`{piece}`" in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="written for a POSIX shell")
def test_a_bare_python_sets_godojo_up_first(checkout: Path) -> None:  # noqa: F811
    """With a stand-in for the package, as in tests/test_launcher.py, so that nothing is fetched."""
    shutil.copytree(ROOT / "scripts/ml", checkout / "scripts/ml", ignore=shutil.ignore_patterns("__pycache__"))
    (checkout / "src/godojo/cli").mkdir()
    (checkout / "src/godojo/cli/__init__.py").write_text(
        "import json, os, sys\n"
        "def main(words):\n"
        "    print(json.dumps([words, os.environ['GODOJO_LAUNCHED_AS']]))\n"
        "    sys.exit(7)\n"
    )
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    bare = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info[1]}"
    script = "scripts/ml/train_vr_navigation.py"
    for _ in range(2):  # set up, then ready
        done = subprocess.run(
            [str(bare), script, "--preset", "quick_test", "--timesteps", "5", "--run-id", "a b", "--verbose"],
            cwd=checkout, env=clean, capture_output=True, text=True, timeout=DEADLINE_S,
        )  # fmt: skip
        assert done.returncode == 7, done.stderr
        words, launched_as = json.loads(done.stdout)
        expected = "train navigation --trainer sb3 --run-id 'a b' --verbose --preset quick_test --steps 5"
        assert words == shlex.split(expected)
        assert launched_as == "python3 dojo.py"
    assert "dojo.py: " not in done.stderr
