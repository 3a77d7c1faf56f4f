"""dojo.py: sets up once, again when the pins change, survives being killed, crowded or starved, and says why not.

Each test works on a copy of the launcher beside a tiny package that needs no index, so that it takes seconds.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="written for a POSIX shell")]

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "godojo"
version = "{version}"
dependencies = [{dependencies}]
[project.optional-dependencies]
dev = ["godojo[tools]"]
tools = []
far = ["a-package-that-must-be-fetched"]
near = ["near @ {near}"]
"""
# A build backend in a few lines: an editable wheel with nothing in it but a path to the sources.
BACKEND = """\
import pathlib, tomllib, zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]
    version = project["version"]
    needs = "".join(f"Requires-Dist: {name}\\n" for name in project["dependencies"])
    for extra, packages in project["optional-dependencies"].items():
        needs += f"Provides-Extra: {extra}\\n"
        needs += "".join(f"Requires-Dist: {name} ; extra == '{extra}'\\n" for name in packages)
    name = f"godojo-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        about = f"godojo-{version}.dist-info"
        wheel.writestr("godojo.pth", str(pathlib.Path.cwd() / "src") + "\\n")
        head = f"Metadata-Version: 2.1\\nName: godojo\\nVersion: {version}\\n"
        wheel.writestr(f"{about}/METADATA", head + needs)
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{about}/RECORD", "")
    return name
build_wheel = build_editable
"""
MAIN = """\
import importlib.metadata, sys
print('godojo', importlib.metadata.version('godojo'), *sys.argv[1:])
sys.exit(7)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "check out"
    (folder / "src" / "godojo").mkdir(parents=True)
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "dojo.py", folder)
    (folder / "src/godojo/__main__.py").write_text(MAIN, encoding="utf-8")
    (folder / "tests/__main__.py").write_text("import sys; print('tests', *sys.argv[1:])\n", encoding="utf-8")
    (folder / "backend.py").write_text(BACKEND, encoding="utf-8")
    (folder / "constraints.txt").touch()
    with zipfile.ZipFile(folder / "near-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("near.py", "")
        wheel.writestr("near-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: near\nVersion: 1.0\n")
        wheel.writestr("near-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("near-1.0.dist-info/RECORD", "")
    pin(folder, "1.0")
    return folder


def pin(folder: Path, version: str, dependencies: str = "") -> None:
    (folder / "pyproject.toml").write_text(
        PYPROJECT.format(
            version=version, dependencies=dependencies, near=(folder / "near-1.0-py3-none-any.whl").as_uri()
        ),
        encoding="utf-8",
    )


def start(folder: Path, *words: str, **env: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(folder / "dojo.py"), *words],
        env={**os.environ, "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def dojo(folder: Path, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    with start(folder, *words, **env) as process:
        out, err = process.communicate(timeout=100)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def test_sets_up_once_and_hands_over_words_and_status(checkout: Path) -> None:
    first = dojo(checkout, "doctor", "--json", "two words")
    assert (first.returncode, first.stdout) == (7, "godojo 1.0 doctor --json two words\n"), first.stderr
    assert "installing" in first.stderr
    assert ".venv/bin/godojo" in first.stderr, "where the command is"
    assert "source .venv/bin/activate" in first.stderr
    second = dojo(checkout, "doctor")
    assert (second.returncode, second.stdout, second.stderr) == (7, "godojo 1.0 doctor\n", "")

    pin(checkout, "2.0")
    third = dojo(checkout, "doctor")
    assert third.stdout == "godojo 2.0 doctor\n", "changed pins set up again"
    assert "installing" in third.stderr
    assert "activate" not in third.stderr, "told once"

    test = dojo(checkout, "test", "-k", "name")
    assert (test.returncode, test.stdout) == (0, "tests -k name\n"), "test adds the tools and runs the tests"
    assert json.loads((checkout / ".venv/godojo-setup.json").read_text())["extras"] == ["dev"]
    assert dojo(checkout, "doctor").stderr == "", "what has the tools serves every verb"


def test_extras_are_installed_by_name(checkout: Path) -> None:
    """One that cannot be had leaves what is there as it was."""
    assert dojo(checkout, "x").returncode == 7
    for words, reason in ((["install", "nera"], "no extra 'nera'"), (["install"], "no extra ''")):
        refused = dojo(checkout, *words)
        assert refused.returncode == 1
        assert reason in refused.stderr
        assert "there is: dev, far, near, tools" in refused.stderr
    failed = dojo(checkout, "install", "far")
    assert failed.returncode == 1
    assert "package index cannot be reached" in failed.stderr.splitlines()[-1]
    assert dojo(checkout, "x").stderr == "", "nothing is set up again"

    done = dojo(checkout, "install", "near")
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert (said[0], said[-1]) == ("dojo.py: installing near", "dojo.py: installed: near")
    near = [str(checkout / ".venv/bin/python"), "-c", "import near"]
    assert subprocess.run(near).returncode == 0
    pin(checkout, "2.0")
    assert dojo(checkout, "x").stdout == "godojo 2.0 x\n"
    assert subprocess.run(near).returncode == 0, "changed pins keep it"


def test_a_script_of_the_users_own(checkout: Path, tmp_path: Path) -> None:
    script = tmp_path / "play it.py"
    script.write_text("import godojo, sys; print(sys.prefix, sys.argv[1:]); sys.exit(3)", encoding="utf-8")
    missing = dojo(checkout, "run", str(tmp_path / "nothing.py"))
    assert (missing.returncode, missing.stderr) == (
        1,
        f"dojo.py: there is no script {tmp_path / 'nothing.py'} to run\n",
    )
    assert "run FILE.py" in dojo(checkout, "run").stderr
    assert not (checkout / ".venv").exists(), "a mistake is refused before anything is set up"
    done = dojo(checkout, "run", str(script), "--fast", "two words")
    assert (done.returncode, done.stdout) == (3, f"{checkout / '.venv'} ['--fast', 'two words']\n"), done.stderr
    assert dojo(checkout, "run", str(script)).returncode == 3


def test_a_half_made_or_moved_folder_is_made_again(checkout: Path) -> None:
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").write_text("half-made", encoding="utf-8")
    assert dojo(checkout, "x").stdout == "godojo 1.0 x\n"
    moved = checkout.rename(checkout.parent / "moved")
    again = dojo(moved, "x")
    assert again.stdout == "godojo 1.0 x\n"
    assert "installing" in again.stderr


def test_killed_on_the_way_the_next_try_completes(checkout: Path) -> None:
    for after_s in (0.3, 1.5, 3.0):
        with start(checkout, "x") as process:
            time.sleep(after_s)
            process.send_signal(signal.SIGKILL)
        assert process.returncode in (7, -signal.SIGKILL)
    assert dojo(checkout, "x").stdout == "godojo 1.0 x\n"


def test_two_at_once(checkout: Path) -> None:
    with start(checkout, "x") as one, start(checkout, "y") as other:
        out_one, err_one = one.communicate(timeout=100)
        out_other, err_other = other.communicate(timeout=100)
    assert (out_one, out_other) == ("godojo 1.0 x\n", "godojo 1.0 y\n"), err_one + err_other
    assert (err_one + err_other).count("installing Godojo") == 1
    assert "waiting" in err_one + err_other


def test_no_network_is_one_sentence_and_the_next_try_works(checkout: Path) -> None:
    pin(checkout, "1.0", '"a-package-that-must-be-fetched"')
    failed = dojo(checkout, "x", PIP_RETRIES="1")
    assert failed.returncode == 1
    assert failed.stdout == ""
    assert "package index cannot be reached" in failed.stderr.splitlines()[-1]
    assert "Traceback" not in failed.stderr
    pin(checkout, "1.0")
    assert dojo(checkout, "x").stdout == "godojo 1.0 x\n"


def test_no_venv_module_names_the_package(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "venv.py").write_text("raise SystemExit('ensurepip is not available')", encoding="utf-8")
    failed = dojo(checkout, "x", PYTHONPATH=str(tmp_path))
    assert failed.returncode == 1
    assert "-venv" in failed.stderr
    assert not (checkout / ".venv").exists()
    assert dojo(checkout, "x").stdout == "godojo 1.0 x\n"


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="a small disk can be made by root only")
def test_full_disk_is_one_sentence(checkout: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", small], capture_output=True)
    if mount.returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        copy = shutil.copytree(checkout, small / "checkout")
        failed = dojo(copy, "x")
        assert failed.returncode == 1
        assert "disk is full" in failed.stderr.splitlines()[-1]
        assert not (copy / ".venv").exists(), "what was half-made is gone"
    finally:
        subprocess.run(["umount", small], check=True)


def test_ctrl_c_says_how_to_go_on(checkout: Path) -> None:
    with start(checkout, "x") as process:
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "run the same command again" in err
    assert "Traceback" not in err


def test_too_old_a_python_is_told_so(checkout: Path) -> None:
    old = "import sys; sys.version_info = (3, 8, 10); sys.argv = ['dojo.py', 'x']; exec(open('dojo.py').read())"
    failed = subprocess.run(
        [sys.executable, "-c", f"__file__ = 'dojo.py'; {old}"], cwd=checkout, env={"PATH": "/nowhere"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert failed.returncode == 1
    assert failed.stderr.startswith("dojo.py: Python 3.11 to 3.13 is needed and this is 3.8")
    assert not (checkout / ".venv").exists()
