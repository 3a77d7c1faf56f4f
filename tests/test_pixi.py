"""`pixi.toml`, checked without pixi: keys it knows, the named environments and tasks, and commands that run."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tests.conftest import ROOT
from tests.watched_games import PRETEND

MANIFEST: dict[str, Any] = tomllib.loads((ROOT / "pixi.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIRED = {one.name: one.specifier for one in map(Requirement, PROJECT["dependencies"])}

PARTS = {"dependencies", "pypi-dependencies", "tasks", "activation", "target", "system-requirements", "pypi-options"}
KNOWN = {
    "": {"workspace", "feature", "environments", *PARTS},
    "workspace": {"name", "version", "description", "channels", "platforms", "license", "readme", "requires-pixi"},
    "feature": {"platforms", "channels", *PARTS},
    "task": {"cmd", "cwd", "env", "depends-on", "description", "inputs", "outputs", "args", "clean-env"},
    "environment": {"features", "solve-group", "no-default-feature"},
    "pypi": {"version", "path", "editable", "extras", "index", "git"},
}
"""Keys of a manifest by table (https://pixi.prefix.dev/latest/reference/pixi_manifest)."""
MODULES = {"pillow": "PIL"}
"""Modules that are named differently from their packages."""


def features(environment: str) -> list[Mapping[str, Any]]:
    """The tables that an environment is made of."""
    return [
        MANIFEST,
        *(MANIFEST["feature"][name] for name in MANIFEST["environments"][environment].get("features", [])),
    ]


def tasks(environment: str) -> dict[str, dict[str, Any]]:
    return {name: task for one in features(environment) for name, task in one.get("tasks", {}).items()}


def test_pixi_knows_every_key() -> None:
    assert set(MANIFEST) <= KNOWN[""]
    assert {"name", "channels", "platforms"} <= set(MANIFEST["workspace"]) <= KNOWN["workspace"]
    assert set().union(*MANIFEST["feature"].values()) <= KNOWN["feature"]
    for environment in MANIFEST["environments"].values():
        assert set(environment) <= KNOWN["environment"]
        assert set(environment.get("features", ())) <= set(MANIFEST["feature"])
    for part in (MANIFEST, *MANIFEST["feature"].values()):
        for name, version in part.get("dependencies", {}).items():
            assert re.fullmatch(r"[a-z0-9_.-]+", name)
            SpecifierSet(version)
        for wanted in part.get("pypi-dependencies", {}).values():
            assert set(wanted) <= KNOWN["pypi"]
            assert set(wanted.get("extras", ())) <= set(PROJECT["optional-dependencies"])
            assert (ROOT / wanted["path"] / "pyproject.toml").is_file()
        for task in part.get("tasks", {}).values():
            assert {"cmd", "description"} <= set(task) <= KNOWN["task"]
            assert all(isinstance(value, str) for value in task.get("env", {}).values())


def test_environments_tasks_and_platforms_are_those_that_users_know() -> None:
    assert MANIFEST["workspace"]["platforms"] == ["linux-64", "osx-64", "osx-arm64", "win-64"]
    assert set(MANIFEST["environments"]) == {"default", "train"}
    assert "server" in tasks("default")
    assert {"server", "train", "plot", "test"} <= set(tasks("train"))


def test_the_default_environment_has_the_same_bounds_and_no_torch() -> None:
    versions = dict(MANIFEST["dependencies"])
    assert SpecifierSet(versions.pop("python")) == SpecifierSet(PROJECT["requires-python"])
    assert "pypi-dependencies" not in MANIFEST
    for name, version in versions.items():
        assert SpecifierSet(version) == REQUIRED[name], name
    assert "torch" not in versions
    assert "pytorch" not in versions
    train = MANIFEST["feature"]["train"]
    assert SpecifierSet(train["dependencies"]["pytorch"]) == REQUIRED["torch"]
    assert train["pypi-dependencies"]["godojo"]["path"] == "."


SERVE = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None
sys.argv[1:2] = []
from godojo.cli import main
main()
"""


def test_the_server_plays_with_nothing_but_the_default_environment() -> None:
    absent = [MODULES.get(name, name) for name in REQUIRED if name not in MANIFEST["dependencies"]]
    assert "torch" in absent
    _, module, *words = shlex.split(tasks("default")["server"]["cmd"])[1:]
    assert module == "godojo"
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
    command = [sys.executable, "-c", SERVE, ",".join(absent), *words, "--port", "0", "--policy", "random"]
    with subprocess.Popen(
        [*command, "--decisions", "20"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env
    ) as server:
        try:
            assert server.stdout is not None
            first = server.stdout.readline()
            port = re.search(r"waiting for a game on 127\.0\.0\.1:(\d+)", first)
            assert port, first
            with subprocess.Popen([sys.executable, str(PRETEND)], env={**env, "GODOJO_PORT": port[1]}) as game:
                said, _ = server.communicate(timeout=60)
                game.kill()
        finally:
            server.kill()
    assert server.returncode == 0, said
    assert "20 decisions" in said


@pytest.mark.parametrize("name", tasks("train"))
def test_every_task_starts_a_command_of_ours(name: str) -> None:
    task = tasks("train")[name]
    python, *words = shlex.split(task["cmd"])
    assert python == "python"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), **task.get("env", {})}
    done = subprocess.run(
        [sys.executable, *words, "--help"], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout.lower()
