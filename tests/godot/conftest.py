"""What several tests in the real engine need."""

import os
import shutil
from pathlib import Path

import pytest

from godojo.engines.godot import paths
from godojo.engines.godot.find import Engine, find
from godojo.engines.godot.install import install
from godojo.engines.godot.templates import has_templates
from godojo.errors import GodojoError


@pytest.fixture(scope="session")
def exporting_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GODOJO_HOME whose engine has export templates: the user's own, or a copy that is given Debian's."""
    try:
        engine = find()
        if engine.source == "installed" and has_templates(engine):
            return paths.data_folder()
        installed = paths.read_installed()
        if installed is None or installed.origin != "debian":
            pytest.skip("no export templates: godojo engine install --templates")
        source, place = paths.engine_folder(), tmp_path_factory.mktemp("exporting")
        shutil.copytree(
            source / installed.folder, place / "engine" / installed.folder, symlinks=True, copy_function=_link_or_copy
        )
        shutil.copy(source / "installed.json", place / "engine")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("GODOJO_HOME", str(place))
            install(templates=True)
    except GodojoError as error:
        pytest.skip(str(error))
    return place


@pytest.fixture
def exporting_engine(exporting_home: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The real Godot with export templates."""
    monkeypatch.setenv("GODOJO_HOME", str(exporting_home))
    return find()


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
