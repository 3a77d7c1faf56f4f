"""docs/training.md names every setting with its default, every preset, every option and every variable."""

import re

import msgspec
import pytest
import typer.main

from godojo.cli import app
from godojo.learn.presets import preset_names
from godojo.learn.registry import ALGORITHMS
from tests.conftest import ROOT

TEXT = (ROOT / "docs/training.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_every_setting_stands_there_with_its_default(algorithm: str) -> None:
    part = TEXT.split(f"## Settings of {algorithm.upper()}")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \| \w.*\|$", part, re.MULTILINE))
    wanted = msgspec.structs.asdict(ALGORITHMS[algorithm].settings_type()())
    assert rows == {name: msgspec.json.encode(default).decode() for name, default in wanted.items()}


def test_every_option_and_preset_stands_there() -> None:
    command = typer.main.get_command(app).commands["train"]  # type: ignore[attr-defined]
    options = {name for parameter in command.params for name in parameter.opts if name.startswith("--")}
    for option in options - {"--help", "--project"}:
        assert f"`{option}" in TEXT or f" {option}`" in TEXT, option
    for name in preset_names("tag"):
        assert f"`{name}`" in TEXT, name


def test_every_variable_of_the_script_stands_there() -> None:
    script = (ROOT / "scripts/train.sh").read_text(encoding="utf-8")
    for name in set(re.findall(r"\$\{((?:AI|GODO)[A-Z_]+)", script)) | {"GODOT_BIN"}:
        assert f"| `{name}` |" in TEXT, name
