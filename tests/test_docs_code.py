"""Every block of code on every page is run, here or by the test that is named here."""

import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from godojo import games, make_vec
from godojo.export.dojo_file import read_dojo
from godojo.games.base import SCENE_GAMES
from godojo.learn.policy_file import policy_bytes
from godojo.learn.presets import preset_from
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder
from godojo.runs.role_map import RoleMap
from tests.conftest import ROOT
from tests.doc_pages import PAGES, blocks, page_name
from tests.judged_runs import ROLES, make_run, small_policy
from tests.learning_games import STEPS, WORDS

HERE = "tests/test_docs_code.py"
TESTED = {
    ("docs/add-a-game.md", "python"): [HERE],
    ("docs/addon.md", "gdscript"): ["tests/godot/test_first_agent.py"],
    ("docs/addon.md", "ini"): ["tests/test_declared_models.py"],
    ("docs/behaviours.md", "python"): [HERE],
    ("docs/dojo-file.md", "python"): [HERE],
    ("docs/environments.md", "python"): ["tests/test_env_docs.py"],
    ("README.md", "python"): [HERE],
    ("docs/exporting.md", "ini"): ["tests/godot/test_exporting.py"],
    ("docs/exporting.md", "python"): ["tests/godot/test_exporting.py"],
    ("docs/first-agent.md", "gdscript"): ["tests/godot/test_first_agent.py"],
    ("docs/first-agent.md", "ini"): ["tests/godot/test_first_agent.py"],
    ("docs/first-agent.md", "python"): ["tests/godot/test_first_agent.py"],
    ("docs/games/navigation-training.md", "json"): [HERE],
    ("docs/games/navigation-training.md", "python"): [HERE, "tests/test_navigation_training.py"],
    ("docs/games/navigation-workflow.md", "json"): ["tests/test_navigation_config.py"],
    ("docs/games/navigation-workflow.md", "python"): ["tests/test_navigation_config.py"],
    ("docs/games/tag.md", "json"): ["tests/test_docs_commands.py"],
    ("docs/godot-rl.md", "python"): ["tests/godot/test_godot_rl_games.py", "tests/godot/test_godot_rl_package.py"],
    ("docs/http.md", "json"): ["tests/godot/test_http_docs.py"],
    ("docs/http.md", "python"): ["tests/godot/test_http_docs.py"],
    ("docs/hunt-detectors.md", "gdscript"): ["tests/godot/test_hunt_finding.py"],
    ("docs/hunt-detectors.md", "python"): ["tests/test_hunt_detectors.py"],
    ("docs/imitation.md", "python"): ["tests/test_demos.py"],
    ("docs/inference.md", "gdscript"): ["tests/godot/test_inference_page.py"],
    ("docs/inference.md", "ini"): ["tests/godot/test_inference_page.py"],
    ("docs/judging.md", "python"): ["tests/test_eval.py"],
    ("docs/opponents.md", "python"): [HERE, "tests/test_docs_commands.py"],
    ("docs/python.md", "python"): ["tests/test_api.py"],
    ("docs/protocol.md", "json"): ["tests/test_bridge_codec.py"],
    ("docs/qa.md", "json"): ["tests/test_qa.py"],
    ("docs/qa.md", "python"): ["tests/test_qa.py"],
    ("docs/replays.md", "python"): ["tests/test_replays.py"],
    ("docs/runs.md", "json"): [HERE],
    ("docs/runs.md", "python"): [HERE],
    ("docs/shipping.md", "python"): ["tests/test_shipping_docs.py"],
    ("docs/training-loop.md", "gdscript"): ["tests/godot/test_training_loop.py"],
    ("docs/training-loop.md", "python"): ["tests/test_training_loop.py"],
    ("docs/twin-compiler.md", "gdscript"): ["tests/test_gdscript.py"],
    ("docs/twin-compiler.md", "python"): ["tests/test_gdscript.py"],
    ("docs/twin.md", "gdscript"): ["tests/test_twin_page.py"],
    ("docs/twin.md", "python"): ["tests/test_twin_page.py"],
}
"""Tests by page and language. Shell blocks are the matter of tests/test_docs_commands.py."""


def programs(page: str, language: str = "python") -> list[str]:
    return [block.text for block in blocks(ROOT / page) if block.language == language]


def run(program: str, page: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(program, page, "exec"), names)
    return names


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GODOJO_RUNS", raising=False)
    return tmp_path


def test_every_block_of_code_has_its_test() -> None:
    found = {(block.page, block.language) for page in PAGES for block in blocks(page)}
    assert {one for one in found if one[1] not in ("", "sh")} == set(TESTED)
    for (page, _), tests in TESTED.items():
        texts = [(ROOT / test).read_text(encoding="utf-8") for test in tests]
        assert any(Path(page).name in text for text in texts), page


