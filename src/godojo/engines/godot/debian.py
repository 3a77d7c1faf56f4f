"""Debian's Godot, unpacked into a private prefix: no root, system untouched, signatures checked by apt.

Debian's newer suites package Godot 4. Its dependencies (C library included) are unpacked into the prefix, and a wrapper
starts the program through the prefix's own loader.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

from godojo.engines.godot.report import Report
from godojo.errors import GodojoError
from godojo.processes import finish, started

SUITE = "forky"
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
DRAWING_PACKAGES = ("libgl1-mesa-dri", "libglx-mesa0", "libgl1", "libegl1", "mesa-vulkan-drivers", "libvulkan1")
TEMPLATE_PACKAGES = ("godot-template-release", "godot-template-debug", "patchelf")
"""The engine has the same dependencies."""
KEYRINGS = ("/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp")
_QUERY_TIMEOUT_S = 60.0
_UNPACK_TIMEOUT_S = 300.0
_DOWNLOAD_TIMEOUT_S = 1800.0
_NOT_NEEDED = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian")

# Started as `godot` from any folder. Software drivers are used if they are installed and there is no GPU.
_WRAPPER = """\
#!/bin/sh
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd) || exit 1
libraries="$here/usr/lib/{triplet}"
if [ -e "$here/rendering" ] && ! ls /dev/dri/renderD* >/dev/null 2>&1; then
	export LIBGL_DRIVERS_PATH="$libraries/dri"
	export VK_ICD_FILENAMES="$here/usr/share/vulkan/icd.d/lvp_icd.json"
	export __EGL_VENDOR_LIBRARY_DIRS="$here/usr/share/glvnd/egl_vendor.d"
fi
export XKB_CONFIG_ROOT="${{XKB_CONFIG_ROOT:-$here/usr/share/X11/xkb}}"
exec "$here/{loader}" --library-path "$libraries:$libraries/pulseaudio" "$here/usr/bin/godot" "$@"
"""


def fetch_debian(folder: Path, downloads: Path, *, rendering: bool, templates: bool, report: Report) -> str:
    """Downloads Debian's Godot into the folder; returns the program's path in it.

    Downloads are kept in a separate folder, so that an interrupted installation continues.
    """
    architecture = _architecture()
    apt = _PrivateApt(downloads, architecture)
    report.step("reading Debian's package lists")
    apt.update()
    packages = ["godot", *(DRAWING_PACKAGES if rendering else ()), *(TEMPLATE_PACKAGES if templates else ())]
    for fraction in apt.download(packages):
        report.progress("downloading Debian's Godot and its dependencies", fraction)
    archives = apt.wanted(packages)
    for done, _ in enumerate(_unpack(archives, folder), start=1):
        report.progress("unpacking", done / len(archives))
    if rendering:
        (folder / "rendering").touch()
    _write_wrapper(folder, TRIPLETS[architecture])
    return "godot"


def fetch_debian_templates(folder: Path, downloads: Path, *, report: Report) -> None:
    """Unpacks Debian's export templates into the folder, without dependencies."""
    apt = _PrivateApt(downloads, _architecture())
    report.step("reading Debian's package lists")
    apt.update()
    report.step("downloading Debian's export templates")
    archives = apt.download_alone(TEMPLATE_PACKAGES)
    report.step("unpacking")
    for archive in archives:
        _unpack_one(archive, folder)


def loader_of(prefix: Path) -> tuple[Path, str]:
    """The prefix's loader and library path, to start programs of the prefix."""
    found = sorted((prefix / "usr/lib").glob("*/ld-linux-*.so.*"))
    loaders = [path for path in found if not path.parent.is_symlink()]  # `lib` links to the folder, see `settle`
    if not loaders:
        raise GodojoError(f"{prefix} has no loader; reinstall the engine")
    libraries = loaders[0].parent
    return loaders[0], f"{libraries}:{libraries / 'pulseaudio'}"


def driver_env(prefix: Path) -> dict[str, str]:
    """The wrapper's environment for other programs: the prefix's software drivers, if there is no GPU."""
    if not (prefix / "rendering").exists() or any(Path("/dev/dri").glob("renderD*")):
        return {}
    return {
        "LIBGL_DRIVERS_PATH": str(loader_of(prefix)[0].with_name("dri")),
        "VK_ICD_FILENAMES": str(prefix / "usr/share/vulkan/icd.d/lvp_icd.json"),
        "__EGL_VENDOR_LIBRARY_DIRS": str(prefix / "usr/share/glvnd/egl_vendor.d"),
        "XKB_CONFIG_ROOT": str(prefix / "usr/share/X11/xkb"),
    }


def _architecture() -> str:
    missing = [tool for tool in ("apt-get", "dpkg", "dpkg-deb") if shutil.which(tool) is None]
    if missing:
        raise GodojoError(f"this is not a Debian-like system ({missing[0]} is missing)")
    architecture = finish(["dpkg", "--print-architecture"], timeout_s=_QUERY_TIMEOUT_S).output.strip()
    if architecture not in TRIPLETS:
        raise GodojoError(f"Debian's Godot is not used on {architecture} (only on {' and '.join(TRIPLETS)})")
    return architecture


