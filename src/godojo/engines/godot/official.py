"""The official build of Godot for this platform, checked against its published SHA-512."""

import hashlib
import platform
import re
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

from godojo.engines.godot.report import Report
from godojo.errors import GodojoError

VERSION = "4.6.3"
RELEASES = "https://github.com/godotengine/godot/releases/download"
_CONNECT_TIMEOUT_S = 8.0
_CHUNK_BYTES = 1 << 18
_MOST_BYTES = 1 << 30


class Unreachable(GodojoError):
    """The official builds cannot be had from here; another way may work."""


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
    """Puts the official build into the folder and returns the program's place in it."""
    name, program = archive_name()
    base = f"{releases}/{VERSION}-stable"
    expected = _published_sha512(f"{base}/SHA512-SUMS.txt", name)
    archive = folder / "download.zip"
    found = _download(f"{base}/{name}", archive, report)
    if found != expected:
        raise GodojoError(f"{name} does not match its published SHA-512; nothing was installed, try again later")
    report.step("unpacking")
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder)  # zipfile strips absolute paths and `..`
    archive.unlink()
    if not (folder / program).is_file():
        raise GodojoError(f"{name} does not hold {program}; nothing was installed")
    (folder / program).chmod(0o755)
    return program


def _published_sha512(url: str, name: str) -> str:
    with _open(url) as answer:
        listing = answer.read(1 << 20).decode("ascii", "replace")
    match = re.search(rf"^([0-9a-f]{{128}})\s+\*?{re.escape(name)}$", listing, re.MULTILINE)
    if match is None:
        raise GodojoError(f"{url} does not list {name}, so it cannot be checked; nothing was installed")
    return match[1]


def _download(url: str, target: Path, report: Report) -> str:
    """Writes the file and returns its SHA-512."""
    digest = hashlib.sha512()
    with _open(url) as answer, target.open("wb") as file:
        whole = min(int(answer.headers.get("Content-Length") or 0), _MOST_BYTES)
        done = 0
        while chunk := answer.read(_CHUNK_BYTES):
            done += len(chunk)
            if done > _MOST_BYTES:
                raise GodojoError(f"{url} is larger than {_MOST_BYTES >> 20} MiB; nothing was installed")
            digest.update(chunk)
            file.write(chunk)
            report.progress("downloading the official build", done / whole if whole else None)
    return digest.hexdigest()


def _open(url: str):  # type: ignore[no-untyped-def]  # urllib's answer has no public type
    try:
        return urllib.request.urlopen(url, timeout=_CONNECT_TIMEOUT_S)  # noqa: S310 - the scheme is ours
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise Unreachable(f"the official builds cannot be reached ({reason})") from None
