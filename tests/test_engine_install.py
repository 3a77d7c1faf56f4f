"""Installing the engine: checked, atomic, one at a time, and finished by the next try however the last one ended."""

import hashlib
import http.server
import io
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from godojo.engines.godot import install as installing
from godojo.engines.godot import official, paths
from godojo.engines.godot.debian import loader_of
from godojo.engines.godot.find import find
from godojo.engines.godot.report import Silent
from godojo.engines.godot.templates import has_templates, templates_folder
from godojo.errors import GodojoError
from tests.conftest import fake_godot
from tests.nightly import NIGHTLY

TEMPLATES = f"Godot_v{official.VERSION}-stable_export_templates.tpz"


class ReleaseServer:
    """A stand-in for the official downloads, which cannot be reached from every machine."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                content = outer.files.get(self.path.rsplit("/", 1)[-1])
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_: object) -> None: ...

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def publish(self, archive: bytes, listed: bytes | None = None, templates: bytes = b"") -> None:
        name, _ = official.archive_name()
        sums = f"{'0' * 128}  something_else.zip\n{hashlib.sha512(listed or archive).hexdigest()}  {name}\n"
        sums += f"{hashlib.sha512(templates).hexdigest()}  {TEMPLATES}\n"
        self.files = {name: archive, TEMPLATES: templates, "SHA512-SUMS.txt": sums.encode()}


def release(version: str = "4.6.3.stable.official.fake") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(official.archive_name()[1], f"#!/bin/sh\necho {version}\n")
    return content.getvalue()


def template_archive() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("templates/version.txt", "4.6.3.stable")
        archive.writestr("templates/linux_release.x86_64", "a template")
    return content.getvalue()


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ReleaseServer]:
    """An empty home, and official downloads that come from this test."""
    server = ReleaseServer()
    monkeypatch.setenv("GODOJO_HOME", str(tmp_path))
    monkeypatch.delenv("GODOT_BIN", raising=False)
    monkeypatch.setattr(
        installing, "fetch_official", lambda folder, report: official.fetch_official(folder, report, server.address)
    )
    monkeypatch.setattr(
        installing,
        "fetch_official_templates",
        lambda folder, report: official.fetch_official_templates(folder, report, server.address),
    )
    monkeypatch.setattr(installing, "fetch_debian", no_debian)
    yield server
    server.server.shutdown()
    server.server.server_close()


def no_debian(*_: object, **__: object) -> str:
    raise GodojoError("this is not a Debian-like system")


def left_behind() -> list[str]:
    return sorted(path.name for path in paths.engine_folder().iterdir() if path.name != "lock")


def test_official_build_is_installed_and_found(releases: ReleaseServer) -> None:
    releases.publish(release())
    installed = installing.install()
    assert (installed.origin, installed.version) == ("official", "4.6.3.stable.official.fake")
    assert find().source == "installed"
    assert left_behind() == [installed.folder, "installed.json"]
    assert installing.install() == installed, "a second installation has nothing to do"
    assert installing.uninstall()
    assert left_behind() == []
    assert not installing.uninstall()


def test_official_templates_go_where_every_official_build_looks(
    releases: ReleaseServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    releases.publish(release(), templates=template_archive())
    installed = installing.install()
    place = tmp_path / "data/godot/export_templates/4.6.3.stable"
    assert (templates_folder(find()), has_templates(find())) == (place, False)
    place.mkdir(parents=True)
    (place / "mine.zip").write_text("of the user's", encoding="utf-8")
    assert installing.install(templates=True) == installed, "the engine itself is not installed anew"
    assert has_templates(find())
    assert sorted(path.name for path in place.iterdir()) == ["linux_release.x86_64", "mine.zip", "version.txt"]
    assert list(place.parent.iterdir()) == [place]
    releases.files.clear()
    assert installing.install(templates=True) == installed, "a second installation has nothing to do"


def test_templates_with_a_wrong_checksum_are_not_installed(
    releases: ReleaseServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    releases.publish(release(), templates=template_archive())
    releases.files[TEMPLATES] += b"more"
    with pytest.raises(GodojoError, match="SHA-512"):
        installing.install(templates=True)
    assert not has_templates(find())


DEBIAN_VERSION = "4.6.3.stable.debian"


@pytest.fixture
def debian(releases: ReleaseServer, monkeypatch: pytest.MonkeyPatch) -> ReleaseServer:
    """No official build can be had; Debian's packages are imitated, so that nothing is downloaded."""

    def fetch(folder: Path, downloads: Path, *, rendering: bool, **_: object) -> str:
        downloads.mkdir(exist_ok=True)
        loader = folder / "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
        loader.parent.mkdir(parents=True)
        loader.touch()
        if rendering:
            (folder / "rendering").touch()
        fake_godot(folder / "godot", DEBIAN_VERSION)
        return "godot"

    monkeypatch.setattr(installing, "fetch_debian", fetch)
    monkeypatch.setattr(installing, "fetch_debian_templates", lambda *_, **__: None)
    monkeypatch.setattr(installing, "prepare_debian_templates", imitated_templates)
    return releases


