"""The scripts of the navigation workflow: documented commands as they are typed, the files they leave, bare Pythons."""

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from godojo.games.navigation.config_sections import RLConfig
from tests.conftest import ROOT
from tests.doc_pages import commands
from tests.test_launcher import checkout  # noqa: F401 - a fixture

PAGE = ROOT / "docs/games/navigation-workflow.md"
SHORT = (
    *("--num-envs", "2", "--set", "n_steps=64", "--set", "batch_size=32", "--set", "best_rounds=1", "--judge", "0"),
    *("--set", "rules.round_s=1", "--set", "checkpoint_steps=128"),
)
"""What makes a documented training short."""
DEADLINE_S = 110


def run(*words: str, cwd: Path, status: int = 0) -> str:
    env = {name: value for name, value in os.environ.items() if name != "GODOJO_RUNS"}
    done = subprocess.run(
        [sys.executable, str(ROOT / words[0]), *words[1:]],
        cwd=cwd, env=env | {"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, timeout=DEADLINE_S,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_the_documented_commands_run_as_they_are_typed(tmp_path: Path) -> None:
    """In the order of the page; only lengths are added."""
    told = []
    for command in commands(PAGE):
        if command.is_inline or "scripts/ml/" not in command.words[1]:
            continue
        words = [*command.words[1:]]
        if "train_vr_navigation" in words[0] and "--eval" not in words:
            words += [*SHORT, *(() if "--timesteps" in words else ("--timesteps", "256"))]
            words = [
                "256" if before == "--timesteps" else word for before, word in zip(["", *words], words, strict=False)
            ]
        elif "--episodes" in words:
            words[words.index("--episodes") + 1] = "2"
        told.append(run(*words, cwd=tmp_path))
    assert len(told) >= 5
    assert RLConfig.load(tmp_path / "example_config.json") == RLConfig.from_preset("default")
    folder = tmp_path / "runs/mine"
    assert sorted(path.name for path in (folder / "checkpoints").glob("vr_nav_model_*_steps.zip"))
    assert (folder / "best_models/best_model.zip").is_file()
    assert list(folder.glob("logs/PPO_1/events*"))
    assert any("success" in text for text in told), "an evaluation"
    assert any("walker/train/approx_kl" in text for text in told), "--verbose"


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    script = "scripts/ml/train_vr_navigation.py"
    for words, said in (
        (("--preset", "quick_tst"), "did you mean quick_test?"),
        (("--config", "nowhere.json"), "nowhere.json: No such file"),
        (("--resume", "nowhere.zip"), "nowhere.zip"),
        (("--eval", "nowhere.zip"), "nowhere.zip"),
        (("--timestep", "5"), "did you mean"),
    ):
        text = run(script, *words, cwd=tmp_path, status=2)
        assert said in text
        assert text.count("\n") == 1
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
