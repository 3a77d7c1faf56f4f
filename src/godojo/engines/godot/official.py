"""The official build of Godot for this platform, checked against its published SHA-512."""

import hashlib
import http.client
import platform
import re
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

from godojo.engines.godot.report import Report
from godojo.errors import GodojoError

VERSION = "4.6.3"
RELEASES = "https://github.com/godotengine/godot/releases/download"
_CONNECT_TIMEOUT_S = 8.0
_DOWNLOAD_TIMEOUT_S = 1800.0
_CHUNK_BYTES = 1 << 18
_MOST_BYTES = 1 << 32


class Unreachable(GodojoError):
    """The official builds cannot be reached; another source may work."""


def archive_name() -> tuple[str, str]:
    """The archive for this platform, and the program inside it."""
    machine = platform.machine().lower()
    release = f"Godot_v{VERSION}-stable"
    if sys.platform == "darwin":
        return f"{release}_macos.universal.zip", "Godot.app/Contents/MacOS/Godot"
    if sys.platform == "win32":
        kind = "windows_arm64.exe" if machine == "arm64" else "win64.exe"
        return f"{release}_{kind}.zip", f"{release}_{kind}"
    kinds = {"x86_64": "linux.x86_64", "amd64": "linux.x86_64", "aarch64": "linux.arm64", "arm64": "linux.arm64"}
    if sys.platform != "linux" or machine not in kinds:
        raise Unreachable(f"there is no official Godot build for {sys.platform} on {machine}")
    return f"{release}_{kinds[machine]}.zip", f"{release}_{kinds[machine]}"


def fetch_official(folder: Path, report: Report, releases: str = RELEASES) -> str:
    """Downloads the official build into the folder; returns the program's path in it."""
    name, program = archive_name()
    _unpack_verified(name, folder, report, "downloading the official build", releases)
    if not (folder / program).is_file():
        raise GodojoError(f"{name} does not hold {program}; nothing was installed")
    (folder / program).chmod(0o755)
    return program


def fetch_official_templates(folder: Path, report: Report, releases: str = RELEASES) -> Path:
    """Downloads the official export templates, for all platforms, into the folder; returns theirs."""
    name = f"Godot_v{VERSION}-stable_export_templates.tpz"
    _unpack_verified(name, folder, report, "downloading the official export templates (about 1.2 GB)", releases)
    if not any((folder / "templates").glob("*_release*")):
        raise GodojoError(f"{name} does not hold templates; nothing was installed")
    return folder / "templates"


def _unpack_verified(name: str, folder: Path, report: Report, what: str, releases: str) -> None:
    """Unpacks an archive of the release if it matches its published SHA-512."""
    base = f"{releases}/{VERSION}-stable"
    expected = _published_sha512(f"{base}/SHA512-SUMS.txt", name)
    archive = folder / "download.zip"
    found = _download(f"{base}/{name}", archive, report, what)
    if found != expected:
        raise GodojoError(f"{name} does not match its published SHA-512; nothing was installed, try again later")
    report.step("unpacking")
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder)  # zipfile strips absolute paths and `..`
    archive.unlink()


def _published_sha512(url: str, name: str) -> str:
    listing = b"".join(_read(url, most_bytes=1 << 20)).decode("ascii", "replace")
    match = re.search(rf"^([0-9a-f]{{128}})\s+\*?{re.escape(name)}$", listing, re.MULTILINE)
    if match is None:
        raise GodojoError(f"{url} does not list {name}, so it cannot be checked; nothing was installed")
    return match[1]


def _download(url: str, target: Path, report: Report, what: str) -> str:
    digest = hashlib.sha512()
    with target.open("wb") as file:
        for chunk in _read(url, most_bytes=_MOST_BYTES, report=report, what=what):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def _read(url: str, *, most_bytes: int, report: Report | None = None, what: str = "") -> Iterator[bytes]:
    """Downloads in chunks. Network errors raise `Unreachable`."""
    deadline = time.monotonic() + _DOWNLOAD_TIMEOUT_S
    try:
        with urllib.request.urlopen(url, timeout=_CONNECT_TIMEOUT_S) as answer:  # noqa: S310 - the scheme is ours
            whole = int(answer.headers.get("Content-Length") or 0)
            done = 0
            while chunk := answer.read(_CHUNK_BYTES):
                done += len(chunk)
                if done > most_bytes:
                    raise Unreachable(f"{url} is larger than {most_bytes >> 20} MiB")
                if time.monotonic() > deadline:
                    raise Unreachable(f"{url} did not arrive within {_DOWNLOAD_TIMEOUT_S / 60:.0f} min")
                if report:
                    report.progress(what, done / whole if whole else None)
                yield chunk
            if done < whole:
                raise Unreachable(f"{url} broke off after {done >> 20} of {whole >> 20} MiB")
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, ValueError) as error:
        raise Unreachable(f"the official builds cannot be reached ({getattr(error, 'reason', error)!s})") from None