def imitated_templates(unpacked: Path, prefix: Path) -> str:
    assert prefix.is_dir()
    assert loader_of(prefix)[0].parent.name == "x86_64-linux-gnu"
    (unpacked / "templates").mkdir()
    (unpacked / "templates/linux_release.x86_64").write_text("a template", encoding="utf-8")
    return DEBIAN_VERSION


def addons() -> tuple[bool, bool]:
    """Rendering and templates, as Godot finds them."""
    installed = paths.read_installed()
    assert installed is not None
    assert (paths.engine_folder() / installed.folder / "rendering").exists() == installed.rendering
    return installed.rendering, has_templates(find())


@pytest.mark.usefixtures("debian")
@pytest.mark.parametrize("order", [("rendering", "templates"), ("templates", "rendering")])
def test_add_ons_do_not_displace_each_other(monkeypatch: pytest.MonkeyPatch, order: tuple[str, str]) -> None:
    monkeypatch.setattr(installing, "_install_screen", lambda *_: None)
    installing.install()
    assert addons() == (False, False)
    installing.install(rendering=order[0] == "rendering", templates=order[0] == "templates")
    assert addons() == (order[0] == "rendering", order[0] == "templates")
    installing.install(rendering=order[1] == "rendering", templates=order[1] == "templates")
    assert addons() == (True, True)
    before = installing.install()
    assert installing.install(force=True).folder != before.folder
    assert addons() == (True, True)
    (paths.engine_folder() / "installed.json").write_text("damaged", encoding="utf-8")
    installing.install(force=True)
    assert addons() == (True, True)


@pytest.mark.usefixtures("debian")
def test_debian_templates_stay_out_of_the_users_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They are not portable, so no other Godot may find them; what the user keeps beside them stays."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    installed = installing.install(templates=True)
    assert not (tmp_path / "user").exists()
    libraries = paths.engine_folder() / installed.folder / "usr/lib/x86_64-linux-gnu"
    assert (libraries / "._sc_").exists(), "Godot is not self-contained"
    place = templates_folder(find())
    assert (libraries / "editor_data/export_templates/4.6.3.stable").resolve() == place
    settings = paths.engine_folder() / "editor_data/editor_settings-4.6.tres"
    settings.write_text("of the user's", encoding="utf-8")
    (place / "linux_release.x86_64").unlink()
    (place / "linux_release.x86_64").write_text("an official one", encoding="utf-8")
    installing.install(force=True)
    assert settings.is_file()
    assert (place / "linux_release.x86_64").read_text(encoding="utf-8") == "an official one"
    assert installing.uninstall()
    assert left_behind() == []


@pytest.mark.usefixtures("debian")
def test_newer_templates_bring_the_engine_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    before = installing.install()
    versions = iter(["4.6.4.stable.debian", DEBIAN_VERSION])

    def prepare(unpacked: Path, prefix: Path) -> str:
        imitated_templates(unpacked, prefix)
        return next(versions)

    monkeypatch.setattr(installing, "prepare_debian_templates", prepare)
    assert installing.install(templates=True).folder != before.folder
    assert addons() == (False, True)