def test_the_example_of_the_readme(place: Path) -> None:
    """The same program with a short training of a small network, and few rounds."""
    (program,) = programs("README.md")
    small = [word.removeprefix("--set=") for word in WORDS if word.startswith("--set=")]
    short = program.replace("minutes=5", f"steps={4 * STEPS}, settings={small!r}")
    names = run(short.replace("run.evaluate()", "run.evaluate(episodes=2)"), "README.md", {})
    assert names["action"].shape == (3,)
    assert names["run"].path.parent.resolve() == place / "runs"
    assert len(program.strip().splitlines()) <= 9


def test_a_game_without_a_twin(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = programs("docs/add-a-game.md")
    folder = place / "games/docking"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "game.py").write_text(program.replace("NAME", "docking"), encoding="utf-8")
    monkeypatch.setattr(games, "__path__", list(games.__path__))
    monkeypatch.setenv("GODOJO_GAMES", str(folder.parent))
    assert SCENE_GAMES["docking"].scene_path == "res://games/docking/docking.tscn"
    assert SCENE_GAMES["docking"].targets == {"success": 0.95}


def test_behaviours_from_python(place: Path) -> None:
    make_run(place / "runs")
    (program,) = programs("docs/behaviours.md")
    names = run(program.replace("episodes=100", "episodes=2"), "docs/behaviours.md", {})
    assert names["jukes"] >= 0.0
    assert names["in_air"].keys() == {"seeker", "hider"}


def test_dojo_files_and_vectors(place: Path) -> None:
    (program,) = programs("docs/dojo-file.md")
    policy, card = small_policy("seeker")
    run(program.replace("10_000", "10"), "docs/dojo-file.md", {"folder": place, "policy": policy, "card": card})
    assert read_dojo(place / "policy.dojo")
    assert (place / "vectors.bin").read_bytes()[:4] == b"DOJV"


def test_scripted_opponents() -> None:
    first, own = programs("docs/opponents.md")
    worlds = run(first, "docs/opponents.md", {})["worlds"]
    assert np.abs(worlds.roles["hider"].action).max() > 0.5
    assert run(own, "docs/opponents.md", {})["Chaser"]


@pytest.mark.usefixtures("place")
def test_runs() -> None:
    modes, _, reader, writer = programs("docs/runs.md")
    about = RunConfig("tag", "sim", ROLES, "ppo", {}, {}, 1, {"minutes": 1.0})
    known = {"RunFolder": RunFolder, "config": about, "worlds": make_vec("tag", num_worlds=2), "state": {}}
    names = run(writer, "docs/runs.md", known | {"agent_steps": 4, "seconds": 1.0, "update": 1})
    for log in ("episodes", "updates"):
        names[log].close()
    written = RunFolder.open("mine")
    assert written.updates.read_text().splitlines()[0].endswith("seeker/train/approx_kl")
    policies = {role: policy_bytes(*small_policy(role)) for role in ROLES}
    for role, content in policies.items():
        written.save_policy(role, content)
    written.snapshots().save("1m", policies, 4, 60.0)
    assert run(reader, "docs/runs.md", {})["entry"].agent_steps == 4
    run(modes, "docs/runs.md", {})
    assert written.role_map().read() == {"seeker": "train", "hider": "frozen"}


def test_roles_that_are_frozen(place: Path) -> None:
    (text,) = programs("docs/runs.md", "json")
    (place / "roles.json").write_text(text)
    roles = RoleMap(place / "roles.json", ("seeker", "hider"), pytest.fail)
    assert roles.read() == {"seeker": "train", "hider": "frozen"}


def test_stages_of_navigation() -> None:
    (text,) = programs("docs/games/navigation-training.md", "json")
    preset = preset_from(msgspec.json.decode(f"{{{text}}}"), "docs/games/navigation-training.md")
    assert [stage.name for stage in preset.curriculum] == ["near", "all"]


def test_stable_baselines3_goes_on_with_its_model(place: Path) -> None:
    pytest.importorskip("stable_baselines3")
    from godojo.cli import main

    words = ["train", "navigation", "--trainer=sb3", "--preset=quick_test", "--run-id=mine", "--steps=512", "--judge=0"]
    with pytest.raises(SystemExit) as ended:
        main(
            [
                *words,
                "--num-envs=4",
                "--set=n_steps=64",
                "--set=batch_size=64",
                "--set=checkpoint_steps=256",
                "--set=best_rounds=2",
            ]
        )
    assert ended.value.code == 0
    assert (place / "runs/mine").is_dir()
    program = next(one for one in programs("docs/games/navigation-training.md") if "PPO.load" in one)
    known = run(program, "docs/games/navigation-training.md", {})
    assert known["model"].predict(known["env"].reset())[0].shape == (16, 3)


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if target.startswith(("http://", "https://")):
                continue
            name, _, anchor = target.partition("#")
            found = (page.parent / name).resolve() if name else page
            assert found.exists(), f"{page_name(page)}: {target}"
            titles = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
            anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert not anchor or anchor in anchors, f"{page_name(page)}: {target}"
