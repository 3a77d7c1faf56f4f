"""The addon in somebody's project: installed, brought up to date, switched on; nothing of theirs is lost."""

import hashlib
import io
import shutil
import zipfile
from pathlib import Path

import pytest

import godojo
from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import prepared_project
from godojo.errors import GodojoError
from godojo.export import addon
from godojo.export.addon import addon_files, addon_zip, install, switched_on, version_of
from tests.conftest import ROOT, Run

PROJECT = 'config_version=5\n\n[application]\n\nconfig/name="Somebody\'s"\n'
ENABLED = 'enabled=PackedStringArray("res://addons/godojo/plugin.cfg")'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "game"
    folder.mkdir()
    (folder / "project.godot").write_text(PROJECT, encoding="utf-8")
    return folder


def in_folder(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_file_of_the_addon_is_there_and_it_is_switched_on(project: Path) -> None:
    done = install(project)
    assert (done.before, done.kept, done.switched_on, done.notes) == (None, [], True, [])
    there = in_folder(project / "addons/godojo")
    there.pop(addon.MANIFEST)
    assert there == addon_files() == in_folder(ROOT / "godot/addons/godojo")
    assert ENABLED in (project / "project.godot").read_text()
    again = install(project)
    assert (again.before, again.switched_on) == (done.version, False)
    assert [path.name for path in (project / "addons").iterdir()] == ["godojo"]


def test_its_version_is_godojos() -> None:
    assert version_of(addon_files()["plugin.cfg"].decode()) == godojo.__version__


def test_an_older_version_goes_and_foreign_files_stay(project: Path) -> None:
    install(project)
    folder = project / "addons/godojo"
    (folder / "sync/gone.gd").write_text("extends Node\n", encoding="utf-8")
    manifest = (folder / addon.MANIFEST).read_text()
    digest = '"sync/gone.gd": "' + hashlib.sha256(b"extends Node\n").hexdigest() + '",'
    (folder / addon.MANIFEST).write_text(manifest.replace('"files": {', '"files": {' + digest), encoding="utf-8")
    (folder / "mine/notes").mkdir(parents=True)
    (folder / "mine/notes/a.txt").write_text("mine", encoding="utf-8")
    (folder / "link").symlink_to("mine")
    done = install(project)
    assert sorted(done.kept) == ["link", "mine/notes/a.txt"]
    assert (folder / "mine/notes/a.txt").read_text() == "mine"
    assert (folder / "link").is_symlink()
    assert not (folder / "sync/gone.gd").exists(), "it was ours, and is no more"


def test_what_somebody_changed_is_not_written_over_unasked(project: Path) -> None:
    install(project)
    changed = project / "addons/godojo/sync/dojo_sync.gd"
    changed.write_text("# mine\n", encoding="utf-8")
    with pytest.raises(GodojoError, match=r"changed files: sync/dojo_sync\.gd; force=True"):
        install(project)
    assert changed.read_text() == "# mine\n"
    install(project, force=True)
    assert changed.read_bytes() == addon_files()["sync/dojo_sync.gd"]


def test_one_copied_by_hand_is_brought_up_to_date(project: Path) -> None:
    folder = project / "addons/godojo"
    shutil.copytree(ROOT / "godot/addons/godojo", folder)
    (folder / "plugin.cfg").write_text('[plugin]\n\nname="Godojo"\nversion="0.0.1"\n', encoding="utf-8")
    (folder / "mine.gd").write_text("extends Node\n", encoding="utf-8")
    done = install(project)
    assert (done.before, done.kept) == ("0.0.1", ["mine.gd"])


def test_folders_that_are_no_place_for_it_are_refused(project: Path, tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match=r"no project\.godot"):
        install(tmp_path)
    with pytest.raises(GodojoError, match="where the addon comes from"):
        install(ROOT / "godot")
    (project / "addons/godojo").mkdir(parents=True)
    (project / "addons/godojo/plugin.cfg").write_text('[plugin]\nname="Other"\n', encoding="utf-8")
    with pytest.raises(GodojoError, match="not Godojo's addon"):
        install(project)
    shutil.rmtree(project / "addons/godojo")
    (project / "addons/godojo").symlink_to(tmp_path)
    with pytest.raises(GodojoError, match="is a link"):
        install(project)
    (project / "addons/godojo").unlink()
    (project / "project.godot").write_text("config_version=4\n", encoding="utf-8")
    with pytest.raises(GodojoError, match="not one of Godot 4"):
        install(project)
    assert not (project / "addons/godojo").exists()


def test_a_failure_leaves_the_old_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(project)
    before = in_folder(project)
    real = Path.rename

    def fails(self: Path, target: Path) -> Path:
        if self.name.endswith(".new"):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(GodojoError, match="No space left"):
        install(project)
    assert in_folder(project) == before
    assert [path.name for path in (project / "addons").iterdir()] == ["godojo"]


def test_after_a_kill_between_two_renames_it_goes_on_where_it_was(project: Path) -> None:
    install(project)
    folder = project / "addons/godojo"
    (folder / "mine.gd").write_text("extends Node\n", encoding="utf-8")
    folder.rename(folder.parent / ".godojo.0123abcd.old")
    (folder.parent / ".godojo.0123abcd.new").mkdir()
    assert install(project).kept == ["mine.gd"]
    assert [path.name for path in folder.parent.iterdir()] == ["godojo"]


def test_the_project_says_with_which_godot_it_was_made(project: Path) -> None:
    old = PROJECT + 'config/features=PackedStringArray("4.2", "Mobile")\n'
    (project / "project.godot").write_text(old, encoding="utf-8")
    assert install(project).notes == ["the project was made with Godot 4.2; the addon needs 4.4 or newer"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"\n[editor_plugins]\n\n{ENABLED}\n"),
        ("[a]\n\nb=1", f"[a]\n\nb=1\n\n[editor_plugins]\n\n{ENABLED}\n"),
        ("[a]\r\nb=1\r\n", f"[a]\r\nb=1\r\n\r\n[editor_plugins]\r\n\r\n{ENABLED}\r\n"),
        ("[editor_plugins]\n\n[z]\nb=1\n", f"[editor_plugins]\n\n{ENABLED}\n\n[z]\nb=1\n"),
        ("[editor_plugins]\nenabled=PackedStringArray()\n", f"[editor_plugins]\n{ENABLED}\n"),
        (
            '[editor_plugins]\n\nenabled=PackedStringArray("res://a/plugin.cfg")\n\n[x]\nenabled=PackedStringArray()\n',
            '[editor_plugins]\n\nenabled=PackedStringArray("res://a/plugin.cfg", "res://addons/godojo/plugin.cfg")'
            "\n\n[x]\nenabled=PackedStringArray()\n",
        ),
        (
            '[editor_plugins]\nenabled=PackedStringArray(\n"res://a/plugin.cfg",\n)\n',
            '[editor_plugins]\nenabled=PackedStringArray("res://a/plugin.cfg", "res://addons/godojo/plugin.cfg")\n',
        ),
        (f"[editor_plugins]\n{ENABLED}\n", f"[editor_plugins]\n{ENABLED}\n"),
        ("[editor_plugins]\nenabled=something else\n", None),
        ("[editor_plugins]\n\n[editor_plugins]\n", None),
    ],
)
def test_switching_on_changes_one_line_and_nothing_else(before: str, after: str | None) -> None:
    assert switched_on(before) == after
    if after is not None:
        assert switched_on(after) == after