def test_wrong_checksum_installs_nothing(releases: ReleaseServer) -> None:
    releases.publish(release(), listed=b"what was promised")
    with pytest.raises(GodojoError, match="SHA-512"):
        installing.install()
    assert left_behind() == []


def test_unlisted_archive_installs_nothing(releases: ReleaseServer) -> None:
    releases.publish(release())
    releases.files["SHA512-SUMS.txt"] = b""
    with pytest.raises(GodojoError, match="cannot be checked"):
        installing.install()
    assert left_behind() == []


def test_a_build_that_does_not_run_is_not_installed(releases: ReleaseServer) -> None:
    releases.publish(release("segmentation fault"))
    with pytest.raises(GodojoError, match="not Godot"):
        installing.install()
    assert left_behind() == []


def test_a_failed_renewal_keeps_the_engine_in_use(releases: ReleaseServer) -> None:
    releases.publish(release())
    installed = installing.install()
    releases.publish(release(), listed=b"something else")
    with pytest.raises(GodojoError, match="SHA-512"):
        installing.install(force=True)
    assert paths.read_installed() == installed
    assert find().version == installed.version


@pytest.mark.usefixtures("releases")
def test_nothing_reachable_names_both_reasons_and_the_cure() -> None:
    with pytest.raises(GodojoError, match=r"official builds.*Debian-like.*GODOT_BIN"):
        installing.install()
    assert left_behind() == []


def test_unreachable_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(official.Unreachable):
        official.fetch_official(tmp_path, Silent(), "http://127.0.0.1:9")


def test_what_dead_installations_left_is_swept_up(releases: ReleaseServer) -> None:
    (paths.engine_folder() / "staging-dead" / "usr").mkdir(parents=True)
    (paths.engine_folder() / "godot-4.0-official-orphan").mkdir()
    releases.publish(release())
    installed = installing.install()
    assert left_behind() == [installed.folder, "installed.json"]


def test_what_one_killed_once_it_was_noted_left_is_swept_up_by_the_next(releases: ReleaseServer) -> None:
    releases.publish(release())
    installed = installing.install()
    (paths.engine_folder() / "downloads").mkdir()
    (paths.engine_folder() / "godot-4.0-official-replaced").mkdir()
    assert installing.install() == installed
    assert left_behind() == [installed.folder, "installed.json"]


@pytest.mark.skipif(not Path("/usr/bin/apt-get").exists(), reason="Debian's package needs apt")
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_at_any_moment_the_next_try_completes(tmp_path: Path) -> None:
    """The real installation, killed outright on its way, then left alone."""
    env = {**os.environ, "GODOJO_HOME": str(tmp_path), "GODOT_BIN": ""}
    command = [sys.executable, "-m", "godojo", "engine"]
    for after_s in (1.5, 8.0, 20.0) if NIGHTLY else (8.0,):
        with subprocess.Popen([*command, "install"], env=env, stderr=subprocess.DEVNULL) as process:
            time.sleep(after_s)
            was_running = process.poll() is None
            process.send_signal(signal.SIGKILL)
        if was_running and not list(tmp_path.rglob("installed.json")):  # else it was done, and about to say so
            status = subprocess.run(
                [*command, "status"], env={**env, "PATH": "/nowhere"}, capture_output=True, text=True
            )
            assert status.returncode == 2
            assert "no Godot found" in status.stderr
    done = subprocess.run([*command, "install"], env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    run = subprocess.run([*command, "run", "--", "--headless", "--version"], env=env, capture_output=True, text=True)
    assert run.stdout.startswith("4.")
    left = sorted(path.name for path in (tmp_path / "engine").iterdir())
    assert len([name for name in left if name.startswith("godot-")]) == 1
    assert not [name for name in left if name.startswith(("staging", "downloads"))]
