"""The page "A trained policy in your game", followed literally; then its game, exported, with the policy inside."""

import re
import shutil
from pathlib import Path

import pytest
import torch
from torch import nn

from godojo.engines.godot import prepared_project, run_project
from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import problem_lines
from godojo.export.dojo_file import write_dojo
from godojo.games.parts import ActionPart, ObservationPart
from godojo.processes import finish
from tests.conftest import ROOT
from tests.dojo_policies import drawn_policy

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240)]

PAGE = (ROOT / "docs/inference.md").read_text(encoding="utf-8")
FILES = re.findall(r"Save this as `([\w.]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PRESET = """\
[preset.0]

name="Linux"
platform="Linux"
runnable=true
export_filter="all_resources"
include_filter=""
exclude_filter=""
export_path="{game}"

[preset.0.options]

binary_format/embed_pck=false
"""
TEN_SECONDS = ("--headless", "--no-header", "--fixed-fps", "60", "--quit-after", "600")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything has been done that the page says, up to training."""
    place = tmp_path_factory.mktemp("page") / "flags"
    shutil.copytree(ROOT / "godot/addons/godojo", place / "addons/godojo")
    for name, content in FILES[:4]:
        (place / name).write_text(content, encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def shipped(project: Path) -> Path:
    """The same with a policy, which runs straight to the flag, dropped onto the agent."""
    policy, card = drawn_policy(
        net_arch=(4,),
        observation_parts=(ObservationPart("observation", (2,)),),
        action_parts=(ActionPart("run", "continuous", 2),),
        role="runner",
    )
    first = policy.trunk[0]
    assert isinstance(first, nn.Linear)
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
        first.bias.zero_()
        policy.head.linear.weight.copy_(torch.tensor([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]]) * 10.0)
        policy.head.linear.bias.zero_()
        policy.normaliser.mean.zero_()
        policy.normaliser.variance.fill_(1.0)
    write_dojo(project / "runner.dojo", policy, card)
    name, content = FILES[4]
    (project / name).write_text(content, encoding="utf-8")
    return project


def flags(output: str) -> int:
    assert problem_lines(output) == []
    return output.count("reached the flag")


def test_the_page_has_all_files() -> None:
    assert [name for name, _ in FILES] == [
        "project.godot",
        "runner_agent.gd",
        "field.tscn",
        "main.tscn",
        "field.tscn",
    ]


def test_without_a_policy_it_is_played_by_hand(engine: Engine, project: Path) -> None:
    prepared_project(engine, project, strict=True)
    done = run_project(engine, [*TEN_SECONDS[:-1], "60"], timeout_s=60, folder=project)
    assert (done.code, flags(done.output)) == (0, 0)


def test_with_a_policy_it_plays(engine: Engine, shipped: Path) -> None:
    done = run_project(engine, TEN_SECONDS, timeout_s=60, folder=shipped, strict=True)
    assert done.code == 0
    assert flags(done.output) >= 3, done.output


@pytest.mark.slow
def test_exported_it_plays_too(exporting_engine: Engine, shipped: Path) -> None:
    game = shipped.parent / "build/flags.x86_64"
    game.parent.mkdir()
    (shipped / "export_presets.cfg").write_text(PRESET.format(game=game), encoding="utf-8")
    exported = run_project(
        exporting_engine, ["--headless", "--export-release", "Linux", str(game)], timeout_s=120, folder=shipped
    )
    assert (exported.code, problem_lines(exported.output)) == (0, []), exported.output
    shutil.rmtree(shipped)
    done = finish([game, *TEN_SECONDS], timeout_s=60)
    assert done.code == 0, done.output
    assert flags(done.output) >= 3, done.output