def test_the_zip_is_what_the_asset_library_expects_and_always_the_same() -> None:
    name, content = addon_zip()
    assert name == f"godojo-addon-{godojo.__version__}.zip"
    assert addon_zip()[1] == content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert {f"addons/godojo/{one}" for one in ("LICENSE", "README.md", "plugin.cfg", "plugin.gd")} <= set(names)
        assert all(one.startswith("addons/godojo/") and ".." not in one for one in names)
        assert {one.removeprefix("addons/godojo/"): archive.read(one) for one in names} == addon_files()


def test_the_commands(godojo: Run, project: Path, tmp_path: Path) -> None:
    done = godojo("addon", "install", str(project))
    assert done.returncode == 0, done.stderr
    assert "installed in" in done.stdout
    assert "enabled" in done.stdout
    done = godojo("addon", "zip", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [path.suffix for path in tmp_path.iterdir() if path.is_file()] == [".zip"]
    failed = godojo("addon", "install", str(tmp_path))
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (2, "", 1)


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.timeout(200)
def test_an_empty_project_with_it_is_imported_without_a_warning(engine: Engine, project: Path) -> None:
    install(project)
    prepared_project(engine, project, strict=True)
    assert "DojoSync" in (project / ".godot/global_script_class_cache.cfg").read_text()
    assert install(project).kept == [], "what the engine wrote beside the addon's files is not taken for somebody's"
