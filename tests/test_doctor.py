"""The doctor tells what is missing, with a cure, and its exit status says whether anything is."""

import importlib.metadata
import json
import socket
import sys
from pathlib import Path

import pytest

from godojo.cli import doctor
from godojo.engines.godot import paths
from tests.conftest import Run, fake_godot


def test_healthy(godojo: Run, tmp_path: Path) -> None:
    done = godojo("doctor", "--json", GODOT_BIN=str(fake_godot(tmp_path / "godot")))
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["healthy"] is True
    names = [finding["name"] for finding in answer["findings"]]
    ports = ["port 8765", "port 11008", "port 8080"]
    assert names == ["python", "torch", "numba", "godot", "rendering", "templates", "disk", *ports]
    by_name = {finding["name"]: finding for finding in answer["findings"]}
    assert by_name["numba"]["detail"] == importlib.metadata.version("numba")
    assert "4.6.3" in by_name["godot"]["detail"]


def test_a_deep_look_loads_the_libraries(godojo: Run, tmp_path: Path) -> None:
    done = godojo("doctor", "--deep", "--json", GODOT_BIN=str(fake_godot(tmp_path / "godot")))
    details = {finding["name"]: finding["detail"] for finding in json.loads(done.stdout)["findings"]}
    assert "threads" in details["numba"]
    assert "threads" in details["torch"]


def test_a_missing_library_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    found = doctor.package("torch")
    assert (found.state, found.detail) == ("bad", "not installed")
    assert found.cure


def test_missing_engine_is_bad_and_has_a_cure(godojo: Run, tmp_path: Path) -> None:
    done = godojo("doctor", "--json", GODOT_BIN="", GODOJO_HOME=str(tmp_path), PATH="/nowhere")
    answer = json.loads(done.stdout)
    assert done.returncode == 1
    assert answer["healthy"] is False
    (godot,) = [finding for finding in answer["findings"] if finding["name"] == "godot"]
    assert godot["state"] == "bad"
    assert "engine install" in godot["cure"]


def test_rendering_and_templates_are_told_apart_each_with_its_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GODOT_BIN", raising=False)
    monkeypatch.setenv("GODOJO_HOME", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":9")
    fake_godot(tmp_path / "engine/prefix/godot", "4.6.3.stable.debian")
    paths.write_installed(paths.Installed("prefix", "godot", "4.6.3.stable.debian", "debian", rendering=False))
    for finding, command in ((doctor.rendering(), "--rendering"), (doctor.templates(), "--templates")):
        assert (finding.state, finding.cure) == ("note", f"godojo engine install {command}")
    paths.write_installed(paths.Installed("prefix", "godot", "4.6.3.stable.debian", "debian", rendering=True))
    assert (doctor.rendering().state, doctor.templates().state) == ("good", "note")
    template = tmp_path / "engine/editor_data/export_templates/4.6.3.stable/linux_release.x86_64"
    template.parent.mkdir(parents=True)
    template.touch()
    assert (doctor.templates().state, doctor.templates().cure) == ("good", "")


def test_words_for_people(godojo: Run, tmp_path: Path) -> None:
    done = godojo("doctor", GODOT_BIN="/nowhere/godot", GODOJO_HOME=str(tmp_path))
    assert done.returncode == 1
    assert "✗ godot" in done.stdout
    assert "→" in done.stdout


def test_a_port_in_use_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        number = holder.getsockname()[1]
        monkeypatch.setitem(doctor.PORTS, number, "this test")
        finding = doctor.port(number)
        assert (finding.state, finding.name) == ("note", f"port {number}")
        assert finding.cure
    assert doctor.port(number).state == "good"
