"""Which Godot is used: GODOT_BIN, then the installed one, then godot4 or godot on the PATH."""

from pathlib import Path

import pytest

from godojo.engines.godot import paths
from godojo.engines.godot.find import EngineMissing, find, parse_version
from godojo.errors import GodojoError
from tests.conftest import fake_godot


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GODOT_BIN", raising=False)
    monkeypatch.setenv("GODOJO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")


def pretend_installed(folder: str = "godot-x", program: str = "godot", version: str = "4.6.1.stable.x") -> None:
    fake_godot(paths.engine_folder() / "godot-x" / "godot", version)
    paths.write_installed(paths.Installed(folder, program, version, "debian", rendering=False))


def test_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(EngineMissing, match="engine install"):
        find()
    fake_godot(tmp_path / "path" / "godot", "4.4.0.stable.x")
    assert (find().source, find().version) == ("PATH", "4.4.0.stable.x")
    fake_godot(tmp_path / "path" / "godot4", "4.5.0.stable.x")
    assert (find().source, find().version) == ("PATH", "4.5.0.stable.x")
    pretend_installed()
    assert (find().source, find().version) == ("installed", "4.6.1.stable.x")
    monkeypatch.setenv("GODOT_BIN", str(fake_godot(tmp_path / "mine", "4.7.0.dev.x")))
    assert (find().source, find().version) == ("GODOT_BIN", "4.7.0.dev.x")


def test_a_named_but_unfit_engine_is_never_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake_godot(tmp_path / "path" / "godot")
    monkeypatch.setenv("GODOT_BIN", str(fake_godot(tmp_path / "old", "4.3.0.stable.x")))
    with pytest.raises(GodojoError, match="or newer is needed"):
        find()


def test_a_note_without_its_program_says_how_to_repair() -> None:
    pretend_installed()
    (paths.engine_folder() / "godot-x" / "godot").unlink()
    with pytest.raises(GodojoError, match="engine install --force"):
        find()


@pytest.mark.parametrize("folder", ["..", "../elsewhere", "godot-x/deeper", "/", ""])
def test_a_note_that_points_elsewhere_is_refused(folder: str) -> None:
    pretend_installed(folder)
    with pytest.raises(GodojoError, match="outside its folder"):
        find()


@pytest.mark.parametrize("program", ["/bin/sh", "../other/godot", ".."])
def test_a_program_outside_its_folder_is_refused(program: str) -> None:
    pretend_installed(program=program)
    with pytest.raises(GodojoError, match="outside its folder"):
        find()


def test_a_damaged_note_is_refused() -> None:
    pretend_installed()
    (paths.engine_folder() / "installed.json").write_text('{"folder": "godot-x"', encoding="utf-8")
    with pytest.raises(GodojoError, match="cannot be read"):
        find()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("4.6.3.stable.debian4.6.3+ds-2", (4, 6)),
        ("4.4.stable.official.4c311cbee", (4, 4)),
        ("10.2.1.beta3", (10, 2)),
        ("Try 'ls --help'", None),
        ("", None),
        ("4", None),
    ],
)
def test_parse_version(text: str, version: tuple[int, int] | None) -> None:
    assert parse_version(text) == version
