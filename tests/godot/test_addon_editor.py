"""The addon in the editor: switched on and off in a project of somebody else's."""

import shutil
from pathlib import Path

import pytest

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import prepared_project, problem_lines
from godojo.export.dojo_file import write_dojo
from godojo.processes import finish
from tests.conftest import ROOT
from tests.dojo_policies import drawn_policy

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(200)]

PROJECT = """\
config_version=5

[application]

config/name="Somebody's"

[editor_plugins]

enabled=PackedStringArray("res://addons/switch/plugin.cfg")
"""
SWITCH_CFG = '[plugin]\n\nname="Switch"\ndescription=""\nauthor=""\nversion="1"\nscript="plugin.gd"\n'
SWITCH = """\
@tool
extends EditorPlugin


func _enter_tree() -> void:
	if OS.has_environment("SWITCH"):
		_switch()


func _switch() -> void:
	await get_tree().create_timer(1.0).timeout
	for is_on: bool in [true, false]:
		EditorInterface.set_plugin_enabled("godojo", is_on)
		await get_tree().process_frame
		print("templates: ", ProjectSettings.get_setting("editor/script/templates_search_path"))
	if FileAccess.file_exists("res://brain.dojo"):
		var policy: Resource = load("res://brain.dojo")
		var kind: String = EditorInterface.get_resource_filesystem().get_file_type("res://brain.dojo")
		print("policy: ", kind, " ", policy.get_script().get_global_name(), " ", policy.title())
	get_tree().quit()
"""


def switched(engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the editor says, with the addon on, and then off again."""
    (folder / "addons/switch").mkdir(parents=True)
    (folder / "project.godot").write_text(PROJECT, encoding="utf-8")
    (folder / "addons/switch/plugin.cfg").write_text(SWITCH_CFG, encoding="utf-8")
    (folder / "addons/switch/plugin.gd").write_text(SWITCH, encoding="utf-8")
    shutil.copytree(ROOT / "godot/addons/godojo", folder / "addons/godojo")
    prepared_project(engine, folder, strict=True)
    monkeypatch.setenv("SWITCH", "1")
    done = finish([engine.program, "--headless", "--path", folder, "--editor"], timeout_s=90)
    assert (done.timed_out, problem_lines(done.output)) == (False, []), done.output
    return done.output


def told(output: str, what: str) -> list[str]:
    return [line.removeprefix(f"{what}: ") for line in output.splitlines() if line.startswith(f"{what}: ")]


def test_templates_and_policy_files_are_known_to_the_editor(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dojo(tmp_path / "brain.dojo", *drawn_policy())
    output = switched(engine, tmp_path, monkeypatch)
    assert told(output, "templates") == ["res://addons/godojo/script_templates", "res://script_templates"]
    assert told(output, "policy") == ["Resource DojoPolicy brain (agent of drawn, 12345 decisions)"]


def test_templates_of_somebodys_own_are_left_alone(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "script_templates").mkdir()
    assert told(switched(engine, tmp_path, monkeypatch), "templates") == ["res://script_templates"] * 2