class _PrivateApt:
    """apt with state, cache and sources in our folder; proxies come from the system's configuration."""

    def __init__(self, folder: Path, architecture: str) -> None:
        if '"' in str(folder) or "\n" in str(folder):
            raise GodojoError(
                f"apt cannot work in {folder!s:.80}: set GODOJO_HOME to a folder without quotes in its name"
            )
        for inside in ("state/lists/partial", "cache/archives/partial"):
            (folder / inside).mkdir(parents=True, exist_ok=True)
        (folder / "state/status").touch()
        keyring = next((path for path in KEYRINGS if Path(path).is_file()), None)
        if keyring is None:
            raise GodojoError("Debian's signing keys are not here; install the package debian-archive-keyring")
        (folder / "sources.list").write_text(f"deb [signed-by={keyring}] {_mirror()} {SUITE} main\n", encoding="utf-8")
        (folder / "apt.conf").write_text(
            f"""\
Dir::State "{folder}/state";
Dir::State::status "{folder}/state/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "-";
Dir::Etc::preferences "-";
Dir::Etc::preferencesparts "-";
APT::Architecture "{architecture}";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
#clear APT::Architectures;
#clear APT::Default-Release;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
""",
            encoding="utf-8",
        )
        self._folder = folder
        self._apt = ["apt-get", "-c", str(folder / "apt.conf"), "-q", "-y"]

    def update(self) -> None:
        done = finish([*self._apt, "-o", "APT::Update::Error-Mode=any", "update"], timeout_s=300)
        if done.code:
            raise GodojoError(f"Debian's package lists cannot be read: {_complaint(done.output)}")

    def download(self, packages: Sequence[str]) -> Iterator[float]:
        """Downloads what is missing; yields the progress."""
        words = [*self._apt, "-o", "APT::Status-Fd=1", "install", "--download-only", *packages]
        said: list[str] = []
        deadline = time.monotonic() + _DOWNLOAD_TIMEOUT_S
        with started(words) as process:
            assert process.stdout is not None
            for line in process.stdout:  # apt reports twice a second, and gives up by itself when nothing comes
                if time.monotonic() > deadline:
                    raise GodojoError("Debian's Godot was not downloaded within half an hour; try again to continue")
                if line.startswith("dlstatus:"):
                    with suppress(ValueError, IndexError):
                        yield float(line.split(":")[2]) / 100
                else:
                    said.append(line)
            if process.wait():
                raise GodojoError(f"Debian's Godot cannot be downloaded: {_complaint(''.join(said))}")

    def download_alone(self, packages: Sequence[str]) -> list[Path]:
        """Downloads packages without dependencies."""
        place = self._folder / "alone"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        done = finish(["env", "-C", place, *self._apt, "download", *packages], timeout_s=_DOWNLOAD_TIMEOUT_S)
        archives = sorted(place.glob("*.deb"))
        if done.code or len(archives) != len(packages):
            raise GodojoError(f"Debian's {packages[0]} cannot be downloaded: {_complaint(done.output)}")
        return archives

    def wanted(self, packages: Sequence[str]) -> list[Path]:
        """The archives of these packages and their dependencies; the folder may hold older ones."""
        words = [*self._apt, "-o", "Dir::Cache::archives=none/", "-qq", "install", "--print-uris", *packages]
        done = finish(words, timeout_s=_QUERY_TIMEOUT_S)
        names = [line.split()[1] for line in done.output.splitlines() if line.startswith("'")]
        archives = [self._folder / "cache/archives" / name for name in names]
        missing = [archive.name for archive in archives if not archive.is_file()]
        if not archives or missing:
            raise GodojoError(f"apt did not deliver {missing[0] if missing else 'any package'}; try again")
        return archives


def _mirror() -> str:
    """The Debian mirror of this machine's apt."""
    words = ["apt-get", "indextargets", "--no-release-info", "--format", "$(REPO_URI)", "Created-By: Packages"]
    for address in finish(words, timeout_s=_QUERY_TIMEOUT_S).output.split():
        if address.endswith("/debian/"):
            return address
    raise GodojoError("apt on this machine has no Debian mirror")


def _unpack(archives: Sequence[Path], folder: Path) -> Iterator[None]:
    with ThreadPoolExecutor(max_workers=2) as workers:
        jobs = [workers.submit(_unpack_one, archive, folder) for archive in archives]
        try:
            for job in as_completed(jobs):  # each has a deadline of its own
                yield job.result()
        finally:
            for job in jobs:
                job.cancel()
    for place in _NOT_NEEDED:
        shutil.rmtree(folder / place, ignore_errors=True)


def _unpack_one(archive: Path, folder: Path) -> None:
    done = finish(["dpkg-deb", "--extract", archive, folder], timeout_s=_UNPACK_TIMEOUT_S)
    if done.timed_out:
        raise GodojoError(f"{archive.name} was not unpacked within {_UNPACK_TIMEOUT_S:.0f} s; try again")
    if done.code:
        if "No space left" in done.output:
            raise GodojoError(f"the disk is full: {folder} needs about 600 MB; free some and try again")
        raise GodojoError(f"{archive.name} cannot be unpacked: {_complaint(done.output)}; try again")


def _write_wrapper(folder: Path, triplet: str) -> None:
    loaders = sorted((folder / "usr/lib" / triplet).glob("ld-linux-*.so.*"))
    if not loaders or not (folder / "usr/bin/godot").is_file():
        raise GodojoError("Debian's packages lack expected files; nothing was installed")
    wrapper = folder / "godot"
    wrapper.write_text(_WRAPPER.format(triplet=triplet, loader=loaders[0].relative_to(folder)), encoding="ascii")
    wrapper.chmod(0o755)


def _complaint(output: str) -> str:
    """apt's first error, or its last line."""
    lines = output.strip().splitlines() or ["no output"]
    return next((line for line in lines if line.startswith("E:")), lines[-1])
